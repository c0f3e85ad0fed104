/* Barriers inside a loop that all threads of a CTA, but not all CTAs, run equally often: a
 * relaxation with two buffers in shared memory. */
#include "kernel.h"

extern "C" __global__ void barrier_loop(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned buffers[2][128];
    unsigned thread = threadIdx.x, i = global_index(), now = 0;
    buffers[0][thread] = in[i % n] % 4096;
    __syncthreads();
    for (unsigned step = 0; step < 3 + 2 * blockIdx.x; step++) {
        unsigned left = buffers[now][(thread + 127) % 128],
                 right = buffers[now][(thread + 1) % 128];
        buffers[1 - now][thread] = (left + 2 * buffers[now][thread] + right) / 4;
        now = 1 - now;
        __syncthreads();
    }
    out[i] = buffers[now][thread];
}
