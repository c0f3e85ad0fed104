/* Pairs of halves: packed arithmetic and packing, with the sum over a CTA kept in pairs. */
#include "kernel.h"

extern "C" __global__ void half2_ops(const float *in, float *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n / 2) return;
    __half2 a = __floats2half2_rn(in[2 * i], in[2 * i + 1]);
    __half2 b = __halves2half2(__high2half(a), __low2half(a));
    __half2 sum = __hadd2(a, b), product = __hmul2(a, b), fused = __hfma2(a, sum, product);
    float *row = out + 6 * i;
    row[0] = __half2float(__low2half(sum));
    row[1] = __half2float(__high2half(sum));
    row[2] = __half2float(__low2half(product));
    row[3] = __half2float(__high2half(product));
    row[4] = __half2float(__low2half(fused));
    row[5] = __half2float(__high2half(fused));
}
