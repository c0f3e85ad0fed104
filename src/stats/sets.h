/* Counts of each cache set: the L1Ds' by SM, L2's by slice. They are only kept on request
 * (--per-unit); otherwise a cache only checks one pointer. The sums over a unit's sets are the
 * counters of the same names, such as l1d_misses or l2_evictions. */
#ifndef TYTO_STATS_SETS_H
#define TYTO_STATS_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/counters.h"

/* ROW(prefix, name, words): what is counted for a set. The counter of the whole cache is
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
    uint32_t units, of_unit; /* number of units, and of sets of each; 0: not counted */
    SetCounts *counts;       /* by unit, then set; owned */
} Sets;

static inline void sets_count_lookup(SetCounts *set, bool is_miss) {
    set->accesses++;
    set->misses += is_miss;
}

/* Creates counts for `units` caches of `of_unit` sets each, all 0. */
Sets sets_new(uint32_t units, uint32_t of_unit);
void sets_free(Sets *sets);
/* The counts of one unit; NULL if they are not counted. */
static inline SetCounts *sets_of(const Sets *sets, uint32_t unit) {
    return sets->of_unit ? &sets->counts[(size_t)unit * sets->of_unit] : NULL;
}
/* Whether anything has been counted: false for a cache that is off or always hits. */
bool sets_are_used(const Sets *sets);
/* The sums over all units for each set, as those of one unit. Free them with sets_free. */
Sets sets_added(const Sets *sets);

/* Whether this counter is also counted for sets. */
bool sets_have(CounterId counter);

#endif
