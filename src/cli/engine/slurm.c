/* Runs jobs as tasks of job arrays on a Slurm cluster, with its commands sbatch, squeue and
 * scancel.
 *
 * Tasks and this process exchange files in a folder that all nodes share. A job is a script there,
 * NAME.sh. It leaves its printed output, its result and, last of all, its status (NAME.end). It
 * writes each to a temporary file and renames it. A task that is preempted, lost or runs twice
 * leaves the same files or none, so it does not matter which task writes them, or how often. Only
 * this process writes to the database.
 *
 * Tasks continue when this process ends. The next process finds the status files of finished tasks
 * in the folder, and asks Slurm which of the others are still in its queue. Source of the commands'
 * options: their manual pages, Slurm 22.05. */
#include "cli/engine/executor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/engine/signals.h"
#include "cli/files.h"
#include "cli/program.h"

enum {
    PATH_BYTES = 4096,
    NAME_BYTES = 40,
    MOST_TASKS = 1000,  /* of one array: Slurm's own limit (MaxArraySize) is 1001 if not set */
    ASK_SECONDS = 5,    /* between two queries to Slurm, which other users query too */
    GRACE_ASKS = 3,     /* queries without the task before it counts as lost */
    MOST_REFUSALS = 24, /* of Slurm in sequence: two minutes */
    MOST_SUBMISSIONS =
        5 /* of a task; a task that is lost after the last one counts as killed by SIGKILL */
};

typedef struct Remote {
    char name[NAME_BYTES]; /* of its files */
    int number;            /* the caller's */
    bool is_submitted;
    bool is_over;
    int submissions; /* so far */
    int missed;      /* number of consecutive queries in which Slurm did not know it */
} Remote;

typedef struct Slurm {
    char folder[PATH_BYTES];
    sigset_t awaited; /* signals that wait() takes */
    sigset_t before;  /* signals that were blocked before */
    int jobs;         /* tasks of an array at once */
    time_t asked;     /* time of the last query to Slurm */
    int looked;       /* task at which the next search for finished tasks begins */
    int refusals;     /* of Slurm, in sequence */
    Words *queue;     /* tasks that Slurm had when this process began; NULL: unknown so far */
    Remote *list;     /* owned */
    int count, capacity;
} Slurm;

/* ---- Commands ---- */

/* The standard output of a command, with its status from wait(); NULL after a message. */
static char *run_command(const char *const *words, int *status) {
    int ends[2];
    char *text = NULL, chunk[4096];
    size_t length;
    ssize_t count;
    if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
    fflush(NULL);
    pid_t id = fork();
    if (id == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (dup2(ends[1], STDOUT_FILENO) < 0) _exit(EXIT_FAILED);
        execvp(words[0], (char **)(uintptr_t)words);
        _exit(EXIT_NOT_FOUND);
    }
    close(ends[1]);
    FILE *to = open_memstream(&text, &length);
    while (to &&
           ((count = read(ends[0], chunk, sizeof chunk)) > 0 || (count < 0 && errno == EINTR)))
        if (count > 0) fwrite(chunk, 1, (size_t)count, to);
    if (to) fclose(to);
    close(ends[0]);
    while (id > 0 && waitpid(id, status, 0) < 0 && errno == EINTR)
        ;
    if (id < 0) say_error("cannot start %s: %s", words[0], strerror(errno));
    return text;
}

static void write_quoted(const char *word, FILE *to) {
    fputc('\'', to);
    for (; *word; word++) {
        if (*word == '\'') fputs("'\\''", to);
        else fputc(*word, to);
    }
    fputs("' ", to);
}

/* ---- Files ---- */

static void name_file(const Slurm *slurm, const char *name, const char *ending, char *path) {
    snprintf(path, PATH_BYTES, "%.4000s/%s.%s", slurm->folder, name, ending);
}

/* Writes the script that runs a job on any node: in this folder, with this library. It writes the
 * job's status after all its other files. */
static bool write_script(const Slurm *slurm, const Job *job) {
    char path[PATH_BYTES], self[PATH_MAX], here[PATH_MAX], *text = NULL;
    size_t length;
    if (!program_find_self(self, sizeof self) || !getcwd(here, sizeof here)) return false;
    FILE *to = open_memstream(&text, &length);
    if (!to) return false;
    fputs("#!/bin/sh\ncd ", to);
    write_quoted(here, to);
    name_file(slurm, job->name, "end", path);
    fputs("|| exit\nend=", to);
    write_quoted(path, to);
    fputs("\ntest -e \"$end\" && exit\nout=", to); /* a surplus task ends here */
    write_quoted(job->output, to);
    fprintf(to, "\nunset TYTO_OPTIONS\nexport %s=%d\n", EXECUTOR_TELL_UNWRITTEN,
            EXECUTOR_UNWRITTEN);
    write_quoted(self, to);
    if (job->options.count) fputs("run ", to); /* else the line is a command of tyto */
    for (int i = 0; i < job->options.count; i++)
        write_quoted(job->options.list[i], to);
    for (int i = job->options.count ? 0 : 1; i < job->line.count; i++)
        write_quoted(job->line.list[i], to);
    fputs(">\"$out.$$\" 2>&1 </dev/null\nstatus=$?\n", to);
    /* a surplus task, whose run is already in the store, leaves no files */
    fputs("test -e \"${end%.end}.sh\" || { rm -f \"$out.$$\"; exit; }\n", to);
    fputs("mv \"$out.$$\" \"$out\"\n", to);
    fputs("echo $status >\"$end.$$\" && mv \"$end.$$\" \"$end\"\n", to);
    fclose(to);
    name_file(slurm, job->name, "sh", path);
    bool is_written = file_write(path, text, length);
    free(text);
    return is_written;
}

/* Reads the status that a job left, in the form of wait(); false: none yet. */
static bool read_end(const Slurm *slurm, const char *name, int *status) {
    char path[PATH_BYTES];
    int number;
    name_file(slurm, name, "end", path);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool is_read = fscanf(file, "%d", &number) == 1;
    fclose(file);
    /* a shell returns 128 + the signal */
    if (is_read) *status = number > 128 ? number - 128 : number << 8;
    return is_read;
}

/* ---- The queue ---- */

/* All arrays of a folder have the same name, so that a later process recognizes them. The comment
 * of an array names its list, whose lines are the names of its tasks in order. */
static void name_arrays(const char *folder, char name[NAME_BYTES]) {
    snprintf(name, NAME_BYTES, "tyto-%016llx",
             (unsigned long long)tyto_hash(0, folder, strlen(folder)));
}

/* Reads a line of an array's list by its index, from 1; false: none. */
static bool read_line(const Slurm *slurm, const char *list, int index, char name[NAME_BYTES]) {
    char path[PATH_BYTES];
    bool is_read = true;
    name_file(slurm, list, "list", path);
    FILE *file = fopen(path, "r");
    for (int i = 0; file && is_read && i < index; i++)
        is_read = fscanf(file, "%39s", name) == 1;
    if (file) fclose(file);
    return file && is_read;
}

/* Cancels a task that Slurm holds because a node failed to start it: it would stay in the queue
 * until a user releases it. Returns whether the line is of such a task. */
static bool cancel_held(const char *line) {
    char id[NAME_BYTES];
    int status;
    if (!strstr(line, "launch failed requeued held") || sscanf(line, "%*s %*s %39s", id) != 1)
        return false;
    const char *words[] = {"scancel", id, NULL};
    free(run_command(words, &status));
    return true;
}

/* The names of all tasks that run or wait in Slurm's queue; NULL if Slurm does not answer. The
 * caller frees the words. */
static Words *read_queue(const Slurm *slurm) {
    char arrays[NAME_BYTES], list[NAME_BYTES], name[NAME_BYTES], *rest = NULL;
    int status, index;
    name_arrays(slurm->folder, arrays);
    const char *words[] = {"squeue", "-h", "-r", "-n", arrays, "-o", "%k %K %i %r", NULL};
    char *text = run_command(words, &status);
    Words *queue = text && status == 0 ? allocate(1, sizeof *queue) : NULL;
    for (char *line = strtok_r(text, "\n", &rest); queue && line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, "%39s %d", list, &index) == 2 && !cancel_held(line) &&
            read_line(slurm, list, index, name))
            words_add(queue, name);
    }
    free(text);
    return queue;
}

static bool has_word(const Words *words, const char *word) {
    for (int i = 0; words && i < words->count; i++) {
        if (strcmp(words->list[i], word) == 0) return true;
    }
    return false;
}

/* Removes a word from the list; returns whether it was there. A job that is started again is then
 * no longer in the initial queue. */
static bool take_word(Words *words, const char *word) {
    for (int i = 0; words && i < words->count; i++) {
        if (strcmp(words->list[i], word) != 0) continue;
        free((char *)(uintptr_t)words->list[i]);
        words->list[i] = words->list[--words->count];
        return true;
    }
    return false;
}

static void free_queue(Words *queue) {
    if (queue) words_free(queue);
    free(queue);
}

/* Writes the list of an array: the tasks that are not submitted. Returns their number. */
static int write_list(const Slurm *slurm, const char *token) {
    char path[PATH_BYTES], *text = NULL;
    size_t length;
    int count = 0;
    FILE *to = open_memstream(&text, &length);
    for (int i = 0; to && i < slurm->count && count < MOST_TASKS; i++) {
        if (slurm->list[i].is_submitted || slurm->list[i].is_over) continue;
        fprintf(to, "%s\n", slurm->list[i].name);
        count++;
    }
    if (to) fclose(to);
    name_file(slurm, token, "list", path);
    bool is_written = to && file_write(path, text, length);
    free(text);
    return is_written ? count : 0;
}

static bool write_picker(const Slurm *slurm, const char *token) {
    char path[PATH_BYTES], *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (!to) return false;
    fprintf(to, "#!/bin/sh\nfolder=");
    write_quoted(slurm->folder, to);
    fprintf(to,
            "\nexec sh \"$folder/$(sed -n \"${SLURM_ARRAY_TASK_ID}p\" \"$folder/%s.list\").sh\"\n",
            token);
    fclose(to);
    name_file(slurm, token, "array", path);
    bool is_written = file_write(path, text, length);
    free(text);
    return is_written;
}

/* Submits the unsubmitted tasks as one array; returns whether Slurm accepted it. */
static bool submit(Slurm *slurm) {
    char token[NAME_BYTES], arrays[NAME_BYTES], range[NAME_BYTES], script[PATH_BYTES];
    struct timespec now;
    int status;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(token, sizeof token, "%llx-%x-%lx", (unsigned long long)now.tv_sec, (unsigned)getpid(),
             (unsigned long)now.tv_nsec);
    int count = write_list(slurm, token);
    if (!count || !write_picker(slurm, token)) return false;
    name_arrays(slurm->folder, arrays);
    name_file(slurm, token, "array", script);
    if (slurm->jobs) snprintf(range, sizeof range, "1-%d%%%d", count, slurm->jobs);
    else snprintf(range, sizeof range, "1-%d", count);
    const char *words[] = {"sbatch",    "--parsable", "--requeue", "-J",  arrays,
                           "--comment", token,        "--array",   range, "-o",
                           "/dev/null", script,       NULL};
    char *text = run_command(words, &status);
    free(text);
    if (status != 0) return false;
    for (int i = 0; i < slurm->count && count; i++) {
        Remote *remote = &slurm->list[i];
        if (remote->is_submitted || remote->is_over) continue;
        remote->is_submitted = true;
        remote->submissions++;
        remote->missed = 0;
        count--;
    }
    return true;
}

/* ---- The executor ---- */

/* Whether Slurm's commands have a cluster's configuration, even if the cluster does not answer now.
 * False after a message. */
static bool has_cluster(void) {
    static const char *const files[] = {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
                                        "/run/slurm/conf/slurm.conf"};
    const char *given = getenv("SLURM_CONF"), *server = getenv("SLURM_CONF_SERVER");
    bool is_known = (given && access(given, R_OK) == 0) || server;
    for (size_t i = 0; !given && i < sizeof files / sizeof *files; i++)
        is_known |= access(files[i], R_OK) == 0;
    if (is_known) return true;
    int status;
    /* DNS may give the place of the configuration. A host without a name server waits for a minute,
     * hence the limit of 10 s. */
    const char *words[] = {"timeout", "10", "scontrol", "ping", NULL};
    free(run_command(words, &status));
    if (status == 0) return true;
    say_error("--engine slurm: this host belongs to no cluster: Slurm has no configuration "
              "(SLURM_CONF, /etc/slurm/slurm.conf)");
    return false;
}

static void *open_slurm(const Workplace *place) {
    if (!program_exists("sbatch") || !program_exists("squeue")) {
        say_error(
            "--engine slurm: sbatch and squeue are not installed (Debian's package slurm-client)");
        return NULL;
    }
    if (!has_cluster()) return NULL;
    Slurm *slurm = allocate(1, sizeof *slurm);
    snprintf(slurm->folder, sizeof slurm->folder, "%s", place->folder);
    slurm->jobs = place->jobs;
    signals_take(&slurm->awaited, &slurm->before);
    slurm->queue = read_queue(slurm);
    return slurm;
}

static bool start_slurm(void *state, const Job *job, int number) {
    Slurm *slurm = state;
    int status;
    if (slurm->count == slurm->capacity) {
        slurm->capacity = slurm->capacity ? 2 * slurm->capacity : 64;
        Remote *longer = allocate((size_t)slurm->capacity, sizeof *longer);
        if (slurm->count) memcpy(longer, slurm->list, (size_t)slurm->count * sizeof *longer);
        free(slurm->list);
        slurm->list = longer;
    }
    Remote *remote = &slurm->list[slurm->count++];
    *remote = (Remote){.number = number};
    snprintf(remote->name, sizeof remote->name, "%s", job->name);
    remote->is_submitted =
        read_end(slurm, job->name, &status) || take_word(slurm->queue, job->name);
    return remote->is_submitted || write_script(slurm, job);
}

/* The next task that has left its status file, searching from `looked` on; NULL: none. */
static Remote *find_ended(Slurm *slurm, int *status) {
    for (int i = 0; i < slurm->count; i++) {
        Remote *remote = &slurm->list[(slurm->looked + i) % slurm->count];
        if (remote->is_over || !remote->is_submitted || !read_end(slurm, remote->name, status))
            continue;
        slurm->looked = (slurm->looked + i + 1) % slurm->count;
        return remote;
    }
    return NULL;
}

/* Finds the tasks that Slurm has lost, and marks them for another submission. Returns a task that
 * was lost too often, NULL: none. */
static Remote *find_lost(Slurm *slurm) {
    Words *queue = read_queue(slurm);
    Remote *lost = NULL;
    for (int i = 0; queue && i < slurm->count && !lost; i++) {
        Remote *remote = &slurm->list[i];
        if (remote->is_over || !remote->is_submitted) continue;
        remote->missed = has_word(queue, remote->name) ? 0 : remote->missed + 1;
        if (remote->missed < GRACE_ASKS) continue;
        if (remote->submissions >= MOST_SUBMISSIONS) lost = remote;
        remote->is_submitted = false;
    }
    free_queue(queue);
    return lost;
}

static bool has_unsubmitted(const Slurm *slurm) {
    for (int i = 0; i < slurm->count; i++) {
        if (!slurm->list[i].is_over && !slurm->list[i].is_submitted) return true;
    }
    return false;
}

static Event end_task(Remote *remote, int *number) {
    remote->is_over = true;
    *number = remote->number;
    return EVENT_ENDED;
}

/* Finds the tasks that an earlier process left in the queue. False until Slurm answers. */
static bool adopt(Slurm *slurm) {
    slurm->queue = read_queue(slurm);
    for (int i = 0; slurm->queue && i < slurm->count; i++) {
        Remote *remote = &slurm->list[i];
        if (!remote->is_over && !remote->is_submitted)
            remote->is_submitted = take_word(slurm->queue, remote->name);
    }
    return slurm->queue != NULL;
}

/* Submits all unsubmitted tasks. False if Slurm has refused MOST_REFUSALS times in sequence. */
static bool submit_all(Slurm *slurm) {
    while (has_unsubmitted(slurm)) {
        if (slurm->queue ? !submit(slurm) : !adopt(slurm)) return ++slurm->refusals < MOST_REFUSALS;
        slurm->refusals = 0;
    }
    return true;
}

static Event wait_slurm(void *state, int *number, int *status) {
    Slurm *slurm = state;
    time_t now = time(NULL);
    Remote *remote = find_ended(slurm, status);
    if (remote) return end_task(remote, number);
    if (now - slurm->asked >= ASK_SECONDS) {
        slurm->asked = now;
        remote = find_lost(slurm);
        if (remote) {
            *status = SIGKILL;
            return end_task(remote, number);
        }
        if (!submit_all(slurm)) {
            say_error("Slurm has refused the runs %d times; its messages are above", MOST_REFUSALS);
            return EVENT_FAILED;
        }
    }
    int signal = sigtimedwait(&slurm->awaited, NULL, &(struct timespec){.tv_sec = 1});
    if (signal <= 0 || signal == SIGCHLD) return EVENT_NONE;
    *status = signal;
    return EVENT_INTERRUPTED;
}

/* Cancels the tasks that have not ended: a user who interrupts a sweep wants it to stop. */
static void stop_slurm(void *state) {
    Slurm *slurm = state;
    char arrays[NAME_BYTES];
    int status;
    bool has_any = false;
    for (int i = 0; i < slurm->count; i++)
        has_any |= slurm->list[i].is_submitted && !slurm->list[i].is_over;
    if (!has_any) return;
    name_arrays(slurm->folder, arrays);
    const char *words[] = {"scancel", "-n", arrays, NULL};
    free(run_command(words, &status));
}

static void close_slurm(void *state) {
    Slurm *slurm = state;
    sigprocmask(SIG_SETMASK, &slurm->before, NULL);
    free_queue(slurm->queue);
    free(slurm->list);
    free(slurm);
}

static bool count_slurm(const char *folder, int *running, int *waiting) {
    char arrays[NAME_BYTES], state[NAME_BYTES];
    int status, used;
    name_arrays(folder, arrays);
    const char *words[] = {"squeue", "-h", "-r", "-n", arrays, "-o", "%T", NULL};
    char *text = run_command(words, &status);
    *running = *waiting = 0;
    for (const char *at = text; at && sscanf(at, "%39s%n", state, &used) == 1; at += used)
        ++*(strcmp(state, "RUNNING") == 0 ? running : waiting);
    free(text);
    return text && status == 0;
}

const Executor executor_slurm = {
    .name = "slurm",
    .is_remote = true,
    .open = open_slurm,
    .start = start_slurm,
    .wait = wait_slurm,
    .stop = stop_slurm,
    .count = count_slurm,
    .close = close_slurm,
};
