/* A warp scheduler that calls another language: through this plug-in a scheduler can be written in
 * Python. The other language also opens this shared object, fills in tyto_bridge, and selects one
 * of its policies by the parameter `policy`. Functions get that number and the SM's view. The other
 * language keeps the state of each SM (view->sm).
 *
 * It is slow: every pick is a call, and the SM never sleeps, because the plug-in cannot know when
 * such a policy would choose differently. */
#include <tyto/policy.h>

enum { POLICIES = 64 };

/* The other language fills this in before it makes a simulator, and does not change it while a
 * simulator exists. */
typedef struct TytoBridge {
    uint64_t events[POLICIES]; /* the events that a policy receives: TYTO_WANTS(kind) | ... */
    bool inserts[POLICIES];    /* whether a policy has a function `insert` */
    void (*start)(int policy, const TytoSmView *view);
    int (*pick)(int policy, const TytoSmView *view, int scheduler, uint64_t ready);
    void (*issued)(int policy, const TytoSmView *view, const TytoIssue *issue);
    void (*event)(int policy, const TytoSmView *view, const TytoEvent *event);
    int (*insert)(int policy, const TytoSmView *view, const TytoMiss *miss);
} TytoBridge;

extern __attribute__((visibility("default"))) TytoBridge tyto_bridge;
TytoBridge tyto_bridge;

/* The state of an SM. */
typedef struct State {
    int policy; /* number of the policy in the other language */
} State;

static const TytoPolicyParameter PARAMETERS[] = {
    {"policy", TYTO_INTEGER, 0, 0, POLICIES - 1, NULL, "number of the policy on the other side",
     "this interface"},
};

static void start(void *state, const TytoSmView *view, const double *values) {
    State *s = state;
    s->policy = (int)values[0];
    if (tyto_bridge.start) tyto_bridge.start(s->policy, view);
}

/* Without another language it picks the oldest warp, so that a run is possible, but meaningless. */
static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const State *s = state;
    if (!tyto_bridge.pick) return tyto_oldest(view, ready);
    return tyto_bridge.pick(s->policy, view, scheduler, ready);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    const State *s = state;
    if (tyto_bridge.issued) tyto_bridge.issued(s->policy, view, issue);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    const State *s = state;
    bool is_wanted = tyto_bridge.events[s->policy] & TYTO_WANTS(event->kind);
    if (is_wanted && tyto_bridge.event) tyto_bridge.event(s->policy, view, event);
}

static TytoInsertion insert(void *state, const TytoSmView *view, const TytoMiss *miss) {
    const State *s = state;
    if (!tyto_bridge.insert || !tyto_bridge.inserts[s->policy]) return TYTO_INSERT_NORMAL;
    return (TytoInsertion)tyto_bridge.insert(s->policy, view, miss);
}

static uint64_t next_change(void *state, const TytoSmView *view) {
    (void)state, (void)view;
    return 1;
}

const TytoPolicy tyto_policy = {
    TYTO_POLICY_HEAD,
    .name = "bridge",
    .summary = "a policy written in another language",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(State),
    .events = TYTO_WANTS(TYTO_EVENTS) - 1,
    .needs = TYTO_NEEDS_STALLS | TYTO_NEEDS_PREFETCH,
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
    .next_change = next_change,
    .insert = insert,
};
