/* A policy built against another version of the header. */
#include "tyto/policy.h"

const TytoPolicy tyto_policy = {.version = TYTO_POLICY_VERSION + 1};
