/* Branches (see issue_stream/lower.h). Short branches become predicates. Branches to the end become
 * a guarded exit. Loops are rotated so that they test at their end. Where lanes may diverge, the
 * GPU marks the place at which they converge again (BSSY, BSYNC). */
#include "issue_stream/lower_internal.h"

#include <stdlib.h>

/* The most instructions that are predicated instead of branched around. Observed: a body of fused
 * multiply-adds or stores to one global address is predicated up to 8 instructions where lanes may
 * differ, and up to 6 where they may not; a body of shared loads and stores up to 6
 * (scripts/issue-costs --branches). */
enum { MOST_VARYING = 8, MOST_UNIFORM = 6, CALL_SLOTS = 2, INDEXED_SLOTS = 3, MEET_SLOTS = 2 };

typedef struct Flow {
    Lower *lower;
    int32_t *predecessors; /* by block: their number */
    int32_t *last_from;    /* by block: the last of them in text order */
    bool *is_straight;     /* by block: ends as if it had no branch */
    bool *meets;           /* by block: a convergence mark has been counted for it */
} Flow;

static const PtxBlock *block_at(const Flow *flow, int32_t block) {
    return &flow->lower->function->blocks[block];
}

static const PtxInst *last_of(const Flow *flow, int32_t block) {
    return &flow->lower->function->insts[block_at(flow, block)->last];
}

/* Slots of a branch, by whether its lanes may diverge. */
static void set_branch(Flow *flow, int32_t block, uint32_t split, uint32_t taken, uint32_t passed) {
    IsaSlots *slots = &flow->lower->slots[block_at(flow, block)->last];
    *slots = (IsaSlots){.slots = (uint8_t)(split < ISA_MAX_SLOTS ? split : ISA_MAX_SLOTS),
                        .taken = (uint8_t)(taken < ISA_MAX_SLOTS ? taken : ISA_MAX_SLOTS),
                        .passed = (uint8_t)(passed < ISA_MAX_SLOTS ? passed : ISA_MAX_SLOTS)};
}

static int32_t target_of(const Flow *flow, int32_t block) {
    const PtxFunction *f = flow->lower->function;
    int32_t target = last_of(flow, block)->operands[0].target;
    return target < f->inst_count ? flow->lower->block_of[target] : f->block_count;
}

static bool is_exit(const Flow *flow, int32_t block) {
    if (block >= flow->lower->function->block_count) return true;
    const PtxBlock *b = block_at(flow, block);
    PtxOpcode op = last_of(flow, block)->op;
    return b->first == b->last && (op == PTX_OP_RET || op == PTX_OP_EXIT);
}

/* ---- Branches that become predicates ---- */

/* Instructions that cannot be predicated: other lanes wait for them, or they expand to a routine
 * with predicates and branches of its own. */
static bool needs_branch(const PtxInst *inst) {
    if (lower_cost(inst) > 2 && inst->op != PTX_OP_MUL) return true;
    switch (inst->op) {
    case PTX_OP_BAR:
    case PTX_OP_CALL:
    case PTX_OP_BRX:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_MMA:
    case PTX_OP_WMMA:
    case PTX_OP_WGMMA:
    case PTX_OP_SETMAXNREG: return true;
    default: return false;
    }
}

/* Slots of the blocks from `first` up to, not including, `end`, if they can be predicated;
 * otherwise -1. */
static int32_t body_slots(const Flow *flow, int32_t first, int32_t end) {
    const PtxFunction *f = flow->lower->function;
    int32_t sum = 0;
    for (int32_t b = first; b < end; b++) {
        const PtxBlock *block = block_at(flow, b);
        if (!flow->is_straight[b] || flow->predecessors[b] > 2) return -1;
        if (b == first && flow->predecessors[b] != 1) return -1;
        for (int32_t i = block->first; i <= block->last; i++) {
            if (needs_branch(&f->insts[i])) return -1;
            sum += flow->lower->slots[i].slots;
        }
    }
    return sum;
}

static bool varies(const Flow *flow, int32_t block) {
    int32_t guard = last_of(flow, block)->guard;
    return guard >= 0 && flow->lower->regs[guard].is_varying;
}

static int32_t most_slots(const Flow *flow, int32_t block) {
    return varies(flow, block) ? MOST_VARYING : MOST_UNIFORM;
}

/* if (p) { body }: the branch skips the blocks between it and its target. */
static bool predicate_then(Flow *flow, int32_t block, int32_t target) {
    int32_t body = body_slots(flow, block + 1, target);
    if (target == block + 1 || body < 0 || body > most_slots(flow, block)) return false;
    set_branch(flow, block, 0, (uint32_t)body, 0);
    flow->is_straight[block] = true;
    return true;
}

/* if (p) { body } else { other }: the body ends with a jump over the other part. */
static bool predicate_else(Flow *flow, int32_t block, int32_t target) {
    const PtxFunction *f = flow->lower->function;
    int32_t before = target - 1;
    if (before <= block || target >= f->block_count) return false;
    const PtxInst *jump = last_of(flow, before);
    if (jump->op != PTX_OP_BRA || jump->guard >= 0) return false;
    int32_t join = target_of(flow, before);
    if (join <= target || join != block_at(flow, block)->post_dominator) return false;
    IsaSlots kept = flow->lower->slots[block_at(flow, before)->last];
    set_branch(flow, before, 0, 0, 0);
    flow->is_straight[before] = true;
    int32_t body = body_slots(flow, block + 1, target), other = body_slots(flow, target, join);
    if (body < 0 || other < 0 || body + other > most_slots(flow, block)) {
        flow->lower->slots[block_at(flow, before)->last] = kept;
        flow->is_straight[before] = false;
        return false;
    }
    set_branch(flow, block, 0, (uint32_t)body, (uint32_t)other);
    flow->is_straight[block] = true;
    return true;
}

/* ---- Branches that stay ---- */

/* Slots for the place at which the lanes of a branch converge, counted once for each such place. */
static uint32_t meeting(Flow *flow, int32_t block) {
    int32_t join = block_at(flow, block)->post_dominator;
    bool is_needed = varies(flow, block) && join >= 0 &&
                     join < flow->lower->function->block_count && !is_exit(flow, join);
    if (!is_needed || flow->meets[join]) return 0;
    flow->meets[join] = true;
    return MEET_SLOTS;
}

static bool leaves_loop(const Flow *flow, int32_t block, int32_t target) {
    return flow->last_from[block] >= block && flow->last_from[block] < target;
}

static void cost_guarded(Flow *flow, int32_t block) {
    int32_t target = target_of(flow, block);
    if (is_exit(flow, target)) {
        set_branch(flow, block, 1, 0, 1);
        return;
    }
    if (target <= block) { /* the end of a loop */
        set_branch(flow, block, 1, 1, 1 + meeting(flow, block));
        return;
    }
    if (predicate_then(flow, block, target) || predicate_else(flow, block, target)) return;
    uint32_t marks = meeting(flow, block);
    if (leaves_loop(flow, block, target)) set_branch(flow, block, 1, 1 + marks, 1);
    else set_branch(flow, block, 1 + marks, 1 + marks, 1 + marks);
}

static void cost_jump(Flow *flow, int32_t block) {
    int32_t target = target_of(flow, block);
    bool is_next = target == block + 1;
    bool turns = target <= block && target < flow->lower->function->block_count &&
                 last_of(flow, target)->op == PTX_OP_BRA && last_of(flow, target)->guard >= 0 &&
                 !is_exit(flow, target_of(flow, target));
    uint32_t slots = !(is_next || turns || is_exit(flow, target));
    set_branch(flow, block, slots, slots, slots);
    flow->is_straight[block] = is_next;
}

static void find_predecessors(Flow *flow) {
    const PtxFunction *f = flow->lower->function;
    for (int32_t b = 0; b < f->block_count; b++) {
        flow->last_from[b] = -1;
        PtxOpcode op = last_of(flow, b)->op;
        flow->is_straight[b] =
            op != PTX_OP_BRA && op != PTX_OP_BRX && op != PTX_OP_RET && op != PTX_OP_EXIT;
    }
    for (int32_t b = 0; b < f->block_count; b++) {
        for (int s = 0; s < f->blocks[b].successor_count; s++) {
            int32_t to = f->blocks[b].successors[s];
            if (to >= f->block_count) continue;
            flow->predecessors[to]++;
            flow->last_from[to] = b;
        }
    }
}

static void cost_call(Lower *lower, int32_t index) {
    lower->slots[index] = (IsaSlots){
        .slots = CALL_SLOTS, .taken = CALL_SLOTS, .passed = CALL_SLOTS, .chain = CALL_SLOTS};
}

void lower_flow(Lower *lower) {
    const PtxFunction *f = lower->function;
    size_t blocks = (size_t)f->block_count + 1;
    Flow flow = {.lower = lower,
                 .predecessors = base_calloc(blocks, sizeof(int32_t)),
                 .last_from = base_calloc(blocks, sizeof(int32_t)),
                 .is_straight = base_calloc(blocks, sizeof(bool)),
                 .meets = base_calloc(blocks, sizeof(bool))};
    find_predecessors(&flow);
    for (int32_t i = 0; i < f->inst_count; i++)
        if (f->insts[i].op == PTX_OP_CALL) cost_call(lower, i);
    for (int32_t b = f->block_count - 1; b >= 0; b--) {
        const PtxInst *inst = last_of(&flow, b);
        if (inst->op == PTX_OP_BRX)
            set_branch(&flow, b, INDEXED_SLOTS, INDEXED_SLOTS, INDEXED_SLOTS);
        if (inst->op != PTX_OP_BRA) continue;
        if (inst->guard >= 0) cost_guarded(&flow, b);
        else cost_jump(&flow, b);
    }
    free(flow.predecessors);
    free(flow.last_from);
    free(flow.is_straight);
    free(flow.meets);
}
