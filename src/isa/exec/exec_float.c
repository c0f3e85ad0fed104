/* f32 and f64 arithmetic. Semantics: PTX ISA, "Floating Point Instructions".
 *
 * Directed rounding of f32 goes through double. A product of two f32 numbers is exact in double,
 * and a sum is rounded to odd. A quotient or square root that is neither an f32 number nor half-way
 * between two is further from these than the error of the double (49 bits are enough to distinguish
 * them). So a second rounding gives the result of a single one. f64 in these modes: directed.c. */
#include "isa/exec/maps.h"

#define IN(x)                  flush_f32(x, sub)
#define OUT(x)                 saturate_f32(flush_f32(x, sub), sub)
#define ROUNDED(x)             round_to_f32(x, sub)
#define SCALED(result, scaled) saturate_f32(flush_tiny(result, scaled, 0x1p-62f, sub), sub)
/* Rounds an exact double, or one that was rounded to odd. */
#define DIRECTED(x) SCALED(ROUNDED(x), ROUNDED((x) * 0x1p64))
#define SIGN_F64    (UINT64_C(1) << 63)

/* ---- Modifiers ---- */

/* .ftz: subnormals become zeros of the same sign. */
INLINE float flush_f32(float x, uint32_t sub) {
    const uint32_t bits = bits_of_f32(x), least = sub & ISA_MOD_FTZ ? 0x00800000 : 0;
    return (bits & 0x7fffffff) < least ? f32_of_bits(bits & 0x80000000) : x;
}
INLINE double flush_f64(double x) {
    const uint64_t bits = bits_of_f64(x);
    return (bits & INT64_MAX) < UINT64_C(1) << 52 ? f64_of_bits(bits & SIGN_F64) : x;
}
/* Tininess is detected after rounding, as in SSE: a result is subnormal if it is below the least
 * normal number after rounding with an unlimited exponent. A value that rounds up to the least
 * normal number only because subnormals are coarser becomes zero too. `scaled` is the rounded
 * result times 2^64 (2^60 for products). Measured on an H100. */
INLINE float flush_tiny(float result, float scaled, float least, uint32_t sub) {
    const float bound = sub & ISA_MOD_FTZ ? least : 0;
    const float zero = f32_of_bits(bits_of_f32(result) & 0x80000000);
    return __builtin_fabsf(scaled) < bound ? zero : result;
}
/* .sat: clamps to [0, 1]; NaN gives 0. */
INLINE float saturate_f32(float x, uint32_t sub) {
    const float clamped = x > 0 ? (x < 1 ? x : 1) : 0;
    return sub & ISA_MOD_SAT ? clamped : x;
}

/* ---- Sums and products ---- */

/* Rounds x to f32 in the given mode: takes the nearest f32, and its neighbour if the nearest is on
 * the wrong side of x. The bits of floats grow with their magnitude, through subnormals and up to
 * infinity. */
INLINE float round_to_f32(double x, uint32_t sub) {
    const IsaRound mode = (IsaRound)(sub & ISA_MOD_ROUND);
    const uint64_t growing_sign = mode == ISA_ROUND_UP ? 0 : 1;
    const bool is_to_zero = mode == ISA_ROUND_ZERO;
    const float nearest = (float)x;
    const double distance = __builtin_fabs((double)nearest) - __builtin_fabs(x);
    const bool grows = !is_to_zero & (bits_of_f64(x) >> 63 == growing_sign);
    const uint32_t bits = bits_of_f32(nearest);
    const uint32_t grown = distance < 0 ? bits + 1 : bits, shrunk = distance > 0 ? bits - 1 : bits;
    return f32_of_bits(grows ? grown : shrunk);
}

#ifdef __FMA__
INLINE float fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
INLINE float fma_f32(float a, float b, float c) {
    return (float)add_to_odd((double)a * (double)b, (double)c);
}
#endif

/* a + b, for doubles made from f32 numbers. A sum that is exactly zero is negative when rounding
 * down, unless both addends are +0. */
INLINE float sum_directed_f32(double a, double b, uint32_t sub) {
    const float sum = ROUNDED(add_to_odd(a, b));
    const bool is_down = (sub & ISA_MOD_ROUND) == ISA_ROUND_DOWN;
    const bool has_sign = (bits_of_f64(a) | bits_of_f64(b)) >> 63;
    return sum == 0 && is_down && a + b == 0 ? (has_sign ? -0.0f : 0.0f) : sum;
}
INLINE float add_directed_f32(float a, float b, uint32_t sub) {
    return sum_directed_f32((double)a, (double)b, sub);
}
INLINE float fma_directed_f32(float a, float b, float c, uint32_t sub) {
    return sum_directed_f32((double)a * (double)b, (double)c, sub);
}

/* Results of _MOD forms. Scaling cannot overflow if the result is small. */
INLINE float multiply_flushed(float a, float b, uint32_t sub) {
    return flush_tiny(a * b, (a * 0x1p30f) * (b * 0x1p30f), 0x1p-66f, sub);
}
INLINE float fma_flushed(float a, float b, float c, uint32_t sub) {
    const float scaled = fma_f32(a * 0x1p30f, b * 0x1p30f, c * 0x1p60f);
    return flush_tiny(fma_f32(a, b, c), scaled, 0x1p-66f, sub);
}
INLINE float fma_directed_flushed(float a, float b, float c, uint32_t sub) {
    const float scaled = sum_directed_f32((double)a * 0x1p64 * (double)b, (double)c * 0x1p64, sub);
    return flush_tiny(fma_directed_f32(a, b, c, sub), scaled, 0x1p-62f, sub);
}

/* ---- Pairs of floats, and sums of a half and a float ---- */

INLINE float lower(uint64_t pair) { return f32_of_bits((uint32_t)pair); }
INLINE float upper(uint64_t pair) { return f32_of_bits((uint32_t)(pair >> 32)); }
INLINE uint64_t join(float low, float high) {
    const uint64_t upper_bits = bits_of_f32(canonical_f32(high));
    return upper_bits << 32 | bits_of_f32(canonical_f32(low));
}
INLINE float add_near(float a, float b, uint32_t sub) { return OUT(IN(a) + IN(b)); }
INLINE float add_mode(float a, float b, uint32_t sub) {
    return OUT(add_directed_f32(IN(a), IN(b), sub));
}
INLINE float multiply_near(float a, float b, uint32_t sub) {
    return saturate_f32(multiply_flushed(IN(a), IN(b), sub), sub);
}
INLINE float multiply_mode(float a, float b, uint32_t sub) {
    return DIRECTED((double)IN(a) * (double)IN(b));
}
INLINE float fma_near(float a, float b, float c, uint32_t sub) {
    return saturate_f32(fma_flushed(IN(a), IN(b), IN(c), sub), sub);
}
INLINE float fma_mode(float a, float b, float c, uint32_t sub) {
    return saturate_f32(fma_directed_flushed(IN(a), IN(b), IN(c), sub), sub);
}
/* Expressions of the table. The signs are changed in b. */
#define SIGNS UINT64_C(0x8000000080000000)
#define PAIRED(operation, signs)                                                                   \
    join(operation(lower(a), lower(b ^ (signs)), sub), operation(upper(a), upper(b ^ (signs)), sub))
#define PAIRED3(operation)                                                                         \
    join(operation(lower(a), lower(b), lower(c), sub), operation(upper(a), upper(b), upper(c), sub))

INLINE float add_mixed(float a, float b, uint32_t sub) {
    return sub & ISA_MOD_ROUND ? add_mode(a, b, sub) : add_near(a, b, sub);
}
INLINE float fma_mixed(float a, float b, float c, uint32_t sub) {
    return sub & ISA_MOD_ROUND ? fma_mode(a, b, c, sub) : fma_near(a, b, c, sub);
}

/* ---- Approximations ---- */

/* div.approx returns 0 (NaN for an infinite a) if 1 / b would be subnormal. */
INLINE float divide_approx(float a, float b) {
    const float abs = __builtin_fabsf(b);
    return abs > 0x1p126f && abs < __builtin_inff() ? a * 0 : a / b;
}
/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write the upper words only. They take a NaN
 * whose payload is in the lower word for an infinity. */
INLINE double upper_half(double x) { return f64_of_bits(bits_of_f64(x) & ~UINT64_C(0xffffffff)); }
INLINE double rsqrt_approx(double a, uint32_t sub) {
    return sub & ISA_MOD_FTZ ? upper_half(1 / __builtin_sqrt(flush_f64(upper_half(a))))
                             : 1 / __builtin_sqrt(a);
}

/* ---- Minimum and maximum ---- */

/* Maps floats to integers of the same order, with -0 below +0. */
INLINE int32_t order_f32(float x) {
    const int32_t bits = (int32_t)bits_of_f32(x);
    return bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
}
INLINE int64_t order_f64(double x) {
    const int64_t bits = (int64_t)bits_of_f64(x);
    return bits ^ (int64_t)((uint64_t)(bits >> 63) >> 1);
}
/* The lesser operand; if one is a NaN, the other one. */
INLINE float min_f32(float a, float b) {
    const float least = order_f32(a) < order_f32(b) ? a : b;
    return a != a ? b : b != b ? a : least;
}
INLINE double min_f64(double a, double b) {
    const double least = order_f64(a) < order_f64(b) ? a : b;
    return a != a ? b : b != b ? a : least;
}

/* .xorsign.abs: compares magnitudes and takes the sign of the product. .NaN: any NaN operand gives
 * NaN. */
INLINE float finish_minmax(float result, float a, float b, uint32_t sub) {
    const uint32_t sign = (bits_of_f32(a) ^ bits_of_f32(b)) & 0x80000000;
    const float signed_result = f32_of_bits((bits_of_f32(result) & 0x7fffffff) | sign);
    const float value = sub & ISA_MOD_XORSIGN ? signed_result : result;
    return sub & ISA_MOD_NAN && (a != a || b != b) ? NAN_F32 : value;
}
INLINE float operand_minmax(float x, uint32_t sub) {
    return sub & ISA_MOD_XORSIGN ? __builtin_fabsf(x) : x;
}
INLINE float min_mod_f32(float a, float b, uint32_t sub) {
    return finish_minmax(min_f32(operand_minmax(a, sub), operand_minmax(b, sub)), a, b, sub);
}
INLINE float max_mod_f32(float a, float b, uint32_t sub) {
    return finish_minmax(-min_f32(-operand_minmax(a, sub), -operand_minmax(b, sub)), a, b, sub);
}
/* Of three, or of their magnitudes. */
INLINE float min_three(float a, float b, float c, uint32_t sub) {
    const bool is_abs = sub & ISA_MOD_ABS;
    const float x = is_abs ? __builtin_fabsf(a) : a, y = is_abs ? __builtin_fabsf(b) : b;
    const float z = is_abs ? __builtin_fabsf(c) : c, least = min_f32(min_f32(x, y), z);
    return sub & ISA_MOD_NAN && (x != x || y != y || z != z) ? NAN_F32 : least;
}
INLINE float max_three(float a, float b, float c, uint32_t sub) {
    const bool is_abs = sub & ISA_MOD_ABS;
    const float x = is_abs ? __builtin_fabsf(a) : a, y = is_abs ? __builtin_fabsf(b) : b;
    const float z = is_abs ? __builtin_fabsf(c) : c;
    return -min_three(-x, -y, -z, sub & ~(uint32_t)ISA_MOD_ABS);
}

#include "isa/exec/exec_float.def"
