/* Votes: ballot, any, all and uniform, over whole warps and over the lanes of a branch. */
#include "kernel.h"

extern "C" __global__ void votes(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], lane = threadIdx.x % 32, *row = out + 4 * i;
    row[0] = __ballot_sync(0xffffffffu, x & 4);
    row[1] = (unsigned)(__any_sync(0xffffffffu, x % 37 == 0) + 2 * __all_sync(0xffffffffu, x != 0));
    unsigned is_uniform;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.uni.pred q, p, -1;"
                 "  selp.u32 %0, 1, 0, q; }"
                 : "=r"(is_uniform)
                 : "r"((i / 32) & 1 ? x & 1 : 1u));
    row[2] = is_uniform;
    if (lane < 12) row[3] = __ballot_sync(0xfffu, x & 1);
    else row[3] = ~__ballot_sync(0xfffff000u, x & 2);
}
