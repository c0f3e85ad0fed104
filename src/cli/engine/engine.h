/* The one engine behind compare, reproduce and sweep: runs that a front end asks for are made once
 * each, by an executor, and kept in a store; those that the store has are not made again. */
#ifndef TYTO_CLI_ENGINE_ENGINE_H
#define TYTO_CLI_ENGINE_ENGINE_H

#include <stdbool.h>

#include "cli/engine/executor.h"
#include "cli/engine/store.h"
#include "cli/engine/task.h"

typedef struct Engine Engine;

Engine *engine_new(Store *store);
void engine_free(Engine *engine); /* NULL is allowed; the store stays */

/* Adds a run; its number, which is that of an earlier one when it is the same. -1 when something of
 * it does not exist, with *why as of task_make. */
int engine_add(Engine *engine, const TaskForm *form, char **why);
const Task *engine_task(const Engine *engine, int number);
int engine_count(const Engine *engine);
/* How many runs are in such a state. */
int engine_count_state(const Engine *engine, RunState state);
/* Looks up what the store has now. False after a message. */
bool engine_refresh(Engine *engine);

typedef enum EngineEnd {
    ENGINE_DONE,
    ENGINE_FAILED,     /* some runs failed, or the store did; told */
    ENGINE_INTERRUPTED /* by the user */
} EngineEnd;

/* How the runs are made. */
typedef struct EngineOrder {
    const char *title; /* of the line of progress */
    const Executor *executor;
    const char *folder; /* where a remote executor's jobs leave their results; else NULL */
    int jobs;           /* at once */
    bool is_retrying;   /* those that failed before are tried again */
} EngineOrder;

/* Makes the runs that are missing, on the library that program_export_library has put first;
 * progress goes to a terminal on stderr. *signal is that by which the user has interrupted it. */
EngineEnd engine_run(Engine *engine, const EngineOrder *order, int *signal);

/* Says that what has finished is kept, and ends the process as the signal does. */
void engine_end_interrupted(int signal);

#endif
