/* Half precision: conversions both ways, arithmetic, fused multiply-add and comparisons. */
#include "kernel.h"

extern "C" __global__ void half_ops(const float *in, float *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    __half a = __float2half(in[i]), b = __float2half(in[(i + 1) % n]);
    float *row = out + 8 * i;
    row[0] = __half2float(a);
    row[1] = __half2float(__hadd(a, b));
    row[2] = __half2float(__hmul(a, b));
    row[3] = __half2float(__hfma(a, b, __hsub(a, b)));
    row[4] = (__hlt(a, b) ? 1.0f : 0.0f) + (__heq(a, a) ? 2.0f : 0.0f);
    row[5] = __half2float(__hneg(b));
    row[6] = __half2float(__float2half(in[i] * 10000.0f));
    row[7] = (float)__half_as_ushort(__float2half(in[i] * 1e-6f));
}
