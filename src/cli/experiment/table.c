/* Computes tables. */
#include "cli/experiment/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

/* ---- Forms: how a ratio or a sum is shown, as the paper prints it ---- */

typedef struct FormRow {
    const char *format;
    double scale, offset; /* shown = scale x value + offset */
    double neutral;       /* the shown value that means no difference */
    double grain; /* largest shown difference that agrees with a claim of no change: the rounding of
                     texts */
    bool has_direction; /* above and below neutral mean gain and loss */
} FormRow;

static const FormRow forms[FORM_COUNT] = {
    [FORM_RATIO] = {"%.2fx", 1, 0, 1, 0.01, true},
    [FORM_PERCENT] = {"%.0f%%", 100, 0, 0, 1, false},
    [FORM_CHANGE] = {"%+.1f%%", 100, -100, 0, 1, true},
    [FORM_DECREASE] = {"%.0f%%", -100, 100, 0, 1, true},
    [FORM_PER_THOUSAND] = {"%.2f", 1000, 0, 0, 0, false},
    [FORM_NUMBER] = {"%.4g", 1, 0, 0, 0, false},
    [FORM_INDEX] = {"%.0f", 1, 0, 0, 0, false},
};

static double show(Form form, double value) {
    return forms[form].scale * value + forms[form].offset;
}

static double unshow(Form form, double shown) {
    return (shown - forms[form].offset) / forms[form].scale;
}

void table_format(Form form, double value, char *text, int size_bytes) {
    if (isnan(value)) snprintf(text, (size_t)size_bytes, "-");
    else if (form == FORM_PERCENT && fabs(value) < 10) /* two digits of small shares */
        snprintf(text, (size_t)size_bytes, "%.1f%%", value);
    else if (form == FORM_NUMBER && fabs(value) >= 1000) /* no exponents */
        snprintf(text, (size_t)size_bytes, "%.0f", value);
    else {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, (size_t)size_bytes, forms[form].format, value);
#pragma GCC diagnostic pop
    }
}

/* The value of the printed digits. */
static double printed(Form form, double value) {
    char text[32];
    table_format(form, value, text, sizeof text);
    return isnan(value) ? NAN : strtod(text, NULL);
}

/* ---- Values ---- */

/* Reads one metric of a run; NAN if the run is missing. */
static bool read_metric(const Study *study, const Run *run, const char *name, double *value) {
    const RunKey *key = study_key(study, run);
    if (experiment_is_of_scheduler(name)) {
        *value = experiment_of_scheduler(key->scheduler, name);
        return true;
    }
    const RecordPart *part = record_find_part(name);
    if (part)
        return store_recorded(study->store, key, part->has_items ? run->program->item : 0, name,
                              value);
    return store_value(study->store, key, run->program->kernel, name, value);
}

/* Adds several metrics of a run; NAN if the run is missing. */
static bool add_metrics(const Study *study, const Run *run, const Words *metrics, double *sum) {
    *sum = 0;
    for (int i = 0; i < metrics->count; i++) {
        double value;
        if (!read_metric(study, run, metrics->list[i], &value)) return false;
        *sum += value;
    }
    return true;
}

/* Finds the run of a program in a setup; for several schedulers, the run with the fewest cycles.
 * *best is NULL if one of them is missing, because it could be the best. */
static bool find_run(const Study *study, const Program *program, const char *setup,
                     const Run **best) {
    const char *cycles_alone[] = {"cycles"};
    double fewest = INFINITY;
    *best = NULL;
    for (int i = 0; i < study->count; i++) {
        const Run *run = &study->runs[i];
        double cycles;
        if (run->program != program || strcmp(run->setup->name, setup) != 0) continue;
        if (!add_metrics(study, run, &(Words){cycles_alone, 1}, &cycles)) return false;
        if (isnan(cycles)) {
            *best = NULL;
            return true;
        }
        if (cycles < fewest) {
            fewest = cycles;
            *best = run;
        }
    }
    return true;
}

/* The column's value for a program in one setup, computed from `metric`, and the run of the value.
 */
static bool value_in(const Study *study, const Program *program, const Column *column,
                     const char *setup, const Words *metric, double *value, const Run **run) {
    *value = NAN;
    if (!find_run(study, program, setup, run)) return false;
    if (!*run) return true;
    if (!add_metrics(study, *run, metric, value)) return false;
    double divisor = 1;
    if (column->per.count && !add_metrics(study, *run, &column->per, &divisor)) return false;
    *value /= divisor;
    return true;
}

/* The column's value for a program, and its divisor from another setup, 1 if there is none. */
static bool ratio_of(const Study *study, const Program *program, const Column *column, Ratio *ratio,
                     const Run **run, const Run **over) {
    const Words *below = column->over_metric.count ? &column->over_metric : &column->metric;
    *over = NULL;
    ratio->base = 1;
    if (!value_in(study, program, column, column->setup, &column->metric, &ratio->value, run))
        return false;
    return !column->over ||
           value_in(study, program, column, column->over, below, &ratio->base, over);
}

static bool fill_cell(const Study *study, int row, const Column *column, Cell *cell) {
    const Program *programs = study->experiment->programs.list;
    int base_row = column->over_row == BASE_PREVIOUS ? row - 1 : 0;
    const Run *base_run, *base_over;
    Ratio base = {.value = column->over_row && base_row < 0 ? NAN : 1, .base = 1};
    if (!ratio_of(study, &programs[row], column, &cell->ratio, &cell->run, &cell->over))
        return false;
    if (column->over_row && base_row >= 0 &&
        !ratio_of(study, &programs[base_row], column, &base, &base_run, &base_over))
        return false;
    cell->ratio.base *= base.value / base.base;
    double ratio = cell->ratio.value / cell->ratio.base;
    cell->value = isfinite(ratio) ? show(column->form, ratio) : NAN;
    return true;
}

/* ---- Means ---- */

typedef struct MeanRow {
    double (*into)(double value);
    double (*back)(double mean);
} MeanRow;

static double same(double value) { return value; }
static double inverse(double value) { return 1 / value; }

static const MeanRow means[MEAN_COUNT] = {
    [MEAN_ARITHMETIC] = {same, same},     [MEAN_GEOMETRIC] = {log, exp},
    [MEAN_HARMONIC] = {inverse, inverse}, [MEAN_LARGEST] = {same, same},
    [MEAN_SMALLEST] = {same, same},       [MEAN_OF_VALUES] = {same, same},
    [MEAN_ABOVE] = {same, same},          [MEAN_BELOW] = {same, same},
};

static bool is_among(const Words *of, const char *label) {
    for (int i = 0; i < of->count; i++) {
        if (strcmp(of->list[i], label) == 0) return true;
    }
    return of->count == 0;
}

static bool is_counting(const Mean *mean) {
    return mean->kind == MEAN_ABOVE || mean->kind == MEAN_BELOW;
}

/* The mean of a column. NAN if one of the values is missing, because the paper's mean includes it.
 * Excludes program `left_out`; -1: none. */
static double take_mean(const Table *table, const Mean *mean, int column, int left_out) {
    const Experiment *experiment = table->experiment;
    Form form = experiment->columns.list[column].form;
    double sum = 0, largest = -INFINITY, smallest = INFINITY;
    Ratio sums = {0};
    int count = 0, above = 0, below = 0;
    for (int i = 0; i < experiment->programs.count; i++) {
        if (i == left_out || !is_among(&mean->of, experiment->programs.list[i].label)) continue;
        const Cell *cell = table_cell(table, i, column);
        double value = unshow(form, cell->value);
        sums.value += cell->ratio.value;
        sums.base += cell->ratio.base;
        sum += means[mean->kind].into(value); /* NAN if one is missing */
        largest = fmax(largest, value);
        smallest = fmin(smallest, value);
        above += printed(form, cell->value) > mean->than;
        below += printed(form, cell->value) < mean->than;
        count++;
    }
    if (mean->kind == MEAN_OF_VALUES)
        return sums.base != 0 ? show(form, sums.value / sums.base) : NAN;
    if (isnan(sum)) return NAN;
    switch (mean->kind) {
    case MEAN_LARGEST: return show(form, largest);
    case MEAN_SMALLEST: return show(form, smallest);
    case MEAN_ABOVE: return above;
    case MEAN_BELOW: return below;
    default: return show(form, means[mean->kind].back(sum / count));
    }
}

/* ---- Claims ---- */

#define LARGEST_ERROR   (1. / 2) /* of the claim */
#define LEAST_DIRECTION (1. / 3) /* of the claim: smaller changes are neither gain nor loss */

static const char *const verdict_names[VERDICT_COUNT] = {"", "agrees", "direction", "differs"};

const char *table_verdict_name(Verdict verdict) { return verdict_names[verdict]; }

#define CLOSE_ERROR (1. / 4) /* of an absolute value */
#define TINY        1e-9     /* rounding error of the difference of printed numbers */

/* Whether a program is on the paper's side of the threshold at which the text divides the programs.
 */
static bool is_same_side(const Column *column, const Cell *cell) {
    return (printed(column->form, cell->value) >= column->threshold) ==
           (cell->published >= column->threshold);
}

/* Judges a claim that is a bound: at least, or at most, the published value. */
static Verdict judge_bound(const Claim *claim, const FormRow *form, double ours, double published) {
    double beyond = ours - published;
    if (claim->bound == BOUND_MOST) beyond = -beyond;
    double grain = published == form->neutral ? form->grain : 0;
    bool is_within = claim->most == 0 || ours <= claim->most + TINY;
    return is_within && beyond >= -grain - TINY ? VERDICT_AGREES : VERDICT_DIFFERS;
}

static Verdict judge(Form as, const Cell *cell) {
    const FormRow *form = &forms[as];
    if (isnan(cell->value) || isnan(cell->published)) return VERDICT_NONE;
    double value = printed(as, cell->value), published = printed(as, cell->published);
    if (cell->claim->bound) return judge_bound(cell->claim, form, value, published);
    double claim = published - form->neutral, ours = value - form->neutral;
    double error = fabs(ours - claim);
    if (as == FORM_INDEX) return error < 0.5 ? VERDICT_AGREES : VERDICT_DIFFERS;
    double allowed = claim != 0 ? LARGEST_ERROR * fabs(claim) : form->grain;
    if (error <= allowed + TINY) return VERDICT_AGREES;
    bool is_likewise = form->has_direction && claim != 0 && ours / claim >= LEAST_DIRECTION - TINY;
    return is_likewise ? VERDICT_DIRECTION : VERDICT_DIFFERS;
}

ClaimKind table_claim_kind(const Table *table, int row, int column) {
    const Cell *cell = table_cell(table, row, column);
    const Form as = table_form(table, row, column);
    if (cell->claim->bound) return CLAIM_ONE_SIDED;
    if (!forms[as].has_direction) return CLAIM_VALUE;
    return printed(as, cell->published) == forms[as].neutral ? CLAIM_NO_CHANGE : CLAIM_EFFECT;
}

bool table_is_close(const Table *table, int row, int column) {
    const Cell *cell = table_cell(table, row, column);
    const Form as = table_form(table, row, column);
    double published = printed(as, cell->published);
    double error = fabs(printed(as, cell->value) - published);
    return error <= CLOSE_ERROR * fabs(published) + TINY;
}

static int find_column(const Experiment *experiment, const char *label) {
    int i = 0;
    while (strcmp(experiment->columns.list[i].label, label) != 0)
        i++; /* experiment_read has seen that it is there */
    return i;
}

static void add_claims(Table *table) {
    const Experiment *experiment = table->experiment;
    for (int c = 0; c < experiment->published.count; c++) {
        const Claim *claim = &experiment->published.list[c];
        int column = find_column(experiment, claim->column);
        for (int i = 0; i < claim->values.count; i++) {
            int row = experiment_find_row(experiment, claim->values.list[i].row);
            Cell *cell = &table->cells[row * table->columns + column];
            cell->published = claim->values.list[i].number;
            cell->claim = claim;
            cell->verdict = judge(table_form(table, row, column), cell);
        }
    }
}

void table_count_verdicts(const Table *table, int counts[VERDICT_COUNT]) {
    memset(counts, 0, VERDICT_COUNT * sizeof *counts);
    for (int i = 0; i < table->rows * table->columns; i++)
        if (table->cells[i].claim) counts[table->cells[i].verdict]++;
}

Verdict table_verdict_as_one(const Table *table) {
    int counts[VERDICT_COUNT], all = 0, so_far = 0;
    table_count_verdicts(table, counts);
    if (counts[VERDICT_NONE]) return VERDICT_NONE;
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
        all += counts[verdict];
    for (Verdict verdict = VERDICT_AGREES; verdict < VERDICT_DIFFERS; verdict++) {
        so_far += counts[verdict];
        if (2 * so_far >= all) return verdict;
    }
    return VERDICT_DIFFERS;
}

/* Whether it is a mean over all programs, neither an extreme nor a count. */
static bool is_mean(const Mean *mean) {
    return mean->kind != MEAN_LARGEST && mean->kind != MEAN_SMALLEST && !is_counting(mean);
}

const char *table_rests_on(const Table *table, int row, int column, double *without) {
    const Experiment *experiment = table->experiment;
    const FormRow *form = &forms[experiment->columns.list[column].form];
    int programs = experiment->programs.count, found = -1;
    double effect = table_cell(table, row, column)->value - form->neutral;
    double least = fabs(effect) / 2;
    if (row < programs || !is_mean(&experiment->means.list[row - programs])) return NULL;
    if (!form->has_direction || !(fabs(effect) > form->grain)) return NULL;
    for (int i = 0; i < programs; i++) {
        double mean = take_mean(table, &experiment->means.list[row - programs], column, i);
        double left = effect > 0 ? mean - form->neutral : form->neutral - mean;
        if (!(left < least)) continue; /* also skips NAN, the rest of a mean of one program */
        least = left;
        *without = mean;
        found = i;
    }
    return found < 0 ? NULL : experiment->programs.list[found].label;
}

void table_count_sides(const Table *table, int column, int *same_side, int *all) {
    const Column *about = &table->experiment->columns.list[column];
    *same_side = *all = 0;
    for (int i = 0; i < table->experiment->programs.count; i++) {
        const Cell *cell = table_cell(table, i, column);
        if (isnan(cell->value) || isnan(cell->published)) continue;
        *same_side += is_same_side(about, cell);
        ++*all;
    }
}

/* ---- The table ---- */

const Cell *table_cell(const Table *table, int row, int column) {
    return &table->cells[row * table->columns + column];
}

const char *table_row_label(const Table *table, int row) {
    const Experiment *experiment = table->experiment;
    int programs = experiment->programs.count;
    return row < programs ? experiment->programs.list[row].label
                          : experiment->means.list[row - programs].label;
}

bool table_is_count(const Table *table, int row) {
    int mean = row - table->experiment->programs.count;
    return mean >= 0 && is_counting(&table->experiment->means.list[mean]);
}

Form table_form(const Table *table, int row, int column) {
    return table_is_count(table, row) ? FORM_NUMBER : table->experiment->columns.list[column].form;
}

bool table_make(Table *table, const Study *study) {
    const Experiment *experiment = study->experiment;
    int programs = experiment->programs.count;
    *table = (Table){.experiment = experiment,
                     .rows = programs + experiment->means.count,
                     .columns = experiment->columns.count};
    table->cells = allocate((size_t)table->rows * (size_t)table->columns, sizeof *table->cells);
    for (int i = 0; i < table->rows * table->columns; i++)
        table->cells[i].published = NAN;
    for (int row = 0; row < table->rows; row++) {
        for (int column = 0; column < table->columns; column++) {
            Cell *cell = &table->cells[row * table->columns + column];
            if (row >= programs)
                cell->value = take_mean(table, &experiment->means.list[row - programs], column, -1);
            else if (!fill_cell(study, row, &experiment->columns.list[column], cell)) return false;
        }
    }
    add_claims(table);
    return true;
}

void table_free(Table *table) { free(table->cells); }
