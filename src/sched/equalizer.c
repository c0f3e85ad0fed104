/* Equalizer's choice of the number of CTAs. Each sample counts the warps that are active, that wait
 * for operands from memory, that are ready for arithmetic but get no unit (X_alu), and that are
 * ready for memory but find the load/store unit full (X_mem). The means over an epoch decide. If
 * X_mem is larger than the warps of a CTA, a CTA is paused. If many warps wait and the other counts
 * are small, a CTA is added. The number changes when three consecutive epochs make the same
 * decision. Warps that wait for operands of short latency count as active only: the view does not
 * show them.
 *
 * Left out: the actions on the clocks of SM and memory, which are the other half of the paper.
 * Paused CTAs: sched/cta_throttle.h. Source: A. Sethia and S. Mahlke, "Equalizer: Dynamic Tuning of
 * GPU Resources for Efficient Execution", MICRO 2014, algorithm 1. The paper's text was not
 * available to us: its constants are quoted from other papers. */
#include "sched/policies.h"

#include "sched/cta_throttle.h"
#include "sched/greedy.h"
#include "sched/view.h"

enum { SAMPLE, EPOCH, BANDWIDTH, EPOCHS, EXCESS, ORDER };
enum { EXCESS_ISSUE, EXCESS_UNIT };

static const char *const EXCESSES[] = {"issue", "unit", NULL};
#define SOURCE "Sethia and Mahlke (MICRO 2014), as others quote it"
static const TytoPolicyParameter PARAMETERS[] = {
    [SAMPLE] = {"sample", TYTO_INTEGER, 128, 1, 1000000, NULL, "SM cycles between two samples",
                SOURCE},
    [EPOCH] = {"epoch", TYTO_INTEGER, 4096, 1, 1000000000, NULL,
               "SM cycles between two decisions (rounded down to samples, at least one)", SOURCE},
    [BANDWIDTH] = {"bandwidth", TYTO_INTEGER, 2, 0, TYTO_MAX_WARPS, NULL,
                   "warps of X_mem above which memory is the bottleneck", SOURCE},
    [EPOCHS] = {"epochs", TYTO_INTEGER, 3, 1, 1000, NULL,
                "consecutive epochs that must make the same decision", SOURCE},
    [EXCESS] = {"excess", TYTO_CHOICE, EXCESS_ISSUE, 0, 1, EXCESSES,
                "X_alu: warps that could issue while others did, or those whose unit is full",
                "both readings of Sethia and Mahlke (MICRO 2014)"},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_THEN_OLDEST, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps that may issue, as in gto", "ours"},
};

typedef struct Equalizer {
    Greedy greedy;
    CtaThrottle throttle;
    uint64_t sample, left;                 /* SM cycles between samples; to the next sample */
    uint32_t samples, taken;               /* samples per epoch; taken in this epoch */
    uint64_t active, waiting, alu, memory; /* warps, summed over this epoch's samples */
    uint64_t live, held;      /* as last seen: warps with threads left; warps that wait for
                                 memory */
    uint64_t could_issue;     /* warps that were ready but not picked in `could_cycle` */
    uint64_t could_cycle;     /* SM cycle of the last pick */
    int wish;                 /* decision of the last epochs: CTAs to add */
    uint32_t wishes, epochs;  /* consecutive epochs with this decision; how many are needed */
    uint32_t most;            /* CTAs that fit */
    uint32_t bandwidth;       /* warps */
    bool counts_full;         /* the parameter `excess` is unit */
    uint64_t raised, lowered; /* changes since the kernel's start */
} Equalizer;

static void start(void *state, const TytoSmView *view, const double *values) {
    Equalizer *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->left = s->sample = (uint64_t)values[SAMPLE];
    s->samples = (uint32_t)(values[EPOCH] / values[SAMPLE]);
    if (!s->samples) s->samples = 1;
    s->epochs = (uint32_t)values[EPOCHS];
    s->bandwidth = (uint32_t)values[BANDWIDTH];
    s->counts_full = values[EXCESS] == EXCESS_UNIT;
    s->most = view->cta_limit;
    cta_throttle_set(&s->throttle, view, s->most);
}

/* Algorithm 1 applied to the sums: CTAs to add. */
static int wish_of(const Equalizer *s, const TytoSmView *view) {
    const uint64_t n = s->samples, cta = n * view->warps_per_cta;
    if (s->memory > cta) return -1;
    if (s->alu > cta || s->memory > n * s->bandwidth) return 0;
    return s->waiting > s->active / 2 ? 1 : 0;
}

static void end_epoch(Equalizer *s, const TytoSmView *view) {
    const int wish = wish_of(s, view);
    s->wishes = wish == s->wish ? s->wishes + 1 : 1;
    s->wish = wish;
    s->taken = 0;
    s->active = s->waiting = s->alu = s->memory = 0;
    if (!wish || s->wishes < s->epochs) return;
    s->wishes = 0;
    if (wish > 0 && s->throttle.limit < s->most) {
        cta_throttle_set(&s->throttle, view, s->throttle.limit + 1);
        s->raised++;
    } else if (wish < 0 && s->throttle.limit > 1) {
        cta_throttle_set(&s->throttle, view, s->throttle.limit - 1);
        s->lowered++;
    }
}

/* Takes a sample: `live`: warps with threads left; `waiting`: warps that wait for memory. */
static void take(Equalizer *s, const TytoSmView *view, uint64_t live, uint64_t waiting,
                 uint64_t could_issue) {
    live &= s->throttle.warps;
    const uint64_t full = s->counts_full ? view->unit_full : could_issue & ~view->lsu_full;
    s->active += (uint64_t)bits_count64(live);
    s->waiting += (uint64_t)bits_count64(live & waiting);
    s->alu += (uint64_t)bits_count64(live & full);
    s->memory += (uint64_t)bits_count64(live & view->lsu_full);
    if (++s->taken == s->samples) end_epoch(s, view);
}

/* The warps that were ready but not picked when the schedulers last had their turn. They have one
 * every issue_interval cycles. */
static uint64_t left_over(const Equalizer *s, const TytoSmView *view) {
    return view->cycle - s->could_cycle <= view->issue_interval ? s->could_issue : 0;
}

/* While the SM slept, the warps that wait now also waited, and so did those that waited before. */
static void elapsed(void *state, const TytoSmView *view, uint64_t cycles) {
    Equalizer *s = state;
    const uint64_t live = view->resident & ~view->exited, waiting = view->waits_memory;
    for (; view->ctas && cycles > s->left; s->left = s->sample) {
        cycles -= s->left;
        take(s, view, s->live, s->held | waiting, 0);
    }
    if (view->ctas) s->left -= cycles;
    if (!s->left) {
        take(s, view, live, waiting, left_over(s, view));
        s->left = s->sample;
    }
    s->live = live;
    s->held = waiting;
}

/* `ready` also has warps with a stale buffer, which cannot issue. */
static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    Equalizer *s = state;
    const int warp = greedy_pick(&s->greedy, view, scheduler, ready);
    const uint64_t could = ready & view->has_instruction & ~view->wants_load;
    if (s->could_cycle != view->cycle) s->could_issue = 0;
    s->could_cycle = view->cycle;
    s->could_issue = (s->could_issue | could) & ~(UINT64_C(1) << warp);
    return warp;
}

static uint64_t may_issue(void *state, const TytoSmView *view) {
    (void)view;
    const Equalizer *s = state;
    return s->throttle.warps;
}

static uint64_t next_change(void *state, const TytoSmView *view) {
    (void)view;
    const Equalizer *s = state;
    return s->throttle.paused ? s->left : UINT64_MAX;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Equalizer *s = state;
    if (event->kind == TYTO_EVENT_WARP_FINISHED) greedy_finished(&s->greedy, event->warp);
    if (event->kind == TYTO_EVENT_CTA_LAUNCHED) s->live |= event->warps;
    cta_throttle_event(&s->throttle, view, event);
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Equalizer *s = state;
    out->value(out->context, "cta_limit", "CTAs that may run", s->throttle.limit);
    out->value(out->context, "raised", "changes", (double)s->raised);
    out->value(out->context, "lowered", "changes", (double)s->lowered);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    const uint32_t most = (uint32_t)(values[EPOCH] / values[SAMPLE]) * m->warps;
    out->bits(out->context, "four sums of an epoch", "ours: up to all warps in each sample",
              4 * (uint64_t)tyto_bits_for(most + 1), 0);
    out->bits(out->context, "limit, and a bit for each CTA", "ours",
              m->ctas + tyto_bits_for(m->ctas + 1), 0);
}

const TytoPolicy sched_equalizer = {
    TYTO_POLICY_HEAD,
    .name = "equalizer",
    .summary = "pauses a CTA if many warps find the LSU full, adds one if most warps wait",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Equalizer),
    .events = CTA_THROTTLE_EVENTS | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED),
    .needs = TYTO_NEEDS_STALLS,
    .start = start,
    .pick = pick,
    .may_issue = may_issue,
    .issued = greedy_policy_issued,
    .event = event,
    .elapsed = elapsed,
    .next_change = next_change,
    .report = report,
    .storage = storage,
};
