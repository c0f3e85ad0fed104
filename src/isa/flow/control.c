/* Control flow: branches, calls, barriers, exits, and the loop that steps a warp. converge.h
 * describes how lanes diverge and reconverge. */
#include "isa/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "isa/check/check.h"
#include "isa/cluster.h"
#include "isa/flow/converge.h"
#include "isa/flow/warpgroup.h"

enum { MAX_FRAMES = 1 << 15 };

/* ---- Branches ---- */

/* The lanes of the mask that have the same value in the row as the leader. */
static uint32_t lanes_like(const uint32_t *row, int leader, uint32_t mask) {
    uint32_t lanes = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (row[bits_lowest32(rest)] == row[leader]) lanes |= 1u << bits_lowest32(rest);
    return lanes;
}

/* Branches with the lanes that have one value of the index; the others execute the instruction
 * again. */
static bool branch_indexed(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    const uint32_t *index = isa_row32(warp, inst->operand[0]);
    const uint32_t *targets = &context->program->targets[inst->target];
    const int leader = bits_lowest32(mask);
    const uint32_t value = index[leader], group = lanes_like(index, leader, mask);
    if (value >= targets[0]) {
        isa_fault(context, warp, leader, ISA_FAULT_CALL,
                  "brx.idx: index %u is outside its list of %u targets", value, targets[0]);
        return false;
    }
    /* Lanes with other values return to this instruction: their "fallthrough" is its own pc. */
    uint32_t again = group == mask ? warp->pc + 1 : warp->pc;
    return converge_branch(context, warp, group, targets[1 + value], again, inst->reconverge);
}

/* ---- Jumps of machine code, whose instructions say where lanes reconverge ---- */

/* The lanes of the mask that both predicates of a jump or EXIT allow. */
static uint32_t jumping(const IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    const uint32_t first = warp->preds[inst->operand[1]], second = warp->preds[inst->operand[2]];
    mask &= inst->sub & ISA_JUMP_NEGATED ? ~first : first;
    return mask & (inst->sub & ISA_JUMP_NEGATED_2 ? ~second : second);
}

/* Whether the instruction names live lanes that are not among `lanes`. */
static bool are_apart(const IsaWarp *warp, const IsaInst *inst, uint32_t lanes) {
    const uint32_t named = isa_row32(warp, inst->operand[3])[bits_lowest32(lanes)];
    return ((inst->sub & ISA_JUMP_INVERTED ? ~named : named) & warp->alive & ~lanes) != 0;
}

/* ISA_JUMP_APART is decided for the whole warp. ptxas guards the jump by "this lane's member mask
 * is the one that was tested", and all lanes must take the long way if one of them has another
 * mask. */
static bool jump(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    uint32_t lanes = jumping(warp, inst, mask);
    if (lanes && inst->sub & ISA_JUMP_APART)
        lanes = are_apart(warp, inst, lanes) ? warp->active : 0;
    if (lanes && inst->sub & ISA_JUMP_TOGETHER && are_apart(warp, inst, lanes)) lanes = 0;
    if (inst->sub & ISA_JUMP_ANY && lanes) lanes = warp->active;
    if (!lanes) {
        warp->pc++;
        return true;
    }
    return converge_branch(context, warp, lanes, inst->target, warp->pc + 1, ISA_NO_PC);
}

/* The lanes with one value continue; the others execute the instruction again. */
static bool split(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    const uint32_t *row = isa_row32(warp, (IsaOperand)inst->target);
    const uint32_t group = lanes_like(row, bits_lowest32(mask), mask);
    if (group == warp->active) {
        warp->pc++;
        return true;
    }
    const uint32_t again = group == mask ? warp->pc + 1 : warp->pc;
    return converge_branch(context, warp, group, warp->pc + 1, again, ISA_NO_PC);
}

/* `group` calls a function of the simulator; the others execute the instruction again. */
static bool call_system(IsaContext *context, IsaWarp *warp, uint32_t builtin, uint32_t group) {
    const IsaInst *call = &context->program->builtins[builtin];
    if (!call->exec) {
        isa_fault(context, warp, bits_lowest32(group), ISA_FAULT_CALL,
                  "call of a function of the system that machine code cannot call here");
        return false;
    }
    call->exec(context, warp, call, group);
    if (context->fault.is_set) return false;
    return converge_branch(context, warp, group, warp->pc + 1, warp->pc, ISA_NO_PC);
}

/* The lanes with one target jump; the others execute the instruction again. */
static bool jump_lanes(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    const uint32_t *row = isa_row32(warp, inst->operand[0]);
    const uint32_t lanes = jumping(warp, inst, mask);
    if (!lanes) {
        warp->pc++;
        return true;
    }
    const int leader = bits_lowest32(lanes);
    const uint32_t address = row[leader] + (uint32_t)inst->imm;
    const uint32_t group = lanes_like(row, leader, lanes);
    if (address - ISA_BUILTIN_ADDRESS < 16 * PTX_BUILTIN_COUNT)
        return call_system(context, warp, (address - ISA_BUILTIN_ADDRESS) / 16, group);
    if (address % 16 || address / 16 >= context->program->inst_count) {
        isa_fault(context, warp, leader, ISA_FAULT_CALL, "jump to 0x%x, where there is no code",
                  address);
        return false;
    }
    const uint32_t again = group == lanes ? warp->pc + 1 : warp->pc;
    return converge_branch(context, warp, group, address / 16, again, ISA_NO_PC);
}

/* ---- Calls ---- */

/* Place of one lane's value, on the caller's or the callee's side. */
typedef struct Place {
    bool is_register;
    uint8_t *row;    /* is_register: first row */
    uint32_t offset; /* otherwise: byte offset in local memory */
} Place;

static void place_read(const IsaWarp *warp, Place place, int lane, uint8_t *bytes, uint32_t size) {
    if (!place.is_register) isa_local_read(warp, lane, place.offset, bytes, size);
    else memcpy(bytes, place.row + (size_t)lane * (size > 4 ? 8 : 4), size);
}

static void place_write(IsaWarp *warp, Place place, int lane, const uint8_t *bytes, uint32_t size) {
    if (!place.is_register) {
        isa_local_write(warp, lane, place.offset, bytes, size);
    } else if (size > 4) {
        memcpy(place.row + (size_t)lane * 8, bytes, size);
    } else {
        uint32_t value = 0; /* small registers are kept zero-extended */
        memcpy(&value, bytes, size);
        memcpy(place.row + (size_t)lane * 4, &value, sizeof value);
    }
}

static uint8_t *operand_row(const IsaWarp *warp, const IsaFrame *frame, IsaOperand operand) {
    return operand & 1 ? warp->base[1] + (operand & ~1)
                       : warp->registers + frame->register_at + operand;
}

static Place caller_place(const IsaWarp *warp, const IsaFrame *frame, const IsaCallValue *value) {
    if (value->is_register)
        return (Place){.is_register = true, .row = operand_row(warp, frame, value->operand)};
    return (Place){.offset = frame->local_base + value->offset};
}

static Place callee_place(const IsaWarp *warp, const IsaFrame *frame, const IsaFormal *formal) {
    if (formal->is_register)
        return (Place){.is_register = true, .row = operand_row(warp, frame, formal->operand)};
    return (Place){.offset = frame->local_base + formal->offset};
}

static void copy_value(IsaWarp *warp, Place from, Place to, uint32_t size, uint32_t mask) {
    for (; mask; mask &= mask - 1) {
        int lane = bits_lowest32(mask);
        Place source = from, destination = to;
        for (uint32_t left = size; left;) {
            uint8_t bytes[8];
            uint32_t part = left < sizeof bytes ? left : (uint32_t)sizeof bytes;
            place_read(warp, source, lane, bytes, part);
            place_write(warp, destination, lane, bytes, part);
            left -= part;
            source.offset += part;
            destination.offset += part;
        }
    }
}

static uint32_t *predicate_word(const IsaProgram *program, const IsaWarp *warp,
                                const IsaFrame *frame, IsaOperand word) {
    const uint32_t offset = program->functions[frame->function].pred_offset;
    return (uint32_t *)(void *)(warp->registers + frame->register_at + offset) + word;
}

static void copy_predicate(const uint32_t *from, uint32_t *to, uint32_t mask) {
    *to = (*to & ~mask) | (*from & mask);
}

/* Adds a frame for a call of `function` by `lanes`, with room for its rows and its local area plus
 * `rest` bytes. Registers are zero. First removes frames at the end that all lanes have left; with
 * the stack, the running frame is then the last. */
static bool frame_push(IsaContext *context, IsaWarp *warp, uint32_t function, uint32_t rest,
                       uint32_t lanes, uint32_t *index) {
    const IsaProgram *program = context->program;
    const IsaFunction *callee = &program->functions[function];
    const IsaFrame *caller = &warp->frames[warp->frame];
    while (!warp->frames[warp->frame_count - 1].lanes)
        warp->frame_count--;
    const IsaFrame *last = &warp->frames[warp->frame_count - 1];
    uint32_t at = last->register_at + program->functions[last->function].frame_bytes;
    uint32_t local_base = (uint32_t)bits_align_up(caller->local_end, 16);
    uint32_t local_end = local_base + callee->local_bytes + rest;
    if (warp->frame_count == MAX_FRAMES) {
        isa_fault(context, warp, bits_lowest32(warp->active), ISA_FAULT_STACK,
                  "stack overflow: more than %d nested calls", MAX_FRAMES);
        return false;
    }
    if (!isa_local_reserve(context, warp, local_end)) return false;
    size_t needed = (size_t)at + callee->frame_bytes;
    if (needed > warp->register_bytes) {
        size_t capacity = needed + needed / 2;
        uint8_t *registers = base_alloc_lines(capacity);
        memcpy(registers, warp->registers, warp->register_bytes);
        free(warp->registers);
        warp->registers = registers;
        warp->register_bytes = capacity;
    }
    if (warp->frame_count == warp->frame_capacity) {
        warp->frame_capacity *= 2;
        warp->frames = base_realloc(warp->frames, warp->frame_capacity * sizeof *warp->frames);
    }
    memset(warp->registers + at, 0, callee->frame_bytes);
    if (context->launch->check) isa_check_frame(warp, local_base, local_end);
    *index = warp->frame_count++;
    warp->frames[*index] = (IsaFrame){.function = function,
                                      .register_at = at,
                                      .local_base = local_base,
                                      .local_end = local_end,
                                      .call_pc = warp->pc,
                                      .caller = warp->frame,
                                      .lanes = lanes};
    return true;
}

/* Calls a function for `mask`; the caller's entry continues after the call with all its lanes. */
static bool call(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                 uint32_t function, uint32_t return_pc) {
    const IsaProgram *program = context->program;
    const IsaFunction *callee = &program->functions[function];
    const IsaCall *list = &program->calls[inst->imm];
    uint32_t frame, rest = 0;
    for (uint32_t i = 0; i < list->argument_count; i++)
        if (callee->parameters[i].is_rest) rest = list->arguments[i].size;
    if (!frame_push(context, warp, function, rest, mask, &frame)) return false;
    const IsaFrame *from = &warp->frames[warp->frame], *to = &warp->frames[frame];
    for (uint32_t i = 0; i < list->argument_count; i++) {
        const IsaFormal *parameter = &callee->parameters[i];
        if (parameter->is_predicate)
            copy_predicate(predicate_word(program, warp, from, list->arguments[i].operand),
                           predicate_word(program, warp, to, parameter->operand), mask);
        else
            copy_value(warp, caller_place(warp, from, &list->arguments[i]),
                       callee_place(warp, to, parameter),
                       parameter->is_rest ? rest : parameter->size, mask);
    }
    if (!converge_call(context, warp, return_pc, mask)) return false;
    converge_enter_frame(warp, program, frame);
    warp->preds[ISA_PRED_TRUE] = UINT32_MAX;
    warp->pc = callee->entry;
    warp->active = mask;
    return true;
}

/* The first value of a call whose size differs from what the other side expects; -1 if there is
 * none. */
static int first_misfit(const IsaCallValue *values, const IsaFormal *formals, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (formals[i].is_predicate) return (int)i; /* indirect calls pass no predicates */
        /* registers of 8 and 16 bits are passed in 32 */
        bool is_small = values[i].is_register && values[i].size <= 4 && formals[i].size <= 4;
        if (values[i].size != formals[i].size && !is_small && !formals[i].is_rest) return (int)i;
    }
    return -1;
}

/* Whether the call's arguments and results match `callee`, which was found by its handle. */
static bool check_indirect(IsaContext *context, const IsaWarp *warp, int lane, const IsaCall *list,
                           const IsaFunction *callee) {
    const bool has_rest = ptx_has_rest(callee->ptx->parameters, callee->ptx->parameter_count);
    const bool lacks_rest = has_rest && list->argument_count + 1 == callee->parameter_count;
    if ((callee->parameter_count != list->argument_count && !lacks_rest) ||
        callee->return_count != list->return_count) {
        isa_fault(context, warp, lane, ISA_FAULT_CALL,
                  "indirect call of %s with %u arguments and %u results; it has %u and %u",
                  callee->ptx->name, list->argument_count, list->return_count,
                  callee->parameter_count, callee->return_count);
        return false;
    }
    int argument = first_misfit(list->arguments, callee->parameters, list->argument_count);
    int result = first_misfit(list->returns, callee->returns, list->return_count);
    if (argument < 0 && result < 0) return true;
    bool is_argument = argument >= 0;
    int at = is_argument ? argument : result;
    isa_fault(context, warp, lane, ISA_FAULT_CALL,
              "indirect call of %s with %u bytes as %s %d; it has %u", callee->ptx->name,
              is_argument ? list->arguments[at].size : list->returns[at].size,
              is_argument ? "argument" : "result", at + 1,
              is_argument ? callee->parameters[at].size : callee->returns[at].size);
    return false;
}

static bool call_indirect(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    const IsaProgram *program = context->program;
    const uint64_t *handles = isa_row64(warp, inst->operand[0]);
    const IsaCall *list = &program->calls[inst->imm];
    int leader = bits_lowest32(mask);
    uint64_t handle = handles[leader], index = (handle - ISA_CODE_WINDOW) / 16;
    uint32_t group = 0;
    if (handle < ISA_CODE_WINDOW || index >= program->function_count || (handle & 15) ||
        program->functions[index].ptx->is_kernel || !program->functions[index].ptx->is_defined) {
        isa_fault(context, warp, leader, ISA_FAULT_CALL,
                  "indirect call of 0x%llx, which is no function", (unsigned long long)handle);
        return false;
    }
    if (!check_indirect(context, warp, leader, list, &program->functions[index])) return false;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (handles[bits_lowest32(rest)] == handle) group |= 1u << bits_lowest32(rest);
    uint32_t here = warp->pc;
    /* Lanes with other functions return to this instruction; all meet after it. */
    if (group != mask && !converge_branch(context, warp, group, ISA_NO_PC, here, here + 1))
        return false;
    warp->pc = here;
    return call(context, warp, inst, group, (uint32_t)index, here + 1);
}

/* Returns from the current function for `mask`: copies the results to the caller, then the lanes
 * leave the frame. */
static void ret(IsaContext *context, IsaWarp *warp, uint32_t mask) {
    const IsaProgram *program = context->program;
    const IsaFrame *from = &warp->frames[warp->frame], *to = &warp->frames[from->caller];
    const IsaFunction *callee = &program->functions[from->function];
    const IsaCall *list = &program->calls[program->insts[from->call_pc].imm];
    for (uint32_t i = 0; i < list->return_count; i++) {
        const IsaFormal *result = &callee->returns[i];
        if (result->is_predicate)
            copy_predicate(predicate_word(program, warp, from, result->operand),
                           predicate_word(program, warp, to, list->returns[i].operand), mask);
        else
            copy_value(warp, callee_place(warp, from, result),
                       caller_place(warp, to, &list->returns[i]), result->size, mask);
    }
    warp->frames[warp->frame].lanes &= ~mask;
    converge_return(warp, mask);
}

/* ---- Barriers ---- */

/* Writes the results of the bar.red instructions that wait at a complete barrier. */
static void barrier_write_results(const IsaContext *context, IsaCta *cta,
                                  const IsaBarrier *barrier) {
    for (uint32_t rest = barrier->reducing; rest; rest &= rest - 1) {
        int index = bits_lowest32(rest);
        IsaWarp *warp = &cta->warps[index];
        const IsaInst *inst = &context->program->insts[cta->red_pc[index]];
        uint32_t lanes = cta->red_lanes[index];
        PtxSub sub = (PtxSub)(inst->imm >> 8);
        if (sub == PTX_SUB_POPC) {
            uint32_t *row = isa_row32(warp, inst->operand[2]);
            for (uint32_t l = lanes; l; l &= l - 1)
                row[bits_lowest32(l)] = barrier->true_lanes;
        } else {
            bool result = sub == PTX_SUB_AND ? barrier->true_lanes == barrier->red_lanes
                                             : barrier->true_lanes != 0;
            uint32_t *word = &warp->preds[inst->operand[2]];
            *word = (*word & ~lanes) | (result ? lanes : 0);
        }
    }
}

/* Releases every barrier that all expected threads have reached. */
static void barriers_release(const IsaContext *context, IsaCta *cta) {
    for (uint32_t rest = cta->used_barriers; rest; rest &= rest - 1) {
        IsaBarrier *barrier = &cta->barriers[bits_lowest32(rest)];
        uint32_t expected =
            barrier->expected ? barrier->expected : (uint32_t)bits_count32(cta->alive) * ISA_LANES;
        if (barrier->arrived < expected) continue;
        if (context->launch->check)
            isa_check_completion(context, cta, (uint32_t)bits_lowest32(rest));
        barrier_write_results(context, cta, barrier);
        cta->waiting &= ~barrier->waiting;
        cta->used_barriers &= ~(1u << bits_lowest32(rest));
        *barrier = (IsaBarrier){0};
    }
}

/* Arrives at a barrier. Returns true if there was no fault; the warp may now be waiting. */
static bool barrier_arrive(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    IsaCta *cta = warp->cta;
    int leader = bits_lowest32(mask);
    uint32_t number = isa_row32(warp, inst->operand[0])[leader];
    uint32_t count = inst->operand[1] == ISA_SINK ? 0 : isa_row32(warp, inst->operand[1])[leader];
    if (number >= ISA_BARRIERS) {
        isa_fault(context, warp, leader, ISA_FAULT_BARRIER,
                  "barrier %u does not exist: a CTA has barriers 0 to %d", number,
                  ISA_BARRIERS - 1);
        return false;
    }
    if (count % ISA_LANES || (inst->operand[1] != ISA_SINK && !count)) {
        isa_fault(context, warp, leader, ISA_FAULT_BARRIER,
                  "barrier with a count of %u threads, which is no %smultiple of the warp size 32",
                  count, count ? "" : "positive ");
        return false;
    }
    if (context->launch->check) isa_check_arrival(context, warp, number, count, mask);
    IsaBarrier *barrier = &cta->barriers[number];
    barrier->arrived += ISA_LANES;
    if (count) barrier->expected = count;
    cta->used_barriers |= 1u << number;
    if (inst->sub != PTX_SUB_BAR_ARRIVE) {
        barrier->waiting |= 1u << warp->index;
        cta->waiting |= 1u << warp->index;
    }
    if (inst->sub == PTX_SUB_BAR_RED) {
        uint32_t word = warp->preds[inst->operand[3]] ^ -(uint32_t)(inst->imm & 1);
        barrier->reducing |= 1u << warp->index;
        barrier->true_lanes += (uint32_t)bits_count32(word & mask);
        barrier->red_lanes += (uint32_t)bits_count32(mask);
        cta->red_pc[warp->index] = warp->pc;
        cta->red_lanes[warp->index] = mask;
    }
    barriers_release(context, cta);
    return true;
}

/* The barrier of the cluster. If the CTA is its own cluster, only the wait arrives, as in code of
 * ptxas. */
static bool cluster_barrier(IsaContext *context, IsaWarp *warp, const IsaInst *inst,
                            uint32_t mask) {
    const bool is_arrival = inst->sub == PTX_SUB_BAR_ARRIVE;
    context->bulk_count = 0;
    if (!warp->cta->cluster) return is_arrival || barrier_arrive(context, warp, inst, mask);
    if (is_arrival) isa_cluster_arrive(context, warp, mask);
    else isa_cluster_wait(context, warp, mask);
    return true;
}

/* ---- Stepping ---- */

static IsaEvent warp_exited(IsaContext *context, IsaWarp *warp) {
    IsaCta *cta = warp->cta;
    cta->alive &= ~(1u << warp->index);
    if (context->launch->check) isa_check_exit(context, warp);
    barriers_release(context, cta);
    if (cta->group_waits) warpgroup_release(warp);
    return ISA_EVENT_EXIT;
}

/* The text of a trap. A trap may replace a function that cannot run. */
static const char *refusal_of(const IsaProgram *program, uint32_t pc) {
    const char *refusal = program->functions[program->infos[pc].function].refusal;
    return refusal ? refusal : "the kernel gave up";
}

bool isa_holds_lanes_back(const IsaWarp *warp) {
    return !warp->paths && warp->depth > 0 && (warp->alive & ~warp->active) != 0;
}

/* Ends threads of the warp. */
static void end_lanes(IsaContext *context, IsaWarp *warp, uint32_t mask) {
    context->changes++;
    warp->alive &= ~mask;
    for (uint32_t i = 1; i < warp->frame_count; i++)
        warp->frames[i].lanes &= ~mask;
    if (warp->cta->cluster) isa_cluster_exit(context, warp, mask);
    converge_exit(warp, mask);
    if (warp->active) warp->pc++;
}

/* Executes an instruction that does more than write registers. */
static IsaEvent step_flow(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    if (!mask) {
        warp->pc++;
        if (!converge_settle(context, warp)) return warp_exited(context, warp);
        return context->fault.is_set ? ISA_EVENT_FAULT : ISA_EVENT_NONE;
    }
    bool is_ok = true, is_loop = false;
    switch ((IsaFlow)inst->flow) {
    case ISA_FLOW_BRANCH:
        is_loop = inst->target <= warp->pc;
        is_ok = converge_branch(context, warp, mask, inst->target, warp->pc + 1, inst->reconverge);
        break;
    case ISA_FLOW_BRANCH_INDEX: is_ok = branch_indexed(context, warp, inst, mask); break;
    case ISA_FLOW_CALL: is_ok = call(context, warp, inst, mask, inst->target, warp->pc + 1); break;
    case ISA_FLOW_CALL_INDIRECT: is_ok = call_indirect(context, warp, inst, mask); break;
    case ISA_FLOW_CALL_BUILTIN:
        context->changes++;
        isa_builtin_call(context, warp, inst, mask);
        is_ok = !context->fault.is_set;
        warp->pc++;
        break;
    case ISA_FLOW_RET:
        if (warp->frame > 0) {
            ret(context, warp, mask);
            if (warp->active) warp->pc++; /* a guarded ret: the other lanes continue */
            break;
        }
        __attribute__((fallthrough)); /* a kernel's ret ends the thread */
    case ISA_FLOW_EXIT: end_lanes(context, warp, mask); break;
    case ISA_FLOW_EXIT_IF:
        mask = jumping(warp, inst, mask);
        if (mask) end_lanes(context, warp, mask);
        else warp->pc++;
        break;
    case ISA_FLOW_BARRIER:
        is_ok = barrier_arrive(context, warp, inst, mask);
        warp->pc++;
        break;
    case ISA_FLOW_CLUSTER:
        is_ok = cluster_barrier(context, warp, inst, mask);
        warp->pc++;
        break;
    case ISA_FLOW_WARPGROUP:
        warpgroup_wait(warp, (uint32_t)inst->imm);
        warp->pc++;
        break;
    case ISA_FLOW_JUMP:
        is_loop = inst->target <= warp->pc;
        is_ok = jump(context, warp, inst, mask);
        break;
    case ISA_FLOW_JUMP_LANES: is_ok = jump_lanes(context, warp, inst, mask); break;
    case ISA_FLOW_SPLIT: is_ok = split(context, warp, inst, mask); break;
    case ISA_FLOW_TRAP:
        isa_fault(context, warp, bits_lowest32(mask), ISA_FAULT_TRAP, "trap: %s",
                  refusal_of(context->program, warp->pc));
        is_ok = false;
        break;
    case ISA_FLOW_NEXT:
    case ISA_FLOW_STORE: break;
    }
    if (!is_ok) return ISA_EVENT_FAULT;
    const bool is_jump = inst->flow == ISA_FLOW_JUMP;
    const bool looks = is_jump ? inst->sub & ISA_JUMP_LOOKS : inst->sub == ISA_LOOP_LOOKS;
    const bool may_look = is_jump && inst->sub & ISA_JUMP_MAY_LOOK;
    if (is_loop && (looks || may_look)) isa_note_poll(context, warp, looks);
    if (is_loop && warp->is_apart)
        paths_loop(warp, is_jump ? looks : inst->sub != ISA_LOOP_IS_ALONE);
    if (!converge_settle(context, warp)) return warp_exited(context, warp);
    if (context->fault.is_set) return ISA_EVENT_FAULT;
    return warp->cta->waiting >> warp->index & 1 ? ISA_EVENT_BARRIER : ISA_EVENT_NONE;
}

static_assert(ISA_FLOW_NEXT == 0 && ISA_FLOW_STORE == 1, "IsaContext.changes adds them up");

/* isa_step, also inlined in isa_run. `flow` is inst->flow; some callers know it. */
static inline IsaEvent step(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint8_t flow) {
    uint32_t mask = warp->active;
    if (inst->guard != ISA_PRED_TRUE) /* avoids reading the predicate words */
        mask &= warp->preds[inst->guard] ^ -(uint32_t)(inst->flags >> 7);
    context->did.executed = mask;
    warp->instructions++;
    if (flow > ISA_FLOW_STORE) {
        const uint32_t depth = warp->depth;
        const IsaEvent event = step_flow(context, warp, inst, mask);
        context->did.has_split = warp->depth > depth;
        return event;
    }
    if (mask) {
        inst->exec(context, warp, inst, mask);
        context->changes += flow; /* 1: a store */
        if (__builtin_expect(context->fault.is_set, 0)) return ISA_EVENT_FAULT;
    }
    /* Lanes that are apart wait for each other at instructions with member masks and barriers, and
     * continue after them. */
    const bool may_wait = warp->is_apart && (inst[0].flags | inst[1].flags) & ISA_MEETS;
    if (++warp->pc == warp->reconverge || may_wait) {
        converge_settle(context, warp);
        if (__builtin_expect(context->fault.is_set, 0)) return ISA_EVENT_FAULT;
    }
    return ISA_EVENT_NONE;
}

IsaEvent isa_step(IsaContext *context, IsaWarp *warp) {
    context->did.pattern = 0;
    const IsaInst *inst = &context->program->insts[warp->pc];
    return step(context, warp, inst, inst->flow);
}

IsaEvent isa_run(IsaContext *context, IsaWarp *warp, uint64_t *budget,
                 uint64_t *thread_instructions) {
    const IsaInst *insts = context->program->insts;
    const bool dumps = context->launch->dump_line != 0;
    const uint64_t all = *budget;
    uint64_t left = all, lanes = 0;
    IsaEvent event = ISA_EVENT_NONE;
    while (left) {
        const IsaInst *inst = &insts[warp->pc];
        if (__builtin_expect(!(inst->flow | dumps), true)) {
            left--;
            context->cycle++;
            event = step(context, warp, inst, ISA_FLOW_NEXT);
            lanes += (uint64_t)bits_count32(context->did.executed);
            if (event != ISA_EVENT_NONE) break;
            continue;
        }
        const bool is_store = inst->flow == ISA_FLOW_STORE;
        if (is_store && left < all) break;
        if (dumps) isa_dump_if_due(context, warp);
        left--;
        context->cycle++;
        event = step(context, warp, inst, inst->flow);
        lanes += (uint64_t)bits_count32(context->did.executed);
        if (is_store | (event != ISA_EVENT_NONE)) break;
    }
    if (event == ISA_EVENT_NONE) event = ISA_EVENT_TURN;
    *budget = left;
    *thread_instructions += lanes;
    return event;
}

bool isa_try_again(IsaContext *context, IsaWarp *warp, uint32_t pc, uint32_t lanes) {
    const IsaInst *inst = &context->program->insts[pc];
    const uint32_t next = warp->pc;
    warp->pc = pc; /* faults and checks report this pc */
    inst->exec(context, warp, inst, lanes);
    warp->pc = next;
    return (warp->preds[inst->operand[0]] & lanes) == lanes;
}
