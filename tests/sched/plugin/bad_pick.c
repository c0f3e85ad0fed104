/* A policy that picks warp 5, ready or not. */
#include "tyto/policy.h"

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler, (void)ready;
    return 5;
}

const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD, .name = "bad-pick", .summary = "picks warp 5",
                                .pick = pick};
