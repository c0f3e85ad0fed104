/* tensormap.replace, tensormap.cp_fenceproxy. */
#include "isa/decode/decode.h"

#include "isa/async.h"
#include "isa/tensor_map.h"

/* Allowed range of an immediate value or ordinal. */
static bool decode_ordinal(Decoder *decoder, int64_t ordinal, int64_t most, const char *what) {
    if (ordinal >= 0 && ordinal <= most) return true;
    return decode_unsupported(decoder, "%s %lld of a tensor map", what, (long long)ordinal);
}

/* The value that the instruction contains. */
static bool decode_choice(Decoder *decoder, TensorField field, int64_t value) {
    const int64_t most = field == TENSOR_FIELD_TYPE         ? TENSOR_TYPES - 1
                         : field == TENSOR_FIELD_SWIZZLE    ? 3
                         : field == TENSOR_FIELD_INTERLEAVE ? 2
                                                            : 1;
    if (!decode_ordinal(decoder, value, most, "value")) return false;
    decoder->draft.inst.operand[1] = decode_constant(decoder, (uint64_t)value, false);
    return true;
}

static bool decode_replace(Decoder *decoder, TensorField field) {
    const PtxInst *ptx = decoder->ptx;
    const PtxOperand *operands = ptx->operands;
    IsaInst *inst = &decoder->draft.inst;
    const bool has_ordinal = field >= TENSOR_FIELD_BOX && field <= TENSOR_FIELD_STEP;
    const int64_t most = TENSOR_MAX_RANK - (field == TENSOR_FIELD_STRIDE ? 2 : 1);
    decode_fill_access(decoder, ISA_MEMORY_STORE, 1);
    decode_set_handler(decoder, ISA_DO_TENSOR_REPLACE);
    inst->sub = (uint8_t)field;
    inst->vector = 0;
    if (has_ordinal) {
        if (!decode_ordinal(decoder, operands[1].imm, most, "dimension")) return false;
        inst->vector = (uint8_t)operands[1].imm;
    }
    const bool is_choice = field >= TENSOR_FIELD_TYPE;
    const PtxOperand *value = &operands[has_ordinal ? 2 : 1];
    if (!(is_choice ? decode_choice(decoder, field, value->imm)
                    : decode_source(decoder, value, ptx->type, &inst->operand[1])))
        return false;
    return decode_base(decoder, &operands[0], 0);
}

/* Each lane stores one word of the copy. */
static bool decode_map_copy(Decoder *decoder) {
    const PtxOperand *operands = decoder->ptx->operands;
    IsaInst *inst = &decoder->draft.inst;
    int64_t offset;
    if (operands[2].imm != TENSOR_MAP_BYTES)
        return decode_unsupported(decoder, "a copy of %lld bytes of a tensor map",
                                  (long long)operands[2].imm);
    decode_fill_access(decoder, ISA_MEMORY_STORE, 1);
    decode_set_handler(decoder, ISA_DO_TENSOR_COPY);
    inst->sub = 0;
    inst->size = decoder->draft.info.element_bytes = sizeof(uint32_t);
    if (!decode_shared_base(decoder, &operands[1], 1, ISA_BULK_SHARED_IS_32, &offset)) return false;
    inst->target = (uint32_t)offset;
    inst->space = decoder->draft.info.space = PTX_SPACE_GLOBAL;
    return decode_base(decoder, &operands[0], 0);
}

bool decode_tensormap(Decoder *decoder) {
    static const struct {
        PtxSub sub;
        TensorField field;
    } fields[] = {{PTX_SUB_MAP_ADDRESS, TENSOR_FIELD_ADDRESS},
                  {PTX_SUB_MAP_RANK, TENSOR_FIELD_RANK},
                  {PTX_SUB_MAP_BOX, TENSOR_FIELD_BOX},
                  {PTX_SUB_MAP_DIMENSION, TENSOR_FIELD_DIMENSION},
                  {PTX_SUB_MAP_STRIDE, TENSOR_FIELD_STRIDE},
                  {PTX_SUB_MAP_STEP, TENSOR_FIELD_STEP},
                  {PTX_SUB_MAP_TYPE, TENSOR_FIELD_TYPE},
                  {PTX_SUB_MAP_INTERLEAVE, TENSOR_FIELD_INTERLEAVE},
                  {PTX_SUB_MAP_SWIZZLE, TENSOR_FIELD_SWIZZLE},
                  {PTX_SUB_MAP_FILL, TENSOR_FIELD_FILL}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].sub == decoder->ptx->sub) return decode_replace(decoder, fields[i].field);
    return decode_map_copy(decoder);
}
