/* A matrix product of halves (gemm16.h). */
#include "gemm16.h"

extern "C" __global__ void mma_gemm(const unsigned *in, float *out, unsigned n) {
    gemm16<half_of, mma_half>(in, out, n);
}
