/* A policy with a later layout of this version that defines none of the new functions. */
#include "tyto/policy.h"

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)scheduler;
    return tyto_oldest(view, ready);
}

typedef struct Later {
    TytoPolicy policy;
    void (*later)(void); /* unknown to this version of Tyto */
} Later;

extern __attribute__((visibility("default"))) const Later later __asm__("tyto_policy");
const Later later = {.policy = {.version = TYTO_POLICY_VERSION,
                                .size = sizeof(Later),
                                .parameter_bytes = sizeof(TytoPolicyParameter),
                                .name = "larger",
                                .summary = "the oldest warp, by a later layout",
                                .pick = pick},
#ifdef USES_LATER
                     .later = (void (*)(void))pick
#endif
};
