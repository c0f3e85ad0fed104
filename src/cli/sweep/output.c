/* Writes the results of a sweep (see the header). */
#include "cli/sweep/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/engine/origin.h"
#include "cli/program.h"
#include "cli/sweep/causes.h"
#include "cli/sweep/league.h"

enum { CELL_BYTES = 32, LEAST_WIDTH = 9, MOST_FAILURES = 20 };

static const RunKey *key_of(const Sweep *sweep, const Point *point) {
    return &engine_task(sweep->engine, point->task)->key;
}

static RunState state_of(const Sweep *sweep, const Point *point) {
    return engine_task(sweep->engine, point->task)->state;
}

static const char *const state_names[] = {
    [RUN_MISSING] = "missing", [RUN_DONE] = "done", [RUN_FAILED] = "failed"};

/* Reads all numbers of a run at once. A league needs many of each run, and checking the row of a
 * run costs more than reading it. */
static bool read_numbers(const Sweep *sweep, Store *store, Point *point) {
    const RunKey *key = key_of(sweep, point);
    const int count = tyto_counter_count();
    RunState state;
    char **texts;
    if (!store_find(store, key, &state) || !store_totals(store, key, &texts)) return false;
    point->numbers = allocate((size_t)count, sizeof *point->numbers);
    for (int i = 0; i < count; i++)
        point->numbers[i] = state == RUN_DONE && *texts[i] ? strtod(texts[i], NULL) : NAN;
    store_free_texts(texts, count);
    return true;
}

bool sweep_number(const Sweep *sweep, Store *store, const Point *point, const char *metric,
                  double *number) {
    Point *own = &sweep->points[point - sweep->points];
    *number = NAN;
    if (!own->numbers && !read_numbers(sweep, store, own)) return false;
    *number = own->numbers[tyto_find_counter(metric)];
    return true;
}

bool sweep_host_seconds(const Sweep *sweep, Store *store, const Point *point, double *seconds) {
    return store_host_seconds(store, key_of(sweep, point), seconds);
}

/* ---- Text ---- */

/* 1 if higher values of a metric are better, -1 if lower ones are; 0: neither. */
static int better_side(const char *metric) {
    static const char *const more[] = {"ipc", "warp_ipc"}, *const less[] = {"cycles", "time_ps"};
    for (int i = 0; i < 2; i++) {
        if (strcmp(metric, more[i]) == 0) return 1;
        if (strcmp(metric, less[i]) == 0) return -1;
    }
    return 0;
}

/* Formats as a run's report does, but with more digits for a ratio below 1. */
static void format_number(const char *metric, double number, char text[CELL_BYTES]) {
    int counter = tyto_find_counter(metric);
    const TytoCounter *row = tyto_counter(counter);
    bool is_small = row->kind == TYTO_RATIO && strcmp(row->unit, "share") != 0 && fabs(number) < 1;
    if (is_small) snprintf(text, CELL_BYTES, "%.4f", number);
    else tyto_format_value(counter, number, text, CELL_BYTES);
}

static const char *shown(const char *value) { return *value ? value : "machine's own"; }

static int width_of(const Words *values, int least) {
    for (int i = 0; i < values->count; i++) {
        int columns = tyto_columns(shown(values->list[i]));
        if (columns > least) least = columns;
    }
    return least;
}

/* Writes a value at the start of a row, or the dimension's name above it. */
static void write_name(const Dimension *dimension, const char *text, FILE *to) {
    int width = width_of(&dimension->values, tyto_columns(dimension->name));
    fprintf(to, "%-*s  ", pad_text(text, width), text);
}

/* Writes a cell of the columns; `mark` follows it. */
static void write_cell(const Words *columns, const char *text, const char *mark, FILE *to) {
    fprintf(to, "%*s%s", pad_text(text, width_of(columns, LEAST_WIDTH)), text, mark);
}

/* Whether a dimension is part of a row's name: it varies and is not `across`. */
static bool names_row(const Sweep *sweep, int dimension, int across) {
    return dimension != across && sweep_varies(sweep, dimension);
}

static void write_heading(const Sweep *sweep, const char *metric, int across, FILE *to) {
    fprintf(to, "\n%s\n", metric);
    for (int i = 0; i < sweep->dimension_count; i++) {
        const Dimension *dimension = &sweep->dimensions[i];
        if (names_row(sweep, i, across)) write_name(dimension, dimension->name, to);
    }
    const Words *columns = &sweep->dimensions[across].values;
    for (int c = 0; c < columns->count; c++)
        write_cell(columns, shown(columns->list[c]), c + 1 < columns->count ? " " : "", to);
    fprintf(to, "\n");
}

/* Writes the row of `choice`, and sets its choice of `across` for each column. */
static bool write_row(const Sweep *sweep, Store *store, const char *metric, int across, int *choice,
                      FILE *to) {
    const Words *columns = &sweep->dimensions[across].values;
    double *numbers = allocate((size_t)columns->count, sizeof *numbers), best = NAN;
    bool is_read = true;
    for (int c = 0; c < columns->count && is_read; c++) {
        choice[across] = c;
        const Point *point = sweep_find(sweep, choice);
        numbers[c] = NAN;
        if (point) is_read = sweep_number(sweep, store, point, metric, &numbers[c]);
        double side = better_side(metric);
        if (side != 0 && !isnan(numbers[c]) && !(side * numbers[c] <= side * best))
            best = numbers[c];
    }
    choice[across] = 0;
    for (int i = 0; i < sweep->dimension_count; i++) {
        const Dimension *dimension = &sweep->dimensions[i];
        if (names_row(sweep, i, across))
            write_name(dimension, shown(dimension->values.list[choice[i]]), to);
    }
    for (int c = 0; c < columns->count; c++) {
        char text[CELL_BYTES];
        format_number(metric, numbers[c], text);
        bool is_best = columns->count > 1 && numbers[c] == best;
        write_cell(columns, text, is_best ? "*" : c + 1 < columns->count ? " " : "", to);
    }
    fprintf(to, "\n");
    free(numbers);
    return is_read;
}

static bool write_table(const Sweep *sweep, Store *store, const char *metric, FILE *to) {
    int across = sweep_across(sweep), *choice;
    bool is_read = true;
    if (across < 0) across = sweep->dimension_count - 1;
    choice = allocate((size_t)sweep->dimension_count, sizeof *choice);
    write_heading(sweep, metric, across, to);
    do {
        if (sweep_has_row(sweep, across, choice))
            is_read = write_row(sweep, store, metric, across, choice, to);
    } while (is_read && sweep_next_row(sweep, across, choice));
    free(choice);
    return is_read;
}

/* ---- Speed-ups ---- */

static void write_speedup(const Words *columns, double value, bool is_best, bool is_last,
                          FILE *to) {
    char text[CELL_BYTES] = "-";
    if (!isnan(value)) snprintf(text, sizeof text, "%.3f", value);
    write_cell(columns, text, is_best ? "*" : is_last ? "" : " ", to);
}

static void write_speedups(const Words *columns, const double *values, FILE *to) {
    double best = NAN;
    for (int c = 0; c < columns->count; c++)
        if (!isnan(values[c]) && !(values[c] <= best)) best = values[c];
    for (int c = 0; c < columns->count; c++)
        write_speedup(columns, values[c], values[c] == best, c + 1 == columns->count, to);
    fprintf(to, "\n");
}

/* The width of the names of a row, in columns. */
static int names_width(const Sweep *sweep, int across) {
    int width = 0;
    for (int i = 0; i < sweep->dimension_count; i++) {
        const Dimension *dimension = &sweep->dimensions[i];
        if (names_row(sweep, i, across))
            width += width_of(&dimension->values, tyto_columns(dimension->name)) + 2;
    }
    return width;
}

static void write_figure(LeagueFigure figure, double value, FILE *to) {
    const bool is_share = figure == LEAGUE_GAIN || figure == LEAGUE_LOSS;
    char text[CELL_BYTES] = "-";
    if (is_share) snprintf(text, sizeof text, "%.0f%%", 100 * value);
    else if (!isnan(value))
        snprintf(text, sizeof text, figure == LEAGUE_STORAGE ? "%.0f" : "%.3f", value);
    fprintf(to, "  %*s", (int)strlen(league_figure_names[figure]), text);
}

/* Writes a line for each column, the best first. */
static void write_ranking(const Words *columns, const League *league, FILE *to) {
    static const char HEADING[] = "ranking";
    const int width = width_of(columns, sizeof HEADING - 1);
    int *order = league_rank(league);
    fprintf(to, "\n%-*s  %9s", width, HEADING, "geo. mean");
    for (int f = 0; f < LEAGUE_FIGURES; f++)
        fprintf(to, "  %s", league_figure_names[f]);
    fprintf(to, "\n");
    for (int i = 0; i < league->columns; i++) {
        const int c = order[i];
        const char *name = shown(columns->list[c]);
        fprintf(to, "%-*s  %9.3f", pad_text(name, width), name, league->means[LEAGUE_GEOMETRIC][c]);
        for (int f = 0; f < LEAGUE_FIGURES; f++)
            write_figure((LeagueFigure)f, league->figures[f][c], to);
        fprintf(to, "\n");
    }
    fprintf(to, "the best of each row together: %.3f (geometric mean)\n", league->oracle);
    free(order);
}

static int cause_width(int cause) {
    const int heading = (int)strlen(cause_rows[cause].name), least = (int)strlen("100.0%");
    return heading > least ? heading : least;
}

static void write_cause(Cause cause, double value, FILE *to) {
    char text[CELL_BYTES] = "-";
    if (!isnan(value))
        snprintf(text, sizeof text, cause == CAUSE_WARPS ? "%.1f" : "%.1f%%",
                 cause == CAUSE_WARPS ? value : 100 * value);
    fprintf(to, "  %*s", cause_width((int)cause), text);
}

static void write_agreement(Cause cause, double value, FILE *to) {
    char text[CELL_BYTES] = "-";
    if (!isnan(value)) snprintf(text, sizeof text, "%+.2f", value);
    fprintf(to, "  %*s", cause_width((int)cause), text);
}

/* Writes a table of the causes, with a line for each column of the league in the order of the
 * ranking. */
static void write_causes_table(const Words *columns, const int *order, const char *heading,
                               double *const values[CAUSES],
                               void (*write)(Cause cause, double value, FILE *to), FILE *to) {
    const int width = width_of(columns, tyto_columns(heading));
    fprintf(to, "\n%-*s", width, heading);
    for (int cause = 0; cause < CAUSES; cause++)
        fprintf(to, "  %*s", cause_width(cause), cause_rows[cause].name);
    fprintf(to, "\n");
    for (int i = 0; i < columns->count; i++) {
        const char *name = shown(columns->list[order[i]]);
        fprintf(to, "%-*s", pad_text(name, width), name);
        for (int cause = 0; cause < CAUSES; cause++)
            write((Cause)cause, values[cause][order[i]], to);
        fprintf(to, "\n");
    }
}

static bool write_causes(const Sweep *sweep, Store *store, const League *league, FILE *to) {
    const Words *columns = &sweep->dimensions[sweep_across(sweep)].values;
    Causes *causes = causes_new(sweep, store, league);
    if (!causes) return false;
    int *order = league_rank(league);
    write_causes_table(columns, order, "what changed (mean)", causes->means, write_cause, to);
    if (league->complete >= CAUSES_LEAST_ROWS)
        write_causes_table(columns, order, "goes with speed-up", causes->agreement, write_agreement,
                           to);
    free(order);
    causes_free(causes);
    return true;
}

/* Writes the means of the complete rows, if there are several rows, and the ranking by them. */
static void write_standing(const Words *columns, const League *league, int names, FILE *to) {
    for (int i = 0; i < LEAGUE_MEANS; i++) {
        fprintf(to, "%-*s", names, league_mean_names[i]);
        write_speedups(columns, league->means[i], to);
    }
    if (league->complete < league->rows)
        fprintf(to, "(means of the %d of %d rows with all runs)\n", league->complete, league->rows);
    write_ranking(columns, league, to);
}

/* Writes the speed-ups over the baseline for each row, and their means. */
static bool write_league(const Sweep *sweep, Store *store, FILE *to) {
    const int across = sweep_across(sweep), names = names_width(sweep, across);
    const int mean_width = (int)strlen(league_mean_names[0]) + 2;
    const int gap = names < mean_width ? mean_width - names : 0;
    const Words *columns = &sweep->dimensions[across].values;
    League *league = league_new(sweep, store);
    if (!league) return false;
    fprintf(to, "\nspeed-up over %s (ratio of cycles)\n", columns->list[sweep->baseline]);
    for (int i = 0; i < sweep->dimension_count; i++)
        if (names_row(sweep, i, across))
            write_name(&sweep->dimensions[i], sweep->dimensions[i].name, to);
    fprintf(to, "%*s", gap, "");
    for (int c = 0; c < columns->count; c++)
        write_cell(columns, shown(columns->list[c]), c + 1 < columns->count ? " " : "", to);
    fprintf(to, "\n");
    for (int row = 0; row < league->rows; row++) {
        for (int i = 0; i < sweep->dimension_count; i++) {
            const Dimension *dimension = &sweep->dimensions[i];
            if (names_row(sweep, i, across))
                write_name(dimension, shown(dimension->values.list[league->choices[row][i]]), to);
        }
        fprintf(to, "%*s", gap, "");
        write_speedups(columns, &league->speedups[row * league->columns], to);
    }
    bool is_read = true;
    if (league->complete > 1) {
        write_standing(columns, league, names + gap, to);
        is_read = write_causes(sweep, store, league, to);
    }
    league_free(league);
    return is_read;
}

/* Whether any run uses the dimension; sizes and seeds may have no effect on the programs. */
static bool is_taken(const Sweep *sweep, const Dimension *dimension) {
    bool is_size = dimension->vary == VARY_SIZE, is_any = !is_size && dimension->vary != VARY_SEED;
    for (int i = 0; i < sweep->point_count && !is_any; i++) {
        const RunKey *key = key_of(sweep, &sweep->points[i]);
        is_any = *(is_size ? key->size : key->seed) != '\0';
    }
    return is_any;
}

/* Notes stored runs of the user's own programs: Tyto does not check whether a program changed since
 * its run was stored. */
static void write_assumptions(const Sweep *sweep, FILE *to) {
    const Words *variables = &sweep->form.variables;
    int kept = 0;
    for (int i = 0; i < engine_count(sweep->engine); i++) {
        const Task *task = engine_task(sweep->engine, i);
        kept += task->is_kept && !program_is_workload(task->line.list[0]);
    }
    if (!kept) return;
    fprintf(to,
            "\n"
            "%d run%s stored earlier; assumed unchanged: files that programs read but that are not "
            "named by their arguments or --input, the system's libraries, the environment",
            kept, kept == 1 ? " was" : "s were");
    for (int i = 0; i < variables->count; i++)
        fprintf(to, "%s%s", i ? ", " : " except ", variables->list[i]);
    fprintf(to, "\n");
}

bool sweep_write_text(const Sweep *sweep, Store *store, FILE *to) {
    char *what = sweep_describe(sweep);
    fprintf(to, "%s", what);
    free(what);
    for (int i = 0; i < sweep->dimension_count; i++) { /* the values that all runs share */
        const Dimension *dimension = &sweep->dimensions[i];
        const char *value = dimension->values.list[0];
        if (!sweep_varies(sweep, i) && *value && is_taken(sweep, dimension))
            fprintf(to, ", %s %s", dimension->name, value);
    }
    fprintf(to, "\n");
    bool is_read = true, has_best = false;
    for (int i = 0; i < sweep->metrics.count && is_read; i++) {
        is_read = write_table(sweep, store, sweep->metrics.list[i], to);
        has_best |= better_side(sweep->metrics.list[i]) != 0 && sweep_across(sweep) >= 0;
    }
    if (sweep->baseline >= 0 && is_read) {
        is_read = write_league(sweep, store, to);
        has_best = true;
    }
    if (has_best) fprintf(to, "\n* the best of its row\n");
    write_assumptions(sweep, to);
    return is_read;
}

bool sweep_write_failures(const Sweep *sweep, Store *store, FILE *to) {
    int failed = engine_count_state(sweep->engine, RUN_FAILED), told = 0;
    bool is_read = true;
    if (!failed) return true;
    fprintf(to, "%d of %d runs failed; the same command with --retry repeats them:\n", failed,
            engine_count(sweep->engine));
    for (int i = 0; i < engine_count(sweep->engine) && told < MOST_FAILURES && is_read; i++) {
        const Task *task = engine_task(sweep->engine, i);
        char *name, *reason;
        if (task->state != RUN_FAILED) continue;
        is_read = store_failure(store, &task->key, &reason);
        name = task_name(&task->key);
        fprintf(to, "  %s %s\n", name, reason);
        free(name);
        free(reason);
        told++;
    }
    if (failed > told) fprintf(to, "  and %d more\n", failed - told);
    return is_read;
}

/* ---- CSV ---- */

/* The names of a line's first fields: the values of the machine that were swept, then everything
 * that determines a run. */
static void write_csv_heading(const Sweep *sweep, FILE *to) {
    for (int i = 0; i < sweep->dimension_count; i++) {
        if (sweep->dimensions[i].vary != VARY_SET) continue;
        csv_write_field(sweep->dimensions[i].name, to);
        fputc(',', to);
    }
    origin_write_names("", to);
    fprintf(to, "version,state");
    for (int i = 0; i < tyto_counter_count(); i++)
        fprintf(to, ",%s", tyto_counter(i)->name);
    fprintf(to, "\n");
}

bool sweep_write_csv(const Sweep *sweep, Store *store, FILE *to) {
    bool is_read = true;
    write_csv_heading(sweep, to);
    for (int p = 0; p < sweep->point_count && is_read; p++) {
        const Point *point = &sweep->points[p];
        const RunKey *key = key_of(sweep, point);
        char **totals;
        for (int i = 0; i < sweep->dimension_count; i++) {
            if (sweep->dimensions[i].vary != VARY_SET) continue;
            csv_write_field(sweep_value(sweep, point, i), to);
            fputc(',', to);
        }
        is_read = origin_write(store, key, to);
        fprintf(to, "%s,%s", key->version, state_names[state_of(sweep, point)]);
        is_read = is_read && store_totals(store, key, &totals);
        if (!is_read) break;
        for (int i = 0; i < tyto_counter_count(); i++)
            fprintf(to, ",%s", totals[i]);
        fprintf(to, "\n");
        store_free_texts(totals, tyto_counter_count());
    }
    return is_read;
}

/* ---- JSON ---- */

static void write_string(const char *text, FILE *to) {
    fputc('"', to);
    for (; *text; text++) {
        unsigned char letter = (unsigned char)*text;
        if (letter == '"' || letter == '\\') fprintf(to, "\\%c", letter);
        else if (letter < ' ') fprintf(to, "\\u%04x", letter);
        else fputc(letter, to);
    }
    fputc('"', to);
}

static void write_strings(const Words *words, FILE *to) {
    for (int i = 0; i < words->count; i++) {
        fputs(i ? ", " : "[", to);
        write_string(words->list[i], to);
    }
    fputs(words->count ? "]" : "[]", to);
}

static void write_dimensions(const Sweep *sweep, FILE *to) {
    fprintf(to, "  \"dimensions\": [\n");
    for (int i = 0; i < sweep->dimension_count; i++) {
        fprintf(to, "    {\"name\": ");
        write_string(sweep->dimensions[i].name, to);
        fprintf(to, ", \"is_set\": %s, \"values\": ",
                sweep->dimensions[i].vary == VARY_SET ? "true" : "false");
        write_strings(&sweep->dimensions[i].values, to);
        fprintf(to, "}%s\n", i + 1 < sweep->dimension_count ? "," : "");
    }
    fprintf(to, "  ],\n");
}

static bool write_run(const Sweep *sweep, Store *store, const Point *point, FILE *to) {
    char *reason, *result;
    const RunKey *key = key_of(sweep, point);
    fprintf(to, "    {\"values\": {");
    for (int i = 0; i < sweep->dimension_count; i++) {
        if (i) fprintf(to, ", ");
        write_string(sweep->dimensions[i].name, to);
        fprintf(to, ": ");
        write_string(sweep->dimensions[i].values.list[point->choice[i]], to);
    }
    fprintf(to, "},\n");
    char **texts;
    if (!origin_read(store, key, &texts)) return false;
    for (int i = 0; tyto_origin(i); i++) {
        fprintf(to, "     \"%s\": ", tyto_origin(i));
        write_string(texts[i], to);
        fputs(",\n", to);
    }
    origin_free(texts);
    fprintf(to, "     \"version\": ");
    write_string(key->version, to);
    if (!store_failure(store, key, &reason)) return false;
    bool is_read = store_result(store, key, &result);
    fprintf(to, ",\n     \"state\": \"%s\", \"reason\": ", state_names[state_of(sweep, point)]);
    if (*reason) write_string(reason, to);
    else fprintf(to, "null");
    size_t length = strlen(result);
    while (length && result[length - 1] == '\n')
        result[--length] = '\0';
    fprintf(to, ",\n     \"result\": %s}", *result ? result : "null");
    free(reason);
    free(result);
    return is_read;
}

bool sweep_write_json(const Sweep *sweep, Store *store, const Words *command, FILE *to) {
    bool is_read = true;
    fprintf(to, "{\n  \"tyto_version\": \"%s\",\n  \"command\": ", tyto_version());
    write_strings(command, to);
    fprintf(to, ",\n");
    write_dimensions(sweep, to);
    fprintf(to, "  \"metrics\": ");
    write_strings(&sweep->metrics, to);
    fprintf(to, ",\n  \"x\": ");
    write_string(sweep->dimensions[sweep->x].name, to);
    fprintf(to, ",\n  \"baseline\": ");
    if (sweep->baseline >= 0)
        write_string(sweep->dimensions[sweep_across(sweep)].values.list[sweep->baseline], to);
    else fprintf(to, "null");
    fprintf(to, ",\n  \"runs\": [\n");
    for (int i = 0; i < sweep->point_count && is_read; i++) {
        is_read = write_run(sweep, store, &sweep->points[i], to);
        fprintf(to, "%s\n", i + 1 < sweep->point_count ? "," : "");
    }
    fprintf(to, "  ]\n}\n");
    return is_read;
}
