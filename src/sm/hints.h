/* What instructions and launches tell the caches about their accesses: how soon a line shall go,
 * and what L2 shall bring with it. Each access gets a priority for L1D and one for L2:
 *
 *   in L1D  what the instruction says (.L1::evict_first, ...), or its cache operator
 *   in L2   what its cache policy says of the address, else what the instruction says (.L2::...),
 * or its cache operator; else what the launch's window says of the address
 *
 * .cs and .lu are .evict_first (PTX ISA 9.0, "Cache operators"). Of the lanes' cache policies that
 * of the first counts. A cache that takes no hints is told none. */
#ifndef TYTO_SM_HINTS_H
#define TYTO_SM_HINTS_H

#include "isa/info.h"
#include "isa/policy.h"
#include "sm/inst.h"

/* What is known of a memory instruction beside its accesses. */
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
