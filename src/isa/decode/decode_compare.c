/* setp and set. Every comparison becomes one of the few that have handlers: operands are swapped
 * and the result is negated as needed. A float comparison that is true for NaN is the negation of
 * one that is false for NaN. */
#include "isa/decode/decode.h"

typedef enum Relation { RELATION_EQ, RELATION_NE, RELATION_LT, RELATION_LE, RELATION_NUM } Relation;

typedef struct Comparison {
    Relation relation;
    bool is_swapped, is_negated;
    bool is_defined; /* for the kind of type */
} Comparison;

static const Comparison integer_comparisons[] = {[PTX_EQ] = {RELATION_EQ, false, false, true},
                                                 [PTX_NE] = {RELATION_EQ, false, true, true},
                                                 [PTX_LT] = {RELATION_LT, false, false, true},
                                                 [PTX_LE] = {RELATION_LT, true, true, true},
                                                 [PTX_GT] = {RELATION_LT, true, false, true},
                                                 [PTX_GE] = {RELATION_LT, false, true, true},
                                                 [PTX_LO] = {RELATION_LT, false, false, true},
                                                 [PTX_LS] = {RELATION_LT, true, true, true},
                                                 [PTX_HI] = {RELATION_LT, true, false, true},
                                                 [PTX_HS] = {RELATION_LT, false, true, true},
                                                 [PTX_NAN] = {0}};

static const Comparison float_comparisons[] = {
    [PTX_EQ] = {RELATION_EQ, false, false, true},   [PTX_NE] = {RELATION_NE, false, false, true},
    [PTX_LT] = {RELATION_LT, false, false, true},   [PTX_LE] = {RELATION_LE, false, false, true},
    [PTX_GT] = {RELATION_LT, true, false, true},    [PTX_GE] = {RELATION_LE, true, false, true},
    [PTX_EQU] = {RELATION_NE, false, true, true},   [PTX_NEU] = {RELATION_EQ, false, true, true},
    [PTX_LTU] = {RELATION_LE, true, true, true},    [PTX_LEU] = {RELATION_LT, true, true, true},
    [PTX_GTU] = {RELATION_LE, false, true, true},   [PTX_GEU] = {RELATION_LT, false, true, true},
    [PTX_NUM] = {RELATION_NUM, false, false, true}, [PTX_NAN] = {RELATION_NUM, false, true, true}};

/* SETP handlers by relation; the SET handler is the next one. */
typedef struct ComparisonRow {
    uint32_t types;      /* set of PtxType */
    uint8_t is_flushed;  /* .ftz */
    uint16_t handler[5]; /* by Relation; ISA_DO_NONE where there is none */
} ComparisonRow;

#define T(type)         (1u << (PTX_##type))
#define INTEGER(eq, lt) {ISA_DO_SETP_##eq, ISA_DO_NONE, ISA_DO_SETP_##lt}
#define FLOAT(name, num)                                                                           \
    {ISA_DO_SETP_EQ_##name, ISA_DO_SETP_NE_##name, ISA_DO_SETP_LT_##name, ISA_DO_SETP_LE_##name,   \
     ISA_DO_SETP_##num}

static const ComparisonRow rows[] = {
    {T(U32) | T(B32), 0, INTEGER(EQ_32, LT_U32)},
    {T(S32), 0, INTEGER(EQ_32, LT_S32)},
    {T(U64) | T(B64), 0, INTEGER(EQ_64, LT_U64)},
    {T(S64), 0, INTEGER(EQ_64, LT_S64)},
    {T(U16) | T(B16), 0, INTEGER(EQ_16, LT_U16)},
    {T(S16), 0, INTEGER(EQ_16, LT_S16)},
    {T(F32), 0, FLOAT(F32, NUM_F32)},
    {T(F32), 1, FLOAT(FTZ_F32, NUM_F32)},
    {T(F64), 0, FLOAT(F64, NUM_F64)},
    {T(F16), 0, FLOAT(F16, NUM_F16)},
    {T(F16), 1, FLOAT(FTZ_F16, NUM_F16)},
    {T(BF16), 0, FLOAT(BF16, NUM_BF16)},
};

static const ComparisonRow *find_row(PtxType type, bool is_flushed) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        if ((rows[i].types >> type & 1) && rows[i].is_flushed == is_flushed) return &rows[i];
    return NULL;
}

/* The bits that set writes for true: all ones, or 1.0 in the destination's type. */
static uint32_t value_of_true(PtxType type) {
    switch (type) {
    case PTX_F32: return 0x3f800000;
    case PTX_F16: return 0x3c00;
    case PTX_BF16: return 0x3f80;
    case PTX_U16:
    case PTX_S16: return 0xffff;
    default: return 0xffffffff;
    }
}

static uint8_t combination(PtxSub op) {
    switch (op) {
    case PTX_SUB_AND: return ISA_COMPARE_AND;
    case PTX_SUB_OR: return ISA_COMPARE_OR;
    case PTX_SUB_XOR: return ISA_COMPARE_XOR;
    default: return 0;
    }
}

/* Destinations: a register for set; p or p|q for setp. */
static bool decode_result(Decoder *decoder) {
    const PtxOperand *to = &decoder->ptx->operands[0];
    IsaInst *inst = &decoder->draft.inst;
    if (decoder->ptx->op == PTX_OP_SET) {
        inst->imm = value_of_true(decoder->ptx->type);
        return decode_destination(decoder, to, &inst->operand[0]);
    }
    inst->operand[1] = (IsaOperand)decoder->scratch_pred;
    if (to->kind != PTX_OPERAND_PAIR) return decode_pred_destination(decoder, to, 0);
    inst->sub |= ISA_COMPARE_PAIR;
    return decode_pred_destination(decoder, &to->items[0], 0) &&
           decode_pred_destination(decoder, &to->items[1], 1);
}

/* The predicate that is combined with the result. */
static bool decode_combination(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    if (ptx->operand_count < 4) return true;
    if (!decode_pred_source(decoder, &ptx->operands[3], 4)) return false;
    inst->sub |= combination(ptx->sub2);
    if (decoder->negated) inst->sub |= ISA_COMPARE_NEGATE_C;
    return true;
}

/* One handler compares pairs of halves; the comparison is an input of the handler. */
static bool decode_pair_compare(Decoder *decoder, PtxType type) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const bool is_set = ptx->op == PTX_OP_SET, is_f16 = type == PTX_F16X2;
    const uint32_t of_true = ptx->type == PTX_F16X2    ? value_of_true(PTX_F16)
                             : ptx->type == PTX_BF16X2 ? value_of_true(PTX_BF16)
                                                       : 0xffff;
    if (!decode_result(decoder) ||
        !decode_source(decoder, &ptx->operands[1], type, &inst->operand[2]) ||
        !decode_source(decoder, &ptx->operands[2], type, &inst->operand[3]) ||
        !decode_combination(decoder))
        return false;
    inst->imm = (int64_t)ptx->compare | (int64_t)of_true << 8;
    if (ptx->flags & PTX_FLAG_FTZ) inst->sub |= ISA_COMPARE_FTZ;
    decode_set_handler(decoder, is_set ? (is_f16 ? ISA_DO_SET_F16X2 : ISA_DO_SET_BF16X2)
                                       : (is_f16 ? ISA_DO_SETP_F16X2 : ISA_DO_SETP_BF16X2));
    return true;
}

bool decode_compare(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const PtxType type = ptx->op == PTX_OP_SET ? ptx->type2 : ptx->type;
    if (type == PTX_F16X2 || type == PTX_BF16X2) return decode_pair_compare(decoder, type);
    const Comparison *comparison =
        &(ptx_type_is_float(type) ? float_comparisons : integer_comparisons)[ptx->compare];
    const ComparisonRow *row = find_row(type, (ptx->flags & PTX_FLAG_FTZ) != 0);
    const IsaHandler handler = row ? row->handler[comparison->relation] : ISA_DO_NONE;
    if (!comparison->is_defined || handler == ISA_DO_NONE)
        return decode_unsupported(decoder, "this comparison of %s", ptx_type_name(type));
    if (!decode_result(decoder)) return false;
    const int a = comparison->is_swapped ? 3 : 2;
    if (!decode_source(decoder, &ptx->operands[1], type, &inst->operand[a]) ||
        !decode_source(decoder, &ptx->operands[2], type, &inst->operand[5 - a]))
        return false;
    if (comparison->is_negated) inst->sub |= ISA_COMPARE_NEGATE;
    if (!decode_combination(decoder)) return false;
    decode_set_handler(decoder, ptx->op == PTX_OP_SET ? handler + 1 : handler);
    return true;
}
