/* Narrow floating-point formats: rounding a double to any of them in any rounding mode, and the
 * bits of f16 and bf16. All of it is plain arithmetic on doubles, so lane loops vectorise and every
 * host computes the same bits.
 *
 * A value computed in double from two f16, bf16 or f32 numbers and then rounded once more is
 * correctly rounded if the double was exact, or rounded to odd (round_to_odd): its 53 bits are more
 * than twice the format's and two more (Boldo and Melquiond, "Emulation of FMA and correctly
 * rounded sums: proved algorithms using rounding to odd", 2008). */
#ifndef TYTO_ISA_EXEC_HALF_H
#define TYTO_ISA_EXEC_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "isa/exec/handlers.h"

/* A loop over lanes is vectorised only if everything in it is inlined. */
#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t bits_of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
INLINE float f32_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
INLINE uint64_t bits_of_f64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
INLINE double f64_of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- Rounding ---- */

/* A binary floating-point format narrower than double. */
typedef struct FloatFormat {
    int precision;    /* bits of the significand, including the leading one */
    int min_exponent; /* of the smallest normal number */
    double max;       /* largest finite number */
} FloatFormat;

static const FloatFormat format_f16 = {11, -14, 0x1.ffcp15};
static const FloatFormat format_bf16 = {8, -126, 0x1.fep127};
static const FloatFormat format_tf32 = {11, -126, 0x1.ffcp127};
static const FloatFormat format_f32 = {24, -126, 0x1.fffffep127};
static const FloatFormat format_e4m3 = {4, -6, 448};
static const FloatFormat format_e5m2 = {3, -14, 57344};

/* `x` rounded to a number of the format, as a double; a NaN stays a NaN. Beyond the format's
 * largest number the result is that number or infinity, depending on the mode. */
INLINE double round_to_format(double x, FloatFormat format, IsaRound mode) {
    const uint64_t sign = bits_of_f64(x) & (UINT64_C(1) << 63);
    const double limit = 2 * format.max; /* all greater values give the same result */
    const double whole = f64_of_bits(bits_of_f64(x) ^ sign);
    const double abs = whole > limit ? limit : whole;
    /* The quantum is the distance between the format's numbers around x. */
    const uint64_t exponent = bits_of_f64(abs) >> 52;
    const uint64_t least = (uint64_t)(1023 + format.min_exponent);
    const uint64_t scale = exponent < least ? least : exponent;
    const double quantum = f64_of_bits((scale - (uint64_t)(format.precision - 1)) << 52);
    const double magic = f64_of_bits((scale + 52 - (uint64_t)(format.precision - 1)) << 52) * 1.5;
    const double nearest = (abs + magic) - magic;
    const double below = nearest > abs ? nearest - quantum : nearest;
    const double above = nearest < abs ? nearest + quantum : nearest;
    const double away = abs - nearest == quantum / 2 ? nearest + quantum : nearest;
    /* What depends only on the mode is the same for all lanes. */
    const bool is_nearest = mode == ISA_ROUND_NEAREST || mode == ISA_ROUND_TIES_AWAY;
    const uint64_t up_sign = mode == ISA_ROUND_UP ? 0 : UINT64_C(1) << 63;
    const bool has_direction = mode == ISA_ROUND_UP || mode == ISA_ROUND_DOWN;
    const bool goes_up = has_direction & (sign == up_sign);
    const double directed = goes_up ? above : below;
    const double to_nearest = mode == ISA_ROUND_TIES_AWAY ? away : nearest;
    const bool is_unbounded = is_nearest | goes_up | (whole == __builtin_inf());
    const double over = is_unbounded ? __builtin_inf() : format.max;
    double result = is_nearest ? to_nearest : directed;
    result = result > format.max ? over : result;
    result = x != x ? x : result;
    return f64_of_bits((bits_of_f64(result) & ~(UINT64_C(1) << 63)) | sign);
}

/* a + b, exact or rounded to odd. The error of the sum (Knuth's TwoSum) shows on which side of the
 * sum the exact result is. If there is an error, the result is the neighbour with an odd last
 * bit. */
INLINE double add_to_odd(double a, double b) {
    const double sum = a + b;
    const double b_part = sum - a, a_part = sum - b_part;
    const double error = (a - a_part) + (b - b_part);
    const uint64_t bits = bits_of_f64(sum);
    const uint64_t has_opposite_sign = (bits_of_f64(error) ^ bits) >> 63;
    const uint64_t neighbour = bits + 1 - 2 * has_opposite_sign;
    const uint64_t odd = bits & 1 ? bits : neighbour;
    return f64_of_bits(__builtin_fabs(error) > 0 ? odd : bits); /* NaN: infinities are exact */
}

/* The neighbour of a finite x, by the magnitude of its bits; for zero the smallest subnormal. */
INLINE double next_up_f64(double x) {
    const uint64_t bits = bits_of_f64(x);
    return f64_of_bits(x > 0 ? bits + 1 : x < 0 ? bits - 1 : 1);
}
INLINE double next_down_f64(double x) { return -next_up_f64(-x); }

/* `nearest`, moved to the number that the mode requires. `error` has the sign of the difference
 * between the exact result and `nearest`; 0 if there is none. */
INLINE double direct_f64(double nearest, double error, IsaRound mode) {
    const bool wants_down = mode == ISA_ROUND_DOWN || (mode == ISA_ROUND_ZERO && nearest > 0);
    const bool wants_up = mode == ISA_ROUND_UP || (mode == ISA_ROUND_ZERO && nearest < 0);
    if (wants_down && error < 0) return next_down_f64(nearest);
    if (wants_up && error > 0) return next_up_f64(nearest);
    return nearest;
}

/* a + b of finite numbers whose sum is in range. */
INLINE double add_directed_f64(double a, double b, IsaRound mode) {
    const double sum = a + b;
    const double b_part = sum - a, a_part = sum - b_part;
    return direct_f64(sum, (a - a_part) + (b - b_part), mode);
}

/* ---- f16 and bf16 ---- */

INLINE double f64_of_f16(uint32_t half) {
    const uint32_t abs = half & 0x7fff;
    const float scaled = f32_of_bits(abs << 13) * 0x1p112f; /* adjusts the exponent's bias */
    const float value = abs < 0x7c00 ? scaled : f32_of_bits(0x7f800000 | abs << 13);
    return (double)f32_of_bits(bits_of_f32(value) | (half & 0x8000) << 16);
}
INLINE double f64_of_bf16(uint32_t half) { return (double)f32_of_bits(half << 16); }

/* The bits of a number of the format; every NaN gives the canonical one, 0x7fff. */
INLINE uint32_t f16_of_rounded(double x) {
    const uint64_t bits = bits_of_f64(x) & ~(UINT64_C(1) << 63);
    const uint32_t sign = (uint32_t)(bits_of_f64(x) >> 63) << 15;
    const uint32_t subnormal =
        (uint32_t)(int32_t)(f64_of_bits(bits < (UINT64_C(1009) << 52) ? bits : 0) * 0x1p24);
    const uint32_t normal = (uint32_t)((bits >> 42) - (UINT64_C(1008) << 10));
    const uint32_t finite = bits < (UINT64_C(1009) << 52) ? subnormal : normal;
    const uint32_t value = bits < (UINT64_C(2047) << 52) ? finite : 0x7c00;
    return bits > (UINT64_C(2047) << 52) ? 0x7fff : sign | value;
}
INLINE uint32_t bf16_of_rounded(double x) { return x != x ? 0x7fff : bits_of_f32((float)x) >> 16; }

INLINE uint32_t f16_of_f64(double x, IsaRound mode) {
    return f16_of_rounded(round_to_format(x, format_f16, mode));
}
INLINE uint32_t bf16_of_f64(double x, IsaRound mode) {
    return bf16_of_rounded(round_to_format(x, format_bf16, mode));
}

/* Sums of atom.add.noftz. */
INLINE uint32_t isa_half_add(uint16_t a, uint16_t b) {
    return f16_of_f64(f64_of_f16(a) + f64_of_f16(b), ISA_ROUND_NEAREST);
}
INLINE uint32_t isa_bfloat_add(uint16_t a, uint16_t b) {
    return bf16_of_f64(add_to_odd(f64_of_bf16(a), f64_of_bf16(b)), ISA_ROUND_NEAREST);
}

#endif
