/* Plans and does the runs of an experiment. */
#include "cli/experiment/study.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/experiment/contents.h"
#include "cli/experiment/record.h"
#include "cli/files.h"
#include "cli/program.h"
#include "cli/scratch.h"

enum {
    PATH_BYTES = 4096,
    MESSAGE_BYTES = 4096,
    VERSION_BYTES = 64,
    MOST_RUNS = 1 << 16 /* of an experiment; the largest that comes with Tyto has some hundreds */
};

/* ---- Planning ---- */

static const char *machine_of(const Study *study, const Setup *setup) {
    return setup->machine ? setup->machine : study->experiment->machine;
}

static char *copy(const char *text) {
    char *made = allocate(strlen(text) + 1, 1);
    return strcpy(made, text);
}

/* A word so that no two lists of words become the same text: with blanks, quotes or nothing in it,
 * in quotes. */
static void write_word(const char *word, FILE *to) {
    if (*word && !strpbrk(word, " '\\")) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++) {
        if (*word == '\'' || *word == '\\') fputc('\\', to);
        fputc(*word, to);
    }
    fputc('\'', to);
}

/* Words with blanks between them. The caller frees it. */
static char *join(const Words *words) {
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    for (int i = 0; to && i < words->count; i++) {
        if (i) fputc(' ', to);
        write_word(words->list[i], to);
    }
    if (to) fclose(to);
    return text ? text : copy("");
}

static int add_option(const char **words, int count, const char *name, const char *value) {
    if (!value) return count;
    words[count] = name;
    words[count + 1] = value;
    return count + 2;
}

/* The options of a run, but for its output; `words` has room for them. */
static int list_options(const Study *study, const Run *run, const char **words) {
    int count = 0;
    count = add_option(words, count, "--machine", machine_of(study, run->setup));
    count = add_option(words, count, "--scheduler", run->scheduler);
    count = add_option(words, count, "--cta-scheduler", run->cta_scheduler);
    count = add_option(words, count, "--registers", run->program->registers);
    for (int i = 0; i < run->setup->set.count; i++)
        count = add_option(words, count, "--set", run->setup->set.list[i]);
    if (study->allows_plugins) words[count++] = "--allow-plugins";
    return count;
}

/* Room for the options of a run, with those that study_run adds. */
static const char **allocate_options(const Setup *setup) {
    return allocate((size_t)(2 * setup->set.count + 18), sizeof(char *));
}

/* The runs of a program in a setup: every warp scheduler with every thread block scheduler. */
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

/* What decides the run's result, as a hash of its content: the library, the options and what they
 * name (machine, policies, the code of plug-ins), the workload. False after a message: one of them
 * does not exist. */
static bool find_version(Study *study, const Run *run, uint64_t *version) {
    char message[MESSAGE_BYTES];
    const char **words = allocate_options(run->setup);
    int count = list_options(study, run, words);
    char *identity = tyto_identity(count, words, message, sizeof message);
    free(words);
    if (!identity) say_error("%s, setup %s: %s", study->experiment->id, run->setup->name, message);
    bool is_right = identity && contents_add_library(study->contents, version) &&
                    contents_add_workload(study->contents, run->line.list[0], version);
    if (is_right) *version = tyto_hash(*version, identity, strlen(identity));
    free(identity);
    return is_right;
}

/* The workload of a program in a setup, with its arguments. The caller frees the list. */
static Words make_line(const Study *study, const Program *program, const Setup *setup) {
    const Words *run = program->run.count ? &program->run : &setup->run;
    int more = strcmp(study->size, "paper") == 0 ? program->at_paper.count : 0;
    Words line = {allocate((size_t)(run->count + more), sizeof *line.list), run->count + more};
    memcpy(line.list, run->list, (size_t)run->count * sizeof *line.list);
    for (int i = 0; i < more; i++)
        line.list[run->count + i] = program->at_paper.list[i];
    return line;
}

/* What a run changes, besides its schedulers. The caller frees it. */
static char *make_overrides(const Run *run) {
    const char *record = run->setup->record ? experiment_recordings[run->setup->record] : NULL;
    const char *registers = run->program->registers;
    char *set = join(&run->setup->set), *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (to && record) fprintf(to, "record=%s ", record);
    if (to && registers) fprintf(to, "registers=%s ", registers);
    if (to) fputs(set, to);
    if (to) fclose(to);
    free(set);
    return text ? text : copy("");
}

static void write_version(uint64_t hash, char text[VERSION_BYTES]) {
    snprintf(text, VERSION_BYTES, "%s-%016llx", tyto_version(), (unsigned long long)hash);
}

static void make_key(const Study *study, Run *run, uint64_t hash) {
    char version[VERSION_BYTES];
    write_version(hash, version);
    run->key = (RunKey){
        .program = join(&run->line),
        .size = copy(study->size),
        .machine = copy(machine_of(study, run->setup)),
        .overrides = make_overrides(run),
        .scheduler = copy(run->scheduler),
        .cta_scheduler = copy(run->cta_scheduler ? run->cta_scheduler : ""),
        .version = copy(version),
    };
}

static bool is_same_key(const RunKey *one, const RunKey *other) {
    return strcmp(one->program, other->program) == 0 && strcmp(one->machine, other->machine) == 0 &&
           strcmp(one->overrides, other->overrides) == 0 &&
           strcmp(one->scheduler, other->scheduler) == 0 &&
           strcmp(one->cta_scheduler, other->cta_scheduler) == 0 &&
           strcmp(one->version, other->version) == 0;
}

static uint64_t hash_key(const RunKey *key) {
    const char *const texts[] = {key->program,   key->machine,       key->overrides,
                                 key->scheduler, key->cta_scheduler, key->version};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        hash = tyto_hash(hash, texts[i], strlen(texts[i]) + 1);
    return hash;
}

/* Whether the same run is planned already: programs that differ in their kernel share runs. If not,
 * it is remembered. */
static bool is_planned(Study *study, const Run *run) {
    uint64_t at = hash_key(&run->key);
    for (;; at++) {
        int *slot = &study->planned[at % (uint64_t)study->planned_slots];
        if (!*slot) {
            *slot = (int)(run - study->runs) + 1;
            return false;
        }
        if (is_same_key(&study->runs[*slot - 1].key, &run->key)) return true;
    }
}

/* Adds the runs of a program in a setup. */
static bool plan_pair(Study *study, const Program *program, const Setup *setup) {
    for (int i = 0; i < count_choices(program, setup); i++) {
        Run *run = &study->runs[study->count];
        uint64_t version = 0;
        *run = (Run){.program = program,
                     .setup = setup,
                     .line = make_line(study, program, setup),
                     .scheduler = scheduler_of(setup, i),
                     .cta_scheduler = cta_scheduler_of(program, setup, i)};
        study->count++;
        if (!find_version(study, run, &version)) return false;
        make_key(study, run, version);
        run->is_repeated = is_planned(study, run);
        if (!store_has(study->store, &run->key, &run->is_there)) return false;
    }
    return true;
}

/* How many runs the experiment asks for; more than MOST_RUNS when there are too many. */
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
        say_error("%s asks for more than %d runs", experiment->id, MOST_RUNS);
        return false;
    }
    study->runs = allocate((size_t)most, sizeof *study->runs);
    study->planned_slots = 2 * most + 1;
    study->planned = allocate((size_t)study->planned_slots, sizeof *study->planned);
    study->contents = contents_new();
    bool is_right = true;
    for (int i = 0; i < experiment->programs.count; i++) {
        for (int j = 0; j < experiment->setups.count && is_right; j++)
            is_right = plan_pair(study, &experiment->programs.list[i], &experiment->setups.list[j]);
    }
    return is_right;
}

static bool is_missing(const Run *run) { return !run->is_there && !run->is_repeated; }

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
        free(study->runs[i].line.list);
    }
    free(study->runs);
    free(study->planned);
    contents_free(study->contents);
}

/* ---- Running ---- */

/* What goes on while the runs are done. */
typedef struct Campaign {
    Study *study;
    const Executor *executor;
    void *state;             /* the executor's */
    Scratch scratch;         /* what the programs write */
    int total, done, failed; /* runs */
    int running, jobs;       /* runs at once: now, at most */
    time_t start;            /* seconds */
    bool is_shown;           /* progress goes to a terminal */
} Campaign;

static void name_file(const Campaign *campaign, int number, const char *ending, char *path) {
    snprintf(path, PATH_BYTES, "%s/%d.%s", campaign->scratch.path, number, ending);
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

/* Whether what the run records is a replay of its L1D lookups. */
static bool has_replay(const Run *run) { return run->setup->record >= RECORD_LRU; }

/* Starts a job with `count` words, which need not outlive the call. */
static bool start_job(Campaign *campaign, int number, const char *const *words, int count,
                      Job job) {
    char output[PATH_BYTES];
    name_file(campaign, number, "out", output);
    job.output = output;
    job.words = allocate((size_t)count + 1, sizeof *job.words);
    for (int i = 0; i < count; i++)
        job.words[i] = copy(words[i]);
    bool is_started = campaign->executor->start(campaign->state, &job, number);
    for (int i = 0; i < count; i++)
        free(job.words[i]);
    free(job.words);
    return is_started;
}

static bool start_run(Campaign *campaign, int number) {
    const Run *run = &campaign->study->runs[number];
    const Words *words = &run->line;
    char json[PATH_BYTES], ctas[PATH_BYTES], policies[PATH_BYTES], trace[PATH_BYTES];
    name_file(campaign, number, "json", json);
    name_file(campaign, number, "ctas", ctas);
    name_file(campaign, number, "policies", policies);
    name_file(campaign, number, "l1d", trace);

    const char **options = allocate_options(run->setup);
    int count = list_options(campaign->study, run, options);
    count = add_option(options, count, "--json", json);
    if (run->setup->record == RECORD_CTAS) {
        count = add_option(options, count, "--ctas", ctas);
        count = add_option(options, count, "--policies", policies);
        count = add_option(options, count, "--sample", RECORD_CYCLES);
    }
    if (has_replay(run)) count = add_option(options, count, "--record-l1d", trace);
    options[count++] = "--quiet";

    const char **line = allocate((size_t)words->count + 2, sizeof *line);
    int length = 0;
    line[length++] = words->list[0];
    line[length++] = "--size";
    line[length++] = campaign->study->size;
    for (int i = 1; i < words->count; i++)
        line[length++] = words->list[i];
    bool is_started =
        start_job(campaign, number, line, length, (Job){.options = options, .option_count = count});
    free(line);
    free(options);
    return is_started;
}

/* Starts the replay of what a run's program has recorded, by the command that this is. */
static bool start_replay(Campaign *campaign, int number) {
    Run *run = &campaign->study->runs[number];
    char self[PATH_BYTES], trace[PATH_BYTES], replay[PATH_BYTES];
    if (!program_find_self(self, sizeof self)) return false;
    name_file(campaign, number, "l1d", trace);
    name_file(campaign, number, "replay", replay);
    const char *line[] = {self, "cache", trace, "--json", replay, "--unbounded", NULL};
    int length = 6;
    if (run->setup->record != RECORD_UNBOUNDED) {
        line[5] = "--policy";
        line[length++] = experiment_recordings[run->setup->record];
    }
    run->is_replaying = true;
    return start_job(campaign, number, line, length, (Job){0});
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
    char *output = access(path, R_OK) == 0 ? file_read(path, FILE_DATA_MAX, &length) : NULL;
    if (output) fputs(output, stderr);
    free(output);
}

static void remove_files(const Campaign *campaign, int number) {
    static const char *const endings[] = {"json", "out", "ctas", "policies", "l1d", "replay"};
    char path[PATH_BYTES];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        name_file(campaign, number, endings[i], path);
        unlink(path);
    }
}

/* What a run has recorded, as JSON; NULL after a message. The caller frees it. */
static char *read_record(const Campaign *campaign, int number) {
    const Run *run = &campaign->study->runs[number];
    char ctas[PATH_BYTES], policies[PATH_BYTES], replay[PATH_BYTES];
    name_file(campaign, number, "ctas", ctas);
    name_file(campaign, number, "policies", policies);
    name_file(campaign, number, "replay", replay);
    return has_replay(run) ? record_read_replay(experiment_recordings[run->setup->record], replay)
                           : record_read(ctas, policies);
}

/* Whether the run is of what the plan saw: a plug-in, say, may have been built anew meanwhile. */
static bool check_version(Campaign *campaign, const Run *run) {
    uint64_t hash = 0;
    char version[VERSION_BYTES] = "";
    if (find_version(campaign->study, run, &hash)) write_version(hash, version);
    if (strcmp(version, run->key.version) == 0) return true;
    end_progress(campaign);
    campaign->failed++;
    say_error("%s under %s on %s is not kept: its program, machine, scheduler or library changed "
              "while it ran",
              run->key.program, run->scheduler, run->key.machine);
    return false;
}

/* Keeps the result of a run. False when the store fails. */
static bool keep_run(Campaign *campaign, int number) {
    Run *run = &campaign->study->runs[number];
    if (!check_version(campaign, run)) return true;
    char json[PATH_BYTES];
    size_t length;
    name_file(campaign, number, "json", json);
    char *text = file_read(json, FILE_DATA_MAX, &length), *record = NULL;
    run->is_there = text && (!run->setup->record || (record = read_record(campaign, number))) &&
                    store_add(campaign->study->store, &run->key, text, record);
    free(text);
    free(record);
    return run->is_there;
}

/* A run's program has ended, or the replay after it. False when the store fails, or the replay does
 * not start. */
static bool end_job(Campaign *campaign, int number, int status) {
    const Run *run = &campaign->study->runs[number];
    bool is_kept = true;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) say_failure(campaign, number, status);
    else if (has_replay(run) && !run->is_replaying) return start_replay(campaign, number);
    else is_kept = keep_run(campaign, number);
    campaign->running--;
    campaign->done++;
    remove_files(campaign, number);
    return is_kept;
}

/* Waits for one event, and deals with it. */
static StudyEnd take_event(Campaign *campaign) {
    int number, status;
    show_progress(campaign);
    switch (campaign->executor->wait(campaign->state, &number, &status)) {
    case EVENT_ENDED: return end_job(campaign, number, status) ? STUDY_DONE : STUDY_FAILED;
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

StudyEnd study_run(Study *study, const Executor *executor, int jobs) {
    Campaign campaign = {.study = study,
                         .executor = executor,
                         .total = study_count_missing(study),
                         .jobs = jobs,
                         .start = time(NULL),
                         .is_shown = isatty(STDERR_FILENO)};
    if (!campaign.total) return STUDY_DONE;
    StudyEnd end = STUDY_FAILED;
    campaign.state = executor->open(jobs);
    if (campaign.state && scratch_open(&campaign.scratch)) {
        end = run_all(&campaign);
        executor->stop(campaign.state);
        scratch_close(&campaign.scratch);
    }
    if (campaign.state) executor->close(campaign.state);
    end_progress(&campaign);
    return end == STUDY_DONE && campaign.failed ? STUDY_FAILED : end;
}
