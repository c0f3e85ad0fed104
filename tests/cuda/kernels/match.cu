/* Matches: the lanes with the same word or double word, and whether all have it. */
#include "kernel.h"

extern "C" __global__ void match(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned *row = out + 4 * i;
    row[0] = __match_any_sync(0xffffffffu, in[i] % 5);
    unsigned long long wide = ((unsigned long long)(in[i] & 1) << 40) | 7;
    row[1] = __match_any_sync(0xffffffffu, wide);
    int is_same;
    row[2] = __match_all_sync(0xffffffffu, (i / 32) & 1 ? in[i] : 5u, &is_same);
    row[3] = (unsigned)is_same;
}
