/* A policy that prefetches the line after each miss, and counts by tag. */
#include "tyto/policy.h"

enum { TAGS = 7 };

static const TytoPolicyParameter parameters[] = {
    {"lines", TYTO_INTEGER, 1, 0, 1000000, NULL, "distance of the line in lines", "this test"},
    {"times", TYTO_INTEGER, 1, 0, 100, NULL, "prefetches for each miss", "this test"}};

typedef struct State {
    uint64_t distance;   /* bytes */
    uint32_t times, tag; /* prefetches for each miss; tag of the next one */
    uint64_t asked, refused, sent, used, late, unused, dropped;
    int64_t balance[TAGS]; /* by tag: sent, but not yet used, unused or dropped */
    uint64_t wrong;        /* times that a balance fell below zero, or a tag was invalid */
} State;

static void start(void *state, const TytoSmView *view, const double *values) {
    *(State *)state =
        (State){.distance = (uint64_t)values[0] * view->line_bytes, .times = (uint32_t)values[1]};
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)scheduler;
    return tyto_oldest(view, ready);
}

static void missed(State *s, const TytoSmView *view, const TytoEvent *event) {
    for (uint32_t i = 0; i < s->times; i++) {
        const uint64_t address = event->address + s->distance * (i + 1);
        if (!tyto_prefetch(view, address, s->tag)) s->refused++;
        else s->asked++, s->tag = (s->tag + 1) % TAGS;
    }
}

static void settle(State *s, uint32_t tag) {
    if (tag >= TAGS || --s->balance[tag] < 0) s->wrong++;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    State *s = state;
    switch (event->kind) {
    case TYTO_EVENT_L1D_MISS: missed(s, view, event); break;
    case TYTO_EVENT_PREFETCH_SENT:
        s->sent++;
        if (event->tag < TAGS) s->balance[event->tag]++;
        else s->wrong++;
        break;
    case TYTO_EVENT_PREFETCH_USED:
        s->used++, s->late += event->is_pending;
        settle(s, event->tag);
        break;
    case TYTO_EVENT_PREFETCH_UNUSED:
        s->unused++;
        settle(s, event->tag);
        break;
    case TYTO_EVENT_PREFETCH_DROPPED: s->dropped++; break;
    default: s->wrong++;
    }
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const State *s = state;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"asked", s->asked}, {"refused", s->refused}, {"sent", s->sent},
                {"used", s->used},   {"late", s->late},       {"unused", s->unused},
                {"wrong", s->wrong}, {"dropped", s->dropped}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        out->value(out->context, rows[i].name, "", (double)rows[i].value);
}

const TytoPolicy tyto_policy = {
    TYTO_POLICY_HEAD,
    .name = "next-line",
    .summary = "prefetches the line after each that misses",
    .parameters = parameters,
    .parameter_count = 2,
    .state_bytes = sizeof(State),
    .events = TYTO_WANTS(TYTO_EVENT_L1D_MISS) | TYTO_WANTS(TYTO_EVENT_PREFETCH_SENT) |
              TYTO_WANTS(TYTO_EVENT_PREFETCH_USED) | TYTO_WANTS(TYTO_EVENT_PREFETCH_UNUSED) |
              TYTO_WANTS(TYTO_EVENT_PREFETCH_DROPPED),
    .needs = TYTO_NEEDS_PREFETCH,
    .start = start,
    .pick = pick,
    .event = event,
    .report = report};
