/* Oldest first and youngest first: in each cycle, the oldest or youngest warp that can issue,
 * whichever issued last. Age is the order of arrival on the SM; warps of one CTA arrive in the
 * order of their threads. Oldest first is the second half of greedy-then-oldest, without greed
 * (CCWS section 5.1); youngest first is its opposite, as a bound. */
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
