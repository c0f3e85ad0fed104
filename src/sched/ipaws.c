/* iPAWS: greedy-then-oldest or loose round-robin, whichever suits a kernel better. It begins with
 * greedy-then-oldest. When the first warp of the SM finishes, the instructions that the others have
 * issued until then decide. Under a greedy scheduler the older warps of most kernels are far ahead;
 * then the SM stays greedy. If the others have kept up, their warps wait for each other or share
 * data, and the SM switches to round-robin.
 *
 * The paper compares the pattern of issues with two reference patterns; its text was not available
 * to us. Here the measure is the mean number of instructions of the other warps, divided by the
 * finished warp's. Only warps count that came no later than half the finished warp's life ago.
 * Source: M. Lee, G. Kim, J. Kim, W. Seo, Y. Cho and S. Ryu, "iPAWS: Instruction-Issue
 * Pattern-based Adaptive Warp Scheduling for GPGPUs", HPCA 2016. */
#include "sched/policies.h"

#include "sched/greedy.h"

enum { FLAT };

static const TytoPolicyParameter PARAMETERS[] = {
    [FLAT] = {"flat", TYTO_REAL, 0.5, 0, 1, NULL,
              "least mean share of the first finished warp's instructions that the others must "
              "have issued for lrr",
              "ours: Lee et al. (HPCA 2016) compare patterns"},
};

typedef struct Ipaws {
    Greedy greedy;
    double flat;  /* the parameter `flat` */
    double share; /* the measured share */
    bool has_decided;
} Ipaws;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    Ipaws *s = state;
    greedy_start(&s->greedy, GREEDY_THEN_OLDEST);
    s->flat = values[FLAT];
}

/* The mean share over the warps that came with the finished warp or before half of its life; -1:
 * there are none. */
static double share_of(const TytoSmView *view, int finished) {
    const TytoWarpView *warp = tyto_warp(view, finished);
    const uint64_t came = tyto_cta(view, warp->cta_slot)->launched;
    const uint64_t latest = came + (view->cycle - came) / 2;
    uint64_t sum = 0, count = 0;
    for (uint64_t rest = view->resident; rest; rest &= rest - 1) {
        const TytoWarpView *other = tyto_warp(view, tyto_lowest(rest));
        if (tyto_cta(view, other->cta_slot)->launched > latest) continue;
        sum += other->instructions;
        count++;
    }
    if (!count || !warp->instructions) return -1;
    return (double)sum / (double)count / (double)warp->instructions;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Ipaws *s = state;
    greedy_finished(&s->greedy, event->warp);
    if (s->has_decided) return;
    s->share = share_of(view, event->warp);
    if (s->share < 0) return;
    s->has_decided = true;
    if (s->share < s->flat) return;
    s->greedy.is_greedy = s->greedy.is_by_age = false; /* round-robin after the last issue */
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Ipaws *s = state;
    out->value(out->context, "share", "of the first finished warp's instructions",
               s->has_decided ? s->share : 0);
    out->value(out->context, "is_round_robin", "0 or 1", !s->greedy.is_greedy);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    out->bits(out->context, "instructions of each warp", "ours: 32 bits a warp",
              (uint64_t)m->warps * 32, 0);
    out->bits(out->context, "the chosen scheduler, and whether it is", "ours", 2, 0);
}

const TytoPolicy sched_ipaws = {
    TYTO_POLICY_HEAD,
    .name = "ipaws",
    .summary = "gto until a warp finishes; lrr from then on if the others have kept up with it",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Ipaws),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED),
    .start = start,
    .pick = greedy_policy_pick,
    .issued = greedy_policy_issued,
    .event = event,
    .report = report,
    .storage = storage,
};
