/* Fast Walsh-Hadamard transform in place: passes over the whole array with butterflies of four
 * elements, until a part fits into shared memory, where one CTA finishes it. */
#include "tyto_device.h"

enum { LARGEST_PART = 2048 };

/* Sums and differences of four elements: the result of two rounds of butterflies on pairs. */
static __device__ void butterfly(float *data, unsigned first, unsigned stride) {
    float *at_a = data + first, *at_b = at_a + stride, *at_c = at_b + stride, *at_d = at_c + stride;
    float a = *at_a, b = *at_b, c = *at_c, d = *at_d;
    float ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
    *at_a = ac + bd;
    *at_b = ac - bd;
    *at_c = a_c + b_d;
    *at_d = a_c - b_d;
}

/* Two rounds on each part of 4 * stride elements: blockIdx.y is the part. */
extern "C" __global__ void walsh_global(float *data, unsigned stride) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned low = thread & (stride - 1);
    butterfly(data + blockIdx.y * 4 * stride, 4 * (thread - low) + low, stride);
}

/* All rounds on parts of 2^log2_size elements, with a quarter as many threads. */
extern "C" __global__ void walsh_shared(float *data, unsigned log2_size) {
    __shared__ float part[LARGEST_PART];
    unsigned thread = threadIdx.x, threads = blockDim.x, size = 1u << log2_size;
    float *own = data + blockIdx.x * size;
#pragma unroll 1
    for (unsigned i = thread; i < size; i += threads)
        part[i] = own[i];
    unsigned stride = size / 4;
#pragma unroll 1
    for (; stride > 0; stride /= 4) {
        __syncthreads();
        unsigned low = thread & (stride - 1);
        butterfly(part, 4 * (thread - low) + low, stride);
    }
    __syncthreads();
    if (log2_size & 1)
#pragma unroll 1
        for (unsigned i = 2 * thread; i < size; i += 2 * threads) {
            float a = part[i], b = part[i + 1];
            part[i] = a + b;
            part[i + 1] = a - b;
        }
    __syncthreads();
#pragma unroll 1
    for (unsigned i = thread; i < size; i += threads)
        own[i] = part[i];
}

/* a = a b / n, element by element. */
extern "C" __global__ void walsh_modulate(float *a, const float *b, unsigned n) {
    float scale = 1.0f / (float)n;
#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] *= b[i] * scale;
}
