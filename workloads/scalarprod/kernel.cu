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

/* ---- As compiled by NVIDIA's compiler of 2010 ----
 *
 * Pointers advance, whereas a current compiler computes an address from an index in each iteration.
 * They are computed again for each slice and each halving, from indices and parameters that are
 * read there. So is the number of iterations of a slice, which is unused. */

/* An address in global memory, in the form of parameters. */
typedef const float __attribute__((address_space(1))) * GlobalFloats;

/* Hides the value of `x` from the compiler. */
static __device__ int forget(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

/* Makes the compiler compute `x`. */
static __device__ void work_out(int x) { asm volatile("" ::"r"(x)); }

/* The part of a slice's sum from `first` on; the step is the number of slices. */
static __device__ __forceinline__ float add_slice(GlobalFloats a, GlobalFloats b, int first,
                                                  int end) {
    GlobalFloats of_a = a + first, of_b = b + first, past = a + end;
    float sum = 0.0f;
#pragma unroll 1
    do {
        sum += *of_a * *of_b;
        of_b += SLICES;
        of_a += SLICES;
    } while (of_a < past);
    return sum;
}

extern "C" __global__ void scalarprod_stepping(const float *, const float *, float *products,
                                               int vectors, int elements) {
    __shared__ float partial[SLICES];
    int thread = (int)threadIdx.x;
#pragma unroll 1
    for (int vector = (int)blockIdx.x; vector < vectors; vector += (int)gridDim.x) {
        int start = __mul24(elements, vector), end = start + elements, position = start + thread;
        int threads = (int)blockDim.x;
#pragma unroll 1
        for (float *own = partial + thread; own <= partial + SLICES - 1; own += threads) {
            int first = forget(position), past = forget(end);
            float sum = 0.0f;
            if (first < past) {
                GlobalFloats a, b;
                work_out((past - first + SLICES - 1) / SLICES);
                asm volatile("ld.param.u64 %0, [scalarprod_stepping_param_0];" : "=l"(a));
                asm volatile("ld.param.u64 %0, [scalarprod_stepping_param_1];" : "=l"(b));
                sum = add_slice(a, b, first, past);
            }
            *own = sum;
            position = first + threads;
        }
#pragma unroll 1
        for (int half = SLICES / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread >= half) continue;
            int place = forget(thread), step = forget((int)blockDim.x);
            float *low = partial + place, *high = partial + half + place, *past = partial + half;
#pragma unroll 1
            do {
                *low += *high;
                high += step;
                low += step;
            } while (low < past);
        }
        if (thread == 0) products[vector] = partial[0];
    }
}
