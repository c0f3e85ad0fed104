/* Barrier-aware warp scheduling, most waiting first: the CTA with the most warps at its barrier
 * goes first, so that these warps wait less; among equals, the oldest CTA. Within a CTA, and while
 * no warp waits at a barrier, warps go greedy-then-oldest.
 *
 * Left out: critical fetch first, in which the front end fetches for the warp that is picked next,
 * because a policy does not control fetch. Source: Y. Liu et al., "Barrier-Aware Warp Scheduling
 * for Throughput Processors", ICS 2016. */
#include "sched/policies.h"

#include "base/bits.h"
#include "sched/greedy.h"

enum { ORDER };

static const TytoPolicyParameter PARAMETERS[] = {
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_THEN_OLDEST, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps of a CTA, as in gto",
               "ours: Liu et al. (ICS 2016) compare with both lrr and gto"},
};

typedef struct Baws {
    Greedy greedy;
    int count;                     /* CTAs with warps that wait at a barrier */
    uint64_t warps[TYTO_MAX_CTAS]; /* their warps, starting with the CTA that has the most waiting
                                      warps */
} Baws;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    Baws *s = state;
    greedy_start(&s->greedy, values[ORDER]);
}

/* Whether CTA a comes before CTA b, by their number of waiting warps. */
static bool is_before(const TytoSmView *view, const TytoCtaView *a, const TytoCtaView *b) {
    const int by_a = bits_count64(a->warps & view->at_barrier);
    const int by_b = bits_count64(b->warps & view->at_barrier);
    if (by_a != by_b) return by_a > by_b;
    return tyto_warp(view, tyto_lowest(a->all))->age < tyto_warp(view, tyto_lowest(b->all))->age;
}

static void sort(Baws *s, const TytoSmView *view) {
    const TytoCtaView *order[TYTO_MAX_CTAS];
    s->count = 0;
    for (uint64_t rest = view->at_barrier ? view->ctas : 0; rest; rest &= rest - 1) {
        const TytoCtaView *cta = tyto_cta(view, tyto_lowest(rest));
        int at = s->count;
        if (!(cta->warps & view->at_barrier)) continue;
        for (; at && is_before(view, cta, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = cta;
        s->count++;
    }
    for (int i = 0; i < s->count; i++)
        s->warps[i] = order[i]->all;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const Baws *s = state;
    for (int i = 0; i < s->count; i++)
        if (ready & s->warps[i])
            return greedy_pick(&s->greedy, view, scheduler, ready & s->warps[i]);
    return greedy_pick(&s->greedy, view, scheduler, ready);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Baws *s = state;
    if (event->kind == TYTO_EVENT_WARP_FINISHED) greedy_finished(&s->greedy, event->warp);
    sort(s, view);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    out->bits(out->context, "warps at the barrier, by CTA", "ours",
              (uint64_t)m->ctas * tyto_bits_for(m->warps + 1), 0);
}

const TytoPolicy sched_baws = {
    TYTO_POLICY_HEAD,
    .name = "baws",
    .summary = "the CTA with the most warps at its barrier first, inside greedy-then-oldest",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Baws),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) | TYTO_WANTS(TYTO_EVENT_WARP_AT_BARRIER) |
              TYTO_WANTS(TYTO_EVENT_BARRIER_RELEASED),
    .start = start,
    .pick = pick,
    .issued = greedy_policy_issued,
    .event = event,
    .storage = storage,
};
