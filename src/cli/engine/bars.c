/* Draws bar charts (see the header). gnuplot draws boxes by their corners, so this file computes
 * the place of every bar; the script contains only numbers. */
#include "cli/engine/bars.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/engine/gnuplot.h"

enum {
    LEAST_PIXELS = 640,
    MOST_PIXELS = 1600,
    HEIGHT_PIXELS = 420,
    PIXELS_PER_BAR = 12,
    MOST_BAR_PIXELS = 60,
    COLOURS = 12,     /* of gnuplot_write_colours; later series are lighter and have a border */
    MOST_VALUES = 16, /* most bars that get labels, if a chart wants labels */
    CELL_BYTES = 32
};

#define BAR_SHARE      0.8  /* of a row's place; the rest is the gap to the next row */
#define MEANS_APART    0.4  /* rows between the programs and their means */
#define FAR_BEYOND     2.0  /* times the next largest value: longer bars are cut */
#define MARGIN         1.08 /* factor of the axis's end over the longest bar */
#define CUT_MARGIN     1.3  /* the same if text is written there */
#define MOST_CUT       4    /* most bars to cut: more than that are not outliers */
#define OUTLIERS_AMONG 4    /* least number of bars for each outlier */

/* The contents of a picture. */
typedef struct Drawing {
    const BarChart *chart;
    const char *path;
} Drawing;

/* The range of the axis, in the form in which values are shown. */
typedef struct Range {
    double base;     /* the value that means no difference */
    double low;      /* of the axis */
    double high;     /* of the axis */
    double furthest; /* largest distance from the base that is drawn whole */
} Range;

BarChart bars_new(int rows, int series, bool has_labels) {
    size_t count = (size_t)rows * (size_t)series;
    BarChart chart = {.rows = rows, .series = series, .first_mean = rows};
    chart.bars = allocate(count, sizeof *chart.bars);
    chart.row_labels = allocate((size_t)rows, sizeof *chart.row_labels);
    if (has_labels) chart.series_labels = allocate((size_t)series, sizeof *chart.series_labels);
    for (size_t i = 0; i < count; i++)
        chart.bars[i] = (Bar){NAN, NAN};
    return chart;
}

void bars_free(BarChart *chart) {
    free(chart->bars);
    free((void *)chart->row_labels);
    free((void *)chart->series_labels);
}

Bar *bars_at(const BarChart *chart, int row, int series) {
    return &chart->bars[row * chart->series + series];
}

static int width_of(const BarChart *chart) {
    int width = chart->rows * (chart->series + 1) * PIXELS_PER_BAR;
    return width < LEAST_PIXELS ? LEAST_PIXELS : width > MOST_PIXELS ? MOST_PIXELS : width;
}

/* ---- The axis ---- */

static int compare_lengths(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The lengths of the bars and marks, in ascending order; returns their number. */
static int list_lengths(const BarChart *chart, double *lengths) {
    int count = 0;
    for (int i = 0; i < chart->rows * chart->series; i++) {
        const Bar *bar = &chart->bars[i];
        if (!isnan(bar->value)) lengths[count++] = fabs(bar->value - chart->base);
        if (!isnan(bar->published)) lengths[count++] = fabs(bar->published - chart->base);
    }
    qsort(lengths, (size_t)count, sizeof *lengths, compare_lengths);
    return count;
}

/* The longest bar that is not an outlier; only a few bars can be outliers. */
static double find_furthest(const double *lengths, int count) {
    int last = count - 1;
    for (int cut = 1; cut <= MOST_CUT && cut * OUTLIERS_AMONG <= count; cut++)
        if (lengths[count - cut] > FAR_BEYOND * lengths[count - cut - 1]) last = count - cut - 1;
    return last < 0 || lengths[last] <= 0 ? 1 : lengths[last];
}

static bool is_beyond(double value, const Range *range) {
    return fabs(value - range->base) > range->furthest * (1 + 1e-9); /* false for NaN */
}

static double clamp(double value, const Range *range) {
    return fmax(range->base - range->furthest, fmin(range->base + range->furthest, value));
}

static Range find_range(const BarChart *chart) {
    int bars = chart->rows * chart->series;
    double *lengths = allocate((size_t)(2 * bars), sizeof *lengths);
    Range range = {.base = chart->base, .low = chart->base, .high = chart->base};
    int count = list_lengths(chart, lengths);
    range.furthest = find_furthest(lengths, count);
    if (count && chart->draws_all) range.furthest = fmax(lengths[count - 1], range.furthest);
    bool is_cut = count && lengths[count - 1] > range.furthest;
    free(lengths);
    for (int i = 0; i < bars; i++) {
        const double ends[] = {chart->bars[i].value, chart->bars[i].published};
        for (int end = 0; end < 2; end++) {
            if (isnan(ends[end])) continue;
            range.low = fmin(range.low, clamp(ends[end], &range));
            range.high = fmax(range.high, clamp(ends[end], &range));
        }
    }
    double margin = is_cut ? CUT_MARGIN : MARGIN;
    double more = (margin - 1) * (range.high - range.low);
    if (range.low < range.base) range.low -= more;
    if (range.high > range.base || chart->shows_values) range.high += more;
    if (range.low < range.base) range.low = fmin(range.low, range.base - chart->least_reach);
    if (range.high > range.base) range.high = fmax(range.high, range.base + chart->least_reach);
    if (chart->begins_at_zero) range.low = fmin(range.low, 0);
    if (range.high <= range.low) range.high = range.low + 1;
    return range;
}

/* ---- Data ---- */

/* The share of a row's place that its bars take, at most MOST_BAR_PIXELS for each bar. */
static double share_of(const BarChart *chart) {
    double most = (double)MOST_BAR_PIXELS * chart->series * chart->rows / width_of(chart);
    return fmin(BAR_SHARE, most);
}

/* The middle of a row's place; a small gap separates means from programs. */
static double middle_of(const BarChart *chart, int row) {
    return row + (row < chart->first_mean ? 0 : MEANS_APART);
}

/* The middle of a bar, relative to the middle of its row. */
static double offset_of(const BarChart *chart, int series) {
    return share_of(chart) * ((series + 0.5) / chart->series - 0.5);
}

static double place_of(const BarChart *chart, int row, int series) {
    return middle_of(chart, row) + offset_of(chart, series);
}

static void write_rows(const BarChart *chart, const Range *range, FILE *to) {
    for (int row = 0; row < chart->rows; row++) {
        fprintf(to, "%.3f", middle_of(chart, row));
        gnuplot_write_label(chart->row_labels[row], to);
        for (int series = 0; series < chart->series; series++) {
            double value = bars_at(chart, row, series)->value;
            if (isnan(value)) fprintf(to, "\tNaN");
            else fprintf(to, "\t%.9g", clamp(value, range));
        }
        fprintf(to, "\n");
    }
}

/* Places and heights of the published values, at the edge if they are cut. */
static void write_marks(const BarChart *chart, const Range *range, FILE *to) {
    for (int row = 0; row < chart->rows; row++) {
        for (int series = 0; series < chart->series; series++) {
            double published = bars_at(chart, row, series)->published;
            if (!isnan(published))
                fprintf(to, "%.3f\t%.9g\n", place_of(chart, row, series), clamp(published, range));
        }
    }
}

static bool shows_values(const BarChart *chart) {
    return chart->shows_values && chart->rows * chart->series <= MOST_VALUES;
}

/* The value of each bar, written above it; for a bar below the base, above the base. */
static void write_values(const BarChart *chart, const Range *range, FILE *to) {
    char text[CELL_BYTES];
    for (int row = 0; row < chart->rows; row++) {
        for (int series = 0; series < chart->series; series++) {
            double value = bars_at(chart, row, series)->value;
            if (isnan(value) || is_beyond(value, range)) continue;
            chart->format(chart->context, value, text, sizeof text);
            fprintf(to, "%.3f\t%.9g\t%s\n", place_of(chart, row, series), fmax(value, range->base),
                    text);
        }
    }
}

static void write_cut(const BarChart *chart, int row, int series, double value, const Range *range,
                      const char *whose, FILE *to) {
    char text[CELL_BYTES];
    if (!is_beyond(value, range)) return;
    chart->format(chart->context, value, text, sizeof text);
    fprintf(to, "%.3f\t%.9g\t%s%s\n", place_of(chart, row, series), clamp(value, range), whose,
            text);
}

/* The text where a bar or a mark is cut. */
static void write_cuts(const BarChart *chart, const Range *range, FILE *to) {
    for (int row = 0; row < chart->rows; row++) {
        for (int series = 0; series < chart->series; series++) {
            const Bar *bar = bars_at(chart, row, series);
            write_cut(chart, row, series, bar->value, range, "", to);
            write_cut(chart, row, series, bar->published, range, "paper ", to);
        }
    }
}

/* Begins a block with a line that draws nothing; without it, gnuplot would not count an empty
 * block. */
static void begin_block(FILE *to) { fprintf(to, "\n\nNaN\tNaN\tNaN\n"); }

static void write_data(const void *context, FILE *to) {
    const BarChart *chart = ((const Drawing *)context)->chart;
    Range range = find_range(chart);
    fprintf(to, "row\tlabel");
    for (int series = 0; series < chart->series; series++)
        gnuplot_write_label(chart->series_labels ? chart->series_labels[series] : "", to);
    fprintf(to, "\n");
    write_rows(chart, &range, to);
    begin_block(to);
    write_marks(chart, &range, to);
    begin_block(to);
    write_cuts(chart, &range, to);
    begin_block(to);
    if (shows_values(chart)) write_values(chart, &range, to);
}

/* ---- Script ---- */

static bool has_published(const BarChart *chart) {
    for (int i = 0; i < chart->rows * chart->series; i++)
        if (!isnan(chart->bars[i].published)) return true;
    return false;
}

static bool has_cut(const BarChart *chart, const Range *range) {
    for (int i = 0; i < chart->rows * chart->series; i++)
        if (is_beyond(chart->bars[i].value, range) || is_beyond(chart->bars[i].published, range))
            return true;
    return false;
}

static void write_series(const BarChart *chart, int series, double base, FILE *to) {
    enum { FIRST_VALUE = 3 }; /* gnuplot's number of the first column of values */
    int value = series + FIRST_VALUE;
    double middle = offset_of(chart, series), half = 0.45 * share_of(chart) / chart->series;
    fprintf(to,
            "%sARG1 index 0 using ($1%+.4f):%d:($1%+.4f):($1%+.4f):(%g):%d with boxxyerror "
            "linetype %d ",
            series ? ", " : "plot ", middle, value, middle - half, middle + half, base, value,
            series + 1);
    int round = series / COLOURS;
    if (round) fprintf(to, "fillstyle solid %g border linetype %d ", 0.6 / (1 + round), series + 1);
    if (chart->series_labels) fprintf(to, "title columnheader(%d)", value);
    else fprintf(to, "notitle");
}

static void write_script(const void *context, FILE *to) {
    const Drawing *drawing = context;
    const BarChart *chart = drawing->chart;
    Range range = find_range(chart);
    gnuplot_write_settings(drawing->path, width_of(chart), HEIGHT_PIXELS, to);
    fprintf(to,
            "set style fill solid 1 noborder\nset xtics rotate by 45 right scale 0\n"
            "set xrange [-0.6:%.2f]\nset yrange [%.9g:%.9g]\n"
            "set arrow from graph 0, first %g to graph 1, first %g nohead linecolor rgb "
            "'black' linewidth 1 back\n",
            middle_of(chart, chart->rows - 1) + 0.6, range.low, range.high, range.base, range.base);
    for (int series = 0; series < chart->series; series++)
        write_series(chart, series, chart->begins_at_zero ? 0 : range.base, to);
    fprintf(to, ", ARG1 index 0 using 1:(%g):xtic(2) with dots linecolor bgnd notitle", range.base);
    if (has_published(chart))
        fprintf(to, ", ARG1 index 1 using 1:2 with points pointtype 2 pointsize 0.9 linewidth 2 "
                    "linecolor rgb 'black' title 'published'");
    if (has_cut(chart, &range))
        fprintf(to, ", ARG1 index 2 using 1:2:3 with labels left rotate by 90 offset 0,0.4 font "
                    "',8' notitle");
    if (shows_values(chart))
        fprintf(to, ", ARG1 index 3 using 1:2:3 with labels center offset 0,0.6 notitle");
    fprintf(to, "\n");
}

bool bars_draw(const BarChart *chart, const char *path, const Words *command, const char *title,
               const char *axis) {
    Drawing drawing = {chart, path};
    return gnuplot_draw(&(Picture){path, command, title, axis, write_script, write_data, &drawing});
}
