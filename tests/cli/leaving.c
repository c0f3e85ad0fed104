/* A policy that ends the process as soon as it is loaded, before any of its functions is called. */
#include <stdlib.h>

#include "tyto/policy.h"

__attribute__((constructor)) static void leave(void) { exit(0); }

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler;
    return tyto_lowest(ready);
}

const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD, .name = "leaving",
                                .summary = "ends the process when it is loaded", .pick = pick};
