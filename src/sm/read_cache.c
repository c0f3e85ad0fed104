/* Read-only caches (see the header). */
#include "sm/read_cache.h"

void read_cache_init(SmReadCache *cache, SmContext *sm, SmPort *port, const CacheConfig *config,
                     MemClient client) {
    char index[CACHE_INDEX_BYTES];
    cache->config = config;
    cache->client = (uint8_t)client;
    cache->fill_bytes = cache_config_fill_bytes(config);
    cache_config_set_index(config, 0, index);
    tag_array_init(&cache->tags,
                   &(TagArrayConfig){.sets = cache_config_sets(config),
                                     .ways = config->ways,
                                     .line_bytes = config->line_bytes,
                                     .sector_bytes = config->sector_bytes,
                                     .replacement = config->replacement,
                                     .set_index = index},
                   sm->arena);
    mshr_init(&cache->mshr, config->mshrs, config->mshr_merges, config->mshr_requests, sm->arena);
    port_init_misses(port, sm, client, config->miss_queue);
}

void line_queue_init(SmLineQueue *queue, uint32_t capacity, Arena *arena) {
    *queue =
        (SmLineQueue){.capacity = capacity, .items = ARENA_ARRAY(arena, SmLineWanted, capacity)};
}

void read_cache_put_above(SmReadCache *cache, SmLineQueue *queue, uint32_t latency) {
    cache->below = queue;
    cache->below_latency = latency;
}

void read_cache_start_kernel(SmReadCache *cache) {
    if (cache->config->flush != CACHE_FLUSH_NEVER) tag_array_invalidate_all(&cache->tags);
}

/* Reserves a line for a miss, if lines are allocated on the miss. Returns false if all ways of the
 * set are pending. */
static bool reserve(SmReadCache *cache, uint64_t key, int32_t place) {
    uint8_t sectors = tag_array_sector(&cache->tags, key);
    if (cache->config->allocate == CACHE_ALLOCATE_ON_FILL) return true;
    if (place != TAG_NONE) {
        tag_array_expect(&cache->tags, place, sectors);
        return true;
    }
    TagEviction evicted;
    return tag_array_reserve(&cache->tags, key, sectors, &evicted) != TAG_NONE;
}

static bool has_room_below(const SmReadCache *cache, const SmPort *port) {
    return cache->below ? cache->below->count < cache->below->capacity
                        : port_has_room(port, (MemClient)cache->client, 1);
}

/* Requests a line from the next level. */
static void ask_below(SmReadCache *cache, const SmContext *sm, SmPort *port, uint64_t key,
                      uint32_t pc, int warp) {
    SmLineQueue *queue = cache->below;
    if (queue) {
        line_queue_push(queue, &(SmLineWanted){.line = key,
                                               .due = sm->cycle + cache->below_latency,
                                               .pc = pc,
                                               .warp = (uint8_t)warp});
        return;
    }
    port_push_miss(port, (MemClient)cache->client,
                   &(SmSend){.access = {.address = key,
                                        .sectors = context_sectors_of(sm, cache->fill_bytes),
                                        .bytes = (uint16_t)cache->fill_bytes,
                                        .pc = pc & SM_NO_PC},
                             .op = MEM_OP_READ,
                             .client = cache->client,
                             .warp = (uint8_t)warp});
}

/* Handles an access to a line that is not present. `place`: where it is expected; TAG_NONE:
 * nowhere. */
static ReadResult miss(SmReadCache *cache, const SmContext *sm, SmPort *port, uint64_t key,
                       int32_t place, uint32_t pc, uint32_t waiter, int warp) {
    int32_t entry = mshr_find(&cache->mshr, key);
    if (entry != MSHR_NONE) {
        if (!mshr_can_merge(&cache->mshr, entry)) return READ_REFUSED;
        mshr_merge(&cache->mshr, entry, waiter);
        return READ_WAIT;
    }
    if (mshr_is_full(&cache->mshr) || !has_room_below(cache, port) || !reserve(cache, key, place))
        return READ_REFUSED;
    mshr_allocate(&cache->mshr, key, waiter);
    ask_below(cache, sm, port, key, pc, warp);
    return READ_WAIT;
}

ReadResult read_cache_search(SmReadCache *cache, const SmContext *sm, SmPort *port, uint64_t key,
                             uint32_t pc, uint32_t waiter, int warp) {
    uint8_t sectors = tag_array_sector(&cache->tags, key);
    int32_t place;
    if (tag_array_probe(&cache->tags, key, sectors, &place) != TAG_HIT)
        return miss(cache, sm, port, key, place, pc, waiter, warp);
    cache->hint[(key >> cache->tags.line_shift) % SM_READ_HINTS] = place;
    tag_array_touch(&cache->tags, place);
    return READ_HIT;
}

bool read_cache_has(const SmReadCache *cache, uint64_t address) {
    uint64_t key = address & ~(uint64_t)(cache->fill_bytes - 1);
    int32_t place;
    uint8_t sectors = tag_array_sector(&cache->tags, key);
    return tag_array_probe(&cache->tags, key, sectors, &place) == TAG_HIT;
}

void read_cache_fill(SmReadCache *cache, uint64_t address) {
    uint8_t sectors = tag_array_sector(&cache->tags, address);
    int32_t place = tag_array_find(&cache->tags, address);
    TagEviction evicted;
    if (place == TAG_NONE) place = tag_array_reserve(&cache->tags, address, 0, &evicted);
    if (place != TAG_NONE) tag_array_fill(&cache->tags, place, sectors);
    int32_t entry = mshr_find(&cache->mshr, address);
    if (entry != MSHR_NONE) mshr_complete(&cache->mshr, entry);
}
