/* Tables as SVG: gnuplot draws bars, a group for each row and a bar for each column. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/experiment/output.h"

enum { PIXELS_PER_BAR = 14, LEAST_PIXELS = 640, HEIGHT_PIXELS = 420 };

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

static void write_settings(const Table *table, const char *size, const char *path, FILE *to) {
    const Experiment *experiment = table->experiment;
    char title[256];
    int width = table->rows * (table->columns + 1) * PIXELS_PER_BAR;
    snprintf(title, sizeof title, "%s, %s: %s (machine %s, size %s)", experiment->paper,
             experiment->place, experiment->title, experiment->machine, size);
    fprintf(to, "set terminal svg size %d,%d font 'sans-serif,11' background 'white' noenhanced\n",
            width > LEAST_PIXELS ? width : LEAST_PIXELS, HEIGHT_PIXELS);
    fprintf(to, "set output ");
    write_string(path, to);
    fprintf(to, "\nset title ");
    write_string(title, to);
    fprintf(to, "\nset style data histograms\nset style histogram clustered gap 1\n"
                "set style fill solid 0.8 border\nset xtics rotate by -45 scale 0\n"
                "set grid ytics\nset key outside below\nset datafile missing 'NaN'\n");
}

static void write_data(const Table *table, FILE *to) {
    fprintf(to, "$table << EOD\n");
    for (int row = 0; row < table->rows; row++) {
        fprintf(to, "\"%s\"", table_row_label(table, row));
        for (int column = 0; column < table->columns; column++) {
            double value = table_cell(table, row, column)->value;
            if (isnan(value)) fprintf(to, " NaN");
            else fprintf(to, " %.9g", value);
        }
        fprintf(to, "\n");
    }
    fprintf(to, "EOD\nplot ");
    for (int column = 0; column < table->columns; column++) {
        fprintf(to, "%s$table using %d:xtic(1) title ", column ? ", " : "", column + 2);
        write_string(table->experiment->columns.list[column].label, to);
    }
    fprintf(to, "\n");
}

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
    int status = pclose(gnuplot);
    signal(SIGPIPE, before);
    if (status != 0) say_error("gnuplot could not write %s", path);
    return status == 0;
}
