/* What each set of a cache counted: the L1Ds' by SM, L2's by slice. Kept only where somebody asked
 * for it (--per-unit); a cache without counts looks at one pointer. The counts of a unit's sets add
 * up to the counters of the same names, as l1d_misses or l2_evictions. */
#ifndef TYTO_STATS_SETS_H
#define TYTO_STATS_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/counters.h"

/* ROW(prefix, name, words): what is counted of a set; the counter of its whole cache is
 * PREFIX_name. */
#define SET_COUNTS(ROW, prefix)                                                                    \
    ROW(prefix, accesses, "lookups")                                                               \
    ROW(prefix, misses, "misses")                                                                  \
    ROW(prefix, evictions, "evictions")
#define SET_COUNT_FIELD(prefix, name, words) uint64_t name;
typedef struct SetCounts {
    SET_COUNTS(SET_COUNT_FIELD, )
} SetCounts;
#undef SET_COUNT_FIELD

/* CACHE(kind, prefix, title): caches whose sets are counted, and the unit that has one. */
#define SET_CACHES(CACHE)                                                                          \
    CACHE(sm, l1d, "L1D")                                                                          \
    CACHE(slice, l2, "L2")

/* The sets of all units of a kind. */
typedef struct Sets {
    uint32_t units, of_unit; /* how many, and sets of each; 0: not counted */
    SetCounts *counts;       /* by unit, then set; owned */
} Sets;

static inline void sets_count_lookup(SetCounts *set, bool is_miss) {
    set->accesses++;
    set->misses += is_miss;
}

/* Counts of `units` caches of `of_unit` sets each, all 0. */
Sets sets_new(uint32_t units, uint32_t of_unit);
void sets_free(Sets *sets);
/* Those of one unit; NULL where they are not counted. */
static inline SetCounts *sets_of(const Sets *sets, uint32_t unit) {
    return sets->of_unit ? &sets->counts[(size_t)unit * sets->of_unit] : NULL;
}
/* Whether anything has been counted: not so of a cache that is off or always hits. */
bool sets_are_used(const Sets *sets);
/* The same sets of all units together, as those of one. Freed by sets_free. */
Sets sets_added(const Sets *sets);

/* Whether sets are counted of what the counter counts. */
bool sets_have(CounterId counter);

#endif
