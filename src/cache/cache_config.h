/* The machine parameters of a cache: geometry, replacement, write policy, miss handling, and when
 * it is emptied. The same record describes every level (L1I, L1D, constant, texture, L2 slice).
 * Read-only caches ignore the write policies. */
#ifndef TYTO_CACHE_CACHE_CONFIG_H
#define TYTO_CACHE_CACHE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/parameter.h"
#include "cache/policy.h"

enum { CACHE_INDEX_BYTES = 192 }; /* bytes of a set function as text, with the NUL */

/* How an address selects its set. */
typedef enum CacheIndex {
    CACHE_INDEX_LINEAR, /* the bits directly above the line offset */
    CACHE_INDEX_FERMI,  /* linear, with the lowest five bits XORed with line-address bits 6 7 8 10
                           12 */
    CACHE_INDEX_SUMMED, /* linear, plus seven times the number formed by the tag's lowest bits */
    CACHE_INDEXES,
} CacheIndex;

/* When a load that misses allocates a line. */
typedef enum CacheAllocate {
    CACHE_ALLOCATE_ON_MISS, /* at once: the access is refused if all lines of the set are
                               reserved */
    CACHE_ALLOCATE_ON_FILL, /* when the data arrive */
    CACHE_ALLOCATES,
} CacheAllocate;

/* When all lines are dropped (dirty ones are written back first). */
typedef enum CacheFlush {
    CACHE_FLUSH_NEVER,
    CACHE_FLUSH_KERNEL, /* when a kernel starts */
    CACHE_FLUSH_IDLE,   /* when a kernel starts, and whenever its SM has no thread */
    CACHE_FLUSHES,
} CacheFlush;

/* clang-format off */
/* Parameters of a cache, named by `what`, that concern loads; the other arguments are the defaults
 * of this cache. */
#define CACHE_PARAMETERS(P, key, at, what, size, line, way_count, cycles, entries, merges, queue) \
    P(BYTES, key, at, "size", size_bytes, 32, 256 * MIB, size, what ": size of the data") \
    P(BYTES, key, at, "line", line_bytes, 16, 4 * KIB, line, what ": line size") \
    P(COUNT, key, at, "ways", ways, "", 1, 512, way_count, what ": lines per set") \
    P(COUNT, key, at, "latency", latency, "cycles", 0, 1000, cycles, what ": cycles from entry to tag lookup") \
    P(COUNT, key, at, "mshrs", mshrs, "", 1, 4096, entries, what ": lines (or sectors, if it has sectors) that may be pending") \
    P(COUNT, key, at, "mshr_merges", mshr_merges, "", 1, 4096, merges, what ": requests that may wait for one pending line, including the first") \
    P(COUNT, key, at, "miss_queue", miss_queue, "", 1, 4096, queue, what ": requests that may wait to be sent to the next level")

/* How a cache organises its lines and requests. */
#define CACHE_ORGANISATION_PARAMETERS(P, key, at, what, sector, set_index, when_dropped) \
    P(BYTES, key, at, "sector", sector_bytes, 0, 4 * KIB, sector, what ": unit of fills and of valid and dirty state; 0 B: the whole line") \
    P(CHOICE, key, at, "index", index, CacheIndex, set_index, what ": how an address selects its set") \
    P(CHOICE, key, at, "replacement", replacement, Replacement, "lru", what ": choice of the victim") \
    P(CHOICE, key, at, "allocate", allocate, CacheAllocate, "on-miss", what ": when a load that misses allocates its line") \
    P(CHOICE, key, at, "flush", flush, CacheFlush, when_dropped, what ": when all lines are dropped; idle: also whenever an SM has no thread") \
    P(COUNT, key, at, "mshr_requests", mshr_requests, "", 0, 65535, "0", what ": requests that may wait for all pending lines together; 0: mshrs x mshr_merges")

/* Additional parameters of a cache that is written. For L2, all stores are global stores. */
#define CACHE_STORE_PARAMETERS(P, key, at, what, policy, missing) \
    P(CHOICE, key, at, "write", write, WritePolicy, policy, what ": policy for global stores") \
    P(CHOICE, key, at, "write_allocate", write_allocate, WriteAllocate, missing, what ": what a global store that misses brings in, with write-back; L1D: validate also with write-through; L2: beside reads its line while the store itself goes to DRAM") \
    P(STRING, key, at, "set_hash", set_hash, CACHE_INDEX_BYTES, "", what ": address bits (L2: of the address within its channel) that form the set number, instead of index: \"ipoly 0x25: 27..13,12..9,7\", \"11..7 + 7 x 16..12\"")
#define CACHE_LOCAL_STORE_PARAMETERS(P, key, at, what, policy, missing) \
    P(CHOICE, key, at, "local_write", local_write, WritePolicy, policy, what ": policy for local stores") \
    P(CHOICE, key, at, "local_write_allocate", local_write_allocate, WriteAllocate, missing, what ": what a local store that misses brings in, with write-back")
/* clang-format on */

typedef struct CacheConfig {
    CACHE_PARAMETERS(PARAMETER_FIELD, , , , , , , , , , )
    CACHE_ORGANISATION_PARAMETERS(PARAMETER_FIELD, , , , , , )
    CACHE_STORE_PARAMETERS(PARAMETER_FIELD, , , , , )
    CACHE_LOCAL_STORE_PARAMETERS(PARAMETER_FIELD, , , , , )
} CacheConfig;

/* Bytes of a fill: a sector, or the line if it has no sectors. */
static inline uint32_t cache_config_fill_bytes(const CacheConfig *config) {
    return config->sector_bytes ? config->sector_bytes : config->line_bytes;
}

/* Whether stores allocate their sectors and are also passed on, so that no dirty data need be
 * written back. */
static inline bool cache_config_is_written_through(const CacheConfig *config) {
    return config->write == WRITE_THROUGH && config->write_allocate == ALLOCATE_VALIDATE;
}

static inline uint32_t cache_config_sets(const CacheConfig *config) {
    return config->size_bytes / (config->line_bytes * config->ways);
}

/* The cache's set function, in the form that set_index_init reads. `skipped` has a bit for each
 * address bit that is the same for all addresses of the cache (in an L2 slice, the bits that select
 * the slice). The number of sets must be a power of two. */
void cache_config_set_index(const CacheConfig *config, uint64_t skipped,
                            char text[static CACHE_INDEX_BYTES]);

#endif
