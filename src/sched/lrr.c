/* Loose round-robin: warps take turns in the order of their slots; a warp that cannot issue is
 * skipped. Source: OWL section 2.1 (its RR), CCWS section 5.1, PRO section I. */
#include "sched/policies.h"

#include "sched/greedy.h"

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view, (void)values;
    greedy_start(state, GREEDY_NEXT);
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    return greedy_pick(state, view, scheduler, ready);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    greedy_issued(state, issue);
}

const TytoPolicy sched_lrr = {
    TYTO_POLICY_HEAD,
    .name = "lrr",
    .summary = "loose round-robin: warps take turns, those that cannot issue are skipped",
    .state_bytes = sizeof(Greedy),
    .start = start,
    .pick = pick,
    .issued = issued,
};
