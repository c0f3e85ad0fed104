/* A policy under which the misses of one instruction take no line of the L1D. Checks that events
 * name the instruction, and that none of its lines is brought in. */
#include "tyto/policy.h"

static const TytoPolicyParameter parameters[] = {
    {"pc", TYTO_INTEGER, -1, -1, 1000000, NULL, "the instruction; -1: none", "this test"},
    {"class", TYTO_INTEGER, TYTO_INSERT_BYPASS, 0, 9, NULL, "TytoInsertion", "this test"}};

typedef struct State {
    int64_t pc;
    int insertion;
    uint64_t asked;    /* misses of the instruction for which the policy was asked */
    uint64_t placed;   /* lines of the instruction that were found, filled or evicted in a place */
    uint64_t homeless; /* lines that arrived and found no place */
    uint64_t unknown;  /* L1D events without an instruction */
    double load_pc;    /* pc + 1 of the first load that issued; 0: none */
} State;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    *(State *)state = (State){.pc = (int64_t)values[0], .insertion = (int)values[1]};
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)scheduler;
    return tyto_oldest(view, ready);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    State *s = state;
    if (issue->is_load && s->load_pc == 0) s->load_pc = issue->pc + 1;
}

static TytoInsertion insert(void *state, const TytoSmView *view, const TytoMiss *miss) {
    (void)view;
    State *s = state;
    if (miss->pc != s->pc) return TYTO_INSERT_NORMAL;
    s->asked++;
    return (TytoInsertion)s->insertion;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    State *s = state;
    s->unknown += event->pc == TYTO_NO_PC;
    if (event->kind == TYTO_EVENT_L1D_MISS || event->owner_pc != s->pc) return;
    if (event->place == TYTO_NO_PLACE) s->homeless++;
    else s->placed++;
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    const State *s = state;
    out->value(out->context, "asked", "misses", (double)s->asked);
    out->value(out->context, "placed", "events", (double)s->placed);
    out->value(out->context, "homeless", "events", (double)s->homeless);
    out->value(out->context, "unknown", "events", (double)s->unknown);
    if (view->sm == 0) out->value(out->context, "load_pc", "", s->load_pc);
}

const TytoPolicy tyto_policy = {
    TYTO_POLICY_HEAD,
    .name = "bypassing",
    .summary = "misses of one instruction take no line",
    .parameters = parameters,
    .parameter_count = 2,
    .state_bytes = sizeof(State),
    .events = TYTO_WANTS(TYTO_EVENT_L1D_HIT) | TYTO_WANTS(TYTO_EVENT_L1D_MISS) |
              TYTO_WANTS(TYTO_EVENT_L1D_EVICTED) | TYTO_WANTS(TYTO_EVENT_L1D_FILLED),
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
    .report = report,
    .insert = insert};
