/* Plans the runs of an experiment. */
#include "cli/experiment/study.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/program.h"

enum {
    MOST_RUNS =
        1 << 16, /* of an experiment; the largest that comes with Tyto has several hundred */
    MESSAGE_BYTES = 4096,
};

/* The number of runs of a program in a setup: one for each pair of warp and thread block
 * schedulers. */
static int count_choices(const Program *program, const Setup *setup) {
    int ctas = program->cta_scheduler ? 1 : setup->cta_schedulers.count;
    return setup->schedulers.count * (ctas ? ctas : 1);
}

static const char *scheduler_of(const Setup *setup, int choice) {
    return setup->schedulers.list[choice % setup->schedulers.count];
}

static const char *cta_scheduler_of(const Program *program, const Setup *setup, int choice) {
    if (program->cta_scheduler) return program->cta_scheduler;
    if (!setup->cta_schedulers.count) return NULL;
    return setup->cta_schedulers.list[choice / setup->schedulers.count];
}

/* Joins two lists of words. The caller frees the new list. */
static Words join(const Words *words, const Words *more) {
    Words line = {allocate((size_t)(words->count + more->count), sizeof *line.list),
                  words->count + more->count};
    for (int i = 0; i < line.count; i++)
        line.list[i] = i < words->count ? words->list[i] : more->list[i - words->count];
    return line;
}

/* The workload of a program in a setup, with its arguments. The caller frees the list. */
static Words make_program(const Study *study, const Program *program, const Setup *setup) {
    const Words none = {0}, *run = program->run.count ? &program->run : &setup->run;
    return join(run, strcmp(study->size, "paper") == 0 ? &program->at_paper : &none);
}

/* Checks that an experiment runs only workloads: a file must not start a program of the host. */
static bool check_workload(const Study *study, const char *name) {
    if (program_is_workload(name)) return true;
    char *why = program_find_problem(name);
    fields_say(study->experiment->file, name, "%s",
               why ? why : "this is a program, not a workload: use tyto sweep");
    free(why);
    return false;
}

/* Reports what is wrong with a run, with the place in the file. */
static void say_wrong(const Study *study, const Setup *setup, const TaskForm *form,
                      const char *why) {
    char alone[MESSAGE_BYTES];
    const char *wrong = task_form_find_wrong(form, alone, sizeof alone);
    fields_say(study->experiment->file, wrong ? wrong : setup->name, "%s", wrong ? alone : why);
}

/* Adds the runs of a program in a setup. */
static bool plan_pair(Study *study, const Program *program, const Setup *setup) {
    Words words = make_program(study, program, setup), set = join(&setup->set, &program->set);
    bool is_right = check_workload(study, words.list[0]);
    for (int i = 0; i < count_choices(program, setup) && is_right; i++) {
        TaskForm form = {.program = words,
                         .size = study->size,
                         .machine = setup->machine ? setup->machine : study->experiment->machine,
                         .scheduler = scheduler_of(setup, i),
                         .cta_scheduler = cta_scheduler_of(program, setup, i),
                         .set = set,
                         .registers = program->registers ? program->registers : setup->registers,
                         .stop_after = program->stop_after,
                         .record = setup->record,
                         .allows_plugins = study->allows_plugins};
        char *why = NULL;
        int task = engine_add(study->engine, &form, &why);
        if (why) say_wrong(study, setup, &form, why);
        free(why);
        is_right = task >= 0;
        if (is_right)
            study->runs[study->count++] = (Run){.program = program, .setup = setup, .task = task};
    }
    free((void *)words.list);
    free((void *)set.list);
    return is_right;
}

/* The number of runs that the experiment needs; more than MOST_RUNS if there are too many. */
static int count_runs(const Experiment *experiment) {
    int count = 0;
    for (int i = 0; i < experiment->programs.count; i++) {
        for (int j = 0; j < experiment->setups.count && count <= MOST_RUNS; j++)
            count += count_choices(&experiment->programs.list[i], &experiment->setups.list[j]);
    }
    return count;
}

bool study_plan(Study *study) {
    const Experiment *experiment = study->experiment;
    int most = count_runs(experiment);
    if (most > MOST_RUNS) {
        say_error("%s needs more than %d runs", experiment->id, MOST_RUNS);
        return false;
    }
    study->runs = allocate((size_t)most, sizeof *study->runs);
    study->engine = engine_new(study->store);
    bool is_right = true;
    for (int i = 0; i < experiment->programs.count; i++) {
        for (int j = 0; j < experiment->setups.count && is_right; j++)
            is_right = plan_pair(study, &experiment->programs.list[i], &experiment->setups.list[j]);
    }
    return is_right;
}

const RunKey *study_key(const Study *study, const Run *run) {
    return &engine_task(study->engine, run->task)->key;
}

int study_count_missing(const Study *study) {
    return engine_count(study->engine) - engine_count_state(study->engine, RUN_DONE);
}

void study_free(Study *study) {
    free(study->runs);
    engine_free(study->engine);
}
