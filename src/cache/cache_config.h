/* What a machine file says about one cache: geometry, replacement, write policy, miss handling and
 * when it is emptied. The same record describes every level (L1I, L1D, constant, texture, L2
 * slice); the writing policies mean nothing to a cache that is only read. */
#ifndef TYTO_CACHE_CACHE_CONFIG_H
#define TYTO_CACHE_CACHE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/policy.h"

enum { CACHE_INDEX_BYTES = 192 }; /* of a set function as text, with the NUL */

/* How an address chooses its set. */
typedef enum CacheIndex {
    CACHE_INDEX_LINEAR, /* the bits just above the line offset */
    CACHE_INDEX_FERMI,  /* the same, the lowest five XORed with line-address bits 6 7 8 10 12 */
    CACHE_INDEXES,
} CacheIndex;

/* When a line is taken for a load that misses. */
typedef enum CacheAllocate {
    CACHE_ALLOCATE_ON_MISS, /* reserved at once: a set full of reserved lines refuses the access */
    CACHE_ALLOCATE_ON_FILL, /* when the data arrive */
    CACHE_ALLOCATES,
} CacheAllocate;

/* When every line is dropped (a dirty one is written back first). */
typedef enum CacheFlush {
    CACHE_FLUSH_NEVER,
    CACHE_FLUSH_KERNEL, /* when a kernel starts */
    CACHE_FLUSH_IDLE,   /* when a kernel starts, and whenever its SM has no thread */
    CACHE_FLUSHES,
} CacheFlush;

typedef struct CacheConfig {
    uint32_t size_bytes;     /* data of the whole cache (of one slice, for L2) */
    uint32_t line_bytes;     /* data under one tag, a power of two */
    uint32_t sector_bytes;   /* unit of valid and dirty state and of a fill; 0: the whole line */
    uint32_t ways;           /* lines per set */
    CacheIndex index;        /* address to set */
    Replacement replacement; /* choice of the victim */
    CacheAllocate allocate;  /* when a load that misses takes its line */
    WritePolicy write;       /* global stores (L2: all stores) */
    WriteAllocate write_allocate;
    WritePolicy local_write; /* local stores */
    WriteAllocate local_write_allocate;
    CacheFlush flush;     /* when all lines are dropped */
    uint32_t latency;     /* cycles from entry to tag lookup and, on a hit, the data */
    uint32_t mshrs;       /* lines (sectors, where sectored) that may be pending at once */
    uint32_t mshr_merges; /* requests that may wait for one pending line, the first included */
    uint32_t miss_queue;  /* requests that may wait to go below */
} CacheConfig;

/* The unit of a fill, with 0 resolved. */
static inline uint32_t cache_config_fill_bytes(const CacheConfig *config) {
    return config->sector_bytes ? config->sector_bytes : config->line_bytes;
}

static inline uint32_t cache_config_sets(const CacheConfig *config) {
    return config->size_bytes / (config->line_bytes * config->ways);
}

/* The cache's set function as set_index_init reads it. `skipped` has a bit for each address bit
 * that is the same for all addresses of the cache (an L2 slice: those that name the slice). The
 * number of sets must be a power of two. */
void cache_config_set_index(const CacheConfig *config, uint64_t skipped,
                            char text[static CACHE_INDEX_BYTES]);

#endif
