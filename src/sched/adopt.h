/* Converts a policy from a shared object that was compiled with an earlier or later layout of this
 * version of the interface (tyto/policy.h, "How the interface grows"). */
#ifndef TYTO_SCHED_ADOPT_H
#define TYTO_SCHED_ADOPT_H

#include "base/arena.h"
#include "sched/choice.h"

/* Returns the policy in the current layout, owned by `arena`; missing fields are zero. Returns
 * NULL, with the reason in *why, if its layout cannot be used. The policy's version must be
 * right. */
void *adopt_policy(const PolicyKind *kind, const void *policy, Arena *arena, const char **why);

#endif
