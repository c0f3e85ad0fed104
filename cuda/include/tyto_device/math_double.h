/* Double-precision mathematics. exp, log, sin and cos reduce the argument with fused multiply-adds
 * and sum the Taylor series until the next term is below a unit in the last place; from 2^30 on,
 * sine and cosine reduce it with integer arithmetic. pow is exp(y log x), with the logarithm in two
 * parts. */
#ifndef TYTO_DEVICE_MATH_DOUBLE_H
#define TYTO_DEVICE_MATH_DOUBLE_H

#include "integer.h"

#define TYTO_FN static __device__ __forceinline__

TYTO_FN double fabs(double x) { return __builtin_fabs(x); }
TYTO_FN double fmin(double a, double b) { return __builtin_fmin(a, b); }
TYTO_FN double fmax(double a, double b) { return __builtin_fmax(a, b); }
TYTO_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TYTO_FN double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
TYTO_FN double rsqrt(double x) { return 1.0 / sqrt(x); }
TYTO_FN double floor(double x) { return __builtin_floor(x); }
TYTO_FN double ceil(double x) { return __builtin_ceil(x); }
TYTO_FN double trunc(double x) { return __builtin_trunc(x); }
TYTO_FN double rint(double x) { return __builtin_rint(x); }
TYTO_FN double round(double x) { return __builtin_round(x); }
TYTO_FN double copysign(double x, double sign) { return __builtin_copysign(x, sign); }
TYTO_FN bool isnan(double x) { return __builtin_isnan(x); }
TYTO_FN bool isinf(double x) { return __builtin_isinf(x); }
TYTO_FN double min(double a, double b) { return fmin(a, b); }
TYTO_FN double max(double a, double b) { return fmax(a, b); }

TYTO_FN double tyto_infinity() { return __longlong_as_double(0x7ff0000000000000); }
TYTO_FN double tyto_nan() { return __longlong_as_double(0x7fffffffffffffff); }
/* 2^n for n in [-1022, 1023]. */
TYTO_FN double tyto_pow2(long long n) { return __longlong_as_double((n + 1023) << 52); }

TYTO_FN float tyto_multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TYTO_FN double tyto_multiply_add(double a, double b, double c) { return fma(a, b, c); }

/* The polynomial in x with these coefficients, the constant first, by Horner's rule. */
template <class T> TYTO_FN T tyto_polynomial(T, T constant) { return constant; }
template <class T, class... Higher> TYTO_FN T tyto_polynomial(T x, T constant, Higher... higher) {
    return tyto_multiply_add(tyto_polynomial(x, higher...), x, constant);
}

/* exp(r) 2^whole for |r| up to ln(2) / 2 and whole numbers within [-2044, 2046]. */
TYTO_FN double tyto_scaled_exp(double r, double whole) {
    double power = tyto_polynomial(r, 1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                                   1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800,
                                   1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
    long long n = (long long)whole;
    return power * tyto_pow2(n / 2) * tyto_pow2(n - n / 2);
}

TYTO_FN double exp(double x) {
    double clamped = fmin(fmax(x, -800.0), 800.0);
    double whole = rint(clamped * 0x1.71547652b82fep+0);
    double r = fma(whole, -0x1.62e42fefa39efp-1, clamped);
    r = fma(whole, -0x1.abc9e3b39803fp-56, r);
    return isnan(x) ? x : tyto_scaled_exp(r, whole);
}

TYTO_FN double exp2(double x) {
    double clamped = fmin(fmax(x, -1200.0), 1200.0);
    double whole = rint(clamped);
    double r = (clamped - whole) * 0x1.62e42fefa39efp-1;
    return isnan(x) ? x : tyto_scaled_exp(r, whole);
}

/* log(x) = n ln 2 + 2 artanh((m - 1) / (m + 1)) with x = m 2^n, m within [sqrt(1/2), sqrt(2)). */
TYTO_FN double log(double x) {
    bool is_subnormal = x < 0x1p-1022;
    long long bits = __double_as_longlong(is_subnormal ? x * 0x1p54 : x);
    long long n = (bits - 0x3fe6a09e667f3bcd) >> 52;
    double m = __longlong_as_double(bits - (n << 52));
    double exponent = (double)(is_subnormal ? n - 54 : n);
    double t = (m - 1.0) / (m + 1.0);
    double s = t * t;
    double series = s * tyto_polynomial(s, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13,
                                        1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21);
    double mantissa_log = 2.0 * fma(t, series, t);
    double low = fma(exponent, 0x1.abc9e3b39803fp-56, mantissa_log);
    double result = fma(exponent, 0x1.62e42fefa39efp-1, low);
    if (x > 0.0 && x < tyto_infinity()) return result;
    if (x == 0.0) return -tyto_infinity();
    return x > 0.0 ? x : tyto_nan();
}

TYTO_FN double log2(double x) { return log(x) * 0x1.71547652b82fep+0; }
TYTO_FN double log10(double x) { return log(x) * 0x1.bcb7b1526e50ep-2; }

/* Code that TYTO_SMALL_ANGLES leaves out, for programs with angles below 2^30 in which the sign of
 * zero does not matter: a branch for each angle, and a comparison and a selection for each sine.
 * Tyto's workloads use it, because their figures were measured with it. */
#ifdef TYTO_SMALL_ANGLES
#define TYTO_IS_LARGE_ANGLE(x)  false
#define TYTO_ZERO_OR(x, result) (result)
#else
#define TYTO_IS_LARGE_ANGLE(x)  (!(fabs(x) < 0x1p30))
#define TYTO_ZERO_OR(x, result) ((x) == 0 ? (x) : (result)) /* keeps -0 */
#endif

/* An angle minus the nearest multiple of pi/2, and that multiple modulo 4. */
struct TytoAngle {
    double rest;
    int quadrant;
};

/* The same for any size from 2^30 on, after Payne and Hanek (SIGNUM Newsletter 18, 1983): x is m
 * 2^e with an integer m of 53 bits. The bits of 2/pi above 2^(1-e) only make multiples of 4, and
 * bits more than 190 below that are too small to matter. It is called and not inlined, to keep
 * kernels short. */
static __device__ __attribute__((noinline, const)) TytoAngle tyto_reduce_large_angle(double x) {
    /* 64 zeros, then 2/pi in binary, computed with Machin's formula in integer arithmetic. */
    static const unsigned long long two_over_pi[] = {
        0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
        0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
        0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
        0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
        0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    };
    long long bits = __double_as_longlong(x);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff) return {tyto_nan(), 0};
    unsigned long long m = (bits & 0xfffffffffffff) | 0x10000000000000;
    int start = exponent - 1075 + 62, shift = start & 63; /* the bit 2^(1-e), in the table */
    const unsigned long long *word = two_over_pi + (start >> 6);
    unsigned long long part[3];
    for (int i = 0; i < 3; i++)
        part[i] = shift ? word[i] << shift | word[i + 1] >> (64 - shift) : word[i];

    /* The product modulo 4: two bits of the quadrant and 126 of the fraction (its lowest word only
     * carries). */
    unsigned long long carried = __umul64hi(m, part[2]);
    unsigned long long low = m * part[1] + carried;
    unsigned long long high = m * part[0] + __umul64hi(m, part[1]) + (low < carried);
    int quadrant = (int)(high >> 62);
    high = high << 2 | low >> 62;
    low <<= 2;
    bool is_above = high >> 63; /* half of pi/2: the next multiple is nearer */
    if (is_above) {
        quadrant++;
        high = ~high;
        low = ~low;
    }
    /* No number of 53 bits is within 2^-62 of a multiple, so the upper word is not 0. */
    int zeros = __clzll((long long)high);
    high = high << zeros | low >> (64 - zeros);
    double scale = tyto_pow2(-64 - zeros);
    double upper = (double)(high >> 11 << 11) * scale, lower = (double)(high & 0x7ff) * scale;
    double rest = upper * 0x1.921fb54442d18p+0;
    double lost = fma(upper, 0x1.921fb54442d18p+0, -rest);
    rest += fma(lower, 0x1.921fb54442d18p+0, fma(upper, 0x1.1a62633145c07p-54, lost));
    bool is_negative = is_above != (bits < 0);
    return {is_negative ? -rest : rest, bits < 0 ? -quadrant & 3 : quadrant & 3};
}

/* x minus the nearest multiple of pi/2; that multiple, modulo 4, in *quadrant. */
TYTO_FN double tyto_reduce_angle(double x, int *quadrant) {
    if (TYTO_IS_LARGE_ANGLE(x)) {
        TytoAngle angle = tyto_reduce_large_angle(x);
        *quadrant = angle.quadrant;
        return angle.rest;
    }
    double whole = rint(x * 0x1.45f306dc9c883p-1);
    *quadrant = (int)(long long)whole & 3;
    double rest = fma(whole, -0x1.921fb54442d18p+0, x);
    return fma(whole, -0x1.1a62633145c07p-54, rest);
}

/* The sine of an angle reduced to [-pi/4, pi/4] plus `quadrant` right angles. */
TYTO_FN double tyto_sine(double rest, int quadrant) {
    double s = rest * rest;
    double cosine =
        tyto_polynomial(s, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800,
                        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000);
    double sine =
        tyto_polynomial(s, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                        1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000);
    double value = (quadrant & 1) ? cosine : fma(rest * s, sine, rest);
    return (quadrant & 2) ? -value : value;
}

TYTO_FN double sin(double x) {
    int quadrant;
    double rest = tyto_reduce_angle(x, &quadrant);
    return TYTO_ZERO_OR(x, tyto_sine(rest, quadrant));
}

TYTO_FN double cos(double x) {
    int quadrant;
    double rest = tyto_reduce_angle(x, &quadrant);
    return tyto_sine(rest, quadrant + 1);
}

TYTO_FN double tan(double x) {
    int quadrant;
    double rest = tyto_reduce_angle(x, &quadrant);
    double tangent = tyto_sine(rest, quadrant) / tyto_sine(rest, quadrant + 1);
    return TYTO_ZERO_OR(x, tangent);
}

/* log(x) of a positive finite x as the sum of the result and *low, to about 62 bits: log's series,
 * in which t and its cube also have two parts. */
TYTO_FN double tyto_log_parts(double x, double *low) {
    bool is_subnormal = x < 0x1p-1022;
    long long bits = __double_as_longlong(is_subnormal ? x * 0x1p54 : x);
    long long n = (bits - 0x3fe6a09e667f3bcd) >> 52;
    double m = __longlong_as_double(bits - (n << 52));
    double exponent = (double)(is_subnormal ? n - 54 : n);
    double above = m - 1.0, below = m + 1.0, below_low = m - (below - 1.0);
    double t = above / below;
    double t_low = fma(-t, below_low, fma(-t, below, above)) / below;
    double s = t * t, s_low = fma(t, t, -s) + 2.0 * t * t_low;
    double cube = s * t, cube_low = fma(s, t, -cube) + s * t_low + s_low * t;
    double third = cube * (1.0 / 3);
    double third_low = fma(cube, 1.0 / 3, -third) + fma(cube, 0x1.5555555555555p-56, cube_low / 3);
    double rest = cube * s *
                  tyto_polynomial(s, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15,
                                  1.0 / 17, 1.0 / 19, 1.0 / 21);
    double sum = t + third;
    double sum_low = (t - sum) + third + (t_low + third_low + rest);
    double whole = __nvvm_mul_rn_d(exponent, 0x1.62e42fefa39efp-1);
    double whole_low = fma(exponent, 0x1.62e42fefa39efp-1, -whole);
    double high = fma(2.0, sum, whole);
    double high_low = (whole - high) + 2.0 * sum + 2.0 * sum_low +
                      fma(exponent, 0x1.abc9e3b39803fp-56, whole_low);
    double result = high + high_low;
    *low = (high - result) + high_low;
    return result;
}

/* size^y for a size of at least 0. */
TYTO_FN double tyto_power(double size, double y) {
    if (size == 0.0 || size == tyto_infinity()) return exp(y * log(size));
    double low, high = tyto_log_parts(size, &low);
    double product = y * high;
    if (!(fabs(product) < 800.0)) return exp(product);
    /* exp(r + rest) for an exact r; adds the 1 and the r of its series together with their rounding
     * error. */
    double whole = rint(product * 0x1.71547652b82fep+0);
    double r = fma(whole, -0x1.62e42fefa39efp-1, product);
    double rest = fma(whole, -0x1.abc9e3b39803fp-56, fma(y, low, fma(y, high, -product)));
    double series = tyto_polynomial(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                                    1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800,
                                    1.0 / 479001600, 1.0 / 6227020800);
    double sum = 1.0 + r;
    double square = r * r, grown = fma(rest, fma(square, series, r), rest); /* rest exp(r) */
    double sum_low = (1.0 - sum) + r + fma(square, series, grown);
    long long n = (long long)whole;
    return (sum + sum_low) * tyto_pow2(n / 2) * tyto_pow2(n - n / 2);
}

/* x^y; `magnitude` is |x|^y. */
TYTO_FN double tyto_signed_power(double x, double y, double magnitude) {
    if (x == 1.0 || y == 0.0) return 1.0;
    if (isnan(x) || isnan(y)) return tyto_nan();
    double size = fabs(x);
    if (size == 1.0) magnitude = 1.0;
    if (__double_as_longlong(x) >= 0) return magnitude;
    bool is_whole = trunc(y) == y;
    bool is_odd = is_whole && fabs(y) < 0x1p53 && ((long long)y & 1);
    if (!is_whole && x < 0.0 && size < tyto_infinity()) return tyto_nan();
    return is_odd ? -magnitude : magnitude;
}

TYTO_FN double pow(double x, double y) { return tyto_signed_power(x, y, tyto_power(fabs(x), y)); }

#undef TYTO_FN

#endif
