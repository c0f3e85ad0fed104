/* The runs of an experiment at one size: every program in every setup, made by the engine. */
#ifndef TYTO_CLI_EXPERIMENT_STUDY_H
#define TYTO_CLI_EXPERIMENT_STUDY_H

#include <stdbool.h>

#include "cli/engine/engine.h"
#include "cli/experiment/experiment.h"

typedef struct Run {
    const Program *program;
    const Setup *setup;
    int task; /* the engine's number of it; programs that differ in their kernel share runs */
} Run;

/* The first four are the caller's. */
typedef struct Study {
    const Experiment *experiment;
    Store *store;
    const char *size;
    bool allows_plugins; /* machine files may name code that is loaded */
    Engine *engine;
    Run *runs;
    int count;
} Study;

/* Lists the runs, and looks up which are there. False after messages: a program, machine or
 * scheduler that does not exist. */
bool study_plan(Study *study);
/* What decides a run, as the store has it. */
const RunKey *study_key(const Study *study, const Run *run);
/* How many runs are missing. */
int study_count_missing(const Study *study);
void study_free(Study *study);

#endif
