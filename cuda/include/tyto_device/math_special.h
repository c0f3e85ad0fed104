/* The rest of C's mathematics: inverse and hyperbolic functions, the error and gamma functions,
 * remainders, and what takes numbers apart. Each is worked out in double precision by its textbook
 * identity or series, to a few units in the last place; the single-precision ones round that.
 *
 * Sources: Abramowitz and Stegun, Handbook of Mathematical Functions (4.4 to 4.6 inverse and
 * hyperbolic functions, 6.1.40 gamma, 7.1.6 and 7.1.14 error function). */
#ifndef TYTO_DEVICE_MATH_SPECIAL_H
#define TYTO_DEVICE_MATH_SPECIAL_H

#include "math.h"

#define TYTO_FN static __device__ __forceinline__

#define TYTO_PI 0x1.921fb54442d18p+1

/* ---- Parts of a number ---- */

TYTO_FN bool isfinite(double x) { return fabs(x) < tyto_infinity(); }
TYTO_FN bool signbit(double x) { return __double_as_longlong(x) < 0; }
TYTO_FN double nearbyint(double x) { return rint(x); }
TYTO_FN long long llrint(double x) { return (long long)rint(x); }
TYTO_FN long lrint(double x) { return (long)rint(x); }
TYTO_FN long long llround(double x) { return (long long)round(x); }
TYTO_FN long lround(double x) { return (long)round(x); }
TYTO_FN double fdim(double a, double b) {
    return a > b ? a - b : isnan(a) || isnan(b) ? tyto_nan() : 0.0;
}
TYTO_FN double modf(double x, double *whole) {
    *whole = trunc(x);
    return isfinite(x) ? copysign(x - *whole, x) : isnan(x) ? x : copysign(0.0, x);
}

/* In three steps, so that no power of two of its own is out of range. */
TYTO_FN double ldexp(double x, int n) {
    n = n > 3000 ? 3000 : n < -3000 ? -3000 : n;
    int third = n / 3;
    return x * tyto_pow2(third) * tyto_pow2(third) * tyto_pow2(n - 2 * third);
}
TYTO_FN double scalbn(double x, int n) { return ldexp(x, n); }
TYTO_FN double frexp(double x, int *exponent) {
    *exponent = 0;
    if (x == 0.0 || !isfinite(x)) return x;
    bool is_subnormal = fabs(x) < 0x1p-1022;
    long long bits = __double_as_longlong(is_subnormal ? x * 0x1p54 : x);
    *exponent = (int)(bits >> 52 & 0x7ff) - 1022 - (is_subnormal ? 54 : 0);
    return __longlong_as_double((bits & 0x800fffffffffffff) | 0x3fe0000000000000);
}
TYTO_FN int ilogb(double x) {
    int exponent;
    if (x == 0.0 || isnan(x)) return -2147483647 - 1;
    if (!isfinite(x)) return 2147483647;
    frexp(x, &exponent);
    return exponent - 1;
}
TYTO_FN double logb(double x) {
    return x == 0.0 ? -tyto_infinity() : isfinite(x) ? (double)ilogb(x) : x * x;
}

/* The next number after x in the direction of y. */
TYTO_FN double nextafter(double x, double y) {
    if (isnan(x) || isnan(y)) return tyto_nan();
    if (x == y) return y;
    if (x == 0.0) return copysign(0x1p-1074, y);
    long long bits = __double_as_longlong(x);
    return __longlong_as_double((x < y) == (x > 0.0) ? bits + 1 : bits - 1);
}
TYTO_FN float nextafterf(float x, float y) {
    if (isnan(x) || isnan(y)) return __int_as_float(0x7fffffff);
    if (x == y) return y;
    if (x == 0.0f) return copysignf(0x1p-149f, y);
    int bits = __float_as_int(x);
    return __int_as_float((x < y) == (x > 0.0f) ? bits + 1 : bits - 1);
}

/* Exact: each subtraction takes the largest multiple of y by a power of two. */
TYTO_FN double fmod(double x, double y) {
    double rest = fabs(x), step = fabs(y);
    if (!isfinite(x) || step == 0.0 || isnan(y)) return tyto_nan();
    while (rest >= step) {
        double part = ldexp(step, ilogb(rest) - ilogb(step));
        rest -= part <= rest ? part : part * 0.5;
    }
    return copysign(rest, x);
}
TYTO_FN double remainder(double x, double y) {
    double step = fabs(y);
    if (!isfinite(x) || step == 0.0 || isnan(y)) return tyto_nan();
    double rest = step < 0x1p1022 ? fmod(fabs(x), 2.0 * step) : fabs(x);
    if (rest > 0.5 * step) rest -= step;
    if (rest >= 0.5 * step) rest -= step;
    return signbit(x) ? -rest : rest;
}

/* ---- Powers and logarithms ---- */

TYTO_FN double exp10(double x) { return pow(10.0, x); }

/* exp(x) - 1: the series where the difference would cancel. */
TYTO_FN double expm1(double x) {
    if (fabs(x) > 0.3) return exp(x) - 1.0;
    return x * tyto_polynomial(x, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                               1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800,
                               1.0 / 479001600, 1.0 / 6227020800);
}

/* log(1 + x); what 1 + x lost of x is put back in proportion. */
TYTO_FN double log1p(double x) {
    double sum = 1.0 + x;
    if (sum == 1.0 || sum == tyto_infinity()) return x;
    return x <= -1.0 ? log(sum) : log(sum) * (x / (sum - 1.0));
}

TYTO_FN double cbrt(double x) {
    double size = fabs(x);
    if (size == 0.0 || !isfinite(x)) return x;
    double root = exp(log(size) * (1.0 / 3));
    root -= (root - size / (root * root)) * (1.0 / 3); /* one step of Newton's method */
    return copysign(root, x);
}
TYTO_FN double rcbrt(double x) { return 1.0 / cbrt(x); }

/* Scaled by the larger, so that no square overflows. */
TYTO_FN double hypot(double x, double y) {
    double large = fmax(fabs(x), fabs(y)), small = fmin(fabs(x), fabs(y));
    if (isnan(x) || isnan(y) || large == tyto_infinity())
        return large == tyto_infinity() ? large : tyto_nan();
    if (large == 0.0) return large;
    double ratio = small / large;
    return large * sqrt(fma(ratio, ratio, 1.0));
}
TYTO_FN double rhypot(double x, double y) { return 1.0 / hypot(x, y); }

/* ---- Inverse trigonometric functions ---- */

/* Halves the angle twice, by tan(a / 2) = t / (1 + sqrt(1 + t^2)), then sums the series. */
TYTO_FN double atan(double x) {
    double t = fabs(x);
    if (isnan(x)) return x;
    bool is_large = t > 1.0;
    if (is_large) t = 1.0 / t;
    for (int i = 0; i < 2; i++)
        t = t / (1.0 + sqrt(fma(t, t, 1.0)));
    double s = t * t;
    double series = tyto_polynomial(s, -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13,
                                    -1.0 / 15, 1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23);
    double angle = 4.0 * fma(t * s, series, t);
    if (is_large) angle = TYTO_PI / 2 - angle + 0x1.1a62633145c07p-54;
    return copysign(angle, x);
}

TYTO_FN double atan2(double y, double x) {
    if (isnan(x) || isnan(y)) return tyto_nan();
    double angle;
    if (!isfinite(x) && !isfinite(y)) angle = TYTO_PI / 4;
    else if (x == 0.0 && y == 0.0) angle = 0.0;
    else angle = atan(fabs(y) / fabs(x));
    return copysign(signbit(x) ? TYTO_PI - angle : angle, y);
}
TYTO_FN double asin(double x) {
    return fabs(x) > 1.0 ? tyto_nan() : atan2(x, sqrt((1.0 - x) * (1.0 + x)));
}
TYTO_FN double acos(double x) {
    return fabs(x) > 1.0 ? tyto_nan() : atan2(sqrt((1.0 - x) * (1.0 + x)), x);
}

TYTO_FN double sinpi(double x) { return sin(TYTO_PI * (x - 2.0 * rint(0.5 * x))); }
TYTO_FN double cospi(double x) { return cos(TYTO_PI * (x - 2.0 * rint(0.5 * x))); }
TYTO_FN void sincos(double x, double *sine, double *cosine) {
    int quadrant;
    double rest = tyto_reduce_angle(x, &quadrant);
    *sine = tyto_sine(rest, quadrant);
    *cosine = tyto_sine(rest, quadrant + 1);
}

/* ---- Hyperbolic functions ---- */

TYTO_FN double sinh(double x) {
    double size = fabs(x), half = size > 700.0 ? exp(0.5 * size) : 0.0;
    double e = expm1(size);
    double value = size > 700.0 ? 0.5 * half * half : 0.5 * (e + e / (e + 1.0));
    return copysign(value, x);
}
TYTO_FN double cosh(double x) {
    double size = fabs(x), half = exp(0.5 * size);
    return size > 700.0 ? 0.5 * half * half : 0.5 * (half * half + 1.0 / (half * half));
}
TYTO_FN double tanh(double x) {
    double e = expm1(2.0 * fmin(fabs(x), 22.0));
    return isnan(x) ? x : copysign(e / (e + 2.0), x);
}
TYTO_FN double asinh(double x) {
    double size = fabs(x);
    double value = size > 0x1p28 ? log(size) + 0x1.62e42fefa39efp-1
                                 : log1p(size + size * size / (1.0 + sqrt(fma(size, size, 1.0))));
    return copysign(value, x);
}
TYTO_FN double acosh(double x) {
    double over = x - 1.0;
    return x > 0x1p28 ? log(x) + 0x1.62e42fefa39efp-1 : log1p(over + sqrt(over * (over + 2.0)));
}
TYTO_FN double atanh(double x) {
    double size = fabs(x);
    return copysign(0.5 * log1p(2.0 * size / (1.0 - size)), x);
}

/* ---- Error and gamma functions ---- */

/* erfc(x) for x of 2 and more: exp(-x^2) times the continued fraction, from its end. */
TYTO_FN double tyto_erfc_far(double x) {
    double fraction = x;
    for (int i = 60; i > 0; i--)
        fraction = x + 0.5 * i / fraction;
    return exp(-x * x) * 0x1.20dd750429b6dp-1 / fraction; /* 1 / sqrt(pi) */
}
/* erf(x) for x below 2: 2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (1 * 3 * ... * (2n+1)), all
 * positive. */
TYTO_FN double tyto_erf_near(double x) {
    double term = x, sum = x;
    for (int n = 1; n < 50; n++) {
        term *= 2.0 * x * x / (2 * n + 1);
        sum += term;
    }
    return 0x1.20dd750429b6dp+0 * exp(-x * x) * sum;
}
TYTO_FN double erf(double x) {
    double size = fabs(x);
    if (isnan(x)) return x;
    return copysign(size < 2.0 ? tyto_erf_near(size) : 1.0 - tyto_erfc_far(fmin(size, 30.0)), x);
}
TYTO_FN double erfc(double x) {
    if (isnan(x)) return x;
    return x < 2.0 ? 1.0 - erf(x) : tyto_erfc_far(fmin(x, 30.0));
}
TYTO_FN double normcdf(double x) { return 0.5 * erfc(-x * 0x1.6a09e667f3bcdp-1); }

/* Where the normal distribution reaches p: a rational function (Abramowitz and Stegun, 26.2.23, to
 * 4.5e-4), then Halley's method, each step of which makes three times as many digits right. */
TYTO_FN double normcdfinv(double p) {
    if (!(p > 0.0 && p < 1.0))
        return p == 0.0 ? -tyto_infinity() : p == 1.0 ? tyto_infinity() : tyto_nan();
    double low = fmin(p, 1.0 - p), t = sqrt(-2.0 * log(low));
    double x = tyto_polynomial(t, 2.515517, 0.802853, 0.010328) /
                   tyto_polynomial(t, 1.0, 1.432788, 0.189269, 0.001308) -
               t;
    for (int i = 0; i < 3; i++) {
        double off = (normcdf(x) - low) * 0x1.40d931ff62705p+1 * exp(0.5 * x * x); /* sqrt(2 pi) */
        x -= off / (1.0 + 0.5 * x * off);
    }
    return p < 0.5 ? x : -x;
}
TYTO_FN double erfcinv(double y) { return -normcdfinv(0.5 * y) * 0x1.6a09e667f3bcdp-1; }
/* Near 0 with Halley's method on erf itself: 0.5 (1 + y) would lose the digits. */
TYTO_FN double erfinv(double y) {
    if (!(fabs(y) < 0.5)) return copysign(erfcinv(1.0 - fabs(y)), y);
    double x = y * 0x1.c5bf891b4ef6ap-1 * (1.0 + 0.2618 * y * y); /* sqrt(pi) / 2 */
    for (int i = 0; i < 3; i++) {
        double off = (erf(x) - y) * 0x1.c5bf891b4ef6ap-1 * exp(x * x);
        x -= off / (1.0 + x * off);
    }
    return x;
}

/* Stirling's series for x of at least 10, reached by x Gamma(x) = Gamma(x + 1). */
TYTO_FN double tyto_log_gamma(double x) {
    double product = 1.0;
    for (; x < 10.0; x += 1.0)
        product *= x;
    double inverse = 1.0 / x, s = inverse * inverse;
    double series = inverse * tyto_polynomial(s, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                              1.0 / 1188, -691.0 / 360360, 1.0 / 156);
    return (x - 0.5) * log(x) - x + 0x1.d67f1c864beb5p-1 + series - log(product);
}
TYTO_FN double lgamma(double x) {
    if (x > 0.0) return tyto_log_gamma(x);
    double sine = fabs(sinpi(x)); /* reflection */
    return sine == 0.0 ? tyto_infinity() : log(TYTO_PI / sine) - tyto_log_gamma(1.0 - x);
}
TYTO_FN double tgamma(double x) {
    if (x > 0.0) return exp(tyto_log_gamma(x));
    double sine = sinpi(x);
    return sine == 0.0 ? tyto_nan() : TYTO_PI / (sine * exp(tyto_log_gamma(1.0 - x)));
}

/* ---- Single precision ---- */

#define TYTO_SINGLE_1(name)                                                                        \
    TYTO_FN float name##f(float x) { return (float)name((double)x); }
#define TYTO_SINGLE_2(name)                                                                        \
    TYTO_FN float name##f(float x, float y) { return (float)name((double)x, (double)y); }
TYTO_SINGLE_1(nearbyint)
TYTO_SINGLE_1(exp10)
TYTO_SINGLE_1(expm1)
TYTO_SINGLE_1(log1p)
TYTO_SINGLE_1(cbrt)
TYTO_SINGLE_1(rcbrt)
TYTO_SINGLE_1(logb)
TYTO_SINGLE_1(asin)
TYTO_SINGLE_1(acos)
TYTO_SINGLE_1(atan)
TYTO_SINGLE_1(sinpi)
TYTO_SINGLE_1(cospi)
TYTO_SINGLE_1(sinh)
TYTO_SINGLE_1(cosh)
TYTO_SINGLE_1(tanh)
TYTO_SINGLE_1(asinh)
TYTO_SINGLE_1(acosh)
TYTO_SINGLE_1(atanh)
TYTO_SINGLE_1(erf)
TYTO_SINGLE_1(erfc)
TYTO_SINGLE_1(normcdf)
TYTO_SINGLE_1(normcdfinv)
TYTO_SINGLE_1(erfinv)
TYTO_SINGLE_1(erfcinv)
TYTO_SINGLE_1(lgamma)
TYTO_SINGLE_1(tgamma)
TYTO_SINGLE_2(fdim)
TYTO_SINGLE_2(fmod)
TYTO_SINGLE_2(remainder)
TYTO_SINGLE_2(hypot)
TYTO_SINGLE_2(rhypot)
TYTO_SINGLE_2(atan2)
#undef TYTO_SINGLE_1
#undef TYTO_SINGLE_2

TYTO_FN bool isfinite(float x) { return isfinite((double)x); }
TYTO_FN bool signbit(float x) { return __float_as_int(x) < 0; }
TYTO_FN int ilogbf(float x) { return ilogb((double)x); }
TYTO_FN long lrintf(float x) { return lrint((double)x); }
TYTO_FN long lroundf(float x) { return lround((double)x); }
TYTO_FN long long llrintf(float x) { return llrint((double)x); }
TYTO_FN long long llroundf(float x) { return llround((double)x); }
TYTO_FN float ldexpf(float x, int n) { return (float)ldexp((double)x, n); }
TYTO_FN float scalbnf(float x, int n) { return (float)ldexp((double)x, n); }
TYTO_FN float frexpf(float x, int *exponent) { return (float)frexp((double)x, exponent); }
TYTO_FN float modff(float x, float *whole) {
    double all;
    double rest = modf((double)x, &all);
    *whole = (float)all;
    return (float)rest;
}
TYTO_FN void sincosf(float x, float *sine, float *cosine) {
    int quadrant;
    float rest = tyto_reduce_angle_f(x, &quadrant);
    *sine = tyto_sine_f(rest, quadrant);
    *cosine = tyto_sine_f(rest, quadrant + 1);
}
TYTO_FN void __sincosf(float x, float *sine, float *cosine) {
    *sine = __sinf(x);
    *cosine = __cosf(x);
}
TYTO_FN float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
TYTO_FN float __log10f(float x) { return __log2f(x) * 0x1.344136p-2f; }
TYTO_FN float __exp10f(float x) { return __expf(x * 0x1.26bb1cp+1f); }

#undef TYTO_PI
#undef TYTO_FN

#endif
