/* Threads, whole warps among them, that are gone before the barriers the others still meet at. */
#include "kernel.h"

extern "C" __global__ void early_exit(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned words[128];
    unsigned thread = threadIdx.x, i = global_index();
    words[thread] = in[i % n];
    __syncthreads();
    if (thread >= 96) return;
    out[i] = words[thread] + 1;
    if (thread % 32 >= 20) return; /* at once: clang leads what else they did round the barriers */
    unsigned other = words[127 - thread];
    __syncthreads();
    words[thread] = other;
    __syncthreads();
    out[i] = words[(thread / 32) * 32 + (thread % 32 + 1) % 20];
}
