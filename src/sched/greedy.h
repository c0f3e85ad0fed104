/* The order among warps that may issue, as a part of policies. `gto` is nothing else; `swl` and
 * `ccws` use it among the warps that they allow. It is greedy-then-oldest unless the parameter
 * `order` selects otherwise. Each half is available separately, combined with round-robin. */
#ifndef TYTO_SCHED_GREEDY_H
#define TYTO_SCHED_GREEDY_H

#include "tyto/policy.h"

typedef enum GreedyOrder {
    GREEDY_THEN_OLDEST,
    GREEDY_THEN_NEXT, /* greedy, then the next warp in turn */
    GREEDY_OLDEST,    /* always the oldest */
    GREEDY_NEXT,      /* always the next warp in turn: loose round-robin */
    /* Not available as parameter values: */
    GREEDY_THEN_YOUNGEST, /* cggty */
    GREEDY_YOUNGEST       /* always the youngest */
} GreedyOrder;

/* The parameter, as a row of the policies' tables. */
#define GREEDY_ORDER                                                                               \
    {"order",                                                                                      \
     TYTO_CHOICE,                                                                                  \
     GREEDY_THEN_OLDEST,                                                                           \
     0,                                                                                            \
     GREEDY_NEXT,                                                                                  \
     greedy_orders,                                                                                \
     "who goes first: the last to issue, then the oldest (gto) or the next in turn "               \
     "(greedy-next); the oldest; the next in turn (lrr)",                                          \
     "CCWS section 5.1; its section 3.3 works with any order"}
extern const char *const greedy_orders[];

typedef struct Greedy {
    bool is_greedy;                   /* the warp that issued last goes first */
    bool is_by_age;                   /* among the others, the oldest goes first */
    bool is_youngest;                 /* among the others, the youngest; neither: the next in
                                         turn */
    int8_t last[TYTO_MAX_SCHEDULERS]; /* by scheduler: warp that issued last; TYTO_NO_WARP if it has
                                         finished */
} Greedy;

static inline void greedy_start(Greedy *greedy, double choice) {
    GreedyOrder order = (GreedyOrder)choice;
    greedy->is_greedy = order != GREEDY_OLDEST && order != GREEDY_NEXT && order != GREEDY_YOUNGEST;
    greedy->is_youngest = order == GREEDY_THEN_YOUNGEST || order == GREEDY_YOUNGEST;
    greedy->is_by_age = order == GREEDY_THEN_OLDEST || order == GREEDY_OLDEST;
    for (int s = 0; s < TYTO_MAX_SCHEDULERS; s++)
        greedy->last[s] = TYTO_NO_WARP;
}

/* The youngest warp of `ready`. */
static inline int greedy_youngest(const TytoSmView *view, uint64_t ready) {
    int youngest = tyto_lowest(ready);
    for (ready &= ready - 1; ready; ready &= ready - 1)
        if (tyto_has(view->older[tyto_lowest(ready)], youngest)) youngest = tyto_lowest(ready);
    return youngest;
}

static inline int greedy_pick(const Greedy *greedy, const TytoSmView *view, int scheduler,
                              uint64_t ready) {
    int last = greedy->last[scheduler];
    if (last >= 0 && (greedy->is_greedy & tyto_has(ready, last))) return last;
    if (greedy->is_youngest) return greedy_youngest(view, ready);
    return greedy->is_by_age ? tyto_oldest(view, ready) : tyto_next(ready, last);
}

static inline void greedy_note(Greedy *greedy, int scheduler, int warp) {
    greedy->last[scheduler] = (int8_t)warp;
}
static inline void greedy_issued(Greedy *greedy, const TytoIssue *issue) {
    greedy_note(greedy, issue->scheduler, issue->warp);
}

/* A greedy warp has finished; a new warp in its slot does not inherit its priority. Otherwise the
 * order of turns does not change. */
static inline void greedy_finished(Greedy *greedy, int warp) {
    if (!greedy->is_greedy) return;
    for (int s = 0; s < TYTO_MAX_SCHEDULERS; s++)
        if (greedy->last[s] == warp) greedy->last[s] = TYTO_NO_WARP;
}

/* The same as functions of a policy whose state begins with a Greedy. */
int greedy_policy_pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready);
void greedy_policy_issued(void *state, const TytoSmView *view, const TytoIssue *issue);

#endif
