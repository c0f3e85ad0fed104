/* Atomics aggregated by warp: the lanes with the same bin elect a leader, which adds for all of
 * them and hands out the places. Bins end up with the right counts, places are all different. */
#include "kernel.h"

enum { BINS = 8 };

extern "C" __global__ void warp_aggregate(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned lane = threadIdx.x % 32, bin = in[i] % BINS, first = 0;
    unsigned peers = __match_any_sync(0xffffffffu, bin);
    int leader = __ffs((int)peers) - 1;
    if ((int)lane == leader) first = atomicAdd(&out[bin], (unsigned)__popc(peers));
    first = __shfl_sync(peers, first, leader);
    unsigned place = first + (unsigned)__popc(peers & ((1u << lane) - 1));
    atomicAdd(&out[BINS + bin * n + place], 1u);
}
