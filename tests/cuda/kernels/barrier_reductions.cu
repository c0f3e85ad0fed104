/* Barriers that count, and and or a predicate over the CTA, also when its last warp is not full. */
#include "kernel.h"

extern "C" __global__ void barrier_reductions(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index(), x = in[i % n];
    int count = __syncthreads_count(x & 1);
    int all = __syncthreads_and((x | blockIdx.x % 2) & 1);
    int any = __syncthreads_or(x % 512 == blockIdx.x);
    out[i] = (unsigned)count * 4 + (all ? 2u : 0u) + (any ? 1u : 0u);
}
