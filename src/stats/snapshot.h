/* The state of a run while it goes on: one file that is written again a few times a second
 * (--snapshot), in the format of the results at the end, which it holds then. A reader always finds
 * a whole one.
 *
 * A moment is taken only at a sample, a cycle that the counters decide. The host's clock decides
 * which moments are written, and none of that affects the run. Memory is bounded. */
#ifndef TYTO_STATS_SNAPSHOT_H
#define TYTO_STATS_SNAPSHOT_H

#include "base/diag.h"
#include "stats/run.h"

typedef struct Snapshots Snapshots;

/* An SM at a moment. */
typedef struct MomentSm {
    uint32_t ctas;              /* resident */
    uint64_t warp_instructions; /* of the kernel so far */
} MomentSm;

/* A kernel under way. Everything is borrowed. */
typedef struct Moment {
    const char *kernel;         /* as the PTX names it */
    uint64_t launch;            /* its number among the timed ones, from 1 */
    uint64_t cycle;             /* SM cycle, over all kernels */
    uint64_t ctas;              /* of the grid */
    uint64_t begun_ctas;        /* that SMs have got */
    uint64_t done_ctas;         /* that have ended */
    uint32_t grid[3], block[3]; /* CTAs, threads */
    uint32_t registers;         /* of a thread */
    uint32_t shared_bytes;      /* of a CTA */
    KernelFigures figures;      /* of the kernel so far */
    const Counters *before;     /* sums over the kernels that have ended */
    MomentSm *sms;              /* by number */
    uint32_t sm_count;          /* of sms */
    Profile *standing;          /* where its warps stand: one kernel without counts */
} Moment;

/* Snapshots of `run` (borrowed) into a file. */
Snapshots *snapshots_new(const char *path, const RunStats *run);
void snapshots_free(Snapshots *snapshots); /* NULL is allowed */

/* The SM cycle at which the next sample is due. */
uint64_t snapshots_due(const Snapshots *snapshots);
/* The run's counters at `cycle`; when a sample is due, or at the end of a kernel. */
void snapshots_sample(Snapshots *snapshots, uint64_t cycle, const Counters *all);
/* Whether the last snapshot is old enough for another; false for NULL. */
bool snapshots_wanted(const Snapshots *snapshots);
void snapshots_write(Snapshots *snapshots, const Moment *moment);
/* The run has ended: the last snapshot is of its whole record. False with an error in `diag` when
 * one could not be written. */
bool snapshots_end(Snapshots *snapshots, Diag *diag);

#endif
