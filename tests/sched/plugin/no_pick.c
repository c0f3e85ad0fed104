/* A policy that cannot choose. */
#include "tyto/policy.h"

const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD, .name = "no-pick", .summary = "does not choose"};
