/* Which warps are critical, that is, are expected to finish last: the prediction of CAWA as a part
 * of policies.
 *
 * Criticality is the instructions that a warp has more to go than others, times its cycles per
 * instruction so far, plus the cycles for which it has stalled. Instructions are inferred from
 * branches: a jump over n instructions takes n away, a jump back adds the instructions of another
 * turn; each issued instruction takes one away. Only differences between warps have a meaning, so
 * all warps begin at 0. Where lanes part at a jump forward both sides are executed, and nothing is
 * taken away. A warp's value is brought up to date when it issues.
 * Source: S.-Y. Lee, A. Arunkumar and C.-J. Wu, "CAWA: Coordinated Warp Scheduling and Cache
 * Prioritization for Critical Warp Acceleration of GPGPU Workloads", ISCA 2015, section 3; what
 * jumps add and take away as in a public implementation (github.com/ujansengupta/CAWA_gpgpusim). */
#ifndef TYTO_SCHED_CRITICALITY_H
#define TYTO_SCHED_CRITICALITY_H

#include "tyto/policy.h"

typedef struct Criticality {
    int64_t instructions[TYTO_MAX_WARPS]; /* by warp: to go, more than at its start */
    uint64_t stalled[TYTO_MAX_WARPS];     /* SM cycles between its issues, each beyond the first */
    uint64_t launched[TYTO_MAX_WARPS];    /* SM cycle in which it came */
    uint64_t last[TYTO_MAX_WARPS];        /* SM cycle of its last issue */
    int64_t value[TYTO_MAX_WARPS];        /* criticality, SM cycles */
} Criticality;

enum {
    CRITICALITY_EVENTS = 1u << TYTO_EVENT_CTA_LAUNCHED | 1u << TYTO_EVENT_BRANCH,
    CRITICALITY_BITS = 32 /* of the counter of a warp: ours */
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

/* The most critical warp of `set`, which is not empty; the oldest of equals. */
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
