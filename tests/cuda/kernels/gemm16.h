/* D = A * B of 16-bit numbers, 64 x 64 x 64, by ldmatrix and mma: a warp computes 16 rows, the
 * tiles go through shared memory. A is in[0..4095], B in[4096..8191], as small integers. */
#ifndef TYTO_TESTS_GEMM16_H
#define TYTO_TESTS_GEMM16_H

#include "tensor.h"

template <unsigned short (*pattern_of)(int),
          void (*multiply)(float *, const unsigned *, const unsigned *)>
static __device__ __forceinline__ void gemm16(const unsigned *in, float *out, unsigned n) {
    enum { SIZE = 64, PITCH = SIZE + 8 };
    __shared__ __align__(16) unsigned short a[SIZE * PITCH], b[SIZE * PITCH];
    for (unsigned i = threadIdx.x; i < n / 2; i += blockDim.x) {
        unsigned at = i / SIZE * PITCH + i % SIZE;
        a[at] = pattern_of((int)(in[i] % 9) - 4);
        b[at] = pattern_of((int)(in[n / 2 + i] % 9) - 4);
    }
    __syncthreads();
    unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * 16;
    for (unsigned column = 0; column < SIZE; column += 8) {
        float d[4] = {0, 0, 0, 0};
        for (unsigned k = 0; k < SIZE; k += 16) {
            unsigned left[4], right[2];
            load_matrices(left, &a[(first + lane % 16) * PITCH + k + lane / 16 * 8]);
            load_transposed(right, &b[(k + lane % 16) * PITCH + column]);
            multiply(d, left, right);
        }
        float *to = out + (first + lane / 4) * SIZE + column + lane % 4 * 2;
        to[0] = d[0];
        to[1] = d[1];
        to[8 * SIZE] = d[2];
        to[8 * SIZE + 1] = d[3];
    }
}

#endif
