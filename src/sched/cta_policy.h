/* The available CTA schedulers, and a chosen one with its parameters: from the table, or from the
 * user's shared object (tyto/cta_policy.h). */
#ifndef TYTO_SCHED_CTA_POLICY_H
#define TYTO_SCHED_CTA_POLICY_H

#include <stdbool.h>

#include "base/diag.h"
#include "tyto/cta_policy.h"

/* The built-in CTA schedulers, one file each: POLICY(name) is the constant cta_NAME. Every list and
 * help text follows their order here. */
#define CTA_POLICIES(POLICY) POLICY(round_robin) POLICY(limit) POLICY(md) POLICY(lcs) POLICY(bcs)

#define CTA_DECLARE(name) extern const TytoCtaPolicy cta_##name;
CTA_POLICIES(CTA_DECLARE)
#undef CTA_DECLARE

/* The i-th CTA scheduler of the table; NULL past the end. */
const TytoCtaPolicy *cta_policy_at(int i);

/* A chosen CTA scheduler. Rarely accessed and never changed. */
typedef struct CtaSched {
    const TytoCtaPolicy *policy; /* from the table or the shared object */
    const double *values;        /* values of its parameters, in the order of the rows */
    const char *text; /* the policy and the values that differ from the defaults, as on the command
                         line */
    uint64_t content; /* hash of the shared object's bytes; 0: none */
} CtaSched;

/* Reads `name[:parameter=value,...]`, as sched_policy_new does. Returns NULL, with the reasons in
 * `diag`, if the policy cannot be used. */
CtaSched *cta_sched_new(const char *text, Diag *diag);
void cta_sched_free(CtaSched *sched); /* NULL is allowed; its states must be gone */

#endif
