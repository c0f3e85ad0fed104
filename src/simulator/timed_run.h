/* The machine that the options name, and what a timed simulation has in addition to its GPU: the
 * policies, and what is recorded while kernels run. */
#ifndef TYTO_SIMULATOR_TIMED_RUN_H
#define TYTO_SIMULATOR_TIMED_RUN_H

#include "base/diag.h"
#include "base/output_file.h"
#include "simulator/options.h"
#include "engine/launch/gpu.h"
#include "machine/machine_file.h"
#include "engine/observe/watch.h"
#include "sched/cta_policy.h"
#include "sched/registry.h"
#include "stats/run.h"

typedef struct TimedRun {
    const Machine *machine;      /* borrowed, outlives this */
    const MachineConfig *config; /* the machine's */
    SchedPolicy *scheduler;      /* owned */
    CtaSched *cta_scheduler;     /* owned */
    RunStats *run;               /* the simulator's record */
    Timeline *timeline;          /* being written; NULL: not wanted; owned */
    OutputFile *policies;        /* being written; NULL: not wanted; owned */
    L1dWriter *l1d;              /* being written; NULL: not wanted; owned */
    Snapshots *snapshots;        /* being written; NULL: not wanted; owned */
    Watch watch;                 /* what the GPU records */
} TimedRun;

/* Creates the machine that the options name, with --set, --code and --clock applied. Functional
 * runs take the device's compute capability from it, too. Returns NULL with errors in `diag`. Free
 * it with machine_free. */
Machine *timed_run_machine(const Options *options, Diag *diag);

/* Creates the policies on `machine`, without starting recordings, and marks `run` (borrowed, must
 * outlive the result) as a run on that machine. Returns NULL with errors in `diag`. */
TimedRun *timed_run_new(const Options *options, const Machine *machine, RunStats *run, Diag *diag);
/* Starts the recordings that the options name, and opens their files. Returns false with errors in
 * `diag`. */
bool timed_run_start(TimedRun *timed, const Options *options, Diag *diag);
void timed_run_free(TimedRun *timed); /* NULL is allowed */

/* Ends the recordings. Returns false with errors in `diag`. */
bool timed_run_finish(TimedRun *timed, const Options *options, Diag *diag);

#endif
