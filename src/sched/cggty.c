/* Greedy-then-youngest: stays with a warp until it cannot issue, then takes the youngest that can.
 * Microbenchmarks show that the schedulers of NVIDIA's GPUs since Turing do this. It is called
 * "compiler guided", because the code's stall counts and counters determine when a warp can issue.
 * Source: R. Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO
 * 2025, section 5.1. */
#include "sched/policies.h"

#include "sched/greedy.h"

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view, (void)values;
    greedy_start(state, GREEDY_THEN_YOUNGEST);
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

const TytoPolicy sched_cggty = {
    TYTO_POLICY_HEAD,
    .name = "cggty",
    .summary =
        "greedy-then-youngest, as NVIDIA's GPUs: one warp until it stalls, then the youngest",
    .state_bytes = sizeof(Greedy),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED),
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
};
