/* NaN, infinities, signed zeros and subnormal numbers through minimum, maximum, comparisons, signs
 * and arithmetic. The input pairs every special value with every other. */
#include "kernel.h"

/* The bits of x, and the same ones for every NaN. */
static __device__ unsigned bits(float x) {
    return isnan(x) ? 1u : __float_as_uint(x);
}

extern "C" __global__ void float_specials(const float *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n * n) return;
    float a = in[i % n], b = in[i / n];
    unsigned relations = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 |
                         (a != b) << 5 | !(a < b) << 6 | !(a >= b) << 7 | (isnan(a) ? 256u : 0u) |
                         (isinf(b) ? 512u : 0u);
    unsigned *row = out + 6 * i;
    row[0] = relations;
    row[1] = bits(fminf(a, b) + 0.0f);
    row[2] = bits(fmaxf(a, b) + 0.0f);
    row[3] = __float_as_uint(copysignf(a, b)) & 0xff800000u;
    row[4] = bits(a * b);
    row[5] = bits(a + b);
}
