/* The warp scheduler of criticality-aware warp acceleration (gCAWS): it stays with a warp until
 * this cannot issue, then takes the warp that is expected to finish last (sched/criticality.h);
 * among equals, the oldest.
 *
 * The cache part of the paper (CACP) is in cawa_cacp.c. Source: S.-Y. Lee, A. Arunkumar and C.-J.
 * Wu, "CAWA: Coordinated Warp Scheduling and Cache Prioritization for Critical Warp Acceleration of
 * GPGPU Workloads", ISCA 2015, section 3. */
#include "sched/policies.h"

#include "sched/criticality.h"
#include "sched/greedy.h"

typedef struct Cawa {
    Greedy greedy;
    Criticality criticality;
} Cawa;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view, (void)values;
    Cawa *s = state;
    greedy_start(&s->greedy, GREEDY_THEN_OLDEST);
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const Cawa *s = state;
    const int last = s->greedy.last[scheduler];
    if (last >= 0 && tyto_has(ready, last)) return last;
    return criticality_first(&s->criticality, view, ready);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    Cawa *s = state;
    greedy_issued(&s->greedy, issue);
    criticality_issued(&s->criticality, view, issue);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Cawa *s = state;
    if (event->kind == TYTO_EVENT_WARP_FINISHED) greedy_finished(&s->greedy, event->warp);
    criticality_event(&s->criticality, view, event);
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    const Cawa *s = state;
    double values[TYTO_MAX_WARPS];
    for (uint32_t w = 0; w < view->warp_count; w++)
        values[w] = (double)s->criticality.value[w];
    out->list(out->context, "criticality", "SM cycles, by warp slot", values, view->warp_count);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    criticality_storage(m, out);
}

const TytoPolicy sched_cawa = {
    TYTO_POLICY_HEAD,
    .name = "cawa",
    .summary = "greedy, then the warp that is expected to finish last (the scheduler of CAWA)",
    .state_bytes = sizeof(Cawa),
    .events = CRITICALITY_EVENTS | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED),
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
    .report = report,
    .storage = storage,
};
