/* Writes the results of a sweep as a table, tidy CSV, JSON or a plot. */
#ifndef TYTO_CLI_SWEEP_OUTPUT_H
#define TYTO_CLI_SWEEP_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/sweep/plan.h"

/* Writes a table for each metric. The last varying dimension makes the columns, the others make the
 * rows; a mark shows the best of each row. All of these functions return false after a message if
 * the store fails. */
bool sweep_write_text(const Sweep *sweep, Store *store, FILE *to);
/* Writes a line for each run: everything that determines it, its state, and the totals of all
 * counters and ratios. */
bool sweep_write_csv(const Sweep *sweep, Store *store, FILE *to);
/* Writes the same as a JSON object, with the whole result of each run. `command` is the command
 * line. */
bool sweep_write_json(const Sweep *sweep, Store *store, const Words *command, FILE *to);
/* Writes the runs that failed, the reasons, and how to repeat them. */
bool sweep_write_failures(const Sweep *sweep, Store *store, FILE *to);
/* Checks before any run whether a plot has room for the sweep. False after a message. */
bool sweep_can_plot(const Sweep *sweep);
/* Plots the first metric along the dimension `x`, with a graph for each program; with a baseline it
 * plots the speed-ups over it as bars. */
bool sweep_plot(const Sweep *sweep, Store *store, const char *path, const Words *command);

/* The value of a metric at a point; NAN if there is none. */
bool sweep_number(const Sweep *sweep, Store *store, const Point *point, const char *metric,
                  double *number);
/* Processor seconds that the run took on its host; NAN if there is no run. */
bool sweep_host_seconds(const Sweep *sweep, Store *store, const Point *point, double *seconds);

#endif
