/* A policy with an earlier layout of this version: it states a size that ends before `may_load`.
 * The fields after that must be ignored; they would hold back all warps. */
#include "tyto/policy.h"

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)scheduler;
    return tyto_oldest(view, ready);
}

static uint64_t none(void *state, const TytoSmView *view) {
    (void)state, (void)view;
    return 0;
}

const TytoPolicy tyto_policy = {.version = TYTO_POLICY_VERSION,
                                .size = offsetof(TytoPolicy, may_load),
                                .name = "smaller",
                                .summary = "the oldest warp, by an earlier layout",
                                .pick = pick,
                                .may_load = none,
                                .may_issue = none};
