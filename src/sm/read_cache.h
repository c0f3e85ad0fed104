/* A read-only cache: instructions, constants, textures. A line is fetched whole; with allocation on
 * fill a set never refuses. Its misses leave through the port, or for a larger cache of the SM,
 * which its owner asks for what waits in the queue between the two. */
#ifndef TYTO_SM_READ_CACHE_H
#define TYTO_SM_READ_CACHE_H

#include "cache/mshr.h"
#include "cache/tag_array.h"
#include "sm/port.h"

enum { SM_READ_HINTS = 8 };

/* A line that one cache asks another for. */
typedef struct SmLineWanted {
    uint64_t line; /* address */
    uint64_t due;  /* cycle from which it can be looked up */
    uint32_t pc;   /* of the instruction that asked first */
    uint8_t warp;  /* whose that is */
} SmLineWanted;

/* Such lines, in order. */
typedef struct SmLineQueue {
    uint32_t head, count, capacity;
    SmLineWanted *items;
} SmLineQueue;

/* Written by read_cache.c alone, but that the owner takes what is ready from the MSHRs. */
typedef struct SmReadCache {
    const CacheConfig *config;
    uint32_t fill_bytes;         /* of a line or sector */
    uint8_t client;              /* MemClient */
    int32_t hint[SM_READ_HINTS]; /* by line number modulo this: where such a line was found last */
    Mshr mshr;
    TagArray tags;
    SmLineQueue *below;     /* where its misses go, owner's; NULL: to the port */
    uint32_t below_latency; /* cycles until they can be looked up there */
} SmReadCache;

typedef enum ReadResult { READ_HIT, READ_WAIT, READ_REFUSED } ReadResult;

void read_cache_init(SmReadCache *cache, SmContext *sm, SmPort *port, const CacheConfig *config,
                     MemClient client);
/* Sends its misses to another cache of the SM, whose lookup takes `latency` cycles. */
void read_cache_put_above(SmReadCache *cache, SmLineQueue *queue, uint32_t latency);
void line_queue_init(SmLineQueue *queue, uint32_t capacity, Arena *arena);
static inline void line_queue_push(SmLineQueue *queue, const SmLineWanted *wanted) {
    assert(queue->count < queue->capacity);
    queue->items[sm_ring_place(queue->head + queue->count++, queue->capacity)] = *wanted;
}
/* Cycle at which the oldest line wanted can be looked up, UINT64_MAX: there is none. */
static inline uint64_t line_queue_next(const SmLineQueue *queue) {
    return queue->count ? queue->items[queue->head].due : UINT64_MAX;
}
static inline void line_queue_pop(SmLineQueue *queue) {
    queue->head = sm_ring_place(queue->head + 1, queue->capacity);
    queue->count--;
}
/* Drops all lines, where the machine says so. */
void read_cache_start_kernel(SmReadCache *cache);
/* Looks up the line of `address`. READ_WAIT: it is fetched; `waiter` comes out of the MSHRs when it
 * is there. READ_REFUSED: try again. `pc` of the instruction that asks, SM_NO_PC: none does.
 * read_cache_search: where the line or sector at `key` is not where its like was found last. */
ReadResult read_cache_search(SmReadCache *cache, const SmContext *sm, SmPort *port, uint64_t key,
                             uint32_t pc, uint32_t waiter, int warp);
static inline ReadResult read_cache_access(SmReadCache *cache, const SmContext *sm, SmPort *port,
                                           uint64_t address, uint32_t pc, uint32_t waiter,
                                           int warp) {
    uint64_t key = address & ~(uint64_t)(cache->fill_bytes - 1);
    int32_t place = cache->hint[(key >> cache->tags.line_shift) % SM_READ_HINTS];
    uint8_t sectors = tag_array_sector(&cache->tags, key);
    if (!tag_array_has(&cache->tags, place, key, sectors))
        return read_cache_search(cache, sm, port, key, pc, waiter, warp);
    tag_array_touch(&cache->tags, place);
    return READ_HIT;
}
/* Whether the line of `address` is there. */
bool read_cache_has(const SmReadCache *cache, uint64_t address);
void read_cache_fill(SmReadCache *cache, uint64_t address);

#endif
