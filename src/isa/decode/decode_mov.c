/* mov: registers, immediates, addresses, special registers, predicates, and vectors that are packed
 * into a wider register or unpacked from it. */
#include "isa/decode/decode.h"

/* d = {a, b, ...} */
static bool decode_pack(Decoder *decoder, const PtxOperand *to, const PtxOperand *from, int bits) {
    IsaInst *inst = &decoder->draft.inst;
    const PtxType element = bits / from->count == 32   ? PTX_B32
                            : bits / from->count == 16 ? PTX_B16
                                                       : PTX_B8;
    if (!decode_destination(decoder, to, &inst->operand[0])) return false;
    for (int i = 0; i < from->count; ++i)
        if (!decode_source(decoder, &from->items[i], element, &inst->operand[1 + i])) return false;
    inst->sub = (uint8_t)from->count;
    decode_set_handler(decoder, bits == 64   ? ISA_DO_PACK_64
                                : bits == 32 ? ISA_DO_PACK_32
                                             : ISA_DO_PACK_16);
    return true;
}

/* {a, b, ...} = d */
static bool decode_unpack(Decoder *decoder, const PtxOperand *to, const PtxOperand *from,
                          PtxType type) {
    IsaInst *inst = &decoder->draft.inst;
    const int bits = ptx_type_bits(type);
    for (int i = 0; i < to->count; ++i)
        if (!decode_destination(decoder, &to->items[i], &inst->operand[i])) return false;
    inst->sub = (uint8_t)to->count;
    decode_set_handler(decoder, bits == 64   ? ISA_DO_UNPACK_64
                                : bits == 32 ? ISA_DO_UNPACK_32
                                             : ISA_DO_UNPACK_16);
    return decode_source(decoder, from, type, &inst->operand[to->count]);
}

/* 128 bits: two registers of 64 bits or four of 32 bits, on either side. */
static bool decode_wide_mov(Decoder *decoder, const PtxOperand *to, const PtxOperand *from) {
    const bool splits = to->count == 4, packs = from->count == 4;
    for (int half = 0; half < 2; ++half) {
        const PtxOperand low = {.kind = PTX_OPERAND_VECTOR,
                                .count = 2,
                                .items = (splits ? to : from)->items + 2 * half};
        bool is_right;
        if (splits && packs) return decode_unsupported(decoder, "vectors on both sides");
        if (splits) is_right = decode_unpack(decoder, &low, &from->items[half], PTX_B64);
        else if (packs) is_right = decode_pack(decoder, &to->items[half], &low, 64);
        else {
            decode_set_handler(decoder, ISA_DO_MOV_64);
            is_right =
                decode_destination(decoder, &to->items[half], &decoder->draft.inst.operand[0]) &&
                decode_source(decoder, &from->items[half], PTX_B64,
                              &decoder->draft.inst.operand[1]);
        }
        if (!is_right) return false;
        if (half == 0) decode_split(decoder);
    }
    return true;
}

static bool decode_vector_mov(Decoder *decoder, const PtxOperand *to, const PtxOperand *from) {
    const PtxType type = decoder->ptx->type;
    const int bits = ptx_type_bits(type);
    const PtxOperand *vector = to->kind == PTX_OPERAND_VECTOR ? to : from;
    if (bits == 128) return decode_wide_mov(decoder, to, from);
    if (bits < 16) return decode_unsupported(decoder, "vectors of %d bits", bits);
    if (vector->count != 2 && (vector->count != 4 || bits == 16))
        return decode_unsupported(decoder, "vectors of %d elements", vector->count);
    return vector == to ? decode_unpack(decoder, to, from, type)
                        : decode_pack(decoder, to, from, bits);
}

/* A special register is read by its own handler; a local address depends on the call frame. */
static bool decode_scalar_mov(Decoder *decoder, const PtxOperand *to, const PtxOperand *from) {
    IsaInst *inst = &decoder->draft.inst;
    const PtxType type = decoder->ptx->type;
    const bool is_wide = ptx_type_bits(type) == 64;
    if (!decode_destination(decoder, to, &inst->operand[0])) return false;
    inst->size = (uint8_t)(ptx_type_bits(type) / 8);
    if (from->kind == PTX_OPERAND_SREG) {
        inst->sub = (uint8_t)from->sreg;
        inst->imm = from->imm;
        decode_set_handler(decoder, ISA_DO_SREG);
        return true;
    }
    if (from->kind == PTX_OPERAND_ADDRESS) {
        const Address address = decode_address(decoder, from);
        if (address.relative) {
            inst->imm = (int64_t)address.value;
            decode_set_handler(decoder, address.relative);
            return true;
        }
    }
    decode_set_handler(decoder, is_wide ? ISA_DO_MOV_64 : ISA_DO_MOV_32);
    return decode_source(decoder, from, type, &inst->operand[1]);
}

/* All elements of a special register. */
static bool decode_special_mov(Decoder *decoder, const PtxOperand *to, const PtxOperand *from) {
    for (int i = 0; i < to->count; ++i) {
        PtxOperand element = *from;
        element.sreg = from->sreg + (PtxSreg)i;
        if (i > 0) decode_split(decoder);
        if (!decode_scalar_mov(decoder, &to->items[i], &element)) return false;
    }
    return true;
}

/* Whether the destination of an element before `index` is the source register of this element. */
static bool is_overwritten(const PtxOperand *to, const PtxOperand *from, int index) {
    for (int i = 0; i < index; ++i)
        if (from->items[index].kind == PTX_OPERAND_REG && to->items[i].kind == PTX_OPERAND_REG &&
            to->items[i].reg == from->items[index].reg)
            return true;
    return false;
}

/* mov.v2, mov.v4: element by element, with the result of a simultaneous move. */
static bool decode_elements_mov(Decoder *decoder, const PtxOperand *to, const PtxOperand *from) {
    enum { MOST_ELEMENTS = 4 };
    const bool is_wide = ptx_type_bits(decoder->ptx->type) == 64;
    const IsaHandler move = is_wide ? ISA_DO_MOV_64 : ISA_DO_MOV_32;
    IsaOperand kept[MOST_ELEMENTS] = {0};
    bool is_kept[MOST_ELEMENTS] = {false};
    for (int i = 1; i < to->count; ++i) {
        IsaInst copy = {.size = is_wide ? 8 : 4};
        is_kept[i] = is_overwritten(to, from, i);
        if (!is_kept[i]) continue;
        if (!decode_source(decoder, &from->items[i], decoder->ptx->type, &copy.operand[1]))
            return false;
        kept[i] = decode_hidden(decoder, move, copy);
    }
    for (int i = 0; i < to->count; ++i) {
        if (i > 0) decode_split(decoder);
        if (!is_kept[i]) {
            if (!decode_scalar_mov(decoder, &to->items[i], &from->items[i])) return false;
            continue;
        }
        decode_set_handler(decoder, move);
        decoder->draft.inst.operand[1] = kept[i];
        if (!decode_destination(decoder, &to->items[i], &decoder->draft.inst.operand[0]))
            return false;
    }
    return true;
}

static bool decode_pred_mov(Decoder *decoder, const PtxOperand *to, const PtxOperand *from) {
    IsaInst *inst = &decoder->draft.inst;
    if (!decode_pred_destination(decoder, to, 0)) return false;
    if (from->kind == PTX_OPERAND_SREG) {
        inst->sub = (uint8_t)from->sreg; /* the size is 0: a predicate */
        decode_set_handler(decoder, ISA_DO_SREG);
        return true;
    }
    if (!decode_pred_source(decoder, from, 1)) return false;
    inst->imm = (int64_t)decoder->negated;
    decode_set_handler(decoder, ISA_DO_PRED_MOV);
    return true;
}

bool decode_mov(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    const PtxOperand *to = &ptx->operands[0], *from = &ptx->operands[1];
    if (ptx->type == PTX_PRED) return decode_pred_mov(decoder, to, from);
    if (from->kind == PTX_OPERAND_SREG && from->is_whole)
        return decode_special_mov(decoder, to, from);
    if (ptx->vector > 1) return decode_elements_mov(decoder, to, from);
    if (to->kind == PTX_OPERAND_VECTOR || from->kind == PTX_OPERAND_VECTOR)
        return decode_vector_mov(decoder, to, from);
    return decode_scalar_mov(decoder, to, from);
}
