/* Transcendental functions in double. The arithmetic gives the same bits on every host; libm does
 * not, so it is not used. Each is within 2^-40 of the exact value, relatively, over the f32
 * numbers; for sin and cos this holds up to |x| = 2^20 (see sine). All polynomials are Taylor
 * series;
 * the compiler unrolls their loops and divides at compile time. */
#ifndef TYTO_ISA_EXEC_APPROX_H
#define TYTO_ISA_EXEC_APPROX_H

#include "isa/exec/half.h"

#define LN2 0x1.62e42fefa39efp-1

/* The nearest integer of |x| < 2^51. Adds and subtracts a number so large that no fraction bits
 * fit. */
INLINE double nearest_integer(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/* 2^k for an integer -1022 <= k <= 1023. */
INLINE double exponent_of_2(double k) {
    return f64_of_bits((uint64_t)((int64_t)(int32_t)k + 1023) << 52);
}

/* e^x - 1 for |x| <= ln(2) / 2: terms up to x^12 / 12!. The next term is below 2^-48 of the
 * result. */
INLINE double exponential_less_1(double x) {
    double sum = 1;
    for (int k = 12; k > 1; --k)
        sum = 1 + sum * (x * (1.0 / k));
    return sum * x;
}

/* 2^x. Arguments are clamped beyond the range of doubles that can give an f32 or half result. */
INLINE double power_of_2(double x) {
    const double cut = x < 1000 ? (x > -1000 ? x : -1000) : 1000; /* also if x is a NaN */
    const double whole = nearest_integer(cut);
    const double value = exponent_of_2(whole) * (1 + exponential_less_1((cut - whole) * LN2));
    return x != x ? x : value;
}

/* log2(x) = e + log2(m), with m in [sqrt(1/2), sqrt(2)) and log(m) = 2 atanh((m - 1) / (m + 1)):
 * nine terms of the series. The next term is below 2^-50 of the result. Subnormal f32 numbers are
 * normal in double. */
INLINE double logarithm_2(double x) {
    const uint64_t bits = bits_of_f64(x);
    const uint64_t above = UINT64_C(0x6a09e667f3bcd); /* fraction bits of sqrt(2) */
    const bool is_upper = (bits & ((UINT64_C(1) << 52) - 1)) >= above;
    const int32_t exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023 + is_upper;
    const double m =
        f64_of_bits((bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(is_upper ? 1022 : 1023) << 52);
    const double s = (m - 1) / (m + 1), square = s * s;
    double sum = 0;
    for (int k = 9; k > 0; --k)
        sum = (sum + 1.0 / (2 * k + 1)) * square;
    double value = exponent + (s + s * sum) * (2 / LN2);
    value = x == __builtin_inf() ? x : value;
    value = x == 0 ? -__builtin_inf() : value;
    return x < 0 || x != x ? __builtin_nan("") : value;
}

/* tanh(x) = (e^2x - 1) / (e^2x + 1), from e^t - 1 = 2^k (e^r - 1) + (2^k - 1), t = k ln(2) + r. */
INLINE double tangent(double x) {
    const double abs = __builtin_fabs(x);
    const double t = 2 * (abs < 30 ? abs : 30); /* from here on the result rounds to 1 */
    const double k = nearest_integer(t / LN2);
    const double scale = exponent_of_2(k);
    const double less_1 = scale * exponential_less_1(t - k * LN2) + (scale - 1);
    const double value = __builtin_copysign(less_1 / (less_1 + 2), x);
    return x != x ? x : value;
}

/* sin(x), or cos(x) when quarters is 1, as sin(x + quarters * pi/2). The nearest multiple of pi/2
 * is subtracted from the argument in three parts. The first two parts have 33 bits, so their
 * products with up to 20 bits are exact. Beyond about |x| = 2^20 the reduction loses bits, as it
 * does on hardware. Beyond 2^31 the result is that of 0. The series end at r^17 and r^18. */
INLINE double sine(double x, int quarters) {
    const double bound = __builtin_fabs(x) < 0x1p31 ? x : 0;
    const double count = nearest_integer(bound * 0x1.45f306dc9c883p-1); /* 2 / pi */
    const double r = ((bound - count * 0x1.921fb544p+0) - count * 0x1.0b4611a6p-34) -
                     count * 0x1.3198a2e037073p-69;
    const int32_t quadrant = (int32_t)count + quarters;
    const double square = r * r;
    double odd = 1, even = 1;
    for (int k = 16; k > 0; k -= 2)
        odd = 1 - odd * (square * (1.0 / (k * (k + 1))));
    for (int k = 17; k > 0; k -= 2)
        even = 1 - even * (square * (1.0 / (k * (k + 1))));
    const double value = quadrant & 1 ? even : odd * r;
    const double result = quadrant & 2 ? -value : value;
    return x - x != 0 ? __builtin_nan("") : result; /* infinities and NaN */
}

#endif
