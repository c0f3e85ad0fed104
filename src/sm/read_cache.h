/* A read-only cache: instructions, constants, textures. A line is fetched whole; with allocation on
 * fill a set never refuses. Its misses leave through the port. */
#ifndef TYTO_SM_READ_CACHE_H
#define TYTO_SM_READ_CACHE_H

#include "cache/mshr.h"
#include "cache/tag_array.h"
#include "sm/port.h"

enum { SM_READ_HINTS = 8 };

/* Written by read_cache.c alone, but that the owner takes what is ready from the MSHRs. */
typedef struct SmReadCache {
    const CacheConfig *config;
    uint32_t fill_bytes;         /* of a line or sector */
    uint8_t client;              /* MemClient */
    int32_t hint[SM_READ_HINTS]; /* by line number modulo this: where such a line was found last */
    Mshr mshr;
    TagArray tags;
} SmReadCache;

typedef enum ReadResult { READ_HIT, READ_WAIT, READ_REFUSED } ReadResult;

void read_cache_init(SmReadCache *cache, SmContext *sm, SmPort *port, const CacheConfig *config,
                     MemClient client);
/* Drops all lines, where the machine says so. */
void read_cache_start_kernel(SmReadCache *cache);
/* Looks up the line of `address`. READ_WAIT: it is fetched; `waiter` comes out of the MSHRs when it
 * is there. READ_REFUSED: try again. `pc` of the instruction that asks, SM_NO_PC: none does. */
ReadResult read_cache_access(SmReadCache *cache, const SmContext *sm, SmPort *port,
                             uint64_t address, uint32_t pc, uint32_t waiter, int warp);
/* Whether the line of `address` is there. */
bool read_cache_has(const SmReadCache *cache, uint64_t address);
void read_cache_fill(SmReadCache *cache, uint64_t address);

#endif
