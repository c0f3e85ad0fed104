/* Integers, bits, moves, selection and minima, for both data paths. A uniform operation is executed
 * like its vector counterpart, by all lanes, on rows that hold the same value in every lane. */
#include "isa/sass/translate.h"

static bool is_zero(const SassOperand *operand) {
    return (operand->kind == SASS_REG && operand->value == SASS_RZ) ||
           (operand->kind == SASS_UREG && operand->value == SASS_URZ) ||
           (operand->kind == SASS_IMM && operand->value == 0);
}

/* ---- Arithmetic and bits ---- */

/* One word, or two. A number of 64 bits has a form of its own. */
bool tr_op_mov(Translator *t) {
    enum { WIDE_NUMBER = 2 }; /* value of bits 9 to 11 */
    const SassOperand *from = tr_operand(t, 1);
    const uint32_t words = tr_mod(t, SASS_MOD_WIDE64) ? 2 : 1;
    if (words == 2 && from->kind == SASS_IMM && (t->sass->bits[0] >> 9 & 7) != WIDE_NUMBER)
        return tr_refuse(t, "a number of 32 bits in a move of 64");
    for (uint32_t i = 0; i < words; ++i)
        tr_step2(t, ISA_DO_MOV_32, tr_to_register(t, tr_operand(t, 0), i), tr_word_row(t, from, i));
    return true;
}

/* UMOV has no byte mask; MOV's must have all bytes. */
bool tr_op_mov_masked(Translator *t) {
    if (t->sass->operand_count > 2 && tr_operand(t, 2)->value != 15)
        return tr_refuse(t, "a move of some bytes");
    return tr_op_mov(t);
}

/* A joined pair of registers, or a number whose sign fills the upper word. */
IsaOperand tr_wide_term(Translator *t, const SassOperand *operand) {
    if (operand->kind != SASS_IMM) return tr_joined(t, operand);
    IsaInst *step = tr_step(t, ISA_DO_JOIN);
    step->operand[1] = tr_constant(t, (uint32_t)operand->value);
    step->operand[2] = tr_constant(t, (int32_t)operand->value < 0 ? UINT32_MAX : 0);
    step->operand[3] = ISA_SINK;
    return step->operand[0] = tr_scratch_pair(t);
}

/* d, p, q, a, b, c of pairs of registers */
static bool add_wide(Translator *t) {
    if (tr_operand(t, 1)->value != SASS_PT || tr_operand(t, 2)->value != SASS_PT ||
        tr_mod(t, SASS_MOD_X))
        return tr_refuse(t, "carries of a sum of 64 bits");
    static const SassOperand zero = {.kind = SASS_IMM};
    IsaOperand sum = tr_wide_term(t, &zero);
    for (int i = 3; i < 6; ++i) {
        const SassOperand *term = tr_operand(t, i);
        if (is_zero(term)) continue;
        const IsaOperand before = sum, value = tr_wide_term(t, term);
        sum = tr_scratch_pair(t);
        tr_step3(t, term->is_negated ? ISA_DO_SUB_64 : ISA_DO_ADD_64, sum, before, value);
    }
    tr_split_to(t, tr_operand(t, 0), sum);
    return true;
}

/* One word of a sum of two pairs. carry_in: ISA_PRED_FALSE or a word; not negated. */
static void add_word(Translator *t, uint32_t word, bool is_extended, IsaOperand carry_in,
                     bool negates_carry, IsaOperand carry_out) {
    const SassOperand *a = tr_operand(t, 2), *b = tr_operand(t, 3);
    const IsaOperand x = tr_word_row(t, a, word), y = tr_word_row(t, b, word);
    IsaInst *step = tr_step(t, ISA_DO_SUM3);
    step->operand[0] = tr_to_register(t, tr_operand(t, 0), word);
    step->operand[1] = carry_out;
    step->operand[2] = TR_P_SINK;
    step->operand[3] = x;
    step->operand[4] = y;
    step->operand[5] = tr_constant(t, 0);
    step->operand[6] = carry_in;
    step->operand[7] = ISA_PRED_FALSE;
    step->imm = (int64_t)(tr_bit(a->is_negated || a->is_inverted, 0) |
                          tr_bit(b->is_negated || b->is_inverted, 1) | tr_bit(negates_carry, 3));
    step->sub = is_extended ? ISA_SUM_EXTENDED : 0;
}

/* d, p, a, b, carry: pairs of registers */
bool tr_op_iadd(Translator *t) {
    const SassOperand *a = tr_operand(t, 2), *b = tr_operand(t, 3);
    const bool is_extended = tr_mod(t, SASS_MOD_X);
    bool negates_carry = false;
    t->info.op_class = ISA_CLASS_INT_ADD;
    if (!is_extended && tr_operand(t, 1)->value == SASS_PT && !a->is_negated) {
        const IsaOperand x = tr_wide_term(t, a), y = tr_wide_term(t, b), sum = tr_scratch_pair(t);
        tr_step3(t, b->is_negated ? ISA_DO_SUB_64 : ISA_DO_ADD_64, sum, x, y);
        tr_split_to(t, tr_operand(t, 0), sum);
        return true;
    }
    if (!is_extended && a->is_negated && b->is_negated) return tr_refuse(t, "two signs");
    const IsaOperand carry = tr_scratch_word(t);
    const IsaOperand carry_in =
        is_extended ? tr_word(t, tr_operand(t, 4), &negates_carry) : ISA_PRED_FALSE;
    add_word(t, 0, is_extended, carry_in, negates_carry, carry);
    add_word(t, 1, true, carry, false, tr_word_to(t, tr_operand(t, 1)));
    return true;
}

/* d, p, q, a, b, c, carry, carry */
bool tr_op_iadd3(Translator *t) {
    if (tr_mod(t, SASS_MOD_WIDE64)) return add_wide(t);
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
        tr_step3(t, ISA_DO_ADD_32, tr_to(t, tr_operand(t, 0)), x, y);
        return true;
    }
    if (!has_carry && is_zero(c) && b->is_negated && !a->is_negated && !c->is_negated) {
        const IsaOperand x = tr_row(t, a), y = tr_row(t, b);
        tr_step3(t, ISA_DO_SUB_32, tr_to(t, tr_operand(t, 0)), x, y);
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
    step->imm = (int64_t)(tr_bit(a->is_negated || a->is_inverted, 0) |
                          tr_bit(b->is_negated || b->is_inverted, 1) |
                          tr_bit(c->is_negated || c->is_inverted, 2) | tr_bit(first, 3) |
                          tr_bit(second, 4));
    step->sub = is_extended ? ISA_SUM_EXTENDED : has_carry ? 0 : ISA_SUM_ALONE;
    return true;
}

/* d, p, a, b, c, carry: low, wide and high products */
bool tr_op_imad(Translator *t) {
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
            tr_step2(t, ISA_DO_MOV_32, tr_to(t, tr_operand(t, 0)), z);
            return true;
        }
        const IsaOperand x = tr_row(t, a), y = tr_row(t, b), z = tr_row(t, c);
        const bool is_plain = !negates_b && !negates_c;
        IsaInst *step = tr_step4(t, is_plain ? ISA_DO_MAD_LO_32 : ISA_DO_PRODUCT_32,
                                 tr_to(t, tr_operand(t, 0)), x, y, z);
        step->imm = (int64_t)(tr_bit(negates_b, 1) | tr_bit(negates_c, 2));
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
    step->imm = (int64_t)(tr_bit(negates_b, 1) | tr_bit(negates_c, 2) | tr_bit(negates_carry, 3));
    step->sub =
        (uint8_t)((tr_mod(t, SASS_MOD_SIGNED) ? ISA_PRODUCT_SIGNED : 0) |
                  (is_extended ? ISA_PRODUCT_EXTENDED : 0) |
                  (has_carry || is_extended || negates_b || negates_c ? 0 : ISA_PRODUCT_ALONE));
    return true;
}

/* d, p, a, b, c, shift, carry */
bool tr_op_lea(Translator *t) {
    const SassOperand *a = tr_operand(t, 2), *b = tr_operand(t, 3), *c = tr_operand(t, 4);
    const bool is_high = tr_mod(t, SASS_MOD_HI), is_extended = tr_mod(t, SASS_MOD_X);
    const bool is_signed = tr_mod(t, SASS_MOD_SX32);
    const uint32_t shift = (uint32_t)tr_operand(t, 5)->value & ISA_LEA_SHIFT;
    const bool has_carry = tr_operand(t, 1)->value != SASS_PT || is_extended;
    const bool has_signs = a->is_negated || a->is_inverted || b->is_negated || b->is_inverted;
    bool negates_carry = false;
    const IsaOperand x = tr_row(t, a), y = tr_row(t, b);
    t->info.op_class = ISA_CLASS_INT_ADD;
    if (!is_high && !has_carry && !has_signs) {
        tr_step4(t, ISA_DO_MAD_LO_32, tr_to(t, tr_operand(t, 0)), x, tr_constant(t, 1u << shift),
                 y);
        return true;
    }
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
    step->imm = shift | (is_high ? ISA_LEA_HIGH : 0) | (is_extended ? ISA_LEA_EXTENDED : 0) |
                (is_signed ? ISA_LEA_SIGN : 0) |
                (a->is_negated || a->is_inverted ? ISA_LEA_NEGATIVE_A : 0) |
                (b->is_negated || b->is_inverted ? ISA_LEA_NEGATIVE_B : 0) |
                (negates_carry ? ISA_LEA_NEGATIVE_CARRY : 0);
    return true;
}

/* p, d, a, b, c, table, q */
bool tr_op_lop3(Translator *t) {
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), y = tr_row(t, tr_operand(t, 3));
    const IsaOperand z = tr_row(t, tr_operand(t, 4));
    const bool has_predicate = tr_operand(t, 0)->value != SASS_PT;
    if (!has_predicate) {
        tr_step4(t, ISA_DO_LOP3_32, tr_to(t, tr_operand(t, 1)), x, y, z)->sub =
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

bool tr_op_shf(Translator *t) {
    const uint8_t type = tr_mod(t, SASS_MOD_SHIFT_TYPE);
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), n = tr_row(t, tr_operand(t, 2));
    const IsaOperand z = tr_row(t, tr_operand(t, 3));
    const bool is_64 = type == SASS_SHIFT_TYPE_S64 || type == SASS_SHIFT_TYPE_U64;
    const bool is_right = tr_mod(t, SASS_MOD_SHIFT_DIRECTION), is_high = tr_mod(t, SASS_MOD_HI);
    if (!is_64 && !tr_mod(t, SASS_MOD_WRAP) && is_right == is_high) { /* of one register */
        const IsaHandler handler = !is_right                     ? ISA_DO_SHL_32
                                   : type == SASS_SHIFT_TYPE_S32 ? ISA_DO_SHR_S32
                                                                 : ISA_DO_SHR_U32;
        tr_step3(t, handler, tr_to(t, tr_operand(t, 0)), is_right ? z : x, n);
        return true;
    }
    IsaInst *step = tr_step4(t, ISA_DO_SHIFT, tr_to(t, tr_operand(t, 0)), x, n, z);
    step->sub =
        (uint8_t)((is_right ? ISA_SHIFT_RIGHT : 0) |
                  (type == SASS_SHIFT_TYPE_S64 || type == SASS_SHIFT_TYPE_S32 ? ISA_SHIFT_SIGNED
                                                                              : 0) |
                  (is_64 ? ISA_SHIFT_64 : 0) | (tr_mod(t, SASS_MOD_WRAP) ? ISA_SHIFT_WRAPS : 0) |
                  (is_high ? ISA_SHIFT_HIGH : 0));
    return true;
}

bool tr_op_prmt(Translator *t) {
    const uint8_t which = tr_mod(t, SASS_MOD_BYTE_MODE);
    if (which > 6) return tr_refuse(t, "this mode");
    /* the selector is the second source, as prmt's third is */
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), selector = tr_row(t, tr_operand(t, 2));
    const IsaOperand y = tr_row(t, tr_operand(t, 3));
    tr_step4(t, which ? ISA_DO_PRMT_MODE : ISA_DO_PRMT_INDEX, tr_to(t, tr_operand(t, 0)), x, y,
             selector)
        ->sub = which ? (uint8_t)(which - 1) : 0;
    return true;
}

/* d, a, b or d, a: handlers whose operands have the same order. */
typedef struct Plain {
    uint16_t op;
    IsaHandler handler, is_signed; /* for unsigned and signed operands */
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

/* Inverts a into scratch if the operand requires it. */
static IsaOperand inverted(Translator *t, const SassOperand *operand) {
    const IsaOperand row = tr_row(t, operand);
    if (!operand->is_inverted && !operand->is_negated) return row;
    const IsaOperand to = tr_scratch(t);
    tr_step2(t, ISA_DO_NOT_32, to, row);
    return to;
}

bool tr_op_plain(Translator *t) {
    const Plain *row = plain;
    while (row->op != t->sass->op)
        row++;
    IsaOperand source[2] = {0};
    for (int i = 0; i < row->sources; ++i)
        source[i] = inverted(t, tr_operand(t, 1 + i));
    IsaInst *step = tr_step3(t, tr_mod(t, SASS_MOD_SIGNED) ? row->is_signed : row->handler,
                             tr_to(t, tr_operand(t, 0)), source[0], source[1]);
    step->sub = tr_mod(t, SASS_MOD_WRAP);
    t->info.op_class = row->op_class;
    return true;
}

/* d, p, a */
bool tr_op_flo(Translator *t) {
    const IsaOperand x = inverted(t, tr_operand(t, 2));
    if (tr_operand(t, 1)->value != SASS_PT) return tr_refuse(t, "a predicate as result");
    tr_step2(t, tr_mod(t, SASS_MOD_FLO_SIGNED) ? ISA_DO_BFIND_S32 : ISA_DO_BFIND_U32,
             tr_to(t, tr_operand(t, 0)), x)
        ->sub = tr_mod(t, SASS_MOD_SH);
    t->info.op_class = ISA_CLASS_BITS;
    return true;
}

bool tr_op_idp(Translator *t) {
    const uint8_t kind = tr_mod(t, SASS_MOD_DOT_KIND), of_a = tr_mod(t, SASS_MOD_DOT_A);
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), y = tr_row(t, tr_operand(t, 2));
    const IsaOperand z = tr_row(t, tr_operand(t, 3));
    IsaInst *step = tr_step4(t, kind == SASS_DOT_KIND_B4A ? ISA_DO_DP4A : ISA_DO_DP2A,
                             tr_to(t, tr_operand(t, 0)), x, y, z);
    step->sub = (uint8_t)((of_a & 1) | (tr_mod(t, SASS_MOD_DOT_B) ? 2 : 0) |
                          (kind == SASS_DOT_KIND_B2A_HI ? 4 : 0));
    t->info.op_class = ISA_CLASS_INT_MAD;
    return true;
}

/* ---- Signs ---- */

/* p, q, a, b, c, table: logic of the signs */
bool tr_op_signlop3(Translator *t) {
    if (tr_operand(t, 1)->value != SASS_PT) return tr_refuse(t, "a second result");
    const IsaOperand logic = tr_scratch(t);
    IsaOperand row[3];
    for (int i = 0; i < 3; ++i)
        row[i] = tr_row(t, tr_operand(t, 2 + i));
    tr_step4(t, ISA_DO_LOP3_32, logic, row[0], row[1], row[2])->sub =
        (uint8_t)tr_operand(t, 5)->value;
    IsaInst *step = tr_step(t, ISA_DO_SETP_LT_S32);
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[2] = logic;
    step->operand[3] = tr_constant(t, 0);
    return true;
}

/* ---- Differences ---- */

/* d, p, a, b, c: |a - b| + c */
bool tr_op_vabsdiff(Translator *t) {
    if (tr_operand(t, 1)->value != SASS_PT) return tr_refuse(t, "a predicate as result");
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), y = tr_row(t, tr_operand(t, 3));
    const IsaOperand z = tr_row(t, tr_operand(t, 4));
    tr_step4(t, tr_mod(t, SASS_MOD_SIGNED) ? ISA_DO_SAD_S32 : ISA_DO_SAD_U32,
             tr_to(t, tr_operand(t, 0)), x, y, z);
    t->info.op_class = ISA_CLASS_INT_ADD;
    return true;
}

/* An operation on four bytes, separately or summed. */
static void put_bytes(Translator *t, uint8_t operation, PtxSub second, bool is_signed, IsaOperand x,
                      IsaOperand y, IsaOperand z) {
    enum { ALL_PARTS = 15, IN_ORDER = 0x76543210 }; /* a's elements are 0 to 3, b's 4 to 7 */
    const IsaVideo video = {.operation = operation,
                            .second = (uint8_t)second,
                            .parts = 4,
                            .is_a_signed = is_signed,
                            .is_b_signed = is_signed};
    IsaInst *step = tr_step4(t, ISA_DO_VIDEO_VECTOR, tr_to(t, tr_operand(t, 0)), x, y, z);
    step->imm = isa_video_imm(video);
    step->sub = ALL_PARTS;
    step->target = IN_ORDER;
}

/* d, p, a, b, c: on four bytes, separately or summed (.ACC) */
bool tr_op_vabsdiff4(Translator *t) {
    if (tr_operand(t, 1)->value != SASS_PT) return tr_refuse(t, "a predicate as result");
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), y = tr_row(t, tr_operand(t, 3));
    const IsaOperand z = tr_row(t, tr_operand(t, 4));
    put_bytes(t, ISA_VIDEO_ABSDIFF, tr_mod(t, SASS_MOD_ACC) ? PTX_SUB_ADD : PTX_SUB_NONE,
              tr_mod(t, SASS_MOD_SUM_DIFFERENCE) == SASS_SUM_DIFFERENCE_S8, x, y, z);
    return true;
}

/* ---- Selection and minima ---- */

/* d = p ? a : b */
static void select_row(Translator *t, IsaOperand d, IsaOperand a, IsaOperand b, IsaOperand word,
                       bool negated) {
    tr_step4(t, ISA_DO_SELP_32, d, negated ? b : a, negated ? a : b, word);
}

/* d, a, b, p: pairs of registers */
static bool select_pair(Translator *t) {
    bool negated;
    const IsaOperand word = tr_word(t, tr_operand(t, 3), &negated);
    for (uint32_t i = 0; i < 2; ++i) {
        const IsaOperand x = tr_word_row(t, tr_operand(t, 1), i);
        const IsaOperand y = tr_word_row(t, tr_operand(t, 2), i);
        select_row(t, tr_to_register(t, tr_operand(t, 0), i), x, y, word, negated);
    }
    return true;
}

bool tr_op_sel(Translator *t) {
    bool negated;
    const bool is_float = t->sass->op == SASS_OP_FSEL;
    if (tr_mod(t, SASS_MOD_WIDE64)) return select_pair(t);
    const IsaOperand x = is_float ? tr_float(t, tr_operand(t, 1)) : tr_row(t, tr_operand(t, 1));
    const IsaOperand y = is_float ? tr_float(t, tr_operand(t, 2)) : tr_row(t, tr_operand(t, 2));
    const IsaOperand word = tr_word(t, tr_operand(t, 3), &negated);
    if (!tr_mod(t, SASS_MOD_FTZ)) {
        select_row(t, tr_to(t, tr_operand(t, 0)), x, y, word, negated);
        return true;
    }
    const IsaOperand chosen = tr_scratch(t);
    select_row(t, chosen, x, y, word, negated);
    tr_step2(t, ISA_DO_SIGN_F32, tr_to(t, tr_operand(t, 0)), chosen)->sub = ISA_MOD_FTZ;
    return true;
}

bool tr_minmax(Translator *t, IsaHandler least, IsaHandler greatest, uint8_t sub, bool is_float,
               int at) {
    bool negated;
    const SassOperand *a = tr_operand(t, at), *b = tr_operand(t, at + 1);
    const bool has_signs = is_float && !(sub & ISA_MOD_XORSIGN); /* the handler takes magnitudes */
    const IsaOperand x = has_signs ? tr_float(t, a) : tr_row(t, a);
    const IsaOperand y = has_signs ? tr_float(t, b) : tr_row(t, b);
    const SassOperand *chooser = tr_operand(t, at + 2);
    const IsaOperand word = tr_word(t, chooser, &negated);
    if (word == ISA_PRED_TRUE) {
        tr_step3(t, negated ? greatest : least, tr_to(t, tr_operand(t, 0)), x, y)->sub = sub;
        return true;
    }
    const IsaOperand low = tr_scratch(t), high = tr_scratch(t);
    tr_step3(t, least, low, x, y)->sub = sub;
    tr_step3(t, greatest, high, x, y)->sub = sub;
    select_row(t, tr_to(t, tr_operand(t, 0)), low, high, word, negated);
    return true;
}

/* sm_110 and sm_120: d, p, q, a, b, chooser, of 32 or 64 bits */
static bool minmax_110(Translator *t) {
    bool negated;
    const uint8_t type = tr_mod(t, SASS_MOD_INTEGER) & 3;
    static const IsaHandler least[] = {ISA_DO_MIN_U32, ISA_DO_MIN_S32, ISA_DO_MIN_U64,
                                       ISA_DO_MIN_S64};
    static const IsaHandler greatest[] = {ISA_DO_MAX_U32, ISA_DO_MAX_S32, ISA_DO_MAX_U64,
                                          ISA_DO_MAX_S64};
    t->info.op_class = ISA_CLASS_INT_MINMAX;
    if (tr_operand(t, 1)->value != SASS_PT || tr_operand(t, 2)->value != SASS_PT)
        return tr_refuse(t, "a predicate as result");
    const SassOperand *chained = tr_operand(t, 6);
    if (chained->value != SASS_PT || !chained->is_negated)
        return tr_refuse(t, "the result of another comparison");
    if (type < SASS_INTEGER_U64) return tr_minmax(t, least[type], greatest[type], 0, false, 3);
    if (tr_word(t, tr_operand(t, 5), &negated) != ISA_PRED_TRUE)
        return tr_refuse(t, "a choice by predicate");
    const IsaOperand x = tr_wide_term(t, tr_operand(t, 3)), y = tr_wide_term(t, tr_operand(t, 4));
    const IsaOperand to = tr_scratch_pair(t);
    tr_step3(t, negated ? greatest[type] : least[type], to, x, y);
    tr_split_to(t, tr_operand(t, 0), to);
    return true;
}

bool tr_op_imnmx(Translator *t) {
    const bool is_signed = tr_mod(t, SASS_MOD_SIGNED);
    if (t->sass->sm >= 110) return minmax_110(t);
    t->info.op_class = ISA_CLASS_INT_MINMAX;
    return tr_minmax(t, is_signed ? ISA_DO_MIN_S32 : ISA_DO_MIN_U32,
                     is_signed ? ISA_DO_MAX_S32 : ISA_DO_MAX_U32, 0, false, 1);
}

/* The handlers of minimum and maximum for VIMNMX and similar operations. */
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

/* d, p, q, a, b, r: of four bytes */
static bool minmax_bytes(Translator *t) {
    bool negated;
    const IsaOperand x = tr_row(t, tr_operand(t, 3)), y = tr_row(t, tr_operand(t, 4));
    if (tr_mod(t, SASS_MOD_RELU) || tr_word(t, tr_operand(t, 5), &negated) != ISA_PRED_TRUE)
        return tr_refuse(t, "this form");
    put_bytes(t, negated ? ISA_VIDEO_MAX : ISA_VIDEO_MIN, PTX_SUB_NONE,
              tr_mod(t, SASS_MOD_VECTOR) == SASS_VECTOR_S8X4, x, y, tr_constant(t, 0));
    t->info.op_class = ISA_CLASS_INT_MINMAX;
    return true;
}

/* A predicate: whether two rows have the same bits among `bits`. */
static void put_equal_bits(Translator *t, const SassOperand *to, IsaOperand a, IsaOperand b,
                           uint32_t bits) {
    const IsaOperand differing = tr_scratch(t);
    if (to->value == SASS_PT) return;
    tr_step3(t, ISA_DO_XOR_32, differing, a, b);
    tr_step3(t, ISA_DO_AND_32, differing, differing, tr_constant(t, bits));
    IsaInst *step = tr_step(t, ISA_DO_SETP_EQ_32);
    step->operand[0] = tr_word_to(t, to);
    step->operand[2] = differing;
    step->operand[3] = tr_constant(t, 0);
}

/* d, p, q, a, b, r: of two halves. p and q: whether the lower and the upper half are a's. Found
 * from the code that ptxas generates for a maximum of s16x2 and comparisons of its halves. */
static bool minmax_halves(Translator *t, IsaHandler least, IsaHandler greatest) {
    bool negated;
    const IsaOperand x = tr_row(t, tr_operand(t, 3)), y = tr_row(t, tr_operand(t, 4));
    const IsaOperand result = tr_scratch(t);
    if (tr_mod(t, SASS_MOD_RELU) || tr_word(t, tr_operand(t, 5), &negated) != ISA_PRED_TRUE)
        return tr_refuse(t, "this form");
    tr_step3(t, negated ? greatest : least, result, x, y);
    put_equal_bits(t, tr_operand(t, 1), result, x, UINT16_MAX);
    put_equal_bits(t, tr_operand(t, 2), result, x, ~(uint32_t)UINT16_MAX);
    tr_step2(t, ISA_DO_MOV_32, tr_to(t, tr_operand(t, 0)), result);
    return true;
}

/* d, p, q, a, b, r */
bool tr_op_vimnmx(Translator *t) {
    IsaHandler least, greatest;
    const uint8_t vector = tr_mod(t, SASS_MOD_VECTOR);
    const bool is_pair = vector == SASS_VECTOR_S16X2 || vector == SASS_VECTOR_U16X2;
    const bool has_results =
        tr_operand(t, 1)->value != SASS_PT || tr_operand(t, 2)->value != SASS_PT;
    if (has_results && !is_pair) return tr_refuse(t, "a predicate as result");
    if (vector >= SASS_VECTOR_U8X4) return minmax_bytes(t);
    if (!vector_minmax(t, &least, &greatest)) return tr_refuse(t, "this type");
    t->info.op_class = ISA_CLASS_INT_MINMAX;
    return has_results ? minmax_halves(t, least, greatest)
                       : tr_minmax(t, least, greatest, 0, false, 3);
}

/* d, a, b, c, q: a + b (VIADDMNMX), or the minimum or maximum of a and b (VIMNMX3); then the
 * minimum or maximum of that and c */
bool tr_op_vector3(Translator *t) {
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
    if (t->sass->op == SASS_OP_VIMNMX3) tr_step3(t, chosen, first, x, y);
    else if (is_pair && b->is_negated) return tr_refuse(t, "a difference of pairs");
    else
        tr_step3(t,
                 is_pair         ? ISA_DO_ADD_16X2
                 : b->is_negated ? ISA_DO_SUB_32
                                 : ISA_DO_ADD_32,
                 first, x, y);
    tr_step3(t, chosen, tr_to(t, tr_operand(t, 0)), first, z);
    t->info.op_class = ISA_CLASS_INT_MINMAX;
    return true;
}

/* d, a, b */
bool tr_op_viadd(Translator *t) {
    const SassOperand *a = tr_operand(t, 1), *b = tr_operand(t, 2);
    const uint8_t type = tr_mod(t, SASS_MOD_VIADD_TYPE); /* sm_120 */
    const bool is_pair = tr_mod(t, SASS_MOD_PAIR16) || type == SASS_VIADD_TYPE_B16X2;
    const bool saturates = tr_mod(t, SASS_MOD_SAT);
    if (a->is_negated || (is_pair && b->is_negated)) return tr_refuse(t, "this form");
    if (saturates && type != SASS_VIADD_TYPE_S32) return tr_refuse(t, "this saturation");
    const IsaOperand x = tr_row(t, a), y = tr_row(t, b);
    t->info.op_class = ISA_CLASS_INT_ADD;
    if (type >= SASS_VIADD_TYPE_U8X4) {
        put_bytes(t, b->is_negated ? ISA_VIDEO_SUB : ISA_VIDEO_ADD, PTX_SUB_NONE,
                  type == SASS_VIADD_TYPE_S8X4, x, y, tr_constant(t, 0));
        return true;
    }
    tr_step3(t,
             is_pair         ? ISA_DO_ADD_16X2
             : b->is_negated ? saturates ? ISA_DO_SUB_SAT_S32 : ISA_DO_SUB_32
             : saturates     ? ISA_DO_ADD_SAT_S32
                             : ISA_DO_ADD_32,
             tr_to(t, tr_operand(t, 0)), x, y);
    return true;
}
