/* A matrix product of bfloats (gemm16.h). */
#include "gemm16.h"

extern "C" __global__ void bfloat_gemm(const unsigned *in, float *out, unsigned n) {
    gemm16<bfloat_of, mma_bfloat>(in, out, n);
}
