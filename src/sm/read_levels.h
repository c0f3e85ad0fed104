/* Two levels of read-only caches in an SM: one or more above, whose misses one below looks up, one
 * a cycle, after half of its latency; the other half is the way of what it has. What it lacks it
 * fetches once for all above.
 *
 * The caches are the owner's (L0Is above an L1I; a constant cache above a larger one), and it takes
 * what has waited for a line from the MSHRs above. Those below have the MSHRs above as waiters. */
#ifndef TYTO_SM_READ_LEVELS_H
#define TYTO_SM_READ_LEVELS_H

#include "sm/read_cache.h"

/* Written by read_levels.c alone. */
typedef struct SmReadLevels {
    SmReadCache *above;  /* borrowed, above_mask + 1; NULL: there is one level */
    SmReadCache *below;  /* borrowed */
    uint32_t above_mask; /* caches above - 1; warp w asks the one at w & this */
    uint32_t way;        /* cycles from the cache below to those above */
    SmLineQueue wanted;  /* of the cache below by those above */
    SmLineQueue found;   /* on their way from it to them */
} SmReadLevels;

/* Puts `count` caches (a power of two, up to 32) above one; all have been initialised. */
void read_levels_init(SmReadLevels *levels, SmReadCache *above, uint32_t count, SmReadCache *below,
                      Arena *arena);
/* Not 0: there are lines between the levels. Asked in every cycle. */
static inline uint32_t read_levels_has_work(const SmReadLevels *levels) {
    return levels->wanted.count | levels->found.count;
}
/* Cycle at which the first of them is due, UINT64_MAX: there is none. */
static inline uint64_t read_levels_next(const SmReadLevels *levels) {
    uint64_t wanted = line_queue_next(&levels->wanted), found = line_queue_next(&levels->found);
    return wanted < found ? wanted : found;
}
/* A cycle: the oldest line found goes up and the oldest one wanted is looked up, if they are due.
 * Like the next, it returns the caches above that have got what was waited for, bit each. */
uint32_t read_levels_step(SmReadLevels *levels, const SmContext *sm, SmPort *port);
/* A line has come to the cache below. */
uint32_t read_levels_line_arrived(SmReadLevels *levels, uint64_t line);

#endif
