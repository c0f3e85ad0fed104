/* Hints of instructions and launches to the caches about their accesses: how soon a line may be
 * replaced, and what L2 reads with it. Each access gets a priority for L1D and one for L2. The
 * first source that says something counts:
 *
 *   in L1D  the instruction (.L1::evict_first, ...), or its cache operator
 *   in L2   the cache policy, by the address; the instruction (.L2::...), or its cache operator;
 *           the launch's window, by the address
 *
 * .cs and .lu are .evict_first (PTX ISA 9.0, "Cache operators"). The cache policy of the first lane
 * counts. A cache that takes no hints gets none. */
#ifndef TYTO_SM_HINTS_H
#define TYTO_SM_HINTS_H

#include "isa/info.h"
#include "isa/policy.h"
#include "sm/inst.h"

/* What is known of a memory instruction in addition to its accesses. */
typedef struct SmHints {
    const IsaInfo *info;
    const PolicyWindow *window; /* of the launch */
    uint64_t policy;            /* cache policy, 0: none */
    bool l1_takes, l2_takes;    /* which caches take hints */
} SmHints;

/* Whether the instruction says anything. */
static inline bool hints_are_in(const IsaInfo *info) {
    return info->evict[0] | info->evict[1] | info->prefetch | (info->policy != 0) ||
           info->cache_op == PTX_CACHE_CS || info->cache_op == PTX_CACHE_LU ||
           info->memory == ISA_MEMORY_PREFETCH;
}
/* Whether anything is said: else hints_apply would change nothing. */
static inline bool hints_are_given(const IsaInfo *info, const PolicyWindow *window) {
    return hints_are_in(info) || window->bytes;
}

/* Marks the accesses of an instruction to global memory. */
void hints_apply(const SmHints *hints, SmMemory *memory);

#endif
