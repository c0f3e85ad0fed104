/* A sweep: every combination of programs, machines, values of the machine, schedulers, sizes and
 * seeds, as a file or the command line names them. docs/sweep.md describes both. */
#ifndef TYTO_CLI_SWEEP_PLAN_H
#define TYTO_CLI_SWEEP_PLAN_H

#include <stdbool.h>

#include "cli/command.h"
#include "cli/engine/engine.h"

/* What can vary; those that are there once, and then the values of the machine. */
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
    const char **origins; /* of each value, the text that named it: the place for messages */
} Dimension;

/* A combination. */
typedef struct Point {
    int *choice; /* of each dimension, which value */
    int task;    /* the engine's number */
} Point;

typedef struct Sweep {
    Dimension *dimensions; /* in the order of the enum; the last varies fastest */
    int dimension_count;
    Point *points;
    int point_count; /* no two of the same run */
    Words metrics;   /* to be shown, the first one to be plotted */
    int x;           /* dimension along the plot's axis */
    int baseline;    /* the value of sweep_across over which speed-ups are; -1: none is asked for */
    TaskForm form;   /* what all runs have in common */
    Engine *engine;
    struct SweepPlan *plan; /* what owns the texts */
} Sweep;

/* Reads the command line, and the file it may name. NULL after messages, with file, line and column
 * where there are some. */
Sweep *sweep_read(const Arguments *arguments);
/* Lists the points, and looks up which are there. False after messages. */
bool sweep_plan(Sweep *sweep, Store *store);
void sweep_free(Sweep *sweep); /* NULL is allowed */

/* A point's value of a dimension, as it was given. */
const char *sweep_value(const Sweep *sweep, const Point *point, int dimension);
/* Whether a dimension has more than one value. */
bool sweep_varies(const Sweep *sweep, int dimension);
/* The dimension whose values are the columns of tables, never the programs; -1: none varies. */
int sweep_across(const Sweep *sweep);
/* Rows of a table whose columns are the dimension `across`: the next choice, false after the last;
 * and whether it has any run, as combinations that are another's are in that one's row. */
bool sweep_next_row(const Sweep *sweep, int across, int *choice);
bool sweep_has_row(const Sweep *sweep, int across, int *choice);
/* The point with these choices; NULL: none. */
const Point *sweep_find(const Sweep *sweep, const int *choice);
/* "4 programs x 5 l1d.size = 20 runs". The caller frees it. */
char *sweep_describe(const Sweep *sweep);

#endif
