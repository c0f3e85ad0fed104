/* A policy whose state does not fit into any memory. */
#include "tyto/policy.h"

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler;
    return tyto_lowest(ready);
}

const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD, .name = "vast", .summary = "remembers everything",
                                .state_bytes = (size_t)-1, .pick = pick};
