/* cvt. Common pairs of types have their own handlers. The others share general handlers that take
 * both types as an input (IsaConvert). */
#include "isa/decode/decode.h"

#include "base/bits.h"

#define T(type) (1u << (PTX_##type))
#define HALVES  (T(F16) | T(BF16))
#define PAIRS   (T(F16X2) | T(BF16X2) | T(E4M3X2) | T(E5M2X2))
#define FLOATS  (HALVES | T(F32) | T(F64) | T(TF32))

static bool is_in(uint32_t set, PtxType type) { return set >> type & 1; }

/* ---- Conversions with their own handler: no modifiers, register as wide as the type ---- */

typedef struct Conversion {
    uint8_t destination, source; /* PtxType */
    uint8_t round;               /* PtxRound; several values may be equivalent: see plain_round */
    uint16_t handler;            /* IsaHandler */
} Conversion;

static const Conversion conversions[] = {
    {PTX_F32, PTX_S32, PTX_RN, ISA_DO_CVT_F32_S32},
    {PTX_F32, PTX_U32, PTX_RN, ISA_DO_CVT_F32_U32},
    {PTX_F32, PTX_S16, PTX_RN, ISA_DO_CVT_F32_S16},
    {PTX_F32, PTX_U16, PTX_RN, ISA_DO_CVT_F32_U16},
    {PTX_F32, PTX_S64, PTX_RN, ISA_DO_CVT_F32_S64},
    {PTX_F32, PTX_U64, PTX_RN, ISA_DO_CVT_F32_U64},
    {PTX_F64, PTX_S32, PTX_RN, ISA_DO_CVT_F64_S32},
    {PTX_F64, PTX_U32, PTX_RN, ISA_DO_CVT_F64_U32},
    {PTX_F64, PTX_S64, PTX_RN, ISA_DO_CVT_F64_S64},
    {PTX_F64, PTX_U64, PTX_RN, ISA_DO_CVT_F64_U64},
    {PTX_F64, PTX_F32, PTX_RN, ISA_DO_CVT_F64_F32},
    {PTX_F32, PTX_F64, PTX_RN, ISA_DO_CVT_F32_F64},
    {PTX_F32, PTX_F16, PTX_RN, ISA_DO_CVT_F32_F16},
    {PTX_F32, PTX_BF16, PTX_RN, ISA_DO_CVT_F32_BF16},
    {PTX_F16, PTX_F32, PTX_RN, ISA_DO_CVT_F16_F32},
    {PTX_BF16, PTX_F32, PTX_RN, ISA_DO_CVT_BF16_F32},
    {PTX_F32, PTX_F32, PTX_RNI, ISA_DO_CVT_RNI_F32},
    {PTX_F32, PTX_F32, PTX_RZI, ISA_DO_CVT_RZI_F32},
    {PTX_F32, PTX_F32, PTX_RMI, ISA_DO_CVT_RMI_F32},
    {PTX_F32, PTX_F32, PTX_RPI, ISA_DO_CVT_RPI_F32},
    {PTX_F64, PTX_F64, PTX_RNI, ISA_DO_CVT_RNI_F64},
    {PTX_F64, PTX_F64, PTX_RZI, ISA_DO_CVT_RZI_F64},
    {PTX_F64, PTX_F64, PTX_RMI, ISA_DO_CVT_RMI_F64},
    {PTX_F64, PTX_F64, PTX_RPI, ISA_DO_CVT_RPI_F64},
    {PTX_S32, PTX_F32, PTX_RNI, ISA_DO_CVT_RNI_S32_F32},
    {PTX_S32, PTX_F32, PTX_RZI, ISA_DO_CVT_RZI_S32_F32},
    {PTX_S32, PTX_F32, PTX_RMI, ISA_DO_CVT_RMI_S32_F32},
    {PTX_S32, PTX_F32, PTX_RPI, ISA_DO_CVT_RPI_S32_F32},
    {PTX_U32, PTX_F32, PTX_RNI, ISA_DO_CVT_RNI_U32_F32},
    {PTX_U32, PTX_F32, PTX_RZI, ISA_DO_CVT_RZI_U32_F32},
    {PTX_U32, PTX_F32, PTX_RMI, ISA_DO_CVT_RMI_U32_F32},
    {PTX_U32, PTX_F32, PTX_RPI, ISA_DO_CVT_RPI_U32_F32},
    {PTX_S32, PTX_F64, PTX_RNI, ISA_DO_CVT_RNI_S32_F64},
    {PTX_S32, PTX_F64, PTX_RZI, ISA_DO_CVT_RZI_S32_F64},
};

/* Integers, by the type whose bits are kept (the narrower one; the destination if both are equally
 * wide) and by the width of the register. */
typedef struct Extension {
    uint32_t kept;          /* set of PtxType */
    uint8_t source_is_wide; /* the source has 64 bits */
    uint8_t register_bits;
    uint16_t handler;
} Extension;

static const Extension extensions[] = {
    {T(U8), 0, 16, ISA_DO_CVT_U8_32},           {T(U8), 0, 32, ISA_DO_CVT_U8_32},
    {T(S8), 0, 32, ISA_DO_CVT_S8_32},           {T(U8), 0, 64, ISA_DO_CVT_U8_64},
    {T(S8), 0, 64, ISA_DO_CVT_S8_64},           {T(U16) | T(S16), 0, 16, ISA_DO_CVT_U16_32},
    {T(U16), 0, 32, ISA_DO_CVT_U16_32},         {T(S16), 0, 32, ISA_DO_CVT_S16_32},
    {T(U16), 0, 64, ISA_DO_CVT_U16_64},         {T(S16), 0, 64, ISA_DO_CVT_S16_64},
    {T(U32) | T(S32), 0, 32, ISA_DO_MOV_32},    {T(U32), 0, 64, ISA_DO_CVT_U32_64},
    {T(S32), 0, 64, ISA_DO_CVT_S32_64},         {T(U16) | T(S16), 1, 16, ISA_DO_CVT_64_16},
    {T(U32) | T(S32), 1, 32, ISA_DO_CVT_64_32}, {T(U64) | T(S64), 1, 64, ISA_DO_MOV_64},
};

/* ---- Modifiers of the instruction ---- */

static bool is_integral_round(PtxRound round) { return round >= PTX_RNI; }

static IsaRound round_of(PtxRound round) {
    switch (round) {
    case PTX_RZ: return ISA_ROUND_ZERO;
    case PTX_RM: return ISA_ROUND_DOWN;
    case PTX_RP: return ISA_ROUND_UP;
    case PTX_RNA: return ISA_ROUND_TIES_AWAY;
    default: return ISA_ROUND_NEAREST;
    }
}

static IsaConvert describe(const Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    const int register_bits = decode_reg_bits(decoder, &ptx->operands[0]);
    IsaConvert convert = {.source = (uint8_t)ptx->type2,
                          .destination = (uint8_t)ptx->type,
                          .source_bits = (uint8_t)ptx_type_bits(ptx->type2),
                          .destination_bits = (uint8_t)ptx_type_bits(ptx->type),
                          .register_bits =
                              (uint8_t)(register_bits ? register_bits : ptx_type_bits(ptx->type)),
                          .is_source_signed = ptx_type_is_signed(ptx->type2),
                          .is_destination_signed = ptx_type_is_signed(ptx->type),
                          .is_satfinite = (ptx->flags & PTX_FLAG_SATFINITE) != 0,
                          .round = round_of(ptx->round) & 7,
                          .integral = (uint8_t)(is_integral_round(ptx->round) ? ptx->round : 0)};
    if (ptx->flags & PTX_FLAG_FTZ) convert.modifiers |= ISA_MOD_FTZ;
    if (ptx->flags & PTX_FLAG_SAT) convert.modifiers |= ISA_MOD_SAT;
    if (ptx->flags & PTX_FLAG_RELU) convert.modifiers |= ISA_MOD_RELU;
    return convert;
}

/* The handler for exactly this conversion, or ISA_DO_NONE. */
static IsaHandler find_plain(const PtxInst *ptx, const IsaConvert *convert) {
    if (convert->register_bits < convert->destination_bits ||
        (convert->register_bits > convert->destination_bits && !is_in(FLOATS, ptx->type)))
        return ISA_DO_NONE;
    const PtxRound round = ptx->round == PTX_ROUND_NONE ? PTX_RN : ptx->round;
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; ++i) {
        const Conversion *row = &conversions[i];
        if (row->destination == ptx->type && row->source == ptx->type2 && row->round == round)
            return (IsaHandler)row->handler;
    }
    return ISA_DO_NONE;
}

static IsaHandler find_extension(const PtxInst *ptx, const IsaConvert *convert) {
    const bool keeps_source = convert->source_bits < convert->destination_bits;
    const bool crosses = keeps_source && convert->is_source_signed &&
                         !convert->is_destination_signed &&
                         convert->register_bits > convert->destination_bits;
    if (crosses) return ISA_DO_NONE; /* sign-extended to the type, zero-extended beyond it */
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; ++i) {
        const Extension *row = &extensions[i];
        if (is_in(row->kept, keeps_source ? ptx->type2 : ptx->type) &&
            row->source_is_wide == (convert->source_bits == 64) &&
            row->register_bits == convert->register_bits)
            return (IsaHandler)row->handler;
    }
    return ISA_DO_NONE;
}

static IsaHandler find_handler(const PtxInst *ptx, const IsaConvert *convert) {
    const bool is_from_float = is_in(FLOATS, ptx->type2), is_to_float = is_in(FLOATS, ptx->type);
    IsaHandler handler = ISA_DO_NONE;
    if (!is_from_float && !is_to_float) {
        if (!(ptx->flags & PTX_FLAG_SAT)) handler = find_extension(ptx, convert);
        return handler ? handler : ISA_DO_CVT_INT;
    }
    if (!ptx->flags) handler = find_plain(ptx, convert);
    if (handler) return handler;
    return is_to_float ? ISA_DO_CVT_TO_FLOAT : ISA_DO_CVT_TO_INT;
}

/* ---- Decoding ---- */

/* Two sources into a pair, a pair of halves into a pair of 8-bit floats, or the reverse. */
static bool decode_pairs(Decoder *decoder, const IsaConvert *convert) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const bool is_unpack = ptx->type2 == PTX_E4M3X2 || ptx->type2 == PTX_E5M2X2;
    const bool is_from_pair = ptx->type2 == PTX_F16X2;
    if (is_unpack ? ptx->type != PTX_F16X2 : !is_from_pair && ptx->type2 != PTX_F32)
        return decode_unsupported(decoder, "conversion from %s", ptx_type_name(ptx->type2));
    inst->imm = isa_convert_imm(*convert);
    decode_set_handler(decoder, is_unpack ? ISA_DO_CVT_UNPACK : ISA_DO_CVT_PACK);
    if (!decode_destination(decoder, &ptx->operands[0], &inst->operand[0]) ||
        !decode_source(decoder, &ptx->operands[1], is_unpack ? PTX_B16 : PTX_B32,
                       &inst->operand[1]))
        return false;
    if (is_unpack || is_from_pair) return ptx->operand_count == 2;
    if (ptx->operand_count != 3) return decode_unsupported(decoder, "stochastic rounding");
    return decode_source(decoder, &ptx->operands[2], PTX_F32, &inst->operand[2]);
}

/* The source; the lower half of a 64-bit register that is wider than its type. */
static bool decode_value(Decoder *decoder, const PtxOperand *from) {
    const PtxType type = decoder->ptx->type2;
    IsaOperand *source = &decoder->draft.inst.operand[1];
    if (decode_reg_bits(decoder, from) < 64 || ptx_type_bits(type) == 64)
        return decode_source(decoder, from, type, source);
    IsaInst lower = {0};
    if (!decode_source(decoder, from, PTX_U64, &lower.operand[1])) return false;
    *source = decode_hidden(decoder, ISA_DO_CVT_64_32, lower);
    return true;
}

/* cvt.pack.sat d, a, b, c. Table of the narrow types, in pairs with the unsigned one first. */
static bool decode_pack(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const int type = (int)ptx->sub - PTX_SUB_PACK_U16;
    inst->sub = (uint8_t)(16 >> type / 2);
    inst->imm = type % 2;
    inst->operand[3] = decode_constant(decoder, 0, false);
    decode_set_handler(decoder, ISA_DO_CVT_PACK_INTEGERS);
    return decode_destination(decoder, &ptx->operands[0], &inst->operand[0]) &&
           decode_source(decoder, &ptx->operands[1], PTX_S32, &inst->operand[1]) &&
           decode_source(decoder, &ptx->operands[2], PTX_S32, &inst->operand[2]) &&
           (ptx->operand_count < 4 ||
            decode_source(decoder, &ptx->operands[3], PTX_B32, &inst->operand[3]));
}

bool decode_cvt(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    if (ptx->sub >= PTX_SUB_PACK_U16) return decode_pack(decoder);
    const IsaConvert convert = describe(decoder);
    if (ptx->round == PTX_RS) return decode_unsupported(decoder, "stochastic rounding");
    if (is_in(PAIRS, ptx->type) || is_in(PAIRS, ptx->type2)) return decode_pairs(decoder, &convert);
    const uint32_t integers = T(U8) | T(S8) | T(U16) | T(S16) | T(U32) | T(S32) | T(U64) | T(S64);
    if (!is_in(FLOATS | integers, ptx->type) || !is_in((FLOATS & ~T(TF32)) | integers, ptx->type2))
        return decode_unsupported(decoder, "conversion from %s", ptx_type_name(ptx->type2));
    inst->imm = isa_convert_imm(convert);
    decode_set_handler(decoder, find_handler(ptx, &convert));
    return decode_destination(decoder, &ptx->operands[0], &inst->operand[0]) &&
           decode_value(decoder, &ptx->operands[1]);
}
