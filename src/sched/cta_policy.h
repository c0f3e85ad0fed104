/* The CTA schedulers there are, and a chosen one with its parameters: from the table, or from a
 * shared object of the user's (tyto/cta_policy.h). */
#ifndef TYTO_SCHED_CTA_POLICY_H
#define TYTO_SCHED_CTA_POLICY_H

#include <stdbool.h>

#include "base/diag.h"
#include "tyto/cta_policy.h"

/* The CTA schedulers that come with Tyto, one file each: POLICY(name) is the constant cta_NAME.
 * Every list and help follows their order here. */
#define CTA_POLICIES(POLICY) POLICY(round_robin) POLICY(limit) POLICY(md) POLICY(lcs) POLICY(bcs)

#define CTA_DECLARE(name) extern const TytoCtaPolicy cta_##name;
CTA_POLICIES(CTA_DECLARE)
#undef CTA_DECLARE

/* The i-th CTA scheduler of the table; NULL past the end. */
const TytoCtaPolicy *cta_policy_at(int i);

/* A CTA scheduler as chosen. Cold, never changed. */
typedef struct CtaSched {
    const TytoCtaPolicy *policy; /* the table's, or the shared object's */
    const double *values;        /* of its parameters, in their rows' order */
    const char *text; /* the policy and the values that are not initial ones, as in a command */
    uint64_t content; /* hash of the shared object's bytes; 0: there is none */
} CtaSched;

/* Reads `name[:parameter=value,...]`, as sched_policy_new does. NULL, with the reasons told to
 * `diag`, when it cannot be used. */
CtaSched *cta_sched_new(const char *text, Diag *diag);
void cta_sched_free(CtaSched *sched); /* NULL is allowed; its states must be gone */

#endif
