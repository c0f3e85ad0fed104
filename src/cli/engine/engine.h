/* The engine behind compare, reproduce and sweep. An executor makes each run that a front end asks
 * for once, and a store keeps the results; runs that the store has are not repeated. */
#ifndef TYTO_CLI_ENGINE_ENGINE_H
#define TYTO_CLI_ENGINE_ENGINE_H

#include <stdbool.h>

#include "cli/engine/executor.h"
#include "cli/engine/store.h"
#include "cli/engine/task.h"

typedef struct Engine Engine;

Engine *engine_new(Store *store);
void engine_free(Engine *engine); /* NULL is allowed; the store stays */

/* Adds a run and returns its number; equal runs have the same number. Returns -1 if something that
 * the run names does not exist, with *why as in task_make. */
int engine_add(Engine *engine, const TaskForm *form, char **why);
const Task *engine_task(const Engine *engine, int number);
int engine_count(const Engine *engine);
/* The number of runs in a state. */
int engine_count_state(const Engine *engine, RunState state);
/* Looks up which runs the store has now. False after a message. */
bool engine_refresh(Engine *engine);

typedef enum EngineEnd {
    ENGINE_DONE,
    ENGINE_FAILED,     /* some runs or the store failed; already reported */
    ENGINE_INTERRUPTED /* by the user */
} EngineEnd;

/* Instructions for making the runs. */
typedef struct EngineOrder {
    const char *title; /* of the line of progress */
    const Executor *executor;
    const char *folder; /* for results of a remote executor's jobs; else NULL */
    int jobs;           /* at once */
    bool is_retrying;   /* repeats runs that failed before */
} EngineOrder;

/* Makes the missing runs with the library that program_export_library has put first. Shows progress
 * if stderr is a terminal. *signal is the signal with which the user interrupted it. */
EngineEnd engine_run(Engine *engine, const EngineOrder *order, int *signal);

/* Reports that finished runs are stored, and ends the process by the signal. */
void engine_end_interrupted(int signal);

#endif
