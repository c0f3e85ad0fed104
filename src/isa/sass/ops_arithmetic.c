/* Integer, floating-point and logic operations, moves and predicates of both data paths. A uniform
 * operation is its vector counterpart, executed by all lanes on rows that hold one value. */
#include "isa/sass/translate.h"

/* ---- Common pieces ---- */

static IsaInst *step2(Translator *t, IsaHandler handler, IsaOperand d, IsaOperand a) {
    IsaInst *step = tr_step(t, handler);
    step->operand[0] = d;
    step->operand[1] = a;
    return step;
}
static IsaInst *step3(Translator *t, IsaHandler handler, IsaOperand d, IsaOperand a, IsaOperand b) {
    IsaInst *step = step2(t, handler, d, a);
    step->operand[2] = b;
    return step;
}
static IsaInst *step4(Translator *t, IsaHandler handler, IsaOperand d, IsaOperand a, IsaOperand b,
                      IsaOperand c) {
    IsaInst *step = step3(t, handler, d, a, b);
    step->operand[3] = c;
    return step;
}

static bool is_zero(const SassOperand *operand) {
    return (operand->kind == SASS_REG && operand->value == SASS_RZ) ||
           (operand->kind == SASS_UREG && operand->value == SASS_URZ) ||
           (operand->kind == SASS_IMM && operand->value == 0);
}

static uint32_t bit_of(bool is_set, int bit) { return is_set ? 1u << bit : 0; }

/* Modifiers of floating-point handlers. */
static uint8_t float_sub(const Translator *t) {
    static const uint8_t round[] = {ISA_ROUND_NEAREST, ISA_ROUND_DOWN, ISA_ROUND_UP,
                                    ISA_ROUND_ZERO};
    return (uint8_t)(round[tr_mod(t, SASS_MOD_ROUND) & 3] |
                     (tr_mod(t, SASS_MOD_FTZ) ? ISA_MOD_FTZ : 0) |
                     (tr_mod(t, SASS_MOD_SAT) ? ISA_MOD_SAT : 0) |
                     (tr_mod(t, SASS_MOD_NAN) ? ISA_MOD_NAN : 0) |
                     (tr_mod(t, SASS_MOD_XORSIGN) ? ISA_MOD_XORSIGN : 0) |
                     (tr_mod(t, SASS_MOD_RELU) ? ISA_MOD_RELU : 0));
}
/* The plain handler, that with modifiers or that with a rounding mode: three in a row. */
static IsaHandler float_handler(IsaHandler plain, uint8_t sub) {
    return (IsaHandler)(plain + (sub & ISA_MOD_ROUND ? 2 : sub ? 1 : 0));
}

/* ---- Integers ---- */

static bool op_mov(Translator *t) {
    const SassOperand *from = tr_operand(t, 1);
    step2(t, ISA_DO_MOV_32, tr_to(t, tr_operand(t, 0)), tr_row(t, from));
    return true;
}

/* UMOV has no mask of bytes; MOV's must be whole. */
static bool op_mov_masked(Translator *t) {
    if (tr_operand(t, 2)->value != 15) return tr_refuse(t, "a move of some bytes");
    return op_mov(t);
}

/* d, p, q, a, b, c, carry, carry */
static bool op_iadd3(Translator *t) {
    if (tr_mod(t, SASS_MOD_WIDE64)) return tr_refuse(t, "sums of 64 bits");
    const SassOperand *a = tr_operand(t, 3), *b = tr_operand(t, 4), *c = tr_operand(t, 5);
    const bool is_extended = tr_mod(t, SASS_MOD_X);
    const bool has_signs = a->is_negated || b->is_negated || c->is_negated || a->is_inverted ||
                           b->is_inverted || c->is_inverted;
    const bool has_carry =
        tr_operand(t, 1)->value != SASS_PT || tr_operand(t, 2)->value != SASS_PT || is_extended;
    t->info.op_class = ISA_CLASS_INT_ADD;
    t->info.element_bytes = 4;
    if (!has_signs && !has_carry && is_zero(c)) {
        const IsaOperand x = tr_row(t, a), y = tr_row(t, b);
        step3(t, ISA_DO_ADD_32, tr_to(t, tr_operand(t, 0)), x, y);
        return true;
    }
    if (!has_carry && is_zero(c) && b->is_negated && !a->is_negated && !c->is_negated) {
        const IsaOperand x = tr_row(t, a), y = tr_row(t, b);
        step3(t, ISA_DO_SUB_32, tr_to(t, tr_operand(t, 0)), x, y);
        return true;
    }
    const IsaOperand x = tr_row(t, a), y = tr_row(t, b), z = tr_row(t, c);
    bool first = false, second = false;
    IsaOperand carry = ISA_PRED_FALSE, carry_2 = ISA_PRED_FALSE;
    if (is_extended) {
        carry = tr_word(t, tr_operand(t, 6), &first);
        carry_2 = tr_word(t, tr_operand(t, 7), &second);
    }
    IsaInst *step = tr_step(t, ISA_DO_SUM3);
    step->operand[3] = x;
    step->operand[4] = y;
    step->operand[5] = z;
    step->operand[6] = carry;
    step->operand[7] = carry_2;
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    step->operand[1] = tr_word_to(t, tr_operand(t, 1));
    step->operand[2] = tr_word_to(t, tr_operand(t, 2));
    step->imm = (int64_t)(bit_of(a->is_negated || a->is_inverted, 0) |
                          bit_of(b->is_negated || b->is_inverted, 1) |
                          bit_of(c->is_negated || c->is_inverted, 2) | bit_of(first, 3) |
                          bit_of(second, 4));
    step->sub = is_extended ? ISA_SUM_EXTENDED : 0;
    return true;
}

/* d, p, a, b, c, carry: low, wide and high products */
static bool op_imad(Translator *t) {
    const SassOperand *a = tr_operand(t, 2), *b = tr_operand(t, 3), *c = tr_operand(t, 4);
    const bool is_extended = tr_mod(t, SASS_MOD_X), has_carry = tr_operand(t, 1)->value != SASS_PT;
    const uint8_t product = tr_mod(t, SASS_MOD_PRODUCT);
    const bool negates_b = b->is_negated || b->is_inverted;
    const bool negates_c = c->is_negated || c->is_inverted;
    t->info.op_class = ISA_CLASS_INT_MAD;
    t->info.element_bytes = 4;
    if (product == SASS_PRODUCT_LOW && !is_extended && !has_carry) {
        if ((is_zero(a) || is_zero(b)) && !negates_c) {
            const IsaOperand z = tr_row(t, c);
            step2(t, ISA_DO_MOV_32, tr_to(t, tr_operand(t, 0)), z);
            return true;
        }
        const IsaOperand x = tr_row(t, a), y = tr_row(t, b), z = tr_row(t, c);
        const bool is_plain = !negates_b && !negates_c;
        IsaInst *step = step4(t, is_plain ? ISA_DO_MAD_LO_32 : ISA_DO_PRODUCT_32,
                              tr_to(t, tr_operand(t, 0)), x, y, z);
        step->imm = (int64_t)(bit_of(negates_b, 1) | bit_of(negates_c, 2));
        return true;
    }
    IsaOperand low, high, carry = ISA_PRED_FALSE;
    bool negates_carry = false;
    const IsaOperand x = tr_row(t, a), y = tr_row(t, b);
    if (product == SASS_PRODUCT_LOW) {
        low = tr_row(t, c);
        high = tr_constant(t, 0);
    } else {
        tr_pair(t, c, &low, &high);
    }
    if (is_extended) carry = tr_word(t, tr_operand(t, 5), &negates_carry);
    IsaInst *step = tr_step(t, ISA_DO_PRODUCT_64);
    const SassOperand *to = tr_operand(t, 0);
    step->operand[0] = product == SASS_PRODUCT_HI ? ISA_SINK : tr_to(t, to);
    step->operand[1] = product == SASS_PRODUCT_HI     ? tr_to(t, to)
                       : product == SASS_PRODUCT_WIDE ? tr_to_register(t, to, 1)
                                                      : tr_scratch(t);
    step->operand[2] = tr_word_to(t, tr_operand(t, 1));
    step->operand[3] = x;
    step->operand[4] = y;
    step->operand[5] = low;
    step->operand[6] = high;
    step->operand[7] = carry;
    step->imm = (int64_t)(bit_of(negates_b, 1) | bit_of(negates_c, 2) | bit_of(negates_carry, 3));
    step->sub = (uint8_t)((tr_mod(t, SASS_MOD_SIGNED) ? ISA_PRODUCT_SIGNED : 0) |
                          (is_extended ? ISA_PRODUCT_EXTENDED : 0));
    return true;
}

/* d, p, a, b, c, shift, carry */
static bool op_lea(Translator *t) {
    const SassOperand *a = tr_operand(t, 2), *b = tr_operand(t, 3), *c = tr_operand(t, 4);
    const bool is_high = tr_mod(t, SASS_MOD_HI), is_extended = tr_mod(t, SASS_MOD_X);
    const bool is_signed = tr_mod(t, SASS_MOD_SX32);
    bool negates_carry = false;
    const IsaOperand x = tr_row(t, a), y = tr_row(t, b);
    const IsaOperand z = is_high && !is_signed ? tr_row(t, c) : tr_constant(t, 0);
    const IsaOperand carry =
        is_extended ? tr_word(t, tr_operand(t, 6), &negates_carry) : ISA_PRED_FALSE;
    IsaInst *step = tr_step(t, ISA_DO_LEA);
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    step->operand[1] = tr_word_to(t, tr_operand(t, 1));
    step->operand[2] = x;
    step->operand[3] = y;
    step->operand[4] = z;
    step->operand[5] = carry;
    step->imm = (tr_operand(t, 5)->value & ISA_LEA_SHIFT) | (is_high ? ISA_LEA_HIGH : 0) |
                (is_extended ? ISA_LEA_EXTENDED : 0) | (is_signed ? ISA_LEA_SIGN : 0) |
                (a->is_negated || a->is_inverted ? ISA_LEA_NEGATIVE_A : 0) |
                (b->is_negated || b->is_inverted ? ISA_LEA_NEGATIVE_B : 0) |
                (negates_carry ? ISA_LEA_NEGATIVE_CARRY : 0);
    t->info.op_class = ISA_CLASS_INT_ADD;
    return true;
}

/* p, d, a, b, c, table, q */
static bool op_lop3(Translator *t) {
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), y = tr_row(t, tr_operand(t, 3));
    const IsaOperand z = tr_row(t, tr_operand(t, 4));
    const bool has_predicate = tr_operand(t, 0)->value != SASS_PT;
    if (!has_predicate) {
        step4(t, ISA_DO_LOP3_32, tr_to(t, tr_operand(t, 1)), x, y, z)->sub =
            (uint8_t)tr_operand(t, 5)->value;
        return true;
    }
    bool negated;
    const IsaOperand q = tr_word(t, tr_operand(t, 6), &negated);
    IsaInst *step = tr_step(t, ISA_DO_LOGIC);
    step->operand[0] = tr_to(t, tr_operand(t, 1));
    step->operand[1] = tr_word_to(t, tr_operand(t, 0));
    step->operand[2] = x;
    step->operand[3] = y;
    step->operand[4] = z;
    step->operand[5] = q;
    step->sub = (uint8_t)tr_operand(t, 5)->value;
    step->imm = (tr_mod(t, SASS_MOD_LOGIC_PREDICATE) ? ISA_LOGIC_AND : 0) |
                (negated ? ISA_LOGIC_NEGATED_Q : 0);
    return true;
}

static bool op_shf(Translator *t) {
    const uint8_t type = tr_mod(t, SASS_MOD_SHIFT_TYPE);
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), n = tr_row(t, tr_operand(t, 2));
    const IsaOperand z = tr_row(t, tr_operand(t, 3));
    IsaInst *step = step4(t, ISA_DO_SHIFT, tr_to(t, tr_operand(t, 0)), x, n, z);
    step->sub =
        (uint8_t)((tr_mod(t, SASS_MOD_SHIFT_DIRECTION) ? ISA_SHIFT_RIGHT : 0) |
                  (type == SASS_SHIFT_TYPE_S64 || type == SASS_SHIFT_TYPE_S32 ? ISA_SHIFT_SIGNED
                                                                              : 0) |
                  (type == SASS_SHIFT_TYPE_S64 || type == SASS_SHIFT_TYPE_U64 ? ISA_SHIFT_64 : 0) |
                  (tr_mod(t, SASS_MOD_WRAP) ? ISA_SHIFT_WRAPS : 0) |
                  (tr_mod(t, SASS_MOD_HI) ? ISA_SHIFT_HIGH : 0));
    return true;
}

static bool op_prmt(Translator *t) {
    const uint8_t which = tr_mod(t, SASS_MOD_BYTE_MODE);
    if (which > 6) return tr_refuse(t, "this mode");
    /* the selector is the second source, as prmt's third is */
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), selector = tr_row(t, tr_operand(t, 2));
    const IsaOperand y = tr_row(t, tr_operand(t, 3));
    step4(t, which ? ISA_DO_PRMT_MODE : ISA_DO_PRMT_INDEX, tr_to(t, tr_operand(t, 0)), x, y,
          selector)
        ->sub = which ? (uint8_t)(which - 1) : 0;
    return true;
}

/* d, a, b or d, a: handlers with the same operands in the same order. */
typedef struct Plain {
    uint16_t op;
    IsaHandler handler, is_signed; /* of unsigned and signed operands */
    uint8_t sources;
    uint8_t op_class;
} Plain;
static const Plain plain[] = {
    {SASS_OP_IABS, ISA_DO_ABS_S32, ISA_DO_ABS_S32, 1, ISA_CLASS_OTHER},
    {SASS_OP_SGXT, ISA_DO_SZEXT_U32, ISA_DO_SZEXT_S32, 2, ISA_CLASS_OTHER},
    {SASS_OP_USGXT, ISA_DO_SZEXT_U32, ISA_DO_SZEXT_S32, 2, ISA_CLASS_OTHER},
    {SASS_OP_BMSK, ISA_DO_BMSK, ISA_DO_BMSK, 2, ISA_CLASS_OTHER},
    {SASS_OP_UBMSK, ISA_DO_BMSK, ISA_DO_BMSK, 2, ISA_CLASS_OTHER},
    {SASS_OP_BREV, ISA_DO_BREV_32, ISA_DO_BREV_32, 1, ISA_CLASS_BITS},
    {SASS_OP_UBREV, ISA_DO_BREV_32, ISA_DO_BREV_32, 1, ISA_CLASS_BITS},
    {SASS_OP_POPC, ISA_DO_POPC_32, ISA_DO_POPC_32, 1, ISA_CLASS_BITS},
    {SASS_OP_UPOPC, ISA_DO_POPC_32, ISA_DO_POPC_32, 1, ISA_CLASS_BITS},
};

/* ~a into scratch where the operand says so. */
static IsaOperand inverted(Translator *t, const SassOperand *operand) {
    const IsaOperand row = tr_row(t, operand);
    if (!operand->is_inverted && !operand->is_negated) return row;
    const IsaOperand to = tr_scratch(t);
    step2(t, ISA_DO_NOT_32, to, row);
    return to;
}

static bool op_plain(Translator *t) {
    const Plain *row = plain;
    while (row->op != t->sass->op)
        row++;
    IsaOperand source[2] = {0};
    for (int i = 0; i < row->sources; ++i)
        source[i] = inverted(t, tr_operand(t, 1 + i));
    IsaInst *step = step3(t, tr_mod(t, SASS_MOD_SIGNED) ? row->is_signed : row->handler,
                          tr_to(t, tr_operand(t, 0)), source[0], source[1]);
    step->sub = tr_mod(t, SASS_MOD_WRAP);
    t->info.op_class = row->op_class;
    return true;
}

/* d, p, a */
static bool op_flo(Translator *t) {
    const IsaOperand x = inverted(t, tr_operand(t, 2));
    if (tr_operand(t, 1)->value != SASS_PT) return tr_refuse(t, "a predicate as result");
    step2(t, tr_mod(t, SASS_MOD_FLO_SIGNED) ? ISA_DO_BFIND_S32 : ISA_DO_BFIND_U32,
          tr_to(t, tr_operand(t, 0)), x)
        ->sub = tr_mod(t, SASS_MOD_SH);
    t->info.op_class = ISA_CLASS_BITS;
    return true;
}

static bool op_idp(Translator *t) {
    const uint8_t kind = tr_mod(t, SASS_MOD_DOT_KIND), of_a = tr_mod(t, SASS_MOD_DOT_A);
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), y = tr_row(t, tr_operand(t, 2));
    const IsaOperand z = tr_row(t, tr_operand(t, 3));
    IsaInst *step = step4(t, kind == SASS_DOT_KIND_B4A ? ISA_DO_DP4A : ISA_DO_DP2A,
                          tr_to(t, tr_operand(t, 0)), x, y, z);
    step->sub = (uint8_t)((of_a & 1) | (tr_mod(t, SASS_MOD_DOT_B) ? 2 : 0) |
                          (kind == SASS_DOT_KIND_B2A_HI ? 4 : 0));
    t->info.op_class = ISA_CLASS_INT_MAD;
    return true;
}

/* ---- Selection ---- */

/* d = p ? a : b */
static void select_row(Translator *t, IsaOperand d, IsaOperand a, IsaOperand b, IsaOperand word,
                       bool negated) {
    step4(t, ISA_DO_SELP_32, d, negated ? b : a, negated ? a : b, word);
}

static bool op_sel(Translator *t) {
    bool negated;
    const bool is_float = t->sass->op == SASS_OP_FSEL;
    const IsaOperand x = is_float ? tr_float(t, tr_operand(t, 1)) : tr_row(t, tr_operand(t, 1));
    const IsaOperand y = is_float ? tr_float(t, tr_operand(t, 2)) : tr_row(t, tr_operand(t, 2));
    const IsaOperand word = tr_word(t, tr_operand(t, 3), &negated);
    select_row(t, tr_to(t, tr_operand(t, 0)), x, y, word, negated);
    return true;
}

/* d, a, b, p with a at operand `at`: the minimum where p is true, else the maximum */
static bool minmax(Translator *t, IsaHandler least, IsaHandler greatest, uint8_t sub, bool is_float,
                   int at) {
    bool negated;
    const SassOperand *a = tr_operand(t, at), *b = tr_operand(t, at + 1);
    const bool has_signs = is_float && !(sub & ISA_MOD_XORSIGN); /* the handler takes magnitudes */
    const IsaOperand x = has_signs ? tr_float(t, a) : tr_row(t, a);
    const IsaOperand y = has_signs ? tr_float(t, b) : tr_row(t, b);
    const SassOperand *chooser = tr_operand(t, at + 2);
    const IsaOperand word = tr_word(t, chooser, &negated);
    if (word == ISA_PRED_TRUE) {
        step3(t, negated ? greatest : least, tr_to(t, tr_operand(t, 0)), x, y)->sub = sub;
        return true;
    }
    const IsaOperand low = tr_scratch(t), high = tr_scratch(t);
    step3(t, least, low, x, y)->sub = sub;
    step3(t, greatest, high, x, y)->sub = sub;
    select_row(t, tr_to(t, tr_operand(t, 0)), low, high, word, negated);
    return true;
}

static bool op_imnmx(Translator *t) {
    const bool is_signed = tr_mod(t, SASS_MOD_SIGNED);
    t->info.op_class = ISA_CLASS_INT_MINMAX;
    return minmax(t, is_signed ? ISA_DO_MIN_S32 : ISA_DO_MIN_U32,
                  is_signed ? ISA_DO_MAX_S32 : ISA_DO_MAX_U32, 0, false, 1);
}

static bool op_fmnmx(Translator *t) {
    const uint8_t sub = float_sub(t);
    t->info.op_class = ISA_CLASS_FP32_MINMAX;
    return minmax(t, sub ? ISA_DO_MIN_F32_MOD : ISA_DO_MIN_F32,
                  sub ? ISA_DO_MAX_F32_MOD : ISA_DO_MAX_F32, sub, true, 1);
}

/* What VIMNMX and its like compare: handlers of minimum and maximum. */
static bool vector_minmax(const Translator *t, IsaHandler *least, IsaHandler *greatest) {
    static const struct {
        uint8_t vector;
        IsaHandler least, greatest, least_relu, greatest_relu;
    } rows[] = {
        {SASS_VECTOR_S32, ISA_DO_MIN_S32, ISA_DO_MAX_S32, ISA_DO_MIN_RELU_S32, ISA_DO_MAX_RELU_S32},
        {SASS_VECTOR_U32, ISA_DO_MIN_U32, ISA_DO_MAX_U32, ISA_DO_NONE, ISA_DO_NONE},
        {SASS_VECTOR_S16X2, ISA_DO_MIN_S16X2, ISA_DO_MAX_S16X2, ISA_DO_MIN_RELU_S16X2,
         ISA_DO_MAX_RELU_S16X2},
        {SASS_VECTOR_U16X2, ISA_DO_MIN_U16X2, ISA_DO_MAX_U16X2, ISA_DO_NONE, ISA_DO_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (rows[i].vector != tr_mod(t, SASS_MOD_VECTOR)) continue;
        const bool is_relu = tr_mod(t, SASS_MOD_RELU);
        *least = is_relu ? rows[i].least_relu : rows[i].least;
        *greatest = is_relu ? rows[i].greatest_relu : rows[i].greatest;
        return *least != ISA_DO_NONE;
    }
    return false;
}

/* d, p, q, a, b, r */
static bool op_vimnmx(Translator *t) {
    IsaHandler least, greatest;
    if (tr_operand(t, 1)->value != SASS_PT || tr_operand(t, 2)->value != SASS_PT)
        return tr_refuse(t, "a predicate as result");
    if (!vector_minmax(t, &least, &greatest)) return tr_refuse(t, "this type");
    t->info.op_class = ISA_CLASS_INT_MINMAX;
    return minmax(t, least, greatest, 0, false, 3);
}

/* d, a, b, c, q: a + b (VIADDMNMX), or the minimum or maximum of a and b (VIMNMX3), then that with
 * c */
static bool op_vector3(Translator *t) {
    bool negated;
    IsaHandler least, greatest;
    const SassOperand *b = tr_operand(t, 2);
    if (!vector_minmax(t, &least, &greatest)) return tr_refuse(t, "this type");
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), y = tr_row(t, b);
    const IsaOperand z = tr_row(t, tr_operand(t, 3)), first = tr_scratch(t);
    if (tr_word(t, tr_operand(t, 4), &negated) != ISA_PRED_TRUE)
        return tr_refuse(t, "a choice by predicate");
    const IsaHandler chosen = negated ? greatest : least;
    const bool is_pair = tr_mod(t, SASS_MOD_VECTOR) >= SASS_VECTOR_U16X2;
    if (t->sass->op == SASS_OP_VIMNMX3) step3(t, chosen, first, x, y);
    else if (is_pair && b->is_negated) return tr_refuse(t, "a difference of pairs");
    else
        step3(t,
              is_pair         ? ISA_DO_ADD_16X2
              : b->is_negated ? ISA_DO_SUB_32
                              : ISA_DO_ADD_32,
              first, x, y);
    step3(t, chosen, tr_to(t, tr_operand(t, 0)), first, z);
    t->info.op_class = ISA_CLASS_INT_MINMAX;
    return true;
}

/* d, a, b */
static bool op_viadd(Translator *t) {
    const SassOperand *a = tr_operand(t, 1), *b = tr_operand(t, 2);
    const bool is_pair = tr_mod(t, SASS_MOD_PAIR16);
    if (a->is_negated || (is_pair && b->is_negated)) return tr_refuse(t, "this form");
    const IsaOperand x = tr_row(t, a), y = tr_row(t, b);
    step3(t,
          is_pair         ? ISA_DO_ADD_16X2
          : b->is_negated ? ISA_DO_SUB_32
                          : ISA_DO_ADD_32,
          tr_to(t, tr_operand(t, 0)), x, y);
    t->info.op_class = ISA_CLASS_INT_ADD;
    return true;
}

/* ---- Comparisons ---- */

/* One of ours: a cmp b, or b cmp a, or neither. */
typedef struct Relation {
    IsaHandler handler;
    bool is_swapped, is_negated;
} Relation;

static Relation integer_relation(uint8_t compare, bool is_signed) {
    const IsaHandler less = is_signed ? ISA_DO_SETP_LT_S32 : ISA_DO_SETP_LT_U32;
    switch (compare) {
    case SASS_COMPARE_LT: return (Relation){less, false, false};
    case SASS_COMPARE_GT: return (Relation){less, true, false};
    case SASS_COMPARE_LE: return (Relation){less, true, true};
    case SASS_COMPARE_GE: return (Relation){less, false, true};
    case SASS_COMPARE_NE: return (Relation){ISA_DO_SETP_EQ_32, false, true};
    default: return (Relation){ISA_DO_SETP_EQ_32, false, false};
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

/* p = truth op c, q = !truth op c; operands p, q first, c at `at`. */
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

/* A truth value in a word, combined with the predicate at `at` as the instruction says. */
static void put_truth(Translator *t, IsaOperand truth, int at) {
    bool negated;
    const IsaOperand c = tr_word(t, tr_operand(t, at), &negated);
    /* tables of b, the truth, and c: of p and, with the truth negated, of q */
    static const uint8_t of_p[] = {0x88, 0xEE, 0x66, 0x88}, of_q[] = {0x22, 0xBB, 0x99, 0x22};
    const uint8_t how = tr_mod(t, SASS_MOD_BOOL) & 3;
    IsaInst *step = tr_step(t, ISA_DO_LOGIC_PREDICATES);
    step->operand[2] = ISA_PRED_FALSE;
    step->operand[3] = truth;
    step->operand[4] = c;
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[1] = tr_word_to(t, tr_operand(t, 1));
    step->sub = of_p[how];
    step->imm = (int64_t)(bit_of(negated, 2) | (uint32_t)of_q[how] << 8);
}

/* .EX: the upper words decide, and the comparison of the lower ones where they are equal. */
static bool compare_extended(Translator *t, IsaOperand a, IsaOperand b) {
    const uint8_t compare = tr_mod(t, SASS_MOD_COMPARE);
    const bool is_signed = tr_mod(t, SASS_MOD_SIGNED);
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
    step->imm = (int64_t)bit_of(negated, 2);
    put_truth(t, truth, 4);
    return true;
}

/* p, q, a, b, c, carry */
static bool op_isetp(Translator *t) {
    const uint8_t compare = tr_mod(t, SASS_MOD_COMPARE);
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), y = tr_row(t, tr_operand(t, 3));
    if (compare == SASS_COMPARE_F || compare == SASS_COMPARE_T) {
        put_truth(t, compare == SASS_COMPARE_T ? ISA_PRED_TRUE : ISA_PRED_FALSE, 4);
        return true;
    }
    if (tr_mod(t, SASS_MOD_EX)) return compare_extended(t, x, y);
    put_compare(t, integer_relation(compare, tr_mod(t, SASS_MOD_SIGNED)), x, y, 4);
    return true;
}

static const IsaHandler compare_f32[] = {ISA_DO_SETP_EQ_F32, ISA_DO_SETP_NE_F32, ISA_DO_SETP_LT_F32,
                                         ISA_DO_SETP_LE_F32, ISA_DO_SETP_NUM_F32};
static const IsaHandler compare_f32_ftz[] = {ISA_DO_SETP_EQ_FTZ_F32, ISA_DO_SETP_NE_FTZ_F32,
                                             ISA_DO_SETP_LT_FTZ_F32, ISA_DO_SETP_LE_FTZ_F32,
                                             ISA_DO_SETP_NUM_F32};
static const IsaHandler compare_f64[] = {ISA_DO_SETP_EQ_F64, ISA_DO_SETP_NE_F64, ISA_DO_SETP_LT_F64,
                                         ISA_DO_SETP_LE_F64, ISA_DO_SETP_NUM_F64};

static bool op_fsetp(Translator *t) {
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

static bool op_dsetp(Translator *t) {
    const uint8_t compare = tr_mod(t, SASS_MOD_DOUBLE_COMPARE);
    const IsaOperand x = tr_double(t, tr_operand(t, 2)), y = tr_double(t, tr_operand(t, 3));
    t->info.op_class = ISA_CLASS_FP64_ADD;
    if (compare == SASS_DOUBLE_COMPARE_MIN || compare == SASS_DOUBLE_COMPARE_MAX) {
        bool negated;
        if (tr_word(t, tr_operand(t, 4), &negated) != ISA_PRED_TRUE || negated)
            return tr_refuse(t, "a minimum combined with a predicate");
        IsaInst *step = step4(t, ISA_DO_SELECT_F64, tr_word_to(t, tr_operand(t, 0)),
                              tr_word_to(t, tr_operand(t, 1)), x, y);
        step->imm = compare == SASS_DOUBLE_COMPARE_MAX;
        return true;
    }
    put_compare(t, float_relation(compare, compare_f64), x, y, 4);
    return true;
}

/* d, a, b, c: a mask or 1.0 */
static bool op_fset(Translator *t) {
    bool negated;
    const uint8_t compare = tr_mod(t, SASS_MOD_FLOAT_COMPARE);
    const IsaOperand x = tr_float(t, tr_operand(t, 1)), y = tr_float(t, tr_operand(t, 2));
    const IsaOperand c = tr_word(t, tr_operand(t, 3), &negated);
    if (compare == SASS_FLOAT_COMPARE_F || compare == SASS_FLOAT_COMPARE_T)
        return tr_refuse(t, "a comparison that is always the same");
    const Relation relation =
        float_relation(compare, tr_mod(t, SASS_MOD_FTZ) ? compare_f32_ftz : compare_f32);
    IsaInst *step = tr_step(t, (IsaHandler)(relation.handler + 1)); /* SET_ is behind SETP_ */
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

/* p, q, a, b, c, table of p, table of q */
static bool op_plop3(Translator *t) {
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
    step->imm = (int64_t)(bit_of(negated[0], 0) | bit_of(negated[1], 1) | bit_of(negated[2], 2) |
                          (uint32_t)(tr_operand(t, 6)->value & 255) << 8);
    return true;
}

/* P2R: d, predicates, a, mask; R2P: predicates, a, mask */
static bool op_p2r(Translator *t) {
    const bool is_uniform = t->sass->op == SASS_OP_UP2UR;
    const IsaOperand x = tr_row(t, tr_operand(t, 2));
    const SassOperand *mask = tr_operand(t, 3);
    if (mask->kind != SASS_IMM) return tr_refuse(t, "a mask in a register");
    IsaInst *step = step3(t, ISA_DO_PREDICATES_TO_ROW, tr_to(t, tr_operand(t, 0)),
                          is_uniform ? TR_UP0 : TR_P0, x);
    step->imm = mask->value;
    step->sub = (uint8_t)(8 * tr_mod(t, SASS_MOD_BYTE));
    return true;
}
static bool op_r2p(Translator *t) {
    const bool is_uniform = t->sass->op == SASS_OP_UR2UP;
    const IsaOperand x = tr_row(t, tr_operand(t, 1));
    const SassOperand *mask = tr_operand(t, 2);
    if (mask->kind != SASS_IMM) return tr_refuse(t, "a mask in a register");
    const uint8_t suffix = tr_operand(t, 1)->suffix;
    const uint8_t byte = suffix == SASS_SUFFIX_B1   ? 1
                         : suffix == SASS_SUFFIX_B2 ? 2
                         : suffix == SASS_SUFFIX_B3 ? 3
                                                    : tr_mod(t, SASS_MOD_BYTE);
    IsaInst *step = step3(t, ISA_DO_ROW_TO_PREDICATES, 0, is_uniform ? TR_UP0 : TR_P0, x);
    step->imm = mask->value;
    step->sub = (uint8_t)(8 * byte);
    return true;
}

/* ---- Floating point ---- */

/* A factor times the power of two that FMUL's product is scaled by. */
static IsaOperand scaled(Translator *t, IsaOperand row) {
    static const uint32_t powers[] = {0x3f800000, 0x3e000000, 0x3e800000, 0x3f000000,
                                      0x3f800000, 0x40000000, 0x40800000, 0x41000000};
    const uint8_t scale = tr_mod(t, SASS_MOD_SCALE) & 7;
    if (t->sass->op != SASS_OP_FMUL || scale == 0 || scale == SASS_SCALE_NONE) return row;
    const IsaOperand power = tr_constant(t, powers[scale]), to = tr_scratch(t);
    step3(t, ISA_DO_MUL_F32, to, row, power);
    return to;
}

static bool op_float(Translator *t) {
    const uint16_t op = t->sass->op;
    const uint8_t sub = float_sub(t);
    if (tr_mod(t, SASS_MOD_FMZ)) return tr_refuse(t, ".FMZ");
    const IsaOperand x = tr_float(t, tr_operand(t, 1));
    const IsaOperand y = scaled(t, tr_float(t, tr_operand(t, 2)));
    const IsaOperand z = op == SASS_OP_FFMA ? tr_float(t, tr_operand(t, 3)) : 0;
    const IsaHandler handler = op == SASS_OP_FADD   ? ISA_DO_ADD_F32
                               : op == SASS_OP_FMUL ? ISA_DO_MUL_F32
                                                    : ISA_DO_FMA_F32;
    step4(t, float_handler(handler, sub), tr_to(t, tr_operand(t, 0)), x, y, z)->sub = sub;
    t->info.op_class = (uint8_t)(op == SASS_OP_FADD   ? ISA_CLASS_FP32_ADD
                                 : op == SASS_OP_FMUL ? ISA_CLASS_FP32_MUL
                                                      : ISA_CLASS_FP32_MAD);
    t->info.element_bytes = 4;
    return true;
}

static bool op_double(Translator *t) {
    const uint16_t op = t->sass->op;
    const uint8_t sub = float_sub(t) & ISA_MOD_ROUND;
    const IsaOperand x = tr_double(t, tr_operand(t, 1)), y = tr_double(t, tr_operand(t, 2));
    const IsaOperand z = op == SASS_OP_DFMA ? tr_double(t, tr_operand(t, 3)) : 0;
    const IsaHandler plainly = op == SASS_OP_DADD   ? ISA_DO_ADD_F64
                               : op == SASS_OP_DMUL ? ISA_DO_MUL_F64
                                                    : ISA_DO_FMA_F64;
    const IsaHandler directed = op == SASS_OP_DADD   ? ISA_DO_ADD_F64_DIR
                                : op == SASS_OP_DMUL ? ISA_DO_MUL_F64_DIR
                                                     : ISA_DO_FMA_F64_DIR;
    const IsaOperand to = tr_scratch_pair(t);
    step4(t, sub ? directed : plainly, to, x, y, z)->sub = sub;
    tr_split_to(t, tr_operand(t, 0), to);
    t->info.op_class = (uint8_t)(op == SASS_OP_DADD   ? ISA_CLASS_FP64_ADD
                                 : op == SASS_OP_DMUL ? ISA_CLASS_FP64_MUL
                                                      : ISA_CLASS_FP64_MAD);
    t->info.element_bytes = 8;
    return true;
}

/* Two halves, with the sign and the choice of halves that the operand says. */
static IsaOperand halves(Translator *t, const SassOperand *operand) {
    const IsaOperand row = tr_row(t, operand);
    const uint8_t which = operand->suffix == SASS_SUFFIX_H0_H0   ? ISA_HALVES_LOW
                          : operand->suffix == SASS_SUFFIX_H1_H1 ? ISA_HALVES_HIGH
                                                                 : ISA_HALVES_BOTH;
    const int64_t signs = (operand->is_negated ? ISA_SIGN_NEGATIVE : 0) |
                          (operand->is_absolute ? ISA_SIGN_ABSOLUTE : 0);
    if (!signs && !which) return row;
    const IsaOperand to = tr_scratch(t);
    IsaInst *step = step2(t, ISA_DO_SIGN_F16X2, to, row);
    step->sub = which;
    step->imm = signs;
    return to;
}

IsaOperand tr_halves(Translator *t, const SassOperand *operand) { return halves(t, operand); }

/* HADD2.F32, HMUL2.F32: the sum or the product of two halves, rounded to a half, as a float: ptxas
 * makes it of add.f16 (mul.f16) and cvt.f32.f16. */
static bool halves_as_float(Translator *t, IsaHandler handler) {
    IsaOperand source[2];
    if (tr_mod(t, SASS_MOD_BF16)) return tr_refuse(t, "bfloat16 as float");
    for (int i = 0; i < 2; ++i) {
        if (tr_operand(t, 1 + i)->suffix == SASS_SUFFIX_HALF_F32)
            return tr_refuse(t, "a float operand");
        source[i] = halves(t, tr_operand(t, 1 + i));
    }
    const IsaOperand both = tr_scratch(t), low = tr_scratch(t);
    step3(t, handler, both, source[0], source[1])->sub = float_sub(t);
    step2(t, ISA_DO_CVT_U16_32, low, both);
    step2(t, ISA_DO_CVT_F32_F16, tr_to(t, tr_operand(t, 0)), low);
    return true;
}

static bool op_half(Translator *t) {
    const uint16_t op = t->sass->op;
    const bool is_bf16 = tr_mod(t, SASS_MOD_BF16);
    const int sources = op == SASS_OP_HFMA2 ? 3 : 2;
    if (tr_mod(t, SASS_MOD_F32_OUT) && op == SASS_OP_HADD2)
        return halves_as_float(t, ISA_DO_ADD_F16X2);
    if (tr_mod(t, SASS_MOD_F32_OUT) && op == SASS_OP_HMUL2)
        return halves_as_float(t, ISA_DO_MUL_F16X2);
    if (tr_mod(t, SASS_MOD_F32_OUT) || tr_mod(t, SASS_MOD_FMZ))
        return tr_refuse(t, "halves computed as floats");
    IsaOperand source[3] = {0};
    for (int i = 0; i < sources; ++i) {
        if (tr_operand(t, 1 + i)->suffix == SASS_SUFFIX_HALF_F32)
            return tr_refuse(t, "a float operand");
        source[i] = halves(t, tr_operand(t, 1 + i));
    }
    static const struct {
        uint16_t op;
        IsaHandler f16x2, bf16x2;
        uint8_t op_class;
    } rows[] = {{SASS_OP_HADD2, ISA_DO_ADD_F16X2, ISA_DO_ADD_BF16X2, ISA_CLASS_FP16_ADD},
                {SASS_OP_HMUL2, ISA_DO_MUL_F16X2, ISA_DO_MUL_BF16X2, ISA_CLASS_FP16_MUL},
                {SASS_OP_HFMA2, ISA_DO_FMA_F16X2, ISA_DO_FMA_BF16X2, ISA_CLASS_FP16_MAD}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (rows[i].op != op) continue;
        step4(t, is_bf16 ? rows[i].bf16x2 : rows[i].f16x2, tr_to(t, tr_operand(t, 0)), source[0],
              source[1], source[2])
            ->sub = float_sub(t);
        t->info.op_class = rows[i].op_class;
    }
    return true;
}

static bool op_hmnmx2(Translator *t) {
    bool negated;
    const bool is_bf16 = tr_mod(t, SASS_MOD_BF16);
    const bool is_xor = tr_mod(t, SASS_MOD_XORSIGN); /* the handler takes magnitudes itself */
    SassOperand a = *tr_operand(t, 1), b = *tr_operand(t, 2);
    if (is_xor) a.is_absolute = b.is_absolute = false;
    const IsaOperand x = halves(t, &a), y = halves(t, &b);
    if (tr_word(t, tr_operand(t, 3), &negated) != ISA_PRED_TRUE)
        return tr_refuse(t, "a choice by predicate");
    const IsaHandler least = is_bf16 ? ISA_DO_MIN_BF16X2 : ISA_DO_MIN_F16X2;
    const IsaHandler greatest = is_bf16 ? ISA_DO_MAX_BF16X2 : ISA_DO_MAX_F16X2;
    step3(t, negated ? greatest : least, tr_to(t, tr_operand(t, 0)), x, y)->sub = float_sub(t);
    t->info.op_class = ISA_CLASS_FP16_MINMAX;
    return true;
}

/* ---- The table ---- */

static TranslateOp *const table[SASS_OPS] = {
    [SASS_OP_MOV] = op_mov_masked, [SASS_OP_UMOV] = op_mov,        [SASS_OP_IADD3] = op_iadd3,
    [SASS_OP_UIADD3] = op_iadd3,   [SASS_OP_IMAD] = op_imad,       [SASS_OP_UIMAD] = op_imad,
    [SASS_OP_LEA] = op_lea,        [SASS_OP_ULEA] = op_lea,        [SASS_OP_LOP3] = op_lop3,
    [SASS_OP_ULOP3] = op_lop3,     [SASS_OP_SHF] = op_shf,         [SASS_OP_USHF] = op_shf,
    [SASS_OP_PRMT] = op_prmt,      [SASS_OP_UPRMT] = op_prmt,      [SASS_OP_IABS] = op_plain,
    [SASS_OP_SGXT] = op_plain,     [SASS_OP_USGXT] = op_plain,     [SASS_OP_BMSK] = op_plain,
    [SASS_OP_UBMSK] = op_plain,    [SASS_OP_BREV] = op_plain,      [SASS_OP_UBREV] = op_plain,
    [SASS_OP_POPC] = op_plain,     [SASS_OP_UPOPC] = op_plain,     [SASS_OP_FLO] = op_flo,
    [SASS_OP_UFLO] = op_flo,       [SASS_OP_IDP] = op_idp,         [SASS_OP_SEL] = op_sel,
    [SASS_OP_USEL] = op_sel,       [SASS_OP_FSEL] = op_sel,        [SASS_OP_IMNMX] = op_imnmx,
    [SASS_OP_VIMNMX] = op_vimnmx,  [SASS_OP_VIMNMX3] = op_vector3, [SASS_OP_VIADDMNMX] = op_vector3,
    [SASS_OP_VIADD] = op_viadd,    [SASS_OP_FMNMX] = op_fmnmx,     [SASS_OP_ISETP] = op_isetp,
    [SASS_OP_UISETP] = op_isetp,   [SASS_OP_FSETP] = op_fsetp,     [SASS_OP_DSETP] = op_dsetp,
    [SASS_OP_FSET] = op_fset,      [SASS_OP_PLOP3] = op_plop3,     [SASS_OP_UPLOP3] = op_plop3,
    [SASS_OP_P2R] = op_p2r,        [SASS_OP_UP2UR] = op_p2r,       [SASS_OP_R2P] = op_r2p,
    [SASS_OP_UR2UP] = op_r2p,      [SASS_OP_FADD] = op_float,      [SASS_OP_FMUL] = op_float,
    [SASS_OP_FFMA] = op_float,     [SASS_OP_DADD] = op_double,     [SASS_OP_DMUL] = op_double,
    [SASS_OP_DFMA] = op_double,    [SASS_OP_HADD2] = op_half,      [SASS_OP_HMUL2] = op_half,
    [SASS_OP_HFMA2] = op_half,     [SASS_OP_HMNMX2] = op_hmnmx2,
};

TranslateOp *tr_arithmetic(uint16_t op) { return table[op]; }
