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

/* Numbers of units that can have tracks. */
typedef struct TimelineShape {
    uint32_t sms, channels; /* SMs and channels of the GPU */
    uint32_t ctas, warps;   /* CTA and warp slots of an SM */
} TimelineShape;

/* Whether the file name has an extension in TIMELINE_ENDINGS, or none. */
bool timeline_takes(const char *path);
#define TIMELINE_ENDINGS ".json, .pftrace or .perfetto-trace"

/* Opens the file, whose name timeline_takes must accept, and names its tracks. Returns NULL with an
 * error in `diag` on failure. */
Timeline *timeline_open(const char *path, const TimelineShape *shape, Diag *diag);

/* Adds a kernel that ran from SM cycle `start` to `end`. */
void timeline_kernel(Timeline *timeline, const char *name, uint64_t start, uint64_t end);
/* Adds a CTA of it. */
void timeline_cta(Timeline *timeline, uint32_t sm, uint32_t slot, const char *name, uint64_t start,
                  uint64_t end);

/* Adds values of the GPU's counter tracks for the interval from `start`: scheduler cycles by cause,
 * cache misses, memory queues. `growth` is what was counted in the interval. */
void timeline_counters(Timeline *timeline, uint64_t start, const Counters *growth);

/* Whether the form has tracks for warps and units. If not, do not call the next two functions. */
bool timeline_has_units(const Timeline *timeline);
/* The same for an SM or a channel. */
void timeline_unit_counters(Timeline *timeline, TimelineUnit unit, uint32_t index, uint64_t start,
                            const Counters *growth);
/* Adds what a warp did from one sample to another; at the first it was before line `line` of the
 * PTX. */
void timeline_warp(Timeline *timeline, uint32_t sm, uint32_t slot, const char *doing, uint32_t line,
                   uint64_t start, uint64_t end);

/* Ends the file, with the origin of `run` if that is not NULL. Returns false with one error in
 * `diag` if any part could not be written. */
bool timeline_close(Timeline *timeline, const RunStats *run, Diag *diag);
/* Frees it, and leaves an old file unchanged. NULL is allowed. */
void timeline_abandon(Timeline *timeline);

#endif
