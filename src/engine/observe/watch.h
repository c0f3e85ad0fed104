/* Watching a run: what the user asked to see besides the sums. CTA start and end (PRO Figure 2),
 * the counters' growth over time, and the timeline of both. */
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

/* Where to; NULL or 0: not asked for. Borrowed; lives as long as the run that is watched. */
typedef struct Watch {
    Timeline *timeline;         /* receives CTAs and counters */
    UnitTracks *tracks;         /* and warps and units; NULL: it has no tracks for them */
    TimeSeries *series;         /* receives samples of the counters */
    uint64_t timeline_interval; /* SM cycles between counter samples of the timeline */
    bool records_ctas;          /* keep start and end of every CTA */
    FILE *policies;             /* receives what the policies report, as CSV (sched/report.h) */
    uint64_t policies_interval; /* SM cycles between reports; 0: only at the end of each kernel */
    Profile *profile;           /* receives what each instruction counted */
    Units *units;               /* receives what each unit of the machine counted */
    L1dWriter *l1d;             /* receives every L1D lookup */
    Snapshots *snapshots;       /* receive the state of the run */
    uint64_t kernels;           /* begun so far */
    /* Of the kernel being watched: */
    const char *kernel; /* name */
    uint32_t stream;    /* number of its stream; 0: the legacy default one */
    uint64_t start;     /* SM cycle of its launch */
    CtaRecord *ctas;    /* CTAs that have ended, in that order, when recorded; the collector
                           takes it over (watch_take_ctas) */
    uint64_t cta_count;
    uint64_t cta_room;    /* records there is memory for */
    Counters before;      /* sums over the kernels that have ended */
    Counters last;        /* at the timeline's last sample */
    uint64_t next_sample; /* SM cycle at which the timeline wants counters */
    uint64_t next_report; /* SM cycle at which the policies are to report */
} Watch;

/* Whether something is recorded that belongs to one kernel: kernels must then run one by one. */
bool watch_is_of_one_kernel(const Watch *watch);
/* A kernel, launched into a stream of a number, begins at `cycle`. */
void watch_start(Watch *watch, const char *kernel, uint32_t stream, uint64_t cycle);
/* The first cycle at which watch_sample wants to be called; UINT64_MAX: never. */
uint64_t watch_due(const Watch *watch);
/* Whether the timeline wants to hear of warps and units at `cycle`. */
bool watch_wants_units(const Watch *watch, uint64_t cycle);
/* Whether the policies are to report at `cycle`; if so, the next time is set. */
bool watch_wants_policies(Watch *watch, uint64_t cycle);
/* `counters` are the kernel's so far, at `cycle`. */
void watch_sample(Watch *watch, uint64_t cycle, const Counters *counters);
void watch_cta(Watch *watch, const SmCtaEnd *end);
/* Hands over the records of CTAs, by their index; NULL: none are kept. The caller frees them. */
CtaRecord *watch_take_ctas(Watch *watch, uint64_t *count);
/* An L1D was looked up; only when `l1d` is set. */
void watch_l1d(Watch *watch, const L1dRecord *record);
/* The kernel has ended with these counters. */
void watch_end(Watch *watch, uint64_t cycle, const Counters *counters);

#endif
