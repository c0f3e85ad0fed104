/* A policy that evicts the youngest line of a set, or gives an invalid answer. */
#include "tyto/policy.h"

enum { YOUNGEST, NONE, PENDING, BEYOND };
static const TytoPolicyParameter parameters[] = {
    {"answer", TYTO_INTEGER, YOUNGEST, 0, BEYOND, NULL,
     "the youngest; the cache's choice; a line that cannot go; no line", "this test"}};

typedef struct State {
    int answer;
    uint32_t chosen;        /* place of the last choice */
    uint64_t asked, obeyed; /* choices; choices whose line was evicted from that place */
} State;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    *(State *)state = (State){.answer = (int)values[0], .chosen = TYTO_NO_PLACE};
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)scheduler;
    return tyto_oldest(view, ready);
}

static int victim(void *state, const TytoSmView *view, const TytoMiss *miss,
                  const TytoLines *lines) {
    (void)view, (void)miss;
    State *s = state;
    int best = TYTO_ANY_LINE;
    if (s->answer == NONE) return TYTO_ANY_LINE;
    if (s->answer == BEYOND) return (int)lines->count;
    for (uint32_t i = 0; i < lines->count; i++) {
        const TytoLine *line = tyto_line(lines, i);
        if (s->answer == PENDING && !line->can_go) return (int)i;
        if (!line->can_go) continue;
        if (best == TYTO_ANY_LINE || line->order > tyto_line(lines, (uint32_t)best)->order)
            best = (int)i;
    }
    s->asked++;
    s->chosen = tyto_line(lines, (uint32_t)best)->place;
    return best;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    State *s = state;
    s->obeyed += event->place == s->chosen;
    s->chosen = TYTO_NO_PLACE;
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const State *s = state;
    out->value(out->context, "asked", "choices", (double)s->asked);
    out->value(out->context, "obeyed", "choices", (double)s->obeyed);
}

const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD,
                                .name = "choosing",
                                .summary = "gives up the youngest line of a set",
                                .parameters = parameters,
                                .parameter_count = 1,
                                .state_bytes = sizeof(State),
                                .events = TYTO_WANTS(TYTO_EVENT_L1D_EVICTED),
                                .start = start,
                                .pick = pick,
                                .event = event,
                                .report = report,
                                .victim = victim};
