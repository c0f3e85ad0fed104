/* Cache policies (see the header). */
#include "isa/policy.h"

enum {
    MODE_FRACTION = 2,
    MODE_BLOCKS = 3,
    LEAST_BLOCK = 12, /* log2 of the bytes */
    MOST_BLOCKS = 127,
    LINE_SHIFT = 7 /* all bytes of a line have the same priority */
};

/* The codes of priorities in a policy. */
static const PtxEvict priorities[] = {PTX_EVICT_UNCHANGED, PTX_EVICT_FIRST, PTX_EVICT_LAST,
                                      PTX_EVICT_NORMAL};

static uint64_t code_of(PtxEvict priority) {
    for (uint64_t code = 0; code < 4; code++)
        if (priorities[code] == priority) return code;
    return 0;
}

static uint64_t make(uint64_t mode, PtxEvict primary, PtxEvict rest) {
    return mode << 59 | code_of(primary) << 57 | (uint64_t)(rest == PTX_EVICT_FIRST) << 56;
}

uint64_t policy_of_fraction(PtxEvict primary, PtxEvict rest, float fraction) {
    int sixteenths = 0;
    while (sixteenths < 15 && fraction > (float)(sixteenths + 1) / 16)
        sixteenths++;
    return make(MODE_FRACTION, primary, rest) | (uint64_t)sixteenths << 52;
}

uint64_t policy_of_range(PtxEvict primary, PtxEvict rest, uint64_t address, uint32_t primary_bytes,
                         uint32_t total_bytes) {
    uint64_t size = 0;
    while (UINT64_C(128) << (LEAST_BLOCK + size) < total_bytes)
        size++;
    uint64_t shift = LEAST_BLOCK + size, first = address >> shift;
    uint64_t end = (address + primary_bytes + (UINT64_C(1) << shift) - 1) >> shift;
    uint64_t count = end - first;
    count = count < 1 ? 1 : count > MOST_BLOCKS ? MOST_BLOCKS : count;
    return make(MODE_BLOCKS, primary, rest) | size << 52 | (first & 127) << 44 | count << 37;
}

/* A number from 0 to 1 for each line: the upper bits of the line's product with the golden ratio.
 * Multiples of the golden ratio modulo 1 are distributed as evenly as possible. */
static double place_of(uint64_t address) {
    uint64_t hash = (address >> LINE_SHIFT) * UINT64_C(0x9E3779B97F4A7C15);
    return (double)(hash >> 32) / 0x1p32;
}

PtxEvict policy_for(uint64_t policy, uint64_t address) {
    uint64_t mode = policy >> 59 & 3, field = policy >> 52 & 15;
    bool is_primary;
    if (mode == MODE_FRACTION) {
        is_primary = place_of(address) < (double)(field + 1) / 16;
    } else if (mode == MODE_BLOCKS) {
        uint64_t block = address >> (LEAST_BLOCK + field), first = policy >> 44 & 127;
        is_primary = ((block - first) & 127) < (policy >> 37 & 127);
    } else {
        return PTX_EVICT_NONE;
    }
    if (is_primary) return priorities[policy >> 57 & 3];
    return policy >> 56 & 1 ? PTX_EVICT_FIRST : PTX_EVICT_UNCHANGED;
}

PtxEvict policy_window_for(const PolicyWindow *window, uint64_t address) {
    if (address - window->address >= window->bytes) return PTX_EVICT_NONE;
    return (PtxEvict)(place_of(address) < (double)window->share ? window->hit : window->miss);
}
