/* What a sweep came to: a table, tidy CSV, JSON, a plot. */
#ifndef TYTO_CLI_SWEEP_OUTPUT_H
#define TYTO_CLI_SWEEP_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/sweep/plan.h"

/* A table for each metric: the last dimension that varies along the columns, the others down the
 * rows, the best of a row marked. All of these: false after a message when the store fails. */
bool sweep_write_text(const Sweep *sweep, Store *store, FILE *to);
/* A line for each run: all that decides it, its state, every counter and ratio in total. */
bool sweep_write_csv(const Sweep *sweep, Store *store, FILE *to);
/* The same as an object, with the whole result of each run. `command` is the command line. */
bool sweep_write_json(const Sweep *sweep, Store *store, const Words *command, FILE *to);
/* The runs that failed, why, and how to try them again. */
bool sweep_write_failures(const Sweep *sweep, Store *store, FILE *to);
/* Whether a plot has room for the sweep, before anything runs. False after a message. */
bool sweep_can_plot(const Sweep *sweep);
/* The first metric along the dimension `x`, a graph for each program; with a baseline the speed-ups
 * over it as bars. */
bool sweep_plot(const Sweep *sweep, Store *store, const char *path, const Words *command);

/* The number of a metric of a point; NAN when there is none. */
bool sweep_number(const Sweep *sweep, Store *store, const Point *point, const char *metric,
                  double *number);

#endif
