/* Scheduling for bank-level parallelism, the third scheme of OWL: each SM prefers another group,
 * because groups with the same number on neighbouring SMs hold consecutive CTAs, which tend to
 * share DRAM rows. Groups are numbered from the one served longest. Group g has priority (g - s)
 * mod groups on SM s. Source: OWL section 4.3 and algorithm 1 (CTA-AWARE-LOCALITY-BLP). */
#include "sched/policies.h"

#include "sched/cta_locality.h"

enum { GROUP_SIZE, STALL };

static const TytoPolicyParameter PARAMETERS[] = {
    [GROUP_SIZE] = CTA_GROUPS_SIZE,
    [STALL] = CTA_GROUPS_STALL,
};

static void start(void *state, const TytoSmView *view, const double *values) {
    cta_locality_start(state, view, (uint32_t)values[GROUP_SIZE], values[STALL] != 0, view->sm);
}

const TytoPolicy sched_cta_aware_locality_blp = {
    TYTO_POLICY_HEAD,
    .name = "cta-aware-locality-blp",
    .summary =
        "as cta-aware-locality, but each SM prefers a different group, to use more DRAM banks",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(CtaLocality),
    .events = CTA_GROUPS_EVENTS,
    .start = start,
    .pick = cta_locality_pick,
    .issued = cta_locality_issued,
    .event = cta_locality_event,
    .report = cta_locality_report,
    .storage = cta_groups_storage,
};
