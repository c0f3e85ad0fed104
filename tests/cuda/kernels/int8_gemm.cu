/* D = A * B of signed bytes, 64 x 64 x 64; B lies by columns. Fragments are read as words, as PTX
 * lays them out. */
#include "tensor.h"

enum { SIZE = 64 };

extern "C" __global__ void int8_gemm(const unsigned *in, int *out, unsigned n) {
    __shared__ __align__(16) signed char a[SIZE * SIZE], b[SIZE * SIZE];
    for (unsigned i = threadIdx.x; i < n / 2; i += blockDim.x) {
        a[i] = (signed char)in[i];
        b[i % SIZE * SIZE + i / SIZE] = (signed char)in[n / 2 + i];
    }
    __syncthreads();
    unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * 16;
    unsigned row = first + lane / 4, byte = lane % 4 * 4;
    for (unsigned column = 0; column < SIZE; column += 8) {
        int d[4] = {0, 0, 0, 0};
        for (unsigned k = 0; k < SIZE; k += 32) {
            unsigned left[4], right[2];
            for (unsigned i = 0; i < 4; i++)
                left[i] = *(const unsigned *)&a[(row + i % 2 * 8) * SIZE + k + byte + i / 2 * 16];
            for (unsigned i = 0; i < 2; i++)
                right[i] = *(const unsigned *)&b[(column + lane / 4) * SIZE + k + byte + i * 16];
            mma_int8(d, left, right);
        }
        for (unsigned i = 0; i < 4; i++)
            out[(row + i / 2 * 8) * SIZE + column + lane % 4 * 2 + i % 2] = d[i];
    }
}
