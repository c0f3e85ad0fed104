/* Draws tables as SVG or PDF with gnuplot: bars, lines or spans. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/engine/bars.h"
#include "cli/engine/gnuplot.h"
#include "cli/experiment/output.h"

enum { PIXELS_PER_BAR = 14, LEAST_PIXELS = 960, HEIGHT_PIXELS = 420 };

static const Column *column_of(const Table *table, int column) {
    return &table->experiment->columns.list[column];
}

static int width_of(const Table *table) {
    int bars = table->rows * 2;
    return bars * PIXELS_PER_BAR > LEAST_PIXELS ? bars * PIXELS_PER_BAR : LEAST_PIXELS;
}

/* The contents of a picture. */
typedef struct Drawing {
    const Table *table;
    const char *path;
} Drawing;

static void write_settings(const Drawing *drawing, FILE *to) {
    gnuplot_write_settings(drawing->path, width_of(drawing->table), HEIGHT_PIXELS, to);
}

/* Writes a line of the columns' labels, then a line for each row: its number, its label, and the
 * value of each column. */
static void write_data(const Table *table, FILE *to) {
    fprintf(to, "row\tlabel");
    for (int column = 0; column < table->columns; column++)
        gnuplot_write_label(column_of(table, column)->label, to);
    fprintf(to, "\n");
    for (int row = 0; row < table->rows; row++) {
        if (table_is_count(table, row)) continue;
        fprintf(to, "%d", row);
        gnuplot_write_label(table_row_label(table, row), to);
        for (int column = 0; column < table->columns; column++) {
            double value = table_cell(table, row, column)->value;
            if (isnan(value)) fprintf(to, "\tNaN");
            else fprintf(to, "\t%.9g", value);
        }
        fprintf(to, "\n");
    }
}

enum { FIRST_VALUE = 3 }; /* gnuplot's number of the first column of values */

/* The text between the graphs of a plot. */
static const char *before_graph(int number) { return number ? ", " : "plot "; }

/* Columns with a form other than the first's use the axis on the right. */
static void write_lines(const Table *table, FILE *to) {
    Form left = column_of(table, 0)->form;
    for (int column = 1; column < table->columns; column++) {
        if (column_of(table, column)->form == left) continue;
        fprintf(to, "set ytics nomirror\nset y2tics\n");
        break;
    }
    for (int column = 0; column < table->columns; column++) {
        bool is_right = column_of(table, column)->form != left;
        int value = column + FIRST_VALUE, axis = is_right ? 2 : 1;
        fprintf(to,
                "%sARG1 using 1:%d:xtic(2) axes x1y%d with linespoints dashtype %d title "
                "columnheader(%d)",
                before_graph(column), value, axis, axis, value);
    }
}

static int find_column(const Table *table, const char *label) {
    int i = 0;
    while (strcmp(column_of(table, i)->label, label) != 0)
        i++; /* experiment_read has checked that it exists */
    return i;
}

/* Writes the bars of the columns that have a `from`, side by side in each row's place. */
static void write_spans(const Table *table, FILE *to) {
    int count = 0, number = 0;
    for (int column = 0; column < table->columns; column++)
        count += column_of(table, column)->from != NULL;
    fprintf(to, "set style fill solid 0.8 border\n");
    for (int column = 0; column < table->columns; column++) {
        const Column *of = column_of(table, column);
        if (!of->from) continue;
        double place = (number + 0.5) / count - 0.5, half = 0.4 / count;
        int from = find_column(table, of->from) + FIRST_VALUE, until = column + FIRST_VALUE;
        fprintf(to,
                "%sARG1 using ($1%+.3f):%d:($1%+.3f):($1%+.3f):%d:%d with boxxyerror title "
                "columnheader(%d)",
                before_graph(number++), place, from, place - half, place + half, from, until,
                until);
    }
    fprintf(to, "%sARG1 using 1:(0):xtic(2) with dots linecolor bgnd notitle",
            before_graph(number)); /* the rows' labels */
}

static bool is_same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* Whether a figure shows a column: it must have the first column's form and divisor setup. The
 * others serve a claim, and could make the bars too small. */
static bool is_drawn(const Table *table, int column) {
    const Column *first = column_of(table, 0), *of = column_of(table, column);
    return of->form == first->form && is_same(of->over, first->over) &&
           of->over_row == first->over_row;
}

typedef void Writer(const Table *table, FILE *to);

static Writer *const writers[PLOT_COUNT] = {[PLOT_LINES] = write_lines, [PLOT_SPANS] = write_spans};

/* ---- The plot ---- */

static void make_title(const Table *table, const char *size, char *title, size_t room) {
    const Experiment *experiment = table->experiment;
    bool is_paper = !experiment->published.count || strcmp(size, "paper") == 0;
    snprintf(title, room, "%s, %s: %s\nmachine %s, size %s%s", experiment->paper, experiment->place,
             experiment->title, experiment->machine, size,
             is_paper ? "" : "; published numbers are of size paper");
}

static void add_words(const Words *words, FILE *to) {
    for (int i = 0; i < words->count; i++)
        fprintf(to, "%s%s", i ? " + " : "", words->list[i]);
}

/* The label of the axis: the first column's metric, if all drawn columns have it, and its unit. */
static void write_axis(const Table *table, FILE *to) {
    static const char *const units[FORM_COUNT] = {[FORM_PERCENT] = " (%)",
                                                  [FORM_CHANGE] = ", change (%)",
                                                  [FORM_DECREASE] = ", decrease (%)",
                                                  [FORM_PER_THOUSAND] = " (per thousand)"};
    const Column *first = column_of(table, 0);
    bool is_metric = true;
    for (int column = 1; column < table->columns; column++) {
        const Column *of = column_of(table, column);
        bool is_there = table->experiment->plot == PLOT_BARS ? is_drawn(table, column)
                                                             : of->form == first->form;
        is_metric &= !is_there || strcmp(of->metric.list[0], first->metric.list[0]) == 0;
    }
    int counter = tyto_find_counter(first->metric.list[0]);
    if (!is_metric) fprintf(to, "share");
    else add_words(&first->metric, to);
    if (is_metric && first->per.count == 1) fprintf(to, " per %s", first->per.list[0]);
    if (first->over) fprintf(to, " over %s", first->over);
    if (units[first->form]) fputs(units[first->form], to);
    else if (first->form == FORM_NUMBER && is_metric && counter >= 0 && !first->per.count)
        fprintf(to, " (%s)", tyto_counter(counter)->unit);
}

static void make_axis(const Table *table, char *text, size_t room) {
    FILE *to = fmemopen(text, room, "w");
    text[0] = 0;
    if (!to) return;
    if (table->experiment->plot != PLOT_SPANS) write_axis(table, to);
    fclose(to);
    text[room - 1] = 0;
}

static void write_script(const void *context, FILE *to) {
    const Drawing *drawing = context;
    write_settings(drawing, to);
    writers[drawing->table->experiment->plot](drawing->table, to);
    fprintf(to, "\n");
}

static void write_rows(const void *context, FILE *to) {
    write_data(((const Drawing *)context)->table, to);
}

/* ---- Bars ---- */

static void format_value(const void *context, double value, char *text, int size_bytes) {
    const Table *table = context;
    table_format(column_of(table, 0)->form, value, text, size_bytes);
}

static bool draw_bars(const Table *table, const char *path, const Words *command, const char *title,
                      const char *axis) {
    int drawn = 0, series = 0, rows = 0;
    for (int column = 0; column < table->columns; column++)
        drawn += is_drawn(table, column);
    for (int row = 0; row < table->rows; row++)
        rows += !table_is_count(table, row);
    BarChart chart = bars_new(rows, drawn, true);
    chart.first_mean = table->experiment->programs.count;
    chart.base = column_of(table, 0)->form == FORM_RATIO;
    chart.format = format_value;
    chart.context = table;
    for (int row = 0, at = 0; row < table->rows; row++)
        if (!table_is_count(table, row)) chart.row_labels[at++] = table_row_label(table, row);
    for (int column = 0; column < table->columns; column++) {
        if (!is_drawn(table, column)) continue;
        chart.series_labels[series] = column_of(table, column)->label;
        for (int row = 0, at = 0; row < table->rows; row++) {
            const Cell *cell = table_cell(table, row, column);
            if (table_is_count(table, row)) continue;
            *bars_at(&chart, at++, series) = (Bar){cell->value, cell->published};
        }
        series++;
    }
    bool is_done = bars_draw(&chart, path, command, title, axis);
    bars_free(&chart);
    return is_done;
}

bool output_plot(const Table *table, const char *size, const char *path, const Words *command) {
    char title[320], axis[256];
    Drawing drawing = {table, path};
    make_title(table, size, title, sizeof title);
    make_axis(table, axis, sizeof axis);
    if (table->experiment->plot == PLOT_BARS) return draw_bars(table, path, command, title, axis);
    return gnuplot_draw(&(Picture){path, command, title, axis, write_script, write_rows, &drawing});
}
