/* f16 and bf16 arithmetic. The operands are exact as doubles. Sums and products of them are exact
 * or rounded to odd. So the final rounding to the format is the only one. */
#include "isa/exec/maps.h"

#include "isa/exec/approx.h"

/* .ftz and the steps after the operation: .relu sets negative values to 0, .sat clamps to [0,
 * 1]. */
INLINE double flush_half(double x, double least, uint32_t sub) {
    return sub & ISA_MOD_FTZ && __builtin_fabs(x) < least ? __builtin_copysign(0, x) : x;
}
INLINE double limit_half(double x, uint32_t sub) {
    const double low = sub & (ISA_MOD_SAT | ISA_MOD_RELU) ? 0 : -__builtin_inf();
    const double high = sub & ISA_MOD_SAT ? 1 : __builtin_inf();
    const double of_nan = sub & ISA_MOD_SAT ? 0 : __builtin_nan("");
    const double limited = x > low ? (x < high ? x : high) : low;
    return x != x ? of_nan : limited;
}
INLINE uint32_t finish_f16(double x, uint32_t sub) {
    const double limited = limit_half(x, sub);
    const double rounded = round_to_format(limited, format_f16, ISA_ROUND_NEAREST);
    /* tininess as in exec_float.c */
    const double scaled = round_to_format(limited * 0x1p20, format_f16, ISA_ROUND_NEAREST);
    const bool is_tiny = sub & ISA_MOD_FTZ && __builtin_fabs(scaled) < 0x1p6;
    return f16_of_rounded(is_tiny ? __builtin_copysign(0, rounded) : rounded);
}
INLINE uint32_t finish_bf16(double x, uint32_t sub) {
    const double rounded = round_to_format(limit_half(x, sub), format_bf16, ISA_ROUND_NEAREST);
    return bf16_of_rounded(flush_half(rounded, 0x1p-126, sub));
}
INLINE double start_f16(uint32_t half, uint32_t sub) {
    return flush_half(f64_of_f16(half), 0x1p-14, sub);
}
INLINE double start_bf16(uint32_t half, uint32_t sub) {
    return flush_half(f64_of_bf16(half), 0x1p-126, sub);
}

INLINE int64_t order_f64(double x) {
    const int64_t bits = (int64_t)bits_of_f64(x);
    return bits ^ (int64_t)((uint64_t)(bits >> 63) >> 1);
}
INLINE double min_number(double a, double b) {
    const double least = order_f64(a) < order_f64(b) ? a : b;
    return a != a ? b : b != b ? a : least;
}
/* min and max with .NaN and .xorsign.abs; is_max selects max. */
INLINE double minmax(double a, double b, uint32_t sub, bool is_max) {
    const bool has_xor = sub & ISA_MOD_XORSIGN;
    const uint64_t sign = (bits_of_f64(a) ^ bits_of_f64(b)) & UINT64_C(1) << 63;
    const double x = has_xor ? __builtin_fabs(a) : a, y = has_xor ? __builtin_fabs(b) : b;
    const double result = is_max ? -min_number(-x, -y) : min_number(x, y);
    const double value = has_xor ? f64_of_bits(bits_of_f64(__builtin_fabs(result)) | sign) : result;
    return sub & ISA_MOD_NAN && (a != a || b != b) ? __builtin_nan("") : value;
}
INLINE double min_mod(double a, double b, uint32_t sub) { return minmax(a, b, sub, false); }
INLINE double max_mod(double a, double b, uint32_t sub) { return minmax(a, b, sub, true); }

/* ---- One line gives four handlers ---- */

/* A handler reads as many of the sources a, b, c as its operation has. For a missing source it
 * reads the row of a and ignores the value. */
#define HALF_HANDLER(name, format, parts, count, expression)                                       \
    INLINE uint32_t part_##name(uint32_t a_bits, uint32_t b_bits, uint32_t c_bits, uint32_t sub) { \
        const double a = start_##format(a_bits & 0xffff, sub);                                     \
        const double b = start_##format(b_bits & 0xffff, sub);                                     \
        const double c = start_##format(c_bits & 0xffff, sub);                                     \
        (void)b, (void)c;                                                                          \
        return finish_##format(expression, sub);                                                   \
    }                                                                                              \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(u32)                                                                             \
        MAP_SOURCE(a, u32, 1)                                                                      \
        MAP_SOURCE(b, u32, count > 1 ? 2 : 1)                                                      \
        MAP_SOURCE(c, u32, count > 2 ? 3 : 1)                                                      \
        FOR_LANES {                                                                                \
            const uint32_t x = a_row[lane], y = b_row[lane], z = c_row[lane];                      \
            const uint32_t high = parts == 2 ? part_##name(x >> 16, y >> 16, z >> 16, sub) : 0;    \
            result[lane] = part_##name(x, y, z, sub) | high << 16;                                 \
        }                                                                                          \
        write_row32(warp, inst, 0, result, mask);                                                  \
    }
#define HALF_HANDLERS(name, count, expression)                                                     \
    HALF_HANDLER(name##_F16, f16, 1, count, expression)                                            \
    HALF_HANDLER(name##_F16X2, f16, 2, count, expression)                                          \
    HALF_HANDLER(name##_BF16, bf16, 1, count, expression)                                          \
    HALF_HANDLER(name##_BF16X2, bf16, 2, count, expression)
#define HALF1(name, expression) HALF_HANDLERS(name, 1, expression)
#define HALF2(name, expression) HALF_HANDLERS(name, 2, expression)
#define HALF3(name, expression) HALF_HANDLERS(name, 3, expression)

#include "isa/exec/exec_half.def"

/* ---- Comparisons of pairs ---- */

INLINE bool compare(double a, double b, PtxCompare comparison) {
    const bool is_unordered = a != a || b != b;
    switch (comparison) {
    case PTX_EQ: return a == b;
    case PTX_NE: return a < b || a > b;
    case PTX_LT: return a < b;
    case PTX_LE: return a <= b;
    case PTX_GT: return a > b;
    case PTX_GE: return a >= b;
    case PTX_EQU: return a == b || is_unordered;
    case PTX_NEU: return a != b;
    case PTX_LTU: return a < b || is_unordered;
    case PTX_LEU: return a <= b || is_unordered;
    case PTX_GTU: return a > b || is_unordered;
    case PTX_GEU: return a >= b || is_unordered;
    case PTX_NUM: return !is_unordered;
    default: return is_unordered;
    }
}

/* One bit per lane: the comparison of one half of a and b, combined with predicate c. */
INLINE uint32_t compare_part(const IsaWarp *warp, const IsaInst *inst, int part, bool is_bfloat) {
    const RowWord *a = operand_row(warp, inst, 2), *b = operand_row(warp, inst, 3);
    const PtxCompare comparison = (PtxCompare)(inst->imm & 0xff);
    const uint32_t flush = inst->sub & ISA_COMPARE_FTZ ? ISA_MOD_FTZ : 0;
    uint32_t word = 0;
    FOR_LANES {
        const uint32_t x = a[lane] >> 16 * part & 0xffff, y = b[lane] >> 16 * part & 0xffff;
        const bool is_true = is_bfloat
                                 ? compare(start_bf16(x, flush), start_bf16(y, flush), comparison)
                                 : compare(start_f16(x, flush), start_f16(y, flush), comparison);
        word |= (uint32_t)is_true << lane;
    }
    return isa_combine(inst->sub, word, warp->preds[inst->operand[4]]);
}

INLINE void setp_pair(IsaWarp *warp, const IsaInst *inst, uint32_t mask, bool is_bfloat) {
    const uint32_t low = compare_part(warp, inst, 0, is_bfloat);
    const uint32_t high = compare_part(warp, inst, 1, is_bfloat);
    if (inst->sub & ISA_COMPARE_PAIR) write_pred(warp, inst->operand[1], high, mask);
    write_pred(warp, inst->operand[0], low, mask);
}

INLINE void set_pair(IsaWarp *warp, const IsaInst *inst, uint32_t mask, bool is_bfloat) {
    const uint32_t low = compare_part(warp, inst, 0, is_bfloat);
    const uint32_t high = compare_part(warp, inst, 1, is_bfloat);
    const uint32_t value = (uint32_t)(inst->imm >> 8);
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES result[lane] =
        (low & lane_bit[lane] ? value : 0) | (high & lane_bit[lane] ? value << 16 : 0);
    write_row32(warp, inst, 0, result, mask);
}

EXEC(SETP_F16X2) { setp_pair(warp, inst, mask, false); }
EXEC(SETP_BF16X2) { setp_pair(warp, inst, mask, true); }
EXEC(SET_F16X2) { set_pair(warp, inst, mask, false); }
EXEC(SET_BF16X2) { set_pair(warp, inst, mask, true); }
