/* Loose round-robin: warps take turns in the order of their slots, and one that cannot issue is
 * skipped. Source: OWL section 2.1 (its RR), CCWS section 5.1, PRO section I. */
#include "sched/policies.h"

typedef struct Lrr {
    int8_t last[TYTO_MAX_SCHEDULERS]; /* by scheduler: warp that issued last */
} Lrr;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view, (void)values;
    Lrr *s = state;
    for (int i = 0; i < TYTO_MAX_SCHEDULERS; i++)
        s->last[i] = TYTO_NO_WARP;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)view;
    const Lrr *s = state;
    return tyto_next(ready, s->last[scheduler]);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    Lrr *s = state;
    s->last[issue->scheduler] = (int8_t)issue->warp;
}

const TytoPolicy sched_lrr = {
    .version = TYTO_POLICY_VERSION,
    .name = "lrr",
    .summary = "loose round-robin: warps take turns, those that cannot issue are skipped",
    .state_bytes = sizeof(Lrr),
    .start = start,
    .pick = pick,
    .issued = issued,
};
