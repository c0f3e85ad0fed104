/* Sums, products, quotients, roots and fused multiply-adds in each of the four rounding modes, and
 * flushing subnormal numbers to zero. */
#include "kernel.h"

extern "C" __global__ void rounding(const float *in, float *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    float x = in[i], y = in[(i + 1) % n], z = in[(i + 2) % n];
    float *row = out + 16 * i;
    row[0] = __fadd_rn(x, y);
    row[1] = __fadd_rz(x, y);
    row[2] = __fadd_ru(x, y);
    row[3] = __fadd_rd(x, y);
    row[4] = __fmul_rz(x, y);
    row[5] = __fmul_ru(x, y);
    row[6] = __fdiv_rd(x, y);
    row[7] = __fdiv_ru(x, y);
    row[8] = __fmaf_rz(x, y, z);
    row[9] = __fmaf_ru(x, y, z);
    row[10] = __fmaf_rd(x, y, z);
    row[11] = __fsqrt_ru(fabsf(x));
    row[12] = __frcp_rz(y);
    row[13] = (float)(__dadd_ru((double)x, 1e20) - 1e20);
    row[14] = (float)__dmul_rd((double)x, 1.0 / 3.0);
    asm("mul.ftz.f32 %0, %1, %2;" : "=f"(row[15]) : "f"(x), "f"(2e-38f));
}
