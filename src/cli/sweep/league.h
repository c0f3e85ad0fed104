/* A league: the speed-up of each value of a sweep's columns over one of them, for each row, and the
 * means over the rows. */
#ifndef TYTO_CLI_SWEEP_LEAGUE_H
#define TYTO_CLI_SWEEP_LEAGUE_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/sweep/plan.h"

enum { LEAGUE_MEANS = 3 }; /* arithmetic, geometric, harmonic */
extern const char *const league_mean_names[LEAGUE_MEANS];
enum { LEAGUE_GEOMETRIC = 1 };

/* Further figures of each column, over the complete rows. */
typedef enum LeagueFigure {
    LEAGUE_LOW,     /* the geometric mean's 95% interval, from ... */
    LEAGUE_HIGH,    /* ... to, by drawing programs repeatedly */
    LEAGUE_GAIN,    /* share of rows that are at least 2% faster */
    LEAGUE_LOSS,    /* share of rows that are at least 2% slower */
    LEAGUE_WORST,   /* least speed-up */
    LEAGUE_STORAGE, /* bits that the scheduler adds to an SM; NAN: not a scheduler, or not known */
    LEAGUE_FIGURES
} LeagueFigure;
extern const char *const league_figure_names[LEAGUE_FIGURES];

typedef struct League {
    int rows, columns;           /* of the table; columns are those of sweep_across */
    char **labels;               /* of each row, the values that vary; owned, as what follows */
    int **choices;               /* of each row, the value of each dimension */
    double *speedups;            /* by row, then column; NAN: a run is missing */
    double *means[LEAGUE_MEANS]; /* of each column, over the complete rows; NAN: there are none */
    double *figures[LEAGUE_FIGURES]; /* of each column, likewise */
    double
        oracle;   /* geometric mean of the best of each complete row; NAN: there are no such rows */
    int complete; /* number of rows without a missing run */
} League;

/* The league of a sweep that has a baseline; NULL after a message when the store fails. */
League *league_new(const Sweep *sweep, Store *store);
void league_free(League *league); /* NULL is allowed */
double league_at(const League *league, int row, int column);
bool league_is_complete(const League *league, int row);
/* The columns by their geometric mean, the highest first; equal ones keep their order. The caller
 * frees it. */
int *league_rank(const League *league);
/* The geometric mean of a column over the complete rows for which `is_in` is true; *rows is their
 * number. NAN if there are none. LEAGUE_BEST: of each row's best column. */
double league_mean_of(const League *league, int column, const bool *is_in, int *rows);
enum { LEAGUE_BEST = -1 };

/* Draws bars of the speed-ups, from 0, followed by bars of their geometric means. */
bool league_plot(const Sweep *sweep, Store *store, const char *path, const Words *command);

#endif
