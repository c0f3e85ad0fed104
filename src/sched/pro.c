/* PRO, progress-aware scheduling: CTAs are ranked by state and progress, and warps within their CTA
 * by progress. Progress is the number of thread instructions issued: for each instruction of a
 * warp, its active threads, whether or not a guard lets them execute (section III.E).
 *
 * While CTAs still wait to be dispatched (the fast phase), a CTA with finished warps goes first,
 * then one with warps at a barrier. The others come last, those with the most progress first.
 * Afterwards (the slow phase) a CTA with warps at a barrier goes before the others; of these, the
 * one with the least progress goes first. The others are sorted again every N cycles (section
 * III.C). Between sorts, each keeps its progress at the last sort. This also holds for a CTA that
 * returns from a barrier; otherwise it alone would count progress after the sort. According to
 * lines 57 to 61, it would keep its progress of the last sort that included it.
 *
 * A CTA may have both finished warps and warps at a barrier. The paper's figure 3 has no arrow for
 * this case, but algorithm 1 does. A CTA's first warp at a barrier puts it into barrierWait in any
 * state (lines 20 and 21), and its first finished warp puts it into finishWait (lines 4 to 8).
 *
 * If another grid with CTAs to dispatch begins on the SM, the fast phase returns: CTAs take the
 * states that they would have in it. The paper runs one kernel at a time. If a CTA has both
 * finished warps and warps at a barrier, it is then in barrierWait; this choice is ours.
 *
 * The parameter `barriers` can leave the barrier states out. `progress=normalised` is the paper's
 * alternative: the instructions of a finished CTA are taken as the total. Source: PRO section III,
 * figure 3, algorithm 1. */
#include "sched/policies.h"

#include "base/bits.h"

enum { THRESHOLD, BARRIERS, PROGRESS };
enum { PROGRESS_INSTRUCTIONS, PROGRESS_NORMALISED };

static const char *const BARRIER_CHOICES[] = {"no", "yes", NULL};
static const char *const PROGRESS_CHOICES[] = {"instructions", "normalised", NULL};
static const TytoPolicyParameter PARAMETERS[] = {
    [THRESHOLD] = {"threshold", TYTO_INTEGER, 1000, 1, 1e9, NULL, "SM cycles between two sorts",
                   "PRO section III.C"},
    [BARRIERS] = {"barriers", TYTO_CHOICE, 1, 0, 1, BARRIER_CHOICES,
                  "whether a CTA with warps at a barrier goes before CTAs in noWait",
                  "PRO section III.C; without, section IV on scalarProd"},
    [PROGRESS] = {"progress", TYTO_CHOICE, PROGRESS_INSTRUCTIONS, 0, 1, PROGRESS_CHOICES,
                  "a CTA's progress: its thread instructions, or these up to the number of the CTA "
                  "that finished last",
                  "PRO section III.C: the alternative"},
};

/* States of a CTA, with the paper's names. */
typedef enum State {
    NO_WAIT,        /* fast phase */
    BARRIER_WAIT,   /* fast phase: a warp waits at a barrier */
    FINISH_WAIT,    /* fast phase: a warp has finished */
    FINISH_NO_WAIT, /* slow phase */
    BARRIER_WAIT_1, /* slow phase: a warp waits at a barrier */
    STATES
} State;

typedef enum Step { WARP_AT_BARRIER, LAST_WARP_AT_BARRIER, WARP_FIN, LAST_TB_ASSIGNED, STEPS } Step;

/* Figure 3; algorithm 1 where figure 3 has no arrow. */
static const uint8_t NEXT[STATES][STEPS] = {
    [NO_WAIT] = {BARRIER_WAIT, NO_WAIT, FINISH_WAIT, FINISH_NO_WAIT},
    [BARRIER_WAIT] = {BARRIER_WAIT, NO_WAIT, FINISH_WAIT, BARRIER_WAIT_1},
    [FINISH_WAIT] = {BARRIER_WAIT, FINISH_WAIT, FINISH_WAIT, FINISH_NO_WAIT},
    [FINISH_NO_WAIT] = {BARRIER_WAIT_1, FINISH_NO_WAIT, FINISH_NO_WAIT, FINISH_NO_WAIT},
    [BARRIER_WAIT_1] = {BARRIER_WAIT_1, FINISH_NO_WAIT, BARRIER_WAIT_1, BARRIER_WAIT_1},
};

/* High, medium, low: the lowest goes first. States of different phases never occur at the same
 * time. */
static const uint8_t CLASS[STATES] = {[FINISH_WAIT] = 0,
                                      [BARRIER_WAIT] = 1,
                                      [BARRIER_WAIT_1] = 1,
                                      [NO_WAIT] = 2,
                                      [FINISH_NO_WAIT] = 2};

typedef struct ProCta {
    uint64_t index;     /* index in the grid */
    uint64_t progress;  /* thread instructions when CTAs in the same waiting state were last
                           sorted */
    uint64_t sorted_by; /* thread instructions at the last regular sort; 0 before the first one */
    uint8_t state;      /* State */
    uint8_t slot;       /* CTA slot */
    uint8_t finished;   /* finished warps */
    uint8_t at_barrier; /* warps at any of its barriers */
} ProCta;

typedef struct Pro {
    ProCta cta[TYTO_MAX_CTAS];       /* by slot */
    uint64_t inside[TYTO_MAX_WARPS]; /* by warp: the warps of its CTA that go before it */
    uint64_t before[TYTO_MAX_WARPS]; /* by warp: all warps that go before it */
    uint8_t order[TYTO_MAX_CTAS];    /* CTA slots, highest priority first */
    uint8_t count;                   /* CTAs in `order` */
    bool heeds_barriers;             /* the parameter `barriers` */
    bool is_normalised;              /* the parameter `progress` */
    uint64_t whole;                  /* thread instructions of the CTA that finished last */
    bool is_slow;                    /* CTAs are in states of the slow phase */
    bool is_stale;                   /* `order` and `before` are out of date */
    uint64_t threshold;              /* SM cycles between sorts */
    uint64_t next_sort;              /* SM cycle */
    uint64_t sorts;                  /* sorts since the kernel's start */
} Pro;

static void start(void *state, const TytoSmView *view, const double *values) {
    Pro *s = state;
    s->threshold = (uint64_t)values[THRESHOLD];
    s->heeds_barriers = values[BARRIERS] != 0;
    s->is_normalised = values[PROGRESS] == PROGRESS_NORMALISED;
    s->next_sort = view->cycle + s->threshold;
    s->is_slow = view->last_cta_dispatched;
}

/* ---- Sorting ---- */

static uint64_t progress_of(const TytoSmView *view, int slot) {
    uint64_t sum = 0;
    for (uint64_t rest = tyto_cta(view, slot)->all; rest; rest &= rest - 1)
        sum += tyto_warp(view, tyto_lowest(rest))->thread_instructions;
    return sum;
}

/* The same, as the sorts use it. */
static uint64_t progress_to_rank(const Pro *s, const TytoSmView *view, int slot) {
    uint64_t progress = progress_of(view, slot);
    return s->is_normalised && s->whole && progress > s->whole ? s->whole : progress;
}

/* Negative if a goes before b. */
static int compare(const ProCta *a, const ProCta *b) {
    if (CLASS[a->state] != CLASS[b->state]) return CLASS[a->state] - CLASS[b->state];
    bool is_finish = a->state == FINISH_WAIT, is_low = CLASS[a->state] == 2;
    int waiting = is_finish ? b->finished - a->finished : b->at_barrier - a->at_barrier;
    if (!is_low && waiting) return waiting;
    uint64_t mine = is_low ? a->sorted_by : a->progress,
             other = is_low ? b->sorted_by : b->progress;
    bool is_first = a->state == FINISH_NO_WAIT ? mine < other : mine > other;
    if (mine != other) return is_first ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

/* Ranks the CTAs and, through them, the warps. */
static void rank(Pro *s, const TytoSmView *view) {
    s->count = 0;
    for (uint64_t rest = view->ctas; rest; rest &= rest - 1) {
        uint8_t slot = (uint8_t)tyto_lowest(rest);
        int at = s->count++;
        for (; at && compare(&s->cta[slot], &s->cta[s->order[at - 1]]) < 0; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = slot;
    }
    uint64_t ahead = 0;
    for (int i = 0; i < s->count; i++) {
        uint64_t warps = tyto_cta(view, s->order[i])->all;
        for (uint64_t rest = warps; rest; rest &= rest - 1)
            s->before[tyto_lowest(rest)] = ahead | s->inside[tyto_lowest(rest)];
        ahead |= warps;
    }
    s->is_stale = false;
}

/* Sorts a CTA's warps by progress, the most or the least first; equal ones by slot. */
static void sort_warps(Pro *s, const TytoSmView *view, int slot, bool is_furthest_first) {
    uint8_t order[TYTO_MAX_WARPS];
    int count = 0;
    for (uint64_t rest = tyto_cta(view, slot)->all; rest; rest &= rest - 1) {
        int warp = tyto_lowest(rest), at = count++;
        uint64_t progress = tyto_warp(view, warp)->thread_instructions;
        for (; at; at--) {
            uint64_t other = tyto_warp(view, order[at - 1])->thread_instructions;
            if (is_furthest_first ? progress <= other : progress >= other) break;
            order[at] = order[at - 1];
        }
        order[at] = (uint8_t)warp;
    }
    uint64_t ahead = 0;
    for (int i = 0; i < count; i++) {
        s->inside[order[i]] = ahead;
        ahead |= UINT64_C(1) << order[i];
    }
}

/* The regular sort of the CTAs that do not wait, and of their warps. */
static void sort_others(Pro *s, const TytoSmView *view) {
    State state = s->is_slow ? FINISH_NO_WAIT : NO_WAIT;
    for (uint64_t rest = view->ctas; rest; rest &= rest - 1) {
        int slot = tyto_lowest(rest);
        s->cta[slot].sorted_by = progress_to_rank(s, view, slot);
        if (s->cta[slot].state == state) sort_warps(s, view, slot, !s->is_slow);
    }
    s->sorts++;
    s->is_stale = true;
}

/* ---- Events ---- */

/* Called when the number of a CTA's finished warps or warps at barriers has changed: takes the
 * current progress of all CTAs in its state, unless only the regular sort moves them. */
static void note_waiting(Pro *s, const TytoSmView *view, int slot) {
    State state = (State)s->cta[slot].state;
    for (uint64_t rest = CLASS[state] == 2 ? 0 : view->ctas; rest; rest &= rest - 1) {
        int other = tyto_lowest(rest);
        if (s->cta[other].state == state) s->cta[other].progress = progress_to_rank(s, view, other);
    }
}

static void move(Pro *s, const TytoSmView *view, int slot, Step step) {
    ProCta *cta = &s->cta[slot];
    cta->state = NEXT[cta->state][step];
    note_waiting(s, view, slot);
}

/* The first warp of a CTA has finished or is at a barrier: its warps with the least progress now go
 * first. */
static void first_of(Pro *s, const TytoSmView *view, int slot, Step step) {
    sort_warps(s, view, slot, false);
    move(s, view, slot, step);
}

static void launch(Pro *s, const TytoSmView *view, int slot) {
    s->cta[slot] = (ProCta){.index = tyto_cta(view, slot)->index,
                            .slot = (uint8_t)slot,
                            .state = s->is_slow ? FINISH_NO_WAIT : NO_WAIT};
    sort_warps(s, view, slot, true);
}

static void enter_slow_phase(Pro *s, const TytoSmView *view) {
    s->is_slow = true;
    for (uint64_t rest = view->ctas; rest; rest &= rest - 1)
        move(s, view, tyto_lowest(rest), LAST_TB_ASSIGNED);
    sort_others(s, view);
}

static void return_to_fast_phase(Pro *s, const TytoSmView *view) {
    s->is_slow = false;
    for (uint64_t rest = view->ctas; rest; rest &= rest - 1) {
        ProCta *cta = &s->cta[tyto_lowest(rest)];
        if (cta->state == BARRIER_WAIT_1) cta->state = BARRIER_WAIT;
        else cta->state = cta->finished ? FINISH_WAIT : NO_WAIT;
        note_waiting(s, view, tyto_lowest(rest));
    }
    sort_others(s, view);
}

/* No event tells that another grid has begun on the SM. */
static void check_phase(Pro *s, const TytoSmView *view) {
    if (s->is_slow && !view->last_cta_dispatched) return_to_fast_phase(s, view);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Pro *s = state;
    int slot = event->cta_slot;
    ProCta *cta = &s->cta[slot >= 0 ? slot : 0];
    s->is_stale = true;
    check_phase(s, view);
    switch (event->kind) {
    case TYTO_EVENT_CTA_LAUNCHED: launch(s, view, slot); break;
    case TYTO_EVENT_LAST_CTA: enter_slow_phase(s, view); break;
    case TYTO_EVENT_WARP_FINISHED:
        if (++cta->finished == 1) first_of(s, view, slot, WARP_FIN);
        else note_waiting(s, view, slot);
        break;
    case TYTO_EVENT_CTA_FINISHED: s->whole = progress_of(view, slot); break;
    case TYTO_EVENT_WARP_AT_BARRIER:
        if (!s->heeds_barriers) break;
        if (++cta->at_barrier == 1) first_of(s, view, slot, WARP_AT_BARRIER);
        else note_waiting(s, view, slot);
        break;
    case TYTO_EVENT_BARRIER_RELEASED:
        if (!s->heeds_barriers) break;
        cta->at_barrier = (uint8_t)(cta->at_barrier - bits_count64(event->warps));
        if (!cta->at_barrier) move(s, view, slot, LAST_WARP_AT_BARRIER);
        else note_waiting(s, view, slot);
        break;
    default: break;
    }
}

/* Cycles in which the SM slept are reported together. Sorts that were due in them had nothing new
 * to sort, so one sort replaces them all. The next one is due as if they had happened. */
static void elapsed(void *state, const TytoSmView *view, uint64_t count) {
    (void)count;
    Pro *s = state;
    check_phase(s, view);
    if (view->cycle < s->next_sort) return;
    uint64_t missed = (view->cycle - s->next_sort) / s->threshold;
    s->next_sort += (missed + 1) * s->threshold;
    s->sorts += missed;
    sort_others(s, view);
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)scheduler;
    Pro *s = state;
    if (s->is_stale) rank(s, view);
    return tyto_first(s->before, ready);
}

/* Lists the CTAs by their progress, regardless of their states: the paper's table IV. Returns their
 * number. */
static size_t list_by_progress(const TytoSmView *view, double *indices) {
    uint64_t progress[TYTO_MAX_CTAS];
    int count = 0;
    for (uint64_t rest = view->ctas; rest; rest &= rest - 1) {
        int slot = tyto_lowest(rest), at = count++;
        uint64_t made = progress_of(view, slot);
        double index = (double)tyto_cta(view, slot)->index;
        for (; at &&
               (made > progress[at - 1] || (made == progress[at - 1] && index < indices[at - 1]));
             at--) {
            progress[at] = progress[at - 1];
            indices[at] = indices[at - 1];
        }
        progress[at] = made;
        indices[at] = index;
    }
    return (size_t)count;
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    Pro *s = state;
    rank(s, view);
    double order[TYTO_MAX_CTAS], states[TYTO_MAX_CTAS], by_progress[TYTO_MAX_CTAS];
    size_t resident = list_by_progress(view, by_progress);
    for (int i = 0; i < s->count; i++) {
        order[i] = (double)s->cta[s->order[i]].index;
        states[i] = s->cta[s->order[i]].state;
    }
    out->value(out->context, "is_slow_phase", "0 or 1", s->is_slow);
    out->value(out->context, "sorts", "sorts", (double)s->sorts);
    out->list(out->context, "order", "CTA indices, highest priority first", order, s->count);
    out->list(
        out->context, "states",
        "in that order: 0 noWait, 1 barrierWait, 2 finishWait, 3 finishNoWait, 4 barrierWait1",
        states, s->count);
    out->list(out->context, "progress", "CTA indices, most progress first", by_progress, resident);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    const char *source = "PRO section III.E";
    out->bits(out->context, "progress of each warp, 4 bytes", source, 32 * (uint64_t)m->warps, 0);
    out->bits(out->context, "progress of each CTA, 4 bytes", source, 32 * (uint64_t)m->ctas, 0);
    out->bits(out->context, "warps at a barrier or finished, 1 byte per CTA", source,
              8 * (uint64_t)m->ctas, 0);
    out->bits(out->context, "order of the CTAs, 1 byte each", source, 8 * (uint64_t)m->ctas, 0);
}

const TytoPolicy sched_pro = {
    TYTO_POLICY_HEAD,
    .name = "pro",
    .summary = "progress-aware: CTAs close to their end or a barrier first, then by progress",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Pro),
    .events = TYTO_WANTS(TYTO_EVENT_CTA_LAUNCHED) | TYTO_WANTS(TYTO_EVENT_CTA_FINISHED) |
              TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) | TYTO_WANTS(TYTO_EVENT_WARP_AT_BARRIER) |
              TYTO_WANTS(TYTO_EVENT_BARRIER_RELEASED) | TYTO_WANTS(TYTO_EVENT_LAST_CTA),
    .start = start,
    .pick = pick,
    .event = event,
    .elapsed = elapsed,
    .report = report,
    .storage = storage,
};
