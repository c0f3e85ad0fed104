/* The names of the orders among warps, as the policies' parameter takes them. */
#include "sched/greedy.h"

#include <stddef.h>

const char *const greedy_orders[] = {[GREEDY_THEN_OLDEST] = "gto",
                                     [GREEDY_THEN_NEXT] = "greedy-next",
                                     [GREEDY_OLDEST] = "oldest",
                                     [GREEDY_NEXT] = "lrr",
                                     NULL};
