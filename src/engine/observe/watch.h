/* Watches a run: what the user asked to see besides the sums. These are CTA start and end (PRO
 * Figure 2), the growth of counters over time, and the timeline of both. */
#ifndef TYTO_ENGINE_OBSERVE_WATCH_H
#define TYTO_ENGINE_OBSERVE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cache/l1d_writer.h"
#include "engine/observe/unit_tracks.h"
#include "sm/sm.h"
#include "stats/run.h"
#include "stats/snapshot.h"
#include "stats/timeline.h"

/* Where to record; NULL or 0: not asked for. Borrowed; must live as long as the run that is
 * watched. */
typedef struct Watch {
    Timeline *timeline;         /* receives CTAs and counters */
    UnitTracks *tracks;         /* receives warps and units; NULL: no tracks for them */
    TimeSeries *series;         /* receives samples of the counters */
    uint64_t timeline_interval; /* SM cycles between counter samples of the timeline */
    bool records_ctas;          /* keep start and end of every CTA */
    FILE *policies;             /* receives what the policies report, as CSV (sched/report.h) */
    uint64_t policies_interval; /* SM cycles between reports; 0: only at the end of each kernel */
    Profile *profile;           /* receives what was counted for each instruction */
    Units *units;               /* receives what each unit of the machine has counted */
    L1dWriter *l1d;             /* receives every L1D lookup */
    Snapshots *snapshots;       /* receives the state of the run */
    uint64_t kernels;           /* kernels begun so far */
    /* Of the kernel being watched: */
    const char *kernel; /* name of the kernel */
    uint32_t stream;    /* number of its stream; 0: the legacy default one */
    uint64_t start;     /* SM cycle of its launch */
    CtaRecord *ctas;    /* if recorded: CTAs that have ended, in that order; the caller of
                           watch_take_ctas takes them over */
    uint64_t cta_count;
    uint64_t cta_room;    /* allocated records */
    Counters before;      /* sums over the kernels that have ended */
    Counters last;        /* counters at the timeline's last sample */
    uint64_t next_sample; /* SM cycle at which the timeline next wants counters */
    uint64_t next_report; /* SM cycle at which the policies next report */
} Watch;

/* Whether something is recorded that belongs to one kernel, so that kernels must run one by one. */
bool watch_is_of_one_kernel(const Watch *watch);
/* Called when a kernel, launched into the stream of a number, begins at `cycle`. */
void watch_start(Watch *watch, const char *kernel, uint32_t stream, uint64_t cycle);
/* The first cycle at which watch_sample must be called; UINT64_MAX: never. */
uint64_t watch_due(const Watch *watch);
/* Whether the timeline wants warps and units at `cycle`. */
bool watch_wants_units(const Watch *watch, uint64_t cycle);
/* Whether the policies must report at `cycle`. If so, sets the next time. */
bool watch_wants_policies(Watch *watch, uint64_t cycle);
/* Records a sample: `counters` are those of the kernel so far, at `cycle`. */
void watch_sample(Watch *watch, uint64_t cycle, const Counters *counters);
void watch_cta(Watch *watch, const SmCtaEnd *end);
/* Returns the records of CTAs, sorted by index, which the caller must free; NULL: none are kept. */
CtaRecord *watch_take_ctas(Watch *watch, uint64_t *count);
/* Called when an L1D was looked up; only if `l1d` is set. */
void watch_l1d(Watch *watch, const L1dRecord *record);
/* Called when the kernel has ended with these counters. */
void watch_end(Watch *watch, uint64_t cycle, const Counters *counters);

#endif
