/* Mascar's memory-aware scheduling. While the L1D can accept more misses, warps go
 * greedy-then-oldest (equal priority). When its MSHRs or its miss queue are almost full, one warp
 * owns memory. Only the owner may issue loads, and it goes first; the others compute. The owner is
 * the oldest warp that wants to load. It stays the owner until its next instruction waits for its
 * loads, or it waits for something else, such as a barrier, or ends. So one warp gets all its data,
 * rather than every warp a part.
 *
 * Left out: the re-execution queue, which lets accesses that hit overtake refused ones. Stores,
 * atomics and accesses of other spaces are not held back. Source: A. Sethia, D. A. Jamshidi and S.
 * Mahlke, "Mascar: Speeding up GPU Warps by Reducing Memory Pitstops", HPCA 2015. The threshold for
 * "almost full" is a parameter, because the paper's text was not available to us. Its default for
 * the miss queue is the number of free entries that the L1D needs to accept a load's miss. */
#include "sched/policies.h"

#include "sched/greedy.h"
#include "sched/view.h"

enum { MSHRS, MISSES, ORDER };

static const TytoPolicyParameter PARAMETERS[] = {
    [MSHRS] = {"mshrs", TYTO_INTEGER, 2, 0, 65536, NULL,
               "free MSHRs of the L1D below which memory counts as saturated",
               "Sethia et al. (HPCA 2015): almost full; the number is ours"},
    [MISSES] = {"misses", TYTO_INTEGER, 2, 0, 65536, NULL,
                "free entries of the miss queue below which memory counts as saturated",
                "Sethia et al. (HPCA 2015): almost full; ours: the entries that a load needs"},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_THEN_OLDEST, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps that may issue, as in gto",
               "Sethia et al. (HPCA 2015): greedy-then-oldest"},
};

typedef struct Mascar {
    Greedy greedy;
    uint32_t mshrs, misses; /* memory is saturated if fewer than this are free */
    int owner;              /* the only warp that may load; TYTO_NO_WARP: none */
    bool is_saturated;
    bool has_ctas;      /* there were CTAs at the last call of `elapsed` */
    uint64_t saturated; /* SM cycles */
    uint64_t owners;    /* times that a warp became the owner */
} Mascar;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    Mascar *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->mshrs = (uint32_t)values[MSHRS];
    s->misses = (uint32_t)values[MISSES];
    s->owner = TYTO_NO_WARP;
}

static bool is_full(const Mascar *s, const TytoSmView *view) {
    return view->ctas && (view->l1d_mshrs_free < s->mshrs || view->l1d_misses_free < s->misses);
}

/* The state that the last cycle left holds for all elapsed cycles. If there was no CTA then, the
 * view shows no L1D (before the first cycle of a kernel) or an old one. */
static void elapsed(void *state, const TytoSmView *view, uint64_t cycles) {
    Mascar *s = state;
    s->is_saturated = s->has_ctas && is_full(s, view);
    s->has_ctas = view->ctas != 0;
    if (s->is_saturated) s->saturated += cycles;
    else s->owner = TYTO_NO_WARP;
}

static bool is_owned(const Mascar *s, const TytoSmView *view) {
    return s->owner != TYTO_NO_WARP && tyto_has(sched_view_unblocked(view), s->owner);
}

static uint64_t may_load(void *state, const TytoSmView *view) {
    Mascar *s = state;
    if (!s->is_saturated) return ~UINT64_C(0);
    if (!is_owned(s, view)) {
        const uint64_t wanting = sched_view_unblocked(view) & view->wants_load;
        s->owner = wanting ? tyto_oldest(view, wanting) : TYTO_NO_WARP;
        s->owners += wanting != 0;
    }
    return s->owner == TYTO_NO_WARP ? 0 : UINT64_C(1) << s->owner;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const Mascar *s = state;
    if (s->is_saturated && s->owner != TYTO_NO_WARP && tyto_has(ready & view->wants_load, s->owner))
        return s->owner;
    return greedy_pick(&s->greedy, view, scheduler, ready);
}

/* Other warps may load in the next cycle if memory has room again or the owner cannot continue. */
static uint64_t next_change(void *state, const TytoSmView *view) {
    const Mascar *s = state;
    const uint64_t wanting = sched_view_unblocked(view) & view->wants_load;
    const bool changes = s->is_saturated != is_full(s, view) || !is_owned(s, view);
    return wanting && changes && s->is_saturated ? 1 : UINT64_MAX;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    Mascar *s = state;
    greedy_finished(&s->greedy, event->warp);
    if (s->owner == event->warp) s->owner = TYTO_NO_WARP;
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Mascar *s = state;
    out->value(out->context, "saturated", "SM cycles", (double)s->saturated);
    out->value(out->context, "owners", "times", (double)s->owners);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    out->bits(out->context, "owner of memory, and whether there is one", "ours",
              tyto_bits_for(m->warps) + 1, 0);
}

const TytoPolicy sched_mascar = {
    TYTO_POLICY_HEAD,
    .name = "mascar",
    .summary = "while the L1D's MSHRs are almost full, only one warp may load, and it goes first",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Mascar),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED),
    .needs = TYTO_NEEDS_STALLS,
    .start = start,
    .pick = pick,
    .may_load = may_load,
    .issued = greedy_policy_issued,
    .event = event,
    .elapsed = elapsed,
    .next_change = next_change,
    .report = report,
    .storage = storage,
};
