/* Reductions of a warp in one instruction (sm_80), over all lanes and over those of a branch. */
#include "kernel.h"

extern "C" __global__ void redux(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], *row = out + 8 * i;
    row[0] = __reduce_add_sync(0xffffffffu, x);
    row[1] = __reduce_min_sync(0xffffffffu, x);
    row[2] = __reduce_max_sync(0xffffffffu, x);
    row[3] = (unsigned)__reduce_min_sync(0xffffffffu, (int)x);
    row[4] = (unsigned)__reduce_max_sync(0xffffffffu, (int)x);
    row[5] = __reduce_and_sync(0xffffffffu, x | 0xff);
    row[6] = __reduce_or_sync(0xffffffffu, x & 0xff);
    if (threadIdx.x % 2) row[7] = __reduce_xor_sync(0xaaaaaaaau, x);
    else row[7] = __reduce_add_sync(0x55555555u, 1u);
}
