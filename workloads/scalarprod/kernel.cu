/* Scalar products of many pairs of vectors, one CTA of 256 threads per pair at a time: each CTA
 * adds up 1,024 strided slices into shared memory, then halves them until one is left. */
#include "tyto_device.h"

enum { THREADS = 256, SLICES = 1024 };

extern "C" __global__ void scalarprod(const float *a, const float *b, float *products,
                                      unsigned vectors, unsigned elements) {
    __shared__ float partial[SLICES];
    for (unsigned vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        unsigned first = vector * elements, end = first + elements;
        for (unsigned slice = threadIdx.x; slice < SLICES; slice += THREADS) {
            float sum = 0.0f;
            for (unsigned i = first + slice; i < end; i += SLICES)
                sum += a[i] * b[i];
            partial[slice] = sum;
        }
        for (unsigned half = SLICES / 2; half > 0; half /= 2) {
            __syncthreads();
            for (unsigned i = threadIdx.x; i < half; i += THREADS)
                partial[i] += partial[half + i];
        }
        if (threadIdx.x == 0) products[vector] = partial[0];
    }
}
