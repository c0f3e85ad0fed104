/* Tables as SVG, drawn by gnuplot: bars, lines or spans.
 *
 * Nothing of an experiment's file is part of the script, which could run commands: labels stand in
 * a file of data, the title is an argument, and of the script only numbers vary. gnuplot writes to
 * a pipe; the file is ours to write. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/experiment/output.h"
#include "cli/files.h"
#include "cli/program.h"

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

/* A label between tabs. Quotes would group letters, so they become others that look like them. */
static void write_label(const char *text, FILE *to) {
    fputc('\t', to);
    for (; *text; text++) {
        if (*text == '"') fputs("\u201d", to);
        else fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
}

/* A line of the columns' labels, then one for each row: its number, its label, the value of each
 * column. */
static void write_data(const Table *table, FILE *to) {
    fprintf(to, "row\tlabel");
    for (int column = 0; column < table->columns; column++)
        write_label(column_of(table, column)->label, to);
    fprintf(to, "\n");
    for (int row = 0; row < table->rows; row++) {
        fprintf(to, "%d", row);
        write_label(table_row_label(table, row), to);
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

/* ---- gnuplot ---- */

/* A file in memory, which a program finds at `path`. NULL after a message. */
static FILE *open_memory(const char *name, char path[32]) {
    int descriptor = memfd_create(name, 0);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!file) say_error("cannot make a file in memory: %s", strerror(errno));
    snprintf(path, 32, "/dev/fd/%d", descriptor);
    return file;
}

/* All that a program writes to the pipe, in *length bytes that the caller frees. */
static char *read_pipe(int descriptor, size_t *length) {
    char *bytes = NULL, chunk[1 << 14];
    FILE *all = open_memstream(&bytes, length);
    ssize_t count;
    while (all &&
           ((count = read(descriptor, chunk, sizeof chunk)) > 0 || (count < 0 && errno == EINTR)))
        if (count > 0) fwrite(chunk, 1, (size_t)count, all);
    if (all) fclose(all);
    return bytes;
}

/* In the new process. The user's own start file (-d) must not change a figure. */
static void become_gnuplot(int output, const char *script, const char *data, const char *title) {
    if (dup2(output, STDOUT_FILENO) < 0) _exit(EXIT_FAILED);
    execlp("gnuplot", "gnuplot", "-d", "-c", script, data, title, (char *)NULL);
    _exit(EXIT_FAILED);
}

/* What gnuplot draws; NULL after a message. */
static char *draw(const char *script, const char *data, const char *title, const char *path,
                  size_t *length) {
    int ends[2], status = -1;
    if (pipe(ends) != 0) {
        say_error("cannot start gnuplot: %s", strerror(errno));
        return NULL;
    }
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) become_gnuplot(ends[1], script, data, title);
    close(ends[1]);
    char *picture = read_pipe(ends[0], length);
    close(ends[0]);
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    if (picture && status == 0) return picture;
    say_error("gnuplot could not draw %s", path);
    free(picture);
    return NULL;
}

static void make_title(const Table *table, const char *size, char *title, size_t room) {
    const Experiment *experiment = table->experiment;
    snprintf(title, room, "%s, %s: %s (machine %s, size %s)", experiment->paper, experiment->place,
             experiment->title, experiment->machine, size);
}

bool output_svg(const Table *table, const char *size, const char *path) {
    char script_path[32], data_path[32], title[256], *picture = NULL;
    size_t length;
    if (!program_exists("gnuplot")) {
        fprintf(stderr, "tyto: no plot: gnuplot is not installed (Debian's package gnuplot-nox)\n");
        return true;
    }
    FILE *script = open_memory("script", script_path);
    FILE *data = script ? open_memory("data", data_path) : NULL;
    if (data) {
        write_settings(table, script);
        writers[table->experiment->plot](table, script);
        fprintf(script, "\n");
        write_data(table, data);
        make_title(table, size, title, sizeof title);
        if (fflush(script) || fflush(data))
            say_error("cannot make a file in memory: %s", strerror(errno));
        else picture = draw(script_path, data_path, title, path, &length);
    }
    if (data) fclose(data);
    if (script) fclose(script);
    bool is_written = picture && file_write(path, picture, length);
    free(picture);
    return is_written;
}
