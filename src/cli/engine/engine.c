/* Makes runs (see the header). The files of a run, its printed output and its result, are in a
 * folder and have the task's name. The result goes to the store as soon as it is complete. */
#include "cli/engine/engine.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/engine/signals.h"
#include "cli/files.h"
#include "cli/program.h"
#include "cli/scratch.h"

enum {
    PATH_BYTES = 4096,
    REASON_BYTES = 256,
    FIRST_SLOTS = 64,
    MOST_LOSSES = 2,       /* restarts of a run that was ended from outside */
    MOST_OUTPUT = 1 << 16, /* bytes of a failed program's output that are kept */
    MOST_LIKEWISE = 20,    /* most names of runs that failed in the same way as another */
};

struct Engine {
    Store *store;
    Contents *contents; /* hashes of files */
    Task *tasks;        /* owned, as all below */
    int count, capacity;
    int *slots; /* hash table of the tasks: index + 1; 0: free */
    int slot_count;
};

/* ---- Planning ---- */

Engine *engine_new(Store *store) {
    Engine *engine = allocate(1, sizeof *engine);
    *engine = (Engine){.store = store, .contents = contents_new(), .slot_count = FIRST_SLOTS};
    engine->slots = allocate(FIRST_SLOTS, sizeof *engine->slots);
    return engine;
}

void engine_free(Engine *engine) {
    if (!engine) return;
    for (int i = 0; i < engine->count; i++)
        task_free(&engine->tasks[i]);
    free(engine->tasks);
    free(engine->slots);
    contents_free(engine->contents);
    free(engine);
}

/* The slot of the task with this name, or the free slot for it. */
static int *find_slot(const Engine *engine, const char *name) {
    uint64_t at = tyto_hash(0, name, strlen(name));
    for (;; at++) {
        int *slot = &engine->slots[at % (uint64_t)engine->slot_count];
        if (!*slot || strcmp(engine->tasks[*slot - 1].name, name) == 0) return slot;
    }
}

/* Doubles the room for tasks, and the hash table, which is at most half full. */
static void grow(Engine *engine) {
    int capacity = engine->capacity ? 2 * engine->capacity : FIRST_SLOTS / 4;
    Task *tasks = allocate((size_t)capacity, sizeof *tasks);
    if (engine->count) memcpy(tasks, engine->tasks, (size_t)engine->count * sizeof *tasks);
    free(engine->tasks);
    free(engine->slots);
    engine->tasks = tasks;
    engine->capacity = capacity;
    engine->slot_count = 2 * capacity;
    engine->slots = allocate((size_t)engine->slot_count, sizeof *engine->slots);
    for (int i = 0; i < engine->count; i++)
        *find_slot(engine, tasks[i].name) = i + 1;
}

int engine_add(Engine *engine, const TaskForm *form, char **why) {
    Task task;
    if (!task_make(&task, form, engine->contents, why)) return -1;
    int *slot = find_slot(engine, task.name);
    if (*slot) {
        task_free(&task);
        return *slot - 1;
    }
    if (engine->count == engine->capacity) grow(engine);
    engine->tasks[engine->count++] = task;
    *find_slot(engine, task.name) = engine->count;
    Task *added = &engine->tasks[engine->count - 1];
    const bool is_read = store_find(engine->store, &added->key, &added->state);
    added->is_kept = added->state == RUN_DONE;
    return is_read ? engine->count - 1 : -1;
}

const Task *engine_task(const Engine *engine, int number) { return &engine->tasks[number]; }
int engine_count(const Engine *engine) { return engine->count; }

int engine_count_state(const Engine *engine, RunState state) {
    int count = 0;
    for (int i = 0; i < engine->count; i++)
        count += engine->tasks[i].state == state;
    return count;
}

bool engine_refresh(Engine *engine) {
    for (int i = 0; i < engine->count; i++) {
        Task *task = &engine->tasks[i];
        if (task->state != RUN_DONE && !store_find(engine->store, &task->key, &task->state))
            return false;
    }
    return true;
}

/* ---- Running ---- */

/* The state while runs are made. */
typedef struct Campaign {
    Engine *engine;
    const EngineOrder *order;
    void *state;             /* the executor's */
    Scratch scratch;         /* for the files of the programs */
    int total, done, failed; /* runs */
    int running;             /* now */
    int signal;              /* with which the user interrupted; 0: none */
    Words likewise;          /* failed runs whose failure equals one already reported */
    struct timespec start;
    bool is_shown; /* progress is shown on a terminal */
} Campaign;

static void name_file(const Campaign *campaign, const Task *task, const char *ending, char *path) {
    snprintf(path, PATH_BYTES, "%s/%s.%s", campaign->scratch.path, task->name, ending);
}

static double seconds_since(struct timespec start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return difftime(now.tv_sec, start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9;
}

/* Rewrites the line of progress: the finished runs, and the time that the rest takes at the pace so
 * far. */
static void show_progress(const Campaign *campaign) {
    if (!campaign->is_shown) return;
    fprintf(stderr, "\r\x1b[K%s: %d of %d runs done, %d running", campaign->order->title,
            campaign->done, campaign->total, campaign->running);
    if (campaign->failed) fprintf(stderr, ", %d failed", campaign->failed);
    if (campaign->done) {
        double pace = seconds_since(campaign->start) / campaign->done;
        long left = (long)(pace * (campaign->total - campaign->done));
        fprintf(stderr, ", %ld:%02ld left", left / 60, left % 60);
    }
}

static void end_progress(const Campaign *campaign) {
    if (campaign->is_shown) fprintf(stderr, "\r\x1b[K");
}

/* Whether the run's record is a replay of its L1D lookups. */
static bool has_replay(const Task *task) { return task->record >= RECORD_LRU; }

static void add_pair(Words *words, const char *name, const char *value) {
    words_add(words, name);
    words_add(words, value);
}

/* Starts a job of the task. */
static bool start_job(Campaign *campaign, int number, const Words *line, const Words *options) {
    const Task *task = &campaign->engine->tasks[number];
    char output[PATH_BYTES];
    name_file(campaign, task, "out", output);
    Job job = {.name = task->name,
               .line = {allocate((size_t)line->count + 1, sizeof *line->list), line->count},
               .options = *options,
               .output = output};
    memcpy(job.line.list, line->list, (size_t)line->count * sizeof *line->list);
    bool is_started = campaign->order->executor->start(campaign->state, &job, number);
    free((void *)job.line.list);
    return is_started;
}

static bool start_run(Campaign *campaign, int number) {
    const Task *task = &campaign->engine->tasks[number];
    char json[PATH_BYTES], ctas[PATH_BYTES], policies[PATH_BYTES], trace[PATH_BYTES];
    Words options = {0};
    name_file(campaign, task, "json", json);
    name_file(campaign, task, "ctas", ctas);
    name_file(campaign, task, "policies", policies);
    name_file(campaign, task, "l1d", trace);
    for (int i = 0; i < task->options.count; i++)
        words_add(&options, task->options.list[i]);
    add_pair(&options, "--json", json);
    if (task->record == RECORD_CTAS) {
        add_pair(&options, "--ctas", ctas);
        add_pair(&options, "--policies", policies);
        add_pair(&options, "--sample", RECORD_CYCLES);
    }
    if (has_replay(task)) add_pair(&options, "--record-l1d", trace);
    words_add(&options, "--quiet");
    bool is_started = start_job(campaign, number, &task->line, &options);
    words_free(&options);
    return is_started;
}

/* Starts the replay of the lookups that a run's program recorded, with this executable. */
static bool start_replay(Campaign *campaign, int number) {
    Task *task = &campaign->engine->tasks[number];
    char self[PATH_BYTES], trace[PATH_BYTES], replay[PATH_BYTES];
    if (!program_find_self(self, sizeof self)) return false;
    name_file(campaign, task, "l1d", trace);
    name_file(campaign, task, "replay", replay);
    const char *words[] = {self, "cache", trace, "--json", replay, "--unbounded", NULL};
    Words line = {words, 6};
    if (task->record != RECORD_UNBOUNDED) {
        words[5] = "--policy";
        words[line.count++] = record_names[task->record];
    }
    task->is_replaying = true;
    return start_job(campaign, number, &line, &(Words){0});
}

/* ---- Ends of runs ---- */

/* The last part of a program's output; "" if it printed nothing. The caller frees it. */
static char *read_output(const Campaign *campaign, const Task *task) {
    char path[PATH_BYTES];
    size_t length;
    name_file(campaign, task, "out", path);
    char *output = access(path, R_OK) == 0 ? file_read(path, FILE_DATA_MAX, &length) : NULL;
    if (!output) return words_copy_text("");
    if (length > MOST_OUTPUT) memmove(output, output + length - MOST_OUTPUT, MOST_OUTPUT + 1);
    return output;
}

/* Whether another run failed in the same way with the same output: an error in a program makes all
 * of its runs fail. */
static bool is_told(const Campaign *campaign, const Task *task) {
    int i = 0, count = campaign->engine->count;
    const Task *tasks = campaign->engine->tasks;
    while (i < count && (&tasks[i] == task || tasks[i].failure != task->failure))
        i++;
    return i < count;
}

/* Reports which run failed, and what its program printed. */
static void say_failure(Campaign *campaign, Task *task, const char *reason, const char *output) {
    char *name = task_name(&task->key);
    task->failure = tyto_hash(tyto_hash(0, reason, strlen(reason)), output, strlen(output)) | 1;
    if (is_told(campaign, task)) {
        words_add(&campaign->likewise, name);
    } else {
        end_progress(campaign);
        say_error("%s %s%s", name, reason, *output ? ":" : "");
        fputs(output, stderr);
    }
    free(name);
}

static void say_likewise(const Campaign *campaign) {
    const Words *names = &campaign->likewise;
    if (!names->count) return;
    fprintf(stderr, "tyto: failed as one above did: ");
    for (int i = 0; i < names->count && i < MOST_LIKEWISE; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", names->list[i]);
    if (names->count > MOST_LIKEWISE) fprintf(stderr, " and %d more", names->count - MOST_LIKEWISE);
    fputc('\n', stderr);
}

/* Reports that a run failed. Stores the failure with the program's output, unless the run was lost.
 * False if the store fails. */
static bool fail_run(Campaign *campaign, int number, const char *reason, bool is_lost) {
    Task *task = &campaign->engine->tasks[number];
    char *output = read_output(campaign, task);
    say_failure(campaign, task, reason, output);
    campaign->failed++;
    task->state = is_lost ? RUN_MISSING : RUN_FAILED;
    bool is_kept =
        is_lost || store_add_failure(campaign->engine->store, &task->key, reason, output);
    free(output);
    return is_kept;
}

/* Removes the files of a run. The order ensures that a process killed in between leaves no end file
 * without its result. A surplus task that ends later leaves no file, because its script is gone. */
static void remove_files(const Campaign *campaign, const Task *task) {
    static const char *const endings[] = {"sh",   "end",      "json", "out",
                                          "ctas", "policies", "l1d",  "replay"};
    char path[PATH_BYTES];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        name_file(campaign, task, endings[i], path);
        unlink(path);
    }
}

/* The record of a run as JSON; NULL after a message. The caller frees it. */
static char *read_record(const Campaign *campaign, const Task *task) {
    char ctas[PATH_BYTES], policies[PATH_BYTES], replay[PATH_BYTES];
    name_file(campaign, task, "ctas", ctas);
    name_file(campaign, task, "policies", policies);
    name_file(campaign, task, "replay", replay);
    return has_replay(task) ? record_read_replay(record_names[task->record], replay)
                            : record_read(ctas, policies);
}

/* Stores the result of a run. False if the store fails. */
static bool keep_run(Campaign *campaign, int number) {
    Task *task = &campaign->engine->tasks[number];
    char path[PATH_BYTES];
    size_t length;
    end_progress(campaign);
    if (!task_is_current(task, campaign->engine->contents)) {
        campaign->failed++;
        return true;
    }
    name_file(campaign, task, "json", path);
    Store *store = campaign->engine->store;
    char *text = file_read(path, FILE_DATA_MAX, &length), *record = NULL;
    bool is_timed = true, is_kept = text && store_is_timed(store, &task->key, text, &is_timed);
    if (is_kept && !is_timed)
        is_kept = fail_run(
            campaign, number,
            "had no timed launch: --kernels and --skip excluded all launches of the program",
            false);
    else
        is_kept = is_kept && (!task->record || (record = read_record(campaign, task))) &&
                  store_add(store, &task->key, text, record);
    if (is_kept && is_timed) task->state = RUN_DONE;
    free(text);
    free(record);
    return is_kept;
}

/* Whether all files that a job of the task must leave exist. */
static bool has_left(const Campaign *campaign, const Task *task) {
    const struct {
        const char *ending;
        bool is_asked_for;
    } files[] = {{"json", true},
                 {"ctas", task->record == RECORD_CTAS},
                 {"policies", task->record == RECORD_CTAS},
                 {"l1d", has_replay(task)},
                 {"replay", task->is_replaying}};
    char path[PATH_BYTES];
    bool is_there = true;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        name_file(campaign, task, files[i].ending, path);
        is_there &= !files[i].is_asked_for || access(path, R_OK) == 0;
    }
    return is_there;
}

/* Whether the file system of the runs' files is full. Some file systems do not count blocks or
 * files. */
static bool is_full(const char *folder) {
    struct statvfs room;
    if (statvfs(folder, &room) != 0) return false;
    return (room.f_blocks && !room.f_bavail) || (room.f_files && !room.f_favail);
}

/* Whether a job's status means that its result could not be written. A replay, which runs our own
 * command, fails with that status only because of its files. */
static bool is_unwritten(const Task *task, int status) {
    const int unwritten = task->is_replaying ? EXIT_FAILED : EXECUTOR_UNWRITTEN;
    return WIFEXITED(status) && WEXITSTATUS(status) == unwritten;
}

/* Whether a process was ended from outside, by a user or by the system when memory ran out, and not
 * by its own error. */
static bool is_loss(int status) {
    static const int outer[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP};
    bool is_outer = false;
    for (size_t i = 0; i < sizeof outer / sizeof outer[0] && WIFSIGNALED(status); i++)
        is_outer |= WTERMSIG(status) == outer[i];
    return is_outer;
}

/* Handles a run that failed or was lost. A run is lost if it was ended from outside or had no room
 * for its files. False if the store fails. */
static bool end_without(Campaign *campaign, int number, int status) {
    const Task *task = &campaign->engine->tasks[number];
    bool has_result = has_left(campaign, task);
    bool was_unwritten = !has_result && is_unwritten(task, status);
    bool was_full = !has_result && is_full(campaign->scratch.path);
    const char *where = was_full ? " on a full disk" : "";
    char reason[REASON_BYTES];
    if (WIFSIGNALED(status))
        snprintf(reason, sizeof reason, "was ended by signal %d%s", WTERMSIG(status), where);
    else if (was_unwritten) snprintf(reason, sizeof reason, "could not write its result");
    else if (WEXITSTATUS(status))
        snprintf(reason, sizeof reason, "failed with status %d%s", WEXITSTATUS(status), where);
    else
        snprintf(reason, sizeof reason, "left no statistics%s",
                 was_full ? where : ": did the program launch a kernel?");
    return fail_run(campaign, number, reason, is_loss(status) || was_unwritten || was_full);
}

/* Handles the end of a run's program, or of the replay after it. False if the store fails, or if
 * the next step does not start. */
static bool end_job(Campaign *campaign, int number, int status) {
    Task *task = &campaign->engine->tasks[number];
    bool is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0 && has_left(campaign, task);
    if (is_done && has_replay(task) && !task->is_replaying) return start_replay(campaign, number);
    if (is_loss(status) && task->losses++ < MOST_LOSSES) {
        task->is_replaying = false;
        remove_files(campaign, task);
        return start_run(campaign, number);
    }
    bool is_kept = is_done ? keep_run(campaign, number) : end_without(campaign, number, status);
    campaign->running--;
    campaign->done++;
    if (is_kept) remove_files(campaign, task);
    return is_kept;
}

/* ---- The loop ---- */

/* Waits for one event and handles it. */
static EngineEnd take_event(Campaign *campaign) {
    int number, status;
    show_progress(campaign);
    switch (campaign->order->executor->wait(campaign->state, &number, &status)) {
    case EVENT_ENDED: return end_job(campaign, number, status) ? ENGINE_DONE : ENGINE_FAILED;
    case EVENT_INTERRUPTED: campaign->signal = status; return ENGINE_INTERRUPTED;
    case EVENT_FAILED: return ENGINE_FAILED;
    case EVENT_NONE: break;
    }
    return ENGINE_DONE;
}

static bool is_wanted(const EngineOrder *order, const Task *task) {
    return task->state == RUN_MISSING || (task->state == RUN_FAILED && order->is_retrying);
}

static int count_wanted(const Engine *engine, const EngineOrder *order) {
    int count = 0;
    for (int i = 0; i < engine->count; i++)
        count += is_wanted(order, &engine->tasks[i]);
    return count;
}

static EngineEnd run_all(Campaign *campaign) {
    const EngineOrder *order = campaign->order;
    int most = order->executor->is_remote ? campaign->total : order->jobs;
    EngineEnd end = ENGINE_DONE;
    for (int i = 0; i < campaign->engine->count && end == ENGINE_DONE; i++) {
        if (!is_wanted(order, &campaign->engine->tasks[i])) continue;
        while (campaign->running == most && end == ENGINE_DONE)
            end = take_event(campaign);
        if (end != ENGINE_DONE) break;
        if (campaign->engine->tasks[i].state == RUN_FAILED) /* files of an earlier remote job */
            remove_files(campaign, &campaign->engine->tasks[i]);
        if (!start_run(campaign, i)) end = ENGINE_FAILED;
        else campaign->running++;
    }
    while (campaign->running && end == ENGINE_DONE)
        end = take_event(campaign);
    return end;
}

/* A remote executor's folder exists before and afterwards; other folders are temporary. */
static bool open_folder(Campaign *campaign) {
    if (!campaign->order->executor->is_remote) return scratch_open(&campaign->scratch);
    snprintf(campaign->scratch.path, sizeof campaign->scratch.path, "%s", campaign->order->folder);
    return true;
}

static void close_folder(Campaign *campaign) {
    if (!campaign->order->executor->is_remote) scratch_close(&campaign->scratch);
}

EngineEnd engine_run(Engine *engine, const EngineOrder *order, int *signal) {
    const Executor *executor = order->executor;
    Campaign campaign = {.engine = engine,
                         .order = order,
                         .total = count_wanted(engine, order),
                         .is_shown = isatty(STDERR_FILENO)};
    EngineEnd end = ENGINE_FAILED;
    *signal = 0;
    if (!campaign.total) return ENGINE_DONE;
    clock_gettime(CLOCK_MONOTONIC, &campaign.start);
    campaign.state = executor->open(&(Workplace){order->folder, order->title, order->jobs});
    if (campaign.state && open_folder(&campaign)) {
        end = run_all(&campaign);
        executor->stop(campaign.state);
        close_folder(&campaign);
    }
    *signal = campaign.signal;
    end_progress(&campaign);
    say_likewise(&campaign);
    words_free(&campaign.likewise);
    if (campaign.state) executor->close(campaign.state);
    return end == ENGINE_DONE && campaign.failed ? ENGINE_FAILED : end;
}

void engine_end_interrupted(int signal) {
    say_error("interrupted; finished runs are stored, and the same command resumes");
    signals_obey(signal);
}
