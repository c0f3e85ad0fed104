/* The process's driver: its start from TYTO_OPTIONS, the frame of every API call, its report at the
 * end of the process, and Ctrl-C. The `tyto` command sets TYTO_COMMAND for the programs that it
 * starts; crashes are only reported in these. */
#include "driver/driver.h"

#include <dirent.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "base/output_file.h"
#include "base/thread_pool.h"
#include "driver/stream/stream_queue.h"
#include "simulator/journal.h"
#include "simulator/origin.h"

enum {
    LOOK_PAUSES = 500,        /* milliseconds between two checks whether a policy returns */
    MOST_PAUSES = 10000,      /* milliseconds that a call may continue after an interrupt */
    STATUS_CHECKS_FAILED = 3, /* exit status if the checks found errors */
    STAT_BYTES = 4096,        /* bytes of /proc/self/stat, which is shorter */
    CALL_BYTES = 600          /* bytes of the text that names a policy's function */
};

/* The driver's only mutable global. The CUDA interface requires it, because no argument identifies
 * a driver. */
static struct {
    pthread_once_t once;
    Driver *driver;  /* NULL before cuInit, or if starting failed */
    CUresult status; /* status of starting */
    bool is_forked;  /* this process was forked from one whose driver had started */
    pthread_mutex_t telling;
    Map *told; /* protected by `telling`: names that were already reported; NULL before the first */
} process = {.once = PTHREAD_ONCE_INIT, .telling = PTHREAD_MUTEX_INITIALIZER};

void driver_say(const char *format, ...) {
    Text message = {0};
    va_list args;
    va_start(args, format);
    text_vprintf(&message, format, args);
    va_end(args);
    text_add(&message, "\n");
    text_show_lines(message.bytes);
    fprintf(stderr, "tyto: %s", message.bytes);
    text_free(&message);
}

/* ---- The end: report, interrupts ---- */

/* Writes the report unless that was done; a second caller waits for the first. A thread of the
 * pool must not wait here, because a launch waits for it: a policy on that thread may have called
 * exit. */
static TytoStatus report(Driver *driver) {
    TytoSimulator *simulator = driver->simulator;
    TytoStatus status = TYTO_OK;
    if (thread_pool_is_other()) return status;
    simulator_lock(simulator);
    if (!driver->is_reported) {
        driver->is_reported = true;
        stream_queue_finish(driver);
        status = tyto_finish(simulator, program_invocation_short_name);
        if (status != TYTO_OK) fprintf(stderr, "tyto: %s\n", tyto_message(simulator));
    }
    simulator_unlock(simulator);
    return status;
}

/* Restores the signal's default action and raises it. */
static void die_of(int number) {
    sigset_t set;
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

void driver_obey_signal(Driver *driver) {
    if (!driver->signal) return;
    report(driver);
    die_of(driver->signal);
}

/* A program that runs many others can set, with TYTO_UNWRITTEN, the exit status for results that
 * could not be written, because then the simulated program made no error. */
static int exit_status_of(TytoStatus status) {
    if (status == TYTO_OK) return 0;
    char *unwritten = status == TYTO_BAD_FILE ? host_variable("TYTO_UNWRITTEN") : NULL;
    const int wanted = unwritten ? atoi(unwritten) : 0;
    free(unwritten);
    if (wanted) return wanted;
    return status == TYTO_CHECKS_FAILED ? STATUS_CHECKS_FAILED : 1;
}

_Noreturn void driver_end(Driver *driver, int status) {
    fflush(NULL);
    int reported = exit_status_of(report(driver));
    fflush(NULL);
    _exit(status ? status : reported);
}

static void report_at_exit(void) {
    if (!process.driver) return;
    driver_obey_signal(process.driver);
    int status = exit_status_of(report(process.driver));
    if (!status) return;
    fflush(stderr);
    _exit(status);
}

/* At the first interrupt, a running launch ends, so that the report contains what it did so far,
 * and the process ends after the report. At the second one, and in a child of fork, the process
 * ends at once. The command passes signals on with sigqueue; a signal to the whole process group
 * arrives both ways and counts once. */
static void on_interrupt(int number, siginfo_t *info, void *context) {
    Driver *driver = process.driver;
    (void)context;
    if (!driver || driver->signals[info->si_code == SI_QUEUE]++) {
        die_of(number);
        return;
    }
    if (driver->signal) return;
    driver->signal = number;
    sem_post(&driver->interrupted);
}

/* A launch that waits for a policy's function cannot end early. `before` is the function that was
 * running half a second ago. If it is still running, names the policy and ends the process without
 * a report. */
static void look_at_policy(const Driver *driver, char before[CALL_BYTES]) {
    char now[CALL_BYTES] = "";
    bool is_in_policy = tyto_policy_call(driver->simulator, now, sizeof now);
    if (is_in_policy && strcmp(now, before) == 0) {
        driver_say("error: %s does not return", now);
        die_of(driver->signal);
    }
    memcpy(before, now, sizeof now);
}

/* Whether the process's first thread has ended before the process (pthread_exit). */
static bool has_first_ended(void) {
    char text[STAT_BYTES], state = '\0';
    FILE *file = fopen("/proc/self/stat", "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[length] = '\0';
    const char *at = strrchr(text, ')'); /* a name may contain any characters */
    return at && sscanf(at, ") %c", &state) == 1 && state == 'Z';
}

/* Whether a thread of the process belongs to Tyto. */
static bool is_own_thread(const char *number) {
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", number);
    FILE *file = fopen(path, "r");
    bool is_read = file && fgets(name, sizeof name, file);
    if (file) fclose(file);
    return !is_read || strncmp(name, "tyto-", 5) == 0;
}

/* Whether all threads of the program have ended. The C library would then end the process, but
 * Tyto's threads keep it alive. */
static bool is_deserted(void) {
    const long first = getpid();
    if (!has_first_ended()) return false;
    DIR *tasks = opendir("/proc/self/task");
    bool is_any = !tasks;
    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;) {
        if (entry->d_name[0] == '.' || atol(entry->d_name) == first) continue;
        is_any |= !is_own_thread(entry->d_name);
    }
    if (tasks) closedir(tasks);
    return !is_any;
}

/* Waits for an interrupt, and checks meanwhile whether all threads of the program have ended. */
static void await_signal(Driver *driver) {
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        if (sem_timedwait(&driver->interrupted, &until) == 0) return;
        if (errno == ETIMEDOUT && is_deserted()) exit(0);
    }
}

/* Handles a call that never ends, because its thread has left it in the middle (longjmp, or
 * pthread_exit in a function that it called) and keeps the lock. Ends the process without a
 * report. */
static void give_up_waiting(const Driver *driver) {
    if (driver->is_reported) return; /* a report may take any time */
    driver_say("error: a CUDA call does not return: no report is written");
    die_of(driver->signal);
}

/* Waits for an interrupt. The program's threads may be running code of their own, without calling
 * Tyto. If one is in a launch, the launch ends early and that thread handles the signal. */
static void *await_interrupt(void *argument) {
    Driver *driver = argument;
    const struct timespec pause = {.tv_nsec = 1000000};
    char call[CALL_BYTES] = "";
    await_signal(driver);
    for (int pauses = 1; pthread_mutex_trylock(&driver->simulator->lock); pauses++) {
        tyto_interrupt(driver->simulator);
        nanosleep(&pause, NULL);
        if (pauses % LOOK_PAUSES == 0) look_at_policy(driver, call);
        if (pauses >= MOST_PAUSES) give_up_waiting(driver);
    }
    driver_obey_signal(driver);
    return NULL;
}

/* Starts the thread that waits for interrupts. It receives no signals itself. */
static bool start_waiting(Driver *driver) {
    sigset_t all, before;
    pthread_t thread;
    sem_init(&driver->interrupted, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&thread, NULL, await_interrupt, driver) == 0;
    if (is_started) pthread_setname_np(thread, "tyto-interrupts"); /* (stream_queue.c) */
    if (is_started) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

/* Installs the signal handlers. Signals that the program handles or ignores are left alone. */
static void catch_interrupts(Driver *driver) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    if (!start_waiting(driver)) return;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction action;
        sigaction(numbers[i], NULL, &action);
        if (action.sa_handler != SIG_DFL) continue;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = on_interrupt;
        action.sa_flags = SA_RESTART | SA_SIGINFO;
        sigaction(numbers[i], &action, NULL);
    }
}

/* ---- The start ---- */

/* Reserves standard output for a result that is written there. The command arranges this before it
 * starts the program. In a program started by other means, earlier output is already on standard
 * output. */
static void claim_output(const Options *options, Diag *diag) {
    if (!options_write_output(options) || output_file_is_claimed() || output_file_claim()) return;
    diag_error(diag, NULL, 0, 0, "standard output: cannot be kept for results: %s",
               strerror(errno));
}

static TytoSimulator *make_simulator(Diag *diag) {
    char *words = host_variable("TYTO_OPTIONS");
    Options *options = options_new();
    bool is_right = !words || options_parse_string(options, "TYTO_OPTIONS", words, diag);
    free(words);
    if (!is_right) {
        options_free(options);
        return NULL;
    }
    claim_output(options, diag);
    return simulator_new(options, diag);
}

/* A child of fork has the parent's driver in its memory, but the threads and files belong to the
 * parent. It could neither report nor be distinguished. As on a GPU, CUDA does not work in it. */
static void refuse_after_fork(void) {
    process.driver = NULL;
    process.status = CUDA_ERROR_NOT_INITIALIZED;
    process.is_forked = true;
}

/* Whether the command has started this program. */
static bool is_commanded(void) {
    char *command = host_variable("TYTO_COMMAND");
    free(command);
    return command != NULL;
}

/* A program that the command has started must run on the simulator: without one it ends, with
 * nothing to report. Other programs may run without CUDA. */
static void give_up(Diag *diag) {
    diag_print(diag, stderr);
    if (!is_commanded()) return;
    fflush(NULL);
    _exit(1);
}

/* Whether kernels run one by one, by the option or by CUDA's environment variable. */
static bool is_serial(const TytoSimulator *simulator) {
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    return simulator->options->is_serial || (blocking && strcmp(blocking, "0") != 0);
}

/* Creates the journal for the command that has started this program, if any. */
static void start_journal(TytoSimulator *simulator) {
    char *folder = host_variable(TYTO_JOURNAL);
    if (folder) simulator->journal = journal_new(folder, simulator->run, simulator->options);
    free(folder);
}

static void start(void) {
    const int before = lock_forbid_cancel();
    Diag *diag = diag_new();
    TytoSimulator *simulator = make_simulator(diag);
    process.status = simulator ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (simulator) {
        Driver *driver = base_calloc(1, sizeof *driver);
        driver->simulator = simulator;
        driver->stack_bytes = gpu_options(simulator->gpu)->stack_bytes;
        driver->is_serial = is_serial(simulator);
        simulator->is_process = true;
        origin_take_process(simulator);
        driver->allocations = ranges_new(sizeof(Region), 0, UINT64_MAX, 1);
        driver->registered = ranges_new(sizeof(Region), 0, UINT64_MAX, 1);
        driver->next_id = 1;
        gpu_options(simulator->gpu)->set_condition = conditional_set;
        gpu_options(simulator->gpu)->condition_user = driver;
        process.driver = driver;
        start_journal(simulator);
        atexit(report_at_exit);
        at_quick_exit(report_at_exit);
        pthread_atfork(NULL, NULL, refuse_after_fork);
        catch_interrupts(driver);
        if (is_commanded()) tyto_name_crashes(simulator);
    } else {
        give_up(diag);
    }
    diag_free(diag);
    lock_allow_cancel(before);
}

CUresult driver_start(void) {
    pthread_once(&process.once, start);
    return process.status;
}

/* ---- The frame of a call ---- */

CUresult call_begin_driver(Call *call) {
    Driver *driver = process.driver;
    if (!driver) {
        if (process.is_forked)
            driver_say("error: this process was forked from one that had used CUDA; let the child "
                       "start a program of its own, or be the first to use CUDA");
        process.is_forked = false; /* reported once */
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    simulator_lock(driver->simulator);
    *call = (Call){.driver = driver,
                   .memory = simulator_memory(driver->simulator),
                   .gpu = driver->simulator->gpu};
    return CUDA_SUCCESS;
}

CUresult call_begin(Call *call) {
    CUresult status = call_begin_driver(call);
    if (status != CUDA_SUCCESS) return status;
    CUcontext current = context_current();
    if (!current) return call_end(call, CUDA_ERROR_INVALID_CONTEXT);
    call->context = CALL_GET(call, HANDLE_CONTEXT, current);
    if (!call->context) return call_end(call, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    return call->context->error ? call_end(call, call->context->error) : CUDA_SUCCESS;
}

/* Called without the lock, since a program's function may do anything. */
static void end_doomed(Doomed *doomed) {
    while (doomed) {
        Doomed *next = doomed->next;
        doomed->destroy(doomed->pointer);
        free(doomed);
        doomed = next;
    }
}

CUresult call_end(Call *call, CUresult status) {
    Doomed *doomed = call->driver->doomed;
    call->driver->doomed = NULL;
    simulator_unlock(call->driver->simulator);
    if (doomed) end_doomed(doomed);
    return status;
}

bool driver_tells_first(const char *name) {
    const int before = lock_take(&process.telling);
    if (!process.told) process.told = map_new();
    const bool is_first = !map_has(process.told, name, strlen(name));
    if (is_first) map_put(process.told, name, strlen(name), NULL);
    lock_give(&process.telling, before);
    return is_first;
}

CUresult driver_missing(const char *function) { return driver_missing_because(function, ""); }

CUresult driver_missing_because(const char *function, const char *why) {
    if (driver_tells_first(function))
        driver_say("error: %s is not supported%s%s (docs/driver-api.md)", function,
                   *why ? ": " : "", why);
    return CUDA_ERROR_NOT_SUPPORTED;
}
