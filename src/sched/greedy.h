/* Greedy-then-oldest, as a part of policies: `gto` is nothing else, `swl` and `ccws` choose so
 * among the warps that they allow. */
#ifndef TYTO_SCHED_GREEDY_H
#define TYTO_SCHED_GREEDY_H

#include "tyto/policy.h"

typedef struct Greedy {
    int8_t last[TYTO_MAX_SCHEDULERS]; /* by scheduler: warp that issued last, TYTO_NO_WARP when it
                                         has finished */
} Greedy;

static inline void greedy_start(Greedy *greedy) {
    for (int s = 0; s < TYTO_MAX_SCHEDULERS; s++)
        greedy->last[s] = TYTO_NO_WARP;
}

static inline int greedy_pick(const Greedy *greedy, const TytoSmView *view, int scheduler,
                              uint64_t ready) {
    int last = greedy->last[scheduler];
    return last >= 0 && tyto_has(ready, last) ? last : tyto_oldest(view, ready);
}

static inline void greedy_issued(Greedy *greedy, const TytoIssue *issue) {
    greedy->last[issue->scheduler] = (int8_t)issue->warp;
}

/* Another warp may take the slot; it has no claim to go on. */
static inline void greedy_finished(Greedy *greedy, int warp) {
    for (int s = 0; s < TYTO_MAX_SCHEDULERS; s++)
        if (greedy->last[s] == warp) greedy->last[s] = TYTO_NO_WARP;
}

#endif
