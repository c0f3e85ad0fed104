/* State that the stages of an SM share: the time, the machine, the grids, the instructions in
 * flight, the queues for events, the policies' view, and the counters. A stage accesses only this,
 * its own record and its neighbours' records. Stages only read it, except for the fields whose
 * comment names the file that writes them. */
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

/* The fields that the step of an SM that waits for memory reads come first, next to each other: the
 * SM's lines have left the host's cache since its last visit. */
struct SmContext {
    /* ---- sm.c ---- */
    uint64_t cycle; /* cycle of the current or the last visit */
    const SmConfig *config;
    SmProfile *profile; /* per-instruction counts (profile.h); NULL: not wanted */
    SmEvents events;    /* written by the functions of events.h; emptied by issue.c */
    SmEnvironment env;

    /* ---- Written by their own functions ---- */
    SmInsts insts; /* inst.h */
    SmWarps warps; /* warps.c */

    /* ---- sm.c ---- */
    const IsaFault *fault;             /* of an instruction or the policy; by issue.c; NULL: none */
    SmGrid *grid;                      /* SM_MAX_GRIDS of them */
    uint32_t grids;                    /* grids that have begun and not ended, one bit each */
    bool has_several;                  /* there are two or more grids */
    uint64_t solo_warp_instructions;   /* count at the time when one grid was left alone */
    uint64_t solo_thread_instructions; /* the same for thread_instructions */
    uint32_t shared_bytes;             /* bytes of shared memory of the SM */
    SmGrid *failed;                    /* its instruction failed; by issue.c; NULL: the policy */
    Arena *arena;
    SmListener listener;
    struct SmBulk *bulk;         /* the unit for bulk copies: bulk.c */
    struct SmProducts *products; /* matrix products of warpgroups: products.c */
    SchedAgent policy;           /* the warp scheduler; called by issue.c, l1d.c, warps.c, sm.c */
    uint64_t told;               /* cycle of the last time report to it: pick.h */

    /* ---- warps.c and issue.c ---- */
    /* The policies' view. issue.c writes the fields about next instructions (has_instruction,
     * waits_memory, wants_load, warp[].instructions and thread_instructions), sm.c the machine and
     * the end of the grid, warps.c the rest. The cycle is set when a policy is called
     * (context_view, and the issue stage). */
    TytoSmView view;
    uint32_t cta_of_warp[TYTO_MAX_WARPS]; /* warps.c: linear index of the last CTA in the slot */

    /* ---- Statistics: each counter is updated by one stage ---- */
    Counters counters;
    Histograms histograms;
    WarpStates states;

    IsaFault policy_fault; /* the policy violated its contract; written by issue.c */
};

/* The SmOp of an instruction in flight. */
static inline const SmOp *context_op(const SmContext *sm, const SmInst *inst) {
    return &sm->warps.warp[inst->warp].grid->ops[inst->pc];
}

/* Resident warps that have not exited. */
static inline uint64_t context_live(const SmContext *sm) {
    return sm->view.resident & ~sm->view.exited;
}

/* Whether a profile is wanted, which is rare. */
static inline bool context_is_profiled(const SmContext *sm) {
    return __builtin_expect(sm->profile != NULL, false);
}

/* Waits until all SMs before this one have issued in this cycle, or have finished it (order.h). */
static inline void context_wait_issued(const SmContext *sm) {
    if (__builtin_expect(sm->env.order != NULL, false))
        order_wait_issued(sm->env.order, sm->env.index);
}
static inline void context_wait_finished(const SmContext *sm) {
    if (__builtin_expect(sm->env.order != NULL, false))
        order_wait_finished(sm->env.order, sm->env.index);
}

/* The policies' view, with the current cycle. */
static inline const TytoSmView *context_view(SmContext *sm) {
    sm->view.cycle = sm->cycle;
    return &sm->view;
}

/* Reports an event to the policy if it wants such events; fills in the event's size. */
static inline void context_notify(SmContext *sm, TytoEvent *event) {
    sched_agent_event(&sm->policy, context_view(sm), event);
}

/* Reports an executed branch of the warp to the policy, which wants such events. `before`: the
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

/* The sectors that `bytes` bytes from the start of a sector cover, one bit each; at least one. */
static inline uint32_t context_sectors_of(const SmContext *sm, uint32_t bytes) {
    return (uint32_t)bits_low_mask(
        (int)((bytes + sm->env.l2_sector_bytes - 1) / sm->env.l2_sector_bytes));
}

#endif
