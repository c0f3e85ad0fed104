/* Instructions that access memory, and address conversions. isa.h describes their operands. */
#include "isa/decode/decode.h"

#include "memory/memory.h"

static bool note_address(Decoder *decoder, int32_t reg) {
    RegList *list = &decoder->draft.addresses;
    if (list->count < DECODE_MAX_REGS) list->reg[list->count++] = (uint32_t)reg;
    return true;
}

/* An address in dynamic shared memory, used by a function that several kernels may call. */
static bool decode_dynamic_base(Decoder *decoder, int at) {
    const IsaInst start = {.imm = decoder->draft.inst.imm, .size = 4};
    const IsaOperand base = decode_hidden(decoder, ISA_DO_SHARED_ADDRESS, start);
    decoder->draft.inst.operand[at] = base;
    decoder->draft.inst.flags |= ISA_BASE_IS_32;
    decoder->draft.inst.imm = 0;
    return true;
}

/* The space of an address in a register: a function's parameters are in the local area. */
static PtxSpace space_of_registers(const Decoder *decoder, PtxSpace space) {
    return space == PTX_SPACE_PARAM && !decoder->function->is_kernel ? PTX_SPACE_LOCAL : space;
}

/* Whether shared memory of the cluster is accessed by generic addresses, as ptxas does. */
static bool is_cluster_access(const Decoder *decoder) {
    return decoder->ptx->space == PTX_SPACE_CLUSTER && decoder->draft.inst.space == PTX_SPACE_NONE;
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
        if (decoder->ptx->space == PTX_SPACE_CLUSTER) { /* the CTA's own shared memory */
            inst->space = decoder->draft.info.space = PTX_SPACE_SHARED;
        } else if (inst->space != PTX_SPACE_NONE)
            inst->space = (uint8_t)decode_var_space(decoder, memory->var);
        if (address.relative == ISA_DO_LOCAL_ADDRESS) inst->flags |= ISA_FRAME_RELATIVE;
        if (address.relative == ISA_DO_SHARED_ADDRESS) return decode_dynamic_base(decoder, at);
    } else {
        inst->space = (uint8_t)space_of_registers(decoder, (PtxSpace)inst->space);
    }
    if (memory->reg < 0) return true;
    if (is_cluster_access(decoder)) inst->imm += (int64_t)MEM_SHARED_WINDOW;
    inst->operand[at] = decoder->function->regs[memory->reg].slot * ISA_ROW_BYTES;
    if (decode_reg_bits(decoder, memory) == 32) inst->flags |= ISA_BASE_IS_32;
    return note_address(decoder, memory->reg);
}

/* Fields that all accesses have. */
void decode_fill_access(Decoder *decoder, IsaMemoryKind kind, int vector) {
    const PtxInst *ptx = decoder->ptx;
    const PtxSpace space = ptx->space == PTX_SPACE_CLUSTER ? PTX_SPACE_NONE : ptx->space;
    IsaInst *inst = &decoder->draft.inst;
    IsaInfo *info = &decoder->draft.info;
    inst->space = (uint8_t)space;
    inst->size = (uint8_t)(ptx_type_bits(ptx->type) / 8);
    inst->vector = (uint8_t)vector;
    info->op_class = ISA_CLASS_MEMORY;
    info->memory = (uint8_t)kind;
    info->space = (uint8_t)space;
    info->cache_op = (uint8_t)ptx->cache_op;
    info->element_bytes = inst->size;
    info->vector = inst->vector;
    info->evict[0] = (uint8_t)ptx->evict_l1;
    info->evict[1] = (uint8_t)ptx->evict_l2;
    info->prefetch = ptx->prefetch;
    if (ptx->flags & PTX_FLAG_VOLATILE) info->flags |= ISA_IS_VOLATILE;
    if (ptx->flags & (PTX_FLAG_VOLATILE | PTX_FLAG_STRONG)) info->flags |= ISA_IS_STRONG;
    if (kind == ISA_MEMORY_ATOMIC || ptx->flags & (PTX_FLAG_VOLATILE | PTX_FLAG_STRONG))
        info->flags |= ISA_LOOKS;
    if ((kind == ISA_MEMORY_STORE || kind == ISA_MEMORY_ATOMIC) && ptx->space != PTX_SPACE_LOCAL &&
        ptx->space != PTX_SPACE_PARAM)
        inst->flow = ISA_FLOW_STORE;
}

/* The cache policy of an access; it is the last operand. */
bool decode_policy(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaOperand row;
    if (!ptx->has_policy) return true;
    if (!decode_source(decoder, &ptx->operands[ptx->operand_count - 1], PTX_U64, &row))
        return false;
    bool is_overwritten = false; /* overwritten by the access itself: then it can no longer be
                                  * read */
    for (uint32_t i = 0; i < decoder->draft.destinations.count; i++)
        is_overwritten |= ptx->operands[ptx->operand_count - 1].kind == PTX_OPERAND_REG &&
                          (int32_t)decoder->draft.destinations.reg[i] ==
                              ptx->operands[ptx->operand_count - 1].reg;
    if (!is_overwritten) decoder->draft.info.policy = row + ISA_POLICY_BIAS;
    return true;
}

/* The elements of a load or store: one register or a vector of them. */
static const PtxOperand *elements(const PtxOperand *operand, int *count) {
    *count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    return operand->kind == PTX_OPERAND_VECTOR ? operand->items : operand;
}

/* Flags for elements in registers of another width. */
static void note_register_width(Decoder *decoder, const PtxOperand *element) {
    const int bits = decode_reg_bits(decoder, element);
    if (bits == 64) decoder->draft.inst.flags |= ISA_DST_IS_64;
    if (bits == 16) decoder->draft.inst.flags |= ISA_DST_IS_16;
    if (bits == 8) decoder->draft.inst.flags &= (uint8_t)~ISA_SIGNED; /* as wide as the element */
}

/* Elements `first` to `first` + `count` of a load. One instruction accesses only half of 32 bytes
 * (the PTX ISA has 32-byte loads from sm_100 on). The first half checks the alignment of the
 * whole. */
static bool decode_load_part(Decoder *decoder, const PtxOperand *element, int first, int count,
                             bool is_whole) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    decode_fill_access(decoder, ISA_MEMORY_LOAD, count);
    if (ptx_type_is_signed(ptx->type)) inst->flags |= ISA_SIGNED;
    inst->sub = !is_whole && first == 0;
    for (int i = 0; i < count; ++i) {
        if (element[first + i].kind == PTX_OPERAND_SINK) {
            inst->operand[i] = ISA_SINK;
            continue;
        }
        if (!decode_destination(decoder, &element[first + i], &inst->operand[i])) return false;
        note_register_width(decoder, &element[first + i]);
    }
    if (!decode_base(decoder, &ptx->operands[1], count) || !decode_policy(decoder)) return false;
    inst->imm += (int64_t)first * inst->size;
    decode_set_handler(decoder, isa_access_handler(inst, (PtxSpace)inst->space, true));
    return true;
}

enum { PART = 4 }; /* elements of a vector per instruction */

bool decode_load(Decoder *decoder) {
    int count;
    const PtxOperand *element = elements(&decoder->ptx->operands[0], &count);
    if (count <= PART) return decode_load_part(decoder, element, 0, count, true);
    if (!decode_load_part(decoder, element, 0, PART, false)) return false;
    decode_split(decoder);
    return decode_load_part(decoder, element, PART, count - PART, false);
}

static bool decode_store_part(Decoder *decoder, const PtxOperand *element, int first, int count,
                              bool is_whole) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    decode_fill_access(decoder, ISA_MEMORY_STORE, count);
    if (ptx_type_bits(ptx->type) == 64) inst->flags |= ISA_DST_IS_64;
    inst->sub = !is_whole && first == 0;
    for (int i = 0; i < count; ++i) {
        if (!decode_source(decoder, &element[first + i], ptx->type, &inst->operand[i]))
            return false;
        note_register_width(decoder, &element[first + i]);
    }
    if (!decode_base(decoder, &ptx->operands[0], count) || !decode_policy(decoder)) return false;
    inst->imm += (int64_t)first * inst->size;
    decode_set_handler(decoder, isa_access_handler(inst, (PtxSpace)inst->space, false));
    return true;
}

bool decode_store(Decoder *decoder) {
    int count;
    const PtxOperand *element = elements(&decoder->ptx->operands[1], &count);
    if (count <= PART) return decode_store_part(decoder, element, 0, count, true);
    if (!decode_store_part(decoder, element, 0, PART, false)) return false;
    decode_split(decoder);
    return decode_store_part(decoder, element, PART, count - PART, false);
}

uint8_t decode_operation_flags(PtxType type) {
    const bool is_bfloat = type == PTX_BF16 || type == PTX_BF16X2;
    const bool is_pair = type == PTX_F16X2 || type == PTX_BF16X2;
    return (uint8_t)((ptx_type_is_signed(type) ? ISA_SIGNED : 0) |
                     (ptx_type_is_float(type) ? ISA_FLOAT : 0) | (is_bfloat ? ISA_BFLOAT : 0) |
                     (is_pair ? ISA_HALF_PAIR : 0));
}

/* Fields that all atomic operations have. `vector`: number of elements; the address of the first
 * one must be aligned to all of them. */
static void fill_atomic(Decoder *decoder, int vector) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    decode_fill_access(decoder, ISA_MEMORY_ATOMIC, 1);
    inst->vector = (uint8_t)vector;
    inst->sub = (uint8_t)ptx->sub;
    inst->flags |= decode_operation_flags(ptx->type);
    if (ptx->op == PTX_OP_RED) decoder->draft.info.flags |= ISA_IS_REDUCTION;
    decode_set_handler(decoder, ISA_DO_ATOM);
}

/* Element `index` of a destination; it may be absent. */
static bool decode_old_value(Decoder *decoder, const PtxOperand *to, int index, int at) {
    IsaInst *inst = &decoder->draft.inst;
    inst->operand[at] = ISA_SINK;
    if (!to || to->kind == PTX_OPERAND_SINK) return true;
    if (to->kind == PTX_OPERAND_VECTOR) to = &to->items[index];
    return to->kind == PTX_OPERAND_SINK || decode_destination(decoder, to, &inst->operand[at]);
}

/* .b128: the low halves are where other operations have their operands; the high halves follow. */
static bool decode_wide_atom(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const int sources = ptx->sub == PTX_SUB_CAS ? 2 : 1;
    fill_atomic(decoder, 1);
    inst->size = decoder->draft.info.element_bytes = 16;
    for (int half = 0; half < 2; ++half) {
        if (!decode_old_value(decoder, &ptx->operands[0], half, half ? 4 : 0)) return false;
        for (int i = 0; i < sources; ++i)
            if (!decode_source(decoder, &ptx->operands[2 + i].items[half], PTX_B64,
                               &inst->operand[(half ? 5 : 2) + i]))
                return false;
    }
    return decode_base(decoder, &ptx->operands[1], 1) && decode_policy(decoder);
}

/* A vector becomes one operation per element, in sequence: each element is atomic on its own. */
static bool decode_vector_atom(Decoder *decoder, int address) {
    const PtxInst *ptx = decoder->ptx;
    for (int i = 0; i < ptx->vector; ++i) {
        fill_atomic(decoder, i == 0 ? ptx->vector : 1);
        if (!decode_old_value(decoder, address ? &ptx->operands[0] : NULL, i, 0) ||
            !decode_source(decoder, &ptx->operands[address + 1].items[i], ptx->type,
                           &decoder->draft.inst.operand[2]) ||
            !decode_base(decoder, &ptx->operands[address], 1) || !decode_policy(decoder))
            return false;
        decoder->draft.inst.imm += (int64_t)i * decoder->draft.inst.size;
        if (i + 1 < ptx->vector) decode_split(decoder);
    }
    return true;
}

/* atom d, [a], b {, c}; red [a], b. */
bool decode_atom(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    const int address = ptx->op == PTX_OP_RED ? 0 : 1;
    const int sources = ptx->sub == PTX_SUB_CAS ? 2 : 1; /* a cache policy may follow */
    if (ptx->vector > 1)
        return ptx->type == PTX_B64 ? decode_wide_atom(decoder)
                                    : decode_vector_atom(decoder, address);
    fill_atomic(decoder, 1);
    if (!decode_old_value(decoder, address ? &ptx->operands[0] : NULL, 0, 0)) return false;
    for (int i = 0; i < sources; ++i)
        if (!decode_source(decoder, &ptx->operands[address + 1 + i], ptx->type,
                           &decoder->draft.inst.operand[2 + i]))
            return false;
    return decode_base(decoder, &ptx->operands[address], 1) && decode_policy(decoder);
}

bool decode_prefetch(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    if (ptx->sub == PTX_SUB_TENSOR_PREFETCH) return decode_nop(decoder); /* of a map: no cost */
    decode_fill_access(decoder, ISA_MEMORY_PREFETCH, 1);
    decoder->draft.info.element_bytes = 1;
    decoder->draft.info.advice = ptx->op == PTX_OP_DISCARD         ? ISA_ADVICE_DISCARD
                                 : ptx->op == PTX_OP_APPLYPRIORITY ? ISA_ADVICE_NORMAL
                                 : ptx->level == 1                 ? ISA_ADVICE_PREFETCH_L1
                                                                   : ISA_ADVICE_PREFETCH_L2;
    decode_set_handler(decoder, ISA_DO_PREFETCH);
    return decode_base(decoder, &decoder->ptx->operands[0], 0);
}

/* ---- Addresses ---- */

/* Generic address of byte 0 of a space. */
static int64_t window_of(PtxSpace space) {
    switch (space) {
    case PTX_SPACE_CLUSTER:
    case PTX_SPACE_SHARED: return (int64_t)MEM_SHARED_WINDOW;
    case PTX_SPACE_LOCAL: return (int64_t)MEM_LOCAL_WINDOW;
    case PTX_SPACE_PARAM: return (int64_t)MEM_PARAM_WINDOW;
    default: return 0; /* global and constant addresses are already generic */
    }
}

bool decode_cvta(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const PtxOperand *from = &ptx->operands[1];
    PtxSpace space = space_of_registers(decoder, ptx->space);
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
