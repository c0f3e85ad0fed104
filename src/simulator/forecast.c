/* A copy of the process that counts a launch's instructions (see the header). */
#include "simulator/forecast.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "memory/memory.h"

struct Forecast {
    pid_t process;
    _Atomic uint64_t *count; /* of warp instructions, in memory that the copy shares */
};

/* ---- In the copy ---- */

static void print_nothing(void *user, const char *text, size_t length) {
    (void)user;
    (void)text;
    (void)length;
}

/* Nothing that the copy does may reach the program's files, terminal, or signal handlers. */
static void cut_off(void) {
    const struct rlimit none = {0, 0};
    sigset_t all;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    setrlimit(RLIMIT_CORE, &none);
    setpriority(PRIO_PROCESS, 0, 19);
    close_range(0, ~0U, 0);
    for (int number = 0; number < 3; number++)
        if (open("/dev/null", O_RDWR) != number) syscall(SYS_exit_group, 1);
}

static void count(Gpu *gpu, const GpuLaunch *launch, _Atomic uint64_t *to) {
    const struct timespec delay = {FORECAST_DELAY_MS / 1000, FORECAST_DELAY_MS % 1000 * 1000000};
    GpuLaunch functional = *launch;
    GpuResult result = {0};
    cut_off();
    nanosleep(&delay, NULL);
    gpu_options(gpu)->print = print_nothing;
    functional.is_functional = true;
    if (gpu_launch(gpu, &functional, &result) == GPU_OK) atomic_store(to, result.warp_instructions);
    syscall(SYS_exit_group, 0); /* exit would run what the program has registered */
}

/* ---- In the process ---- */

static bool has_checks(const GpuChecks *checks) {
    return checks->races || checks->init || checks->sync || checks->leaks || checks->reports_faults;
}

static bool can_copy(Gpu *gpu, const GpuLaunch *launch) {
    const GpuOptions *options = gpu_options(gpu);
    return options->machine && !launch->is_functional && !launch->after &&
           !has_checks(&options->checks) && !options->dump_line && !options->instruction_limit &&
           !mem_is_seen_outside(gpu_memory(gpu));
}

Forecast *forecast_begin(Gpu *gpu, const GpuLaunch *launch) {
    if (!can_copy(gpu, launch)) return NULL;
    _Atomic uint64_t *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return NULL;
    /* Without a signal at its end, the program's own wait() does not see this child. fork() has no
     * such form, and runs handlers of the program's. */
    const pid_t process = (pid_t)syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);
    if (process == 0) count(gpu, launch, shared);
    if (process < 0) {
        munmap(shared, sizeof *shared);
        return NULL;
    }
    Forecast *forecast = base_malloc(sizeof *forecast);
    *forecast = (Forecast){process, shared};
    return forecast;
}

uint64_t forecast_instructions(const Forecast *forecast) {
    return forecast ? atomic_load(forecast->count) : 0;
}

void forecast_end(Forecast *forecast) {
    if (!forecast) return;
    kill(forecast->process, SIGKILL);
    waitpid(forecast->process, NULL, __WALL);
    munmap(forecast->count, sizeof *forecast->count);
    free(forecast);
}
