/* The tracks of warps, SMs and DRAM channels in a timeline (stats/timeline.h): their state at each
 * sample, and what was counted from one sample to the next. A warp's slice continues while the warp
 * waits at the same line for the same cause. */
#ifndef TYTO_ENGINE_OBSERVE_UNIT_TRACKS_H
#define TYTO_ENGINE_OBSERVE_UNIT_TRACKS_H

#include "stats/timeline.h"

typedef struct UnitTracks UnitTracks;

/* Creates the tracks for a timeline (borrowed) of this shape. */
UnitTracks *unit_tracks_new(Timeline *timeline, const TimelineShape *shape);
void unit_tracks_free(UnitTracks *tracks); /* NULL is allowed */

/* Called when a kernel begins at SM cycle `cycle`; the counters of SMs start at 0. */
void unit_tracks_start(UnitTracks *tracks, uint64_t cycle);

/* Begins and ends a sample at `cycle`. Between the two calls, every resident warp and every unit is
 * passed once. */
void unit_tracks_begin(UnitTracks *tracks, uint64_t cycle);
void unit_tracks_end(UnitTracks *tracks);
/* Passes a warp that does `doing` (a constant string) before line `line` of the PTX. */
void unit_tracks_warp(UnitTracks *tracks, uint32_t sm, uint32_t slot, const char *doing,
                      uint32_t line);
/* Passes the counters of a unit: an SM's for the kernel, a channel's for the run. */
void unit_tracks_count(UnitTracks *tracks, TimelineUnit unit, uint32_t index, const Counters *now);

#endif
