/* Mathematics: the operations of the hardware (roots, roundings, fused multiply-add, the
 * approximate forms with two leading underscores), directed roundings, conversions, and the
 * single-precision functions built on them. These reduce the argument with fused multiply-adds by
 * constants in two or three parts and finish with ex2.approx or a short polynomial; they are
 * accurate to a few units in the last place. Double precision is in math_double.h. */
#ifndef TYTO_DEVICE_MATH_H
#define TYTO_DEVICE_MATH_H

#include "integer.h"
#include "math_double.h"

#define TYTO_FN static __device__ __forceinline__

TYTO_FN float fabsf(float x) { return __builtin_fabsf(x); }
TYTO_FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
TYTO_FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
TYTO_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TYTO_FN float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
TYTO_FN float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
TYTO_FN float floorf(float x) { return __builtin_floorf(x); }
TYTO_FN float ceilf(float x) { return __builtin_ceilf(x); }
TYTO_FN float truncf(float x) { return __builtin_truncf(x); }
TYTO_FN float rintf(float x) { return __builtin_rintf(x); }
TYTO_FN float roundf(float x) { return __builtin_roundf(x); }
TYTO_FN float copysignf(float x, float sign) { return __builtin_copysignf(x, sign); }
TYTO_FN bool isnan(float x) { return __builtin_isnan(x); }
TYTO_FN bool isinf(float x) { return __builtin_isinf(x); }
TYTO_FN float min(float a, float b) { return fminf(a, b); }
TYTO_FN float max(float a, float b) { return fmaxf(a, b); }

/* Approximate forms: one special-function instruction each, and a product. */
TYTO_FN float __expf(float x) { return __nvvm_ex2_approx_f(x * 0x1.715476p+0f); }
TYTO_FN float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
TYTO_FN float __logf(float x) { return __log2f(x) * 0x1.62e43p-1f; }
TYTO_FN float __sinf(float x) { return __nvvm_sin_approx_f(x); }
TYTO_FN float __cosf(float x) { return __nvvm_cos_approx_f(x); }
TYTO_FN float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
TYTO_FN float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __log2f(x)); }
TYTO_FN float __saturatef(float x) { return __nvvm_saturate_f(x); }

/* Directed roundings: to nearest even, towards zero, up, down. */
#define TYTO_ROUNDED(suffix, r)                                                                    \
    TYTO_FN float __fadd_##suffix(float a, float b) { return __nvvm_add_##r##_f(a, b); }           \
    TYTO_FN float __fmul_##suffix(float a, float b) { return __nvvm_mul_##r##_f(a, b); }           \
    TYTO_FN float __fdiv_##suffix(float a, float b) { return __nvvm_div_##r##_f(a, b); }           \
    TYTO_FN float __fsqrt_##suffix(float a) { return __nvvm_sqrt_##r##_f(a); }                     \
    TYTO_FN float __frcp_##suffix(float a) { return __nvvm_rcp_##r##_f(a); }                       \
    TYTO_FN float __fmaf_##suffix(float a, float b, float c) {                                     \
        return __nvvm_fma_##r##_f(a, b, c);                                                        \
    }                                                                                              \
    TYTO_FN double __dadd_##suffix(double a, double b) { return __nvvm_add_##r##_d(a, b); }        \
    TYTO_FN double __dmul_##suffix(double a, double b) { return __nvvm_mul_##r##_d(a, b); }        \
    TYTO_FN int __float2int_##suffix(float x) { return __nvvm_f2i_##r(x); }                        \
    TYTO_FN unsigned __float2uint_##suffix(float x) { return __nvvm_f2ui_##r(x); }                 \
    TYTO_FN long long __float2ll_##suffix(float x) { return __nvvm_f2ll_##r(x); }                  \
    TYTO_FN int __double2int_##suffix(double x) { return __nvvm_d2i_##r(x); }                      \
    TYTO_FN float __double2float_##suffix(double x) { return __nvvm_d2f_##r(x); }                  \
    TYTO_FN float __int2float_##suffix(int x) {                                                    \
        float y; /* inline, because clang 19's builtin always rounds to nearest */                 \
        asm("cvt." #r ".f32.s32 %0, %1;" : "=f"(y) : "r"(x));                                      \
        return y;                                                                                  \
    }                                                                                              \
    TYTO_FN float __uint2float_##suffix(unsigned x) {                                              \
        float y;                                                                                   \
        asm("cvt." #r ".f32.u32 %0, %1;" : "=f"(y) : "r"(x));                                      \
        return y;                                                                                  \
    }
TYTO_ROUNDED(rn, rn)
TYTO_ROUNDED(rz, rz)
TYTO_ROUNDED(ru, rp)
TYTO_ROUNDED(rd, rm)
#undef TYTO_ROUNDED

/* 2^n for n in [-126, 127]. */
TYTO_FN float tyto_pow2f(int n) { return __int_as_float((n + 127) << 23); }

TYTO_FN float exp2f(float x) {
    float whole = rintf(fminf(fmaxf(x, -160.0f), 160.0f));
    int n = (int)whole;
    float scaled = __nvvm_ex2_approx_f(x - whole) * tyto_pow2f(n / 2) * tyto_pow2f(n - n / 2);
    return isnan(x) ? x : scaled;
}

TYTO_FN float expf(float x) {
    float clamped = fminf(fmaxf(x, -110.0f), 110.0f);
    float whole = rintf(clamped * 0x1.715476p+0f);
    float rest = fmaf(whole, -0x1.62e43p-1f, clamped);
    rest = fmaf(whole, 0x1.05c61p-29f, rest);
    int n = (int)whole;
    float power = __nvvm_ex2_approx_f(rest * 0x1.715476p+0f);
    return isnan(x) ? x : power * tyto_pow2f(n / 2) * tyto_pow2f(n - n / 2);
}

/* log(x) = n ln 2 + 2 artanh((m - 1) / (m + 1)) with x = m 2^n, m within [sqrt(1/2), sqrt(2)). */
TYTO_FN float logf(float x) {
    bool is_subnormal = x < 0x1p-126f;
    int bits = __float_as_int(is_subnormal ? x * 0x1p25f : x);
    int n = (bits - 0x3f3504f3) >> 23;
    float m = __int_as_float(bits - (n << 23));
    float exponent = (float)(is_subnormal ? n - 25 : n);
    float t = (m - 1.0f) / (m + 1.0f);
    float s = t * t;
    float series = s * tyto_polynomial(s, 1.0f / 3, 1.0f / 5, 1.0f / 7, 1.0f / 9, 1.0f / 11);
    float mantissa_log = 2.0f * fmaf(t, series, t);
    float result = fmaf(exponent, 0x1.62e43p-1f, fmaf(exponent, -0x1.05c61p-29f, mantissa_log));
    if (x > 0.0f && x < __int_as_float(0x7f800000)) return result;
    if (x == 0.0f) return __int_as_float((int)0xff800000);
    return x > 0.0f ? x : __int_as_float(0x7fffffff);
}

TYTO_FN float log2f(float x) { return (float)log2((double)x); }
TYTO_FN float log10f(float x) { return logf(x) * 0x1.bcb7b2p-2f; }

/* x minus the nearest multiple of pi/2; that multiple, modulo 4, in *quadrant. */
TYTO_FN float tyto_reduce_angle_f(float x, int *quadrant) {
    if (fabsf(x) > 8192.0f) return (float)tyto_reduce_angle(x, quadrant);
    float whole = rintf(x * 0x1.45f306p-1f);
    *quadrant = (int)whole & 3;
    float rest = fmaf(whole, -0x1.921fb6p+0f, x);
    rest = fmaf(whole, 0x1.777a5cp-25f, rest);
    return fmaf(whole, 0x1.ee59dap-50f, rest);
}

/* The sine of an angle reduced to [-pi/4, pi/4] plus `quadrant` right angles. */
TYTO_FN float tyto_sine_f(float rest, int quadrant) {
    float s = rest * rest;
    float value =
        (quadrant & 1)
            ? tyto_polynomial(s, 1.0f, -1.0f / 2, 1.0f / 24, -1.0f / 720, 1.0f / 40320)
            : fmaf(rest * s, tyto_polynomial(s, -1.0f / 6, 1.0f / 120, -1.0f / 5040, 1.0f / 362880),
                   rest);
    return (quadrant & 2) ? -value : value;
}

TYTO_FN float sinf(float x) {
    int quadrant;
    float rest = tyto_reduce_angle_f(x, &quadrant);
    return TYTO_ZERO_OR(x, tyto_sine_f(rest, quadrant));
}

TYTO_FN float cosf(float x) {
    int quadrant;
    float rest = tyto_reduce_angle_f(x, &quadrant);
    return tyto_sine_f(rest, quadrant + 1);
}

TYTO_FN float tanf(float x) {
    int quadrant;
    float rest = tyto_reduce_angle_f(x, &quadrant);
    float tangent = tyto_sine_f(rest, quadrant) / tyto_sine_f(rest, quadrant + 1);
    return TYTO_ZERO_OR(x, tangent);
}
TYTO_FN float powf(float x, float y) {
    return (float)tyto_signed_power(x, y, exp((double)y * log(fabs((double)x))));
}

#undef TYTO_FN

#endif
