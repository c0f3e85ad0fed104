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

/* The same as NVIDIA's compiler of 2010 had it: pointers that step on, where the compiler of these
 * days works out an address from an index in each turn. */
extern "C" __global__ void scalarprod_stepping(const float *a, const float *b, float *products,
                                               unsigned vectors, unsigned elements) {
    __shared__ float partial[SLICES];
    for (unsigned vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        unsigned first = vector * elements;
        const float *end = a + first + elements;
        float *own = partial + threadIdx.x;
        for (unsigned slice = threadIdx.x; slice < SLICES; slice += THREADS, own += THREADS) {
            const float *of_a = a + first + slice, *of_b = b + first + slice;
            float sum = 0.0f;
#pragma unroll 1
            for (; of_a < end; of_a += SLICES, of_b += SLICES)
                sum += *of_a * *of_b;
            *own = sum;
        }
#pragma unroll 1
        for (unsigned half = SLICES / 2; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half) {
                float *low = partial + threadIdx.x, *high = low + half, *past = partial + half;
#pragma unroll 1
                for (; low < past; low += THREADS, high += THREADS)
                    *low += *high;
            }
        }
        if (threadIdx.x == 0) products[vector] = partial[0];
    }
}
