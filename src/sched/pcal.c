/* Priority-based cache allocation, the warps' part: the oldest warps hold tokens, and only their
 * misses allocate lines in the L1D. The other warps may hit, and their misses bypass it. At most
 * `warps` warps issue, the oldest. The number of warps, and then the number of tokens, is set by
 * hill climbing on the SM's instructions per period. While they rise from period to period, the
 * next step goes in the same direction, otherwise back. Warps are only added; the step back ends
 * their climb. The first step of each climb is not judged, because no step came before it.
 *
 * The paper finds the starting point with CCWS or a profile; here the first values are parameters.
 * As in swl, all warps of a CTA may issue while one of them waits at a barrier or an mbarrier.
 * Source: D. Li, M. Rhu, D. R. Johnson, M. O'Connor, M. Erez, D. Burger, D. S. Fussell and S. W.
 * Keckler, "Priority-Based Cache Allocation in Throughput Processors", HPCA 2015. The paper's text
 * was not available to us: period and step are ours. */
#include "sched/policies.h"

#include "sched/greedy.h"
#include "sched/view.h"

enum { TOKENS, WARPS, PERIOD, CLIMB, ORDER };
enum { CLIMB_NONE, CLIMB_TOKENS, CLIMB_BOTH };

static const char *const CLIMBS[] = {"none", "tokens", "both", NULL};
#define SOURCE "Li et al. (HPCA 2015); the value is ours"
static const TytoPolicyParameter PARAMETERS[] = {
    [TOKENS] = {"tokens", TYTO_INTEGER, 8, 1, TYTO_MAX_WARPS, NULL,
                "warps whose misses allocate L1D lines, at the start", SOURCE},
    [WARPS] = {"warps", TYTO_INTEGER, TYTO_MAX_WARPS, 1, TYTO_MAX_WARPS, NULL,
               "warps of the SM that issue, at the start", SOURCE},
    [PERIOD] = {"period", TYTO_INTEGER, 16384, 1, 1000000000, NULL, "SM cycles between two steps",
                SOURCE},
    [CLIMB] = {"climb", TYTO_CHOICE, CLIMB_BOTH, 0, 2, CLIMBS,
               "what changes: nothing, the tokens, or first the warps upwards and then the tokens",
               "Li et al. (HPCA 2015)"},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_THEN_OLDEST, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps that may issue, as in gto", "ours"},
};

typedef struct Pcal {
    Greedy greedy;
    uint64_t holders, allowed;    /* warps: with a token; that may issue */
    uint64_t exited, at_mbarrier; /* warps that had exited, or waited at an mbarrier, then */
    uint64_t period, left;        /* SM cycles: period; rest of this period */
    uint64_t issued, before;      /* instructions: in this period; in the one before */
    int tokens, warps, most;      /* numbers of warps; `most`: warp slots */
    int step;                     /* of `tokens`: 1 or -1 */
    bool climbs_tokens, climbs_warps;
    bool has_stepped;  /* this period tries a step of the climb in progress */
    uint64_t bypasses; /* misses on lines that were not inserted, because the warp had no token */
} Pcal;

static void start(void *state, const TytoSmView *view, const double *values) {
    Pcal *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->most = (int)view->warp_count;
    s->tokens = (int)values[TOKENS] < s->most ? (int)values[TOKENS] : s->most;
    s->warps = (int)values[WARPS] < s->most ? (int)values[WARPS] : s->most;
    s->left = s->period = (uint64_t)values[PERIOD];
    s->climbs_tokens = values[CLIMB] != CLIMB_NONE;
    s->climbs_warps = values[CLIMB] == CLIMB_BOTH;
    s->step = -1;
}

static void decide(Pcal *s, const TytoSmView *view) {
    s->exited = view->exited;
    s->at_mbarrier = view->at_mbarrier;
    s->allowed = sched_view_oldest(view, s->warps);
    s->holders = sched_view_first(view, s->tokens);
}

/* Adds a warp if the last one has helped; otherwise takes it back, and tokens follow. */
static void climb_warps(Pcal *s, bool has_risen) {
    s->warps -= !has_risen;
    s->climbs_warps = has_risen && s->warps < s->most;
    s->warps += s->climbs_warps;
    s->has_stepped = s->climbs_warps;
}

static void climb_tokens(Pcal *s, bool has_risen) {
    if (!has_risen) s->step = -s->step;
    if (s->tokens + s->step < 1 || s->tokens + s->step > s->most) s->step = -s->step;
    s->tokens += s->step;
    s->has_stepped = true;
}

static void climb(Pcal *s) {
    const bool has_risen = !s->has_stepped || s->issued > s->before;
    if (s->climbs_warps) climb_warps(s, has_risen);
    else climb_tokens(s, has_risen);
}

static void elapsed(void *state, const TytoSmView *view, uint64_t cycles) {
    Pcal *s = state;
    if (!view->ctas || !s->climbs_tokens) return;
    for (; cycles >= s->left; s->left = s->period) {
        cycles -= s->left;
        climb(s);
        s->before = s->issued;
        s->issued = 0;
        decide(s, view);
    }
    s->left -= cycles;
}

/* A step may let other warps issue, or make the misses of other warps allocate lines. */
static uint64_t next_change(void *state, const TytoSmView *view) {
    const Pcal *s = state;
    return s->climbs_tokens && view->ctas ? s->left : UINT64_MAX;
}

/* Exits and waits at mbarriers are checked here because there are no events for them. */
static uint64_t may_issue(void *state, const TytoSmView *view) {
    Pcal *s = state;
    if (s->exited != view->exited || s->at_mbarrier != view->at_mbarrier) decide(s, view);
    return s->allowed;
}

static TytoInsertion insert(void *state, const TytoSmView *view, const TytoMiss *miss) {
    (void)view;
    const Pcal *s = state;
    if (miss->warp == TYTO_NO_WARP || tyto_has(s->holders, miss->warp)) return TYTO_INSERT_NORMAL;
    return TYTO_INSERT_BYPASS;
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    Pcal *s = state;
    greedy_issued(&s->greedy, issue);
    s->issued++;
}

/* Whether the miss bypasses the L1D. On a machine that allocates lines when the data arrive, no
 * miss has a place yet. */
static bool bypasses(const Pcal *s, const TytoEvent *miss) {
    return !miss->is_pending && miss->place == TYTO_NO_PLACE && miss->warp != TYTO_NO_WARP &&
           !tyto_has(s->holders, miss->warp);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Pcal *s = state;
    if (event->kind == TYTO_EVENT_L1D_MISS) {
        s->bypasses += bypasses(s, event);
        return;
    }
    if (event->kind == TYTO_EVENT_WARP_FINISHED) greedy_finished(&s->greedy, event->warp);
    decide(s, view);
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Pcal *s = state;
    out->value(out->context, "tokens", "warps", s->tokens);
    out->value(out->context, "warps", "warps that may issue", s->warps);
    out->value(out->context, "bypasses", "misses", (double)s->bypasses);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    out->bits(out->context, "a token bit for each warp", "Li et al. (HPCA 2015)", m->warps, 0);
    out->bits(out->context, "numbers of tokens and warps, state of the climb", "ours",
              2 * tyto_bits_for(m->warps + 1) + 3, 0);
    out->bits(out->context, "instructions of two periods", "ours: 32 bits each", 64, 0);
}

const TytoPolicy sched_pcal = {
    TYTO_POLICY_HEAD,
    .name = "pcal",
    .summary = "a few warps hold tokens; the misses of all others bypass the L1D",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Pcal),
    .events = TYTO_WANTS(TYTO_EVENT_CTA_LAUNCHED) | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) |
              TYTO_WANTS(TYTO_EVENT_WARP_AT_BARRIER) | TYTO_WANTS(TYTO_EVENT_BARRIER_RELEASED) |
              TYTO_WANTS(TYTO_EVENT_L1D_MISS),
    .start = start,
    .pick = greedy_policy_pick,
    .may_issue = may_issue,
    .issued = issued,
    .event = event,
    .elapsed = elapsed,
    .next_change = next_change,
    .report = report,
    .insert = insert,
    .storage = storage,
};
