/* The runs of an experiment at one size: every program in every setup, made by the engine. */
#ifndef TYTO_CLI_EXPERIMENT_STUDY_H
#define TYTO_CLI_EXPERIMENT_STUDY_H

#include <stdbool.h>

#include "cli/engine/engine.h"
#include "cli/experiment/experiment.h"

typedef struct Run {
    const Program *program;
    const Setup *setup;
    int task; /* the engine's number of it; programs that differ only in their kernel share runs */
} Run;

/* The caller sets the first four fields. */
typedef struct Study {
    const Experiment *experiment;
    Store *store;
    const char *size;
    bool allows_plugins; /* machine files may name code to load */
    Engine *engine;
    Run *runs;
    int count;
} Study;

/* Lists the runs, and looks up which of them the store has. False after messages if a program,
 * machine or scheduler does not exist. */
bool study_plan(Study *study);
/* The key of a run in the store. */
const RunKey *study_key(const Study *study, const Run *run);
/* How many runs are missing. */
int study_count_missing(const Study *study);
void study_free(Study *study);

#endif
