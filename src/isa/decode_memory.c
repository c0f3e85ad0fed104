/* Instructions that access memory, texture fetches, and conversions of addresses. The conventions
 * of their operands stand in isa.h. */
#include "isa/decode.h"

#include "memory/memory.h"

static bool note_address(Decoder *decoder, int32_t reg) {
    RegList *list = &decoder->draft.addresses;
    if (list->count < DECODE_MAX_REGS) list->reg[list->count++] = (uint32_t)reg;
    return true;
}

/* An address in the dynamic shared memory, seen from a function that several kernels may call. */
static bool decode_dynamic_base(Decoder *decoder, int at) {
    const IsaInst start = {.imm = decoder->draft.inst.imm, .size = 4};
    const IsaOperand base = decode_hidden(decoder, ISA_DO_SHARED_ADDRESS, start);
    decoder->draft.inst.operand[at] = base;
    decoder->draft.inst.flags |= ISA_BASE_IS_32;
    decoder->draft.inst.imm = 0;
    return true;
}

/* [register + offset], [variable + offset] or [offset]: the base goes to operand `at`. */
bool decode_base(Decoder *decoder, const PtxOperand *memory, int at) {
    IsaInst *inst = &decoder->draft.inst;
    inst->operand[at] = ISA_SINK;
    inst->imm = memory->imm;
    if (memory->kind != PTX_OPERAND_MEM)
        return decode_unsupported(decoder, "an address is expected");
    if (memory->var) {
        const Address address = decode_address(decoder, memory);
        inst->imm = (int64_t)address.value;
        if (inst->space != PTX_SPACE_NONE)
            inst->space = (uint8_t)decode_var_space(decoder, memory->var);
        if (address.relative == ISA_DO_LOCAL_ADDRESS) inst->flags |= ISA_FRAME_RELATIVE;
        if (address.relative == ISA_DO_SHARED_ADDRESS) return decode_dynamic_base(decoder, at);
    }
    if (memory->reg < 0) return true;
    inst->operand[at] = decoder->function->regs[memory->reg].slot * ISA_ROW_BYTES;
    if (decode_reg_bits(decoder, memory) == 32) inst->flags |= ISA_BASE_IS_32;
    return note_address(decoder, memory->reg);
}

/* What all accesses have in common. */
void decode_fill_access(Decoder *decoder, IsaMemoryKind kind, int vector) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    IsaInfo *info = &decoder->draft.info;
    inst->space = (uint8_t)ptx->space;
    inst->size = (uint8_t)(ptx_type_bits(ptx->type) / 8);
    inst->vector = (uint8_t)vector;
    info->op_class = ISA_CLASS_MEMORY;
    info->memory = (uint8_t)kind;
    info->space = (uint8_t)ptx->space;
    info->cache_op = (uint8_t)ptx->cache_op;
    info->element_bytes = inst->size;
    info->vector = inst->vector;
    if (ptx->flags & PTX_FLAG_VOLATILE) info->flags |= ISA_IS_VOLATILE;
    if (ptx->flags & (PTX_FLAG_VOLATILE | PTX_FLAG_STRONG)) info->flags |= ISA_IS_STRONG;
    if (kind == ISA_MEMORY_ATOMIC || ptx->flags & (PTX_FLAG_VOLATILE | PTX_FLAG_STRONG))
        info->flags |= ISA_LOOKS;
    if ((kind == ISA_MEMORY_STORE || kind == ISA_MEMORY_ATOMIC) && ptx->space != PTX_SPACE_LOCAL &&
        ptx->space != PTX_SPACE_PARAM)
        inst->flow = ISA_FLOW_STORE;
}

/* The elements of a load or store: one register or a vector of them. */
static const PtxOperand *elements(const PtxOperand *operand, int *count) {
    *count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    return operand->kind == PTX_OPERAND_VECTOR ? operand->items : operand;
}

/* How elements are kept in registers that are wider than they are. */
static void note_register_width(Decoder *decoder, const PtxOperand *element) {
    const int bits = decode_reg_bits(decoder, element);
    if (bits == 64) decoder->draft.inst.flags |= ISA_DST_IS_64;
    if (bits == 16 || bits == 8) decoder->draft.inst.flags |= ISA_DST_IS_16;
}

bool decode_load(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    int count;
    const PtxOperand *element = elements(&ptx->operands[0], &count);
    decode_fill_access(decoder, ISA_MEMORY_LOAD, count);
    if (ptx_type_is_signed(ptx->type)) inst->flags |= ISA_SIGNED;
    for (int i = 0; i < count; ++i) {
        if (element[i].kind == PTX_OPERAND_SINK) {
            inst->operand[i] = ISA_SINK;
            continue;
        }
        if (!decode_destination(decoder, &element[i], &inst->operand[i])) return false;
        note_register_width(decoder, &element[i]);
    }
    decode_set_handler(decoder, ptx->space == PTX_SPACE_NONE ? ISA_DO_LD_GENERIC : ISA_DO_LD);
    return decode_base(decoder, &ptx->operands[1], count);
}

bool decode_store(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    int count;
    const PtxOperand *element = elements(&ptx->operands[1], &count);
    decode_fill_access(decoder, ISA_MEMORY_STORE, count);
    if (ptx_type_bits(ptx->type) == 64) inst->flags |= ISA_DST_IS_64;
    for (int i = 0; i < count; ++i) {
        if (!decode_source(decoder, &element[i], ptx->type, &inst->operand[i])) return false;
        note_register_width(decoder, &element[i]);
    }
    decode_set_handler(decoder, ptx->space == PTX_SPACE_NONE ? ISA_DO_ST_GENERIC : ISA_DO_ST);
    return decode_base(decoder, &ptx->operands[0], count);
}

/* atom d, [a], b {, c}; red [a], b. */
bool decode_atom(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const bool is_reduction = ptx->op == PTX_OP_RED;
    const int address = is_reduction ? 0 : 1;
    decode_fill_access(decoder, ISA_MEMORY_ATOMIC, 1);
    inst->sub = (uint8_t)ptx->sub;
    if (ptx_type_is_signed(ptx->type)) inst->flags |= ISA_SIGNED;
    if (ptx_type_is_float(ptx->type)) inst->flags |= ISA_FLOAT;
    if (ptx->type == PTX_BF16 || ptx->type == PTX_BF16X2) inst->flags |= ISA_BFLOAT;
    if (ptx->type == PTX_F16X2 || ptx->type == PTX_BF16X2) inst->flags |= ISA_HALF_PAIR;
    if (is_reduction) decoder->draft.info.flags |= ISA_IS_REDUCTION;
    if (is_reduction || ptx->operands[0].kind == PTX_OPERAND_SINK) inst->operand[0] = ISA_SINK;
    else if (!decode_destination(decoder, &ptx->operands[0], &inst->operand[0])) return false;
    for (int i = address + 1; i < ptx->operand_count; ++i)
        if (!decode_source(decoder, &ptx->operands[i], ptx->type, &inst->operand[i - address + 1]))
            return false;
    decode_set_handler(decoder, ISA_DO_ATOM);
    return decode_base(decoder, &ptx->operands[address], 1);
}

bool decode_prefetch(Decoder *decoder) {
    decode_fill_access(decoder, ISA_MEMORY_PREFETCH, 1);
    decode_set_handler(decoder, ISA_DO_PREFETCH);
    return decode_base(decoder, &decoder->ptx->operands[0], 0);
}

/* The object of a texture instruction. A texture named by a variable would be bound by the host's
 * old texture reference API. */
static bool decode_texture_handle(Decoder *decoder, const PtxOperand *operand, int at) {
    if (operand->kind != PTX_OPERAND_REG)
        return decode_unsupported(decoder, "texture references (only texture objects are)");
    return decode_source(decoder, operand, PTX_U64, &decoder->draft.inst.operand[at]);
}

/* tex, tld4 {d...}, [handle, coordinates]: four destinations, the handle, then the coordinates. */
static bool decode_fetch(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    int count;
    const PtxOperand *element = elements(&ptx->operands[0], &count);
    if (ptx->operand_count != 3)
        return decode_unsupported(decoder, "samplers and further operands");
    if (ptx->op == PTX_OP_TEX && ptx->sub != PTX_SUB_TEX_1D && ptx->sub != PTX_SUB_TEX_2D)
        return decode_unsupported(decoder, "this geometry (1d and 2d are)");
    for (int i = 0; i < 4; ++i) {
        inst->operand[i] = ISA_SINK;
        if (i < count && element[i].kind != PTX_OPERAND_SINK &&
            !decode_destination(decoder, &element[i], &inst->operand[i]))
            return false;
    }
    if (!decode_texture_handle(decoder, &ptx->operands[1], 4)) return false;
    const PtxType type = ptx->type2 == PTX_TYPE_NONE ? PTX_F32 : ptx->type2;
    if (type != PTX_F32) inst->flags |= ISA_SIGNED;
    const PtxOperand *coordinate = elements(&ptx->operands[2], &count);
    for (int i = 0; i < count && i < 2; ++i)
        if (!decode_source(decoder, &coordinate[i], type, &inst->operand[5 + i])) return false;
    decode_set_handler(decoder, ptx->op == PTX_OP_TEX ? ISA_DO_TEX : ISA_DO_TLD4);
    return true;
}

bool decode_texture(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    decode_fill_access(decoder, ISA_MEMORY_TEXTURE, ptx->vector ? ptx->vector : 1);
    decoder->draft.info.space = PTX_SPACE_TEX;
    inst->sub = (uint8_t)ptx->sub;
    if (ptx->op != PTX_OP_TXQ) return decode_fetch(decoder);
    decoder->draft.info.memory = ISA_MEMORY_NONE;
    decode_set_handler(decoder, ISA_DO_TXQ);
    return decode_destination(decoder, &ptx->operands[0], &inst->operand[0]) &&
           decode_texture_handle(decoder, &ptx->operands[1], 1);
}

/* ---- Addresses ---- */

/* Generic address of byte 0 of a space. */
static int64_t window_of(PtxSpace space) {
    switch (space) {
    case PTX_SPACE_SHARED: return (int64_t)MEM_SHARED_WINDOW;
    case PTX_SPACE_LOCAL: return (int64_t)MEM_LOCAL_WINDOW;
    case PTX_SPACE_PARAM: return (int64_t)MEM_PARAM_WINDOW;
    default: return 0; /* global and constant addresses are generic ones */
    }
}

bool decode_cvta(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const PtxOperand *from = &ptx->operands[1];
    PtxSpace space = ptx->space;
    if (from->kind == PTX_OPERAND_ADDRESS) {
        const Address address = decode_address(decoder, from);
        space = decode_var_space(decoder, from->var);
        if (address.relative) {
            inst->size = (uint8_t)(ptx_type_bits(ptx->type) / 8);
            inst->imm = (int64_t)address.value + window_of(space);
            decode_set_handler(decoder, address.relative);
            return decode_destination(decoder, &ptx->operands[0], &inst->operand[0]);
        }
    }
    inst->imm = ptx->flags & PTX_FLAG_TO ? -window_of(space) : window_of(space);
    decode_set_handler(decoder, ptx_type_bits(ptx->type) == 64 ? ISA_DO_CVTA_64 : ISA_DO_CVTA_32);
    return decode_destination(decoder, &ptx->operands[0], &inst->operand[0]) &&
           decode_source(decoder, from, ptx->type, &inst->operand[1]);
}

bool decode_isspacep(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const bool is_32 = decode_reg_bits(decoder, &ptx->operands[1]) == 32;
    inst->sub = (uint8_t)ptx->space;
    if (is_32) inst->flags |= ISA_BASE_IS_32;
    decode_set_handler(decoder, ISA_DO_ISSPACEP);
    return decode_pred_destination(decoder, &ptx->operands[0], 0) &&
           decode_source(decoder, &ptx->operands[1], is_32 ? PTX_U32 : PTX_U64, &inst->operand[1]);
}
