/* A policy with a parameter whose initial value is out of bounds. */
#include "tyto/policy.h"

static const TytoPolicyParameter parameters[] = {
    {"size", TYTO_INTEGER, 9, 1, 8, NULL, "nothing", "nowhere"}};

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler;
    return tyto_lowest(ready);
}

const TytoPolicy tyto_policy = {
    TYTO_POLICY_HEAD,         .name = "bad-parameter", .summary = "is out of its bounds",
    .parameters = parameters, .parameter_count = 1,    .pick = pick};
