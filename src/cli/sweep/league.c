/* A league (see the header). */
#include "cli/sweep/league.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/engine/bars.h"
#include "cli/sweep/output.h"

const char *const league_mean_names[LEAGUE_MEANS] = {"arithmetic mean", "geometric mean",
                                                     "harmonic mean"};

/* ---- Rows ---- */

/* What a row is called: its values of what varies. */
static char *make_label(const Sweep *sweep, const int *choice) {
    const int across = sweep_across(sweep);
    char *label = NULL;
    size_t length;
    FILE *to = open_memstream(&label, &length);
    for (int i = 0; to && i < sweep->dimension_count; i++) {
        const char *value = sweep->dimensions[i].values.list[choice[i]];
        if (i == across || !sweep_varies(sweep, i)) continue;
        fprintf(to, "%s%s", ftell(to) ? ", " : "", *value ? value : "machine's own");
    }
    if (to) fclose(to);
    if (label && *label) return label;
    free(label);
    return words_copy_text(sweep->dimensions[0].values.list[0]);
}

static void add_row(const Sweep *sweep, League *league, const int *choice) {
    const size_t bytes = (size_t)sweep->dimension_count * sizeof *choice;
    const int row = league->rows++;
    league->choices[row] = memcpy(allocate(1, bytes), choice, bytes);
    league->labels[row] = make_label(sweep, choice);
}

/* The cycles of a run; NAN when it is not there. */
static bool read_cycles(const Sweep *sweep, Store *store, const int *choice, double *cycles) {
    const Point *point = sweep_find(sweep, choice);
    *cycles = NAN;
    return !point || sweep_number(sweep, store, point, "cycles", cycles);
}

static bool read_row(const Sweep *sweep, Store *store, League *league, int row) {
    const int across = sweep_across(sweep);
    int *choice = league->choices[row];
    double base, cycles;
    bool is_complete = true;
    choice[across] = sweep->baseline;
    if (!read_cycles(sweep, store, choice, &base)) return false;
    for (int column = 0; column < league->columns; column++) {
        choice[across] = column;
        if (!read_cycles(sweep, store, choice, &cycles)) return false;
        league->speedups[row * league->columns + column] = base / cycles;
        is_complete &= !isnan(base / cycles);
    }
    choice[across] = 0;
    league->complete += is_complete;
    return true;
}

/* ---- Means ---- */

double league_at(const League *league, int row, int column) {
    return league->speedups[row * league->columns + column];
}

static bool is_complete(const League *league, int row) {
    for (int column = 0; column < league->columns; column++)
        if (isnan(league_at(league, row, column))) return false;
    return true;
}

static void find_means(League *league) {
    for (int column = 0; column < league->columns; column++) {
        const double count = league->complete;
        double sum = 0, logs = 0, inverse = 0;
        for (int row = 0; row < league->rows; row++) {
            const double value = league_at(league, row, column);
            if (!is_complete(league, row)) continue;
            sum += value;
            logs += log(value);
            inverse += 1 / value;
        }
        league->means[0][column] = sum / count; /* 0 / 0, NAN, without rows */
        league->means[LEAGUE_GEOMETRIC][column] = exp(logs / count);
        league->means[2][column] = count / inverse;
    }
}

/* ---- The league ---- */

League *league_new(const Sweep *sweep, Store *store) {
    const int across = sweep_across(sweep);
    League *league = allocate(1, sizeof *league);
    league->columns = sweep->dimensions[across].values.count;
    league->labels = allocate((size_t)sweep->point_count, sizeof *league->labels);
    league->choices = allocate((size_t)sweep->point_count, sizeof *league->choices);
    int *choice = allocate((size_t)sweep->dimension_count, sizeof *choice);
    do
        if (sweep_has_row(sweep, across, choice)) add_row(sweep, league, choice);
    while (sweep_next_row(sweep, across, choice));
    free(choice);
    const size_t cells = (size_t)league->rows * (size_t)league->columns;
    league->speedups = allocate(cells, sizeof *league->speedups);
    for (int i = 0; i < LEAGUE_MEANS; i++)
        league->means[i] = allocate((size_t)league->columns, sizeof *league->means[i]);
    for (int row = 0; row < league->rows; row++) {
        if (read_row(sweep, store, league, row)) continue;
        league_free(league);
        return NULL;
    }
    find_means(league);
    return league;
}

void league_free(League *league) {
    if (!league) return;
    for (int row = 0; row < league->rows; row++) {
        free(league->labels[row]);
        free(league->choices[row]);
    }
    for (int i = 0; i < LEAGUE_MEANS; i++)
        free(league->means[i]);
    free(league->labels);
    free(league->choices);
    free(league->speedups);
    free(league);
}

/* ---- The plot ---- */

static void format_speedup(const void *context, double value, char *text, int size_bytes) {
    (void)context;
    snprintf(text, (size_t)size_bytes, "%.2fx", value);
}

/* What the runs have in common. */
static char *make_title(const Sweep *sweep) {
    const int across = sweep_across(sweep);
    char *title = NULL;
    size_t length;
    FILE *to = open_memstream(&title, &length);
    if (!to) return words_copy_text("");
    fprintf(to, "speed-up by %s", sweep->dimensions[across].name);
    for (int i = 0; i < sweep->dimension_count; i++) {
        const char *value = sweep->dimensions[i].values.list[0];
        if (!sweep_varies(sweep, i) && *value)
            fprintf(to, ", %s %s", sweep->dimensions[i].name, value);
    }
    fclose(to);
    return title;
}

bool league_plot(const Sweep *sweep, Store *store, const char *path, const Words *command) {
    const Words *columns = &sweep->dimensions[sweep_across(sweep)].values;
    League *league = league_new(sweep, store);
    char axis[256];
    if (!league) return false;
    const int means = league->complete > 1;
    BarChart chart = bars_new(league->rows + means, league->columns, true);
    chart.base = 1;
    chart.begins_at_zero = chart.draws_all = true;
    chart.first_mean = league->rows;
    chart.format = format_speedup;
    for (int column = 0; column < league->columns; column++) {
        const char *label = columns->list[column];
        chart.series_labels[column] = *label ? label : "machine's own";
        for (int row = 0; row < league->rows; row++)
            bars_at(&chart, row, column)->value = league_at(league, row, column);
        if (means)
            bars_at(&chart, league->rows, column)->value = league->means[LEAGUE_GEOMETRIC][column];
    }
    for (int row = 0; row < league->rows; row++)
        chart.row_labels[row] = league->labels[row];
    if (means) chart.row_labels[league->rows] = league_mean_names[LEAGUE_GEOMETRIC];
    const char *base = columns->list[sweep->baseline];
    snprintf(axis, sizeof axis, "speed-up over %.160s (ratio of cycles)", base);
    char *title = make_title(sweep);
    const bool is_drawn = bars_draw(&chart, path, command, title, axis);
    free(title);
    bars_free(&chart);
    league_free(league);
    return is_drawn;
}
