/* Divergence-aware warp scheduling: predicts how many lines of the L1D each warp in a loop needs,
 * and lets only as many warps issue loads in loops as the L1D has lines for, the oldest first.
 *
 * A backward branch is a loop: the instructions from its target to the branch. A load in the loop
 * has locality if its own warp finds its lines again, by this load or another, or misses on them
 * after losing them. A load that only hits lines of other warps needs no lines itself. For a warp
 * in the loop, a load with locality needs one line, or one per active lane if it has been divergent
 * (made more than one access at once). The prediction changes when lanes leave the loop, and ends
 * when the warp leaves it. Victim tags are those of CCWS.
 *
 * The paper learns from a sampled warp before others reach the loop; here every warp contributes.
 * Left out: the paper's classes of loads that access each other's lines. If a compiler has unrolled
 * a loop, each of its loads brings in some of the lines, all of them count, and too few warps may
 * load. Loads of the loop that have never executed need no lines. A program whose warps wait for
 * each other by means other than barriers may not end, because a warp that is held back makes no
 * progress. Source: T. G. Rogers, M. O'Connor and T. M. Aamodt, "Divergence-Aware Warp Scheduling",
 * MICRO 2013. The paper's text was not available to us: its constants are quoted from other papers;
 * the sizes of the tables are ours. */
#include "sched/policies.h"

#include "base/bits.h"
#include "cache/victim_tags.h"
#include "sched/greedy.h"
#include "sched/view.h"

enum { SHARE, ORDER };
enum { LOADS = 64, LOOPS = 16, VTA_SETS = 2, VTA_WAYS = 8, NO_LOOP = -1 };

static const TytoPolicyParameter PARAMETERS[] = {
    [SHARE] = {"share", TYTO_REAL, 0.6, 0.01, 1, NULL,
               "share of the L1D's lines that the warps in loops may need together",
               "Rogers et al. (MICRO 2013), as others quote it: k = 0.6"},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_THEN_OLDEST, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps that may issue, as in gto",
               "Rogers et al. (MICRO 2013): greedy-then-oldest"},
};

typedef struct Load {
    uint32_t pc; /* pc plus 1; 0: none */
    bool is_divergent;
} Load;

typedef struct Loop {
    uint32_t first, last; /* pcs of the branch's target and of the branch, plus 1; 0: none */
} Loop;

typedef struct Daws {
    Greedy greedy;
    VictimTags victims;
    uint32_t lines;                   /* most lines that may be needed at the same time */
    Load loads[LOADS];                /* by pc modulo the array's size */
    uint64_t local;                   /* loads with locality, one bit each */
    Loop loops[LOOPS];                /* by pc of the branch modulo the array's size */
    int8_t loop[TYTO_MAX_WARPS];      /* by warp: its loop; NO_LOOP */
    uint8_t lanes[TYTO_MAX_WARPS];    /* by warp: active lanes in it */
    uint32_t made[TYTO_MAX_WARPS];    /* by warp: accesses of its last load */
    uint32_t made_by[TYTO_MAX_WARPS]; /* by warp: pc of that load plus 1 */
    uint32_t needed[TYTO_MAX_WARPS];  /* by warp: predicted lines */
    uint64_t allowed;                 /* warps that may load */
    uint64_t active;                  /* active warps for which `allowed` holds; 0: recompute it */
    uint64_t held;                    /* decisions that held warps back */
} Daws;

static size_t extra_bytes(const TytoSmView *view, const double *values) {
    (void)values;
    return victim_tags_bytes(view->warp_count, VTA_SETS, VTA_WAYS);
}

static void start(void *state, const TytoSmView *view, const double *values) {
    Daws *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->lines = (uint32_t)(values[SHARE] * view->l1d_places);
    for (int w = 0; w < TYTO_MAX_WARPS; w++)
        s->loop[w] = NO_LOOP;
    victim_tags_place(&s->victims, view->warp_count, VTA_SETS, VTA_WAYS, (uint32_t)view->line_bytes,
                      REPLACE_FIFO, (char *)state + bits_align_up(sizeof *s, 64));
}

/* ---- Predictions ---- */

static uint32_t lines_of(const Daws *s, int warp) {
    if (s->loop[warp] == NO_LOOP) return 0;
    const Loop *loop = &s->loops[s->loop[warp]];
    uint32_t lines = 0;
    for (uint64_t rest = s->local; rest; rest &= rest - 1) {
        const Load *load = &s->loads[bits_lowest64(rest)];
        const bool is_inside = load->pc >= loop->first && load->pc <= loop->last;
        if (is_inside) lines += load->is_divergent ? s->lanes[warp] : 1;
    }
    return lines;
}

static void predict(Daws *s, int warp) {
    const uint32_t lines = lines_of(s, warp);
    if (lines != s->needed[warp]) s->active = 0;
    s->needed[warp] = lines;
}

static void predict_all(Daws *s, const TytoSmView *view) {
    for (uint64_t rest = view->resident; rest; rest &= rest - 1)
        predict(s, tyto_lowest(rest));
}

static uint64_t active_warps(const TytoSmView *view) { return view->resident & ~view->exited; }

/* Allows the oldest warps whose lines fit together, and all warps that need none; at least the
 * oldest. A warp that its CTA waits for at a barrier may always load. */
static void decide(Daws *s, const TytoSmView *view) {
    uint64_t rest = active_warps(view);
    uint32_t sum = 0;
    s->active = rest;
    s->allowed = 0;
    while (rest) {
        const int warp = tyto_oldest(view, rest);
        const uint32_t lines = s->needed[warp];
        rest &= ~(UINT64_C(1) << warp);
        if (lines && sum && sum + lines > s->lines) continue;
        s->allowed |= UINT64_C(1) << warp;
        sum += lines;
    }
    s->allowed |= s->active & sched_view_awaited(view);
    s->held += s->allowed != s->active;
}

static uint64_t may_load(void *state, const TytoSmView *view) {
    Daws *s = state;
    if (s->active != active_warps(view)) decide(s, view);
    return s->allowed;
}

/* A changed prediction takes effect in the next cycle. */
static uint64_t next_change(void *state, const TytoSmView *view) {
    const Daws *s = state;
    return s->active != active_warps(view) ? 1 : UINT64_MAX;
}

/* ---- Learning ---- */

_Static_assert(LOADS == 64, "the loads with locality are a word");

static Load *find_load(Daws *s, uint32_t pc) {
    Load *load = &s->loads[pc % LOADS];
    if (load->pc != pc + 1) {
        *load = (Load){.pc = pc + 1};
        s->local &= ~(UINT64_C(1) << pc % LOADS);
    }
    return load;
}

/* Handles an access of a load, which may turn out to be divergent. Loads of a warp reach the L1D in
 * order, and a load is rarely repeated before its data have arrived. */
static void access(Daws *s, const TytoSmView *view, const TytoEvent *event) {
    if (event->pc == TYTO_NO_PC) return;
    Load *load = find_load(s, event->pc);
    if (s->made_by[event->warp] != load->pc) s->made[event->warp] = 0;
    s->made_by[event->warp] = load->pc;
    if (++s->made[event->warp] < 2 || load->is_divergent) return;
    load->is_divergent = true;
    if (s->local >> event->pc % LOADS & 1) predict_all(s, view);
}

/* Records that the warp has hit, or lost, a line that the load at `pc` had brought in: lines of
 * that load are reused, by this or another load. */
static void note_locality(Daws *s, const TytoSmView *view, uint32_t pc) {
    if (pc == TYTO_NO_PC) return;
    find_load(s, pc);
    if (s->local >> pc % LOADS & 1) return;
    s->local |= UINT64_C(1) << pc % LOADS;
    predict_all(s, view);
}

static void branch(Daws *s, const TytoEvent *event) {
    const int warp = event->warp, at = (int)(event->pc % LOOPS);
    const bool goes_back = event->target <= event->pc;
    if (event->pc == TYTO_NO_PC || event->target == TYTO_NO_PC) return;
    const Loop loop = {event->target + 1, event->pc + 1};
    if (goes_back) {
        s->loops[at] = loop;
        s->loop[warp] = (int8_t)at;
    } else if (s->loop[warp] == at && s->loops[at].last == loop.last && !event->is_divergent) {
        s->loop[warp] = NO_LOOP; /* the warp leaves the loop */
    }
    s->lanes[warp] = (uint8_t)bits_count32(event->lanes_after);
    predict(s, warp);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    Daws *s = state;
    greedy_issued(&s->greedy, issue);
    if (issue->is_load) s->made[issue->warp] = 0;
}

static void finish(Daws *s, int warp) {
    greedy_finished(&s->greedy, warp);
    s->loop[warp] = NO_LOOP;
    s->needed[warp] = 0;
    s->active = 0;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Daws *s = state;
    const uint32_t warp = (uint32_t)event->warp;
    switch (event->kind) {
    case TYTO_EVENT_BRANCH: branch(s, event); return;
    case TYTO_EVENT_L1D_HIT:
        access(s, view, event);
        if (event->owner == event->warp) note_locality(s, view, event->owner_pc);
        return;
    case TYTO_EVENT_L1D_MISS:
        access(s, view, event);
        if (victim_tags_probe(&s->victims, warp, event->address)) note_locality(s, view, event->pc);
        return;
    case TYTO_EVENT_L1D_EVICTED:
        if (event->owner != TYTO_NO_WARP)
            victim_tags_insert(&s->victims, (uint32_t)event->owner, event->address);
        return;
    case TYTO_EVENT_L1D_STORED: victim_tags_remove(&s->victims, event->address); return;
    case TYTO_EVENT_WARP_FINISHED: finish(s, event->warp); return;
    default: s->active = 0; return; /* barrier events */
    }
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    const Daws *s = state;
    double needed[TYTO_MAX_WARPS];
    for (uint32_t w = 0; w < view->warp_count; w++)
        needed[w] = s->needed[w];
    out->value(out->context, "lines", "that warps in loops may need", s->lines);
    out->value(out->context, "held", "decisions that hold warps back", (double)s->held);
    out->list(out->context, "needed", "lines, by warp slot", needed, view->warp_count);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    const uint64_t tag = 48 - tyto_bits_for(m->l1d_line_bytes) - tyto_bits_for(VTA_SETS);
    const uint64_t warp = tyto_bits_for(LOOPS + 1) + 6 + tyto_bits_for(m->l1d_lines + 1);
    out->bits(out->context, "victim tags", "as CCWS section 5.7",
              (uint64_t)m->warps * VTA_SETS * VTA_WAYS * tag, 0);
    out->bits(out->context, "owner of each L1D line", "as CCWS section 5.7",
              (uint64_t)m->l1d_lines * tyto_bits_for(m->warps), 0);
    out->bits(out->context, "loads: a pc of 32 bits and two bits", "ours", LOADS * 34, 0);
    out->bits(out->context, "loops: two pcs of 32 bits", "ours", LOOPS * 64, 0);
    out->bits(out->context, "loop, lanes and lines of each warp", "ours", m->warps * warp, 0);
}

const TytoPolicy sched_daws = {
    TYTO_POLICY_HEAD,
    .name = "daws",
    .summary = "predicts the lines that warps in loops need; loads of those that do not fit wait",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Daws),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) | TYTO_WANTS(TYTO_EVENT_BRANCH) |
              TYTO_WANTS(TYTO_EVENT_WARP_AT_BARRIER) | TYTO_WANTS(TYTO_EVENT_BARRIER_RELEASED) |
              TYTO_WANTS(TYTO_EVENT_L1D_HIT) | TYTO_WANTS(TYTO_EVENT_L1D_MISS) |
              TYTO_WANTS(TYTO_EVENT_L1D_EVICTED) | TYTO_WANTS(TYTO_EVENT_L1D_STORED),
    .extra_bytes = extra_bytes,
    .start = start,
    .pick = greedy_policy_pick,
    .may_load = may_load,
    .issued = issued,
    .event = event,
    .next_change = next_change,
    .report = report,
    .storage = storage,
};
