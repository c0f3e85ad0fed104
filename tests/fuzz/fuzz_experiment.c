/* The reader of experiments: any bytes are read or refused. What an experiment guarantees must
 * hold: names resolve, numbers are numbers, texts are one line of printable characters. */
#include "cli/experiment/experiment.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Replaces src/cli/program.c, which looks for programs on the host: the result must depend only on
 * the input. */
char *program_find_problem(const char *name);
char *program_find_problem(const char *name) {
    (void)name;
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void check_text(const char *text) {
    if (!text) return;
    for (; *text; text++)
        require((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void check_words(const Words *words) {
    for (int i = 0; i < words->count; i++)
        check_text(words->list[i]);
}

static void check_columns(const Experiment *experiment) {
    for (int i = 0; i < experiment->columns.count; i++) {
        const Column *column = &experiment->columns.list[i];
        check_text(column->label);
        check_words(&column->metric);
        require(experiment_find_setup(experiment, column->setup) != NULL);
        require(!column->over || experiment_find_setup(experiment, column->over));
        require(column->form < FORM_COUNT && column->over_row < BASE_COUNT &&
                isfinite(column->threshold));
    }
}

static void check(const Experiment *experiment) {
    check_text(experiment->id);
    check_text(experiment->title);
    check_words(&experiment->absent);
    require(experiment->group < GROUP_COUNT);
    require(experiment->plot < PLOT_COUNT);
    for (int i = 0; i < experiment->programs.count; i++) {
        const Program *program = &experiment->programs.list[i];
        check_text(program->label);
        check_words(&program->run);
        require(program->item >= 0);
    }
    for (int i = 0; i < experiment->setups.count; i++)
        require(experiment->setups.list[i].record < RECORDING_COUNT);
    check_columns(experiment);
    for (int i = 0; i < experiment->published.count; i++) {
        const Claim *claim = &experiment->published.list[i];
        for (int v = 0; v < claim->values.count; v++) {
            require(experiment_find_row(experiment, claim->values.list[v].row) >= 0);
            require(isfinite(claim->values.list[v].number));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static FILE *nowhere; /* messages, which differ for every input */
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    FILE *before = stderr;
    if (nowhere) stderr = nowhere;
    Experiment *experiment = experiment_parse("fuzz", (const char *)bytes, size, size % 2);
    stderr = before;
    if (experiment) check(experiment);
    experiment_free(experiment);
    return 0;
}
