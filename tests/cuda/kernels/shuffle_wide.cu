/* Shuffles of 8-byte values, by half of a warp's lanes only, and the predicate that says whether
 * the source lane was in range. */
#include "kernel.h"

extern "C" __global__ void shuffle_wide(const double *in, double *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    double x = in[i];
    out[i] = __shfl_xor_sync(0xffffffffu, x, 1) * 2.0;
    unsigned lane = threadIdx.x % 32;
    if (lane & 1) out[i] += __shfl_down_sync(0xaaaaaaaau, x, 2);
    unsigned is_in_range, word;
    asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 4, 0, -1; selp.u32 %1, 1, 0, p; }"
                 : "=r"(word), "=r"(is_in_range)
                 : "r"(i));
    out[i] += is_in_range * 1000.0 + word;
}
