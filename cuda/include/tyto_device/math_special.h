/* The rest of C's mathematics: inverse and hyperbolic functions, the error and gamma functions,
 * remainders, and functions that split numbers into parts. Each is computed in double precision by
 * its textbook identity or series, to a few units in the last place; the single-precision functions
 * round this result.
 *
 * Sources: Abramowitz and Stegun, Handbook of Mathematical Functions (4.4 to 4.6 inverse and
 * hyperbolic functions, 6.1.40 gamma, 7.1.6 and 7.1.14 error function).  */
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

/* In three steps, so that no power of two is out of range. */
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

/* exp(x) - 1: uses the series if the difference would lose digits. */
TYTO_FN double expm1(double x) {
    if (fabs(x) > 0.3) return exp(x) - 1.0;
    return x * tyto_polynomial(x, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                               1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800,
                               1.0 / 479001600, 1.0 / 6227020800);
}

/* log(1 + x); corrects in proportion for the digits of x that 1 + x loses. */
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

/* x in half turns minus the nearest quarter turn, in radians; that quarter, modulo 4, in *quadrant.
 */
TYTO_FN double tyto_reduce_turns(double x, int *quadrant) {
    double rest = x - 2.0 * rint(0.5 * x), quarters = rint(2.0 * rest);
    *quadrant = (int)quarters & 3;
    return TYTO_PI * (rest - 0.5 * quarters);
}
TYTO_FN double sinpi(double x) {
    int quadrant;
    double rest = tyto_reduce_turns(x, &quadrant);
    return trunc(x) == x && isfinite(x) ? copysign(0.0, x) : tyto_sine(rest, quadrant);
}
TYTO_FN double cospi(double x) {
    int quadrant;
    double rest = tyto_reduce_turns(x, &quadrant);
    return tyto_sine(rest, quadrant + 1);
}
TYTO_FN void sincos(double x, double *sine, double *cosine) {
    int quadrant;
    double rest = tyto_reduce_angle(x, &quadrant);
    *sine = TYTO_ZERO_OR(x, tyto_sine(rest, quadrant));
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

/* exp(-x^2), with the rounding error of x * x. */
TYTO_FN double tyto_exp_of_square(double x) {
    double square = x * x;
    return exp(-square) * (1.0 - fma(x, x, -square));
}
/* erfc(x) for x of 0.5 and more: the trapezoidal rule with steps of h = 1/2 for (2 x / pi)
 * exp(-x^2) times the integral of exp(-t^2) / (x^2 + t^2) from 0 on, minus the contribution of the
 * pole at t = i x, 2 / (exp(2 pi x / h) - 1): exact to exp(-(pi / h)^2), 2^-56. The factors are
 * exp(-(n / 2)^2). (Matta and Reichel, Mathematics of Computation 25, 1971.) */
TYTO_FN double tyto_erfc_far(double x) {
    double square = x * x;
    double sum = 0.0;
    sum += 0x1.0851945bd91fcp-61 / (square + 42.25);
    sum += 0x1.0b6c3afdde064p-52 / (square + 36.0);
    sum += 0x1.4835bd010a41bp-44 / (square + 30.25);
    sum += 0x1.e8a37a45fc32ep-37 / (square + 25.0);
    sum += 0x1.b93de1e27ca3bp-30 / (square + 20.25);
    sum += 0x1.e355bbaee85cbp-24 / (square + 16.0);
    sum += 0x1.411fb0da07713p-18 / (square + 12.25);
    sum += 0x1.02cf22526545ap-13 / (square + 9.0);
    sum += 0x1.fa0e9586aebc7p-10 / (square + 6.25);
    sum += 0x1.2c155b8213cf4p-6 / (square + 4.0);
    sum += 0x1.afb718e8457f7p-4 / (square + 2.25);
    sum += 0x1.78b56362cef38p-2 / (square + 1.0);
    sum += 0x1.8ebef9eac820bp-1 / (square + 0.25);
    sum += 0.5 / square;
    double turns = expm1(4.0 * TYTO_PI * fmin(x, 10.0));
    double rule = x * tyto_exp_of_square(x) * sum * 0x1.45f306dc9c883p-2; /* 1 / pi */
    return x < 6.0 ? rule - 2.0 / turns : rule;
}
/* erf(x) for x below 2: 2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (1 * 3 * ... * (2n+1)), all
 * positive. */
TYTO_FN double tyto_erf_near(double x) {
    double term = x, sum = x;
    for (int n = 1; n < 50; n++) {
        term *= 2.0 * x * x / (2 * n + 1);
        sum += term;
    }
    return 0x1.20dd750429b6dp+0 * tyto_exp_of_square(x) * sum;
}
TYTO_FN double erf(double x) {
    double size = fabs(x);
    if (isnan(x)) return x;
    return copysign(size < 2.0 ? tyto_erf_near(size) : 1.0 - tyto_erfc_far(fmin(size, 30.0)), x);
}
TYTO_FN double erfc(double x) {
    if (isnan(x)) return x;
    return x < 0.5 ? 1.0 - erf(x) : tyto_erfc_far(fmin(x, 30.0));
}
TYTO_FN double normcdf(double x) { return 0.5 * erfc(-x * 0x1.6a09e667f3bcdp-1); }

/* The x at which the normal distribution is p: a rational function (Abramowitz and Stegun, 26.2.23,
 * to 4.5e-4), then Halley's method, which triples the number of correct digits in each step. */
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
/* Near 0 it uses Halley's method on erf itself, because 0.5 (1 + y) would lose digits. */
TYTO_FN double erfinv(double y) {
    if (!(fabs(y) < 0.5)) return copysign(erfcinv(1.0 - fabs(y)), y);
    double x = y * 0x1.c5bf891b4ef6ap-1 * (1.0 + 0.2618 * y * y); /* sqrt(pi) / 2 */
    for (int i = 0; i < 3; i++) {
        double off = (erf(x) - y) * 0x1.c5bf891b4ef6ap-1 * exp(x * x);
        x -= off / (1.0 + x * off);
    }
    return x;
}

/* The correction of Stirling's formula for log Gamma(x), for x of at least 10. */
TYTO_FN double tyto_stirling(double x) {
    double inverse = 1.0 / x, s = inverse * inverse;
    return inverse * tyto_polynomial(s, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                                     -691.0 / 360360, 1.0 / 156);
}
/* log Gamma(2 + z) for |z| up to 0.5: the coefficients are 1 minus Euler's constant, then (-1)^k
 * (zeta(k) - 1) / k (6.1.33). */
TYTO_FN double tyto_log_gamma_near(double z) {
    return z *
           tyto_polynomial(z, 0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a557607p-4,
                           0x1.51322ac7d8483p-6, -0x1.e404fc218f5f2p-8, 0x1.7add6eadb6c30p-9,
                           -0x1.38ac5c2bf8e08p-10, 0x1.0b36af86396e9p-11, -0x1.d3fd4c76d2fc8p-13,
                           0x1.a127b0f17d65ap-14, -0x1.78de5bd7c81efp-15, 0x1.580dcee66eb02p-16,
                           -0x1.3cbc963ce2243p-17, 0x1.2597a39f34aacp-18, -0x1.11b2eb7679541p-19,
                           0x1.0064cdeb22f0fp-20, -0x1.e2600d93cfd2fp-22, 0x1.c76bbb3f07a4dp-23,
                           -0x1.af5a6cbbf8a97p-24, 0x1.99b93c2070b0fp-25, -0x1.862c734df3eacp-26,
                           0x1.7469daccfadcdp-27, -0x1.6434a8447aeadp-28, 0x1.555a877ffd2c3p-29,
                           -0x1.47b1679258d0ep-30, 0x1.3b15d2b2fc10cp-31, -0x1.2f69a9fabe3e0p-32,
                           0x1.24932a337434cp-33);
}
/* Gamma(x) for x above 0 and below 10 is the result times Gamma(2 + z): x Gamma(x) = Gamma(x + 1).
 */
TYTO_FN double tyto_gamma_steps(double x, double *z) {
    double product = 1.0;
    *z = x < 0.5 ? x : x - 1.0;
    if (x < 1.5) return x < 0.5 ? 1.0 / (x * (1.0 + x)) : 1.0 / x;
    for (; x > 2.5; product *= x)
        x -= 1.0;
    *z = x - 2.0;
    return product;
}
/* log Gamma(x) for x above 0; Stirling's formula for large ones. */
TYTO_FN double tyto_log_gamma(double x) {
    if (x >= 10.0) return (x - 0.5) * (log(x) - 1.0) + 0x1.acfe390c97d69p-2 + tyto_stirling(x);
    if (x < 0.5) return tyto_log_gamma_near(x) - log1p(x) - log(x);
    if (x < 1.5) return tyto_log_gamma_near(x - 1.0) - log(x);
    double z, product = tyto_gamma_steps(x, &z);
    return log(product) + tyto_log_gamma_near(z);
}
TYTO_FN double lgamma(double x) {
    if (x > 0.0) return tyto_log_gamma(x);
    if (isnan(x) || isinf(x)) return x * x;
    if (x > -0x1p-60) return x == 0.0 ? tyto_infinity() : -log(-x);
    double sine = fabs(sinpi(x)); /* reflection */
    return sine == 0.0 ? tyto_infinity() : log(TYTO_PI / (sine * -x)) - tyto_log_gamma(-x);
}

/* Gamma(x) for x above 0, divided by *factor, so that neither is out of range if 1 / Gamma(x) is in
 * range. */
TYTO_FN double tyto_gamma_part(double x, double *factor) {
    *factor = 1.0;
    if (x < 10.0) {
        double z, product = tyto_gamma_steps(x, &z);
        return product * exp(tyto_log_gamma_near(z));
    }
    x = fmin(x, 200.0);
    *factor = pow(x, 0.5 * (x - 0.5));
    double root = 0x1.40d931ff62706p+1; /* sqrt(2 pi) */
    return *factor * exp(-x) * root * exp(tyto_stirling(x));
}
TYTO_FN double tgamma(double x) {
    double factor;
    if (isnan(x)) return x;
    if (fabs(x) < 0x1p-60) return 1.0 / x;
    if (x > 0.0) return tyto_gamma_part(x, &factor) * factor;
    double sine = sinpi(x);
    return sine == 0.0 ? tyto_nan() : TYTO_PI / (sine * -x) / tyto_gamma_part(-x, &factor) / factor;
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
    *sine = TYTO_ZERO_OR(x, tyto_sine_f(rest, quadrant));
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
