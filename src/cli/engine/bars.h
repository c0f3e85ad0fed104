/* Bars as a paper prints them: a group for each row, a bar for each series. Bars begin at the value
 * that means no difference, and marks next to our bars show the published values. A value far
 * beyond the others is cut at the edge, which shows it as a number. */
#ifndef TYTO_CLI_ENGINE_BARS_H
#define TYTO_CLI_ENGINE_BARS_H

#include <stdbool.h>

#include "cli/engine/words.h"

typedef struct Bar {
    double value, published; /* NAN: none */
} Bar;

/* How a value is written where its bar is cut. */
typedef void BarFormat(const void *context, double value, char *text, int size_bytes);

typedef struct BarChart {
    int rows, series;
    int first_mean;             /* rows from here on stand a little apart; `rows`: none */
    bool draws_all;             /* a bar beyond the others is no outlier */
    bool shows_values;          /* above the bars, while they are few */
    double base;                /* what means no difference: 0 or 1 */
    bool begins_at_zero;        /* bars are drawn from 0, whatever the base */
    double least_reach;         /* of the axis from there, so that little looks little */
    Bar *bars;                  /* by row, then series */
    const char **row_labels;    /* borrowed texts */
    const char **series_labels; /* likewise; NULL: one series, which the axis tells */
    BarFormat *format;          /* of values ... */
    const void *context;        /* ... given to it */
} BarChart;

/* The arrays of a chart, whose bars are all NAN; named series only if `has_labels`. */
BarChart bars_new(int rows, int series, bool has_labels);
void bars_free(BarChart *chart);
Bar *bars_at(const BarChart *chart, int row, int series);

/* Draws it as SVG, or PDF where the path ends so; `command` is what draws it, `axis` what the
 * values are. False after a message. */
bool bars_draw(const BarChart *chart, const char *path, const Words *command, const char *title,
               const char *axis);

#endif
