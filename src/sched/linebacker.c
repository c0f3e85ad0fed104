/* Linebacker's choice of the number of CTAs. A monitor counts, for each load, the accesses to the
 * L1D and their hits. A load whose hit ratio reaches a threshold has locality. When two consecutive
 * windows select the same loads, monitoring ends and a CTA is paused. From then on each window
 * compares the instructions of the SM with those before. If they rise by more than a bound, another
 * CTA is paused: the running one that came last. If they fall by more than a bound, the paused CTA
 * that came first continues. If monitoring selects no load, no CTA is paused until the kernel ends.
 *
 * A hit is an access that finds its line in the L1D or, with `hits` = victims, among the tags of
 * lines that the L1D has lost. An access to a line on its way is a miss. Loads share a counter if
 * their pcs have the same lowest bits. All warps may issue when every running warp waits for a warp
 * or a grid, because clusters may wait for a paused CTA.
 *
 * Left out: the victim cache in the registers of paused CTAs and in registers that no CTA has, its
 * fills with lines of the selected loads, and the copies of registers in DRAM. So a paused CTA
 * relieves the L1D but adds no room for lines. Paused CTAs: sched/cta_throttle.h. Source: Y. Oh, G.
 * Koo, M. Annavaram and W. W. Ro, "Linebacker: Preserving Victim Cache Lines in Idle Register Files
 * of GPUs", ISCA 2019. The paper's text was not available to us: its constants, and the rules that
 * the abstract does not state, are ours. */
#include "sched/policies.h"

#include "base/bits.h"
#include "cache/victim_tags.h"
#include "sched/cta_throttle.h"
#include "sched/greedy.h"

enum { WINDOW, THRESHOLD, HITS, WAYS, STARTS, RISE, FALL, AGAINST, ORDER };
enum { HITS_L1D, HITS_VICTIMS };
enum { STARTS_SELECTED, STARTS_ALWAYS };
enum { AGAINST_PREVIOUS, AGAINST_FIRST };
enum { LOADS = 32, TAG_SETS = 64 }; /* ours: counters of loads; sets of the tags of lost lines */

static const char *const HIT_NAMES[] = {"l1d", "victims", NULL};
static const char *const START_NAMES[] = {"selected", "always", NULL};
static const char *const AGAINST_NAMES[] = {"previous", "first", NULL};
#define SOURCE   "Oh et al. (ISCA 2019); the value is ours"
#define READINGS "both readings of Oh et al. (ISCA 2019); the choice is ours"
static const TytoPolicyParameter PARAMETERS[] = {
    [WINDOW] = {"window", TYTO_INTEGER, 50000, 1, 1000000000, NULL,
                "SM cycles of a window; the policy decides at its end", SOURCE},
    [THRESHOLD] = {"threshold", TYTO_REAL, 0.2, 0, 1, NULL,
                   "hits per access at or above which a load has locality", SOURCE},
    [HITS] = {"hits", TYTO_CHOICE, HITS_VICTIMS, 0, 1, HIT_NAMES,
              "a hit finds its line in the L1D, or there or among the tags of lost lines",
              READINGS},
    [WAYS] = {"ways", TYTO_INTEGER, 8, 1, 64, NULL,
              "tags of lost lines in each of 64 sets, while loads are monitored", SOURCE},
    [STARTS] = {"starts", TYTO_CHOICE, STARTS_SELECTED, 0, 1, START_NAMES,
                "when CTAs are paused: if two windows select the same loads, at least one; or "
                "after the first window",
                READINGS},
    [RISE] = {"rise", TYTO_REAL, 0.1, 0, 1000, NULL,
              "rise of the instructions, as a share, above which a CTA is paused", SOURCE},
    [FALL] = {"fall", TYTO_REAL, 0.1, 0, 1, NULL,
              "fall of the instructions, as a share, above which a CTA continues", SOURCE},
    [AGAINST] = {"against", TYTO_CHOICE, AGAINST_PREVIOUS, 0, 1, AGAINST_NAMES,
                 "the window that a window is compared with: the previous one, or the last before "
                 "any CTA was paused",
                 READINGS},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_THEN_OLDEST, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps that may issue, as in gto", "ours"},
};

typedef enum Phase { MONITORS, THROTTLES, RESTS } Phase;

typedef struct Linebacker {
    Greedy greedy;
    CtaThrottle throttle;
    VictimTags lost;              /* tags of lines that the L1D has lost; kept for the whole SM */
    uint64_t window, left;        /* SM cycles: of a window; to its end */
    double threshold, rise, fall; /* shares */
    uint64_t issued, before;      /* instructions: of this window; of the one compared with */
    uint32_t hits[LOADS], looks[LOADS]; /* by load: hits and accesses of this window */
    uint32_t selected;                  /* set of the loads that the last window has selected */
    uint32_t most;                      /* CTAs that fit */
    Phase phase;
    bool counts_victims, starts_always, keeps_first; /* `hits`, `starts` and `against` */
    uint64_t monitored;                              /* windows since the kernel's start */
    uint64_t all_looks, victim_hits; /* while monitoring: accesses; hits among lost lines */
    uint64_t raised, lowered;        /* decisions since the kernel's start */
} Linebacker;

static size_t extra_bytes(const TytoSmView *view, const double *values) {
    (void)view;
    return victim_tags_bytes(1, TAG_SETS, (uint32_t)values[WAYS]);
}

static void start(void *state, const TytoSmView *view, const double *values) {
    Linebacker *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->left = s->window = (uint64_t)values[WINDOW];
    s->threshold = values[THRESHOLD];
    s->rise = values[RISE];
    s->fall = values[FALL];
    s->counts_victims = values[HITS] == HITS_VICTIMS;
    s->starts_always = values[STARTS] == STARTS_ALWAYS;
    s->keeps_first = values[AGAINST] == AGAINST_FIRST;
    s->most = view->cta_limit;
    victim_tags_place(&s->lost, 1, TAG_SETS, (uint32_t)values[WAYS], (uint32_t)view->line_bytes,
                      REPLACE_FIFO, (char *)state + bits_align_up(sizeof *s, 64));
    cta_throttle_set(&s->throttle, view, s->most);
}

/* ---- The load monitor ---- */

static void look(Linebacker *s, const TytoEvent *event) {
    const uint32_t load = event->pc % LOADS;
    bool is_hit = event->kind == TYTO_EVENT_L1D_HIT;
    if (event->repeats_line) return;
    if (!is_hit && s->counts_victims) {
        is_hit = victim_tags_probe(&s->lost, 0, event->address);
        s->victim_hits += is_hit;
    }
    s->looks[load]++;
    s->hits[load] += is_hit;
    s->all_looks++;
}

/* Ends a window of the monitor: the set of the loads with locality. */
static uint32_t select_loads(Linebacker *s) {
    uint32_t selected = 0;
    for (uint32_t load = 0; load < LOADS; load++) {
        if (s->looks[load] && s->hits[load] >= s->threshold * s->looks[load])
            selected |= UINT32_C(1) << load;
        s->looks[load] = s->hits[load] = 0;
    }
    return selected;
}

/* ---- The number of CTAs ---- */

/* A limit above the number of CTAs would pause none. */
static void pause_one(Linebacker *s, const TytoSmView *view) {
    const uint32_t running = (uint32_t)bits_count64(s->throttle.running);
    if (running <= 1) return;
    cta_throttle_set(&s->throttle, view, running - 1);
    s->lowered++;
}

static void continue_one(Linebacker *s, const TytoSmView *view) {
    if (s->throttle.limit >= s->most) return;
    cta_throttle_set(&s->throttle, view, s->throttle.limit + 1);
    s->raised++;
}

static void end_monitor_window(Linebacker *s, const TytoSmView *view) {
    const uint32_t selected = select_loads(s);
    const bool is_stable = s->monitored++ && selected == s->selected;
    s->selected = selected;
    if (!is_stable && !s->starts_always) return;
    s->phase = selected || s->starts_always ? THROTTLES : RESTS;
    s->before = s->issued;
    if (s->phase == THROTTLES) pause_one(s, view);
}

static void compare(Linebacker *s, const TytoSmView *view) {
    const double now = (double)s->issued, before = (double)s->before;
    if (now > before * (1 + s->rise)) pause_one(s, view);
    else if (now < before * (1 - s->fall)) continue_one(s, view);
    if (!s->keeps_first) s->before = s->issued;
}

static void end_window(Linebacker *s, const TytoSmView *view) {
    if (s->phase == MONITORS) end_monitor_window(s, view);
    else if (s->phase == THROTTLES) compare(s, view);
    s->issued = 0;
    s->left = s->window;
}

static void elapsed(void *state, const TytoSmView *view, uint64_t cycles) {
    Linebacker *s = state;
    if (!view->ctas || s->phase == RESTS) return;
    for (; cycles >= s->left; end_window(s, view))
        cycles -= s->left;
    s->left -= cycles;
}

/* ---- The schedulers ---- */

static uint64_t may_issue(void *state, const TytoSmView *view) {
    const Linebacker *s = state;
    if (!s->throttle.paused) return ~UINT64_C(0);
    const uint64_t waiting = view->at_barrier | view->at_mbarrier | view->waits_other;
    const uint64_t going = view->resident & ~view->exited & ~waiting & s->throttle.warps;
    return going ? s->throttle.warps : ~UINT64_C(0);
}

static uint64_t next_change(void *state, const TytoSmView *view) {
    (void)view;
    const Linebacker *s = state;
    return s->throttle.paused ? s->left : UINT64_MAX;
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    Linebacker *s = state;
    greedy_issued(&s->greedy, issue);
    s->issued++;
}

static void l1d_event(Linebacker *s, const TytoEvent *event) {
    if (event->kind == TYTO_EVENT_L1D_HIT || event->kind == TYTO_EVENT_L1D_MISS) look(s, event);
    else if (!s->counts_victims) return;
    else if (event->kind == TYTO_EVENT_L1D_EVICTED) victim_tags_insert(&s->lost, 0, event->address);
    else victim_tags_remove(&s->lost, event->address);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Linebacker *s = state;
    switch (event->kind) {
    case TYTO_EVENT_WARP_FINISHED: greedy_finished(&s->greedy, event->warp); return;
    case TYTO_EVENT_CTA_LAUNCHED:
    case TYTO_EVENT_CTA_FINISHED: cta_throttle_event(&s->throttle, view, event); return;
    default:
        if (s->phase == MONITORS) l1d_event(s, event);
        return;
    }
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Linebacker *s = state;
    const uint32_t loads = s->phase == MONITORS ? 0 : (uint32_t)bits_count64(s->selected);
    out->value(out->context, "cta_limit", "CTAs that may run", s->throttle.limit);
    out->value(out->context, "raised", "decisions", (double)s->raised);
    out->value(out->context, "lowered", "decisions", (double)s->lowered);
    out->value(out->context, "monitored", "windows", (double)s->monitored);
    out->value(out->context, "monitored_accesses", "L1D accesses", (double)s->all_looks);
    out->value(out->context, "victim_tag_hits", "misses", (double)s->victim_hits);
    out->value(out->context, "selected_loads", "loads with locality", loads);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    const uint64_t counter = tyto_bits_for((uint32_t)values[WINDOW] + 1);
    const uint32_t tag = 48 - tyto_bits_for(m->l1d_line_bytes); /* of 48-bit addresses */
    out->bits(out->context, "hits and accesses of 32 loads", "ours: up to one in each cycle",
              2 * LOADS * counter, 0);
    out->bits(out->context, "loads selected by the last window", "ours: one bit each", LOADS, 0);
    if (values[HITS] == HITS_VICTIMS)
        out->bits(out->context, "tags of lost lines", "ours: in 64 sets",
                  TAG_SETS * (uint64_t)values[WAYS] * tag, 0);
    out->bits(out->context, "instructions of two windows", "ours: one from each scheduler a cycle",
              2 * (counter + tyto_bits_for(m->schedulers)), 0);
    out->bits(out->context, "limit, and a bit for each CTA", "ours",
              m->ctas + tyto_bits_for(m->ctas + 1), 0);
}

const TytoPolicy sched_linebacker = {
    TYTO_POLICY_HEAD,
    .name = "linebacker",
    .summary = "if loads have locality, pauses CTAs while that raises the instructions per cycle",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Linebacker),
    .events = CTA_THROTTLE_EVENTS | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) |
              TYTO_WANTS(TYTO_EVENT_L1D_HIT) | TYTO_WANTS(TYTO_EVENT_L1D_MISS) |
              TYTO_WANTS(TYTO_EVENT_L1D_EVICTED) | TYTO_WANTS(TYTO_EVENT_L1D_STORED),
    .extra_bytes = extra_bytes,
    .start = start,
    .pick = greedy_policy_pick,
    .may_issue = may_issue,
    .issued = issued,
    .event = event,
    .elapsed = elapsed,
    .next_change = next_change,
    .report = report,
    .storage = storage,
};
