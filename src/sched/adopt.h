/* Takes over a policy of a shared object that was compiled with an earlier or later layout of this
 * version of the interface (tyto/policy.h, "How the interface grows"). */
#ifndef TYTO_SCHED_ADOPT_H
#define TYTO_SCHED_ADOPT_H

#include "base/arena.h"
#include "sched/choice.h"

/* The policy in today's layout, owned by `arena`: missing fields are zero. NULL, with the reason in
 * *why, when its layout cannot be used. The policy's version must be right. */
void *adopt_policy(const PolicyKind *kind, const void *policy, Arena *arena, const char **why);

#endif
