/* Oldest first and youngest first: in each cycle the warp of the greatest, or the least, age that
 * can issue, whichever issued last. Age is the order of coming to the SM; warps of one CTA come in
 * the order of their threads. Oldest first is the half of greedy-then-oldest that CCWS section 5.1
 * adds to greed; youngest first is its contrary, as a bound. */
#include "sched/policies.h"

#include "sched/greedy.h"

static void start_oldest(void *state, const TytoSmView *view, const double *values) {
    (void)view, (void)values;
    greedy_start(state, GREEDY_OLDEST);
}

static void start_youngest(void *state, const TytoSmView *view, const double *values) {
    (void)view, (void)values;
    greedy_start(state, GREEDY_YOUNGEST);
}

const TytoPolicy sched_oldest = {
    TYTO_POLICY_HEAD,
    .name = "oldest",
    .summary = "oldest first: in each cycle the oldest warp that is ready",
    .state_bytes = sizeof(Greedy),
    .start = start_oldest,
    .pick = greedy_policy_pick,
    .issued = greedy_policy_issued,
};

const TytoPolicy sched_youngest = {
    TYTO_POLICY_HEAD,
    .name = "youngest",
    .summary = "youngest first: in each cycle the youngest warp that is ready",
    .state_bytes = sizeof(Greedy),
    .start = start_youngest,
    .pick = greedy_policy_pick,
    .issued = greedy_policy_issued,
};
