/* Cache-conscious wavefront scheduling: warps that lose their lines to other warps get more of the
 * L1D to themselves.
 *
 * A victim tag array per warp remembers the lines that the warp brought in and lost. A miss on one
 * of them raises the warp's score. The score then falls by one per cycle down to the base. Sorted
 * by descending score, a warp may issue loads while the sum of the scores ahead of it is less than
 * the cutoff. The cutoff is the base times the number of warps on the SM. Among all that may issue:
 * greedy-then-oldest, or another order, or fetch groups that take turns.
 *
 * A cycle here is one in which a scheduler may issue, as for the paper's authors. Their simulator
 * clocks an SM of 1300 MHz and SIMT width 8 at 325 MHz, with one warp instruction per cycle. Scores
 * are stored in SM cycles: the time that they take to fall to zero. All raised scores fall
 * together, so each is stored as the cycle in which it would reach zero. The set of warps that may
 * load is recomputed only when it can have changed.
 *
 * Source: CCWS section 3.3, equation (1), table 3; section 5.7: two registers count all victim tag
 * hits and all instructions, so a warp that ends does not take its share along. Where the paper
 * gives no detail, this follows its authors' released simulator: 2 sets of 8 ways, first in first
 * out; arrays belong to slots, and a new warp inherits the slot's victim tags; a load that joins a
 * pending line also counts as a miss; the score that a hit gives is in whole points; warps that
 * have exited but have pending stores do not count for the cutoff; ties go to the lower warp; a
 * store makes every warp forget its line. docs/machines.md lists the differences to that
 * release. */
#include "sched/policies.h"

#include "base/bits.h"
#include "cache/victim_tags.h"
#include "sched/fetch_groups.h"
#include "sched/greedy.h"

enum { K_THROTTLE, BASE, SETS, WAYS, REPLACEMENT, ORDER, GROUP };

static const char *const ORDERS[] = {"fifo", "lru", NULL};
static const TytoPolicyParameter PARAMETERS[] = {
    [K_THROTTLE] = {"k_throttle", TYTO_INTEGER, 8, 0, 65536, NULL,
                    "weight of lost locality in the score: how much is throttled",
                    "CCWS equation (1), table 3"},
    [BASE] = {"base", TYTO_INTEGER, 100, 1, 65536, NULL, "score of a warp that has lost nothing",
              "CCWS table 3"},
    [SETS] = {"vta_sets", TYTO_INTEGER, 2, 1, 64, NULL,
              "sets of a warp's victim tag array (rounded down to a power of two)",
              "CCWS table 3: 16 entries per warp, 8-way"},
    [WAYS] = {"vta_ways", TYTO_INTEGER, 8, 1, 64, NULL, "ways of a warp's victim tag array",
              "CCWS table 3"},
    [REPLACEMENT] = {"vta_replacement", TYTO_CHOICE, 0, 0, 1, ORDERS, "which victim tag goes first",
                     "the authors' released simulator"},
    [ORDER] = GREEDY_ORDER,
    [GROUP] = {"group", TYTO_INTEGER, 0, 0, TYTO_MAX_WARPS, NULL,
               "warps in a fetch group; groups take turns as in two-level, ordered inside and "
               "among them by `order` (gto or lrr); 0: no groups",
               "CCWS section 3.3.2: greedy, round-robin or two level"},
};

typedef struct Ccws {
    Greedy greedy;
    FetchGroups groups;          /* if `is_two_level` */
    bool is_two_level;           /* `group` is not 0 */
    VictimTags victims;          /* tags of lost lines, by warp */
    uint64_t throttle;           /* k_throttle */
    uint64_t point;              /* SM cycles in which a score falls by one */
    uint64_t base;               /* score of a warp that has lost nothing, in SM cycles */
    uint64_t active;             /* active warps when `allowed` was last requested */
    uint64_t hits, instructions; /* victim tag hits and instructions since the kernel's start */
    /* of raised warps: SM cycle in which the score would reach 0 */
    uint64_t zero_at[TYTO_MAX_WARPS];
    uint64_t raised;      /* set of warps whose score may be above the base */
    uint64_t last_zero;   /* upper bound of `zero_at` of the raised warps */
    uint64_t allowed;     /* warps that may issue loads */
    uint64_t valid_until; /* SM cycle in which `allowed` must be recomputed */
    uint64_t last_score;  /* last score given (the paper's LLDS), in SM cycles */
} Ccws;

static uint32_t sets_of(const double *values) {
    return 1u << bits_highest32((uint32_t)values[SETS]);
}

static size_t extra_bytes(const TytoSmView *view, const double *values) {
    return victim_tags_bytes(view->warp_count, sets_of(values), (uint32_t)values[WAYS]);
}

static void start(void *state, const TytoSmView *view, const double *values) {
    Ccws *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->is_two_level = values[GROUP] != 0;
    s->groups.is_greedy_inside = s->groups.is_oldest_first =
        s->greedy.is_greedy | s->greedy.is_by_age;
    if (s->is_two_level) fetch_groups_start(&s->groups, view, (int)values[GROUP]);
    s->throttle = (uint64_t)values[K_THROTTLE];
    s->point = view->issue_interval;
    s->base = s->point * (uint64_t)values[BASE];
    victim_tags_place(&s->victims, view->warp_count, sets_of(values), (uint32_t)values[WAYS],
                      (uint32_t)view->line_bytes,
                      values[REPLACEMENT] != 0 ? REPLACE_LRU : REPLACE_FIFO,
                      (char *)state + bits_align_up(sizeof *s, 64));
}

/* ---- Scores, in SM cycles ---- */

static uint64_t score(const Ccws *s, const TytoSmView *view, int warp) {
    uint64_t floor = view->cycle + s->base;
    return tyto_has(s->raised, warp) && s->zero_at[warp] > floor ? s->zero_at[warp] - view->cycle
                                                                 : s->base;
}

/* The warps that count: those with threads left. */
static uint64_t active_warps(const TytoSmView *view) { return view->resident & ~view->exited; }

static uint64_t cutoff(const Ccws *s, const TytoSmView *view) {
    return (uint64_t)bits_count64(active_warps(view)) * s->base;
}

/* Equation (1), in whole points: the score of a warp whose lost locality has just been detected. */
static uint64_t detected_score(const Ccws *s, const TytoSmView *view) {
    uint64_t instructions = s->instructions ? s->instructions : 1;
    uint64_t points = cutoff(s, view) / s->point;
    return s->hits * s->throttle * points / instructions * s->point;
}

/* Limits scores to what a hit would give now. This value falls with every instruction and every
 * warp that leaves (section 3.3.4: "regardless of how many VTA hits it has received"). */
static void cap_scores(Ccws *s, const TytoSmView *view) {
    if (!s->raised || s->last_zero <= view->cycle + s->base) return;
    uint64_t latest = view->cycle + detected_score(s, view);
    if (s->last_zero <= latest) return;
    for (uint64_t rest = s->raised; rest; rest &= rest - 1) {
        int warp = tyto_lowest(rest);
        if (s->zero_at[warp] > latest) s->zero_at[warp] = latest;
    }
    s->last_zero = latest;
    s->valid_until = 0;
}

static void raise_score(Ccws *s, const TytoSmView *view, int warp) {
    s->hits++;
    s->last_score = detected_score(s, view);
    s->zero_at[warp] = view->cycle + s->last_score;
    s->raised |= UINT64_C(1) << warp;
    if (s->last_zero < s->zero_at[warp]) s->last_zero = s->zero_at[warp];
    s->valid_until = 0;
}

/* ---- Warps that may load ---- */

/* Sorts the raised warps, highest score first, then lower slot. Drops those whose score is back at
 * the base. */
static int sort_raised(Ccws *s, const TytoSmView *view, uint8_t order[TYTO_MAX_WARPS]) {
    int count = 0;
    s->raised &= s->active;
    for (uint64_t rest = s->raised; rest; rest &= rest - 1) {
        int warp = tyto_lowest(rest), at = count;
        if (score(s, view, warp) == s->base) {
            s->raised &= ~(UINT64_C(1) << warp);
            continue;
        }
        for (; at && s->zero_at[order[at - 1]] < s->zero_at[warp]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)warp;
        count++;
    }
    return count;
}

/* Cycles until the set of warps that may load can change without an event. There are two cases. The
 * first excluded warp gets below the cutoff, because the `falling` raised scores ahead of it, which
 * are part of `sum`, fall. Or the lowest raised score is back at the base, so that its warp ranks
 * by its slot. */
static uint64_t cycles_valid(uint64_t sum, uint64_t limit, uint64_t falling,
                             uint64_t lowest_above_base) {
    uint64_t until_below = (sum - limit) / falling + 1;
    return until_below < lowest_above_base ? until_below : lowest_above_base;
}

static void decide(Ccws *s, const TytoSmView *view) {
    uint8_t order[TYTO_MAX_WARPS];
    uint64_t limit = cutoff(s, view), sum = 0;
    int raised = sort_raised(s, view, order), ahead = 0;
    s->allowed = 0;
    for (; ahead < raised && sum < limit; ahead++) {
        s->allowed |= UINT64_C(1) << order[ahead];
        sum += score(s, view, order[ahead]);
    }
    uint64_t rest = s->active & ~s->raised; /* at the base, by slot */
    for (; rest && sum < limit; rest &= rest - 1) {
        s->allowed |= rest & -rest;
        sum += s->base;
    }
    s->valid_until = UINT64_MAX;
    if (s->allowed == s->active) return;
    uint64_t lowest = score(s, view, order[raised - 1]) - s->base;
    s->valid_until = view->cycle + cycles_valid(sum, limit, (uint64_t)ahead, lowest);
}

static uint64_t may_load(void *state, const TytoSmView *view) {
    Ccws *s = state;
    if (s->active != active_warps(view)) {
        s->active = active_warps(view);
        s->valid_until = 0;
    }
    if (view->cycle >= s->valid_until) decide(s, view);
    return s->allowed;
}

static uint64_t next_change(void *state, const TytoSmView *view) {
    uint64_t gated = active_warps(view) & ~may_load(state, view);
    const Ccws *s = state;
    return gated ? s->valid_until - view->cycle : UINT64_MAX;
}

/* ---- Events ---- */

/* The slot's next warp starts at the base and inherits the slot's victim tags. */
static void finish(Ccws *s, const TytoSmView *view, int warp) {
    greedy_finished(&s->greedy, warp);
    if (s->is_two_level) fetch_groups_finished(&s->groups, warp);
    s->raised &= ~(UINT64_C(1) << warp);
    s->valid_until = 0;
    cap_scores(s, view);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Ccws *s = state;
    switch (event->kind) {
    case TYTO_EVENT_L1D_MISS:
        if (!event->repeats_line &&
            victim_tags_probe(&s->victims, (uint32_t)event->warp, event->address))
            raise_score(s, view, event->warp);
        return;
    case TYTO_EVENT_L1D_EVICTED:
        if (event->owner != TYTO_NO_WARP)
            victim_tags_insert(&s->victims, (uint32_t)event->owner, event->address);
        return;
    case TYTO_EVENT_L1D_STORED: victim_tags_remove(&s->victims, event->address); return;
    default: finish(s, view, event->warp); return;
    }
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    Ccws *s = state;
    if (!s->is_two_level) return greedy_pick(&s->greedy, view, scheduler, ready);
    return fetch_groups_pick(&s->groups, view, scheduler, ready, view->wants_load & ~s->allowed);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    Ccws *s = state;
    s->instructions++;
    greedy_issued(&s->greedy, issue);
    if (s->is_two_level) fetch_groups_issued(&s->groups, issue);
    cap_scores(s, view);
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    const Ccws *s = state;
    double scores[TYTO_MAX_WARPS] = {0}, point = (double)s->point;
    for (uint64_t rest = active_warps(view); rest; rest &= rest - 1)
        scores[tyto_lowest(rest)] = (double)score(s, view, tyto_lowest(rest)) / point;
    uint64_t loading = active_warps(view) & may_load(state, view);
    out->value(out->context, "vta_hits", "misses", (double)s->hits);
    out->value(out->context, "cutoff", "points", (double)cutoff(s, view) / point);
    out->value(out->context, "detected_score", "points", (double)s->last_score / point);
    out->value(out->context, "may_load", "warps", bits_count64(loading));
    out->list(out->context, "scores", "points, by warp slot", scores, view->warp_count);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    const uint32_t sets = sets_of(values), ways = (uint32_t)values[WAYS];
    /* of 48-bit addresses */
    const uint32_t tag = 48 - tyto_bits_for(m->l1d_line_bytes) - tyto_bits_for(sets);
    const char *source = "CCWS section 5.7";
    out->bits(out->context, "victim tags", source, (uint64_t)m->warps * sets * ways * tag, 0);
    out->bits(out->context, "owner of each L1D line", source,
              (uint64_t)m->l1d_lines * tyto_bits_for(m->warps), 0);
    out->bits(out->context, "scores, 10 bits per warp", source, (uint64_t)m->warps * 10, 0);
    out->bits(out->context, "counters of instructions and victim tag hits",
              "CCWS section 5.7, which gives no width: 32 bits each", 64, 0);
}

const TytoPolicy sched_ccws = {
    TYTO_POLICY_HEAD,
    .name = "ccws",
    .summary = "warps that lose L1D lines to others get more of the L1D: loads of the others wait",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Ccws),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) | TYTO_WANTS(TYTO_EVENT_L1D_MISS) |
              TYTO_WANTS(TYTO_EVENT_L1D_EVICTED) | TYTO_WANTS(TYTO_EVENT_L1D_STORED),
    .extra_bytes = extra_bytes,
    .start = start,
    .pick = pick,
    .may_load = may_load,
    .issued = issued,
    .event = event,
    .next_change = next_change,
    .report = report,
    .storage = storage,
};
