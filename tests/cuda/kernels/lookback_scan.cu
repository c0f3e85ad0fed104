/* Prefix sum in one launch by decoupled look-back: a CTA takes its tile from a counter, publishes
 * its sum, and walks back over its predecessors until one has published a prefix. */
#include "kernel.h"

enum : unsigned { TILE = 64, EMPTY = 0, HAS_SUM = 1, HAS_PREFIX = 2 };

__device__ unsigned next_tile = 0;
__device__ unsigned long long states[64]; /* state in the upper word, value in the lower */

static __device__ unsigned prefix_before(unsigned tile) {
    unsigned prefix = 0;
    while (tile > 0) {
        unsigned long long state = ((volatile unsigned long long *)states)[tile - 1];
        if (state >> 32 == EMPTY) continue;
        prefix += (unsigned)state;
        if (state >> 32 == HAS_PREFIX) break;
        tile--;
    }
    return prefix;
}

extern "C" __global__ void lookback_scan(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned words[TILE], tile, before;
    unsigned thread = threadIdx.x;
    if (thread == 0) tile = atomicAdd(&next_tile, 1u);
    __syncthreads();
    unsigned i = tile * TILE + thread;
    words[thread] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < TILE; step *= 2) {
        unsigned other = thread >= step ? words[thread - step] : 0;
        __syncthreads();
        words[thread] += other;
        __syncthreads();
    }
    if (thread == 0) {
        unsigned long long sum = words[TILE - 1];
        atomicExch(&states[tile], (unsigned long long)HAS_SUM << 32 | sum);
        before = prefix_before(tile);
        sum = (unsigned)(sum + before);
        __threadfence();
        atomicExch(&states[tile], (unsigned long long)HAS_PREFIX << 32 | sum);
    }
    __syncthreads();
    if (i < n) out[i] = before + words[thread];
}
