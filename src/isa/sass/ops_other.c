/* Comparisons of halves, packed conversions, differences of bytes, fences. */
#include "isa/sass/translate.h"

/* ---- Comparisons of halves ---- */

static const PtxCompare compare_of[] = {
    PTX_CMP_NONE, PTX_LT,  PTX_EQ,  PTX_LE,  PTX_GT,  PTX_NE,  PTX_GE,  PTX_NUM,
    PTX_NAN,      PTX_LTU, PTX_EQU, PTX_LEU, PTX_GTU, PTX_NEU, PTX_GEU, PTX_CMP_NONE};

/* a, b, c from `at` on; the truth values of a step whose results are not set yet. */
static IsaInst *compare_halves(Translator *t, IsaHandler handler, int at, int64_t value) {
    static const uint8_t combine[] = {ISA_COMPARE_AND, ISA_COMPARE_OR, ISA_COMPARE_XOR, 0};
    bool negated;
    const IsaOperand x = tr_halves(t, tr_operand(t, at)), y = tr_halves(t, tr_operand(t, at + 1));
    const IsaOperand c = tr_word(t, tr_operand(t, at + 2), &negated);
    IsaInst *step = tr_step(t, handler);
    step->operand[2] = x;
    step->operand[3] = y;
    step->operand[4] = c;
    step->sub =
        (uint8_t)(combine[tr_mod(t, SASS_MOD_BOOL) & 3] | (negated ? ISA_COMPARE_NEGATE_C : 0) |
                  (tr_mod(t, SASS_MOD_FTZ) ? ISA_COMPARE_FTZ : 0));
    step->imm = compare_of[tr_mod(t, SASS_MOD_FLOAT_COMPARE) & 15] | value << 8;
    return step;
}

static bool has_comparison(Translator *t) {
    return compare_of[tr_mod(t, SASS_MOD_FLOAT_COMPARE) & 15] != PTX_CMP_NONE ||
           tr_refuse(t, "a comparison that is always the same");
}

/* p of the lower half, q of the upper one, a, b, c */
static bool op_hsetp2(Translator *t) {
    if (!has_comparison(t)) return false;
    if (tr_mod(t, SASS_MOD_H_AND)) return tr_refuse(t, ".H_AND");
    IsaInst *step =
        compare_halves(t, tr_mod(t, SASS_MOD_BF16) ? ISA_DO_SETP_BF16X2 : ISA_DO_SETP_F16X2, 2, 0);
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[1] = tr_word_to(t, tr_operand(t, 1));
    step->sub |= ISA_COMPARE_PAIR;
    return true;
}

/* d, a, b, c: masks, or 1.0 */
static bool op_hset2(Translator *t) {
    enum { ONE_F16 = 0x3c00, ONE_BF16 = 0x3f80, MASK = 0xffff };
    const bool is_bf16 = tr_mod(t, SASS_MOD_BF16);
    if (!has_comparison(t)) return false;
    const int64_t value = !tr_mod(t, SASS_MOD_BF) ? MASK : is_bf16 ? ONE_BF16 : ONE_F16;
    IsaInst *step = compare_halves(t, is_bf16 ? ISA_DO_SET_BF16X2 : ISA_DO_SET_F16X2, 1, value);
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    return true;
}

/* ---- Packed conversions ---- */

typedef struct Packed {
    uint8_t bits;
    bool is_signed;
    PtxType type;
} Packed;
static Packed packed_to(const Translator *t) {
    static const Packed packed[] = {
        {8, false, PTX_U8}, {8, true, PTX_S8}, {16, false, PTX_U16}, {16, true, PTX_S16}};
    return packed[tr_mod(t, SASS_MOD_PACKED_TO) & 3];
}

/* d = saturated b, saturated a, and the rest c, the lowest first. */
static bool pack(Translator *t, IsaOperand a, IsaOperand b, IsaOperand c) {
    const Packed to = packed_to(t);
    IsaInst *step = tr_step(t, ISA_DO_CVT_PACK_INTEGERS);
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    step->operand[1] = a;
    step->operand[2] = b;
    step->operand[3] = c;
    step->sub = to.bits;
    step->imm = to.is_signed;
    return true;
}

static bool op_i2i(Translator *t) {
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), zero = tr_constant(t, 0);
    return pack(t, zero, x, zero);
}

static bool op_i2ip(Translator *t) {
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), y = tr_row(t, tr_operand(t, 2));
    return pack(t, x, y, tr_row(t, tr_operand(t, 3)));
}

/* A float as an integer of the packed type, saturated; kept in 32 bits. */
static IsaOperand to_integer(Translator *t, IsaOperand row) {
    const Packed to = packed_to(t);
    const IsaConvert how = {.source = PTX_F32,
                            .destination = (uint8_t)to.type,
                            .source_bits = 32,
                            .destination_bits = to.bits,
                            .is_destination_signed = to.is_signed,
                            .integral = PTX_RNI,
                            .register_bits = 32};
    IsaInst *step = tr_step(t, ISA_DO_CVT_TO_INT);
    step->operand[1] = row;
    step->imm = isa_convert_imm(how);
    return step->operand[0] = tr_scratch(t);
}

/* d, a, b, c: as I2IP, of floats a and b */
static bool op_f2ip(Translator *t) {
    if (tr_mod(t, SASS_MOD_RELU)) return tr_refuse(t, ".RELU");
    const IsaOperand x = to_integer(t, tr_float(t, tr_operand(t, 1)));
    const IsaOperand y = to_integer(t, tr_float(t, tr_operand(t, 2)));
    return pack(t, x, y, tr_row(t, tr_operand(t, 3)));
}

/* ---- Signs ---- */

/* p, q, a, b, c, table: of the signs */
static bool op_signlop3(Translator *t) {
    if (tr_operand(t, 1)->value != SASS_PT) return tr_refuse(t, "a second result");
    const IsaOperand logic = tr_scratch(t);
    IsaOperand row[3];
    for (int i = 0; i < 3; ++i)
        row[i] = tr_row(t, tr_operand(t, 2 + i));
    IsaInst *step = tr_step(t, ISA_DO_LOP3_32);
    step->operand[0] = logic;
    for (int i = 0; i < 3; ++i)
        step->operand[1 + i] = row[i];
    step->sub = (uint8_t)tr_operand(t, 5)->value;
    step = tr_step(t, ISA_DO_SETP_LT_S32);
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[2] = logic;
    step->operand[3] = tr_constant(t, 0);
    return true;
}

/* ---- Differences ---- */

/* d, p, a, b, c: |a - b| + c */
static bool op_vabsdiff(Translator *t) {
    if (tr_operand(t, 1)->value != SASS_PT) return tr_refuse(t, "a predicate as result");
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), y = tr_row(t, tr_operand(t, 3));
    const IsaOperand z = tr_row(t, tr_operand(t, 4));
    IsaInst *step = tr_step(t, tr_mod(t, SASS_MOD_SIGNED) ? ISA_DO_SAD_S32 : ISA_DO_SAD_U32);
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    step->operand[1] = x;
    step->operand[2] = y;
    step->operand[3] = z;
    t->info.op_class = ISA_CLASS_INT_ADD;
    return true;
}

/* d, p, a, b, c: of four bytes, one by one, or summed up (.ACC) */
static bool op_vabsdiff4(Translator *t) {
    enum { ALL_PARTS = 15, IN_ORDER = 0x76543210 }; /* a's elements are 0 to 3, b's 4 to 7 */
    if (tr_operand(t, 1)->value != SASS_PT) return tr_refuse(t, "a predicate as result");
    const bool is_signed = tr_mod(t, SASS_MOD_SUM_DIFFERENCE) == SASS_SUM_DIFFERENCE_S8;
    const IsaVideo video = {.operation = ISA_VIDEO_ABSDIFF,
                            .second = tr_mod(t, SASS_MOD_ACC) ? PTX_SUB_ADD : PTX_SUB_NONE,
                            .parts = 4,
                            .is_a_signed = is_signed,
                            .is_b_signed = is_signed};
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), y = tr_row(t, tr_operand(t, 3));
    const IsaOperand z = tr_row(t, tr_operand(t, 4));
    IsaInst *step = tr_step(t, ISA_DO_VIDEO_VECTOR);
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    step->operand[1] = x;
    step->operand[2] = y;
    step->operand[3] = z;
    step->imm = isa_video_imm(video);
    step->sub = ALL_PARTS;
    step->target = IN_ORDER;
    return true;
}

/* Reports errors of other CTAs, of which there are none. */
static bool op_nop(Translator *t) {
    tr_step(t, ISA_DO_NOP);
    return true;
}

TranslateOp *tr_other(uint16_t op) {
    switch (op) {
    case SASS_OP_HSETP2: return op_hsetp2;
    case SASS_OP_HSET2: return op_hset2;
    case SASS_OP_I2I: return op_i2i;
    case SASS_OP_I2IP: return op_i2ip;
    case SASS_OP_F2IP: return op_f2ip;
    case SASS_OP_SIGNLOP3: return op_signlop3;
    case SASS_OP_VABSDIFF: return op_vabsdiff;
    case SASS_OP_VABSDIFF4: return op_vabsdiff4;
    case SASS_OP_CGAERRBAR: return op_nop;
    default: return NULL;
    }
}
