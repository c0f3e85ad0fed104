/* Comparisons, and the logic of predicates. */
#include "isa/sass/translate.h"

/* ---- Comparisons ---- */

/* One of our comparisons: a cmp b, or b cmp a if swapped; the result may be negated. */
typedef struct Relation {
    IsaHandler handler;
    bool is_swapped, is_negated;
} Relation;

static Relation integer_relation(uint8_t compare, bool is_signed, bool is_wide) {
    const IsaHandler less = is_wide     ? is_signed ? ISA_DO_SETP_LT_S64 : ISA_DO_SETP_LT_U64
                            : is_signed ? ISA_DO_SETP_LT_S32
                                        : ISA_DO_SETP_LT_U32;
    const IsaHandler equal = is_wide ? ISA_DO_SETP_EQ_64 : ISA_DO_SETP_EQ_32;
    switch (compare) {
    case SASS_COMPARE_LT: return (Relation){less, false, false};
    case SASS_COMPARE_GT: return (Relation){less, true, false};
    case SASS_COMPARE_LE: return (Relation){less, true, true};
    case SASS_COMPARE_GE: return (Relation){less, false, true};
    case SASS_COMPARE_NE: return (Relation){equal, false, true};
    default: return (Relation){equal, false, false};
    }
}

/* Handlers of a float type in the order EQ, NE, LT, LE, NUM. */
static Relation float_relation(uint8_t compare, const IsaHandler *of) {
    enum { EQ, NE, LT, LE, NUM };
    switch (compare) {
    case SASS_FLOAT_COMPARE_LT: return (Relation){of[LT], false, false};
    case SASS_FLOAT_COMPARE_EQ: return (Relation){of[EQ], false, false};
    case SASS_FLOAT_COMPARE_LE: return (Relation){of[LE], false, false};
    case SASS_FLOAT_COMPARE_GT: return (Relation){of[LT], true, false};
    case SASS_FLOAT_COMPARE_NE: return (Relation){of[NE], false, false};
    case SASS_FLOAT_COMPARE_GE: return (Relation){of[LE], true, false};
    case SASS_FLOAT_COMPARE_NUM: return (Relation){of[NUM], false, false};
    case SASS_FLOAT_COMPARE_NAN: return (Relation){of[NUM], false, true};
    case SASS_FLOAT_COMPARE_LTU: return (Relation){of[LE], true, true};
    case SASS_FLOAT_COMPARE_EQU: return (Relation){of[NE], false, true};
    case SASS_FLOAT_COMPARE_LEU: return (Relation){of[LT], true, true};
    case SASS_FLOAT_COMPARE_GTU: return (Relation){of[LE], false, true};
    case SASS_FLOAT_COMPARE_NEU: return (Relation){of[EQ], false, true};
    default: return (Relation){of[LT], false, true}; /* GEU */
    }
}

static const uint8_t combine_of[] = {ISA_COMPARE_AND, ISA_COMPARE_OR, ISA_COMPARE_XOR, 0};

/* p = truth op c, q = !truth op c. p and q are the first operands, c is operand `at`. */
static void put_compare(Translator *t, Relation relation, IsaOperand a, IsaOperand b, int at) {
    bool negated;
    const SassOperand *chained = tr_operand(t, at);
    const IsaOperand c = tr_word(t, chained, &negated);
    IsaInst *step = tr_step(t, relation.handler);
    step->operand[2] = relation.is_swapped ? b : a;
    step->operand[3] = relation.is_swapped ? a : b;
    step->operand[4] = c;
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[1] = tr_word_to(t, tr_operand(t, 1));
    step->sub = relation.is_negated ? ISA_COMPARE_NEGATE : 0;
    const bool is_plain = c == ISA_PRED_TRUE && !negated &&
                          tr_mod(t, SASS_MOD_BOOL) == SASS_BOOL_AND &&
                          tr_operand(t, 1)->value == SASS_PT;
    if (is_plain) return;
    step->sub |=
        (uint8_t)(combine_of[tr_mod(t, SASS_MOD_BOOL) & 3] | (negated ? ISA_COMPARE_NEGATE_C : 0));
}

/* Combines a truth value in a word with the predicate at `at`, using the instruction's
 * operation. */
static void put_truth(Translator *t, IsaOperand truth, int at) {
    bool negated;
    const IsaOperand c = tr_word(t, tr_operand(t, at), &negated);
    /* tables of the truth value b and of c: of_p for p, and of_q for q with the truth value
     * negated */
    static const uint8_t of_p[] = {0x88, 0xEE, 0x66, 0x88}, of_q[] = {0x22, 0xBB, 0x99, 0x22};
    const uint8_t how = tr_mod(t, SASS_MOD_BOOL) & 3;
    IsaInst *step = tr_step(t, ISA_DO_LOGIC_PREDICATES);
    step->operand[2] = ISA_PRED_FALSE;
    step->operand[3] = truth;
    step->operand[4] = c;
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[1] = tr_word_to(t, tr_operand(t, 1));
    step->sub = of_p[how];
    step->imm = (int64_t)(tr_bit(negated, 2) | (uint32_t)of_q[how] << 8);
}

/* sm_120 has the sign in another modifier. */
static bool is_signed_integer(const Translator *t) {
    return tr_mod(t, SASS_MOD_SIGNED) || (tr_mod(t, SASS_MOD_INTEGER) & 1);
}

/* .EX: the upper words decide; if they are equal, the comparison of the lower words does. */
static bool compare_extended(Translator *t, IsaOperand a, IsaOperand b) {
    const uint8_t compare = tr_mod(t, SASS_MOD_COMPARE);
    const bool is_signed = is_signed_integer(t);
    const IsaHandler less = is_signed ? ISA_DO_SETP_LT_S32 : ISA_DO_SETP_LT_U32;
    const bool is_greater = compare == SASS_COMPARE_GT || compare == SASS_COMPARE_GE;
    const IsaOperand strict = tr_scratch_word(t), equal = tr_scratch_word(t);
    const IsaOperand truth = tr_scratch_word(t), spare = tr_scratch_word(t);
    bool negated;
    const IsaOperand lower = tr_word(t, tr_operand(t, 5), &negated);
    IsaInst *step = tr_step(t, less);
    step->operand[0] = strict;
    step->operand[2] = is_greater ? b : a;
    step->operand[3] = is_greater ? a : b;
    step = tr_step(t, ISA_DO_SETP_EQ_32);
    step->operand[0] = equal;
    step->operand[2] = a;
    step->operand[3] = b;
    step = tr_step(t, ISA_DO_LOGIC_PREDICATES);
    /* strict | equal & lower; EQ: equal & lower; NE: !equal | lower */
    step->sub = compare == SASS_COMPARE_EQ ? 0x88 : compare == SASS_COMPARE_NE ? 0xBB : 0xF8;
    step->operand[0] = truth;
    step->operand[1] = spare;
    step->operand[2] = strict;
    step->operand[3] = equal;
    step->operand[4] = lower;
    step->imm = (int64_t)tr_bit(negated, 2);
    put_truth(t, truth, 4);
    return true;
}

/* p, q, a, b, c, carry */
bool tr_op_isetp(Translator *t) {
    const uint8_t compare = tr_mod(t, SASS_MOD_COMPARE);
    const SassOperand *a = tr_operand(t, 2), *b = tr_operand(t, 3);
    const bool is_wide = tr_mod(t, SASS_MOD_INTEGER) >= SASS_INTEGER_U64;
    const IsaOperand x = is_wide ? tr_wide_term(t, a) : tr_row(t, a);
    const IsaOperand y = is_wide ? tr_wide_term(t, b) : tr_row(t, b);
    if (compare == SASS_COMPARE_F || compare == SASS_COMPARE_T) {
        put_truth(t, compare == SASS_COMPARE_T ? ISA_PRED_TRUE : ISA_PRED_FALSE, 4);
        return true;
    }
    if (tr_mod(t, SASS_MOD_EX) && is_wide) return tr_refuse(t, "a comparison of 128 bits");
    if (tr_mod(t, SASS_MOD_EX)) return compare_extended(t, x, y);
    put_compare(t, integer_relation(compare, is_signed_integer(t), is_wide), x, y, 4);
    return true;
}

static const IsaHandler compare_f32[] = {ISA_DO_SETP_EQ_F32, ISA_DO_SETP_NE_F32, ISA_DO_SETP_LT_F32,
                                         ISA_DO_SETP_LE_F32, ISA_DO_SETP_NUM_F32};
static const IsaHandler compare_f32_ftz[] = {ISA_DO_SETP_EQ_FTZ_F32, ISA_DO_SETP_NE_FTZ_F32,
                                             ISA_DO_SETP_LT_FTZ_F32, ISA_DO_SETP_LE_FTZ_F32,
                                             ISA_DO_SETP_NUM_F32};
static const IsaHandler compare_f64[] = {ISA_DO_SETP_EQ_F64, ISA_DO_SETP_NE_F64, ISA_DO_SETP_LT_F64,
                                         ISA_DO_SETP_LE_F64, ISA_DO_SETP_NUM_F64};

bool tr_op_fsetp(Translator *t) {
    const uint8_t compare = tr_mod(t, SASS_MOD_FLOAT_COMPARE);
    const IsaOperand x = tr_float(t, tr_operand(t, 2)), y = tr_float(t, tr_operand(t, 3));
    if (compare == SASS_FLOAT_COMPARE_F || compare == SASS_FLOAT_COMPARE_T) {
        put_truth(t, compare == SASS_FLOAT_COMPARE_T ? ISA_PRED_TRUE : ISA_PRED_FALSE, 4);
        return true;
    }
    put_compare(t, float_relation(compare, tr_mod(t, SASS_MOD_FTZ) ? compare_f32_ftz : compare_f32),
                x, y, 4);
    return true;
}

bool tr_op_dsetp(Translator *t) {
    const uint8_t compare = tr_mod(t, SASS_MOD_DOUBLE_COMPARE);
    const IsaOperand x = tr_double(t, tr_operand(t, 2)), y = tr_double(t, tr_operand(t, 3));
    t->info.op_class = ISA_CLASS_FP64_ADD;
    if (compare == SASS_DOUBLE_COMPARE_MIN || compare == SASS_DOUBLE_COMPARE_MAX) {
        bool negated;
        if (tr_word(t, tr_operand(t, 4), &negated) != ISA_PRED_TRUE || negated)
            return tr_refuse(t, "a minimum combined with a predicate");
        IsaInst *step = tr_step4(t, ISA_DO_SELECT_F64, tr_word_to(t, tr_operand(t, 0)),
                                 tr_word_to(t, tr_operand(t, 1)), x, y);
        step->imm = compare == SASS_DOUBLE_COMPARE_MAX;
        return true;
    }
    put_compare(t, float_relation(compare, compare_f64), x, y, 4);
    return true;
}

/* d, a, b, c: d is a mask or 1.0 */
bool tr_op_fset(Translator *t) {
    bool negated;
    const uint8_t compare = tr_mod(t, SASS_MOD_FLOAT_COMPARE);
    const IsaOperand x = tr_float(t, tr_operand(t, 1)), y = tr_float(t, tr_operand(t, 2));
    const IsaOperand c = tr_word(t, tr_operand(t, 3), &negated);
    if (compare == SASS_FLOAT_COMPARE_F || compare == SASS_FLOAT_COMPARE_T)
        return tr_refuse(t, "a comparison that is always the same");
    const Relation relation =
        float_relation(compare, tr_mod(t, SASS_MOD_FTZ) ? compare_f32_ftz : compare_f32);
    IsaInst *step = tr_step(t, (IsaHandler)(relation.handler + 1)); /* each SET_ handler follows its
                                                                     * SETP_ handler */
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    step->operand[2] = relation.is_swapped ? y : x;
    step->operand[3] = relation.is_swapped ? x : y;
    step->operand[4] = c;
    step->sub =
        (uint8_t)((relation.is_negated ? ISA_COMPARE_NEGATE : 0) |
                  combine_of[tr_mod(t, SASS_MOD_BOOL) & 3] | (negated ? ISA_COMPARE_NEGATE_C : 0));
    step->imm = tr_mod(t, SASS_MOD_BF) ? 0x3f800000 : 0xffffffff;
    return true;
}

/* ---- Comparisons of halves ---- */

static const PtxCompare compare_of[] = {
    PTX_CMP_NONE, PTX_LT,  PTX_EQ,  PTX_LE,  PTX_GT,  PTX_NE,  PTX_GE,  PTX_NUM,
    PTX_NAN,      PTX_LTU, PTX_EQU, PTX_LEU, PTX_GTU, PTX_NEU, PTX_GEU, PTX_CMP_NONE};

/* a, b, c are operands from `at` on. Returns the step; the caller sets its results. */
static IsaInst *compare_halves(Translator *t, IsaHandler handler, int at, int64_t value) {
    bool negated;
    const IsaOperand x = tr_halves(t, tr_operand(t, at)), y = tr_halves(t, tr_operand(t, at + 1));
    const IsaOperand c = tr_word(t, tr_operand(t, at + 2), &negated);
    IsaInst *step = tr_step(t, handler);
    step->operand[2] = x;
    step->operand[3] = y;
    step->operand[4] = c;
    step->sub =
        (uint8_t)(combine_of[tr_mod(t, SASS_MOD_BOOL) & 3] | (negated ? ISA_COMPARE_NEGATE_C : 0) |
                  (tr_mod(t, SASS_MOD_FTZ) ? ISA_COMPARE_FTZ : 0));
    step->imm = compare_of[tr_mod(t, SASS_MOD_FLOAT_COMPARE) & 15] | value << 8;
    return step;
}

static bool has_comparison(Translator *t) {
    return compare_of[tr_mod(t, SASS_MOD_FLOAT_COMPARE) & 15] != PTX_CMP_NONE ||
           tr_refuse(t, "a comparison that is always the same");
}

/* p for the lower half, q for the upper half, a, b, c */
bool tr_op_hsetp2(Translator *t) {
    if (!has_comparison(t)) return false;
    if (tr_mod(t, SASS_MOD_H_AND)) return tr_refuse(t, ".H_AND");
    IsaInst *step =
        compare_halves(t, tr_mod(t, SASS_MOD_BF16) ? ISA_DO_SETP_BF16X2 : ISA_DO_SETP_F16X2, 2, 0);
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[1] = tr_word_to(t, tr_operand(t, 1));
    step->sub |= ISA_COMPARE_PAIR;
    return true;
}

/* d, a, b, c: halves of d are masks or 1.0 */
bool tr_op_hset2(Translator *t) {
    enum { ONE_F16 = 0x3c00, ONE_BF16 = 0x3f80, MASK = 0xffff };
    const bool is_bf16 = tr_mod(t, SASS_MOD_BF16);
    if (!has_comparison(t)) return false;
    const int64_t value = !tr_mod(t, SASS_MOD_BF) ? MASK : is_bf16 ? ONE_BF16 : ONE_F16;
    IsaInst *step = compare_halves(t, is_bf16 ? ISA_DO_SET_BF16X2 : ISA_DO_SET_F16X2, 1, value);
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    return true;
}

/* ---- Predicates ---- */

/* p, q, a, b, c, table of p, table of q */
bool tr_op_plop3(Translator *t) {
    bool negated[3];
    IsaOperand word[3];
    for (int i = 0; i < 3; ++i)
        word[i] = tr_word(t, tr_operand(t, 2 + i), &negated[i]);
    IsaInst *step = tr_step(t, ISA_DO_LOGIC_PREDICATES);
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[1] = tr_word_to(t, tr_operand(t, 1));
    for (int i = 0; i < 3; ++i)
        step->operand[2 + i] = word[i];
    step->sub = (uint8_t)tr_operand(t, 5)->value;
    step->imm = (int64_t)(tr_bit(negated[0], 0) | tr_bit(negated[1], 1) | tr_bit(negated[2], 2) |
                          (uint32_t)(tr_operand(t, 6)->value & 255) << 8);
    return true;
}

/* P2R: d, predicates, a, mask; R2P: predicates, a, mask */
bool tr_op_p2r(Translator *t) {
    const bool is_uniform = t->sass->op == SASS_OP_UP2UR;
    const IsaOperand x = tr_row(t, tr_operand(t, 2));
    const SassOperand *mask = tr_operand(t, 3);
    if (mask->kind != SASS_IMM) return tr_refuse(t, "a mask in a register");
    IsaInst *step = tr_step3(t, ISA_DO_PREDICATES_TO_ROW, tr_to(t, tr_operand(t, 0)),
                             is_uniform ? TR_UP0 : TR_P0, x);
    step->imm = mask->value;
    step->sub = (uint8_t)(8 * tr_mod(t, SASS_MOD_BYTE));
    return true;
}
bool tr_op_r2p(Translator *t) {
    const bool is_uniform = t->sass->op == SASS_OP_UR2UP;
    const IsaOperand x = tr_row(t, tr_operand(t, 1));
    const SassOperand *mask = tr_operand(t, 2);
    if (mask->kind != SASS_IMM) return tr_refuse(t, "a mask in a register");
    const uint8_t suffix = tr_operand(t, 1)->suffix;
    const uint8_t byte = suffix == SASS_SUFFIX_B1   ? 1
                         : suffix == SASS_SUFFIX_B2 ? 2
                         : suffix == SASS_SUFFIX_B3 ? 3
                                                    : tr_mod(t, SASS_MOD_BYTE);
    IsaInst *step = tr_step3(t, ISA_DO_ROW_TO_PREDICATES, 0, is_uniform ? TR_UP0 : TR_P0, x);
    step->imm = mask->value;
    step->sub = (uint8_t)(8 * byte);
    return true;
}
