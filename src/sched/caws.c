/* Criticality-aware warp scheduling: in each cycle it picks the ready warp that is expected to
 * finish last.
 *
 * The paper ranks warps by an oracle, their time in an earlier run, and calls this an upper bound.
 * Here there is no earlier run. The rank is CAWA's prediction (sched/criticality.h), or the number
 * of instructions that a warp has issued, fewest first. Source: S.-Y. Lee and C.-J. Wu, "CAWS:
 * Criticality-Aware Warp Scheduling for GPGPU Workloads", PACT 2014. */
#include "sched/policies.h"

#include "sched/criticality.h"

enum { BY };
enum { BY_PREDICTION, BY_PROGRESS };

static const char *const RANKS[] = {"prediction", "progress", NULL};
static const TytoPolicyParameter PARAMETERS[] = {
    [BY] = {"by", TYTO_CHOICE, BY_PREDICTION, 0, 1, RANKS,
            "what makes a warp critical: cawa's prediction, or the fewest instructions issued",
            "ours, in place of the oracle of CAWS (PACT 2014)"},
};

typedef struct Caws {
    Criticality criticality;
    bool is_by_progress;
} Caws;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    Caws *s = state;
    s->is_by_progress = values[BY] == BY_PROGRESS;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)scheduler;
    const Caws *s = state;
    return criticality_first(&s->criticality, view, ready);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    Caws *s = state;
    if (s->is_by_progress) s->criticality.value[issue->warp]--;
    else criticality_issued(&s->criticality, view, issue);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Caws *s = state;
    criticality_event(&s->criticality, view, event);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    if (values[BY] != BY_PROGRESS) criticality_storage(m, out);
    else
        out->bits(out->context, "instructions of each warp", "ours: 32 bits a warp",
                  (uint64_t)m->warps * CRITICALITY_BITS, 0);
}

const TytoPolicy sched_caws = {
    TYTO_POLICY_HEAD,
    .name = "caws",
    .summary = "criticality: in each cycle the ready warp that is expected to finish last",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Caws),
    .events = CRITICALITY_EVENTS,
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
    .storage = storage,
};
