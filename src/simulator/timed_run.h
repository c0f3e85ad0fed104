/* The machine that the options name, and what a simulation in detail has in addition to its GPU:
 * the policies, and what is recorded while kernels run. */
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
    Timeline *timeline;          /* being written, NULL: not asked for; owned */
    OutputFile *policies;        /* being written, NULL: not asked for; owned */
    L1dWriter *l1d;              /* being written, NULL: not asked for; owned */
    Snapshots *snapshots;        /* being written, NULL: not asked for; owned */
    Watch watch;                 /* what the GPU records */
} TimedRun;

/* The machine that the options name, finished, with --set, --code and --clock applied; functional
 * runs have the device's compute capability from it too. NULL with errors in `diag`. Freed by
 * machine_free. */
Machine *timed_run_machine(const Options *options, Diag *diag);

/* The policies on `machine`, with no recording begun; makes `run` (borrowed, outlives the detail)
 * one on that machine. NULL with errors in `diag`. */
TimedRun *timed_run_new(const Options *options, const Machine *machine, RunStats *run, Diag *diag);
/* Begins the recordings that the options name, whose files are opened. False with errors in `diag`.
 */
bool timed_run_start(TimedRun *timed, const Options *options, Diag *diag);
void timed_run_free(TimedRun *timed); /* NULL is allowed */

/* Ends the recordings. False with errors in `diag`. */
bool timed_run_finish(TimedRun *timed, const Options *options, Diag *diag);

#endif
