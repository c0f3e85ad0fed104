/* Tables as SVG, drawn by gnuplot: bars, lines or spans. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/engine/gnuplot.h"
#include "cli/experiment/output.h"

enum { PIXELS_PER_BAR = 14, LEAST_PIXELS = 960, HEIGHT_PIXELS = 420 };

static const Column *column_of(const Table *table, int column) {
    return &table->experiment->columns.list[column];
}

static int width_of(const Table *table) {
    bool is_bars = table->experiment->plot == PLOT_BARS;
    int bars = table->rows * (is_bars ? table->columns + 1 : 2);
    return bars * PIXELS_PER_BAR > LEAST_PIXELS ? bars * PIXELS_PER_BAR : LEAST_PIXELS;
}

/* ARG1 is the file of data, ARG2 the title. Texts mean just their letters: no markup (noenhanced),
 * no comments.
 */
static void write_settings(const Table *table, FILE *to) {
    fprintf(
        to,
        "set terminal svg size %d,%d font 'sans-serif,11' background 'white' noenhanced\n"
        "set title ARG2 noenhanced\n"
        "set grid ytics\nset key outside below noenhanced\n"
        "set datafile missing 'NaN'\nset datafile separator tab\nset datafile commentschars ''\n",
        width_of(table), HEIGHT_PIXELS);
}

/* A line of the columns' labels, then one for each row: its number, its label, the value of each
 * column. */
static void write_data(const Table *table, FILE *to) {
    fprintf(to, "row\tlabel");
    for (int column = 0; column < table->columns; column++)
        gnuplot_write_label(column_of(table, column)->label, to);
    fprintf(to, "\n");
    for (int row = 0; row < table->rows; row++) {
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

/* What stands between the graphs of a plot. */
static const char *before_graph(int number) { return number ? ", " : "plot "; }

static void write_bars(const Table *table, FILE *to) {
    fprintf(to, "set style data histograms\nset style histogram clustered gap 1\n"
                "set style fill solid 0.8 border\nset xtics rotate by -45 scale 0\n");
    for (int column = 0; column < table->columns; column++) {
        int value = column + FIRST_VALUE;
        fprintf(to, "%sARG1 using %d:xtic(2) title columnheader(%d)", before_graph(column), value,
                value);
    }
}

/* Columns of another form than the first's have the axis on the right. */
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
        i++; /* experiment_read has seen that it is there */
    return i;
}

/* Bars of the columns that say where they begin, side by side in each row's place. */
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

typedef void Writer(const Table *table, FILE *to);

static Writer *const writers[PLOT_COUNT] = {
    [PLOT_BARS] = write_bars, [PLOT_LINES] = write_lines, [PLOT_SPANS] = write_spans};

/* ---- The plot ---- */

static void make_title(const Table *table, const char *size, char *title, size_t room) {
    const Experiment *experiment = table->experiment;
    snprintf(title, room, "%s, %s: %s (machine %s, size %s)", experiment->paper, experiment->place,
             experiment->title, experiment->machine, size);
}

static void write_script(const void *context, FILE *to) {
    const Table *table = context;
    write_settings(table, to);
    writers[table->experiment->plot](table, to);
    fprintf(to, "\n");
}

static void write_rows(const void *context, FILE *to) { write_data(context, to); }

bool output_svg(const Table *table, const char *size, const char *path) {
    char title[256];
    make_title(table, size, title, sizeof title);
    return gnuplot_draw(&(Picture){path, title, "", write_script, write_rows, table});
}
