/* The names of the orders among warps, as the parameter `order` takes them, and the orders as
 * functions of a policy. */
#include "sched/greedy.h"

#include <stddef.h>

const char *const greedy_orders[] = {[GREEDY_THEN_OLDEST] = "gto",
                                     [GREEDY_THEN_NEXT] = "greedy-next",
                                     [GREEDY_OLDEST] = "oldest",
                                     [GREEDY_NEXT] = "lrr",
                                     NULL};

int greedy_policy_pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    return greedy_pick(state, view, scheduler, ready);
}

void greedy_policy_issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    greedy_issued(state, issue);
}
