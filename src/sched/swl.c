/* Static wavefront limiting: the oldest N warps of an SM are scheduled actively, regardless of the
 * size of its CTAs; among them greedy-then-oldest. An exited warp issues nothing any more and does
 * not count among the N, though its stores may keep it on the SM. While a warp of a CTA waits at a
 * barrier or an mbarrier, the rest of that CTA may run up to it; then the limit holds again. A
 * program whose warps wait for each other by other means, for example for a flag in memory, may not
 * end, because a warp beyond the limit makes no progress. Source: CCWS section 3.2 and (the order
 * inside) section 5.1. */
#include "sched/policies.h"

#include "sched/greedy.h"
#include "sched/view.h"

enum { LIMIT, ORDER };

static const TytoPolicyParameter PARAMETERS[] = {
    [LIMIT] = {"limit", TYTO_INTEGER, 32, 1, TYTO_MAX_WARPS, NULL,
               "warps actively scheduled per SM", "CCWS section 3.2; 32, all, in table 3"},
    [ORDER] = GREEDY_ORDER,
};

typedef struct Swl {
    Greedy greedy;
    uint64_t allowed; /* warps that may issue */
    /* Warps that had exited, and that waited at an mbarrier, when `allowed` was computed. */
    uint64_t exited, at_mbarrier;
    int limit; /* most warps */
} Swl;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    Swl *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->limit = (int)values[LIMIT];
}

/* Only launches, exits, barriers and mbarriers change the allowed warps. */
static void decide(Swl *s, const TytoSmView *view) {
    s->allowed = sched_view_oldest(view, s->limit);
    s->exited = view->exited;
    s->at_mbarrier = view->at_mbarrier;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Swl *s = state;
    if (event->kind == TYTO_EVENT_WARP_FINISHED) greedy_finished(&s->greedy, event->warp);
    decide(s, view);
}

/* Exits and waits at mbarriers are checked here because there are no events for them. */
static uint64_t may_issue(void *state, const TytoSmView *view) {
    Swl *s = state;
    if (s->exited != view->exited || s->at_mbarrier != view->at_mbarrier) decide(s, view);
    return s->allowed;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const Swl *s = state;
    return greedy_pick(&s->greedy, view, scheduler, ready);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    Swl *s = state;
    greedy_issued(&s->greedy, issue);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    out->bits(out->context, "register with the limit", "CCWS section 3.2",
              tyto_bits_for(m->warps + 1), 0);
}

const TytoPolicy sched_swl = {
    TYTO_POLICY_HEAD,
    .name = "swl",
    .summary = "static limit: the oldest N warps of the SM, greedy-then-oldest among them",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Swl),
    .events = TYTO_WANTS(TYTO_EVENT_CTA_LAUNCHED) | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) |
              TYTO_WANTS(TYTO_EVENT_WARP_AT_BARRIER) | TYTO_WANTS(TYTO_EVENT_BARRIER_RELEASED),
    .start = start,
    .pick = pick,
    .may_issue = may_issue,
    .issued = issued,
    .event = event,
    .storage = storage,
};
