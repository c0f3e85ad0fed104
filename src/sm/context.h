/* What the stages of an SM share: the time, the machine, the grids, the instructions under way,
 * where to post events, what policies see, and the counters. A stage gets nothing else, except its
 * own record and its neighbours'. Stages read it; a field's line says which code writes it. */
#ifndef TYTO_SM_CONTEXT_H
#define TYTO_SM_CONTEXT_H

#include "base/bits.h"
#include "sm/events.h"
#include "sm/grid.h"
#include "sm/inst.h"
#include "sm/order.h"
#include "sm/profile.h"
#include "sm/sm.h"
#include "sm/warps.h"
#include "tyto/policy.h"

/* First comes what a step of an SM looks at that waits for memory, side by side: the host's cache
 * has lost its lines since the SM was visited last. */
struct SmContext {
    /* ---- sm.c ---- */
    uint64_t cycle; /* of the visit under way, or the last one */
    const SmConfig *config;
    SmProfile *profile; /* what each instruction counts (profile.h); NULL: not wanted */
    SmEvents events;    /* events.h, by its functions; emptied by issue.c */
    SmEnvironment env;

    /* ---- By their own functions ---- */
    SmInsts insts; /* inst.h */
    SmWarps warps; /* warps.c */

    /* ---- sm.c ---- */
    const IsaFault *fault;             /* of an instruction or of the policy: issue.c; NULL: none */
    SmGrid *grid;                      /* SM_MAX_GRIDS of them */
    uint32_t grids;                    /* those that have begun and not ended, bit each */
    bool has_several;                  /* grids are two or more */
    uint64_t solo_warp_instructions;   /* counted when the only grid came to be alone, ... */
    uint64_t solo_thread_instructions; /* ... likewise */
    uint32_t shared_bytes;             /* of shared memory that the SM has */
    SmGrid *failed;                    /* whose instruction failed: issue.c; NULL: the policy did */
    Arena *arena;
    SmListener listener;
    struct SmBulk *bulk;         /* the unit for bulk copies: bulk.c */
    struct SmProducts *products; /* of warpgroups: products.c */
    SchedAgent policy; /* the warp scheduler at work; called by issue.c, l1d.c, warps.c, sm.c */

    /* ---- warps.c and issue.c ---- */
    /* What policies see. issue.c writes what is said of next instructions (has_instruction,
     * waits_memory, wants_load, warp[].instructions and thread_instructions), sm.c the machine and
     * the end of the grid, warps.c all else. The time is there when a policy is asked
     * (context_view, and what issues). */
    TytoSmView view;
    uint32_t cta_of_warp[TYTO_MAX_WARPS]; /* warps.c: linear index of the last CTA in the slot */

    /* ---- Sinks: each counter has one stage that counts it ---- */
    Counters counters;
    Histograms histograms;
    WarpStates states;

    IsaFault policy_fault; /* the policy broke its contract: issue.c */
};

/* The row of an instruction under way. */
static inline const SmOp *context_op(const SmContext *sm, const SmInst *inst) {
    return &sm->warps.warp[inst->warp].grid->ops[inst->pc];
}

/* Resident warps that have not exited. */
static inline uint64_t context_live(const SmContext *sm) {
    return sm->view.resident & ~sm->view.exited;
}

/* Whether a profile is wanted, which is seldom. */
static inline bool context_is_profiled(const SmContext *sm) {
    return __builtin_expect(sm->profile != NULL, false);
}

/* Waits until this SM is the first that has yet to issue in this cycle, or to finish it (order.h).
 */
static inline void context_wait_issued(const SmContext *sm) {
    if (__builtin_expect(sm->env.order != NULL, false))
        order_wait_issued(sm->env.order, sm->env.index);
}
static inline void context_wait_finished(const SmContext *sm) {
    if (__builtin_expect(sm->env.order != NULL, false))
        order_wait_finished(sm->env.order, sm->env.index);
}

/* What policies see, now. */
static inline const TytoSmView *context_view(SmContext *sm) {
    sm->view.cycle = sm->cycle;
    return &sm->view;
}

/* Tells the policy, if it wants to hear of such things; fills in the event's size. */
static inline void context_notify(SmContext *sm, TytoEvent *event) {
    sched_agent_event(&sm->policy, context_view(sm), event);
}

/* A branch of the warp has executed: tells the policy, which wants to hear of it. `before`: the
 * warp's state before the branch. */
__attribute__((noinline)) static void context_tell_branch(SmContext *sm, const SmWarp *w,
                                                          SourceWarp before, bool is_divergent) {
    context_notify(sm, &(TytoEvent){.kind = TYTO_EVENT_BRANCH,
                                    .warp = (int)(w - sm->warps.warp),
                                    .cta_slot = w->cta_slot,
                                    .owner = TYTO_NO_WARP,
                                    .is_divergent = is_divergent,
                                    .pc = before.pc,
                                    .owner_pc = TYTO_NO_PC,
                                    .place = TYTO_NO_PLACE,
                                    .target = w->handle->pc,
                                    .lanes_before = before.active,
                                    .lanes_after = w->handle->active});
}
static inline void context_branched(SmContext *sm, const SmWarp *w, SourceWarp before,
                                    bool is_divergent) {
    if (__builtin_expect(sched_agent_wants(&sm->policy, TYTO_EVENT_BRANCH), false))
        context_tell_branch(sm, w, before, is_divergent);
}

/* The sectors of `bytes` from a sector's start on, bit each; at least one. */
static inline uint32_t context_sectors_of(const SmContext *sm, uint32_t bytes) {
    return (uint32_t)bits_low_mask(
        (int)((bytes + sm->env.l2_sector_bytes - 1) / sm->env.l2_sector_bytes));
}

#endif
