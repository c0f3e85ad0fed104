/* Hints of accesses (see the header). */
#include "sm/hints.h"

#include "cache/policy.h"

enum { LINE_BYTES_LOG2 = 7 /* what a prefetch into L2 brings */ };

static CachePriority priority_of(PtxEvict priority) {
    static const CachePriority priorities[] = {
        [PTX_EVICT_NONE] = PRIORITY_UNSAID,         [PTX_EVICT_NORMAL] = PRIORITY_NORMAL,
        [PTX_EVICT_FIRST] = PRIORITY_FIRST,         [PTX_EVICT_LAST] = PRIORITY_LAST,
        [PTX_EVICT_UNCHANGED] = PRIORITY_UNCHANGED, [PTX_EVICT_NO_ALLOCATE] = PRIORITY_NO_ALLOCATE,
    };
    return priorities[priority];
}

/* What the instruction's hint says for a level, 0 or 1. */
static PtxEvict instruction_says(const IsaInfo *info, int level) {
    bool is_streamed = info->cache_op == PTX_CACHE_CS || info->cache_op == PTX_CACHE_LU;
    if (info->evict[level]) return (PtxEvict)info->evict[level];
    return is_streamed ? PTX_EVICT_FIRST : PTX_EVICT_NONE;
}

static PtxEvict l2_says(const SmHints *hints, uint64_t address) {
    PtxEvict priority = policy_for(hints->policy, address);
    if (!priority) priority = instruction_says(hints->info, 1);
    return priority ? priority : policy_window_for(hints->window, address);
}

void hints_apply(const SmHints *hints, SmMemory *memory) {
    const IsaInfo *info = hints->info;
    uint32_t prefetch = memory->advice ? LINE_BYTES_LOG2 : info->prefetch;
    for (uint32_t i = 0; i < memory->count; i++) {
        SmAccess *access = &memory->access[i];
        if (hints->l1_takes) access->priority[0] = (uint8_t)priority_of(instruction_says(info, 0));
        if (!hints->l2_takes) continue;
        access->priority[1] = (uint8_t)priority_of(l2_says(hints, access->address));
        access->prefetch = prefetch & 15;
    }
}
