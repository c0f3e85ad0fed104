/* Bars (see the header). gnuplot draws boxes from corner to corner, so every bar's place is
 * computed here; the script holds numbers alone. */
#include "cli/experiment/bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/engine/gnuplot.h"

enum { LEAST_PIXELS = 640, MOST_PIXELS = 1600, PIXELS_PER_BAR = 12, CELL_BYTES = 32 };

#define BAR_SHARE  0.8  /* of a row's place, the rest being the gap to the next row */
#define FAR_BEYOND 2.0  /* times the next largest: a bar so long is cut */
#define MARGIN     1.08 /* of the longest bar, above it */
#define CUT_MARGIN 1.3  /* the same where something is written there */
#define MOST_CUT   4    /* bars that may be cut: more are no outliers */

/* What the axis goes from and to, as values are shown. */
typedef struct Range {
    double base;     /* no difference */
    double low;      /* of the axis */
    double high;     /* of the axis */
    double furthest; /* from the base, that is drawn whole */
} Range;

static const Column *column_of(const Table *table, int column) {
    return &table->experiment->columns.list[column];
}

static bool is_same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool is_drawn(const Table *table, int column) {
    const Column *first = column_of(table, 0), *of = column_of(table, column);
    return of->form == first->form && is_same(of->over, first->over) &&
           of->over_row == first->over_row;
}

static int count_drawn(const Table *table) {
    int drawn = 0;
    for (int column = 0; column < table->columns; column++)
        drawn += is_drawn(table, column);
    return drawn;
}

int bars_width(const Table *table) {
    int width = table->rows * (count_drawn(table) + 1) * PIXELS_PER_BAR;
    return width < LEAST_PIXELS ? LEAST_PIXELS : width > MOST_PIXELS ? MOST_PIXELS : width;
}

/* ---- The axis ---- */

static double base_of(const Table *table) { return column_of(table, 0)->form == FORM_RATIO; }

static int compare_lengths(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* How long the bars and marks are, in rising order; how many. */
static int list_lengths(const Table *table, double base, double *lengths) {
    int count = 0;
    for (int row = 0; row < table->rows; row++) {
        for (int column = 0; column < table->columns; column++) {
            const Cell *cell = table_cell(table, row, column);
            if (!is_drawn(table, column)) continue;
            if (!isnan(cell->value)) lengths[count++] = fabs(cell->value - base);
            if (!isnan(cell->published)) lengths[count++] = fabs(cell->published - base);
        }
    }
    qsort(lengths, (size_t)count, sizeof *lengths, compare_lengths);
    return count;
}

/* The longest that is no outlier. */
static double find_furthest(const double *lengths, int count) {
    int last = count - 1;
    for (int cut = 1; cut <= MOST_CUT && cut < count; cut++)
        if (lengths[count - cut] > FAR_BEYOND * lengths[count - cut - 1]) last = count - cut - 1;
    return last < 0 || lengths[last] <= 0 ? 1 : lengths[last];
}

static bool is_beyond(double value, const Range *range) {
    return fabs(value - range->base) > range->furthest * (1 + 1e-9); /* not for what is no number */
}

static double clamp(double value, const Range *range) {
    return fmax(range->base - range->furthest, fmin(range->base + range->furthest, value));
}

static Range find_range(const Table *table) {
    double *lengths = allocate((size_t)(2 * table->rows * table->columns), sizeof *lengths);
    Range range = {.base = base_of(table)};
    int count = list_lengths(table, range.base, lengths);
    range.furthest = find_furthest(lengths, count);
    bool is_cut = count && lengths[count - 1] > range.furthest;
    free(lengths);
    range.low = range.high = range.base;
    for (int row = 0; row < table->rows; row++) {
        for (int column = 0; column < table->columns; column++) {
            const Cell *cell = table_cell(table, row, column);
            if (!is_drawn(table, column)) continue;
            double ends[] = {cell->value, cell->published};
            for (int i = 0; i < 2; i++) { /* fmin and fmax pass over what is not a number */
                range.low = fmin(range.low, clamp(ends[i], &range));
                range.high = fmax(range.high, clamp(ends[i], &range));
            }
        }
    }
    double margin = is_cut ? CUT_MARGIN : MARGIN;
    range.low = range.base + margin * (range.low - range.base);
    range.high = range.base + margin * (range.high - range.base);
    if (range.high <= range.low) range.high = range.low + 1;
    return range;
}

/* ---- Data ---- */

/* The middle of a bar; means stand a little apart from the programs. */
static double place_of(const Table *table, int row, int column) {
    int before = 0, drawn = count_drawn(table);
    for (int i = 0; i < column; i++)
        before += is_drawn(table, i);
    double apart = row < table->experiment->programs.count ? 0 : 0.4;
    return row + apart + BAR_SHARE * ((before + 0.5) / drawn - 0.5);
}

static void write_rows(const Table *table, const Range *range, FILE *to) {
    for (int row = 0; row < table->rows; row++) {
        fprintf(to, "%.3f", row + (row < table->experiment->programs.count ? 0 : 0.4));
        gnuplot_write_label(table_row_label(table, row), to);
        for (int column = 0; column < table->columns; column++) {
            double value = table_cell(table, row, column)->value;
            if (isnan(value)) fprintf(to, "\tNaN");
            else fprintf(to, "\t%.9g", clamp(value, range));
        }
        fprintf(to, "\n");
    }
}

/* Places and heights of what was published, or where it is cut. */
static void write_marks(const Table *table, const Range *range, FILE *to) {
    for (int row = 0; row < table->rows; row++) {
        for (int column = 0; column < table->columns; column++) {
            double published = table_cell(table, row, column)->published;
            if (is_drawn(table, column) && !isnan(published))
                fprintf(to, "%.3f\t%.9g\n", place_of(table, row, column), clamp(published, range));
        }
    }
}

static void write_cut(const Table *table, int row, int column, double value, const Range *range,
                      const char *whose, FILE *to) {
    char text[CELL_BYTES];
    if (!is_beyond(value, range)) return;
    table_format(column_of(table, column)->form, value, text, sizeof text);
    fprintf(to, "%.3f\t%.9g\t%s%s\n", place_of(table, row, column), clamp(value, range), whose,
            text);
}

/* What is written where a bar or a mark is cut. */
static void write_cuts(const Table *table, const Range *range, FILE *to) {
    for (int row = 0; row < table->rows; row++) {
        for (int column = 0; column < table->columns; column++) {
            const Cell *cell = table_cell(table, row, column);
            if (!is_drawn(table, column)) continue;
            write_cut(table, row, column, cell->value, range, "", to);
            write_cut(table, row, column, cell->published, range, "paper ", to);
        }
    }
}

/* A block's first line that draws nothing keeps an empty block from being none. */
static void begin_block(FILE *to) { fprintf(to, "\n\nNaN\tNaN\tNaN\n"); }

void bars_write_data(const Table *table, FILE *to) {
    Range range = find_range(table);
    fprintf(to, "row\tlabel");
    for (int column = 0; column < table->columns; column++)
        gnuplot_write_label(column_of(table, column)->label, to);
    fprintf(to, "\n");
    write_rows(table, &range, to);
    begin_block(to);
    write_marks(table, &range, to);
    begin_block(to);
    write_cuts(table, &range, to);
}

/* ---- Script ---- */

static bool has_published(const Table *table) {
    for (int i = 0; i < table->rows * table->columns; i++)
        if (is_drawn(table, i % table->columns) && !isnan(table->cells[i].published)) return true;
    return false;
}

static bool has_cut(const Table *table, const Range *range) {
    for (int i = 0; i < table->rows * table->columns; i++) {
        const Cell *cell = &table->cells[i];
        bool is_cut = is_beyond(cell->value, range) || is_beyond(cell->published, range);
        if (is_drawn(table, i % table->columns) && is_cut) return true;
    }
    return false;
}

void bars_write_script(const Table *table, FILE *to) {
    enum { FIRST_VALUE = 3 }; /* gnuplot's number of the first column of values */
    Range range = find_range(table);
    int drawn = count_drawn(table), number = 0;
    fprintf(to,
            "set style fill solid 1 noborder\nset xtics rotate by -45 scale 0\n"
            "set xrange [-0.6:%.2f]\nset yrange [%.9g:%.9g]\n"
            "set arrow from graph 0, first %g to graph 1, first %g nohead linecolor rgb "
            "'black' linewidth 1 back\n",
            table->rows - 0.4 + (table->experiment->means.count ? 0.4 : 0), range.low, range.high,
            range.base, range.base);
    for (int column = 0; column < table->columns; column++) {
        if (!is_drawn(table, column)) continue;
        int value = column + FIRST_VALUE;
        double middle = BAR_SHARE * ((number + 0.5) / drawn - 0.5), half = 0.45 * BAR_SHARE / drawn;
        fprintf(to,
                "%sARG1 index 0 using ($1%+.4f):%d:($1%+.4f):($1%+.4f):(%g):%d with "
                "boxxyerror linetype %d title columnheader(%d)",
                number ? ", " : "plot ", middle, value, middle - half, middle + half, range.base,
                value, number + 1, value);
        number++;
    }
    fprintf(to, ", ARG1 index 0 using 1:(%g):xtic(2) with dots linecolor bgnd notitle", range.base);
    if (has_published(table))
        fprintf(to, ", ARG1 index 1 using 1:2 with points pointtype 2 pointsize 0.9 linewidth 2 "
                    "linecolor rgb 'black' title 'published'");
    if (has_cut(table, &range))
        fprintf(to, ", ARG1 index 2 using 1:2:3 with labels left rotate by 90 offset 0,0.4 font "
                    "',8' notitle");
}
