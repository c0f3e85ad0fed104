/* A policy that cannot choose. */
#include "tyto/policy.h"

const TytoPolicy tyto_policy = {
    .version = TYTO_POLICY_VERSION, .name = "no-pick", .summary = "does not choose"};
