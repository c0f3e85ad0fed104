/* A warp scheduler: a warp goes on for up to `turn` instructions, then the youngest warp that is
 * ready takes its place. docs/tutorial.md makes it from what `tyto new scheduler youngest` writes.
 *
 * tyto compare --machine ccws --schedulers gto,./youngest.c,./youngest.c:turn=1 spmv */
#include <tyto/policy.h>

/* What can be set on the command line. */
enum { TURN };
static const TytoPolicyParameter parameters[] = {
    [TURN] = {"turn", TYTO_INTEGER, 8, 1, 1000, NULL, "instructions before another warp's turn",
              "a starting point"},
};

/* What an SM remembers from cycle to cycle. */
typedef struct State {
    int turn;                        /* the parameter */
    int warp[TYTO_MAX_SCHEDULERS];   /* by scheduler: whose turn it is */
    int issued[TYTO_MAX_SCHEDULERS]; /* by scheduler: its instructions in this turn */
} State;

static void start(void *state, const TytoSmView *view, const double *values) {
    State *mine = state;
    (void)view;
    mine->turn = (int)values[TURN];
    for (int scheduler = 0; scheduler < TYTO_MAX_SCHEDULERS; scheduler++)
        mine->warp[scheduler] = TYTO_NO_WARP;
}

/* The youngest of `ready`: the warp that was launched last. */
static int youngest(const TytoSmView *view, uint64_t ready) {
    int found = tyto_lowest(ready);
    for (uint64_t rest = ready; rest; rest &= rest - 1) { /* removes the lowest warp of `rest` */
        int warp = tyto_lowest(rest);
        if (tyto_warp(view, warp)->age > tyto_warp(view, found)->age) found = warp;
    }
    return found;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const State *mine = state;
    int warp = mine->warp[scheduler];
    if (warp != TYTO_NO_WARP && tyto_has(ready, warp) && mine->issued[scheduler] < mine->turn)
        return warp;
    return youngest(view, ready);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    State *mine = state;
    (void)view;
    if (mine->warp[issue->scheduler] != issue->warp) mine->issued[issue->scheduler] = 0;
    mine->warp[issue->scheduler] = issue->warp;
    mine->issued[issue->scheduler]++;
}

const TytoPolicy tyto_policy = {
    TYTO_POLICY_HEAD,
    .name = "youngest",
    .summary = "a warp goes on for some instructions, then the youngest that is ready",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof parameters[0],
    .state_bytes = sizeof(State),
    .start = start,
    .pick = pick,
    .issued = issued,
};
