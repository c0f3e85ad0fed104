/* Levels of the machine, and how much of its peak a kernel used of each. Each level is one row. The
 * enum, the JSON objects, the text and the table of docs/advice.md are derived from the rows.
 *
 * A peak is what a level of the whole GPU can do in an SM cycle, according to the machine's
 * parameters. */
#ifndef TYTO_STATS_LEVELS_H
#define TYTO_STATS_LEVELS_H

#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"

/* LEVEL(name, title, unit, meaning of the peak) */
/* clang-format off */
#define LEVELS(LEVEL) \
    LEVEL(issue, "issue", "warp instructions", "what the schedulers can issue: `scheduler.count`, `issue_width`, `issue_interval`") \
    LEVEL(shared, "shared memory", "cycles", "one cycle of each SM") \
    LEVEL(l1d, "L1D", "accesses", "lookups of each SM: `lsu.accesses_per_cycle`, or one to each bank") \
    LEVEL(l2, "L2", "accesses", "sectors that the data ports of the slices move: `partition.port`, `partition.sector` and the clocks") \
    LEVEL(dram, "DRAM", "bytes", "what the data buses move: `dram.bus`, `dram.data_rate` and the clocks")
/* clang-format on */

#define LEVEL_ID(name, title, unit, meaning) LEVEL_##name,
typedef enum Level { LEVELS(LEVEL_ID) LEVEL_COUNT } Level;
#undef LEVEL_ID
extern const char *const level_titles[LEVEL_COUNT];

typedef struct LevelPeaks {
    double of[LEVEL_COUNT]; /* per SM cycle of the whole GPU; 0: the machine lacks this level, or
                               the peak is unknown */
    double dram_tick_bytes; /* bytes that a channel moves in a DRAM cycle */
} LevelPeaks;

/* The share of a level's peak that was used in `cycles` SM cycles; NaN if there is no peak. */
double level_share(const LevelPeaks *peaks, Level level, const Counters *counters, double cycles);

/* Adds an object with the peaks and the shares of them over all of a kernel's cycles. */
void levels_write_peaks(const LevelPeaks *peaks, Json *json);
void levels_write_shares(const LevelPeaks *peaks, const Counters *counters, Json *json);
/* Adds a line of text with the shares, if there are any. */
void levels_report(const LevelPeaks *peaks, const Counters *counters, Text *out);
/* Adds the table of levels of docs/advice.md. */
void levels_document(Text *out);

#endif
