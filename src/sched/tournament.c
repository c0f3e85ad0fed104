/* Tournament: the schedulers of an SM try different policies in parallel, and then all follow the
 * one that has issued most. The candidates are lrr, gto, swl and two-level with their default
 * values. In a round each scheduler follows another candidate. If an SM has fewer schedulers than
 * there are candidates, there are as many rounds as are needed to try all. The winner stays to the
 * kernel's end, or until the next tournament.
 *
 * Each candidate gets all events of the SM, so that it could continue at any time. Source:
 * tournament warp scheduling, ITC-CSCC 2025, whose SM has four schedulers. Its text was not
 * available to us: the period is ours. */
#include "sched/policies.h"

#include "base/bits.h"

enum { PERIOD, AGAIN };

static const TytoPolicyParameter PARAMETERS[] = {
    [PERIOD] = {"period", TYTO_INTEGER, 4096, 1, 1000000000, NULL, "SM cycles of a round", "ours"},
    [AGAIN] = {"again", TYTO_INTEGER, 0, 0, 1000000000, NULL,
               "SM cycles from a winner to the next tournament; 0: it stays", "ours"},
};

static const TytoPolicy *const CANDIDATES[] = {&sched_lrr, &sched_gto, &sched_swl,
                                               &sched_two_level};
enum { COUNT = sizeof CANDIDATES / sizeof *CANDIDATES, MOST_PARAMETERS = 8, NO_WINNER = -1 };

typedef struct Tournament {
    void *states[COUNT];    /* stored behind this struct */
    uint64_t issued[COUNT]; /* by candidate: instructions issued in its round */
    uint64_t period, again; /* SM cycles; `again` 0: never */
    uint64_t left;          /* SM cycles to the end of this round, or to the next tournament */
    uint32_t round;         /* number of the first candidate of this round */
    uint32_t schedulers;    /* number of schedulers of the SM */
    int winner;             /* NO_WINNER during a tournament */
} Tournament;

static void initial_values(const TytoPolicy *policy, double values[MOST_PARAMETERS]) {
    for (uint32_t i = 0; i < policy->parameter_count && i < MOST_PARAMETERS; i++)
        values[i] = policy->parameters[i].initial;
}

static size_t extra_bytes(const TytoSmView *view, const double *values) {
    (void)view, (void)values;
    size_t bytes = 0;
    for (int i = 0; i < COUNT; i++)
        bytes += (size_t)bits_align_up(CANDIDATES[i]->state_bytes, 64);
    return bytes;
}

static void begin(Tournament *s) {
    s->winner = NO_WINNER;
    s->round = 0;
    s->left = s->period;
    for (int i = 0; i < COUNT; i++)
        s->issued[i] = 0;
}

static void start(void *state, const TytoSmView *view, const double *values) {
    Tournament *s = state;
    char *memory = (char *)state + bits_align_up(sizeof *s, 64);
    s->period = (uint64_t)values[PERIOD];
    s->again = (uint64_t)values[AGAIN];
    s->schedulers = view->schedulers;
    for (int i = 0; i < COUNT; i++) {
        double initial[MOST_PARAMETERS];
        initial_values(CANDIDATES[i], initial);
        s->states[i] = memory;
        CANDIDATES[i]->start(s->states[i], view, initial);
        memory += bits_align_up(CANDIDATES[i]->state_bytes, 64);
    }
    begin(s);
}

/* The candidate that the scheduler follows. */
static uint32_t followed(const Tournament *s, uint32_t scheduler) {
    return s->winner == NO_WINNER ? (s->round + scheduler) % COUNT : (uint32_t)s->winner;
}

/* The candidate with the most instructions; among equals the first. */
static int best(const Tournament *s) {
    int first = 0;
    for (int i = 1; i < COUNT; i++)
        if (s->issued[i] > s->issued[first]) first = i;
    return first;
}

static void end_round(Tournament *s) {
    s->left = s->period;
    if (s->winner != NO_WINNER) {
        begin(s);
        return;
    }
    s->round += s->schedulers;
    if (s->round < COUNT) return;
    s->winner = best(s);
    s->left = s->again ? s->again : UINT64_MAX;
}

static void elapsed(void *state, const TytoSmView *view, uint64_t cycles) {
    Tournament *s = state;
    if (!view->ctas) return;
    for (; cycles >= s->left && s->left != UINT64_MAX;) {
        cycles -= s->left;
        end_round(s);
    }
    if (s->left != UINT64_MAX) s->left -= cycles;
}

static uint64_t next_change(void *state, const TytoSmView *view) {
    (void)view;
    const Tournament *s = state;
    return s->left;
}

/* The candidates that may be followed again, as a set: the last winner alone, if it stays. */
static uint32_t in_play(const Tournament *s) {
    return s->left == UINT64_MAX ? UINT32_C(1) << s->winner : (UINT32_C(1) << COUNT) - 1;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const Tournament *s = state;
    const uint32_t candidate = followed(s, (uint32_t)scheduler);
    return CANDIDATES[candidate]->pick(s->states[candidate], view, scheduler, ready);
}

/* The warps that a candidate allows to issue. */
static uint64_t allowed_by(const Tournament *s, const TytoSmView *view, uint32_t candidate) {
    const TytoPolicy *policy = CANDIDATES[candidate];
    return policy->may_issue ? policy->may_issue(s->states[candidate], view) : ~UINT64_C(0);
}

static uint64_t may_issue(void *state, const TytoSmView *view) {
    const Tournament *s = state;
    uint64_t allowed = 0;
    if (s->winner != NO_WINNER) return allowed_by(s, view, (uint32_t)s->winner);
    for (uint32_t i = 0; i < s->schedulers; i++)
        allowed |= allowed_by(s, view, followed(s, i)) & view->scheduler_warps[i];
    return allowed;
}

/* A scheduler beyond the candidates of the round is not counted, because another scheduler follows
 * its candidate in this tournament. */
static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    Tournament *s = state;
    const uint32_t scheduler = (uint32_t)issue->scheduler;
    if (s->winner == NO_WINNER && scheduler < COUNT && s->round + scheduler < COUNT)
        s->issued[s->round + scheduler]++;
    for (uint32_t rest = in_play(s); rest; rest &= rest - 1) {
        const int i = bits_lowest32(rest);
        CANDIDATES[i]->issued(s->states[i], view, issue);
    }
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Tournament *s = state;
    for (uint32_t rest = in_play(s); rest; rest &= rest - 1) {
        const int i = bits_lowest32(rest);
        if (CANDIDATES[i]->events & TYTO_WANTS(event->kind))
            CANDIDATES[i]->event(s->states[i], view, event);
    }
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Tournament *s = state;
    double counts[COUNT];
    for (int i = 0; i < COUNT; i++)
        counts[i] = (double)s->issued[i];
    out->value(out->context, "winner", "lrr, gto, swl, two-level from 0; -1: none yet", s->winner);
    out->list(out->context, "round_instructions", "warp instructions, by candidate", counts, COUNT);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)m;
    const uint64_t counter = tyto_bits_for((uint32_t)values[PERIOD] + 1);
    out->bits(out->context, "instructions of each candidate, cycles of a round", "ours",
              (COUNT + 1) * counter, 0);
}

const TytoPolicy sched_tournament = {
    TYTO_POLICY_HEAD,
    .name = "tournament",
    .summary = "schedulers try lrr, gto, swl and two-level in parallel; all then use the best",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Tournament),
    .events = TYTO_WANTS(TYTO_EVENT_CTA_LAUNCHED) | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) |
              TYTO_WANTS(TYTO_EVENT_WARP_AT_BARRIER) | TYTO_WANTS(TYTO_EVENT_BARRIER_RELEASED),
    .extra_bytes = extra_bytes,
    .start = start,
    .pick = pick,
    .may_issue = may_issue,
    .issued = issued,
    .event = event,
    .elapsed = elapsed,
    .next_change = next_change,
    .report = report,
    .storage = storage,
};
