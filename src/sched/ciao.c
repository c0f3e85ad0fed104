/* CIAO-T: throttles warps that evict other warps' lines. Victim tags, as in CCWS, count for each
 * warp the misses on lines that it had and lost. A warp with many such misses per issued
 * instruction (its interference score, IRS) suffers. Then the warp that has evicted most of its
 * lines recently stops issuing. It continues when the sufferer's score has fallen or the sufferer
 * has finished. The warp stopped last continues first. Evictions by other warps lower the 2-bit
 * confidence in a warp's interferer, and at 0 the next one changes it; the pace is ours.
 *
 * A stopped warp may issue while its CTA waits for it at a barrier or an mbarrier, and when all
 * other warps wait for a warp or a grid; otherwise a CTA could wait forever. Left out: CIAO-P,
 * which sends the accesses of interfering warps to unused shared memory before they are stopped.
 * Source: J. Zhang, S. Gao, N. S. Kim and M. Jung, "CIAO: Cache Interference-Aware
 * Throughput-Oriented Architecture and Scheduling for GPUs", IPDPS 2018 (arXiv 1805.07718). The
 * paper's text was not available to us: its constants are quoted from other papers. */
#include "sched/policies.h"

#include <assert.h>

#include "base/bits.h"
#include "cache/victim_tags.h"
#include "sched/greedy.h"
#include "sched/view.h"

enum { HIGH, LOW, HIGH_EPOCH, LOW_EPOCH, WAYS, ORDER };
enum { CONFIDENT = 3 }; /* maximum of a 2-bit counter */

#define SOURCE "Zhang et al. (IPDPS 2018), as others quote it"
static const TytoPolicyParameter PARAMETERS[] = {
    [HIGH] = {"high", TYTO_REAL, 0.01, 0, 1000, NULL,
              "score above which a warp's interferer is stopped", SOURCE},
    [LOW] = {"low", TYTO_REAL, 0.005, 0, 1000, NULL, "score below which a stopped warp continues",
             SOURCE},
    [HIGH_EPOCH] = {"high_epoch", TYTO_INTEGER, 5000, 1, 1000000000, NULL,
                    "warp instructions of the SM between two comparisons with `high`", SOURCE},
    [LOW_EPOCH] = {"low_epoch", TYTO_INTEGER, 100, 1, 1000000000, NULL,
                   "warp instructions of the SM between two comparisons with `low`", SOURCE},
    [WAYS] = {"vta_ways", TYTO_INTEGER, 8, 1, 64, NULL, "victim tags of a warp",
              "Zhang et al. (IPDPS 2018): tags as in CCWS, 8 a warp"},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_THEN_OLDEST, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps that may issue, as in gto",
               "Zhang et al. (IPDPS 2018): greedy-then-oldest"},
};

typedef struct Stopped {
    int8_t warp, sufferer; /* slots; sufferer: TYTO_NO_WARP when it has finished */
} Stopped;

typedef struct Ciao {
    Greedy greedy;
    VictimTags victims;
    double high, low;
    uint64_t high_epoch, low_epoch;     /* instructions */
    uint64_t instructions;              /* instructions of the SM since the kernel's start */
    uint64_t hits[TYTO_MAX_WARPS];      /* by warp: victim tag hits */
    uint64_t since[TYTO_MAX_WARPS];     /* by warp: `instructions` when it arrived */
    int8_t interferer[TYTO_MAX_WARPS];  /* by warp: the warp that evicts its lines, or
                                           TYTO_NO_WARP */
    uint8_t confidence[TYTO_MAX_WARPS]; /* by warp: confidence in `interferer`, 0 to CONFIDENT */
    Stopped stack[TYTO_MAX_WARPS];      /* stopped warps; the last entry continues first */
    int count;                          /* entries of `stack` */
    uint64_t stopped;                   /* the same warps as a set */
    uint64_t all_hits, stops;           /* since the kernel's start */
} Ciao;

static size_t extra_bytes(const TytoSmView *view, const double *values) {
    return victim_tags_bytes(view->warp_count, 1, (uint32_t)values[WAYS]);
}

static void start(void *state, const TytoSmView *view, const double *values) {
    Ciao *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->high = values[HIGH];
    s->low = values[LOW];
    s->high_epoch = (uint64_t)values[HIGH_EPOCH];
    s->low_epoch = (uint64_t)values[LOW_EPOCH];
    victim_tags_place(&s->victims, view->warp_count, 1, (uint32_t)values[WAYS],
                      (uint32_t)view->line_bytes, REPLACE_FIFO,
                      (char *)state + bits_align_up(sizeof *s, 64));
}

static uint64_t active_warps(const TytoSmView *view) { return view->resident & ~view->exited; }

/* IRS: victim tag hits divided by the mean number of instructions per active warp. */
static double score(const Ciao *s, const TytoSmView *view, int warp) {
    const uint64_t instructions = s->instructions - s->since[warp];
    const double active = bits_count64(active_warps(view));
    return instructions ? (double)s->hits[warp] * active / (double)instructions : 0;
}

/* The stack has one entry for each stopped warp, so there is room for another warp. */
static void stop(Ciao *s, int warp, int sufferer) {
    assert(s->count < TYTO_MAX_WARPS);
    s->stack[s->count++] = (Stopped){(int8_t)warp, (int8_t)sufferer};
    s->stopped |= UINT64_C(1) << warp;
    s->stops++;
}

static void stop_interferers(Ciao *s, const TytoSmView *view) {
    for (uint64_t rest = active_warps(view); rest; rest &= rest - 1) {
        const int warp = tyto_lowest(rest), by = s->interferer[warp];
        if (by == TYTO_NO_WARP || by == warp || tyto_has(s->stopped, by)) continue;
        if (!tyto_has(active_warps(view), by) || tyto_has(s->stopped, warp)) continue;
        if (score(s, view, warp) > s->high) stop(s, by, warp);
    }
}

static bool suffers(const Ciao *s, const TytoSmView *view, int warp) {
    return warp != TYTO_NO_WARP && tyto_has(active_warps(view), warp) &&
           score(s, view, warp) >= s->low;
}

/* Lets stopped warps continue, the last one first, while their sufferers do not suffer any more. */
static void let_go_on(Ciao *s, const TytoSmView *view) {
    for (; s->count && !suffers(s, view, s->stack[s->count - 1].sufferer); s->count--)
        s->stopped &= ~(UINT64_C(1) << s->stack[s->count - 1].warp);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    Ciao *s = state;
    greedy_issued(&s->greedy, issue);
    s->instructions++;
    if (s->count && s->instructions % s->low_epoch == 0) let_go_on(s, view);
    if (s->instructions % s->high_epoch == 0) stop_interferers(s, view);
}

static uint64_t may_issue(void *state, const TytoSmView *view) {
    const Ciao *s = state;
    if (!s->stopped) return ~UINT64_C(0);
    const uint64_t waiting = view->at_barrier | view->at_mbarrier | view->waits_other;
    const uint64_t going = active_warps(view) & ~s->stopped & ~waiting;
    return going ? ~s->stopped | sched_view_awaited(view) : ~UINT64_C(0);
}

/* Updates the interferer and the 2-bit confidence in it, which evictions by other warps lower. A
 * warp replaces an interferer without confidence, so it must evict lines several times. */
static void drive_out(Ciao *s, int owner, int by) {
    if (s->confidence[owner] && s->interferer[owner] != by) {
        s->confidence[owner]--;
        return;
    }
    if (s->confidence[owner] < CONFIDENT) s->confidence[owner]++;
    s->interferer[owner] = (int8_t)by;
}

static void launch(Ciao *s, uint64_t warps) {
    for (; warps; warps &= warps - 1) {
        const int warp = tyto_lowest(warps);
        s->hits[warp] = 0;
        s->since[warp] = s->instructions;
        s->interferer[warp] = TYTO_NO_WARP;
        s->confidence[warp] = 0;
    }
}

/* Removes the finished warp as interferer, stopped warp and sufferer: its slot gets a new warp. */
static void forget(Ciao *s, int warp) {
    for (int w = 0; w < TYTO_MAX_WARPS; w++) {
        if (s->interferer[w] != warp) continue;
        s->interferer[w] = TYTO_NO_WARP;
        s->confidence[w] = 0;
    }
    int left = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->stack[i].sufferer == warp) s->stack[i].sufferer = TYTO_NO_WARP;
        if (s->stack[i].warp != warp) s->stack[left++] = s->stack[i];
    }
    s->count = left;
    s->stopped &= ~(UINT64_C(1) << warp);
}

static void finish(Ciao *s, const TytoSmView *view, int warp) {
    greedy_finished(&s->greedy, warp);
    forget(s, warp);
    let_go_on(s, view);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Ciao *s = state;
    const int warp = event->warp, owner = event->owner;
    switch (event->kind) {
    case TYTO_EVENT_L1D_MISS:
        if (event->repeats_line || !victim_tags_probe(&s->victims, (uint32_t)warp, event->address))
            return;
        s->hits[warp]++;
        s->all_hits++;
        return;
    case TYTO_EVENT_L1D_EVICTED:
        if (owner == TYTO_NO_WARP) return;
        victim_tags_insert(&s->victims, (uint32_t)owner, event->address);
        if (warp != TYTO_NO_WARP) drive_out(s, owner, warp);
        return;
    case TYTO_EVENT_L1D_STORED: victim_tags_remove(&s->victims, event->address); return;
    case TYTO_EVENT_CTA_LAUNCHED: launch(s, event->warps); return;
    default: finish(s, view, warp); return;
    }
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Ciao *s = state;
    out->value(out->context, "vta_hits", "misses", (double)s->all_hits);
    out->value(out->context, "stops", "times", (double)s->stops);
    out->value(out->context, "stopped", "warps", bits_count64(s->stopped));
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    const uint64_t ways = (uint64_t)values[WAYS], slot = tyto_bits_for(m->warps);
    const uint32_t tag = 48 - tyto_bits_for(m->l1d_line_bytes); /* of 48-bit addresses */
    out->bits(out->context, "victim tags", "as CCWS section 5.7", m->warps * ways * tag, 0);
    out->bits(out->context, "owner of each L1D line", "as CCWS section 5.7",
              (uint64_t)m->l1d_lines * slot, 0);
    out->bits(out->context, "interferer of each warp, with 2 bits of confidence", SOURCE,
              m->warps * (slot + 2), 0);
    out->bits(out->context, "victim tag hits of each warp, instructions", "ours: 32 bits each",
              ((uint64_t)m->warps + 1) * 32, 0);
    out->bits(out->context, "stack of stopped warps and sufferers", "ours", m->warps * 2 * slot, 0);
}

const TytoPolicy sched_ciao = {
    TYTO_POLICY_HEAD,
    .name = "ciao",
    .summary = "stops warps that evict many L1D lines of another warp (CIAO-T)",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Ciao),
    .events = TYTO_WANTS(TYTO_EVENT_CTA_LAUNCHED) | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) |
              TYTO_WANTS(TYTO_EVENT_L1D_MISS) | TYTO_WANTS(TYTO_EVENT_L1D_EVICTED) |
              TYTO_WANTS(TYTO_EVENT_L1D_STORED),
    .extra_bytes = extra_bytes,
    .start = start,
    .pick = greedy_policy_pick,
    .may_issue = may_issue,
    .issued = issued,
    .event = event,
    .report = report,
    .storage = storage,
};
