/* The runs of an experiment at one size: every program in every setup. Runs that the store has are
 * not run again. */
#ifndef TYTO_CLI_EXPERIMENT_STUDY_H
#define TYTO_CLI_EXPERIMENT_STUDY_H

#include <stdbool.h>

#include "cli/experiment/executor.h"
#include "cli/experiment/experiment.h"
#include "cli/experiment/store.h"

typedef struct Run {
    RunKey key;
    const Program *program;
    const Setup *setup;
    Words line;                /* the workload, and its arguments after --size */
    const char *scheduler;     /* of the setup's */
    const char *cta_scheduler; /* of the program, or of the setup's; NULL: the machine's own */
    bool is_there;             /* in the store */
    bool is_repeated;          /* an earlier one of the list is the same */
    bool is_replaying;         /* its program has ended, what it recorded is being replayed */
} Run;

/* The first four are the caller's. */
typedef struct Study {
    const Experiment *experiment;
    Store *store;
    const char *size;
    bool allows_plugins; /* machine files may name code that is loaded */
    Run *runs;
    int count;
    int *planned; /* hash table of the runs that are not repeated: their index and 1; 0: free */
    int planned_slots;         /* of planned */
    struct Contents *contents; /* hashes of files */
} Study;

typedef enum StudyEnd {
    STUDY_DONE,
    STUDY_FAILED,     /* some runs failed, or the store did; told */
    STUDY_INTERRUPTED /* by the user */
} StudyEnd;

/* Lists the runs, and looks up which are there. False after messages: a program, machine or
 * scheduler that does not exist. */
bool study_plan(Study *study);
/* Does the runs that are missing, `jobs` at once, on the library that program_export_library has
 * put first; progress goes to a terminal on stderr. */
StudyEnd study_run(Study *study, const Executor *executor, int jobs);
/* How many runs are missing. */
int study_count_missing(const Study *study);
void study_free(Study *study);

#endif
