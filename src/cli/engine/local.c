/* Runs jobs as processes of this host. The executor waits for signals and for the end of a process.
 */
#include "cli/engine/executor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/engine/signals.h"
#include "cli/program.h"
#include "cli/supervise.h"

typedef struct Process {
    pid_t id;   /* 0: none */
    int number; /* the caller's number of its job */
} Process;

typedef struct Local {
    sigset_t awaited; /* signals that wait() takes */
    sigset_t before;  /* signals that were blocked before, and are blocked in the programs */
    int count;
    Process processes[];
} Local;

enum { GRACE_MS = 2000, GRACE_LOOKS = 100 };

static void *open_local(const Workplace *place) {
    int jobs = place->jobs;
    Local *local = allocate(1, sizeof *local + (size_t)jobs * sizeof *local->processes);
    local->count = jobs;
    signals_take(&local->awaited, &local->before);
    return local;
}

/* Sets the program's environment variables that differ from this process's. */
static void export_variables(const Job *job) {
    char status[16];
    snprintf(status, sizeof status, "%d", EXECUTOR_UNWRITTEN);
    setenv(EXECUTOR_TELL_UNWRITTEN, status, 1);
    program_export_options(job->options.count, job->options.list);
}

/* Runs in the new process: executes the program. The program ends when this process ends for any
 * reason. */
static void become(const Local *local, const Job *job, pid_t parent) {
    int output = open(job->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (output < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
        _exit(EXECUTOR_UNWRITTEN);
    close(output);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILED);
    sigprocmask(SIG_SETMASK, &local->before, NULL);
    export_variables(job);
    _exit(supervise_run((char **)(uintptr_t)job->line.list));
}

static bool start_local(void *state, const Job *job, int number) {
    Local *local = state;
    Process *free_one = local->processes;
    while (free_one->id)
        free_one++; /* finds one, because the caller starts at most `jobs` at once */
    pid_t parent = getpid();
    fflush(NULL);
    pid_t id = fork();
    if (id == 0) become(local, job, parent);
    if (id < 0) {
        say_error("cannot start a process: %s", strerror(errno));
        return false;
    }
    *free_one = (Process){.id = id, .number = number};
    return true;
}

/* Whether a process has ended. */
static bool reap(Local *local, int *number, int *status) {
    for (int i = 0; i < local->count; i++) {
        Process *process = &local->processes[i];
        if (!process->id || waitpid(process->id, status, WNOHANG) != process->id) continue;
        *number = process->number;
        process->id = 0;
        return true;
    }
    return false;
}

static Event wait_local(void *state, int *number, int *status) {
    Local *local = state;
    if (reap(local, number, status)) return EVENT_ENDED;
    struct timespec second = {.tv_sec = 1};
    int signal = sigtimedwait(&local->awaited, NULL, &second);
    if (signal > 0 && signal != SIGCHLD) {
        *status = signal;
        return EVENT_INTERRUPTED;
    }
    return reap(local, number, status) ? EVENT_ENDED : EVENT_NONE;
}

/* Sends a signal to all running jobs; returns their number. */
static int signal_all(const Local *local, int number) {
    int count = 0;
    for (int i = 0; i < local->count; i++) {
        if (!local->processes[i].id) continue;
        kill(local->processes[i].id, number);
        count++;
    }
    return count;
}

/* Asks the programs to end, so that they can clean up. Kills those that still run after the grace
 * period, or when the user interrupts a second time. */
static void stop_local(void *state) {
    Local *local = state;
    struct timespec moment = {.tv_nsec = GRACE_MS / GRACE_LOOKS * 1000L * 1000};
    int number, status, running = signal_all(local, SIGTERM);
    for (int look = 0; running && look < GRACE_LOOKS; look++) {
        int signal = sigtimedwait(&local->awaited, NULL, &moment);
        while (reap(local, &number, &status))
            running--;
        if (signal > 0 && signal != SIGCHLD) break;
    }
    signal_all(local, SIGKILL);
    for (int i = 0; i < local->count; i++) {
        if (local->processes[i].id) waitpid(local->processes[i].id, NULL, 0);
        local->processes[i].id = 0;
    }
}

static void close_local(void *state) {
    Local *local = state;
    sigprocmask(SIG_SETMASK, &local->before, NULL);
    free(local);
}

const Executor executor_local = {
    .name = "local",
    .open = open_local,
    .start = start_local,
    .wait = wait_local,
    .stop = stop_local,
    .close = close_local,
};
