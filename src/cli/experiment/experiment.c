/* Reads experiments. The tables of fields below define the form of a file. */
#include "cli/experiment/experiment.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/engine/fields.h"
#include "cli/experiment/check.h"
#include "cli/files.h"

/* ---- Fields of a file ---- */

static const char *const forms[] = {"ratio",        "percent", "change", "decrease",
                                    "per-thousand", "number",  "index",  NULL};
static_assert(sizeof forms / sizeof forms[0] == FORM_COUNT + 1, "a name for each form");
static const char *const means[] = {"arithmetic", "geometric", "harmonic", "largest", "smallest",
                                    "of-values",  "above",     "below",    NULL};
static_assert(sizeof means / sizeof means[0] == MEAN_COUNT + 1, "a name for each mean");

static const char *const bases[] = {"none", "first", "previous", NULL};
static_assert(sizeof bases / sizeof bases[0] == BASE_COUNT + 1, "a name for each base");
static const char *const bounds[] = {"none", "least", "most", NULL};
static_assert(sizeof bounds / sizeof bounds[0] == BOUND_COUNT + 1, "a name for each bound");
static const char *const countings[] = {"each", "as-one", NULL};
static_assert(sizeof countings / sizeof countings[0] == COUNTING_COUNT + 1,
              "a name for each way of counting");
static const char *const plots[] = {"bars", "lines", "spans", NULL};
static_assert(sizeof plots / sizeof plots[0] == PLOT_COUNT + 1, "a name for each plot");

static const char *const groups[] = {"papers", "later", NULL};
static_assert(sizeof groups / sizeof groups[0] == GROUP_COUNT + 1, "a name for each group");

static const Field program_fields[] = {
    {"label", FIELD_TEXT, offsetof(Program, label), true, NULL, NULL},
    {"run", FIELD_WORDS, offsetof(Program, run), false, NULL, NULL},
    {"at_paper", FIELD_WORDS, offsetof(Program, at_paper), false, NULL, NULL},
    {"kernel", FIELD_TEXT, offsetof(Program, kernel), false, NULL, NULL},
    {"cta_scheduler", FIELD_POLICY, offsetof(Program, cta_scheduler), false, NULL, NULL},
    {"registers", FIELD_TEXT, offsetof(Program, registers), false, NULL, NULL},
    {"stop_after", FIELD_TEXT, offsetof(Program, stop_after), false, NULL, NULL},
    {"set", FIELD_SETS, offsetof(Program, set), false, NULL, NULL},
    {"item", FIELD_ORDINAL, offsetof(Program, item), false, NULL, NULL},
};
FIELDS_RECORD(program, Program, program_fields);

static const Field setup_fields[] = {
    {"name", FIELD_TEXT, offsetof(Setup, name), true, NULL, NULL},
    {"machine", FIELD_MACHINE, offsetof(Setup, machine), false, NULL, NULL},
    {"scheduler", FIELD_POLICIES, offsetof(Setup, schedulers), true, NULL, NULL},
    {"cta_scheduler", FIELD_POLICIES, offsetof(Setup, cta_schedulers), false, NULL, NULL},
    {"set", FIELD_SETS, offsetof(Setup, set), false, NULL, NULL},
    {"run", FIELD_WORDS, offsetof(Setup, run), false, NULL, NULL},
    {"registers", FIELD_TEXT, offsetof(Setup, registers), false, NULL, NULL},
    {"record", FIELD_CHOICE, offsetof(Setup, record), false, record_names, NULL},
};
FIELDS_RECORD(setup, Setup, setup_fields);

static const Field column_fields[] = {
    {"label", FIELD_TEXT, offsetof(Column, label), true, NULL, NULL},
    {"metric", FIELD_WORDS, offsetof(Column, metric), true, NULL, NULL},
    {"per", FIELD_WORDS, offsetof(Column, per), false, NULL, NULL},
    {"setup", FIELD_TEXT, offsetof(Column, setup), true, NULL, NULL},
    {"over", FIELD_TEXT, offsetof(Column, over), false, NULL, NULL},
    {"over_metric", FIELD_WORDS, offsetof(Column, over_metric), false, NULL, NULL},
    {"over_row", FIELD_CHOICE, offsetof(Column, over_row), false, bases, NULL},
    {"from", FIELD_TEXT, offsetof(Column, from), false, NULL, NULL},
    {"form", FIELD_CHOICE, offsetof(Column, form), true, forms, NULL},
    {"threshold", FIELD_NUMBER, offsetof(Column, threshold), false, NULL, NULL},
};
FIELDS_RECORD(column, Column, column_fields);

static const Field mean_fields[] = {
    {"label", FIELD_TEXT, offsetof(Mean, label), true, NULL, NULL},
    {"kind", FIELD_CHOICE, offsetof(Mean, kind), true, means, NULL},
    {"of", FIELD_WORDS, offsetof(Mean, of), false, NULL, NULL},
    {"than", FIELD_NUMBER, offsetof(Mean, than), false, NULL, NULL},
};
FIELDS_RECORD(mean, Mean, mean_fields);

static const Field claim_fields[] = {
    {"column", FIELD_TEXT, offsetof(Claim, column), true, NULL, NULL},
    {"place", FIELD_TEXT, offsetof(Claim, place), true, NULL, NULL},
    {"examined", FIELD_TEXT, offsetof(Claim, examined), false, NULL, NULL},
    {"headline", FIELD_WORDS, offsetof(Claim, headline), false, NULL, NULL},
    {"bound", FIELD_CHOICE, offsetof(Claim, bound), false, bounds, NULL},
    {"most", FIELD_NUMBER, offsetof(Claim, most), false, NULL, NULL},
    {"repeats", FIELD_TEXT, offsetof(Claim, repeats), false, NULL, NULL},
    {"derived", FIELD_TEXT, offsetof(Claim, derived), false, NULL, NULL},
    {"fitted", FIELD_TEXT, offsetof(Claim, fitted), false, NULL, NULL},
    {"values", FIELD_VALUES, offsetof(Claim, values), true, NULL, NULL},
};
FIELDS_RECORD(claim, Claim, claim_fields);

static const Field experiment_fields[] = {
    {"id", FIELD_TEXT, offsetof(Experiment, id), true, NULL, NULL},
    {"group", FIELD_CHOICE, offsetof(Experiment, group), false, groups, NULL},
    {"paper", FIELD_TEXT, offsetof(Experiment, paper), true, NULL, NULL},
    {"title", FIELD_TEXT, offsetof(Experiment, title), true, NULL, NULL},
    {"place", FIELD_TEXT, offsetof(Experiment, place), true, NULL, NULL},
    {"machine", FIELD_MACHINE, offsetof(Experiment, machine), true, NULL, NULL},
    {"absent", FIELD_WORDS, offsetof(Experiment, absent), false, NULL, NULL},
    {"plot", FIELD_CHOICE, offsetof(Experiment, plot), false, plots, NULL},
    {"count", FIELD_CHOICE, offsetof(Experiment, counting), false, countings, NULL},
    {"programs", FIELD_RECORDS, offsetof(Experiment, programs), true, NULL, &program_record},
    {"setups", FIELD_RECORDS, offsetof(Experiment, setups), true, NULL, &setup_record},
    {"columns", FIELD_RECORDS, offsetof(Experiment, columns), true, NULL, &column_record},
    {"means", FIELD_RECORDS, offsetof(Experiment, means), false, NULL, &mean_record},
    {"published", FIELD_RECORDS, offsetof(Experiment, published), false, NULL, &claim_record},
};
FIELDS_RECORD(experiment, Experiment, experiment_fields);

/* ---- Parameters of schedulers ---- */

static const char of_scheduler[] = "scheduler.";

bool experiment_is_of_scheduler(const char *metric) {
    return strncmp(metric, of_scheduler, sizeof of_scheduler - 1) == 0;
}

double experiment_of_scheduler(const char *scheduler, const char *metric) {
    const char *parameter = metric + sizeof of_scheduler - 1;
    size_t length = strlen(parameter);
    for (const char *at = strpbrk(scheduler, ":,"); at; at = strpbrk(at, ":,")) {
        if (strncmp(++at, parameter, length) != 0 || at[length] != '=') continue;
        char *end;
        double number = strtod(at + length + 1, &end);
        return end > at + length + 1 && (!*end || *end == ',') ? number : NAN;
    }
    return NAN;
}

/* ---- Names ---- */

int experiment_find_program(const Experiment *experiment, const char *label) {
    for (int i = 0; i < experiment->programs.count; i++) {
        if (strcmp(experiment->programs.list[i].label, label) == 0) return i;
    }
    return -1;
}

int experiment_find_row(const Experiment *experiment, const char *label) {
    int program = experiment_find_program(experiment, label);
    if (program >= 0) return program;
    for (int i = 0; i < experiment->means.count; i++) {
        if (strcmp(experiment->means.list[i].label, label) == 0)
            return experiment->programs.count + i;
    }
    return -1;
}

const Setup *experiment_find_setup(const Experiment *experiment, const char *name) {
    for (int i = 0; i < experiment->setups.count; i++) {
        if (strcmp(experiment->setups.list[i].name, name) == 0) return &experiment->setups.list[i];
    }
    return NULL;
}

/* ---- Files ---- */

Experiment *experiment_parse(const char *path, const char *text, size_t length,
                             bool allows_plugins) {
    FieldFile *file = fields_new(path, allows_plugins);
    Experiment *out = fields_read(file, &experiment_record, text, length);
    if (out) out->file = file;
    if (out) out->hash = tyto_hash(0, text, length);
    if (!fields_mistakes(file)) check_experiment(file, out);
    if (!fields_mistakes(file)) return out;
    fields_free(file);
    return NULL;
}

Experiment *experiment_read(const char *path, bool allows_plugins) {
    size_t length;
    char *text = file_read(path, FILE_TEXT_MAX, &length);
    if (!text) return NULL;
    Experiment *experiment = experiment_parse(path, text, length, allows_plugins);
    free(text);
    return experiment;
}

void experiment_free(Experiment *experiment) {
    if (experiment) fields_free(experiment->file); /* frees the experiment too */
}
