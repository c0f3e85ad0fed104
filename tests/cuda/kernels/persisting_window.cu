/* Reads a buffer through L2 alone and tells how many cycles that took: with no hint, with a cache
 * policy that asks for the lines to stay, or with one that asks for them to go. */
#include "kernel.h"

enum Hint { NONE, STAY, GO };

extern "C" __global__ void persisting_window(const unsigned *in, unsigned *out, unsigned n,
                                             unsigned hint) {
    __shared__ unsigned sum;
    unsigned long long policy;
    unsigned seen = 0, last = 0;
    if (threadIdx.x == 0) sum = 0;
    if (hint == GO)
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    else asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    __syncthreads();
    long long start = clock64();
    for (unsigned i = global_index(); i < n; i += gridDim.x * blockDim.x) {
        /* The next address depends on what was read, so that latencies add up. */
        const unsigned *address = in + i + last;
        if (hint == NONE) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(last) : "l"(address));
        else
            asm volatile("ld.global.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;"
                         : "=r"(last)
                         : "l"(address), "l"(policy));
        seen += last + 1;
    }
    atomicAdd(&sum, seen);
    __syncthreads();
    if (threadIdx.x || blockIdx.x) return;
    out[0] = (unsigned)(clock64() - start);
    out[1] = sum;
}
