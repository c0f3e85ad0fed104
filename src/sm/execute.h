/* What every core does when it issues an instruction. It has the warp's source execute the
 * instruction, counts it, computes its memory accesses, and reports fences, copies, exits and
 * barriers to the code that manages resident warps.
 *
 * The functions on the path of every instruction are inline, and their `plain` is a constant. If it
 * is true, they skip what only few machines and kernels need. */
#ifndef TYTO_SM_EXECUTE_H
#define TYTO_SM_EXECUTE_H

#include "sm/coalesce.h"
#include "sm/context.h"
#include "sm/hints.h"
#include "sm/issue_sums.h"

#define SM_ALWAYS __attribute__((always_inline)) static inline

/* What execution needs to know about the machine and the grids. */
typedef struct SmExecute {
    SmCoalescer coalescer;
    bool sees_registered; /* part of the host program's memory is registered (mem_seen_address) */
    bool has_window;      /* a grid gives its accesses to an address range a priority in L2 */
} SmExecute;

void execute_init(SmExecute *execute, const SmContext *sm);
/* Resets the state when nothing is resident and a grid begins. */
void execute_start(SmExecute *execute);
void execute_begin_grid(SmExecute *execute, const SmContext *sm, SmGrid *grid);

/* ---- The effect ---- */

SM_ALWAYS void execute_count(SmIssueSums *sums, SmContext *sm, const SmOp *op, uint32_t lanes) {
    uint32_t count = (uint32_t)bits_count32(lanes);
    sm->counters.warp_instructions++;
    sm->counters.thread_instructions += count;
    sums->lanes[count]++;
    sums->kind[op->counts]++;
}

/* Only counted while several grids are on the SM, because the SM's own counts cover all grids
 * together. */
SM_ALWAYS void execute_count_for_grid(SmGrid *grid, uint32_t lanes) {
    grid->counts.warp_instructions++;
    grid->counts.thread_instructions += (uint32_t)bits_count32(lanes);
}

/* Executes the warp's next instruction, whose row is `op`, and counts it. If it returns WARP_FAULT,
 * SmContext.fault is set. Otherwise the source's record (WarpSource.did) holds what the instruction
 * did. */
SM_ALWAYS WarpEvent execute_next(SmContext *sm, SmIssueSums *sums, SmWarp *w, const SmOp *op,
                                 bool plain) {
    WarpSource *source = w->grid->source;
    const SourceWarp before = *w->handle;
    const WarpEvent event = source->type->step(source, w->handle, sm->cycle);
    const WarpStep *did = source->did;
    if (__builtin_expect(event == WARP_FAULT, false)) {
        if (!sm->fault) { /* only the first fault is kept */
            sm->fault = source->type->fault(source);
            sm->failed = w->grid;
        }
        return event;
    }
    execute_count(sums, sm, op, did->executed);
    if (!plain && sm->has_several) execute_count_for_grid(w->grid, did->executed);
    if (op->flags & ISA_IS_BRANCH) {
        sm->counters.divergent_branches += did->has_split;
        context_branched(sm, w, before, did->has_split);
    }
    return event;
}

/* ---- Accesses ---- */

/* The lanes whose addresses become accesses. */
uint32_t execute_naming_lanes(const SmGrid *grid, const IsaInfo *info, const SmInst *inst);
/* Replaces host addresses of registered memory by the addresses that the caches use. */
void execute_see_registered(const WarpSource *source, const IsaInfo *info);
/* Applies the program's hints to the accesses. */
void execute_take_hints(const SmContext *sm, const SmInst *inst, SmMemory *memory);

/* Computes the accesses of a memory instruction that has just executed and attaches them to it. */
SM_ALWAYS const SmMemory *execute_accesses(const SmExecute *execute, SmContext *sm, SmInst *inst,
                                           const SmOp *op, bool plain) {
    const SmWarp *w = &sm->warps.warp[inst->warp];
    const SmGrid *grid = w->grid;
    const WarpStep *did = grid->source->did;
    const IsaInfo *info = &grid->infos[inst->pc];
    SmMemory *memory = insts_next_memory(&sm->insts);
    const bool is_hinted = op->traits & SM_OP_HINTED || (!plain && grid->source->window.bytes);
    if (!plain && execute->sees_registered) execute_see_registered(grid->source, info);
    if (coalesce_is_one_pass(&execute->coalescer, info, did->address, did->pattern))
        coalesce_one_pass(info, memory);
    else
        coalesce(&execute->coalescer,
                 &(SmOperation){.layout = &grid->layout,
                                .info = info,
                                .address = did->address,
                                .space = did->space,
                                .lanes = is_hinted ? execute_naming_lanes(grid, info, inst)
                                                   : inst->lanes,
                                .pattern = execute->sees_registered ? 0 : did->pattern,
                                .warp = w->index,
                                .cta_slot = w->cta_slot},
                 memory);
    if (memory->path == SM_PATH_L1D || memory->path == SM_PATH_BYPASS)
        histogram_add(&sm->histograms, HISTOGRAM_accesses, memory->count);
    if (is_hinted) execute_take_hints(sm, inst, memory);
    insts_attach(&sm->insts, inst);
    inst->holds_warp = (op->traits & SM_OP_HOLDS) != 0;
    return memory;
}

/* ---- What it means for its warp ---- */

/* Handles a fence, a commit or wait of copies, an exit or a barrier at `pc`. `has_pending`:
 * registers of the warp wait for a result. */
void execute_follow(SmContext *sm, int warp, uint32_t pc, uint32_t flags, bool has_exited,
                    bool has_pending);

#endif
