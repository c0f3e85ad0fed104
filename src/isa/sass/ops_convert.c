/* Conversions, and the function unit. */
#include "isa/sass/translate.h"

/* ---- Conversions ---- */

static const PtxType float_types[] = {PTX_TYPE_NONE, PTX_F16, PTX_F32, PTX_F64, PTX_BF16};
static const PtxType integer_types[] = {PTX_U8, PTX_U16, PTX_U32, PTX_U64,
                                        PTX_S8, PTX_S16, PTX_S32, PTX_S64};

static PtxType float_type(uint8_t value) { return value < 5 ? float_types[value] : PTX_TYPE_NONE; }

/* The part of a register that an operand names, shifted to the low end. */
static IsaOperand part_of(Translator *t, const SassOperand *operand, IsaOperand row) {
    const uint32_t by = operand->suffix == SASS_SUFFIX_H1 || operand->suffix == SASS_SUFFIX_B2 ? 16
                        : operand->suffix == SASS_SUFFIX_B1                                    ? 8
                        : operand->suffix == SASS_SUFFIX_B3                                    ? 24
                                                                                               : 0;
    if (!by) return row;
    IsaInst *step = tr_step2(t, ISA_DO_SHR_U32, tr_scratch(t), row);
    step->operand[2] = tr_constant(t, by);
    return step->operand[0];
}

/* A float source of any width, with its sign. */
static IsaOperand float_source(Translator *t, const SassOperand *operand, PtxType type) {
    if (type == PTX_F64) return tr_double(t, operand);
    if (type == PTX_F32) return tr_float(t, operand);
    const IsaOperand row = part_of(t, operand, tr_row(t, operand)), low = tr_scratch(t);
    tr_step2(t, ISA_DO_CVT_U16_32, low, row);
    if (!tr_signs(operand)) return low;
    IsaInst *step = tr_step2(t, ISA_DO_SIGN_F16X2, tr_scratch(t), low);
    step->imm = tr_signs(operand);
    IsaInst *cut = tr_step2(t, ISA_DO_CVT_U16_32, tr_scratch(t), step->operand[0]);
    return cut->operand[0];
}

static PtxRound integral_of(const Translator *t) {
    static const PtxRound round[] = {PTX_RNI, PTX_RMI, PTX_RPI, PTX_RZI};
    return round[tr_mod(t, SASS_MOD_ROUND_INT) & 3];
}

/* Converts `row` to the instruction's first operand. */
static bool convert(Translator *t, IsaHandler handler, IsaConvert how, IsaOperand row) {
    const bool is_wide = how.destination_bits == 64;
    how.register_bits = is_wide ? 64 : 32;
    if (tr_mod(t, SASS_MOD_FTZ)) how.modifiers |= ISA_MOD_FTZ;
    if (handler == ISA_DO_CVT_TO_FLOAT && !is_wide)
        how.register_bits = how.destination_bits; /* the upper bits of the word are 0 */
    IsaInst *step = tr_step(t, handler);
    step->operand[1] = row;
    step->imm = isa_convert_imm(how);
    step->operand[0] = is_wide ? tr_scratch_pair(t) : tr_to(t, tr_operand(t, 0));
    if (is_wide) tr_split_to(t, tr_operand(t, 0), step->operand[0]);
    return true;
}

static IsaConvert between(PtxType from, PtxType to) {
    return (IsaConvert){.source = (uint8_t)from,
                        .destination = (uint8_t)to,
                        .source_bits = (uint8_t)ptx_type_bits(from),
                        .destination_bits = (uint8_t)ptx_type_bits(to),
                        .is_source_signed = ptx_type_is_signed(from),
                        .is_destination_signed = ptx_type_is_signed(to)};
}

/* d, a */
bool tr_op_f2f(Translator *t) {
    const PtxType from = float_type(tr_mod(t, SASS_MOD_FLOAT_FROM));
    const PtxType to = float_type(tr_mod(t, SASS_MOD_FLOAT_TO));
    if (from == PTX_TYPE_NONE || to == PTX_TYPE_NONE) return tr_refuse(t, "these types");
    IsaConvert how = between(from, to);
    how.round = tr_round(t) & 7;
    return convert(t, ISA_DO_CVT_TO_FLOAT, how, float_source(t, tr_operand(t, 1), from));
}

bool tr_op_frnd(Translator *t) {
    const PtxType type = float_type(tr_mod(t, SASS_MOD_FLOAT_FROM32));
    if (type == PTX_TYPE_NONE) return tr_refuse(t, "this type");
    IsaConvert how = between(type, type);
    how.integral = (uint8_t)integral_of(t);
    return convert(t, ISA_DO_CVT_TO_FLOAT, how, float_source(t, tr_operand(t, 1), type));
}

bool tr_op_f2i(Translator *t) {
    const PtxType from = float_type(tr_mod(t, SASS_MOD_FLOAT_FROM32));
    if (from == PTX_TYPE_NONE) return tr_refuse(t, "this type");
    IsaConvert how = between(from, integer_types[tr_mod(t, SASS_MOD_INT_TO) & 7]);
    how.integral = (uint8_t)integral_of(t);
    return convert(t, ISA_DO_CVT_TO_INT, how, float_source(t, tr_operand(t, 1), from));
}

static bool from_integer(Translator *t, PtxType from, PtxType to) {
    const SassOperand *operand = tr_operand(t, 1);
    if (to == PTX_TYPE_NONE) return tr_refuse(t, "this type");
    if (operand->is_absolute) return tr_refuse(t, "an absolute value");
    const bool is_wide = ptx_type_bits(from) == 64;
    IsaOperand row = is_wide ? tr_joined(t, operand) : part_of(t, operand, tr_row(t, operand));
    if (operand->is_negated) {
        const IsaOperand positive = row;
        row = is_wide ? tr_scratch_pair(t) : tr_scratch(t);
        tr_step2(t, is_wide ? ISA_DO_NEG_64 : ISA_DO_NEG_32, row, positive);
    }
    IsaConvert how = between(from, to);
    how.round = tr_round(t) & 7;
    return convert(t, ISA_DO_CVT_TO_FLOAT, how, row);
}
bool tr_op_i2f(Translator *t) {
    const uint8_t to = tr_mod(t, SASS_MOD_FLOAT_TO32); /* 0: bfloat16, from sm_90 on */
    return from_integer(t, integer_types[tr_mod(t, SASS_MOD_INT_FROM) & 7],
                        to ? float_type(to) : PTX_BF16);
}

/* d, a: clamped to a narrower type */
bool tr_op_i2i(Translator *t) {
    static const PtxType types[] = {PTX_U8, PTX_S8, PTX_U16, PTX_S16};
    IsaConvert how = between(PTX_S32, types[tr_mod(t, SASS_MOD_PACKED_TO) & 3]);
    how.modifiers = ISA_MOD_SAT;
    return convert(t, ISA_DO_CVT_INT, how, tr_row(t, tr_operand(t, 1)));
}
bool tr_op_i2fp(Translator *t) {
    return from_integer(t, integer_types[tr_mod(t, SASS_MOD_INT_FROM_FULL) & 7],
                        float_type(tr_mod(t, SASS_MOD_FLOAT_TO)));
}

/* ---- F2FP ---- */

/* Merges `low` into the lower half of c. */
static void merge(Translator *t, const SassOperand *c, IsaOperand low) {
    enum { A_OR_B_AND_C = 0xf8 };
    const IsaOperand rest = tr_row(t, c), upper = tr_constant(t, 0xffff0000);
    tr_step4(t, ISA_DO_LOP3_32, tr_to(t, tr_operand(t, 0)), low, rest, upper)->sub = A_OR_B_AND_C;
}

/* A conversion between floats with the instruction's modifiers. */
static IsaConvert float_conversion(const Translator *t, PtxType from, PtxType to) {
    IsaConvert how = between(from, to);
    how.round = tr_round(t) & 7;
    how.is_satfinite = tr_mod(t, SASS_MOD_SATFINITE) != 0;
    how.register_bits = 2 * (to == PTX_E4M3X2 || to == PTX_E5M2X2 ? 8 : 16);
    if (tr_mod(t, SASS_MOD_RELU)) how.modifiers |= ISA_MOD_RELU;
    return how;
}

/* Converts two 8-bit floats, in the lower or the upper half of b, to two halves. */
static bool unpack(Translator *t, PtxType from) {
    const SassOperand *b = tr_operand(t, 2);
    const IsaConvert how = float_conversion(t, from, PTX_F16X2);
    IsaOperand row = tr_row(t, b);
    if (b->suffix == SASS_SUFFIX_H1)
        row = tr_step3(t, ISA_DO_SHR_U32, tr_scratch(t), row, tr_constant(t, 16))->operand[0];
    tr_step2(t, ISA_DO_CVT_UNPACK, tr_to(t, tr_operand(t, 0)), row)->imm = isa_convert_imm(how);
    return true;
}

/* d, a, b, c: packs floats a and b, a in the upper part. If the instruction merges, the halves come
 * from b alone, and the rest of d is the upper half of c, or the lower half for 8-bit floats. */
bool tr_op_f2fp(Translator *t) {
    const uint8_t to = tr_mod(t, SASS_MOD_F2FP_TO), from = tr_mod(t, SASS_MOD_F2FP_FROM);
    const SassOperand *d = tr_operand(t, 0), *a = tr_operand(t, 1);
    const SassOperand *b = tr_operand(t, 2), *c = tr_operand(t, 3);
    const bool is_bf16 =
        to == SASS_F2FP_TO_BF16 || tr_mod(t, SASS_MOD_PACK_TYPE) == SASS_PACK_TYPE_BF16;
    const bool merges = tr_mod(t, SASS_MOD_PACK) == SASS_PACK_MERGE_C ||
                        tr_mod(t, SASS_MOD_PACKING) == SASS_PACKING_PACK_AB_MERGE_C;
    const bool is_8_bits = to == SASS_F2FP_TO_E4M3 || to == SASS_F2FP_TO_E5M2;
    const PtxType narrow = to == SASS_F2FP_TO_E4M3 ? PTX_E4M3X2 : PTX_E5M2X2;
    if (tr_mod(t, SASS_MOD_UNPACK)) {
        const bool is_e4m3 = from == SASS_F2FP_FROM_E4M3 || from == SASS_F2FP_FROM_UPPER_E4M3;
        return unpack(t, is_e4m3 ? PTX_E4M3X2 : PTX_E5M2X2);
    }
    if (is_8_bits && from == SASS_F2FP_FROM_F16) {
        if (merges || a->value != SASS_RZ) return tr_refuse(t, "two pairs of halves");
        const IsaConvert how = float_conversion(t, PTX_F16X2, narrow);
        const IsaOperand pair = tr_scratch(t), rest = tr_row(t, c); /* c, which is not printed, is
                                                                     * the upper half */
        tr_step2(t, ISA_DO_CVT_PACK, pair, tr_row(t, b))->imm = isa_convert_imm(how);
        tr_step4(t, ISA_DO_PRMT_INDEX, tr_to(t, d), pair, rest, tr_constant(t, 0x5410));
        return true;
    }
    if (to == SASS_F2FP_TO_TF32) {
        const IsaConvert how = float_conversion(t, PTX_F32, PTX_TF32);
        tr_step2(t, ISA_DO_CVT_TO_FLOAT, tr_to(t, d), tr_float(t, b))->imm = isa_convert_imm(how);
        return true;
    }
    if (from != SASS_F2FP_FROM_F32 && from != SASS_F2FP_FROM_F32_TO_FP8)
        return tr_refuse(t, "these types");
    const IsaConvert how = float_conversion(t, PTX_F32,
                                            is_8_bits ? narrow
                                            : is_bf16 ? PTX_BF16X2
                                                      : PTX_F16X2);
    const IsaOperand x = merges && !is_8_bits ? tr_constant(t, 0) : tr_float(t, a);
    const IsaOperand y = tr_float(t, b), packed = merges ? tr_scratch(t) : tr_to(t, d);
    tr_step3(t, ISA_DO_CVT_PACK, packed, x, y)->imm = isa_convert_imm(how);
    if (merges && is_8_bits)
        tr_step4(t, ISA_DO_PRMT_INDEX, tr_to(t, d), packed, tr_row(t, c), tr_constant(t, 0x5410));
    else if (merges) merge(t, c, packed);
    return true;
}

/* ---- Packed conversions ---- */

typedef struct Packed {
    uint8_t bits;
    bool is_signed;
    PtxType type; /* for 8 and 16 bits */
} Packed;
static Packed packed_to(const Translator *t) {
    static const Packed packed[] = {{8, false, PTX_U8},        {8, true, PTX_S8},
                                    {16, false, PTX_U16},      {16, true, PTX_S16},
                                    {2, false, PTX_TYPE_NONE}, {2, true, PTX_TYPE_NONE},
                                    {4, false, PTX_TYPE_NONE}, {4, true, PTX_TYPE_NONE}};
    return packed[tr_mod(t, SASS_MOD_PACKED_TO) & 7];
}

/* d = saturated b, saturated a, then c, from the lowest bit on. */
static bool pack(Translator *t, IsaOperand a, IsaOperand b, IsaOperand c) {
    const Packed to = packed_to(t);
    IsaInst *step = tr_step4(t, ISA_DO_CVT_PACK_INTEGERS, tr_to(t, tr_operand(t, 0)), a, b, c);
    step->sub = to.bits;
    step->imm = to.is_signed;
    return true;
}

bool tr_op_i2ip(Translator *t) {
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), y = tr_row(t, tr_operand(t, 2));
    return pack(t, x, y, tr_row(t, tr_operand(t, 3)));
}

/* Converts a float to an integer of the packed type, saturated, in 32 bits. */
static IsaOperand to_integer(Translator *t, IsaOperand row) {
    const Packed to = packed_to(t);
    const IsaConvert how = {.source = PTX_F32,
                            .destination = (uint8_t)to.type,
                            .source_bits = 32,
                            .destination_bits = to.bits,
                            .is_destination_signed = to.is_signed,
                            .integral = (uint8_t)integral_of(t),
                            .register_bits = 32};
    IsaInst *step = tr_step2(t, ISA_DO_CVT_TO_INT, tr_scratch(t), row);
    step->imm = isa_convert_imm(how);
    return step->operand[0];
}

/* d, a, b, c: as I2IP, of floats a and b */
bool tr_op_f2ip(Translator *t) {
    if (tr_mod(t, SASS_MOD_RELU)) return tr_refuse(t, ".RELU");
    const IsaOperand x = to_integer(t, tr_float(t, tr_operand(t, 1)));
    const IsaOperand y = to_integer(t, tr_float(t, tr_operand(t, 2)));
    return pack(t, x, y, tr_row(t, tr_operand(t, 3)));
}

/* ---- The function unit ---- */

/* A function of halves or bfloat16, of the lower half or the half that the operand names. */
static bool function_of_half(Translator *t, uint8_t function) {
    const bool is_bf16 = tr_mod(t, SASS_MOD_FUNCTION_TYPE) == SASS_FUNCTION_TYPE_BF16;
    const bool is_power = function == SASS_FUNCTION_EX2;
    if (!is_power && function != SASS_FUNCTION_TANH) return tr_refuse(t, "this function of halves");
    const IsaOperand x = float_source(t, tr_operand(t, 1), is_bf16 ? PTX_BF16 : PTX_F16);
    tr_step2(t,
             is_bf16    ? is_power ? ISA_DO_EX2_BF16 : ISA_DO_TANH_BF16
             : is_power ? ISA_DO_EX2_F16
                        : ISA_DO_TANH_F16,
             tr_to(t, tr_operand(t, 0)), x)
        ->sub = is_bf16 && is_power ? ISA_MOD_FTZ : 0; /* PTX's handler has no other form */
    t->info.op_class = ISA_CLASS_SFU;
    return true;
}

/* sm_103: powers of two of both halves. */
static bool powers_of_pair(Translator *t, bool is_bf16) {
    const SassOperand *from = tr_operand(t, 1);
    if (tr_mod(t, SASS_MOD_FUNCTION) != SASS_FUNCTION_EX2 || tr_signs(from) || from->suffix)
        return tr_refuse(t, "this function of pairs");
    const IsaOperand x = tr_row(t, from);
    tr_step2(t, is_bf16 ? ISA_DO_EX2_BF16X2 : ISA_DO_EX2_F16X2, tr_to(t, tr_operand(t, 0)), x)
        ->sub = is_bf16 ? ISA_MOD_FTZ : 0;
    t->info.op_class = ISA_CLASS_SFU;
    return true;
}

bool tr_op_mufu(Translator *t) {
    static const struct {
        uint8_t function;
        IsaHandler handler;
        uint8_t sub;
    } rows[] = {{SASS_FUNCTION_COS, ISA_DO_FUNCTION_UNIT, ISA_FUNCTION_COS},
                {SASS_FUNCTION_SIN, ISA_DO_FUNCTION_UNIT, ISA_FUNCTION_SIN},
                {SASS_FUNCTION_EX2, ISA_DO_EX2_F32, ISA_MOD_FTZ},
                {SASS_FUNCTION_LG2, ISA_DO_LG2_F32, ISA_MOD_FTZ},
                {SASS_FUNCTION_RCP, ISA_DO_RCP_F32_MOD, ISA_MOD_FTZ},
                {SASS_FUNCTION_RSQ, ISA_DO_RSQRT_F32, ISA_MOD_FTZ},
                {SASS_FUNCTION_RCP64H, ISA_DO_FUNCTION_UNIT, ISA_FUNCTION_RCP64H},
                {SASS_FUNCTION_RSQ64H, ISA_DO_FUNCTION_UNIT, ISA_FUNCTION_RSQ64H},
                {SASS_FUNCTION_SQRT, ISA_DO_SQRT_F32_MOD, ISA_MOD_FTZ},
                {SASS_FUNCTION_TANH, ISA_DO_TANH_F32, 0}};
    const uint8_t function = tr_mod(t, SASS_MOD_FUNCTION);
    const uint8_t type = tr_mod(t, SASS_MOD_FUNCTION_TYPE);
    if (type >= SASS_FUNCTION_TYPE_F16X2)
        return powers_of_pair(t, type == SASS_FUNCTION_TYPE_BF16X2);
    if (type) return function_of_half(t, function);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (rows[i].function != function) continue;
        const SassOperand *from = tr_operand(t, 1);
        const bool is_upper = from->kind == SASS_F64; /* the upper word of a double */
        const IsaOperand x =
            is_upper ? tr_constant(t, (uint32_t)((uint64_t)from->value >> 32)) : tr_float(t, from);
        if (is_upper && (from->is_negated || from->is_absolute))
            return tr_refuse(t, "the sign of an immediate");
        tr_step2(t, rows[i].handler, tr_to(t, tr_operand(t, 0)), x)->sub = rows[i].sub;
        t->info.op_class = ISA_CLASS_SFU;
        return true;
    }
    return tr_refuse(t, "this function");
}

/* p, a, b */
bool tr_op_fchk(Translator *t) {
    const IsaOperand x = tr_float(t, tr_operand(t, 1)), y = tr_float(t, tr_operand(t, 2));
    IsaInst *step = tr_step(t, ISA_DO_CHECK_DIVISION);
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[1] = x;
    step->operand[2] = y;
    t->info.op_class = ISA_CLASS_SFU;
    return true;
}
