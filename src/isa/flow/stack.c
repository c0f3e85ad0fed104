/* The reconvergence stack. The taken side of a divergent branch runs first, as in the peer
 * simulator; the PTX ISA leaves the order open. */
#include "isa/flow/converge.h"

#include "base/bits.h"

enum {
    /* Entries per warp. Structured code needs far fewer; runaway recursion reaches the limit. */
    MAX_STACK_ENTRIES = 1 << 16
};

void converge_enter_frame(IsaWarp *warp, const IsaProgram *program, uint32_t frame) {
    const IsaFrame *f = &warp->frames[frame];
    warp->frame = frame;
    warp->base[0] = warp->registers + f->register_at;
    warp->preds = (uint32_t *)(void *)(warp->base[0] + program->functions[f->function].pred_offset);
}

static bool push(IsaContext *context, IsaWarp *warp, IsaStackEntry entry) {
    if (warp->depth == warp->stack_capacity) {
        if (warp->depth == MAX_STACK_ENTRIES) {
            isa_fault(context, warp, bits_lowest32(warp->active), ISA_FAULT_STACK,
                      "stack overflow: more than %d nested divergent regions or calls",
                      MAX_STACK_ENTRIES);
            return false;
        }
        warp->stack_capacity *= 2;
        warp->stack = base_realloc(warp->stack, warp->stack_capacity * sizeof *warp->stack);
    }
    warp->stack[warp->depth++] = entry;
    return true;
}

static IsaStackEntry top(const IsaWarp *warp) {
    return (IsaStackEntry){warp->pc, warp->reconverge, warp->active, warp->frame};
}

static void set_top(IsaWarp *warp, const IsaProgram *program, IsaStackEntry entry) {
    warp->pc = entry.pc;
    warp->reconverge = entry.reconverge;
    warp->active = entry.lanes;
    if (entry.frame != warp->frame) converge_enter_frame(warp, program, entry.frame);
}

/* Removes entries that have reached their reconvergence point or lost all their lanes. */
bool stack_settle(IsaWarp *warp, const IsaProgram *program) {
    while (!warp->active || warp->pc == warp->reconverge) {
        if (warp->depth == 0) return false;
        set_top(warp, program, warp->stack[--warp->depth]);
    }
    return true;
}

/* Removes `lanes` from every entry of frame `frame` and above. */
void stack_leave(IsaWarp *warp, uint32_t lanes, uint32_t frame) {
    warp->active &= ~lanes;
    for (uint32_t i = warp->depth; i-- > 0 && warp->stack[i].frame >= frame;)
        warp->stack[i].lanes &= ~lanes;
}

uint32_t stack_exiting(const IsaWarp *warp, const IsaProgram *program) {
    uint32_t seen = warp->active, exiting = 0;
    for (uint32_t i = warp->depth; i-- > 0;) { /* the topmost entry that has a lane holds its next
                                                * pc */
        const IsaStackEntry *entry = &warp->stack[i];
        if (converge_is_exit(program, entry->pc)) exiting |= entry->lanes & ~seen;
        seen |= entry->lanes;
    }
    return exiting;
}

bool stack_branch(IsaContext *context, IsaWarp *warp, uint32_t taken, uint32_t target,
                  uint32_t fallthrough, uint32_t reconverge) {
    uint32_t others = warp->active & ~taken;
    IsaStackEntry below = top(warp);
    if (reconverge != ISA_NO_PC && reconverge != warp->reconverge) {
        below.pc = reconverge; /* all lanes meet again there */
        if (!push(context, warp, below)) return false;
    }
    IsaStackEntry side = {fallthrough, reconverge, others, warp->frame};
    if (fallthrough != reconverge && target != reconverge && !push(context, warp, side))
        return false;
    if (target == reconverge) { /* the taken lanes wait at the meeting point */
        warp->pc = fallthrough;
        warp->active = others;
    } else {
        warp->pc = target;
        warp->active = taken;
    }
    warp->reconverge = reconverge;
    return true;
}

bool stack_call(IsaContext *context, IsaWarp *warp, uint32_t return_pc) {
    IsaStackEntry below = top(warp);
    below.pc = return_pc;
    if (!push(context, warp, below)) return false;
    warp->reconverge = ISA_NO_PC;
    return true;
}
