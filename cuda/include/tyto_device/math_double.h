/* Double-precision mathematics. exp, log, sin and cos reduce the argument with fused multiply-adds
 * and sum the Taylor series until the next term is below a unit in the last place; sine and cosine
 * serve arguments up to 2^30. pow is exp(y log x): its relative error grows with the size of
 * y log x, to 2^-43 at the ends of the range. */
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

/* x minus the nearest multiple of pi/2; that multiple, modulo 4, in *quadrant. */
TYTO_FN double tyto_reduce_angle(double x, int *quadrant) {
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
    return tyto_sine(rest, quadrant);
}

TYTO_FN double cos(double x) {
    int quadrant;
    double rest = tyto_reduce_angle(x, &quadrant);
    return tyto_sine(rest, quadrant + 1);
}

TYTO_FN double tan(double x) { return sin(x) / cos(x); }

TYTO_FN double pow(double x, double y) {
    if (x == 1.0 || y == 0.0) return 1.0;
    if (isnan(x) || isnan(y)) return tyto_nan();
    double size = fabs(x);
    double magnitude = size == 1.0 ? 1.0 : exp(y * log(size));
    if (__double_as_longlong(x) >= 0) return magnitude;
    bool is_whole = trunc(y) == y;
    bool is_odd = is_whole && fabs(y) < 0x1p53 && ((long long)y & 1);
    if (!is_whole && x < 0.0 && size < tyto_infinity()) return tyto_nan();
    return is_odd ? -magnitude : magnitude;
}

#undef TYTO_FN

#endif
