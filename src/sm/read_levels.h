/* Two levels of read-only caches in an SM: one or more upper caches and a lower cache that looks up
 * their misses, one per cycle. A lookup happens after half of the lower cache's latency; the other
 * half is the way back of a line that hits. A line that the lower cache lacks is requested once for
 * all upper caches.
 *
 * The owner has the caches (L0Is above an L1I, or a constant cache above a larger one). It takes
 * what waited for a line from the MSHRs of the upper caches. The waiters in the lower cache's MSHRs
 * are MSHRs of the upper caches. */
#ifndef TYTO_SM_READ_LEVELS_H
#define TYTO_SM_READ_LEVELS_H

#include "sm/read_cache.h"

/* Written only by read_levels.c. */
typedef struct SmReadLevels {
    SmReadCache *above;  /* upper caches; borrowed, above_mask + 1 entries; NULL: there is only one
                            level */
    SmReadCache *below;  /* lower cache; borrowed */
    uint32_t above_mask; /* number of upper caches - 1; warp w uses cache w & this */
    uint32_t way;        /* cycles from the lower cache to the upper ones */
    SmLineQueue wanted;  /* lines that upper caches request from the lower one */
    SmLineQueue found;   /* lines on their way from the lower cache to the upper ones */
} SmReadLevels;

/* Connects `count` upper caches (a power of two, at most 32) to a lower one; all must have been
 * initialised. */
void read_levels_init(SmReadLevels *levels, SmReadCache *above, uint32_t count, SmReadCache *below,
                      Arena *arena);
/* Nonzero if there are lines between the levels. Called in every cycle. */
static inline uint32_t read_levels_has_work(const SmReadLevels *levels) {
    return levels->wanted.count | levels->found.count;
}
/* The cycle in which the first of these lines is due; UINT64_MAX: none. */
static inline uint64_t read_levels_next(const SmReadLevels *levels) {
    uint64_t wanted = line_queue_next(&levels->wanted), found = line_queue_next(&levels->found);
    return wanted < found ? wanted : found;
}
/* One cycle: the oldest line found moves up and the oldest requested line is looked up, if they are
 * due. This and the next function return the upper caches that got a line that something waited
 * for, one bit each. */
uint32_t read_levels_step(SmReadLevels *levels, const SmContext *sm, SmPort *port);
/* A line has arrived at the lower cache. */
uint32_t read_levels_line_arrived(SmReadLevels *levels, uint64_t line);

#endif
