/* Names of the cache policies. */
#include "cache/policy.h"

const char *const write_policy_names[WRITE_POLICIES] = {
    [WRITE_BACK] = "write-back",
    [WRITE_THROUGH] = "write-through",
    [WRITE_EVICT] = "write-evict",
};

const char *const write_allocate_names[WRITE_ALLOCATES] = {
    [ALLOCATE_FETCH] = "fetch",
    [ALLOCATE_VALIDATE] = "validate",
    [ALLOCATE_NONE] = "none",
    [ALLOCATE_BESIDE] = "beside",
};

const char *const replacement_names[REPLACEMENTS] = {
    [REPLACE_LRU] = "lru",
    [REPLACE_FIFO] = "fifo",
};
