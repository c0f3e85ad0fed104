/* What a machine file says about one cache: geometry, replacement, write policy, miss handling and
 * when it is emptied. The same record describes every level (L1I, L1D, constant, texture, L2
 * slice); the writing policies mean nothing to a cache that is only read. */
#ifndef TYTO_CACHE_CACHE_CONFIG_H
#define TYTO_CACHE_CACHE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/parameter.h"
#include "cache/policy.h"

enum { CACHE_INDEX_BYTES = 192 }; /* of a set function as text, with the NUL */

/* How an address chooses its set. */
typedef enum CacheIndex {
    CACHE_INDEX_LINEAR, /* the bits just above the line offset */
    CACHE_INDEX_FERMI,  /* the same, the lowest five XORed with line-address bits 6 7 8 10 12 */
    CACHE_INDEX_SUMMED, /* the same, plus seven times the number that the tag's lowest bits make */
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

/* clang-format off */
/* A cache, which `what` names, as far as loads go; the rest are the defaults of one cache. */
#define CACHE_PARAMETERS(P, key, at, what, size, line, way_count, cycles, entries, merges, queue) \
    P(BYTES, key, at, "size", size_bytes, 32, 256 * MIB, size, what ": data") \
    P(BYTES, key, at, "line", line_bytes, 16, 4 * KIB, line, what ": data under one tag") \
    P(COUNT, key, at, "ways", ways, "", 1, 512, way_count, what ": lines per set") \
    P(COUNT, key, at, "latency", latency, "cycles", 0, 1000, cycles, what ": cycles from entry to tag lookup") \
    P(COUNT, key, at, "mshrs", mshrs, "", 1, 4096, entries, what ": lines (sectors, where sectored) that may be pending") \
    P(COUNT, key, at, "mshr_merges", mshr_merges, "", 1, 4096, merges, what ": requests that may wait for one pending line, the first included") \
    P(COUNT, key, at, "miss_queue", miss_queue, "", 1, 4096, queue, what ": requests that may wait to go below")

/* How a cache organises its lines and requests. */
#define CACHE_ORGANISATION_PARAMETERS(P, key, at, what, sector, set_index, when_dropped) \
    P(BYTES, key, at, "sector", sector_bytes, 0, 4 * KIB, sector, what ": unit of fills and of valid and dirty state; 0 B is the whole line") \
    P(CHOICE, key, at, "index", index, CacheIndex, set_index, what ": how an address chooses its set") \
    P(CHOICE, key, at, "replacement", replacement, Replacement, "lru", what ": choice of the victim") \
    P(CHOICE, key, at, "allocate", allocate, CacheAllocate, "on-miss", what ": when a load that misses takes its line") \
    P(CHOICE, key, at, "flush", flush, CacheFlush, when_dropped, what ": when every line is dropped; idle: also while an SM has no thread") \
    P(COUNT, key, at, "mshr_requests", mshr_requests, "", 0, 65535, "0", what ": requests that may wait for pending lines, all together; 0: mshrs x mshr_merges")

/* What a cache that is written needs besides; for L2, all stores are global ones. */
#define CACHE_STORE_PARAMETERS(P, key, at, what, policy, missing) \
    P(CHOICE, key, at, "write", write, WritePolicy, policy, what ": global stores") \
    P(CHOICE, key, at, "write_allocate", write_allocate, WriteAllocate, missing, what ": what a global store that misses brings in, under write-back; L1D: validate also under write-through; L2: beside, its line while the store itself goes to DRAM") \
    P(STRING, key, at, "set_hash", set_hash, CACHE_INDEX_BYTES, "", what ": bits of the address (L2: of that within its channel) that make the set, instead of index: \"ipoly 0x25: 27..13,12..9,7\", \"11..7 + 7 x 16..12\"")
#define CACHE_LOCAL_STORE_PARAMETERS(P, key, at, what, policy, missing) \
    P(CHOICE, key, at, "local_write", local_write, WritePolicy, policy, what ": local stores") \
    P(CHOICE, key, at, "local_write_allocate", local_write_allocate, WriteAllocate, missing, what ": what a local store that misses brings in, under write-back")
/* clang-format on */

typedef struct CacheConfig {
    CACHE_PARAMETERS(PARAMETER_FIELD, , , , , , , , , , )
    CACHE_ORGANISATION_PARAMETERS(PARAMETER_FIELD, , , , , , )
    CACHE_STORE_PARAMETERS(PARAMETER_FIELD, , , , , )
    CACHE_LOCAL_STORE_PARAMETERS(PARAMETER_FIELD, , , , , )
} CacheConfig;

/* The unit of a fill, with 0 resolved. */
static inline uint32_t cache_config_fill_bytes(const CacheConfig *config) {
    return config->sector_bytes ? config->sector_bytes : config->line_bytes;
}

/* Whether stores take their sectors and go on below, so that nothing dirty has to be written back.
 */
static inline bool cache_config_is_written_through(const CacheConfig *config) {
    return config->write == WRITE_THROUGH && config->write_allocate == ALLOCATE_VALIDATE;
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
