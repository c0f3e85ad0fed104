/* Locality-aware scheduling, the second scheme of OWL: one group of CTAs always has priority, so
 * that few CTAs at a time fill the L1D. A group's priority is its number. The fair variant, which
 * the paper leaves to future work, passes the highest priority on every N cycles. Source: OWL
 * section 4.2 and algorithm 1 (CTA-AWARE-LOCALITY). */
#include "sched/policies.h"

#include "sched/cta_locality.h"

enum { GROUP_SIZE, STALL, FAIR };

static const TytoPolicyParameter PARAMETERS[] = {
    [GROUP_SIZE] = CTA_GROUPS_SIZE,
    [STALL] = CTA_GROUPS_STALL,
    [FAIR] = {"fair", TYTO_INTEGER, 0, 0, 1e9, NULL,
              "SM cycles after which the highest priority goes to the next group; 0: never",
              "OWL section 4.2, as future work"},
};

static void start(void *state, const TytoSmView *view, const double *values) {
    CtaLocality *s = state;
    cta_locality_start(s, view, (uint32_t)values[GROUP_SIZE], values[STALL] != 0, 0);
    s->fair = (uint64_t)values[FAIR];
    s->next_rotation = view->cycle + s->fair;
}

static void elapsed(void *state, const TytoSmView *view, uint64_t count) {
    (void)count;
    CtaLocality *s = state;
    for (; s->fair && s->next_rotation <= view->cycle; s->next_rotation += s->fair)
        cta_groups_rotate(&s->groups);
}

static uint64_t next_change(void *state, const TytoSmView *view) {
    const CtaLocality *s = state;
    if (!s->fair) return UINT64_MAX;
    return s->next_rotation > view->cycle ? s->next_rotation - view->cycle : 1;
}

const TytoPolicy sched_cta_aware_locality = {
    TYTO_POLICY_HEAD,
    .name = "cta-aware-locality",
    .summary = "groups of whole CTAs; the first group that does not wait for memory goes first",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(CtaLocality),
    .events = CTA_GROUPS_EVENTS,
    .start = start,
    .pick = cta_locality_pick,
    .issued = cta_locality_issued,
    .event = cta_locality_event,
    .elapsed = elapsed,
    .next_change = next_change,
    .report = cta_locality_report,
    .storage = cta_groups_storage,
};
