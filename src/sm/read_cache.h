/* A read-only cache for instructions, constants or textures. A line is requested whole. With
 * allocation on fill a set never refuses an access. Misses leave through the port, or go to a
 * larger cache of the SM. In that case the owner moves them from the queue between the two
 * caches. */
#ifndef TYTO_SM_READ_CACHE_H
#define TYTO_SM_READ_CACHE_H

#include "cache/mshr.h"
#include "cache/tag_array.h"
#include "sm/port.h"

enum { SM_READ_HINTS = 8 };

/* A line that one cache requests from another. */
typedef struct SmLineWanted {
    uint64_t line; /* address */
    uint64_t due;  /* first cycle in which it can be looked up */
    uint32_t pc;   /* of the instruction that asked first */
    uint8_t warp;  /* warp of that instruction */
} SmLineWanted;

/* A queue of such lines. */
typedef struct SmLineQueue {
    uint32_t head, count, capacity;
    SmLineWanted *items;
} SmLineQueue;

/* Written only by read_cache.c, except that the owner takes ready entries from the MSHRs. */
typedef struct SmReadCache {
    const CacheConfig *config;
    uint32_t fill_bytes;         /* bytes of a line or sector */
    uint8_t client;              /* MemClient */
    int32_t hint[SM_READ_HINTS]; /* by line number modulo the size: where such a line was last
                                    found */
    Mshr mshr;
    TagArray tags;
    SmLineQueue *below;     /* where its misses go; belongs to the owner; NULL: to the port */
    uint32_t below_latency; /* cycles until a miss can be looked up there */
} SmReadCache;

typedef enum ReadResult { READ_HIT, READ_WAIT, READ_REFUSED } ReadResult;

void read_cache_init(SmReadCache *cache, SmContext *sm, SmPort *port, const CacheConfig *config,
                     MemClient client);
/* Sends misses to another cache of the SM, whose lookup takes `latency` cycles. */
void read_cache_put_above(SmReadCache *cache, SmLineQueue *queue, uint32_t latency);
void line_queue_init(SmLineQueue *queue, uint32_t capacity, Arena *arena);
static inline void line_queue_push(SmLineQueue *queue, const SmLineWanted *wanted) {
    assert(queue->count < queue->capacity);
    queue->items[sm_ring_place(queue->head + queue->count++, queue->capacity)] = *wanted;
}
/* The cycle in which the oldest queued line can be looked up; UINT64_MAX: the queue is empty. */
static inline uint64_t line_queue_next(const SmLineQueue *queue) {
    return queue->count ? queue->items[queue->head].due : UINT64_MAX;
}
static inline void line_queue_pop(SmLineQueue *queue) {
    queue->head = sm_ring_place(queue->head + 1, queue->capacity);
    queue->count--;
}
/* Drops all lines, if the machine is so configured. */
void read_cache_start_kernel(SmReadCache *cache);
/* Looks up the line of `address`. READ_WAIT: the line is on its way, and `waiter` comes out of
 * the MSHRs when it arrives. READ_REFUSED: the access must be retried. `pc`: of the instruction;
 * SM_NO_PC: none. read_cache_search handles lookups whose hint did not match. */
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
/* Whether the line of `address` is present. */
bool read_cache_has(const SmReadCache *cache, uint64_t address);
void read_cache_fill(SmReadCache *cache, uint64_t address);

#endif
