/* Rules for how the parts of an experiment must fit together (see the header). A check may assume
 * that the checks before it found nothing wrong. */
#include "cli/experiment/check.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

enum { MOST_CELLS = 1 << 16 /* of the table */ };

static int find_column(const Experiment *experiment, const char *label) {
    for (int i = 0; i < experiment->columns.count; i++) {
        if (strcmp(experiment->columns.list[i].label, label) == 0) return i;
    }
    return -1;
}

static bool has_value(const Claim *claim, const char *row) {
    for (int i = 0; i < claim->values.count; i++) {
        if (strcmp(claim->values.list[i].row, row) == 0) return true;
    }
    return false;
}

static void need(FieldFile *file, bool is_there, const char *what, const char *name) {
    if (!is_there) fields_say(file, name, "there is no %s '%s'", what, name);
}

/* Limits the rows and columns, because each cell is computed by searching all runs. */
static void check_size(FieldFile *file, const Experiment *experiment) {
    int rows = experiment->programs.count + experiment->means.count;
    need(file, rows * experiment->columns.count <= MOST_CELLS,
         "room for all rows and columns of experiment", experiment->id);
}

/* The id must be the name of the file. A file with another ending, such as a pipe, is not checked.
 */
static void check_id(FieldFile *file, const Experiment *experiment) {
    static const char ending[] = EXPERIMENT_ENDING;
    const char *slash = strrchr(fields_path(file), '/');
    const char *name = slash ? slash + 1 : fields_path(file);
    size_t length = strlen(name), end = sizeof ending - 1;
    if (length < end || strcmp(name + length - end, ending) != 0) return;
    length -= end;
    if (strlen(experiment->id) == length && strncmp(experiment->id, name, length) == 0) return;
    fields_say(file, experiment->id, "the id '%s' is not the file's name, '%.*s'", experiment->id,
               (int)length, name);
}

/* ---- Unique names ---- */

/* Names in a list of records. */
typedef struct Names {
    const char *what; /* in messages; lists with the same word share their names */
    const void *list;
    int count;
    size_t size, offset; /* bytes of a record, and its name's offset */
} Names;

static const char *name_of(const Names *names, int i) {
    const char *record = (const char *)names->list + (size_t)i * names->size;
    return *(const char *const *)(record + names->offset);
}

/* Whether this name is among the first `count` names. */
static bool has_name(const Names *names, int count, const char *name) {
    for (int i = 0; i < count; i++) {
        if (strcmp(name_of(names, i), name) == 0) return true;
    }
    return false;
}

/* Names must be unique. Means are rows too. */
static void check_names_differ(FieldFile *file, const Experiment *experiment) {
#define NAMES(what, field, Type, name)                                                             \
    {what, experiment->field.list, experiment->field.count, sizeof(Type), offsetof(Type, name)}
    const Names lists[] = {
        NAMES("rows", programs, Program, label), NAMES("rows", means, Mean, label),
        NAMES("columns", columns, Column, label), NAMES("setups", setups, Setup, name)};
#undef NAMES
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
        for (int i = 0; i < lists[l].count; i++) {
            const char *name = name_of(&lists[l], i);
            bool is_there = has_name(&lists[l], i, name);
            for (size_t before = 0; before < l; before++)
                is_there |= strcmp(lists[before].what, lists[l].what) == 0 &&
                            has_name(&lists[before], lists[before].count, name);
            if (is_there) fields_say(file, name, "duplicate %s '%s'", lists[l].what, name);
        }
    }
}

/* A cell has at most one published number. */
static void check_claims_differ(FieldFile *file, const Experiment *experiment) {
    size_t rows = (size_t)(experiment->programs.count + experiment->means.count);
    bool *is_published = allocate(rows * (size_t)experiment->columns.count, sizeof *is_published);
    for (int i = 0; i < experiment->published.count; i++) {
        const Claim *at = &experiment->published.list[i];
        size_t column = (size_t)find_column(experiment, at->column);
        for (int v = 0; v < at->values.count; v++) {
            const char *name = at->values.list[v].row;
            bool *is_there =
                &is_published[column * rows + (size_t)experiment_find_row(experiment, name)];
            if (*is_there)
                fields_say(file, name, "column '%s' has two numbers of row '%s'", at->column, name);
            *is_there = true;
        }
    }
    free(is_published);
}

/* ---- References ---- */

/* A run needs a workload, from its row or its setup. */
static void check_runs(FieldFile *file, const Experiment *experiment) {
    for (int i = 0; i < experiment->programs.count; i++) {
        if (experiment->programs.list[i].run.count) continue;
        for (int j = 0; j < experiment->setups.count; j++)
            need(file, experiment->setups.list[j].run.count, "field 'run' for program",
                 experiment->programs.list[i].label);
    }
}

/* Checks the metrics of a column: counters, ratios, scheduler parameters and parts of a record. */
static void check_metric_names(FieldFile *file, const Words *metrics) {
    int count = tyto_counter_count();
    const char **names = allocate((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = tyto_counter(i)->name;
    for (int i = 0; i < metrics->count; i++) {
        const char *name = metrics->list[i];
        if (tyto_find_counter(name) < 0 && !experiment_is_of_scheduler(name) &&
            !record_find_part(name))
            fields_say_unknown(file, "metric", name, names, count);
    }
    free(names);
}

static void check_names(FieldFile *file, const Experiment *experiment) {
    for (int i = 0; i < experiment->columns.count; i++) {
        const Column *at = &experiment->columns.list[i];
        need(file, experiment_find_setup(experiment, at->setup), "setup", at->setup);
        check_metric_names(file, &at->metric);
        check_metric_names(file, &at->per);
        check_metric_names(file, &at->over_metric);
        if (at->over) need(file, experiment_find_setup(experiment, at->over), "setup", at->over);
        if (at->from) need(file, find_column(experiment, at->from) >= 0, "column", at->from);
    }
    for (int i = 0; i < experiment->means.count; i++) {
        const Words *of = &experiment->means.list[i].of;
        for (int w = 0; w < of->count; w++)
            need(file, experiment_find_program(experiment, of->list[w]) >= 0, "program",
                 of->list[w]);
    }
    for (int i = 0; i < experiment->published.count; i++) {
        const Claim *at = &experiment->published.list[i];
        need(file, find_column(experiment, at->column) >= 0, "column", at->column);
        for (int v = 0; v < at->values.count; v++)
            need(file, experiment_find_row(experiment, at->values.list[v].row) >= 0, "row",
                 at->values.list[v].row);
        if (at->most != 0 && at->bound != BOUND_LEAST)
            fields_say(file, at->column, "'most' needs 'bound: least'");
        for (int h = 0; h < at->headline.count; h++)
            need(file, has_value(at, at->headline.list[h]), "value of row", at->headline.list[h]);
    }
}

/* ---- Metrics ---- */

static bool is_given(const Setup *setup, const char *metric) {
    for (int i = 0; i < setup->schedulers.count; i++) {
        if (!isnan(experiment_of_scheduler(setup->schedulers.list[i], metric))) return true;
    }
    return false;
}

static bool has_items(const Experiment *experiment) {
    for (int i = 0; i < experiment->programs.count; i++) {
        if (experiment->programs.list[i].item) return true;
    }
    return false;
}

/* Checks that runs in a setup can have this metric. Every run has the counters and ratios, but not
 * the other metrics. */
static void check_metric(FieldFile *file, const Experiment *experiment, const char *name,
                         const Setup *setup) {
    const RecordPart *part = record_find_part(name);
    if (experiment_is_of_scheduler(name) && !is_given(setup, name))
        fields_say(file, name, "no scheduler of setup '%s' sets a number for '%s'", setup->name,
                   name);
    if (part && part->recording != setup->record)
        fields_say(file, name, "'%s' needs 'record: %s', which setup '%s' lacks", name,
                   record_names[part->recording], setup->name);
    if (part && part->has_items && !has_items(experiment))
        fields_say(file, name, "'%s' needs a program with 'item', and there is none", name);
}

static void check_metrics(FieldFile *file, const Experiment *experiment, const Words *metrics,
                          const char *setup) {
    for (int i = 0; i < metrics->count; i++)
        check_metric(file, experiment, metrics->list[i], experiment_find_setup(experiment, setup));
}

static void check_values(FieldFile *file, const Experiment *experiment) {
    for (int i = 0; i < experiment->columns.count; i++) {
        const Column *at = &experiment->columns.list[i];
        const Words *below = at->over_metric.count ? &at->over_metric : &at->metric;
        check_metrics(file, experiment, &at->metric, at->setup);
        check_metrics(file, experiment, &at->per, at->setup);
        if (!at->over) continue;
        check_metrics(file, experiment, &at->per, at->over);
        check_metrics(file, experiment, below, at->over);
    }
}

/* ---- All of them ---- */

void check_experiment(FieldFile *file, const Experiment *experiment) {
    static void (*const checks[])(FieldFile *, const Experiment *) = {
        check_id,    check_size,          check_names_differ, check_runs,
        check_names, check_claims_differ, check_values};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && !fields_mistakes(file); i++)
        checks[i](file, experiment);
}
