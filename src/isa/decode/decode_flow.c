/* Control flow: branches, calls, barriers, exits. While a function is being decoded, targets are
 * indices of PTX instructions. decode_resolve_targets turns them into pcs. */
#include "isa/decode/decode.h"

#include <string.h>

/* ---- Branches ---- */

static void set_branch(Decoder *decoder, IsaFlow flow, uint32_t target) {
    IsaInst *inst = &decoder->draft.inst;
    inst->flow = (uint8_t)flow;
    inst->target = target;
    inst->reconverge = (uint32_t)decoder->ptx->reconverge;
    decoder->draft.info.flags |= ISA_IS_BRANCH;
}

bool decode_branch(Decoder *decoder) {
    set_branch(decoder, ISA_FLOW_BRANCH, (uint32_t)decoder->ptx->operands[0].target);
    return true;
}

/* brx.idx index, list */
bool decode_branch_index(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    const PtxOperand *list = &ptx->operands[1];
    const uint32_t first = decode_add_target(decoder, list->count);
    for (int i = 0; i < list->count; ++i)
        decode_add_target(decoder, (uint32_t)list->items[i].target);
    set_branch(decoder, ISA_FLOW_BRANCH_INDEX, first);
    return decode_source(decoder, &ptx->operands[0], PTX_U32, &decoder->draft.inst.operand[0]);
}

static uint32_t pc_of(const Decoder *decoder, uint32_t ptx_index) {
    return (int32_t)ptx_index < 0 ? ISA_NO_PC : decoder->pc_of[ptx_index];
}

/* Marks backward branches whose loop (from target to branch) contains an instruction that may see
 * other threads' stores. A function called in the loop may contain one. */
static void find_waiting_loops(IsaProgram *program, const IsaFunction *function) {
    uint32_t looks = ISA_NO_PC, calls = ISA_NO_PC; /* the last such instruction */
    for (uint32_t pc = function->entry; pc <= function->end; ++pc) {
        IsaInst *inst = &program->insts[pc];
        if (program->infos[pc].flags & ISA_LOOKS) looks = pc;
        if (program->infos[pc].flags & ISA_IS_CALL) calls = pc;
        if (inst->flow != ISA_FLOW_BRANCH || inst->target > pc) continue;
        if (looks != ISA_NO_PC && looks >= inst->target) inst->sub = ISA_LOOP_LOOKS;
        else if (calls != ISA_NO_PC && calls >= inst->target) inst->sub = ISA_LOOP_MAY_LOOK;
    }
}

void decode_resolve_targets(Decoder *decoder, uint32_t first_target) {
    IsaProgram *program = decoder->program;
    const IsaFunction *function = &program->functions[decoder->function_index];
    for (uint32_t pc = function->entry; pc <= function->end; ++pc) {
        IsaInst *inst = &program->insts[pc];
        if (inst->flow == ISA_FLOW_BRANCH) inst->target = pc_of(decoder, inst->target);
        if (inst->flow == ISA_FLOW_BRANCH || inst->flow == ISA_FLOW_BRANCH_INDEX)
            inst->reconverge = pc_of(decoder, inst->reconverge);
    }
    for (uint32_t at = first_target; at < decoder->target_count;) {
        const uint32_t length = program->targets[at++];
        for (uint32_t i = 0; i < length; ++i, ++at)
            program->targets[at] = pc_of(decoder, program->targets[at]);
    }
    find_waiting_loops(program, function);
}

/* ---- Calls ---- */

static bool decode_call_predicate(Decoder *decoder, const PtxOperand *operand, bool is_return,
                                  IsaCallValue *value) {
    enum { AT = 1 }; /* an operand that calls do not use */
    IsaInst *inst = &decoder->draft.inst;
    if (!(is_return ? decode_pred_destination : decode_pred_source)(decoder, operand, AT))
        return false;
    *value = (IsaCallValue){.is_predicate = true, .operand = inst->operand[AT]};
    inst->operand[AT] = 0;
    return true;
}

/* One argument or return operand. `formal` is the callee's parameter; it gives the type of
 * immediates. */
static bool decode_call_value(Decoder *decoder, const PtxOperand *operand, const PtxVar *formal,
                              bool is_return, IsaCallValue *value) {
    if (operand->kind == PTX_OPERAND_ADDRESS) {
        const Address address = decode_address(decoder, operand);
        *value =
            (IsaCallValue){.offset = (uint32_t)address.value, .size = (uint32_t)operand->var->size};
        return address.relative == ISA_DO_LOCAL_ADDRESS ||
               decode_unsupported(decoder, "variable '%s' as a call's operand", operand->var->name);
    }
    if (formal && formal->type == PTX_PRED)
        return decode_call_predicate(decoder, operand, is_return, value);
    const int bits = decode_reg_bits(decoder, operand);
    const PtxType type = formal ? formal->type : bits == 64 ? PTX_B64 : PTX_B32;
    *value = (IsaCallValue){.is_register = true,
                            .size = (uint32_t)(bits ? bits : ptx_type_bits(type)) / 8};
    return is_return ? decode_destination(decoder, operand, &value->operand)
                     : decode_source(decoder, operand, type, &value->operand);
}

uint16_t decode_value_count(const PtxVar *vars, uint16_t count) {
    int values = 0;
    for (int i = 0; i < count; ++i)
        values += vars[i].vector;
    return (uint16_t)values;
}

/* The values of a list of arguments or return operands; each element of a vector is one value. */
static bool decode_call_values(Decoder *decoder, const PtxOperand *operands, uint16_t count,
                               const PtxVar *formals, uint16_t formal_count, bool is_return,
                               IsaCallValue **values, uint16_t *value_count) {
    int used = 0;
    for (int i = 0; i < count; ++i)
        used += operands[i].kind == PTX_OPERAND_VECTOR ? operands[i].count : 1;
    IsaCallValue *value = ARENA_ARRAY(decoder->program->arena, IsaCallValue, used);
    *values = value;
    *value_count = (uint16_t)used;
    for (int i = 0; i < count; ++i) {
        const PtxVar *formal = i < formal_count ? &formals[i] : NULL;
        const bool is_vector = operands[i].kind == PTX_OPERAND_VECTOR;
        const PtxOperand *elements = is_vector ? operands[i].items : &operands[i];
        for (int k = 0; k < (is_vector ? operands[i].count : 1); ++k)
            if (!decode_call_value(decoder, &elements[k], formal, is_return, value++)) return false;
    }
    return true;
}

/* The callee: a function by name, a builtin, or the function whose handle is in a register. */
static bool decode_callee(Decoder *decoder, const PtxOperand *callee) {
    IsaInst *inst = &decoder->draft.inst;
    if (callee->kind != PTX_OPERAND_FUNC) {
        inst->flow = ISA_FLOW_CALL_INDIRECT;
        return decode_source(decoder, callee, PTX_U64, &inst->operand[0]);
    }
    if (!callee->function->is_defined && ptx_is_builtin(callee->function->name)) {
        inst->flow = ISA_FLOW_CALL_BUILTIN;
        inst->target = ptx_find_builtin(callee->function->name);
        return true;
    }
    inst->flow = ISA_FLOW_CALL;
    inst->target = decode_function_index(decoder, callee->function);
    return callee->function->is_defined ||
           decode_unsupported(decoder, "'%s' of CUDA's device runtime", callee->function->name);
}

bool decode_call(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    const PtxOperand *callee = &ptx->operands[0];
    const PtxFunction *function = callee->kind == PTX_OPERAND_FUNC ? callee->function : NULL;
    const PtxPrototype *prototype = ptx->operand_count > 1 ? ptx->operands[1].prototype : NULL;
    IsaCall call = {0};
    const PtxVar *parameters = function    ? function->parameters
                               : prototype ? prototype->parameters
                                           : NULL;
    const uint16_t count = function    ? function->parameter_count
                           : prototype ? prototype->parameter_count
                                       : 0;
    if (!decode_callee(decoder, callee) ||
        !decode_call_values(
            decoder, ptx->call_returns, ptx->call_return_count, function ? function->returns : NULL,
            function ? function->return_count : 0, true, &call.returns, &call.return_count) ||
        !decode_call_values(decoder, ptx->call_arguments, ptx->call_argument_count, parameters,
                            count, false, &call.arguments, &call.argument_count))
        return false;
    decoder->draft.inst.imm = decode_add_call(decoder, &call);
    decoder->draft.info.flags |= ISA_IS_CALL;
    return true;
}

/* ---- Ends ---- */

bool decode_end(Decoder *decoder) {
    IsaInst *inst = &decoder->draft.inst;
    IsaInfo *info = &decoder->draft.info;
    switch (decoder->ptx->op) {
    case PTX_OP_RET:
        inst->flow = ISA_FLOW_RET;
        info->flags |= decoder->function->is_kernel ? ISA_IS_EXIT : ISA_IS_RET;
        return true;
    case PTX_OP_EXIT:
        inst->flow = ISA_FLOW_EXIT;
        info->flags |= ISA_IS_EXIT;
        return true;
    default: inst->flow = ISA_FLOW_TRAP; return true;
    }
}

/* ---- Barriers ---- */

void decode_set_members(Decoder *decoder, IsaOperand members) {
    decoder->draft.inst.target = (uint32_t)members;
    decoder->draft.inst.flags |= ISA_MEETS;
    decoder->draft.info.flags |= ISA_NEEDS_MEMBERS;
}

/* bar.red d, a {, b}, {!}c: decodes the destination and the predicate. */
static bool decode_barrier_reduction(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const PtxOperand *to = &ptx->operands[0], *from = &ptx->operands[ptx->operand_count - 1];
    const bool is_ok = ptx->sub2 == PTX_SUB_POPC
                           ? decode_destination(decoder, to, &inst->operand[2])
                           : decode_pred_destination(decoder, to, 2);
    if (!is_ok || !decode_pred_source(decoder, from, 3)) return false;
    inst->imm = (decoder->negated != 0) | (int64_t)ptx->sub2 << 8;
    return true;
}

bool decode_barrier(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    if (ptx->flags & PTX_FLAG_WARP) { /* bar.warp.sync */
        IsaOperand members;
        if (!decode_source(decoder, &ptx->operands[0], PTX_U32, &members)) return false;
        decode_set_handler(decoder, ISA_DO_WARP_SYNC);
        decode_set_members(decoder, members);
        return true;
    }
    const bool is_reduction = ptx->sub == PTX_SUB_BAR_RED;
    const int first = is_reduction, last = ptx->operand_count - is_reduction;
    inst->flow = ISA_FLOW_BARRIER;
    inst->flags |= ISA_MEETS;
    inst->sub = (uint8_t)ptx->sub;
    decoder->draft.info.flags |= ISA_IS_BARRIER;
    inst->operand[1] = ISA_SINK;
    inst->operand[0] = decode_constant(decoder, 0, false);
    if (is_reduction && !decode_barrier_reduction(decoder)) return false;
    if (first < last && !decode_source(decoder, &ptx->operands[first], PTX_U32, &inst->operand[0]))
        return false;
    return first + 1 >= last ||
           decode_source(decoder, &ptx->operands[first + 1], PTX_U32, &inst->operand[1]);
}
