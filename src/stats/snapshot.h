/* The state of a running simulation: a file that is rewritten a few times a second (--snapshot), in
 * the format of the final results, which it contains at the end. A reader always finds a complete
 * file.
 *
 * A state is only taken at a sample, in a cycle that depends on counters alone. The host's clock
 * decides which states are written; this does not affect the run. Memory is bounded. */
#ifndef TYTO_STATS_SNAPSHOT_H
#define TYTO_STATS_SNAPSHOT_H

#include "base/diag.h"
#include "stats/run.h"

typedef struct Snapshots Snapshots;

/* An SM at this moment. */
typedef struct MomentSm {
    uint32_t ctas;              /* resident CTAs */
    uint64_t warp_instructions; /* warp instructions of the kernel so far */
} MomentSm;

/* A running kernel. Everything is borrowed. */
typedef struct Moment {
    const char *kernel;         /* name in the PTX */
    uint64_t launch;            /* number among the timed launches, from 1 */
    uint64_t cycle;             /* SM cycle, over all kernels */
    uint64_t ctas;              /* CTAs of the grid */
    uint64_t begun_ctas;        /* CTAs dispatched to SMs */
    uint64_t done_ctas;         /* CTAs that have ended */
    uint32_t grid[3], block[3]; /* CTAs, threads */
    uint32_t registers;         /* registers per thread */
    uint32_t shared_bytes;      /* shared memory of a CTA */
    KernelFigures figures;      /* counts of the kernel so far */
    const Counters *before;     /* sums over the kernels that have ended */
    MomentSm *sms;              /* by SM number */
    uint32_t sm_count;          /* length of `sms` */
    Profile *waiting;           /* where its warps are, as one kernel without counts */
} Moment;

/* Creates the snapshots of `run` (borrowed) in a file. */
Snapshots *snapshots_new(const char *path, const RunStats *run);
void snapshots_free(Snapshots *snapshots); /* NULL is allowed */

/* The SM cycle at which the next sample is due. */
uint64_t snapshots_due(const Snapshots *snapshots);
/* Passes the run's counters at `cycle`, when a sample is due or at the end of a kernel. */
void snapshots_sample(Snapshots *snapshots, uint64_t cycle, const Counters *all);
/* Whether the last snapshot is old enough for another; false for NULL. */
bool snapshots_wanted(const Snapshots *snapshots);
void snapshots_write(Snapshots *snapshots, const Moment *moment);
/* Called when the run has ended: writes its complete record as the last snapshot. Returns false
 * with an error in `diag` if any snapshot could not be written. */
bool snapshots_end(Snapshots *snapshots, Diag *diag);

#endif
