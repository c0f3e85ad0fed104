/* The available warp schedulers, and a chosen one with its parameters: from the table, or from the
 * user's shared object (`./mine.so:parameter=value`). */
#ifndef TYTO_SCHED_REGISTRY_H
#define TYTO_SCHED_REGISTRY_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"
#include "dram/prefetch.h"
#include "tyto/policy.h"

/* A chosen warp scheduler. Made before a run, shared by all SMs, and never changed; rarely
 * accessed. */
typedef struct SchedPolicy {
    const TytoPolicy *policy; /* from the table or the shared object */
    const double *values;     /* values of its parameters, in the order of the rows */
    const char *text; /* the policy and the values that differ from the defaults, as on the command
                         line */
    bool is_loaded;   /* from a shared object, not the table */
    uint64_t content; /* hash of the shared object's bytes; 0: none */
    TytoDramPrefetch prefetch; /* its settings for the memory controllers' prefetcher */
} SchedPolicy;

/* The i-th warp scheduler of the table; NULL past the end. */
const TytoPolicy *sched_policy_at(int i);

/* Reads `name[:parameter=value,...]`. A name with a `/` or ending in `.so` or `.c` is a path.
 * Returns NULL, with the reasons in `diag`, in these cases: there is no such policy, parameter or
 * value, or the file is not a shared object, has another version, or lacks something that a policy
 * must have. */
SchedPolicy *sched_policy_new(const char *text, Diag *diag);
void sched_policy_free(SchedPolicy *policy); /* NULL is allowed; its states must be gone */

/* The value of a parameter; `otherwise` if the policy has no such parameter. */
double sched_policy_value(const SchedPolicy *policy, const char *parameter, double otherwise);

/* Sets the part of the memory controllers' prefetcher that the policy controls: everything but its
 * lines and its cache. */
void sched_policy_prefetch(const SchedPolicy *policy, DramPrefetchConfig *config);

/* Writes why `warp` is not a valid answer to `ready`. */
void sched_explain_pick(const SchedPolicy *policy, const TytoSmView *view, int warp, uint64_t ready,
                        char *text, size_t size);

/* Whether the policy's pick is valid: a member of `ready`, or none. If not, writes an explanation
 * (policy, cycle, SM, error) to `text` (of `size` bytes). */
static inline bool sched_check_pick(const SchedPolicy *policy, const TytoSmView *view, int warp,
                                    uint64_t ready, char *text, size_t size) {
    if (warp == TYTO_NO_WARP || (warp >= 0 && warp < TYTO_MAX_WARPS && tyto_has(ready, warp)))
        return true;
    sched_explain_pick(policy, view, warp, ready, text, size);
    return false;
}

#endif
