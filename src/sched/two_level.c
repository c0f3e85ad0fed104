/* Two-level scheduling: a scheduler's warps are divided into fetch groups of fixed size, in the
 * order of their slots. One group runs until all its warps are stalled; then it is another group's
 * turn.
 *
 * Groups are formed once, whichever warps are resident, and hold warps of one scheduler. What
 * stalls a group is a parameter: memory (and barriers) as in Narasiman et al., whose cores keep
 * short waits within the group, or anything. Source: CCWS section 5.1 (2LVL), OWL section 4.1 on
 * the same scheme. */
#include "sched/policies.h"

#include "base/bits.h"
#include "sched/view.h"

enum { GROUP, INNER, OUTER, STALL };
enum { ORDER_LRR, ORDER_GTO };
enum { STALL_MEMORY, STALL_ANY };

static const char *const ORDERS[] = {"lrr", "gto", NULL};
static const char *const STALLS[] = {"memory", "any", NULL};
#define SOURCE "Narasiman et al. (MICRO 2011) as described in CCWS section 5.1"
static const TytoPolicyParameter PARAMETERS[] = {
    [GROUP] = {"group", TYTO_INTEGER, 8, 1, TYTO_MAX_WARPS, NULL, "warps in a fetch group", SOURCE},
    [INNER] = {"inner", TYTO_CHOICE, ORDER_LRR, 0, 1, ORDERS, "order of the warps of a group",
               SOURCE},
    [OUTER] = {"outer", TYTO_CHOICE, ORDER_LRR, 0, 1, ORDERS, "order of the groups", SOURCE},
    [STALL] =
        {"stall", TYTO_CHOICE, STALL_MEMORY, 0, 1, STALLS,
         "what ends a group's turn: all its warps wait for memory or a barrier, or for anything",
         SOURCE},
};

typedef struct TwoLevel {
    uint64_t group[TYTO_MAX_WARPS]; /* by warp: the warps of its group */
    int8_t last[TYTO_MAX_WARPS];    /* by a group's lowest warp: warp of it that issued last */
    uint8_t current[TYTO_MAX_SCHEDULERS]; /* by scheduler: a warp of the group whose turn it is */
    bool is_greedy_inside;                /* `inner` is gto */
    bool is_oldest_first;                 /* `outer` is gto */
    bool yields_to_any;                   /* `stall` is any */
} TwoLevel;

static void form_groups(TwoLevel *s, uint64_t warps, int size) {
    while (warps) {
        uint64_t group = 0;
        for (int i = 0; i < size && warps; i++, warps &= warps - 1)
            group |= warps & -warps;
        for (uint64_t rest = group; rest; rest &= rest - 1)
            s->group[bits_lowest64(rest)] = group;
    }
}

static void start(void *state, const TytoSmView *view, const double *values) {
    TwoLevel *s = state;
    s->is_greedy_inside = values[INNER] == ORDER_GTO;
    s->is_oldest_first = values[OUTER] == ORDER_GTO;
    s->yields_to_any = values[STALL] == STALL_ANY;
    for (int w = 0; w < TYTO_MAX_WARPS; w++)
        s->last[w] = TYTO_NO_WARP;
    for (uint32_t i = 0; i < view->schedulers; i++) {
        form_groups(s, view->scheduler_warps[i], (int)values[GROUP]);
        s->current[i] = (uint8_t)tyto_lowest(view->scheduler_warps[i]);
    }
}

/* The group whose turn it is: the current one while any of its warps goes on, else the next. */
static uint64_t turn(TwoLevel *s, const TytoSmView *view, int scheduler, uint64_t ready) {
    uint64_t going = ready;
    if (!s->yields_to_any) going |= sched_view_unblocked(view) & view->scheduler_warps[scheduler];
    uint64_t group = s->group[s->current[scheduler]];
    if (group & going) return group;
    int next =
        s->is_oldest_first ? tyto_oldest(view, going) : tyto_next(going, bits_highest64(group));
    s->current[scheduler] = (uint8_t)next;
    return s->group[next];
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    TwoLevel *s = state;
    uint64_t group = turn(s, view, scheduler, ready);
    uint64_t candidates = ready & group;
    if (!candidates) return TYTO_NO_WARP;
    int last = s->last[tyto_lowest(group)];
    if (!s->is_greedy_inside) return tyto_next(candidates, last);
    return last >= 0 && tyto_has(candidates, last) ? last : tyto_oldest(view, candidates);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    TwoLevel *s = state;
    s->last[tyto_lowest(s->group[issue->warp])] = (int8_t)issue->warp;
}

const TytoPolicy sched_two_level = {
    .version = TYTO_POLICY_VERSION,
    .name = "two-level",
    .summary = "fixed fetch groups; one group runs until all its warps are stalled",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(TwoLevel),
    .start = start,
    .pick = pick,
    .issued = issued,
};
