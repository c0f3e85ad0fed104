/* Floats, doubles, and pairs of halves. */
#include "isa/sass/translate.h"

/* ---- Modifiers ---- */

/* Modifiers of floating-point handlers. */
static uint8_t float_sub(const Translator *t) {
    return (uint8_t)(tr_round(t) | (tr_mod(t, SASS_MOD_FTZ) ? ISA_MOD_FTZ : 0) |
                     (tr_mod(t, SASS_MOD_SAT) ? ISA_MOD_SAT : 0) |
                     (tr_mod(t, SASS_MOD_NAN) ? ISA_MOD_NAN : 0) |
                     (tr_mod(t, SASS_MOD_XORSIGN) ? ISA_MOD_XORSIGN : 0) |
                     (tr_mod(t, SASS_MOD_RELU) ? ISA_MOD_RELU : 0));
}
/* The plain handler, the one with modifiers, or the one with a rounding mode; they are
 * consecutive. */
static IsaHandler float_handler(IsaHandler plain, uint8_t sub) {
    return (IsaHandler)(plain + (sub & ISA_MOD_ROUND ? 2 : sub ? 1 : 0));
}

/* ---- Floats and doubles ---- */

bool tr_op_fmnmx(Translator *t) {
    const uint8_t sub = float_sub(t);
    t->info.op_class = ISA_CLASS_FP32_MINMAX;
    return tr_minmax(t, sub ? ISA_DO_MIN_F32_MOD : ISA_DO_MIN_F32,
                     sub ? ISA_DO_MAX_F32_MOD : ISA_DO_MAX_F32, sub, true, 1);
}

/* d, a, b, c, p: the minimum of three if p is true, otherwise the maximum */
bool tr_op_fmnmx3(Translator *t) {
    bool negated;
    const uint8_t sub = float_sub(t);
    const IsaOperand x = tr_float(t, tr_operand(t, 1)), y = tr_float(t, tr_operand(t, 2));
    const IsaOperand z = tr_float(t, tr_operand(t, 3)), first = tr_scratch(t);
    if (tr_word(t, tr_operand(t, 4), &negated) != ISA_PRED_TRUE || sub & ISA_MOD_XORSIGN)
        return tr_refuse(t, "this form");
    const IsaHandler plain = negated ? ISA_DO_MAX_F32 : ISA_DO_MIN_F32;
    const IsaHandler modified = negated ? ISA_DO_MAX_F32_MOD : ISA_DO_MIN_F32_MOD;
    tr_step3(t, sub ? modified : plain, first, x, y)->sub = sub;
    tr_step3(t, sub ? modified : plain, tr_to(t, tr_operand(t, 0)), first, z)->sub = sub;
    t->info.op_class = ISA_CLASS_FP32_MINMAX;
    return true;
}

/* A factor, multiplied with the power of two that scales FMUL's product. */
static IsaOperand scaled(Translator *t, IsaOperand row) {
    static const uint32_t powers[] = {0x3f800000, 0x3e000000, 0x3e800000, 0x3f000000,
                                      0x3f800000, 0x40000000, 0x40800000, 0x41000000};
    const uint8_t scale = tr_mod(t, SASS_MOD_SCALE) & 7;
    if (scale == 0 || scale == SASS_SCALE_NONE) return row; /* 0: has no scale */
    const IsaOperand power = tr_constant(t, powers[scale]), to = tr_scratch(t);
    tr_step3(t, ISA_DO_MUL_F32, to, row, power);
    return to;
}

/* What an operation on floats computes; `sources` is the number of its operands. */
typedef struct FloatOp {
    uint8_t op_class, sources;
    IsaHandler handler; /* the first of three (float_handler) */
} FloatOp;

static FloatOp float_op(uint16_t op) {
    switch (op) {
    case SASS_OP_FADD:
    case SASS_OP_FADD2:
    case SASS_OP_UFADD: return (FloatOp){ISA_CLASS_FP32_ADD, 2, ISA_DO_ADD_F32};
    case SASS_OP_FMUL:
    case SASS_OP_FMUL2:
    case SASS_OP_UFMUL: return (FloatOp){ISA_CLASS_FP32_MUL, 2, ISA_DO_MUL_F32};
    default: return (FloatOp){ISA_CLASS_FP32_MAD, 3, ISA_DO_FMA_F32};
    }
}

/* A source of a sum or a product. With .F16 and .BF16 (from sm_100 on) all but the last source of
 * the operation are halves. */
static IsaOperand float_source(Translator *t, int i, int sources) {
    const SassOperand *operand = tr_operand(t, i);
    const uint8_t type = tr_mod(t, SASS_MOD_HALF_SOURCE);
    if (!type || i == sources) return tr_float(t, operand);
    const IsaOperand low = tr_scratch(t), to = tr_scratch(t);
    IsaOperand row = tr_row(t, operand);
    if (operand->suffix == SASS_SUFFIX_H1) {
        IsaInst *step = tr_step2(t, ISA_DO_SIGN_F16X2, tr_scratch(t), row);
        step->sub = ISA_HALVES_HIGH;
        row = step->operand[0];
    }
    tr_step2(t, ISA_DO_CVT_U16_32, low, row);
    tr_step2(t, type == SASS_HALF_SOURCE_BF16 ? ISA_DO_CVT_F32_BF16 : ISA_DO_CVT_F32_F16, to, low);
    if (tr_signs(operand)) tr_step2(t, ISA_DO_SIGN_F32, to, to)->imm = tr_signs(operand);
    return to;
}

bool tr_op_float(Translator *t) {
    const FloatOp op = float_op(t->sass->op);
    const uint8_t sub = float_sub(t);
    if (tr_mod(t, SASS_MOD_FMZ)) return tr_refuse(t, ".FMZ");
    const IsaOperand x = float_source(t, 1, op.sources);
    const IsaOperand y = scaled(t, float_source(t, 2, op.sources));
    const IsaOperand z = op.sources == 3 ? tr_float(t, tr_operand(t, 3)) : 0;
    tr_step4(t, float_handler(op.handler, sub), tr_to(t, tr_operand(t, 0)), x, y, z)->sub = sub;
    t->info.op_class = op.op_class;
    t->info.element_bytes = 4;
    return true;
}

/* The float that a half of an operation on pairs takes from a source, with its sign. A number is
 * both floats. */
static IsaOperand float_of_pair(Translator *t, const SassOperand *operand, uint32_t half) {
    const uint8_t pair = operand->suffix;
    const bool is_one = operand->kind == SASS_F32 || pair == SASS_SUFFIX_HALF_F32;
    const bool is_swapped = pair == SASS_SUFFIX_LO_HI || pair == SASS_SUFFIX_LO_HI_NP;
    const bool differ = pair == SASS_SUFFIX_HI_LO_NP || pair == SASS_SUFFIX_LO_HI_NP;
    if (pair == SASS_SUFFIX_INVALID || (operand->kind == SASS_F32 && pair))
        tr_refuse(t, "this choice of a pair");
    const IsaOperand row = tr_word_row(t, operand, is_one ? 0 : half ^ is_swapped);
    const int64_t signs = tr_signs(operand) ^ (differ && half ? ISA_SIGN_NEGATIVE : 0);
    if (!signs) return row;
    IsaInst *step = tr_step2(t, ISA_DO_SIGN_F32, tr_scratch(t), row);
    step->imm = signs;
    return step->operand[0];
}

/* Both results are computed before one is written, as they may be sources. */
bool tr_op_float_pair(Translator *t) {
    const FloatOp op = float_op(t->sass->op);
    const uint8_t sub = float_sub(t);
    IsaOperand result[2];
    for (uint32_t half = 0; half < 2; ++half) {
        IsaOperand source[3] = {0};
        for (int i = 0; i < op.sources; ++i)
            source[i] = float_of_pair(t, tr_operand(t, 1 + i), half);
        result[half] = tr_scratch(t);
        tr_step4(t, float_handler(op.handler, sub), result[half], source[0], source[1], source[2])
            ->sub = sub;
    }
    for (uint32_t half = 0; half < 2; ++half)
        tr_step2(t, ISA_DO_MOV_32, tr_to_register(t, tr_operand(t, 0), half), result[half]);
    t->info.op_class = op.op_class;
    t->info.element_bytes = 4;
    return true;
}

bool tr_op_double(Translator *t) {
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
    tr_step4(t, sub ? directed : plainly, to, x, y, z)->sub = sub;
    tr_split_to(t, tr_operand(t, 0), to);
    t->info.op_class = (uint8_t)(op == SASS_OP_DADD   ? ISA_CLASS_FP64_ADD
                                 : op == SASS_OP_DMUL ? ISA_CLASS_FP64_MUL
                                                      : ISA_CLASS_FP64_MAD);
    t->info.element_bytes = 8;
    return true;
}

/* ---- Pairs of halves ---- */

/* A float operand as a half, cut towards zero. ptxas uses one instead of the result of
 * cvt.rz.f16.f32. For cvt.rn it rounds a constant itself. */
static IsaOperand float_as_half(Translator *t, IsaOperand row) {
    const IsaConvert how = {.source = PTX_F32,
                            .destination = PTX_F16,
                            .source_bits = 32,
                            .destination_bits = 16,
                            .round = ISA_ROUND_ZERO,
                            .register_bits = 16};
    IsaInst *step = tr_step2(t, ISA_DO_CVT_TO_FLOAT, tr_scratch(t), row);
    step->imm = isa_convert_imm(how);
    return step->operand[0];
}

/* Two halves, with the operand's signs and selection of halves. */
IsaOperand tr_halves(Translator *t, const SassOperand *operand) {
    const bool is_float = operand->suffix == SASS_SUFFIX_HALF_F32;
    const IsaOperand row = is_float ? float_as_half(t, tr_row(t, operand)) : tr_row(t, operand);
    const uint8_t which = is_float || operand->suffix == SASS_SUFFIX_H0_H0 ? ISA_HALVES_LOW
                          : operand->suffix == SASS_SUFFIX_H1_H1           ? ISA_HALVES_HIGH
                          : operand->suffix == SASS_SUFFIX_H0_NH1          ? ISA_HALVES_CROSSED
                                                                           : ISA_HALVES_BOTH;
    const int64_t signs = tr_signs(operand);
    if (!signs && !which) return row;
    const IsaOperand to = tr_scratch(t);
    IsaInst *step = tr_step2(t, ISA_DO_SIGN_F16X2, to, row);
    step->sub = which;
    step->imm = signs;
    return to;
}

/* HADD2.F32, HMUL2.F32: the sum or the product of two halves, rounded to a half, as a float. ptxas
 * generates it for add.f16 (mul.f16) followed by cvt.f32.f16. */
static bool halves_as_float(Translator *t, IsaHandler handler) {
    IsaOperand source[2];
    if (tr_mod(t, SASS_MOD_BF16)) return tr_refuse(t, "bfloat16 as float");
    for (int i = 0; i < 2; ++i) {
        source[i] = tr_halves(t, tr_operand(t, 1 + i));
    }
    const IsaOperand both = tr_scratch(t), low = tr_scratch(t);
    tr_step3(t, handler, both, source[0], source[1])->sub = float_sub(t);
    tr_step2(t, ISA_DO_CVT_U16_32, low, both);
    tr_step2(t, ISA_DO_CVT_F32_F16, tr_to(t, tr_operand(t, 0)), low);
    return true;
}

static bool is_zero_register(const SassOperand *operand) {
    return operand->kind == SASS_REG && operand->value == SASS_RZ && !operand->is_absolute;
}

/* ptxas also moves a constant by -0 * 0 + c. The bits of a NaN would change. */
static bool is_constant_move(const Translator *t) {
    const SassOperand *a = tr_operand(t, 1), *b = tr_operand(t, 2), *c = tr_operand(t, 3);
    const uint32_t infinity = c->kind == SASS_BF16X2 ? 0x7f80 : 0x7c00;
    const uint32_t low = (uint32_t)c->value & 0x7fff, high = (uint32_t)c->value >> 16 & 0x7fff;
    return t->sass->op == SASS_OP_HFMA2 && (c->kind == SASS_F16X2 || c->kind == SASS_BF16X2) &&
           !c->is_negated && !c->is_absolute && !float_sub(t) && is_zero_register(a) &&
           is_zero_register(b) && a->is_negated != b->is_negated && low <= infinity &&
           high <= infinity;
}

bool tr_op_half(Translator *t) {
    const uint16_t op = t->sass->op;
    const bool is_bf16 = tr_mod(t, SASS_MOD_BF16);
    const int sources = op == SASS_OP_HFMA2 ? 3 : 2;
    if (tr_mod(t, SASS_MOD_F32_OUT) && op == SASS_OP_HADD2)
        return halves_as_float(t, ISA_DO_ADD_F16X2);
    if (tr_mod(t, SASS_MOD_F32_OUT) && op == SASS_OP_HMUL2)
        return halves_as_float(t, ISA_DO_MUL_F16X2);
    if (tr_mod(t, SASS_MOD_F32_OUT) || tr_mod(t, SASS_MOD_FMZ))
        return tr_refuse(t, "halves computed as floats");
    if (is_constant_move(t)) {
        const IsaOperand c = tr_row(t, tr_operand(t, 3));
        tr_step2(t, ISA_DO_MOV_32, tr_to(t, tr_operand(t, 0)), c);
        t->info.op_class = ISA_CLASS_FP16_MAD;
        return true;
    }
    IsaOperand source[3] = {0};
    for (int i = 0; i < sources; ++i) {
        if (tr_operand(t, 1 + i)->suffix == SASS_SUFFIX_HALF_F32 && is_bf16)
            return tr_refuse(t, "a float operand");
        source[i] = tr_halves(t, tr_operand(t, 1 + i));
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
        tr_step4(t, is_bf16 ? rows[i].bf16x2 : rows[i].f16x2, tr_to(t, tr_operand(t, 0)), source[0],
                 source[1], source[2])
            ->sub = float_sub(t);
        t->info.op_class = rows[i].op_class;
    }
    return true;
}

bool tr_op_hmnmx2(Translator *t) {
    bool negated;
    const bool is_bf16 = tr_mod(t, SASS_MOD_BF16);
    const bool is_xor = tr_mod(t, SASS_MOD_XORSIGN); /* the handler takes magnitudes itself */
    SassOperand a = *tr_operand(t, 1), b = *tr_operand(t, 2);
    if (is_xor) a.is_absolute = b.is_absolute = false;
    const IsaOperand x = tr_halves(t, &a), y = tr_halves(t, &b);
    if (tr_word(t, tr_operand(t, 3), &negated) != ISA_PRED_TRUE)
        return tr_refuse(t, "a choice by predicate");
    const IsaHandler least = is_bf16 ? ISA_DO_MIN_BF16X2 : ISA_DO_MIN_F16X2;
    const IsaHandler greatest = is_bf16 ? ISA_DO_MAX_BF16X2 : ISA_DO_MAX_F16X2;
    tr_step3(t, negated ? greatest : least, tr_to(t, tr_operand(t, 0)), x, y)->sub = float_sub(t);
    t->info.op_class = ISA_CLASS_FP16_MINMAX;
    return true;
}

/* d, a, b, c, p: the minimum of three if p is true, otherwise the maximum */
bool tr_op_vhmnmx(Translator *t) {
    bool negated;
    const bool is_bf16 = tr_mod(t, SASS_MOD_BF16);
    const IsaOperand x = tr_halves(t, tr_operand(t, 1)), y = tr_halves(t, tr_operand(t, 2));
    const IsaOperand z = tr_halves(t, tr_operand(t, 3)), first = tr_scratch(t);
    if (tr_word(t, tr_operand(t, 4), &negated) != ISA_PRED_TRUE)
        return tr_refuse(t, "a choice by predicate");
    const IsaHandler least = is_bf16 ? ISA_DO_MIN_BF16X2 : ISA_DO_MIN_F16X2;
    const IsaHandler greatest = is_bf16 ? ISA_DO_MAX_BF16X2 : ISA_DO_MAX_F16X2;
    tr_step3(t, negated ? greatest : least, first, x, y)->sub = float_sub(t);
    tr_step3(t, negated ? greatest : least, tr_to(t, tr_operand(t, 0)), first, z)->sub =
        float_sub(t);
    t->info.op_class = ISA_CLASS_FP16_MINMAX;
    return true;
}
