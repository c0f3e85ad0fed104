/* Basic blocks and their successors. */
#include "ptx/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

/* Where control continues after an instruction. */
typedef struct Ending {
    bool ends_block;
    bool can_continue; /* at the next instruction */
    bool can_exit;     /* may leave the function */
} Ending;

static bool is_noreturn_call(const PtxInst *inst) {
    return inst->op == PTX_OP_CALL && inst->operands[0].kind == PTX_OPERAND_FUNC &&
           inst->operands[0].function->is_noreturn;
}

static Ending ending_of(const PtxInst *inst) {
    bool is_guarded = inst->guard >= 0;
    switch (inst->op) {
    case PTX_OP_BRA:
    case PTX_OP_BRX: return (Ending){true, is_guarded, false};
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP: return (Ending){true, is_guarded, true};
    default: break;
    }
    if (is_noreturn_call(inst)) return (Ending){true, is_guarded, true};
    return (Ending){false, true, false};
}

/* The targets of a branch: one label, or the list of brx.idx. */
static const PtxOperand *targets_of(const PtxInst *inst, int *count) {
    *count = 0;
    if (inst->op == PTX_OP_BRA) {
        *count = 1;
        return &inst->operands[0];
    }
    if (inst->op != PTX_OP_BRX) return NULL;
    *count = inst->operands[1].count;
    return inst->operands[1].items;
}

static void mark_leaders(const PtxFunction *function, uint64_t *leaders) {
    bits_set(leaders, 0);
    for (int32_t i = 0; i < function->inst_count; i++) {
        const PtxInst *inst = &function->insts[i];
        int count;
        const PtxOperand *targets = targets_of(inst, &count);
        for (int t = 0; t < count; t++)
            bits_set(leaders, (size_t)targets[t].target);
        if (ending_of(inst).ends_block) bits_set(leaders, (size_t)i + 1);
    }
}

/* Adds a successor unless it is already in the list. `seen` has the block that last added each
 * one. */
static void add_successor(PtxBlock *block, int32_t successor, int32_t index, int32_t *seen) {
    if (seen[successor] == index) return;
    seen[successor] = index;
    block->successors[block->successor_count++] = successor;
}

static void find_successors(Arena *arena, PtxFunction *function, int32_t index,
                            const int32_t *block_of, int32_t *seen) {
    PtxBlock *block = &function->blocks[index];
    const PtxInst *last = &function->insts[block->last];
    Ending ending = ending_of(last);
    int count;
    const PtxOperand *targets = targets_of(last, &count);
    block->successors = ARENA_ARRAY(arena, int32_t, count + 2);
    if (ending.can_continue) add_successor(block, block_of[block->last + 1], index, seen);
    for (int t = 0; t < count; t++)
        add_successor(block, block_of[targets[t].target], index, seen);
    if (ending.can_exit) add_successor(block, function->block_count, index, seen);
}

void ptx_find_blocks(Arena *arena, PtxFunction *function) {
    int32_t count = function->inst_count, blocks = 0;
    if (count == 0) return;
    uint64_t *leaders = base_calloc(bits_words((size_t)count + 1), sizeof *leaders);
    int32_t *block_of = base_malloc(sizeof *block_of * ((size_t)count + 1));
    mark_leaders(function, leaders);
    for (int32_t i = 0; i < count; i++) {
        blocks += bits_get(leaders, (size_t)i);
        block_of[i] = blocks - 1;
    }
    block_of[count] = blocks;
    function->block_count = blocks;
    function->blocks = ARENA_ARRAY(arena, PtxBlock, blocks);
    for (int32_t i = 0; i < count; i++) {
        PtxBlock *block = &function->blocks[block_of[i]];
        if (i == 0 || block_of[i - 1] != block_of[i]) block->first = i;
        block->last = i;
    }
    int32_t *seen = base_malloc(sizeof *seen * ((size_t)blocks + 1));
    memset(seen, -1, sizeof *seen * ((size_t)blocks + 1));
    for (int32_t b = 0; b < blocks; b++)
        find_successors(arena, function, b, block_of, seen);
    free(seen);
    free(block_of);
    free(leaders);
}
