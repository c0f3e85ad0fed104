/* Tables as SVG, drawn by gnuplot: bars, lines or spans. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/experiment/output.h"

enum { PIXELS_PER_BAR = 14, LEAST_PIXELS = 960, HEIGHT_PIXELS = 420 };

/* Whether a command is on the PATH. */
static bool is_installed(const char *name) {
    char command[64];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

/* A string of gnuplot's, in single quotes. */
static void write_string(const char *text, FILE *to) {
    fputc('\'', to);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', to);
        fputc(*text, to);
    }
    fputc('\'', to);
}

static const Column *column_of(const Table *table, int column) {
    return &table->experiment->columns.list[column];
}

static int width_of(const Table *table) {
    bool is_bars = table->experiment->plot == PLOT_BARS;
    int bars = table->rows * (is_bars ? table->columns + 1 : 2);
    return bars * PIXELS_PER_BAR > LEAST_PIXELS ? bars * PIXELS_PER_BAR : LEAST_PIXELS;
}

static void write_settings(const Table *table, const char *size, const char *path, FILE *to) {
    const Experiment *experiment = table->experiment;
    char title[256];
    snprintf(title, sizeof title, "%s, %s: %s (machine %s, size %s)", experiment->paper,
             experiment->place, experiment->title, experiment->machine, size);
    fprintf(to, "set terminal svg size %d,%d font 'sans-serif,11' background 'white' noenhanced\n",
            width_of(table), HEIGHT_PIXELS);
    fprintf(to, "set output ");
    write_string(path, to);
    fprintf(to, "\nset title ");
    write_string(title, to);
    fprintf(to, "\nset grid ytics\nset key outside below\nset datafile missing 'NaN'\n");
}

/* A line for each row: its number, its label, the value of each column. */
static void write_data(const Table *table, FILE *to) {
    fprintf(to, "$table << EOD\n");
    for (int row = 0; row < table->rows; row++) {
        fprintf(to, "%d \"%s\"", row, table_row_label(table, row));
        for (int column = 0; column < table->columns; column++) {
            double value = table_cell(table, row, column)->value;
            if (isnan(value)) fprintf(to, " NaN");
            else fprintf(to, " %.9g", value);
        }
        fprintf(to, "\n");
    }
    fprintf(to, "EOD\n");
}

enum { FIRST_VALUE = 3 }; /* gnuplot's number of the first column of values */

/* What stands between the graphs of a plot. */
static const char *before_graph(int number) { return number ? ", " : "plot "; }

static void write_bars(const Table *table, FILE *to) {
    fprintf(to, "set style data histograms\nset style histogram clustered gap 1\n"
                "set style fill solid 0.8 border\nset xtics rotate by -45 scale 0\n");
    for (int column = 0; column < table->columns; column++) {
        fprintf(to, "%s$table using %d:xtic(2) title ", before_graph(column), column + FIRST_VALUE);
        write_string(column_of(table, column)->label, to);
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
        fprintf(to, "%s$table using 1:%d:xtic(2) axes x1y%d with linespoints dashtype %d title ",
                before_graph(column), column + FIRST_VALUE, is_right ? 2 : 1, is_right ? 2 : 1);
        write_string(column_of(table, column)->label, to);
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
        fprintf(to, "%s$table using ($1%+.3f):%d:($1%+.3f):($1%+.3f):%d:%d with boxxyerror title ",
                before_graph(number++), place, from, place - half, place + half, from, until);
        write_string(of->label, to);
    }
    fprintf(to, "%s$table using 1:(0):xtic(2) with dots linecolor bgnd notitle",
            before_graph(number)); /* the rows' labels */
}

typedef void Writer(const Table *table, FILE *to);

static Writer *const writers[PLOT_COUNT] = {
    [PLOT_BARS] = write_bars, [PLOT_LINES] = write_lines, [PLOT_SPANS] = write_spans};

bool output_svg(const Table *table, const char *size, const char *path) {
    if (!is_installed("gnuplot")) {
        fprintf(stderr, "tyto: no plot: gnuplot is not installed (Debian's package gnuplot-nox)\n");
        return true;
    }
    FILE *gnuplot = popen("gnuplot", "w");
    if (!gnuplot) {
        say_error("cannot start gnuplot: %s", strerror(errno));
        return false;
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* its status tells of its end */
    write_settings(table, size, path, gnuplot);
    write_data(table, gnuplot);
    writers[table->experiment->plot](table, gnuplot);
    fprintf(gnuplot, "\n");
    int status = pclose(gnuplot);
    signal(SIGPIPE, before);
    if (status != 0) say_error("gnuplot could not write %s", path);
    return status == 0;
}
