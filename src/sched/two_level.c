/* Two-level scheduling: fetch groups of a scheduler's warps take turns (sched/fetch_groups.h).
 *
 * The parameter `stall` selects what stalls a group: memory (and barriers) as in Narasiman et al.,
 * whose cores hide short waits within the group, or any reason. Source: CCWS section 5.1 (2LVL),
 * OWL section 4.1 on the same scheme. */
#include "sched/policies.h"

#include "sched/fetch_groups.h"

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

static void start(void *state, const TytoSmView *view, const double *values) {
    FetchGroups *s = state;
    s->is_greedy_inside = values[INNER] == ORDER_GTO;
    s->is_oldest_first = values[OUTER] == ORDER_GTO;
    s->yields_to_any = values[STALL] == STALL_ANY;
    fetch_groups_start(s, view, (int)values[GROUP]);
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    return fetch_groups_pick(state, view, scheduler, ready, 0);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    fetch_groups_issued(state, issue);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    fetch_groups_finished(state, event->warp);
}

const TytoPolicy sched_two_level = {
    TYTO_POLICY_HEAD,
    .name = "two-level",
    .summary = "fixed fetch groups; one group runs until all its warps are stalled",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(FetchGroups),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED),
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
};
