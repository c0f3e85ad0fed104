/* Greedy-then-oldest: stays with a warp until it cannot issue, then takes the oldest that can. Age
 * is the order of arrival on the SM; warps of one CTA arrive in the order of their threads. Source:
 * CCWS section 5.1. */
#include "sched/policies.h"

#include "sched/greedy.h"

enum { ORDER };

static const TytoPolicyParameter PARAMETERS[] = {[ORDER] = GREEDY_ORDER};

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    greedy_start(state, values[ORDER]);
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    return greedy_pick(state, view, scheduler, ready);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    greedy_issued(state, issue);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    greedy_finished(state, event->warp);
}

const TytoPolicy sched_gto = {
    TYTO_POLICY_HEAD,
    .name = "gto",
    .summary = "greedy-then-oldest: one warp until it stalls, then the oldest that is ready",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Greedy),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED),
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
};
