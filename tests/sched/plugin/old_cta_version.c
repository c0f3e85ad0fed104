/* A CTA policy built against another version of the header. */
#include "tyto/cta_policy.h"

const TytoCtaPolicy tyto_cta_policy = {.version = TYTO_POLICY_VERSION + 1};
