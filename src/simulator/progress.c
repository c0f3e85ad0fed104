/* A thread that wakes a few times a second while a launch runs. */
#include "simulator/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/demangle.h"

enum {
    PERIOD_NS = 250000000, /* between two lines */
    PATIENCE = 4           /* periods before the first one: short launches stay silent */
};

struct Progress {
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;  /* a launch begins, or the end */
    const Gpu *gpu;
    const char *kernel; /* of the running launch, NULL between launches */
    int periods;        /* since the launch began */
    bool is_ending;
};

static void print_line(const Progress *progress) {
    GpuProgress now = gpu_progress(progress->gpu);
    double seconds = progress->periods * (PERIOD_NS / 1e9);
    Text name = {0};
    demangle_short(progress->kernel, &name);
    fprintf(stderr,
            "\r%s: %" PRIu64 " of %" PRIu64 " thread blocks, %.1f million warp instructions, "
            "%.0f s\x1b[K",
            text_string(&name), now.done_ctas, now.total_ctas, (double)now.warp_instructions / 1e6,
            seconds);
    fflush(stderr);
    text_free(&name);
}

/* Waits for a period or a change. The lock is held. */
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
        if (progress->kernel && ++progress->periods >= PATIENCE) print_line(progress);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

Progress *progress_new(const Gpu *gpu) {
    if (!isatty(STDERR_FILENO)) return NULL;
    Progress *progress = base_calloc(1, sizeof *progress);
    progress->gpu = gpu;
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
    free(progress);
    return NULL;
}

void progress_free(Progress *progress) {
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    progress->is_ending = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->lock);
    free(progress);
}

void progress_begin(Progress *progress, const char *kernel) {
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    progress->kernel = kernel;
    progress->periods = 0;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
}

void progress_end(Progress *progress) {
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    progress->kernel = NULL;
    if (progress->periods >= PATIENCE) fputs("\r\x1b[K", stderr);
    pthread_mutex_unlock(&progress->lock);
}
