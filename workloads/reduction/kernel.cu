/* Sum of an array: each thread adds up a grid-stride share, then the CTA halves its partial sums in
 * shared memory until one is left, which becomes an element of `sums`. */
#include "tyto_device.h"

enum { THREADS = 256 };

extern "C" __global__ void reduction(const float *values, float *sums, unsigned n) {
    __shared__ float partial[THREADS];
    unsigned thread = threadIdx.x;
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * THREADS + thread; i < n; i += gridDim.x * THREADS)
        sum += values[i];
    partial[thread] = sum;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) partial[thread] += partial[thread + half];
        __syncthreads();
    }
    if (thread == 0) sums[blockIdx.x] = partial[0];
}
