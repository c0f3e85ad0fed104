/* Format: for each number that is not 0, how many zeros precede it, and the number. Both are in
 * groups of 7 bits, lowest first, with a bit that says whether more follow (LEB128, as in
 * DWARF). */
#include "stats/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { GROUP_BITS = 7, MORE = 1 << GROUP_BITS, MOST_BYTES = 10 /* bytes of a 64-bit number */ };

static uint8_t *put(uint8_t *to, uint64_t number) {
    for (; number >= MORE; number >>= GROUP_BITS)
        *to++ = (uint8_t)(number | MORE);
    *to++ = (uint8_t)number;
    return to;
}

static const uint8_t *get(const uint8_t *from, uint64_t *number) {
    *number = 0;
    for (int shift = 0;; shift += GROUP_BITS) {
        *number |= (uint64_t)(*from & (MORE - 1)) << shift;
        if (!(*from++ & MORE)) return from;
    }
}

Pack pack_make(const uint64_t *numbers, size_t count) {
    uint8_t *bytes = base_malloc(2 * MOST_BYTES * count + 1), *end = bytes;
    size_t zeros = 0;
    for (size_t i = 0; i < count; i++) {
        if (!numbers[i]) {
            zeros++;
            continue;
        }
        end = put(put(end, zeros), numbers[i]);
        zeros = 0;
    }
    Pack pack = {.size = (size_t)(end - bytes)};
    if (pack.size) pack.bytes = memcpy(base_malloc(pack.size), bytes, pack.size);
    free(bytes);
    return pack;
}

void pack_free(Pack *pack) {
    free(pack->bytes);
    *pack = (Pack){0};
}

void pack_read(const Pack *pack, uint64_t *numbers, size_t count) {
    memset(numbers, 0, count * sizeof *numbers);
    if (!pack->bytes) return;
    const uint8_t *at = pack->bytes, *end = at + pack->size;
    for (size_t i = 0; at < end; i++) {
        uint64_t zeros;
        at = get(at, &zeros);
        i += zeros;
        at = get(at, &numbers[i]);
    }
}
