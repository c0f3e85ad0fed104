/* A warp scheduler of one's own: only the oldest warps may load, and how many they are is found by
 * climbing. After each epoch in which the SM issued less than in the one before, the limit moves in
 * the other direction. Among the warps that are ready it is greedy, then oldest.
 *
 * tyto compare --schedulers gto,ccws,./climb.c spmv */
#include <tyto/policy.h>

enum { EPOCH, STEP, LEAST };

static const TytoPolicyParameter parameters[] = {
    [EPOCH] = {"epoch", TYTO_INTEGER, 2048, 64, 1 << 20, NULL, "SM cycles between two moves",
               "our own"},
    [STEP] = {"step", TYTO_INTEGER, 2, 1, TYTO_MAX_WARPS, NULL, "warps that a move adds or removes",
              "our own"},
    [LEAST] = {"least", TYTO_INTEGER, 2, 1, TYTO_MAX_WARPS, NULL, "fewest warps that may load",
               "our own"},
};

typedef struct Climb {
    int epoch, step, least;
    int limit;                        /* warps that may load */
    int direction;                    /* of the next move: 1 or -1 */
    int64_t left;                     /* cycles until the epoch ends */
    uint64_t instructions, before;    /* issued in this epoch, and in the one before */
    uint64_t moves;                   /* for the report */
    int8_t last[TYTO_MAX_SCHEDULERS]; /* by scheduler: the warp that issued last */
} Climb;

static void start(void *state, const TytoSmView *view, const double *values) {
    Climb *climb = state;
    climb->epoch = (int)values[EPOCH];
    climb->step = (int)values[STEP];
    climb->least = (int)values[LEAST];
    climb->limit = (int)view->warp_count;
    climb->direction = -1;
    climb->left = climb->epoch;
    for (int i = 0; i < TYTO_MAX_SCHEDULERS; i++)
        climb->last[i] = TYTO_NO_WARP;
}

/* At the end of an epoch. A limit above the resident warps would be none. */
static void move(Climb *climb, int warps) {
    if (climb->instructions < climb->before) climb->direction = -climb->direction;
    int limit = climb->limit + climb->direction * climb->step;
    if (limit > warps) limit = warps;
    if (limit < climb->least) limit = climb->least;
    climb->moves += limit != climb->limit;
    climb->limit = limit;
    climb->before = climb->instructions;
    climb->instructions = 0;
    climb->left = climb->epoch;
}

/* An SM that slept may have passed the end of several epochs: it moves once. */
static void elapsed(void *state, const TytoSmView *view, uint64_t count) {
    Climb *climb = state;
    climb->left -= (int64_t)count;
    if (climb->left <= 0) move(climb, __builtin_popcountll(view->resident));
}

static uint64_t next_change(void *state, const TytoSmView *view) {
    (void)view;
    const Climb *climb = state;
    return climb->left > 0 ? (uint64_t)climb->left : 1;
}

/* Warps at a barrier and those that have exited take no place, so that one may always load. */
static uint64_t may_load(void *state, const TytoSmView *view) {
    const Climb *climb = state;
    uint64_t rest = view->resident & ~view->at_barrier & ~view->exited, allowed = 0;
    for (int i = 0; rest && i < climb->limit; i++) {
        const uint64_t bit = UINT64_C(1) << tyto_oldest(view, rest);
        allowed |= bit;
        rest &= ~bit;
    }
    return allowed;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const int last = ((const Climb *)state)->last[scheduler];
    return last != TYTO_NO_WARP && tyto_has(ready, last) ? last : tyto_oldest(view, ready);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    Climb *climb = state;
    climb->last[issue->scheduler] = (int8_t)issue->warp;
    climb->instructions++;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    Climb *climb = state;
    for (int i = 0; i < TYTO_MAX_SCHEDULERS; i++)
        if (climb->last[i] == event->warp) climb->last[i] = TYTO_NO_WARP;
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Climb *climb = state;
    out->value(out->context, "moves", "moves", (double)climb->moves);
}

static void storage(const double *values, const TytoMachineSizes *sizes, const TytoStorage *out) {
    (void)values;
    out->bits(out->context, "register with the limit", "our own", tyto_bits_for(sizes->warps + 1),
              0);
    out->bits(out->context, "two counters of instructions, and one of cycles",
              "our own, 32 bits each", 3 * 32, 0);
    out->bits(out->context, "direction", "our own", 1, 0);
}

const TytoPolicy tyto_policy = {
    TYTO_POLICY_HEAD,
    .name = "climb",
    .summary = "a limit to the warps that load, moved by what the SM issues",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .state_bytes = sizeof(Climb),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED),
    .start = start,
    .pick = pick,
    .may_load = may_load,
    .issued = issued,
    .elapsed = elapsed,
    .event = event,
    .next_change = next_change,
    .report = report,
    .storage = storage,
};
