/* The counts of each unit of the machine over the timed launches of a run: the SMs, the L2 slices,
 * the memory channels and their banks. A unit uses its own rows of counters.h. The sums over the
 * SMs and the channels are the run's counters. A channel's counts include those of its slices and
 * banks. */
#ifndef TYTO_STATS_UNITS_H
#define TYTO_STATS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"
#include "stats/sets.h"

/* KIND(name, plural, title): the kinds of units of a machine, from the top. */
#define UNITS(KIND)                                                                                \
    KIND(sm, "sms", "SM")                                                                          \
    KIND(slice, "slices", "L2 slice")                                                              \
    KIND(channel, "channels", "channel")                                                           \
    KIND(bank, "banks", "DRAM bank")
#define UNIT_ID(name, plural, title) UNIT_##name,
typedef enum UnitKind { UNITS(UNIT_ID) UNIT_KINDS } UnitKind;
#undef UNIT_ID

typedef struct Units {
    uint32_t counts[UNIT_KINDS];      /* units of the machine */
    uint32_t per_channel[UNIT_KINDS]; /* units of a channel, which are adjacent; 0: none */
    Counters *list[UNIT_KINDS];       /* owned */
    Sets sets[UNIT_KINDS]; /* sets of their caches; of_unit 0: not requested, or no cache */
} Units;

/* Creates units without counts: `sms` SMs, and `channels` channels, each with `slices` slices and
 * `banks` banks. */
Units *units_new(uint32_t sms, uint32_t channels, uint32_t slices, uint32_t banks);
void units_free(Units *units); /* NULL is allowed */
/* Makes the sets of a kind's caches counted, too: `of_unit` sets for each unit. */
void units_count_sets(Units *units, UnitKind kind, uint32_t of_unit);
static inline void units_add(Units *units, UnitKind kind, uint32_t unit, const Counters *part) {
    counters_add(&units->list[kind][unit], part);
}

/* How SMs differ in a counter. The counters are the rows UNIT_SPREADS(ROW): counter, words for
 * people. */
#define UNIT_SPREADS(ROW)                                                                          \
    ROW(ctas_launched, "thread blocks")                                                            \
    ROW(warp_instructions, "warp instructions")                                                    \
    ROW(l1d_misses, "L1D misses")                                                                  \
    ROW(NoWarpCycles, "cycles without a warp")
typedef struct Spread {
    uint64_t least, most, sum; /* over the SMs */
} Spread;
#define UNIT_SPREAD(name, words) Spread name;
typedef struct Spreads {
    UNIT_SPREADS(UNIT_SPREAD)
} Spreads;
#undef UNIT_SPREAD

/* Adds one more unit; `is_first`: the first one. */
void spreads_take(Spreads *spreads, const Counters *unit, bool is_first);
Spreads units_spreads(const Units *units);
/* Adds lines of a report, or a JSON object by counter: minimum, mean, maximum, and the imbalance,
 * which is by how much the maximum exceeds the mean, as a share of the mean (the percent imbalance
 * of Pearce et al., "Quantifying the effectiveness of load balance algorithms", ICS 2012). */
void spreads_report(const Spreads *spreads, uint32_t units, Text *out);
void spreads_write_json(const Spreads *spreads, uint32_t units, Json *json);

/* Adds all units: as tables of text; as an object with a list for each kind; as lines of CSV, each
 * after `before` (fields and a comma), with the names of their own fields. */
void units_report(const Units *units, Text *out);
void units_write_json(const Units *units, Json *json);
/* Adds how evenly the sets of each cache were used, as an object by cache; the sets themselves are
 * written with their unit. The sets of all SMs' L1Ds are added up; those of L2's slices are
 * separate. */
void units_write_sets_json(const Units *units, Json *json);
void units_write_csv_names(Text *out);
void units_write_csv(const Units *units, const char *before, Text *out);

#endif
