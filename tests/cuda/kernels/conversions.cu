/* Conversions from floats to integers in every rounding, saturating at the ends of the range and at
 * NaN, and from integers to floats. */
#include "kernel.h"

static __device__ int narrow(float x) {
    int result;
    asm("{ .reg .s8 t; cvt.rni.sat.s8.f32 t, %1; cvt.s32.s8 %0, t; }" : "=r"(result) : "f"(x));
    return result;
}

static __device__ unsigned saturate16(int x) {
    unsigned short result;
    asm("cvt.sat.u16.s32 %0, %1;" : "=h"(result) : "r"(x));
    return result;
}

extern "C" __global__ void conversions(const float *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    float x = in[i];
    double wide = x * 3.0;
    unsigned *row = out + 16 * i;
    row[0] = (unsigned)__float2int_rn(x);
    row[1] = (unsigned)__float2int_rz(x);
    row[2] = (unsigned)__float2int_ru(x);
    row[3] = (unsigned)__float2int_rd(x);
    row[4] = __float2uint_rn(x);
    row[5] = __float2uint_rd(x);
    row[6] = (unsigned)(__float2ll_rz(x) >> 8);
    row[7] = (unsigned)__double2int_rn(wide);
    row[8] = isnan(x) ? 1u : __float_as_uint(__double2float_rz(wide));
    row[9] = isnan(x) ? 1u : __float_as_uint(__double2float_ru(wide));
    row[10] = __float_as_uint(__int2float_rz((int)__float_as_uint(x)));
    row[11] = __float_as_uint(__uint2float_ru(__float_as_uint(x)));
    row[12] = (unsigned)narrow(x);
    row[13] = saturate16(__float2int_rz(x));
    row[14] = __float_as_uint(__saturatef(x));
    unsigned rounded = __float_as_uint(rintf(x)) * 3 + __float_as_uint(floorf(x)) * 5 +
                       __float_as_uint(ceilf(x)) * 7 + __float_as_uint(truncf(x)) * 11;
    row[15] = isnan(x) ? 1u : rounded;
}
