/* A thread that wakes a few times a second while a launch runs. */
#include "simulator/progress.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/demangle.h"
#include "base/map.h"

enum {
    PERIOD_NS = 250000000,            /* between two lines on a terminal */
    PERIODS = 1000000000 / PERIOD_NS, /* periods in a second */
    PATIENCE = PERIODS,        /* periods before the first line: short launches stay silent */
    FIRST_LINE = 10 * PERIODS, /* periods until a line if stderr is no terminal: the first, ... */
    SECOND_LINE = 30 * PERIODS,
    LONG_SECONDS = 60,         /* a launch of at least this duration is announced */
    LINES_APART = 60 * PERIODS /* ... and then a line at each multiple of these */
};

/* The duration of a launch; without a terminal only of one that was long enough to be announced. */
typedef struct Ended {
    uint64_t ctas;  /* CTAs of its grid */
    double seconds; /* seconds of the host */
} Ended;

struct Progress {
    pthread_t thread;
    pid_t process;        /* process that has the thread; the child of a fork has none */
    pthread_mutex_t lock; /* lock of the fields below */
    pthread_cond_t wake;  /* signalled when a launch begins, or at the end */
    const Gpu *gpu;
    const char *kernel;       /* kernel of the running launch; NULL between launches */
    const Forecast *forecast; /* its forecast, or NULL */
    int periods;              /* since the launch began */
    Map *ended;               /* by kernel: its last Ended; owned */
    bool is_terminal;         /* stderr is a terminal: one line is overwritten */
    bool is_ending;
};

double progress_left(const GpuProgress *now, double seconds) {
    const double done = (double)now->done_ctas, all = (double)now->total_ctas;
    const double resident =
        now->begun_ctas > now->done_ctas ? (double)(now->begun_ctas - now->done_ctas) : 0;
    if (!now->done_ctas || done < resident) return NAN;
    const double left = seconds * (all / (done + resident / 2) - 1);
    return left > 0 ? left : 0;
}

double progress_left_by(uint64_t done, uint64_t total, double seconds) {
    if (!total || !done) return NAN;
    return done < total ? seconds * ((double)total / (double)done - 1) : 0;
}

bool progress_is_due(int periods, bool is_terminal) {
    if (is_terminal) return periods >= PATIENCE;
    return periods == FIRST_LINE || periods == SECOND_LINE ||
           (periods > 0 && periods % LINES_APART == 0);
}

static double seconds_of(const Progress *progress) { return progress->periods * (PERIOD_NS / 1e9); }

/* The last launch of the kernel with the same number of CTAs; NULL: there is none. */
static const Ended *last_launch(const Progress *progress, const GpuProgress *now) {
    const Ended *last = map_get(progress->ended, progress->kernel, strlen(progress->kernel));
    return last && last->ctas == now->total_ctas ? last : NULL;
}

static void keep_launch(Progress *progress) {
    const GpuProgress now = gpu_progress(progress->gpu);
    Ended *ended = base_malloc(sizeof *ended);
    *ended = (Ended){now.total_ctas, seconds_of(progress)};
    free(map_put(progress->ended, progress->kernel, strlen(progress->kernel), ended));
}

/* Announces a launch that will be long if it takes as long as the previous one. */
static void announce(const Progress *progress) {
    const GpuProgress now = gpu_progress(progress->gpu);
    const Ended *last = last_launch(progress, &now);
    Text line = {0};
    if (!last || last->seconds < LONG_SECONDS) return;
    demangle_short(progress->kernel, &line);
    fprintf(stderr, "tyto: %s: about %.0f s, as its last launch took\n", text_string(&line),
            last->seconds);
    text_free(&line);
}

static void print_line(const Progress *progress) {
    const GpuProgress now = gpu_progress(progress->gpu);
    const double seconds = seconds_of(progress);
    const Ended *last = last_launch(progress, &now);
    double left =
        progress_left_by(now.warp_instructions, forecast_instructions(progress->forecast), seconds);
    if (isnan(left))
        left = last && last->seconds > seconds ? last->seconds - seconds
                                               : progress_left(&now, seconds);
    Text line = {0};
    text_add(&line, progress->is_terminal ? "\r" : "tyto: ");
    demangle_short(progress->kernel, &line);
    text_printf(&line,
                ": %" PRIu64 " of %" PRIu64 " thread blocks, %.1f million warp instructions, "
                "%.0f s",
                now.done_ctas, now.total_ctas, (double)now.warp_instructions / 1e6, seconds);
    if (!isnan(left)) text_printf(&line, ", about %.0f s left", left);
    text_add(&line, progress->is_terminal ? "\x1b[K" : "\n");
    fputs(text_string(&line), stderr);
    fflush(stderr);
    text_free(&line);
}

/* Waits for a period or a change. The caller holds the lock. */
static void wait_period(Progress *progress) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PERIOD_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&progress->wake, &progress->lock, &until);
}

static void *watch(void *argument) {
    Progress *progress = argument;
    pthread_mutex_lock(&progress->lock);
    while (!progress->is_ending) {
        if (!progress->kernel) {
            pthread_cond_wait(&progress->wake, &progress->lock);
            continue;
        }
        wait_period(progress);
        if (!progress->kernel) continue;
        if (++progress->periods == 1) announce(progress);
        if (progress_is_due(progress->periods, progress->is_terminal)) print_line(progress);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

Progress *progress_new(const Gpu *gpu) {
    Progress *progress = base_calloc(1, sizeof *progress);
    progress->gpu = gpu;
    progress->process = getpid();
    progress->is_terminal = isatty(STDERR_FILENO);
    progress->ended = map_new();
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&progress->lock, NULL);
    if (pthread_create(&progress->thread, NULL, watch, progress) == 0) {
        pthread_setname_np(progress->thread, "tyto-progress");
        return progress;
    }
    map_free(progress->ended);
    free(progress);
    return NULL;
}

/* Whether there is a thread in this process. */
static bool is_here(const Progress *progress) { return progress && progress->process == getpid(); }

void progress_free(Progress *progress) {
    if (!is_here(progress)) return; /* in the child of a fork, the lock may be locked forever */
    pthread_mutex_lock(&progress->lock);
    progress->is_ending = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->lock);
    for (size_t i = 0; i < map_count(progress->ended); i++)
        free(map_value(progress->ended, i));
    map_free(progress->ended);
    free(progress);
}

bool progress_wants_forecast(Progress *progress, const char *kernel, uint64_t ctas) {
    if (!is_here(progress) || !progress->is_terminal) return false;
    pthread_mutex_lock(&progress->lock);
    const Ended *last = map_get(progress->ended, kernel, strlen(kernel));
    const bool wants = !last || (last->seconds * PERIODS >= PATIENCE && last->ctas != ctas);
    pthread_mutex_unlock(&progress->lock);
    return wants;
}

void progress_begin(Progress *progress, const char *kernel, const Forecast *forecast) {
    if (!is_here(progress)) return;
    pthread_mutex_lock(&progress->lock);
    progress->kernel = kernel;
    progress->forecast = forecast;
    progress->periods = 0;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
}

void progress_end(Progress *progress) {
    if (!is_here(progress)) return;
    pthread_mutex_lock(&progress->lock);
    if (progress->kernel && (progress->is_terminal || progress->periods >= PATIENCE))
        keep_launch(progress);
    progress->kernel = NULL;
    progress->forecast = NULL;
    if (progress->is_terminal && progress->periods >= PATIENCE) fputs("\r\x1b[K", stderr);
    pthread_mutex_unlock(&progress->lock);
}
