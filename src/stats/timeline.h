/* A timeline for Perfetto (ui.perfetto.dev): slices on named tracks, and counters. One microsecond
 * on the screen is one SM cycle. Events are written as they come, so memory does not grow with the
 * run. The name of the file chooses the form:
 *
 *   .pftrace, .perfetto-trace   Perfetto's own, in protobuf: a track for each warp slot too, and
 *                               counters of each SM and DRAM channel
 *   .json, none                 JSON, which chrome://tracing shows too: kernels and CTAs, and the
 *                               GPU's counters
 */
#ifndef TYTO_STATS_TIMELINE_H
#define TYTO_STATS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "stats/counters.h"
#include "stats/run.h"

typedef struct Timeline Timeline;

/* Groups of tracks. An SM's tracks are its CTA slots and its warp slots. */
enum { TIMELINE_GPU = 0, TIMELINE_FIRST_SM = 1, TIMELINE_FIRST_CHANNEL = 4096 };

/* Units whose counters have tracks. */
typedef enum TimelineUnit { TIMELINE_SM, TIMELINE_CHANNEL } TimelineUnit;

/* How many of what there is to be a track of. */
typedef struct TimelineShape {
    uint32_t sms, channels; /* of the GPU */
    uint32_t ctas, warps;   /* slots of an SM */
} TimelineShape;

/* Whether the file's ending is one of TIMELINE_ENDINGS, or it has none. */
bool timeline_takes(const char *path);
#define TIMELINE_ENDINGS ".json, .pftrace or .perfetto-trace"

/* Opens the file, whose name timeline_takes, and names its tracks; NULL with an error in `diag`
 * when it cannot be. */
Timeline *timeline_open(const char *path, const TimelineShape *shape, Diag *diag);

/* A kernel that ran from SM cycle `start` to `end`. */
void timeline_kernel(Timeline *timeline, const char *name, uint64_t start, uint64_t end);
/* A CTA of it. */
void timeline_cta(Timeline *timeline, uint32_t sm, uint32_t slot, const char *name, uint64_t start,
                  uint64_t end);

/* The GPU's counter tracks for the interval from `start`: where the scheduler cycles went, cache
 * misses, memory queues; `growth` is what was counted in the interval. */
void timeline_counters(Timeline *timeline, uint64_t start, const Counters *growth);

/* Whether the form has tracks for warps and units, which the next two are of. */
bool timeline_has_units(const Timeline *timeline);
/* The same for an SM or a channel. */
void timeline_unit_counters(Timeline *timeline, TimelineUnit unit, uint32_t index, uint64_t start,
                            const Counters *growth);
/* What a warp did from one sample to another, standing before line `line` of the PTX at the first.
 */
void timeline_warp(Timeline *timeline, uint32_t sm, uint32_t slot, const char *doing, uint32_t line,
                   uint64_t start, uint64_t end);

/* Ends the file with where it comes from, if `run` is not NULL. False, with one error in `diag`,
 * when any part could not be written. */
bool timeline_close(Timeline *timeline, const RunStats *run, Diag *diag);
/* Frees it, and leaves the old file as it was. NULL is allowed. */
void timeline_abandon(Timeline *timeline);

#endif
