/* What a machine file says about one cache: geometry, replacement, write policy, miss handling and
 * when it is emptied. The same record describes every level (L1I, L1D, constant, texture, L2 slice);
 * the writing policies mean nothing to a cache that is only read. */
#ifndef TYTO_CACHE_CACHE_CONFIG_H
#define TYTO_CACHE_CACHE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

enum { CACHE_MAX_SECTORS = 32 }; /* of one line: their states are words of bits */

/* How an address chooses its set. Both need a power of two of sets. */
typedef enum CacheIndex {
    CACHE_INDEX_LINEAR, /* the bits just above the line offset */
    CACHE_INDEX_FERMI,  /* the same, the lowest five XORed with line-address bits 6 7 8 10 12 */
} CacheIndex;

typedef enum CacheReplacement {
    CACHE_REPLACE_LRU,  /* least recently used */
    CACHE_REPLACE_FIFO, /* oldest fill */
} CacheReplacement;

/* What a store that hits does. */
typedef enum CacheWriteHit {
    CACHE_WRITE_BACK,    /* the line takes the data and becomes dirty */
    CACHE_WRITE_THROUGH, /* the line takes the data, and the level below gets it too */
    CACHE_WRITE_EVICT,   /* the line is dropped, the level below gets the data */
} CacheWriteHit;

/* What a store that misses does. */
typedef enum CacheWriteMiss {
    CACHE_WRITE_NO_ALLOCATE, /* goes below, the cache is left alone */
    CACHE_WRITE_ALLOCATE,    /* takes a line for the written bytes without fetching the others */
    CACHE_WRITE_FETCH,       /* fetches the line, then writes into it */
} CacheWriteMiss;

/* When a line is taken for a load that misses. */
typedef enum CacheAllocate {
    CACHE_ALLOCATE_ON_MISS, /* reserved at once: a set full of reserved lines refuses the access */
    CACHE_ALLOCATE_ON_FILL, /* when the data arrive */
} CacheAllocate;

/* When every line is dropped without being written back (a dirty line is written back first). */
typedef enum CacheFlush {
    CACHE_FLUSH_NEVER,
    CACHE_FLUSH_KERNEL, /* when a kernel starts */
    CACHE_FLUSH_IDLE,   /* when a kernel starts, and whenever its SM has no thread */
} CacheFlush;

typedef struct CacheConfig {
    uint32_t size_bytes;          /* data of the whole cache (of one slice, for L2) */
    uint32_t line_bytes;          /* data under one tag, a power of two */
    uint32_t sector_bytes;        /* unit of valid and dirty state and of a fill; 0: the whole line */
    uint32_t ways;                /* lines per set */
    CacheIndex index;             /* address to set */
    CacheReplacement replacement; /* choice of the victim */
    CacheAllocate allocate;       /* when a load that misses takes its line */
    CacheWriteHit write_hit;      /* global stores that hit */
    CacheWriteMiss write_miss;    /* global stores that miss */
    CacheWriteHit local_write_hit;   /* local stores that hit */
    CacheWriteMiss local_write_miss; /* local stores that miss */
    CacheFlush flush;             /* when all lines are dropped */
    uint32_t latency;             /* cycles from entry to tag lookup and, on a hit, the data */
    uint32_t mshrs;               /* lines (sectors, where sectored) that may be pending at once */
    uint32_t mshr_merges;         /* requests that may wait for one pending line, the first included */
    uint32_t miss_queue;          /* requests that may wait to go below */
} CacheConfig;

/* The unit of a fill, with 0 resolved. */
static inline uint32_t cache_config_fill_bytes(const CacheConfig *config) {
    return config->sector_bytes ? config->sector_bytes : config->line_bytes;
}

static inline uint32_t cache_config_sets(const CacheConfig *config) {
    return config->size_bytes / (config->line_bytes * config->ways);
}

#endif
