/* A timeline in the Chrome trace format, which Perfetto (ui.perfetto.dev) and chrome://tracing
 * show: slices on named tracks, and counter tracks. One microsecond on the screen is one SM cycle.
 * Events are written as they come, so memory does not grow with the run.
 *
 * Source: "Trace Event Format", the JSON array form. */
#ifndef TYTO_STATS_TIMELINE_H
#define TYTO_STATS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "stats/counters.h"

typedef struct Timeline Timeline;

/* Groups of tracks. An SM's tracks are its CTA slots. */
enum { TIMELINE_GPU = 0, TIMELINE_FIRST_SM = 1 };

/* Opens the file; NULL with an error in `diag` when it cannot be. */
Timeline *timeline_open(const char *path, Diag *diag);

/* Names a group, and a track of a group. */
void timeline_name_group(Timeline *timeline, uint32_t group, const char *name);
void timeline_name_track(Timeline *timeline, uint32_t group, uint32_t track, const char *name);

/* Something that lasted from SM cycle `start` to `end` on a track. */
void timeline_slice(Timeline *timeline, uint32_t group, uint32_t track, const char *name,
                    uint64_t start, uint64_t end);

/* The GPU's counter tracks for the interval from `start`: where the scheduler cycles went, cache
 * misses, memory queues; `growth` is what was counted in the interval. */
void timeline_counters(Timeline *timeline, uint64_t start, const Counters *growth);

/* Ends the file. False, with one error in `diag`, when any part could not be written. */
bool timeline_close(Timeline *timeline, Diag *diag);
/* Frees it, and leaves the old file as it was. NULL is allowed. */
void timeline_abandon(Timeline *timeline);

#endif
