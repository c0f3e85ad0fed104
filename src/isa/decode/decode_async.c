/* Asynchronous copies, barriers in memory, and cache policies. */
#include "isa/decode/decode.h"

#include "isa/async.h"

/* ---- cp.async ---- */

/* The number of bytes to read, or a predicate that skips the read: operand[2], its kind in sub. */
static bool decode_source_size(Decoder *decoder, const PtxOperand *operand) {
    IsaInst *inst = &decoder->draft.inst;
    const bool is_register = operand->kind == PTX_OPERAND_REG;
    if (is_register && decoder->function->regs[operand->reg].type == PTX_PRED) {
        inst->sub |= ISA_COPY_HAS_IGNORE | (operand->negate ? ISA_COPY_IGNORE_NEGATED : 0);
        return decode_pred_source(decoder, operand, 2);
    }
    inst->sub |= ISA_COPY_HAS_SIZE;
    return decode_source(decoder, operand, PTX_U32, &inst->operand[2]);
}

/* Operands: operand[0] and `target` are base and offset of the destination; operand[1] and imm are
 * base and offset of the source. */
static bool decode_copy_operands(Decoder *decoder, int64_t bytes, IsaMemoryKind kind) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const bool is_load = kind == ISA_MEMORY_LOAD;
    decode_fill_access(decoder, kind, 1);
    inst->size = decoder->draft.info.element_bytes = (uint8_t)bytes;
    inst->space = PTX_SPACE_SHARED;
    if (!decode_base(decoder, &ptx->operands[0], 0)) return false;
    inst->target = (uint32_t)inst->imm;
    if (inst->flags & ISA_BASE_IS_32) inst->sub |= ISA_COPY_TO_IS_32;
    inst->flags &= (uint8_t)~ISA_BASE_IS_32;
    inst->space = PTX_SPACE_GLOBAL;
    if (!decode_base(decoder, &ptx->operands[1], 1)) return false;
    if (is_load && !decode_policy(decoder)) return false;
    if (ptx->operand_count - ptx->has_policy > 3 && !decode_source_size(decoder, &ptx->operands[3]))
        return false;
    decoder->draft.info.space = is_load ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    decode_set_handler(decoder, is_load ? ISA_DO_COPY_READ : ISA_DO_COPY_WRITE);
    return true;
}

/* cp.async becomes two accesses: one reads global memory and writes no register, the other writes
 * shared memory. The bytes move at once; the timing model accounts for the latency. */
static bool decode_copy(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    const int64_t bytes = ptx->operands[2].imm;
    const bool is_l2_only = ptx->cache_op == PTX_CACHE_CG;
    if (bytes != 16 && (is_l2_only || (bytes != 4 && bytes != 8)))
        return decode_unsupported(decoder, "a copy of %lld bytes: %s", (long long)bytes,
                                  is_l2_only ? ".cg takes 16" : ".ca takes 4, 8 or 16");
    const Draft empty = decoder->draft;
    if (!decode_copy_operands(decoder, bytes, ISA_MEMORY_LOAD)) return false;
    decoder->draft.info.flags |= ISA_IS_COPY;
    decode_emit(decoder);
    decoder->draft = empty;
    return decode_copy_operands(decoder, bytes, ISA_MEMORY_STORE);
}

/* Waits for all groups except the latest `pending` ones. ALL also waits for copies that are in no
 * group. */
static void set_wait(Decoder *decoder, int64_t pending) {
    decoder->draft.info.flags |= ISA_IS_COPY_WAIT;
    decoder->draft.info.element_bytes =
        (uint8_t)(pending < ISA_WAIT_ALL ? pending : ISA_WAIT_ALL - 1);
    decode_set_handler(decoder, ISA_DO_NOP);
}

/* ---- cp.async.bulk ---- */

bool decode_shared_base(Decoder *decoder, const PtxOperand *operand, int at, uint8_t is_32,
                        int64_t *offset) {
    IsaInst *inst = &decoder->draft.inst;
    inst->flags &= (uint8_t)~ISA_BASE_IS_32;
    inst->space = PTX_SPACE_SHARED;
    if (!decode_base(decoder, operand, at)) return false;
    *offset = inst->imm;
    if (inst->flags & ISA_BASE_IS_32) inst->sub |= is_32;
    inst->flags &= (uint8_t)~ISA_BASE_IS_32;
    return true;
}

/* Appends to program->wide what does not fit into the operands of a copy with a tensor map: first
 * the ranks of the destination CTAs, then the im2col offsets. Operand `at` of PTX holds the
 * offsets; the ranks follow it. */
static bool decode_more(Decoder *decoder, bool has_offsets, int at) {
    const PtxInst *ptx = decoder->ptx;
    const PtxOperand *offsets = &ptx->operands[at];
    const bool is_list = offsets->kind == PTX_OPERAND_VECTOR;
    const bool is_multicast = ptx->sub2 == PTX_SUB_MULTICAST;
    const int64_t first = decoder->wide_count;
    IsaInst *inst = &decoder->draft.inst;
    IsaOperand row;
    if (is_multicast) {
        inst->flags |= ISA_BULK_MULTICAST;
        if (!decode_source(decoder, &ptx->operands[has_offsets ? at + 1 : at], PTX_U16, &row))
            return false;
        decode_add_wide(decoder, row);
    }
    for (int i = 0; has_offsets && i < ptx->vector - 2; ++i) {
        if (!decode_source(decoder, is_list ? &offsets->items[i] : offsets, PTX_U16, &row))
            return false;
        decode_add_wide(decoder, row);
    }
    inst->imm = (inst->imm & UINT32_MAX) | first << 32;
    return true;
}

/* The ranks of the destination CTAs: operand `at` of PTX if the copy goes to several CTAs. */
static bool decode_multicast(Decoder *decoder, int at, IsaOperand *ranks) {
    if (decoder->ptx->sub2 != PTX_SUB_MULTICAST) return true;
    decoder->draft.inst.flags |= ISA_BULK_MULTICAST;
    return decode_source(decoder, &decoder->ptx->operands[at], PTX_U16, ranks);
}

static bool decode_bulk_addresses(Decoder *decoder, IsaBulkKind kind) {
    const PtxOperand *operands = decoder->ptx->operands;
    IsaInst *inst = &decoder->draft.inst;
    const bool is_to_shared = kind == ISA_BULK_LOAD || kind == ISA_BULK_LOCAL;
    const PtxOperand *shared = &operands[is_to_shared ? 0 : 1];
    const PtxOperand *other = &operands[is_to_shared ? 1 : 0];
    int64_t offset = 0;
    inst->operand[0] = inst->operand[3] = ISA_SINK;
    if (kind != ISA_BULK_PREFETCH &&
        !decode_shared_base(decoder, shared, 0, ISA_BULK_SHARED_IS_32, &offset))
        return false;
    inst->target = (uint32_t)offset;
    if (is_to_shared &&
        !decode_shared_base(decoder, &operands[3], 3, ISA_BULK_BARRIER_IS_32, &offset))
        return false;
    inst->reconverge = (uint32_t)offset;
    if (kind == ISA_BULK_LOCAL)
        return decode_shared_base(decoder, other, 1, ISA_BULK_SOURCE_IS_32, &inst->imm);
    inst->space = PTX_SPACE_GLOBAL;
    return decode_base(decoder, other, 1);
}

/* The bytes move at once; the timing model accounts for the latency. */
static bool decode_bulk(Decoder *decoder, IsaBulkKind kind) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    inst->sub = (uint8_t)kind;
    inst->flow = ISA_FLOW_STORE;
    decoder->draft.info.flags |= ISA_IS_BULK;
    const bool combines = kind == ISA_BULK_LOCAL && ptx->sub2 != PTX_SUB_NONE;
    if (kind == ISA_BULK_REDUCE || combines) {
        inst->size = (uint8_t)(ptx_type_bits(ptx->type) / 8);
        inst->vector = (uint8_t)ptx->sub2;
        inst->flags |= decode_operation_flags(ptx->type);
        decoder->draft.info.flags |= ISA_IS_REDUCTION;
    }
    decode_set_handler(decoder, ISA_DO_BULK);
    if (!decode_multicast(decoder, 4, &inst->operand[4])) return false;
    return decode_bulk_addresses(decoder, kind) &&
           decode_source(decoder, &ptx->operands[kind == ISA_BULK_PREFETCH ? 1 : 2], PTX_U32,
                         &inst->operand[2]);
}

/* PTX operands: a load has the shared address first and the mbarrier last. Other copies have the
 * shared address after the map and its coordinates. */
static bool decode_tensor(Decoder *decoder, IsaBulkKind kind) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const bool is_load = kind == ISA_BULK_LOAD;
    const PtxOperand *map = &ptx->operands[is_load ? 1 : 0], *coordinates = map + 1;
    const PtxOperand *shared = is_load ? &ptx->operands[0] : &ptx->operands[2];
    const bool is_list = coordinates->kind == PTX_OPERAND_VECTOR;
    int64_t offset = 0;
    inst->sub = (uint8_t)kind;
    inst->flow = ISA_FLOW_STORE;
    inst->vector = ptx->vector;
    decoder->draft.info.flags |= ISA_IS_BULK;
    if (kind == ISA_BULK_REDUCE) {
        inst->size = (uint8_t)ptx->sub2;
        decoder->draft.info.flags |= ISA_IS_REDUCTION;
    }
    decode_set_handler(decoder, ISA_DO_TENSOR);
    inst->operand[0] = inst->operand[7] = ISA_SINK;
    for (int i = 0; i < ptx->vector; ++i)
        if (!decode_source(decoder, is_list ? &coordinates->items[i] : coordinates, PTX_U32,
                           &inst->operand[2 + i]))
            return false;
    if (kind != ISA_BULK_PREFETCH &&
        !decode_shared_base(decoder, shared, 0, ISA_BULK_SHARED_IS_32, &offset))
        return false;
    inst->target = (uint32_t)offset;
    if (is_load &&
        !decode_shared_base(decoder, &ptx->operands[3], 7, ISA_BULK_BARRIER_IS_32, &offset))
        return false;
    inst->reconverge = (uint32_t)offset;
    inst->space = PTX_SPACE_NONE;
    if (ptx->flags & PTX_FLAG_IM2COL) inst->flags |= ISA_BULK_IM2COL;
    const bool has_offsets =
        inst->flags & ISA_BULK_IM2COL && (is_load || kind == ISA_BULK_PREFETCH);
    return decode_base(decoder, map, 1) && decode_more(decoder, has_offsets, is_load ? 4 : 2);
}

bool decode_cp(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    switch (ptx->sub) {
    case PTX_SUB_TENSOR_LOAD: return decode_tensor(decoder, ISA_BULK_LOAD);
    case PTX_SUB_TENSOR_STORE: return decode_tensor(decoder, ISA_BULK_STORE);
    case PTX_SUB_TENSOR_REDUCE: return decode_tensor(decoder, ISA_BULK_REDUCE);
    case PTX_SUB_TENSOR_PREFETCH: return decode_tensor(decoder, ISA_BULK_PREFETCH);
    case PTX_SUB_BULK_LOAD: return decode_bulk(decoder, ISA_BULK_LOAD);
    case PTX_SUB_BULK_STORE: return decode_bulk(decoder, ISA_BULK_STORE);
    case PTX_SUB_BULK_LOCAL: return decode_bulk(decoder, ISA_BULK_LOCAL);
    case PTX_SUB_BULK_REDUCE: return decode_bulk(decoder, ISA_BULK_REDUCE);
    case PTX_SUB_BULK_PREFETCH: return decode_bulk(decoder, ISA_BULK_PREFETCH);
    case PTX_SUB_CP_COMMIT:
        decoder->draft.info.flags |= ISA_IS_COPY_COMMIT;
        decode_set_handler(decoder, ISA_DO_NOP);
        return true;
    case PTX_SUB_CP_WAIT_GROUP:
        if (ptx->operands[0].imm < 0)
            return decode_unsupported(decoder, "a negative number of groups");
        set_wait(decoder, ptx->operands[0].imm);
        return true;
    case PTX_SUB_CP_WAIT_ALL:
        set_wait(decoder, 0);
        decoder->draft.info.element_bytes = ISA_WAIT_ALL;
        return true;
    case PTX_SUB_CP_ARRIVE: { /* the arrival follows the copies: the warp waits for them first */
        const Draft empty = decoder->draft;
        set_wait(decoder, 0);
        decoder->draft.info.element_bytes = ISA_WAIT_ALL;
        decode_emit(decoder);
        decoder->draft = empty;
        decode_fill_access(decoder, ISA_MEMORY_ATOMIC, 1);
        inst->size = decoder->draft.info.element_bytes = 8;
        inst->sub = ptx->flags & PTX_FLAG_NOINC ? ISA_MBARRIER_ARRIVE : ISA_MBARRIER_LOOK;
        inst->operand[0] = inst->operand[2] = ISA_SINK;
        decoder->draft.info.flags |= ISA_IS_REDUCTION;
        decode_set_handler(decoder, ISA_DO_MBARRIER);
        inst->flow = ISA_FLOW_NEXT; /* the handler counts changes itself */
        return decode_base(decoder, &ptx->operands[0], 1);
    }
    default: return decode_copy(decoder);
    }
}

/* ---- mbarrier ---- */

/* Finds the address among the operands as written, and decodes the operands that follow it. */
bool decode_mbarrier(Decoder *decoder) {
    static const struct {
        PtxSub sub;
        uint8_t is;
        bool has_result;
    } rows[] = {{PTX_SUB_MBARRIER_INIT, ISA_MBARRIER_INIT, false},
                {PTX_SUB_MBARRIER_INVAL, ISA_MBARRIER_INVAL, false},
                {PTX_SUB_MBARRIER_ARRIVE, ISA_MBARRIER_ARRIVE, true},
                {PTX_SUB_MBARRIER_ARRIVE_DROP, ISA_MBARRIER_DROP, true},
                {PTX_SUB_MBARRIER_WAIT, ISA_MBARRIER_WAIT, true},
                {PTX_SUB_MBARRIER_TRY, ISA_MBARRIER_WAIT, true},
                {PTX_SUB_MBARRIER_EXPECT, ISA_MBARRIER_EXPECT, false},
                {PTX_SUB_MBARRIER_COMPLETE, ISA_MBARRIER_COMPLETE, false},
                {PTX_SUB_MBARRIER_PENDING, 0, true}};
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    if (ptx->sub == PTX_SUB_MBARRIER_PENDING) {
        decode_set_handler(decoder, ISA_DO_MBARRIER_PENDING);
        return decode_destination(decoder, &ptx->operands[0], &inst->operand[0]) &&
               decode_source(decoder, &ptx->operands[1], PTX_U64, &inst->operand[1]);
    }
    size_t row = 0;
    while (rows[row].sub != ptx->sub)
        ++row;
    const int address = rows[row].has_result ? 1 : 0;
    const bool is_parity = (ptx->flags & PTX_FLAG_PARITY) != 0;
    const bool tries = ptx->sub == PTX_SUB_MBARRIER_TRY;
    const bool is_wait = tries || ptx->sub == PTX_SUB_MBARRIER_WAIT;
    decode_fill_access(decoder, ISA_MEMORY_ATOMIC, 1);
    inst->size = decoder->draft.info.element_bytes = 8;
    inst->sub = is_parity ? ISA_MBARRIER_WAIT_PARITY : rows[row].is;
    if (ptx->flags & PTX_FLAG_NO_COMPLETE) inst->flags |= ISA_MBARRIER_NO_COMPLETE;
    if (ptx->sub2 == PTX_SUB_MBARRIER_EXPECT) inst->flags |= ISA_MBARRIER_EXPECTS;
    if (tries) inst->flags |= ISA_MBARRIER_TRIES;
    inst->operand[0] = inst->operand[2] = inst->operand[3] = ISA_SINK;
    decoder->draft.info.flags |= ISA_LOOKS;
    if (inst->space == PTX_SPACE_NONE || ptx->space == PTX_SPACE_CLUSTER) {
        inst->space = (uint8_t)ptx->space; /* the mbarrier may belong to another CTA */
        decoder->draft.info.space = PTX_SPACE_SHARED;
        decoder->draft.info.flags |= ISA_IS_BULK;
    }
    decode_set_handler(decoder, ISA_DO_MBARRIER);
    inst->flow = ISA_FLOW_NEXT; /* the handler counts changes itself */
    bool is_ok = true;
    if (!rows[row].has_result) decoder->draft.info.flags |= ISA_IS_REDUCTION;
    else if (is_wait) is_ok = decode_pred_destination(decoder, &ptx->operands[0], 0);
    else if (ptx->operands[0].kind != PTX_OPERAND_SINK)
        is_ok = decode_destination(decoder, &ptx->operands[0], &inst->operand[0]);
    if (!is_ok) return false;
    const int more = address + 1;
    if (ptx->operand_count > more + 1 &&
        !decode_source(decoder, &ptx->operands[more + 1], PTX_U32, &inst->operand[3]))
        return false;
    if (ptx->operand_count > more &&
        !decode_source(decoder, &ptx->operands[more], is_wait && !is_parity ? PTX_U64 : PTX_U32,
                       &inst->operand[2]))
        return false;
    return decode_base(decoder, &ptx->operands[address], 1);
}

/* ---- Clusters ---- */

/* If the CTA is its own cluster, the barrier is one for all threads of the CTA. */
bool decode_cluster_barrier(Decoder *decoder) {
    IsaInst *inst = &decoder->draft.inst;
    const bool is_arrival = decoder->ptx->sub == PTX_SUB_BAR_ARRIVE;
    inst->flow = ISA_FLOW_CLUSTER;
    inst->flags |= ISA_MEETS;
    inst->sub = is_arrival ? PTX_SUB_BAR_ARRIVE : PTX_SUB_BAR_SYNC;
    inst->operand[0] = decode_constant(decoder, 0, false);
    inst->operand[1] = ISA_SINK;
    decoder->draft.info.flags |= ISA_IS_BULK | (is_arrival ? 0 : ISA_IS_BARRIER);
    return true;
}

bool decode_mapa(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    inst->size = (uint8_t)(ptx_type_bits(ptx->type) / 8);
    decode_set_handler(decoder, ISA_DO_MAPA);
    return decode_destination(decoder, &ptx->operands[0], &inst->operand[0]) &&
           decode_source(decoder, &ptx->operands[1], ptx->type, &inst->operand[1]) &&
           decode_source(decoder, &ptx->operands[2], PTX_U32, &inst->operand[2]);
}

bool decode_cta_rank(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    inst->size = (uint8_t)(ptx_type_bits(ptx->type) / 8);
    decode_set_handler(decoder, ISA_DO_CTA_RANK);
    return decode_destination(decoder, &ptx->operands[0], &inst->operand[0]) &&
           decode_source(decoder, &ptx->operands[1], ptx->type, &inst->operand[1]);
}

/* st.async, red.async: address, data, mbarrier. */
bool decode_async_store(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const PtxOperand *data = &ptx->operands[1];
    const bool is_list = data->kind == PTX_OPERAND_VECTOR;
    const int count = is_list ? data->count : 1;
    int64_t offset = 0;
    inst->size = (uint8_t)(ptx_type_bits(ptx->type) / 8);
    inst->vector = (uint8_t)count;
    inst->flow = ISA_FLOW_STORE;
    decoder->draft.info.flags |= ISA_IS_BULK;
    decode_set_handler(decoder, ISA_DO_ASYNC_STORE);
    for (int i = 0; i < count; ++i)
        if (!decode_source(decoder, is_list ? &data->items[i] : data, ptx->type, &inst->operand[i]))
            return false;
    if (!decode_shared_base(decoder, &ptx->operands[2], 5, ISA_BULK_SHARED_IS_32, &offset))
        return false;
    inst->target = (uint32_t)offset;
    inst->sub = 0;
    inst->space = PTX_SPACE_SHARED;
    if (ptx->op == PTX_OP_ASYNC_RED) {
        inst->sub = (uint8_t)ptx->sub2;
        inst->flags |= decode_operation_flags(ptx->type);
    }
    return decode_base(decoder, &ptx->operands[0], 4);
}

/* griddepcontrol changes no value; the timing model implements it. A functional run executes one
 * grid after another. */
bool decode_dependency(Decoder *decoder) {
    const bool is_wait = decoder->ptx->sub == PTX_SUB_DEPENDENCY_WAIT;
    decoder->draft.info.flags |= ISA_IS_DEPENDENCY;
    decoder->draft.info.advice = is_wait ? ISA_DEPENDENCY_WAIT : ISA_DEPENDENCY_TRIGGER;
    return decode_nop(decoder);
}

/* Instructions without functional effect: prefetches of tensor maps, and others that only the
 * timing model implements. */
bool decode_nop(Decoder *decoder) {
    decode_set_handler(decoder, ISA_DO_NOP);
    return true;
}

/* ---- createpolicy ---- */

bool decode_createpolicy(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const PtxOperand *operands = ptx->operands;
    inst->size = 8;
    inst->sub = (uint8_t)(ptx->evict_l2 | ptx->evict_rest << 4);
    if (!decode_destination(decoder, &operands[0], &inst->operand[0])) return false;
    switch (ptx->sub) {
    case PTX_SUB_POLICY_FRACTION:
        decode_set_handler(decoder, ISA_DO_POLICY_FRACTION);
        if (ptx->operand_count > 1)
            return decode_source(decoder, &operands[1], PTX_F32, &inst->operand[1]);
        inst->operand[1] = decode_constant(decoder, UINT32_C(0x3f800000), false); /* 1.0 */
        return true;
    case PTX_SUB_POLICY_RANGE:
        decode_set_handler(decoder, ISA_DO_POLICY_RANGE);
        return decode_base(decoder, &operands[1], 1) &&
               decode_source(decoder, &operands[2], PTX_U32, &inst->operand[2]) &&
               decode_source(decoder, &operands[3], PTX_U32, &inst->operand[3]);
    default: /* a property of the CUDA API has the layout of a policy */
        decode_set_handler(decoder, ISA_DO_MOV_64);
        return decode_source(decoder, &operands[1], PTX_U64, &inst->operand[1]);
    }
}
