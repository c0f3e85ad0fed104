/* A warp scheduler of one's own: warps take turns, and a turn lasts several instructions.
 *
 * cc -shared -fPIC $(pkg-config --cflags tyto) turns.c -o turns.so
 * tyto run --scheduler ./turns.so:length=4 matmul */
#include <tyto/policy.h>

enum { LENGTH };

static const TytoPolicyParameter parameters[] = {
    [LENGTH] = {"length", TYTO_INTEGER, 8, 1, 1000, NULL, "instructions in a turn", "our own idea"},
};

typedef struct Turns {
    int length;                       /* instructions in a turn */
    int8_t warp[TYTO_MAX_SCHEDULERS]; /* by scheduler: whose turn it is, TYTO_NO_WARP at first */
    int issued[TYTO_MAX_SCHEDULERS];  /* by scheduler: instructions it has issued in this turn */
} Turns;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    Turns *turns = state;
    turns->length = (int)values[LENGTH];
    for (int i = 0; i < TYTO_MAX_SCHEDULERS; i++)
        turns->warp[i] = TYTO_NO_WARP;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)view;
    const Turns *turns = state;
    int warp = turns->warp[scheduler];
    bool goes_on = warp != TYTO_NO_WARP && turns->issued[scheduler] < turns->length;
    return goes_on && tyto_has(ready, warp) ? warp : tyto_next(ready, warp);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    Turns *turns = state;
    if (turns->warp[issue->scheduler] != issue->warp) turns->issued[issue->scheduler] = 0;
    turns->warp[issue->scheduler] = (int8_t)issue->warp;
    turns->issued[issue->scheduler]++;
}

const TytoPolicy tyto_policy = {
    TYTO_POLICY_HEAD,
    .name = "turns",
    .summary = "warps take turns of several instructions",
    .parameters = parameters,
    .parameter_count = 1,
    .state_bytes = sizeof(Turns),
    .start = start,
    .pick = pick,
    .issued = issued,
};
