/* Two levels of read-only caches (see the header). */
#include "sm/read_levels.h"

void read_levels_init(SmReadLevels *levels, SmReadCache *above, uint32_t count, SmReadCache *below,
                      Arena *arena) {
    uint32_t latency = below->config->latency;
    *levels = (SmReadLevels){
        .above = above, .below = below, .above_mask = count - 1, .way = latency - latency / 2};
    line_queue_init(&levels->wanted, above->config->miss_queue * count, arena);
    line_queue_init(&levels->found, above->config->mshrs * count, arena);
    for (uint32_t i = 0; i < count; i++)
        read_cache_put_above(&above[i], &levels->wanted, latency / 2);
}

/* Fills a line in an upper cache. Returns the cache's bit if something waited for the line. */
static uint32_t fill(SmReadLevels *levels, uint32_t above, uint64_t line) {
    SmReadCache *cache = &levels->above[above];
    read_cache_fill(cache, line);
    return (uint32_t)mshr_has_ready(&cache->mshr) << above;
}

static uint32_t hand_up_found(SmReadLevels *levels, const SmContext *sm) {
    SmLineQueue *found = &levels->found;
    if (line_queue_next(found) > sm->cycle) return 0;
    const SmLineWanted line = found->items[found->head];
    line_queue_pop(found);
    return fill(levels, line.warp & levels->above_mask, line.line);
}

static void look_up_wanted(SmReadLevels *levels, const SmContext *sm, SmPort *port) {
    SmLineQueue *wanted = &levels->wanted;
    if (line_queue_next(wanted) > sm->cycle) return;
    SmLineWanted line = wanted->items[wanted->head];
    uint32_t above = line.warp & levels->above_mask;
    uint32_t entry = (uint32_t)mshr_find(&levels->above[above].mshr, line.line);
    ReadResult result = read_cache_access(levels->below, sm, port, line.line, line.pc,
                                          entry * (levels->above_mask + 1) + above, line.warp);
    if (result == READ_REFUSED) return;
    line.due = sm->cycle + levels->way;
    if (result == READ_HIT) line_queue_push(&levels->found, &line);
    line_queue_pop(wanted);
}

uint32_t read_levels_step(SmReadLevels *levels, const SmContext *sm, SmPort *port) {
    uint32_t filled = hand_up_found(levels, sm);
    look_up_wanted(levels, sm, port);
    return filled;
}

uint32_t read_levels_line_arrived(SmReadLevels *levels, uint64_t line) {
    Mshr *waiting = &levels->below->mshr;
    uint32_t filled = 0;
    read_cache_fill(levels->below, line);
    while (mshr_has_ready(waiting)) {
        uint32_t waiter = mshr_pop(waiting), above = waiter & levels->above_mask;
        uint32_t entry = waiter / (levels->above_mask + 1);
        filled |= fill(levels, above, levels->above[above].mshr.entries[entry].key);
    }
    return filled;
}
