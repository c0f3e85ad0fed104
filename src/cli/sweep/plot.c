/* Plots a sweep's first metric along one dimension: a graph for each program, and a line for each
 * combination of the other dimensions. If the dimension is not numeric, it draws points without
 * lines, because there is nothing between its values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/engine/gnuplot.h"
#include "cli/sweep/league.h"
#include "cli/sweep/output.h"

enum {
    PANEL_WIDTH = 330, /* pixels */
    PANEL_HEIGHT = 250,
    KEY_HEIGHT = 26, /* of each line of the key */
    KEY_COLUMNS = 4,
    MOST_PANELS = 64,
    MOST_LINES = 24,
    MOST_ROWS = 200, /* of bars */
    FIRST_LINE = 3   /* gnuplot's number of the first column of values */
};

typedef struct Chart {
    const Sweep *sweep;
    Store *store;
    const char *path;
    int panels;     /* values of the first dimension, or 1 if that is the axis */
    int lines;      /* combinations of the dimensions other than axis and panel */
    int columns;    /* of panels */
    bool is_number; /* the axis shows numbers */
    bool is_log;    /* the axis is logarithmic */
    bool is_failed; /* the store has failed */
} Chart;

/* ---- Places ---- */

static bool is_line(const Chart *chart, int dimension) {
    return dimension != chart->sweep->x && dimension != 0;
}

/* The choice of the line-th combination in a panel. */
static void choose(const Chart *chart, int panel, int line, int *choice) {
    const Sweep *sweep = chart->sweep;
    choice[0] = panel;
    for (int i = sweep->dimension_count - 1; i > 0; i--) {
        if (!is_line(chart, i)) continue;
        choice[i] = line % sweep->dimensions[i].values.count;
        line /= sweep->dimensions[i].values.count;
    }
}

/* The place of a value along the axis: its numeric value if all are sizes or numbers, else its
 * index. */
static bool read_places(const Words *values, double *places) {
    bool is_number = true;
    for (int i = 0; i < values->count; i++) {
        uint64_t bytes = 0;
        char *end;
        places[i] = strtod(values->list[i], &end);
        if (end == values->list[i] || *end) {
            is_number &= tyto_read_size(values->list[i], &bytes);
            places[i] = (double)bytes;
        }
    }
    for (int i = 0; !is_number && i < values->count; i++)
        places[i] = i;
    return is_number;
}

/* Whether the distance between places grows with their size, as for the sizes of caches. */
static bool is_geometric(const double *places, int count) {
    bool is_so = count > 2;
    for (int i = 0; i < count; i++)
        is_so &= places[i] > 0 && (i == 0 || places[i] >= 1.5 * places[i - 1]);
    return is_so;
}

/* ---- Data ---- */

/* The name of a line: its values of the dimensions that vary. */
static void write_line_name(const Chart *chart, int line, FILE *to) {
    const Sweep *sweep = chart->sweep;
    int *choice = allocate((size_t)sweep->dimension_count, sizeof *choice);
    char *name = NULL;
    size_t length;
    FILE *text = open_memstream(&name, &length);
    choose(chart, 0, line, choice);
    for (int i = 1; text && i < sweep->dimension_count; i++) {
        const Dimension *dimension = &sweep->dimensions[i];
        if (!is_line(chart, i) || !sweep_varies(sweep, i)) continue;
        const char *value = dimension->values.list[choice[i]];
        fprintf(text, "%s%s%s%s", ftell(text) ? ", " : "",
                dimension->vary == VARY_SET ? dimension->name : "",
                dimension->vary == VARY_SET ? "=" : "", *value ? value : "machine's own");
    }
    if (text) fclose(text);
    gnuplot_write_label(name && *name ? name : sweep->metrics.list[0], to);
    free(name);
    free(choice);
}

/* Writes a block for each panel: a line of names, then a line for each place with the place, its
 * label, and the value of each line. */
static void write_data(const void *context, FILE *to) {
    Chart *chart = (Chart *)(uintptr_t)context;
    const Sweep *sweep = chart->sweep;
    const Words *values = &sweep->dimensions[sweep->x].values;
    int *choice = allocate((size_t)sweep->dimension_count, sizeof *choice);
    double *places = allocate((size_t)values->count, sizeof *places);
    read_places(values, places);
    for (int panel = 0; panel < chart->panels; panel++) {
        fprintf(to, "%splace\tlabel", panel ? "\n\n" : "");
        for (int line = 0; line < chart->lines; line++)
            write_line_name(chart, line, to);
        fprintf(to, "\n");
        for (int x = 0; x < values->count; x++) {
            fprintf(to, "%.17g", places[x]);
            gnuplot_write_label(*values->list[x] ? values->list[x] : "machine's own", to);
            for (int line = 0; line < chart->lines; line++) {
                double number = NAN;
                choose(chart, panel, line, choice);
                choice[sweep->x] = x;
                const Point *point = sweep_find(sweep, choice);
                if (point &&
                    !sweep_number(sweep, chart->store, point, sweep->metrics.list[0], &number))
                    chart->is_failed = true;
                if (isnan(number)) fprintf(to, "\tNaN");
                else fprintf(to, "\t%.9g", number);
            }
            fprintf(to, "\n");
        }
    }
    free(places);
    free(choice);
}

/* ---- Script ---- */

static int key_rows(const Chart *chart) { return (chart->lines + KEY_COLUMNS - 1) / KEY_COLUMNS; }

/* ARG1 is the file of data, ARG2 the title, ARG3 the words of make_names. */
static void write_script(const void *context, FILE *to) {
    const Chart *chart = context;
    int rows = (chart->panels + chart->columns - 1) / chart->columns;
    int key_height = 20 + KEY_HEIGHT * key_rows(chart), title_height = 40;
    int width = PANEL_WIDTH * chart->columns + 40;
    int height = PANEL_HEIGHT * rows + key_height + title_height;
    gnuplot_write_terminal(chart->path, width, height, to);
    gnuplot_write_colours(to);
    fprintf(to,
            "set multiplot layout %d,%d title ARG2 noenhanced margins %.3f,%.3f,%.3f,%.3f "
            "spacing %.3f,%.3f\n",
            rows, chart->columns, 60.0 / width, 1 - 20.0 / width, (key_height + 46.0) / height,
            1 - (title_height + 20.0) / height, 60.0 / width, 66.0 / height);
    fprintf(to, "set grid ytics linecolor rgb '#dddddd' linetype 1 linewidth 0.5\nset border 3\n"
                "set tics nomirror\nset yrange [0:*]\nset offsets graph 0.06, graph 0.06, 0, 0\n"
                "set xlabel word(ARG3, 1) noenhanced\n");
    if (chart->is_log) fprintf(to, "set logscale x 2\n");
    for (int panel = 0; panel < chart->panels; panel++) {
        fprintf(to, "set title word(ARG3, %d) noenhanced\n", panel + 3);
        fprintf(to, panel % chart->columns ? "unset ylabel\n"
                                           : "set ylabel word(ARG3, 2) noenhanced\n");
        if (panel == 0 && chart->lines > 1)
            fprintf(to,
                    "set key at screen 0.5,%.4f center bottom horizontal noenhanced maxcols %d\n",
                    8.0 / height, KEY_COLUMNS);
        else fprintf(to, "unset key\n");
        for (int line = 0; line < chart->lines; line++) {
            int value = line + FIRST_LINE;
            fprintf(to,
                    "%sARG1 index %d using 1:%d:xtic(2) with %s linetype %d title "
                    "columnheader(%d)",
                    line ? ", " : "plot ", panel, value,
                    chart->is_number ? "linespoints" : "points", line + 1, value);
        }
        fprintf(to, "\n");
    }
    fprintf(to, "unset multiplot\n");
}

/* ---- The plot ---- */

/* Writes a text as one word: replaces its blanks by blanks at which word() does not split. */
static void write_name(const char *text, FILE *to) {
    fputc(' ', to);
    for (; *text; text++) {
        if (*text == ' ' || *text == '\t') fputs("\u00a0", to);
        else if (*text == '"') fputs("\u201d", to);
        else if (*text == '\'') fputs("\u2019", to);
        else fputc(*text, to);
    }
}

/* The words of the axis, the metric, and the panels' titles. The caller frees the text. */
static char *make_names(const Chart *chart) {
    const Sweep *sweep = chart->sweep;
    const Words *programs = &sweep->dimensions[0].values;
    char *names = NULL;
    size_t length;
    FILE *to = open_memstream(&names, &length);
    if (!to) return words_copy_text("");
    write_name(sweep->dimensions[sweep->x].name, to);
    write_name(sweep->metrics.list[0], to);
    for (int i = 0; i < chart->panels; i++)
        write_name(sweep->x == 0 ? "\u00a0" : programs->list[i], to);
    fclose(to);
    return names;
}

static char *make_title(const Sweep *sweep) {
    char *title = NULL;
    size_t length;
    FILE *to = open_memstream(&title, &length);
    if (!to) return words_copy_text("");
    fprintf(to, "%s by %s", sweep->metrics.list[0], sweep->dimensions[sweep->x].name);
    for (int i = 1; i < sweep->dimension_count; i++) {
        const char *value = sweep->dimensions[i].values.list[0];
        if (!sweep_varies(sweep, i) && i != sweep->x && *value)
            fprintf(to, ", %s %s", sweep->dimensions[i].name, value);
    }
    fclose(to);
    return title;
}

static Chart make_chart(const Sweep *sweep, Store *store, const char *path) {
    Chart chart = {.sweep = sweep, .store = store, .path = path, .lines = 1};
    chart.panels = sweep->x == 0 ? 1 : sweep->dimensions[0].values.count;
    for (int i = 1; i < sweep->dimension_count; i++)
        chart.lines *= is_line(&chart, i) ? sweep->dimensions[i].values.count : 1;
    return chart;
}

/* Whether bars have room: a group for each combination of the dimensions other than `across`, and a
 * bar for each value of `across`. */
static bool can_have_bars(const Sweep *sweep) {
    const int across = sweep_across(sweep);
    long rows = 1;
    for (int i = 0; i < sweep->dimension_count && rows <= MOST_ROWS; i++)
        rows *= i == across ? 1 : sweep->dimensions[i].values.count;
    return rows <= MOST_ROWS && sweep->dimensions[across].values.count <= MOST_LINES;
}

bool sweep_can_plot(const Sweep *sweep) {
    const Chart chart = make_chart(sweep, NULL, NULL);
    if (sweep->baseline >= 0 && can_have_bars(sweep)) return true;
    if (sweep->baseline >= 0)
        say_error(
            "--plot: more than %d rows of bars, or more than %d bars in a row; reduce the sweep",
            MOST_ROWS, MOST_LINES);
    else if (chart.panels > MOST_PANELS || chart.lines > MOST_LINES)
        say_error(
            "--plot: more than %d programs, or more than %d lines for a program; reduce the sweep, "
            "choose another axis with --x, or use --baseline for bars",
            MOST_PANELS, MOST_LINES);
    else return true;
    return false;
}

bool sweep_plot(const Sweep *sweep, Store *store, const char *path, const Words *command) {
    if (sweep->baseline >= 0) return league_plot(sweep, store, path, command);
    const Words *values = &sweep->dimensions[sweep->x].values;
    Chart chart = make_chart(sweep, store, path);
    chart.columns = chart.panels < 4 ? chart.panels : chart.panels == 4 ? 2 : 3;
    double *places = allocate((size_t)values->count, sizeof *places);
    chart.is_number = read_places(values, places);
    chart.is_log = chart.is_number && is_geometric(places, values->count);
    char *title = make_title(sweep), *names = make_names(&chart);
    bool is_drawn =
        gnuplot_draw(&(Picture){path, command, title, names, write_script, write_data, &chart});
    free(places);
    free(title);
    free(names);
    return is_drawn && !chart.is_failed;
}
