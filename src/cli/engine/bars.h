/* Bar charts in the style of a paper: a group for each row, a bar for each series. Bars begin at
 * the value that means no difference, and marks next to our bars show the published values. A bar
 * far longer than the others is cut at the edge, where its value is written. */
#ifndef TYTO_CLI_ENGINE_BARS_H
#define TYTO_CLI_ENGINE_BARS_H

#include <stdbool.h>

#include "cli/engine/words.h"

typedef struct Bar {
    double value, published; /* NAN: none */
} Bar;

/* Writes the value of a bar that is cut. */
typedef void BarFormat(const void *context, double value, char *text, int size_bytes);

typedef struct BarChart {
    int rows, series;
    int first_mean;      /* a small gap precedes this row; `rows`: no gap */
    bool draws_all;      /* no bar is an outlier */
    bool shows_values;   /* above the bars, if there are few */
    double base;         /* the value that means no difference: 0 or 1 */
    bool begins_at_zero; /* bars are drawn from 0, whatever the base */
    double least_reach;  /* least length of the axis from the base, so that small differences look
                            small */
    Bar *bars;           /* by row, then series */
    const char **row_labels;    /* borrowed texts */
    const char **series_labels; /* likewise; NULL: one series, which the axis names */
    BarFormat *format;          /* of values ... */
    const void *context;        /* ... given to it */
} BarChart;

/* A chart with its arrays, whose bars are all NAN; series have labels only if `has_labels`. */
BarChart bars_new(int rows, int series, bool has_labels);
void bars_free(BarChart *chart);
Bar *bars_at(const BarChart *chart, int row, int series);

/* Draws the chart as PDF if the path ends in .pdf, else as SVG. `command` is the command line that
 * draws it, `axis` the label of the values. False after a message. */
bool bars_draw(const BarChart *chart, const char *path, const Words *command, const char *title,
               const char *axis);

#endif
