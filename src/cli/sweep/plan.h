/* A sweep: every combination of programs, machines, values of the machine, schedulers, sizes and
 * seeds, as a file or the command line names them. docs/sweep.md describes both. */
#ifndef TYTO_CLI_SWEEP_PLAN_H
#define TYTO_CLI_SWEEP_PLAN_H

#include <stdbool.h>

#include "cli/command.h"
#include "cli/engine/engine.h"

/* The kinds of dimensions. Each occurs once, except VARY_SET: once for each value of the machine
 * that is swept. */
typedef enum Vary {
    VARY_PROGRAM,
    VARY_MACHINE,
    VARY_SET,
    VARY_SIZE,
    VARY_SEED,
    VARY_CTA_SCHEDULER,
    VARY_SCHEDULER
} Vary;

typedef struct Dimension {
    Vary vary;
    const char *name;     /* "scheduler", "l1d.size"; in tables and for --x */
    Words values;         /* at least one; "" for what the program or machine has itself */
    const char **origins; /* the text that named each value, for the place in messages */
} Dimension;

/* A combination. */
typedef struct Point {
    int *choice;     /* the index of its value in each dimension */
    int task;        /* the engine's number of its run */
    double *numbers; /* counters and ratios of the run, once they have been read from the store
                        (sweep_number); NULL: they have not; owned */
} Point;

typedef struct Sweep {
    Dimension *dimensions; /* in the order of the enum; the last varies fastest */
    int dimension_count;
    Point *points;
    int point_count; /* every point has a different run */
    Words metrics;   /* to show; the first one is plotted */
    int x;           /* dimension along the plot's axis */
    int baseline;    /* index of the value of sweep_across that is the base of speed-ups; -1: no
                        speed-ups */
    TaskForm form;   /* the settings that all runs share */
    Engine *engine;
    struct SweepPlan *plan; /* owns the texts */
} Sweep;

/* What a sweep has that neither its command line nor its file names; NULL: nothing. */
typedef struct SweepDefaults {
    const char *programs, *schedulers;
    const char *baseline; /* is added to the schedulers */
} SweepDefaults;

/* Reads the command line, and the file that it may name. NULL after messages, with file, line and
 * column if they come from the file. */
Sweep *sweep_read(const Arguments *arguments, const SweepDefaults *defaults);
/* Lists the points, and looks up which runs the store has. False after messages. */
bool sweep_plan(Sweep *sweep, Store *store);
void sweep_free(Sweep *sweep); /* NULL is allowed */

/* A point's value of a dimension, as the user wrote it. */
const char *sweep_value(const Sweep *sweep, const Point *point, int dimension);
/* A short form of a dimension's value, for labels: a machine's file without its folder and ending,
 * unless another machine would have the same label. The caller frees it. */
char *sweep_label(const Sweep *sweep, int dimension, int value);
/* Whether a dimension has more than one value. */
bool sweep_varies(const Sweep *sweep, int dimension);
/* The dimension whose values are the columns of tables. It is never the programs; -1: none varies.
 */
int sweep_across(const Sweep *sweep);
/* Rows of a table whose columns are the dimension `across`: go to the next choice, false after the
 * last; and whether a row has any run. A combination with the same run as an earlier one is only in
 * the earlier row. */
bool sweep_next_row(const Sweep *sweep, int across, int *choice);
bool sweep_has_row(const Sweep *sweep, int across, int *choice);
/* The point with these choices; NULL: none. */
const Point *sweep_find(const Sweep *sweep, const int *choice);
/* "4 programs x 5 l1d.size = 20 runs". The caller frees it. */
char *sweep_describe(const Sweep *sweep);

#endif
