/* Shared memory sized at launch, cut into arrays of two types behind a static array. */
#include "kernel.h"

extern __shared__ unsigned char dynamic[];

extern "C" __global__ void dynamic_shared(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned first;
    unsigned thread = threadIdx.x, threads = blockDim.x;
    double *weights = (double *)dynamic;
    unsigned *words = (unsigned *)(dynamic + threads * sizeof(double));
    unsigned i = blockIdx.x * threads + thread;
    if (thread == 0) first = in[i];
    weights[thread] = in[i] % 1000 * 0.5;
    words[threads - 1 - thread] = in[i];
    __syncthreads();
    unsigned neighbour = (thread + 1) % threads;
    out[i] = words[thread] ^ first ^ (unsigned)(weights[neighbour] * 4.0) ^ n;
}
