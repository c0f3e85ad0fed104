/* Comparisons and predicates. Semantics: PTX ISA, "Comparison and Selection Instructions". */
#include "isa/exec/maps.h"

INLINE float flush_f32(float x) {
    const uint32_t bits = bits_of_f32(x);
    return (bits & 0x7f800000) ? x : f32_of_bits(bits & 0x80000000);
}

INLINE double flush_f16(double x) {
    return __builtin_fabs(x) < 0x1p-14 ? __builtin_copysign(0, x) : x;
}

/* Operands of setp: p, q, a, b, c. sub: IsaCompareSub. p = (a cmp b) op c, q = !(a cmp b) op c. */
INLINE void write_compare(IsaWarp *warp, const IsaInst *inst, uint32_t truth, uint32_t mask) {
    const uint32_t sub = inst->sub;
    if (sub & ISA_COMPARE_NEGATE) truth = ~truth;
    if (sub & ~(uint32_t)ISA_COMPARE_NEGATE) {
        const uint32_t q = isa_combine(sub, ~truth, warp->preds[inst->operand[4]]);
        truth = isa_combine(sub, truth, warp->preds[inst->operand[4]]);
        write_pred(warp, inst->operand[1], q, mask);
    }
    write_pred(warp, inst->operand[0], truth, mask);
}

/* Operands of set: d, (unused), a, b, c. imm: the value for true. */
INLINE void write_set(IsaWarp *warp, const IsaInst *inst, uint32_t truth, uint32_t mask) {
    const uint32_t sub = inst->sub;
    alignas(64) uint32_t result[ISA_LANES];
    if (sub & ISA_COMPARE_NEGATE) truth = ~truth;
    truth = isa_combine(sub, truth, warp->preds[inst->operand[4]]);
    FOR_LANES result[lane] = truth & lane_bit[lane] ? (uint32_t)inst->imm : 0;
    write_row32(warp, inst, 0, result, mask);
}

#define COMPARE(name, A, B, expression)                                                            \
    INLINE uint32_t compare_##name(const IsaWarp *warp, const IsaInst *inst) {                     \
        alignas(64) int32_t truth[ISA_LANES];                                                      \
        MAP_SOURCE(a, A, 2)                                                                        \
        MAP_SOURCE(b, B, 3)                                                                        \
        FOR_LANES {                                                                                \
            MAP_LANE(a, A)                                                                         \
            MAP_LANE(b, B)                                                                         \
            truth[lane] = -(int32_t)(expression);                                                  \
        }                                                                                          \
        return pack_lanes(truth);                                                                  \
    }                                                                                              \
    EXEC(SETP_##name) { write_compare(warp, inst, compare_##name(warp, inst), mask); }             \
    EXEC(SET_##name) { write_set(warp, inst, compare_##name(warp, inst), mask); }
#include "isa/exec/exec_compare.def"

/* testp: operands p, a. Classes by the bits without the sign: zero (which testp counts as normal),
 * subnormal, normal, infinite. */
#define TEST(name, type, word, infinity, smallest_normal)                                          \
    EXEC(name) {                                                                                   \
        alignas(64) int32_t truth[ISA_LANES];                                                      \
        MAP_SOURCE(a, type, 1)                                                                     \
        FOR_LANES {                                                                                \
            const word x = a_row[lane] << 1 >> 1;                                                  \
            bool is_true = false;                                                                  \
            switch (inst->sub) {                                                                   \
            case PTX_SUB_TESTP_FINITE: is_true = x < infinity; break;                              \
            case PTX_SUB_TESTP_INFINITE: is_true = x == infinity; break;                           \
            case PTX_SUB_TESTP_NUMBER: is_true = x <= infinity; break;                             \
            case PTX_SUB_TESTP_NOTANUMBER: is_true = x > infinity; break;                          \
            case PTX_SUB_TESTP_NORMAL:                                                             \
                is_true = x == 0 || (x >= smallest_normal && x < infinity);                        \
                break;                                                                             \
            case PTX_SUB_TESTP_SUBNORMAL: is_true = x != 0 && x < smallest_normal; break;          \
            default: break;                                                                        \
            }                                                                                      \
            truth[lane] = -(int32_t)is_true;                                                       \
        }                                                                                          \
        write_pred(warp, inst->operand[0], pack_lanes(truth), mask);                               \
    }
TEST(TESTP_F32, u32, uint32_t, 0x7f800000u, 0x00800000u)
TEST(TESTP_F64, u64, uint64_t, UINT64_C(0x7ff0000000000000), UINT64_C(0x0010000000000000))

/* The word of operand `index`, negated if the instruction requires it. */
INLINE uint32_t read_pred(const IsaWarp *warp, const IsaInst *inst, int index) {
    const uint32_t negated = 0 - (uint32_t)(inst->imm >> index & 1);
    return warp->preds[inst->operand[index]] ^ negated;
}

EXEC(PRED_MOV) { write_pred(warp, inst->operand[0], read_pred(warp, inst, 1), mask); }

#define PREDICATE(name, operator)                                                                  \
    EXEC(name) {                                                                                   \
        const uint32_t a = read_pred(warp, inst, 1), b = read_pred(warp, inst, 2);                 \
        write_pred(warp, inst->operand[0], a operator b, mask);                                    \
    }
PREDICATE(PRED_AND, &)
PREDICATE(PRED_OR, |)
PREDICATE(PRED_XOR, ^)

EXEC(LOP3_PRED) {
    alignas(64) uint32_t result[ISA_LANES];
    alignas(64) int32_t truth[ISA_LANES];
    MAP_SOURCE(a, u32, 2)
    MAP_SOURCE(b, u32, 3)
    MAP_SOURCE(c, u32, 4)
    FOR_LANES {
        result[lane] = lookup3(a_row[lane], b_row[lane], c_row[lane], inst->sub);
        truth[lane] = -(int32_t)(result[lane] != 0);
    }
    const uint32_t word =
        isa_combine((uint32_t)inst->imm, pack_lanes(truth), warp->preds[inst->operand[5]]);
    write_row32(warp, inst, 0, result, mask);
    write_pred(warp, inst->operand[1], word, mask);
}
