/* Words put together from bytes at any address, a packed struct, and copies by __builtin_memcpy. */
#include "kernel.h"

struct __attribute__((packed)) Record {
    unsigned char tag;
    unsigned value;
    unsigned short check;
};

extern "C" __global__ void unaligned_bytes(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    const unsigned char *bytes = (const unsigned char *)in;
    unsigned last = 4 * n - 8, word;
    __builtin_memcpy(&word, bytes + (i * 3) % last, sizeof word);
    const Record *record = (const Record *)(bytes + (i * 7) % last);
    Record copy = *record;
    copy.value += 1;
    out[i] = word + copy.tag * 3u + copy.value * 5u + copy.check * 7u;
}
