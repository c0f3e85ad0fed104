/* A CTA policy that watches the loads of an SM, but has no function to receive them. */
#include "tyto/cta_policy.h"

static int watched_sm(const void *state) {
    (void)state;
    return 0;
}

const TytoCtaPolicy tyto_cta_policy = {TYTO_CTA_POLICY_HEAD, .name = "deaf",
                                       .summary = "watches and does not hear",
                                       .watched_sm = watched_sm};
