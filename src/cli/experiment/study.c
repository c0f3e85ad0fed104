/* Plans and does the runs of an experiment. */
#include "cli/experiment/study.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/program.h"

enum { PATH_BYTES = 4096, MESSAGE_BYTES = 4096 };

/* ---- Versions: hashes of contents, so that no run of another build is taken for one of this ----
 */

/* FNV-1a, 64 bits. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool hash_file(uint64_t *hash, const char *path) {
    size_t length;
    char *bytes = file_read(path, &length);
    if (!bytes) return false;
    *hash = hash_bytes(*hash, bytes, length);
    free(bytes);
    return true;
}

/* The library's own hash; what every run depends on. */
static bool hash_library(uint64_t *hash) {
    char path[PATH_BYTES];
    *hash = UINT64_C(0xcbf29ce484222325);
    return program_find_library(path, sizeof path) && hash_file(hash, path);
}

/* The workload: its program and its PTX. */
static bool hash_workload(uint64_t *hash, const char *name) {
    char path[PATH_BYTES];
    if (!program_find(name, path, sizeof path - 8)) return false;
    if (!hash_file(hash, path)) return false;
    strcat(path, ".ptx");
    return hash_file(hash, path);
}

/* ---- Planning ---- */

static const char *machine_of(const Study *study, const Setup *setup) {
    return setup->machine ? setup->machine : study->experiment->machine;
}

/* Words with blanks between them. The caller frees it. */
static char *join(const Words *words) {
    size_t size = 1;
    for (int i = 0; i < words->count; i++)
        size += strlen(words->list[i]) + 1;
    char *text = allocate(size, 1), *end = text;
    for (int i = 0; i < words->count; i++)
        end += sprintf(end, "%s%s", i ? " " : "", words->list[i]);
    return text;
}

static char *copy(const char *text) {
    char *made = allocate(strlen(text) + 1, 1);
    return strcpy(made, text);
}

/* The options of a run, but for its output; `words` has room for them. */
static int list_options(const Study *study, const Setup *setup, const char *scheduler,
                        const char *cta_scheduler, const char **words) {
    int count = 0;
    words[count++] = "--machine";
    words[count++] = machine_of(study, setup);
    words[count++] = "--scheduler";
    words[count++] = scheduler;
    if (cta_scheduler) {
        words[count++] = "--cta-scheduler";
        words[count++] = cta_scheduler;
    }
    for (int i = 0; i < setup->set.count; i++) {
        words[count++] = "--set";
        words[count++] = setup->set.list[i];
    }
    return count;
}

/* Room for the options of a run, with those that study_run adds. */
static const char **allocate_options(const Setup *setup) {
    return allocate((size_t)(2 * setup->set.count + 9), sizeof(char *));
}

/* The runs of a program in a setup: every warp scheduler with every thread block scheduler. */
static int count_choices(const Setup *setup) {
    int ctas = setup->cta_schedulers.count;
    return setup->schedulers.count * (ctas ? ctas : 1);
}

static const char *scheduler_of(const Setup *setup, int choice) {
    return setup->schedulers.list[choice % setup->schedulers.count];
}

static const char *cta_scheduler_of(const Setup *setup, int choice) {
    if (!setup->cta_schedulers.count) return NULL;
    return setup->cta_schedulers.list[choice / setup->schedulers.count];
}

/* Checks a setup with each of its schedulers before anything runs. */
static bool check_setup(const Study *study, const Setup *setup) {
    const char **words = allocate_options(setup);
    bool is_right = true;
    for (int i = 0; i < count_choices(setup); i++) {
        char message[MESSAGE_BYTES];
        int count =
            list_options(study, setup, scheduler_of(setup, i), cta_scheduler_of(setup, i), words);
        if (tyto_check_options(count, words, message, sizeof message) == TYTO_OK) continue;
        say_error("%s, setup %s: %s", study->experiment->id, setup->name, message);
        is_right = false;
    }
    free(words);
    return is_right;
}

/* The machine as it is, with a setup's changes. */
static bool hash_machine(uint64_t *hash, const Study *study, const Setup *setup) {
    char message[MESSAGE_BYTES];
    char *text = tyto_machine_text(machine_of(study, setup), setup->set.count, setup->set.list,
                                   message, sizeof message);
    if (text) *hash = hash_bytes(*hash, text, strlen(text));
    else say_error("%s, setup %s: %s", study->experiment->id, setup->name, message);
    free(text);
    return text != NULL;
}

static void make_key(const Study *study, Run *run, uint64_t hash) {
    char version[64];
    snprintf(version, sizeof version, "%s-%016llx", tyto_version(), (unsigned long long)hash);
    run->key = (RunKey){
        .program = join(&run->program->run),
        .size = copy(study->size),
        .machine = copy(machine_of(study, run->setup)),
        .overrides = join(&run->setup->set),
        .scheduler = copy(run->scheduler),
        .cta_scheduler = copy(run->cta_scheduler ? run->cta_scheduler : ""),
        .version = copy(version),
    };
}

/* Whether the same run is planned already: programs that differ in their kernel share runs. */
static bool is_planned(const Study *study, const RunKey *key) {
    for (int i = 0; i < study->count; i++) {
        const RunKey *other = &study->runs[i].key;
        if (strcmp(other->program, key->program) == 0 &&
            strcmp(other->machine, key->machine) == 0 &&
            strcmp(other->overrides, key->overrides) == 0 &&
            strcmp(other->scheduler, key->scheduler) == 0 &&
            strcmp(other->cta_scheduler, key->cta_scheduler) == 0)
            return true;
    }
    return false;
}

/* Adds the runs of a program in a setup. */
static bool plan_pair(Study *study, const Program *program, const Setup *setup, uint64_t hash) {
    if (!hash_machine(&hash, study, setup)) return false;
    for (int i = 0; i < count_choices(setup); i++) {
        Run *run = &study->runs[study->count];
        *run = (Run){.program = program,
                     .setup = setup,
                     .scheduler = scheduler_of(setup, i),
                     .cta_scheduler = cta_scheduler_of(setup, i)};
        make_key(study, run, hash);
        run->is_repeated = is_planned(study, &run->key);
        study->count++;
        if (!store_has(study->store, &run->key, &run->is_there)) return false;
    }
    return true;
}

static bool plan_program(Study *study, const Program *program, uint64_t hash) {
    if (!hash_workload(&hash, program->run.list[0])) return false;
    for (int i = 0; i < study->experiment->setups.count; i++) {
        if (!plan_pair(study, program, &study->experiment->setups.list[i], hash)) return false;
    }
    return true;
}

bool study_plan(Study *study, const Experiment *experiment, Store *store, const char *size) {
    *study = (Study){.experiment = experiment, .store = store, .size = size};
    int most = 0;
    bool is_right = true;
    for (int i = 0; i < experiment->setups.count; i++) {
        is_right &= check_setup(study, &experiment->setups.list[i]);
        most += count_choices(&experiment->setups.list[i]) * experiment->programs.count;
    }
    uint64_t library;
    if (!is_right || !hash_library(&library)) return false;
    study->runs = allocate((size_t)most, sizeof *study->runs);
    for (int i = 0; i < experiment->programs.count && is_right; i++)
        is_right = plan_program(study, &experiment->programs.list[i], library);
    return is_right;
}

static bool is_missing(const Run *run) {
    return !run->is_there && !run->is_repeated;
}

int study_count_missing(const Study *study) {
    int count = 0;
    for (int i = 0; i < study->count; i++)
        count += is_missing(&study->runs[i]);
    return count;
}

void study_free(Study *study) {
    for (int i = 0; i < study->count; i++) {
        const RunKey *key = &study->runs[i].key;
        char *texts[] = {key->program,   key->size,          key->machine, key->overrides,
                         key->scheduler, key->cta_scheduler, key->version};
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
            free(texts[t]);
    }
    free(study->runs);
}

/* ---- Running ---- */

/* What goes on while the runs are done. */
typedef struct Campaign {
    Study *study;
    const Executor *executor;
    void *state;             /* the executor's */
    char folder[PATH_BYTES]; /* temporary: what the programs write */
    int total, done, failed; /* runs */
    int running, jobs;       /* runs at once: now, at most */
    time_t start;            /* seconds */
    bool is_shown;           /* progress goes to a terminal */
} Campaign;

static void name_file(const Campaign *campaign, int number, const char *ending, char *path) {
    snprintf(path, PATH_BYTES, "%.4000s/%d.%s", campaign->folder, number, ending);
}

/* One line, written over and over: what is done, and how long the rest takes at the pace so far. */
static void show_progress(const Campaign *campaign) {
    if (!campaign->is_shown) return;
    fprintf(stderr, "\r\x1b[K%s: %d of %d runs done, %d running", campaign->study->experiment->id,
            campaign->done, campaign->total, campaign->running);
    if (campaign->done) {
        double pace = difftime(time(NULL), campaign->start) / campaign->done;
        long left = (long)(pace * (campaign->total - campaign->done));
        fprintf(stderr, ", %ld:%02ld left", left / 60, left % 60);
    }
}

static void end_progress(const Campaign *campaign) {
    if (campaign->is_shown) fprintf(stderr, "\r\x1b[K");
}

static bool start_run(Campaign *campaign, int number) {
    const Run *run = &campaign->study->runs[number];
    const Words *words = &run->program->run;
    char json[PATH_BYTES], output[PATH_BYTES];
    name_file(campaign, number, "json", json);
    name_file(campaign, number, "out", output);

    const char **options = allocate_options(run->setup);
    int count =
        list_options(campaign->study, run->setup, run->scheduler, run->cta_scheduler, options);
    options[count++] = "--json";
    options[count++] = json;
    options[count++] = "--quiet";

    char **line = allocate((size_t)words->count + 3, sizeof *line);
    int length = 0;
    line[length++] = copy(words->list[0]);
    line[length++] = copy("--size");
    line[length++] = copy(campaign->study->size);
    for (int i = 1; i < words->count; i++)
        line[length++] = copy(words->list[i]);

    const Job job = {.words = line, .options = options, .option_count = count, .output = output};
    bool is_started = campaign->executor->start(campaign->state, &job, number);
    for (int i = 0; i < length; i++)
        free(line[i]);
    free(line);
    free(options);
    return is_started;
}

/* Says which run failed, and what its program printed. */
static void say_failure(Campaign *campaign, int number, int status) {
    const Run *run = &campaign->study->runs[number];
    char path[PATH_BYTES];
    size_t length;
    end_progress(campaign);
    campaign->failed++;
    if (WIFSIGNALED(status))
        say_error("%s under %s on %s was ended by signal %d:", run->key.program, run->scheduler,
                  run->key.machine, WTERMSIG(status));
    else
        say_error("%s under %s on %s failed with status %d:", run->key.program, run->scheduler,
                  run->key.machine, WEXITSTATUS(status));
    name_file(campaign, number, "out", path);
    char *output = access(path, R_OK) == 0 ? file_read(path, &length) : NULL;
    if (output) fputs(output, stderr);
    free(output);
}

/* Keeps the result of a run that has ended. False when the store fails. */
static bool keep_run(Campaign *campaign, int number, int status) {
    Run *run = &campaign->study->runs[number];
    char json[PATH_BYTES], output[PATH_BYTES];
    size_t length;
    bool is_kept = true;
    name_file(campaign, number, "json", json);
    name_file(campaign, number, "out", output);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        say_failure(campaign, number, status);
    } else {
        char *text = file_read(json, &length);
        is_kept = text && store_add(campaign->study->store, &run->key, text);
        run->is_there = is_kept;
        free(text);
    }
    campaign->running--;
    campaign->done++;
    unlink(json);
    unlink(output);
    return is_kept;
}

/* Waits for one event, and deals with it. */
static StudyEnd take_event(Campaign *campaign) {
    int number, status;
    show_progress(campaign);
    switch (campaign->executor->wait(campaign->state, &number, &status)) {
    case EVENT_ENDED: return keep_run(campaign, number, status) ? STUDY_DONE : STUDY_FAILED;
    case EVENT_INTERRUPTED: return STUDY_INTERRUPTED;
    case EVENT_NONE: break;
    }
    return STUDY_DONE;
}

static StudyEnd run_all(Campaign *campaign) {
    StudyEnd end = STUDY_DONE;
    for (int i = 0; i < campaign->study->count && end == STUDY_DONE; i++) {
        if (!is_missing(&campaign->study->runs[i])) continue;
        while (campaign->running == campaign->jobs && end == STUDY_DONE)
            end = take_event(campaign);
        if (end != STUDY_DONE) break;
        if (!start_run(campaign, i)) end = STUDY_FAILED;
        else campaign->running++;
    }
    while (campaign->running && end == STUDY_DONE)
        end = take_event(campaign);
    return end;
}

static bool make_folder(Campaign *campaign) {
    const char *place = getenv("TMPDIR");
    snprintf(campaign->folder, sizeof campaign->folder, "%s/tyto-reproduce-XXXXXX",
             place && *place ? place : "/tmp");
    if (mkdtemp(campaign->folder)) return true;
    say_error("cannot make the folder %s: %s", campaign->folder, strerror(errno));
    return false;
}

static void remove_folder(const Campaign *campaign) {
    char path[PATH_BYTES];
    for (int i = 0; i < campaign->study->count; i++) {
        name_file(campaign, i, "json", path);
        unlink(path);
        name_file(campaign, i, "out", path);
        unlink(path);
    }
    rmdir(campaign->folder);
}

StudyEnd study_run(Study *study, const Executor *executor, int jobs) {
    Campaign campaign = {.study = study,
                         .executor = executor,
                         .total = study_count_missing(study),
                         .jobs = jobs,
                         .start = time(NULL),
                         .is_shown = isatty(STDERR_FILENO)};
    if (!campaign.total) return STUDY_DONE;
    if (!make_folder(&campaign)) return STUDY_FAILED;
    campaign.state = executor->open(jobs);
    StudyEnd end = campaign.state ? run_all(&campaign) : STUDY_FAILED;
    if (campaign.state) executor->close(campaign.state);
    end_progress(&campaign);
    remove_folder(&campaign);
    return end == STUDY_DONE && campaign.failed ? STUDY_FAILED : end;
}
