/* Handlers that machine code needs in addition to PTX's (exec_sass.def). The meaning of each
 * operation was derived from the machine code that ptxas generates for PTX of known meaning. Tests
 * compare the results with PTX's. */
#include "isa/exec/maps.h"
#include "isa/exec/sass.h"

#include "base/bits.h"
#include "isa/exec/approx.h"
#include "isa/launch.h"
#include "isa/sass/code.h"

INLINE const RowWord *word_row(const IsaWarp *warp, const IsaInst *inst, int index) {
    return operand_row(warp, inst, index);
}
INLINE uint64_t join(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

/* ---- Two registers as one value ---- */

static void find_constants(const IsaProgram *program, uint64_t *address, uint32_t mask) {
    uint32_t found = 0;
    FOR_LANES found |= (uint32_t)(address[lane] >> 32 == ISA_CONSTANT_UPPER) << lane;
    for (found &= mask; found; found &= found - 1) {
        const int lane = bits_lowest32(found);
        address[lane] = isa_sass_constant(program, address[lane]);
    }
}

/* Whether an address may be one of shared memory or of a constant. Other addresses are below
 * both. */
INLINE bool are_special(const uint64_t *address) {
    uint64_t all = 0;
    FOR_LANES all |= address[lane];
    return all >> 32 >= ISA_CONSTANT_UPPER;
}
static_assert((int)ISA_CONSTANT_UPPER < (int)ISA_SHARED_UPPER, "the least of both");

EXEC(JOIN) {
    alignas(64) uint64_t result[ISA_LANES];
    const RowWord *low = word_row(warp, inst, 1), *high = word_row(warp, inst, 2);
    const uint64_t upper = inst->sub & ISA_JOIN_LOW_ONLY ? 0 : UINT64_MAX;
    uint64_t add = (uint64_t)inst->imm;
    if (inst->operand[3] != ISA_SINK) { /* uniform: all lanes have the same value */
        const uint32_t above = inst->sub & ISA_JOIN_UNIFORM_LOW ? 0 : word_row(warp, inst, 4)[0];
        add += join(word_row(warp, inst, 3)[0], above);
    }
    FOR_LANES result[lane] = (low[lane] | ((uint64_t)high[lane] << 32 & upper)) + add;
    if (inst->sub & ISA_JOIN_GENERIC && are_special(result)) {
        FOR_LANES result[lane] = result[lane] >> 32 == ISA_SHARED_UPPER
                                     ? MEM_SHARED_WINDOW + (uint32_t)result[lane]
                                     : result[lane];
        find_constants(context->program, result, mask);
    }
    if (inst->sub & ISA_JOIN_CUT) FOR_LANES result[lane] = (uint32_t)result[lane];
    write_row64(warp, inst, 0, result, mask);
}

INLINE uint64_t signed_f64(uint64_t bits, int64_t imm) {
    const uint64_t sign = UINT64_C(1) << 63;
    const uint64_t magnitude = imm & ISA_SIGN_ABSOLUTE ? bits & ~sign : bits;
    return imm & ISA_SIGN_NEGATIVE ? magnitude ^ sign : magnitude;
}
EXEC(JOIN_F64) {
    alignas(64) uint64_t result[ISA_LANES];
    const RowWord *low = word_row(warp, inst, 1), *high = word_row(warp, inst, 2);
    FOR_LANES result[lane] = signed_f64(join(low[lane], high[lane]), inst->imm);
    write_row64(warp, inst, 0, result, mask);
}

EXEC(SPLIT) {
    alignas(64) uint32_t low[ISA_LANES], high[ISA_LANES];
    const RowLong *a = operand_row(warp, inst, 2);
    FOR_LANES {
        low[lane] = (uint32_t)a[lane];
        high[lane] = (uint32_t)(a[lane] >> 32);
    }
    write_row32(warp, inst, 0, low, mask);
    write_row32(warp, inst, 1, high, mask);
}

INLINE uint32_t signed_bits(uint32_t bits, int64_t imm, uint32_t sign) {
    const uint32_t magnitude = imm & ISA_SIGN_ABSOLUTE ? bits & ~sign : bits;
    return imm & ISA_SIGN_NEGATIVE ? magnitude ^ sign : magnitude;
}
EXEC(SIGN_F32) {
    alignas(64) uint32_t result[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 1);
    const uint32_t least = inst->sub & ISA_MOD_FTZ ? 0x00800000 : 0;
    FOR_LANES {
        const uint32_t x = signed_bits(a[lane], inst->imm, UINT32_C(1) << 31);
        result[lane] = (x & 0x7fffffff) < least ? x & 0x80000000 : x;
    }
    write_row32(warp, inst, 0, result, mask);
}
EXEC(SIGN_F16X2) {
    alignas(64) uint32_t result[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 1);
    FOR_LANES {
        const uint32_t both = a[lane];
        const uint32_t low = both & 0xffff, high = both >> 16;
        const uint32_t value = inst->sub == ISA_HALVES_LOW    ? low | low << 16
                               : inst->sub == ISA_HALVES_HIGH ? high | high << 16
                                                              : both;
        result[lane] = signed_bits(value, inst->imm, 0x80008000u);
    }
    write_row32(warp, inst, 0, result, mask);
}

/* ---- Integers ---- */

/* The word of operand `index`, negated by that bit of imm. */
INLINE uint32_t carry_of(const IsaWarp *warp, const IsaInst *inst, int index, uint32_t is_negated) {
    return warp->preds[inst->operand[index]] ^ (0 - (is_negated & 1));
}

/* Most sums have no carries. */
INLINE void sum_alone(IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    alignas(64) uint32_t result[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 3), *b = word_row(warp, inst, 4);
    const RowWord *c = word_row(warp, inst, 5);
    const uint32_t imm = (uint32_t)inst->imm, ones = (uint32_t)bits_count32(imm & 7);
    const uint32_t invert_a = 0 - (imm & 1), invert_b = 0 - (imm >> 1 & 1);
    const uint32_t invert_c = 0 - (imm >> 2 & 1);
    FOR_LANES result[lane] =
        (a[lane] ^ invert_a) + (b[lane] ^ invert_b) + (c[lane] ^ invert_c) + ones;
    write_row32(warp, inst, 0, result, mask);
}

EXEC(SUM3) {
    if (inst->sub & ISA_SUM_ALONE) {
        sum_alone(warp, inst, mask);
        return;
    }
    alignas(64) uint32_t result[ISA_LANES];
    alignas(64) int32_t once[ISA_LANES], twice[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 3), *b = word_row(warp, inst, 4);
    const RowWord *c = word_row(warp, inst, 5);
    const uint32_t imm = (uint32_t)inst->imm, is_extended = inst->sub & ISA_SUM_EXTENDED;
    const uint32_t invert_a = 0 - (imm & 1), invert_b = 0 - (imm >> 1 & 1);
    const uint32_t invert_c = 0 - (imm >> 2 & 1);
    const uint32_t ones = is_extended ? 0 : (uint32_t)bits_count32(imm & 7);
    const uint32_t first = is_extended ? carry_of(warp, inst, 6, imm >> 3) : 0;
    const uint32_t second = is_extended ? carry_of(warp, inst, 7, imm >> 4) : 0;
    FOR_LANES {
        const uint64_t carries = (uint64_t)ones + (first >> lane & 1) + (second >> lane & 1);
        const uint64_t sum =
            (uint64_t)(a[lane] ^ invert_a) + (b[lane] ^ invert_b) + (c[lane] ^ invert_c) + carries;
        result[lane] = (uint32_t)sum;
        once[lane] = -(int32_t)(sum >> 32 >= 1);
        twice[lane] = -(int32_t)(sum >> 32 >= 2);
    }
    write_row32(warp, inst, 0, result, mask);
    write_pred(warp, inst->operand[1], pack_lanes(once), mask);
    write_pred(warp, inst->operand[2], pack_lanes(twice), mask);
}

EXEC(LEA) {
    alignas(64) uint32_t result[ISA_LANES];
    alignas(64) int32_t carries[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 2), *b = word_row(warp, inst, 3);
    const RowWord *c = word_row(warp, inst, 4);
    const uint32_t imm = (uint32_t)inst->imm, shift = imm & ISA_LEA_SHIFT;
    const bool is_extended = imm & ISA_LEA_EXTENDED;
    /* The carry of a difference is that of the complement and one: without a borrow it is set, also
     * if the low word of A is zero. */
    const bool is_difference = imm & ISA_LEA_NEGATIVE_A && !is_extended && !(imm & ISA_LEA_HIGH);
    const uint32_t carry = is_extended ? carry_of(warp, inst, 5, imm / ISA_LEA_NEGATIVE_CARRY) : 0;
    FOR_LANES {
        const uint32_t upper = imm & ISA_LEA_SIGN ? (uint32_t)((int32_t)a[lane] >> 31) : c[lane];
        uint64_t whole = join(a[lane], upper);
        if (imm & ISA_LEA_NEGATIVE_A && !is_difference) whole = is_extended ? ~whole : 0 - whole;
        const uint64_t shifted = whole << shift;
        const uint32_t part = imm & ISA_LEA_HIGH ? (uint32_t)(shifted >> 32) : (uint32_t)shifted;
        uint64_t sum = is_difference ? (uint64_t)(uint32_t)~part + 1 : part;
        if (!(imm & ISA_LEA_NEGATIVE_B)) sum += b[lane];
        else sum += (uint64_t)(uint32_t)~b[lane] + !is_extended;
        sum += carry >> lane & 1;
        result[lane] = (uint32_t)sum;
        carries[lane] = -(int32_t)(sum >> 32 != 0);
    }
    write_row32(warp, inst, 0, result, mask);
    write_pred(warp, inst->operand[1], pack_lanes(carries), mask);
}

/* Most products are of this kind: addresses of elements. */
INLINE void product_alone(IsaWarp *warp, const IsaInst *inst, uint32_t mask, bool is_signed) {
    alignas(64) uint32_t low[ISA_LANES], high[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 3), *b = word_row(warp, inst, 4);
    const RowWord *c_low = word_row(warp, inst, 5), *c_high = word_row(warp, inst, 6);
    FOR_LANES {
        const uint64_t product = is_signed
                                     ? (uint64_t)((int64_t)(int32_t)a[lane] * (int32_t)b[lane])
                                     : (uint64_t)a[lane] * b[lane];
        const uint64_t sum = product + join(c_low[lane], c_high[lane]);
        low[lane] = (uint32_t)sum;
        high[lane] = (uint32_t)(sum >> 32);
    }
    if (inst->operand[0] != ISA_SINK) write_row32(warp, inst, 0, low, mask);
    write_row32(warp, inst, 1, high, mask);
}

EXEC(PRODUCT_64) {
    if (inst->sub & ISA_PRODUCT_ALONE) {
        if (inst->sub & ISA_PRODUCT_SIGNED) product_alone(warp, inst, mask, true);
        else product_alone(warp, inst, mask, false);
        return;
    }
    alignas(64) uint32_t low[ISA_LANES], high[ISA_LANES];
    alignas(64) int32_t carries[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 3), *b = word_row(warp, inst, 4);
    const RowWord *c_low = word_row(warp, inst, 5), *c_high = word_row(warp, inst, 6);
    const uint32_t imm = (uint32_t)inst->imm;
    const bool is_signed = inst->sub & ISA_PRODUCT_SIGNED;
    const bool is_extended = inst->sub & ISA_PRODUCT_EXTENDED;
    const uint32_t carry = is_extended ? carry_of(warp, inst, 7, imm >> 3) : 0;
    FOR_LANES {
        uint64_t product = is_signed ? (uint64_t)((int64_t)(int32_t)a[lane] * (int32_t)b[lane])
                                     : (uint64_t)a[lane] * b[lane];
        if (imm & 2) product = 0 - product;
        uint64_t add = join(c_low[lane], c_high[lane]);
        if (imm & 4) add = is_extended ? ~add : 0 - add;
        const uint64_t sum = product + add, all = sum + (carry >> lane & 1);
        low[lane] = (uint32_t)all;
        high[lane] = (uint32_t)(all >> 32);
        carries[lane] = -(int32_t)(sum < product || all < sum);
    }
    if (inst->operand[0] != ISA_SINK) write_row32(warp, inst, 0, low, mask);
    write_row32(warp, inst, 1, high, mask);
    write_pred(warp, inst->operand[2], pack_lanes(carries), mask);
}

EXEC(PRODUCT_32) {
    alignas(64) uint32_t result[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 1), *b = word_row(warp, inst, 2);
    const RowWord *c = word_row(warp, inst, 3);
    const uint32_t of_product = inst->imm & 2 ? UINT32_MAX : 1,
                   of_c = inst->imm & 4 ? UINT32_MAX : 1;
    FOR_LANES result[lane] = a[lane] * b[lane] * of_product + c[lane] * of_c;
    write_row32(warp, inst, 0, result, mask);
}

/* Shifts of {c, a}; the result is one word of the shifted value. */
EXEC(SHIFT) {
    alignas(64) uint32_t result[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 1), *by = word_row(warp, inst, 2);
    const RowWord *c = word_row(warp, inst, 3);
    const uint32_t sub = inst->sub, bits = sub & ISA_SHIFT_64 ? 64 : 32;
    FOR_LANES {
        const uint32_t count = sub & ISA_SHIFT_WRAPS ? by[lane] & (bits - 1)
                               : by[lane] > bits     ? bits
                                                     : by[lane];
        const uint64_t whole = join(a[lane], c[lane]);
        const uint32_t half = count / 2, rest = count - half; /* two steps: the count may be 64 */
        const uint64_t left = whole << half << rest, right = whole >> half >> rest;
        const uint64_t arithmetic = (uint64_t)((int64_t)whole >> half >> rest);
        const uint64_t shifted = !(sub & ISA_SHIFT_RIGHT) ? left
                                 : sub & ISA_SHIFT_SIGNED ? arithmetic
                                                          : right;
        result[lane] = (uint32_t)(sub & ISA_SHIFT_HIGH ? shifted >> 32 : shifted);
    }
    write_row32(warp, inst, 0, result, mask);
}

EXEC(LOGIC) {
    alignas(64) uint32_t result[ISA_LANES];
    alignas(64) int32_t truth[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 2), *b = word_row(warp, inst, 3);
    const RowWord *c = word_row(warp, inst, 4);
    const uint32_t q = carry_of(warp, inst, 5, inst->imm & ISA_LOGIC_NEGATED_Q ? 1 : 0);
    FOR_LANES {
        result[lane] = lookup3(a[lane], b[lane], c[lane], inst->sub);
        truth[lane] = -(int32_t)(result[lane] != 0);
    }
    const uint32_t some = pack_lanes(truth);
    write_row32(warp, inst, 0, result, mask);
    write_pred(warp, inst->operand[1], inst->imm & ISA_LOGIC_AND ? some & q : some | q, mask);
}

EXEC(SCALE) {
    alignas(64) uint32_t result[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 1);
    FOR_LANES result[lane] = a[lane] << inst->sub;
    write_row32(warp, inst, 0, result, mask);
}

/* ---- Predicates ---- */

EXEC(LOGIC_PREDICATES) {
    const uint32_t imm = (uint32_t)inst->imm;
    const uint32_t a = carry_of(warp, inst, 2, imm), b = carry_of(warp, inst, 3, imm >> 1);
    const uint32_t c = carry_of(warp, inst, 4, imm >> 2);
    const uint32_t p = lookup3(a, b, c, inst->sub), q = lookup3(a, b, c, imm >> 8 & 255);
    write_pred(warp, inst->operand[0], p, mask);
    write_pred(warp, inst->operand[1], q, mask);
}

/* Predicates are adjacent: operand 1 is the first of seven. Bits that are not in imm do not
 * change. */
EXEC(PREDICATES_TO_ROW) {
    alignas(64) uint32_t result[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 2);
    const uint32_t *words = &warp->preds[inst->operand[1]], kept = (uint32_t)inst->imm;
    FOR_LANES {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < 7; ++i)
            bits |= (words[i] >> lane & 1) << i;
        const uint32_t field = (kept & 127) << inst->sub;
        result[lane] = (a[lane] & ~field) | (bits << inst->sub & field);
    }
    write_row32(warp, inst, 0, result, mask);
}
EXEC(ROW_TO_PREDICATES) {
    const RowWord *a = word_row(warp, inst, 2);
    for (int i = 0; i < 7; ++i) {
        uint32_t bits = 0;
        if (!((uint32_t)inst->imm >> i & 1)) continue;
        FOR_LANES bits |= (a[lane] >> (inst->sub + i) & 1) << lane;
        write_pred(warp, inst->operand[1] + i, bits, mask);
    }
}

/* The fast division is correct unless an exponent is near its limits. Then the quotient, or an
 * intermediate result, may leave the range of normal numbers. */
EXEC(CHECK_DIVISION) {
    alignas(64) int32_t truth[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 1), *b = word_row(warp, inst, 2);
    FOR_LANES {
        const int32_t of_a = (int32_t)(a[lane] >> 23 & 255), of_b = (int32_t)(b[lane] >> 23 & 255);
        const int32_t apart = of_a - of_b;
        const bool is_odd = of_b == 0 || of_b >= 253 || of_a == 0 || of_a == 255 || apart < -125 ||
                            apart > 126 || of_a <= 24;
        truth[lane] = -(int32_t)is_odd;
    }
    write_pred(warp, inst->operand[0], pack_lanes(truth), mask);
}

/* -0 is less than +0; a number is preferred to a NaN. */
EXEC(SELECT_F64) {
    alignas(64) int32_t truth[ISA_LANES], nothing[ISA_LANES];
    const RowLong *a = operand_row(warp, inst, 2), *b = operand_row(warp, inst, 3);
    FOR_LANES {
        const double x = f64_of_bits(a[lane]), y = f64_of_bits(b[lane]);
        const int64_t of_x = (int64_t)(a[lane] ^ (uint64_t)((int64_t)a[lane] >> 63) >> 1);
        const int64_t of_y = (int64_t)(b[lane] ^ (uint64_t)((int64_t)b[lane] >> 63) >> 1);
        const bool is_first = inst->imm ? of_x > of_y : of_x < of_y;
        truth[lane] = -(int32_t)(x != x ? y != y : y != y || is_first);
        nothing[lane] = -(int32_t)(x != x && y != y);
    }
    write_pred(warp, inst->operand[0], pack_lanes(truth), mask);
    write_pred(warp, inst->operand[1], pack_lanes(nothing), mask);
}

/* ---- Across lanes ---- */

EXEC(TO_UNIFORM) {
    alignas(64) uint32_t result[ISA_LANES];
    const uint32_t value = word_row(warp, inst, 1)[bits_lowest32(mask)];
    FOR_LANES result[lane] = value;
    write_row32(warp, inst, 0, result, UINT32_MAX);
}

EXEC(SPREAD) {
    const uint32_t is_true = warp->preds[inst->operand[1]] >> bits_lowest32(mask) & 1;
    warp->preds[inst->operand[0]] = 0 - is_true;
}

EXEC(BARRIER_SET) {
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES result[lane] = mask;
    write_row32(warp, inst, 0, result, mask);
}
EXEC(BARRIER_LEAVE) {
    RowWord *row = operand_row(warp, inst, 0);
    const uint32_t leaving = mask & carry_of(warp, inst, 1, (uint32_t)inst->imm);
    FOR_LANES row[lane] &= ~leaving;
}

/* ---- Constants by index ---- */

EXEC(LOAD_CONSTANT) {
    alignas(64) uint32_t result[ISA_LANES] = {0};
    const RowWord *index = word_row(warp, inst, 1);
    const IsaBank *bank = &context->launch->banks[inst->target];
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        const uint64_t at = (uint32_t)(index[lane] + (uint32_t)inst->imm);
        context->did.address[lane] =
            ISA_BANK_ADDRESS + ((uint64_t)inst->target << ISA_BANK_SHIFT) + (uint16_t)at;
        if (at + inst->size <= bank->bytes) memcpy(&result[lane], bank->data + at, inst->size);
        if (!(inst->flags & ISA_SIGNED)) continue;
        result[lane] =
            inst->size == 1 ? (uint32_t)(int8_t)result[lane] : (uint32_t)(int16_t)result[lane];
    }
    write_row32(warp, inst, 0, result, mask);
}

/* ---- The function unit ---- */

/* Sine and cosine of an argument in turns; upper words of 1 / x and 1 / sqrt(x) of doubles. */
EXEC(FUNCTION_UNIT) {
    alignas(64) uint32_t result[ISA_LANES];
    const RowWord *a = word_row(warp, inst, 1);
    FOR_LANES {
        const float x = f32_of_bits(a[lane] << 1 >> 24 ? a[lane] : a[lane] & 0x80000000u);
        const uint64_t wide = (uint64_t)a[lane] << 32;
        const bool is_tiny = !(a[lane] & 0x7ff00000u);
        const double y = is_tiny ? __builtin_copysign(0, f64_of_bits(wide)) : f64_of_bits(wide);
        const double turns = (double)x * 0x1.921fb54442d18p2;
        switch ((IsaFunctionUnit)inst->sub) {
        case ISA_FUNCTION_COS:
            result[lane] = bits_of_f32(canonical_f32((float)sine(turns, 1)));
            break;
        case ISA_FUNCTION_SIN:
            result[lane] = bits_of_f32(canonical_f32((float)sine(turns, 0)));
            break;
        case ISA_FUNCTION_RCP64H:
            result[lane] = (uint32_t)(bits_of_f64(canonical_f64(1 / y)) >> 32);
            break;
        case ISA_FUNCTION_RSQ64H:
            result[lane] = (uint32_t)(bits_of_f64(canonical_f64(1 / __builtin_sqrt(y))) >> 32);
            break;
        }
    }
    write_row32(warp, inst, 0, result, mask);
}
