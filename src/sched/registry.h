/* The warp schedulers there are, and a chosen one with its parameters: from the table, or from a
 * shared object of the user's (`./mine.so:parameter=value`). */
#ifndef TYTO_SCHED_REGISTRY_H
#define TYTO_SCHED_REGISTRY_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"
#include "dram/prefetch.h"
#include "tyto/policy.h"

/* A warp scheduler as chosen. Cold: made before a run, shared by all SMs, never changed. */
typedef struct SchedPolicy {
    const TytoPolicy *policy; /* the table's, or the shared object's */
    const double *values;     /* of its parameters, in their rows' order */
    const char *text; /* the policy and the values that are not initial ones, as in a command */
    bool is_loaded;   /* from a shared object, not from the table */
    uint64_t content; /* hash of the shared object's bytes; 0: there is none */
    TytoDramPrefetch prefetch; /* what it wants of the memory controllers */
} SchedPolicy;

/* The i-th warp scheduler of the table; NULL past the end. */
const TytoPolicy *sched_policy_at(int i);

/* Reads `name[:parameter=value,...]`; a name with a `/` or ending in `.so` is a shared object's
 * path. NULL, with the reasons told to `diag`, when there is no such policy, parameter or value, or
 * the shared object is none, is of another version, or lacks what a policy must have. */
SchedPolicy *sched_policy_new(const char *text, Diag *diag);
void sched_policy_free(SchedPolicy *policy); /* NULL is allowed; its states must be gone */

/* The value of a parameter; `otherwise` when the policy has no such parameter. */
double sched_policy_value(const SchedPolicy *policy, const char *parameter, double otherwise);

/* Sets what the policy may say of the memory controllers' prefetcher: all but its lines and its
 * cache. */
void sched_policy_prefetch(const SchedPolicy *policy, DramPrefetchConfig *config);

/* Writes why `warp` is no answer to `ready`. */
void sched_explain_pick(const SchedPolicy *policy, const TytoSmView *view, int warp, uint64_t ready,
                        char *text, size_t size);

/* Whether the policy's pick can be used: a member of `ready`, or none. If not, `text` (of `size`
 * bytes) names policy, cycle, SM and what is wrong. */
static inline bool sched_check_pick(const SchedPolicy *policy, const TytoSmView *view, int warp,
                                    uint64_t ready, char *text, size_t size) {
    if (warp == TYTO_NO_WARP || (warp >= 0 && warp < TYTO_MAX_WARPS && tyto_has(ready, warp)))
        return true;
    sched_explain_pick(policy, view, warp, ready, text, size);
    return false;
}

#endif
