/* Issue slots of a program (see the header). */
#include "issue_stream/lower.h"

#include <stdlib.h>

#include "issue_stream/lower_internal.h"

/* ---- One function ---- */

static bool accesses_global(const PtxInst *inst) {
    for (int i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == PTX_OPERAND_MEM && inst->space == PTX_SPACE_GLOBAL)
            return true;
    return false;
}

static void add_slot(IsaSlots *slots) {
    slots->slots++;
    slots->taken++;
    slots->passed++;
}

/* A kernel begins by setting up its stack pointer. From sm_75 on, it loads the memory descriptor
 * before its first access to global memory, because every such access names the descriptor. */
static void cost_beginning(Lower *lower) {
    const PtxFunction *f = lower->function;
    if (!f->is_kernel || !f->inst_count) return;
    add_slot(&lower->slots[0]);
    int32_t first = 0;
    while (first < f->inst_count && !accesses_global(&f->insts[first]))
        first++;
    if (first == f->inst_count) return;
    while (lower->in_loop[lower->block_of[first]] && lower->block_of[first] > 0)
        first = f->blocks[lower->block_of[first] - 1].first;
    add_slot(&lower->slots[first]);
}

static void spread(Lower *lower) {
    for (int32_t i = 0; i < lower->function->inst_count; i++) {
        IsaSlots *slots = &lower->slots[i];
        uint32_t alone = lower_cost(&lower->function->insts[i]);
        slots->taken = slots->passed = slots->slots;
        slots->chain = (uint8_t)(alone < slots->slots ? alone : slots->slots);
        if (lower->is_joined[i]) slots->chain = 1;
    }
}

static IsaSlots *lower_function(const PtxFunction *function) {
    size_t count = (size_t)function->inst_count + 1;
    Lower lower = {.function = function,
                   .regs = base_calloc((size_t)function->reg_count + 1, sizeof *lower.regs),
                   .block_of = base_calloc(count, sizeof *lower.block_of),
                   .in_loop = base_calloc((size_t)function->block_count + 1, sizeof(bool)),
                   .slots = base_calloc(count, sizeof *lower.slots),
                   .is_folded = base_calloc(count, sizeof *lower.is_folded),
                   .is_joined = base_calloc(count, sizeof *lower.is_joined),
                   .inputs = base_calloc(count, sizeof *lower.inputs)};
    lower_find_values(&lower);
    lower_fold(&lower);
    spread(&lower);
    lower_flow(&lower);
    cost_beginning(&lower);
    free(lower.regs);
    free(lower.uses);
    free(lower.block_of);
    free(lower.in_loop);
    free(lower.is_folded);
    free(lower.is_joined);
    free(lower.inputs);
    return lower.slots;
}

/* ---- The program ---- */

static void place_function(const IsaFunction *function, IsaSlots *all) {
    const PtxFunction *ptx = function->ptx;
    if (!ptx->is_defined || function->refusal || !function->pc_of) return;
    IsaSlots *slots = lower_function(ptx);
    for (int32_t i = 0; i < ptx->inst_count; i++)
        all[function->pc_of[i]] = slots[i];
    all[function->end] = (IsaSlots){
        .slots = 1, .taken = 1, .passed = 1, .chain = 1}; /* the implicit exit at the end */
    free(slots);
}

const IsaSlots *isa_lower(const IsaProgram *program) {
    IsaSlots *all = ARENA_ARRAY(program->arena, IsaSlots, program->inst_count);
    for (uint32_t f = 0; f < program->function_count; f++)
        place_function(&program->functions[f], all);
    return all;
}
