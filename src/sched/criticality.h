/* Prediction of critical warps, that is, warps that are expected to finish last: CAWA's prediction
 * as a part of policies.
 *
 * A warp's criticality is the number of instructions that it has more to go than others, times its
 * cycles per instruction so far, plus the cycles for which it has stalled. The number of
 * instructions is inferred from branches. A forward jump over n instructions subtracts n, a
 * backward jump adds the instructions of another iteration, and each issued instruction subtracts
 * one. Only differences between warps matter, so all warps start at 0. If lanes diverge at a
 * forward jump, both sides are executed, and nothing is subtracted. A warp's value is updated when
 * it issues. Source: S.-Y. Lee, A. Arunkumar and C.-J. Wu, "CAWA: Coordinated Warp Scheduling and
 * Cache Prioritization for Critical Warp Acceleration of GPGPU Workloads", ISCA 2015, section 3;
 * what jumps add and subtract follows a public implementation
 * (github.com/ujansengupta/CAWA_gpgpusim). */
#ifndef TYTO_SCHED_CRITICALITY_H
#define TYTO_SCHED_CRITICALITY_H

#include "tyto/policy.h"

typedef struct Criticality {
    int64_t instructions[TYTO_MAX_WARPS]; /* by warp: instructions to go, relative to its start */
    uint64_t stalled[TYTO_MAX_WARPS];     /* SM cycles between its issues, not counting the first of
                                             each interval */
    uint64_t launched[TYTO_MAX_WARPS];    /* SM cycle in which it arrived */
    uint64_t last[TYTO_MAX_WARPS];        /* SM cycle of its last issue */
    int64_t value[TYTO_MAX_WARPS];        /* criticality, SM cycles */
} Criticality;

enum {
    CRITICALITY_EVENTS = 1u << TYTO_EVENT_CTA_LAUNCHED | 1u << TYTO_EVENT_BRANCH,
    CRITICALITY_BITS = 32 /* per warp counter; our choice */
};

static inline void criticality_launch(Criticality *c, uint64_t cycle, uint64_t warps) {
    for (; warps; warps &= warps - 1) {
        const int warp = tyto_lowest(warps);
        c->instructions[warp] = c->value[warp] = 0;
        c->stalled[warp] = 0;
        c->launched[warp] = c->last[warp] = cycle;
    }
}

static inline void criticality_branch(Criticality *c, const TytoEvent *event) {
    const int64_t distance = (int64_t)event->target - (int64_t)event->pc;
    if (event->target == TYTO_NO_PC || event->pc == TYTO_NO_PC) return;
    if (distance <= 0) c->instructions[event->warp] += 1 - distance;
    else if (!event->is_divergent) c->instructions[event->warp] -= distance - 1;
}

static inline void criticality_event(Criticality *c, const TytoSmView *view,
                                     const TytoEvent *event) {
    if (event->kind == TYTO_EVENT_CTA_LAUNCHED) criticality_launch(c, view->cycle, event->warps);
    else if (event->kind == TYTO_EVENT_BRANCH) criticality_branch(c, event);
}

static inline void criticality_issued(Criticality *c, const TytoSmView *view, int warp) {
    const uint64_t since = view->cycle - c->last[warp];
    const uint64_t lived = view->cycle - c->launched[warp];
    const uint64_t issued = tyto_warp(view, warp)->instructions;
    c->stalled[warp] += since ? since - 1 : 0;
    c->last[warp] = view->cycle;
    c->instructions[warp]--;
    c->value[warp] = c->instructions[warp] * (int64_t)lived / (int64_t)(issued ? issued : 1) +
                     (int64_t)c->stalled[warp];
}

/* The most critical warp of `set`, which must not be empty; among equals, the oldest. */
static inline int criticality_first(const Criticality *c, const TytoSmView *view, uint64_t set) {
    int first = tyto_lowest(set);
    for (uint64_t rest = set & (set - 1); rest; rest &= rest - 1) {
        const int warp = tyto_lowest(rest);
        if (c->value[warp] > c->value[first] ||
            (c->value[warp] == c->value[first] && tyto_has(view->older[first], warp)))
            first = warp;
    }
    return first;
}

#endif
