/* Computes, writes and plots a league (see the header). */
#include "cli/sweep/league.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/engine/bars.h"
#include "cli/sweep/output.h"

const char *const league_mean_names[LEAGUE_MEANS] = {"arithmetic mean", "geometric mean",
                                                     "harmonic mean"};

const char *const league_figure_names[LEAGUE_FIGURES] = {
    [LEAGUE_LOW] = "95% from",   [LEAGUE_HIGH] = "95% to", [LEAGUE_GAIN] = "2% faster",
    [LEAGUE_LOSS] = "2% slower", [LEAGUE_WORST] = "worst", [LEAGUE_STORAGE] = "bits per SM"};

#define LEAGUE_MARGIN 0.02 /* smallest gain or loss that counts */

/* ---- Rows ---- */

/* The name of a row: its values of the dimensions that vary. */
static char *make_label(const Sweep *sweep, const int *choice) {
    const int across = sweep_across(sweep);
    char *label = NULL;
    size_t length;
    FILE *to = open_memstream(&label, &length);
    for (int i = 0; to && i < sweep->dimension_count; i++) {
        if (i == across || !sweep_varies(sweep, i)) continue;
        char *value = sweep_label(sweep, i, choice[i]);
        fprintf(to, "%s%s", ftell(to) ? ", " : "", value);
        free(value);
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

/* The cycles of a run; NAN if there is no such run. */
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

bool league_is_complete(const League *league, int row) {
    for (int column = 0; column < league->columns; column++)
        if (isnan(league_at(league, row, column))) return false;
    return true;
}

static double best_of(const League *league, int row) {
    double best = league_at(league, row, 0);
    for (int column = 1; column < league->columns; column++)
        best = fmax(best, league_at(league, row, column));
    return best;
}

double league_mean_of(const League *league, int column, const bool *is_in, int *rows) {
    double logs = 0;
    *rows = 0;
    for (int row = 0; row < league->rows; row++) {
        if (!is_in[row] || !league_is_complete(league, row)) continue;
        logs += log(column == LEAGUE_BEST ? best_of(league, row) : league_at(league, row, column));
        ++*rows;
    }
    return exp(logs / *rows); /* 0 / 0, NAN, without rows */
}

int *league_rank(const League *league) {
    const double *means = league->means[LEAGUE_GEOMETRIC];
    int *order = allocate((size_t)league->columns, sizeof *order);
    for (int c = 0; c < league->columns; c++) {
        int at = c;
        for (; at && means[order[at - 1]] < means[c]; at--)
            order[at] = order[at - 1];
        order[at] = c;
    }
    return order;
}

static void find_means(League *league) {
    for (int column = 0; column < league->columns; column++) {
        const double count = league->complete;
        double sum = 0, logs = 0, inverse = 0;
        for (int row = 0; row < league->rows; row++) {
            const double value = league_at(league, row, column);
            if (!league_is_complete(league, row)) continue;
            sum += value;
            logs += log(value);
            inverse += 1 / value;
        }
        league->means[0][column] = sum / count; /* 0 / 0, NAN, without rows */
        league->means[LEAGUE_GEOMETRIC][column] = exp(logs / count);
        league->means[2][column] = count / inverse;
    }
}

/* ---- Gains, losses, the worst and an oracle ---- */

static void find_shares(League *league) {
    for (int column = 0; column < league->columns; column++) {
        const double count = league->complete;
        double gains = 0, losses = 0, worst = NAN;
        for (int row = 0; row < league->rows; row++) {
            const double value = league_at(league, row, column);
            if (!league_is_complete(league, row)) continue;
            gains += value >= 1 + LEAGUE_MARGIN;
            losses += value <= 1 - LEAGUE_MARGIN;
            if (!(value >= worst)) worst = value;
        }
        league->figures[LEAGUE_GAIN][column] = gains / count;
        league->figures[LEAGUE_LOSS][column] = losses / count;
        league->figures[LEAGUE_WORST][column] = worst;
    }
}

static void find_oracle(League *league) {
    bool *all = allocate((size_t)league->rows + 1, sizeof *all);
    int rows;
    memset(all, true, (size_t)league->rows * sizeof *all);
    league->oracle = league_mean_of(league, LEAGUE_BEST, all, &rows);
    free(all);
}

/* ---- Confidence ---- */

enum { DRAWS = 1000, TAIL = 25 }; /* 2.5% at either end */

/* The sum of the logarithms of a program's speed-ups. */
typedef struct Program {
    int value;  /* index among the sweep's programs */
    int rows;   /* complete ones */
    double sum; /* of one column */
} Program;

static int program_of(const Sweep *sweep, const int *choice) {
    for (int i = 0; i < sweep->dimension_count; i++)
        if (sweep->dimensions[i].vary == VARY_PROGRAM) return choice[i];
    return 0;
}

/* Collects the programs of the complete rows, with one column's sums; returns their number. */
static int sum_programs(const Sweep *sweep, const League *league, int column, Program *programs) {
    int count = 0;
    for (int row = 0; row < league->rows; row++) {
        const int value = program_of(sweep, league->choices[row]);
        int i = 0;
        if (!league_is_complete(league, row)) continue;
        while (i < count && programs[i].value != value)
            i++;
        if (i == count) programs[count++] = (Program){.value = value};
        programs[i].sum += log(league_at(league, row, column));
        programs[i].rows++;
    }
    return count;
}

/* SplitMix64, by Steele et al. (OOPSLA 2014): the same draws in every run. */
static uint64_t next_random(uint64_t *state) {
    uint64_t word = *state += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The interval of the geometric mean by bootstrap: each draw takes as many programs as there are,
 * with repetition. All rows of a program (on several machines, for example) are drawn together. */
static void find_interval(const Sweep *sweep, League *league, int column, Program *programs) {
    const int count = sum_programs(sweep, league, column, programs);
    double means[DRAWS];
    uint64_t random = 1;
    for (int draw = 0; draw < DRAWS; draw++) {
        double sum = 0, rows = 0;
        for (int i = 0; i < count; i++) {
            const Program *program = &programs[next_random(&random) % (uint64_t)count];
            sum += program->sum;
            rows += program->rows;
        }
        means[draw] = exp(sum / rows); /* 0 / 0, NAN, without rows */
    }
    qsort(means, DRAWS, sizeof *means, by_value);
    league->figures[LEAGUE_LOW][column] = means[TAIL];
    league->figures[LEAGUE_HIGH][column] = means[DRAWS - 1 - TAIL];
}

static void find_intervals(const Sweep *sweep, League *league) {
    Program *programs = allocate((size_t)league->rows + 1, sizeof *programs);
    for (int column = 0; column < league->columns; column++) {
        memset(programs, 0, (size_t)league->rows * sizeof *programs);
        find_interval(sweep, league, column, programs);
    }
    free(programs);
}

/* ---- Storage ---- */

/* The bits that `tyto cost` counts for a scheduler on a machine; NAN: unknown. */
static double bits_of(const char *scheduler, const char *machine) {
    static const char LINE[] = "\nper SM ";
    char message[256];
    unsigned long long bits = 0;
    char *text =
        *scheduler ? tyto_cost_text(scheduler, machine, 0, NULL, message, sizeof message) : NULL;
    const char *line = text ? strstr(text, LINE) : NULL;
    const bool is_known = line && sscanf(line + sizeof LINE - 1, "%llu", &bits) == 1;
    free(text);
    return is_known ? (double)bits : NAN;
}

/* The storage on the sweep's first machine, without values from --set. */
static void find_storage(const Sweep *sweep, League *league) {
    const Dimension *across = &sweep->dimensions[sweep_across(sweep)];
    const char *machine = "";
    for (int i = 0; i < sweep->dimension_count; i++)
        if (sweep->dimensions[i].vary == VARY_MACHINE)
            machine = sweep->dimensions[i].values.list[0];
    for (int column = 0; column < league->columns; column++)
        league->figures[LEAGUE_STORAGE][column] =
            across->vary == VARY_SCHEDULER
                ? bits_of(across->values.list[column], *machine ? machine : TYTO_DEFAULT_MACHINE)
                : NAN;
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
    for (int i = 0; i < LEAGUE_FIGURES; i++)
        league->figures[i] = allocate((size_t)league->columns, sizeof *league->figures[i]);
    for (int row = 0; row < league->rows; row++) {
        if (read_row(sweep, store, league, row)) continue;
        league_free(league);
        return NULL;
    }
    find_means(league);
    find_shares(league);
    find_oracle(league);
    find_intervals(sweep, league);
    find_storage(sweep, league);
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
    for (int i = 0; i < LEAGUE_FIGURES; i++)
        free(league->figures[i]);
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

/* The title: the values that all runs share. */
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
