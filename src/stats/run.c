/* The statistics of one run: recording, summing and checking. */
#include "stats/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

const char *const run_status_names[RUN_STATUSES] = {
    [RUN_COMPLETE] = "complete", [RUN_INTERRUPTED] = "interrupted", [RUN_FAULT] = "fault",
    [RUN_STUCK] = "stuck",       [RUN_STOPPED] = "stopped",         [RUN_RUNNING] = "running",
};

const CounterId run_functional_counters[RUN_FUNCTIONAL_COUNTERS] = {COUNTER_warp_instructions,
                                                                    COUNTER_thread_instructions};

static char *copy_of(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(base_malloc(size), text, size);
}

/* ---- Origin ---- */

#define ORIGIN_NAME(name, meaning) [RUN_ORIGIN_##name] = #name,
const char *const run_origin_names[RUN_ORIGINS] = {RUN_ORIGIN(ORIGIN_NAME)};

#define ORIGIN_OFFSET(name, meaning) [RUN_ORIGIN_##name] = offsetof(RunStats, name),
static const size_t origin_offsets[RUN_ORIGINS] = {RUN_ORIGIN(ORIGIN_OFFSET)};

const char *run_origin(const RunStats *run, RunOrigin which) {
    return *(char *const *)(const void *)((const char *)run + origin_offsets[which]);
}

void run_set_origin(RunStats *run, RunOrigin which, const char *text) {
    char **field = (char **)(void *)((char *)run + origin_offsets[which]);
    char *copy = text ? copy_of(text) : NULL;
    free(*field);
    *field = copy;
}

/* ---- Runs ---- */

RunStats *run_new(const char *program) {
    RunStats *run = base_calloc(1, sizeof *run);
    run_set_origin(run, RUN_ORIGIN_tyto_version, TYTO_VERSION);
    run_set_origin(run, RUN_ORIGIN_program, program);
    run->shape.is_complete = true;
    return run;
}

void run_set_machine(RunStats *run, const char *machine, const char *scheduler,
                     const char *cta_scheduler, uint32_t sms, uint32_t schedulers) {
    run_set_origin(run, RUN_ORIGIN_machine, machine);
    run_set_origin(run, RUN_ORIGIN_scheduler, scheduler);
    run_set_origin(run, RUN_ORIGIN_cta_scheduler, cta_scheduler);
    run->shape.sms = sms;
    run->shape.schedulers = schedulers;
}

static void free_kernel(KernelStats *kernel) {
    if (kernel->timing) {
        free(kernel->timing->ctas);
        pack_free(&kernel->timing->figures);
    }
    free(kernel->timing);
    free(kernel->name);
}

void run_free(RunStats *run) {
    if (!run) return;
    for (int i = 0; i < run->kernel_count; i++)
        free_kernel(&run->kernels[i]);
    free(run->kernels);
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++)
        run_set_origin(run, i, NULL);
    timeseries_free(run->series);
    findings_free(run->findings);
    profile_free(run->profile);
    units_free(run->units);
    free(run->ending);
    free(run);
}

KernelStats *run_add_kernel(RunStats *run, const char *name) {
    if (run->kernel_count == run->kernel_capacity) {
        run->kernel_capacity = run->kernel_capacity ? 2 * run->kernel_capacity : 8;
        run->kernels =
            base_realloc(run->kernels, (size_t)run->kernel_capacity * sizeof *run->kernels);
    }
    KernelStats *kernel = &run->kernels[run->kernel_count++];
    memset(kernel, 0, sizeof *kernel);
    kernel->name = copy_of(name);
    return kernel;
}

KernelTiming *run_add_timing(KernelStats *kernel) {
    kernel->timing = base_calloc(1, sizeof *kernel->timing);
    return kernel->timing;
}

enum { FIGURES = sizeof(KernelFigures) / sizeof(uint64_t) };
static_assert(sizeof(KernelFigures) == FIGURES * sizeof(uint64_t),
              "all of them are 64-bit numbers");

void run_set_figures(KernelTiming *timing, const KernelFigures *figures) {
    uint64_t numbers[FIGURES];
    memcpy(numbers, figures, sizeof numbers);
    pack_free(&timing->figures);
    timing->figures = pack_make(numbers, FIGURES);
}

KernelFigures run_figures(const KernelTiming *timing) {
    uint64_t numbers[FIGURES];
    KernelFigures figures;
    pack_read(&timing->figures, numbers, FIGURES);
    memcpy(&figures, numbers, sizeof figures);
    return figures;
}

Counters run_kernel_counters(const KernelStats *kernel) {
    if (kernel->timing) return run_figures(kernel->timing).counters;
    return (Counters){.warp_instructions = kernel->warp_instructions,
                      .thread_instructions = kernel->thread_instructions};
}

AdviceFacts run_kernel_facts(const RunStats *run, const KernelStats *kernel,
                             const Counters *counters) {
    return (AdviceFacts){.counters = counters,
                         .peaks = &run->peaks,
                         .occupancy = &kernel->timing->occupancy,
                         .ctas = (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2],
                         .sms = run->shape.sms};
}

AdviceFacts run_total_facts(const RunStats *run, const Counters *total) {
    return (AdviceFacts){.counters = total, .peaks = &run->peaks, .sms = run->shape.sms};
}

bool run_has_overlap(const RunStats *run) {
    for (int i = 0; i < run->kernel_count; i++)
        if (run->kernels[i].has_overlapped) return true;
    return false;
}

bool run_is_counted(const RunStats *run, const KernelStats *kernel) {
    return kernel->timing || !run_is_timed(run);
}

Counters run_total(const RunStats *run) {
    Counters total = {0};
    for (int i = 0; i < run->kernel_count; i++) {
        if (!run_is_counted(run, &run->kernels[i])) continue;
        Counters counters = run_kernel_counters(&run->kernels[i]);
        counters_add(&total, &counters);
    }
    return total;
}

void run_total_histograms(const RunStats *run, Histograms *total) {
    memset(total, 0, sizeof *total);
    for (int i = 0; i < run->kernel_count; i++) {
        if (!run->kernels[i].timing) continue;
        KernelFigures figures = run_figures(run->kernels[i].timing);
        histograms_add(total, &figures.histograms);
    }
}

WarpStates run_total_states(const RunStats *run) {
    WarpStates total = {0};
    for (int i = 0; i < run->kernel_count; i++) {
        if (!run->kernels[i].timing) continue;
        KernelFigures figures = run_figures(run->kernels[i].timing);
        warp_states_add(&total, &figures.states);
    }
    return total;
}

UntimedTotal run_untimed(const RunStats *run) {
    UntimedTotal total = {0};
    for (int i = 0; i < run->kernel_count; i++) {
        if (run_is_counted(run, &run->kernels[i])) continue;
        Counters counters = run_kernel_counters(&run->kernels[i]);
        counters_add(&total.counters, &counters);
        total.kernels++;
    }
    return total;
}

HostStats run_host(const RunStats *run) {
    HostStats host = {0};
    for (int i = 0; i < run->kernel_count; i++) {
        const KernelStats *kernel = &run->kernels[i];
        if (run_is_counted(run, kernel)) {
            host.wall_seconds += kernel->wall_seconds;
            host.cpu_seconds += kernel->cpu_seconds;
        } else {
            host.untimed_seconds += kernel->wall_seconds;
        }
    }
    return host;
}

static bool check_part(const char *name, const Counters *counters, CountersShape shape, Text *why) {
    Text lines = {0};
    bool is_good = counters_check(counters, shape, &lines);
    if (!is_good) text_printf(why, "%s:\n%s", name, text_string(&lines));
    text_free(&lines);
    return is_good;
}

/* Checks that every warp is in one state in every cycle, if the core counts states. */
static bool check_states(const char *name, const KernelFigures *figures, Text *why) {
    const uint64_t states = warp_states_sum(&figures->states);
    if (!states || states == figures->counters.warp_cycles) return true;
    text_printf(why,
                "%s:\nevery resident warp is in one state: all states = %" PRIu64
                ", not warp_cycles = %" PRIu64 "\n",
                name, states, figures->counters.warp_cycles);
    return false;
}

bool run_check(const RunStats *run, Text *why) {
    bool is_good = true, is_complete = run->shape.is_complete, has_overlap = false;
    if (!run_is_timed(run)) return true;
    for (int i = 0; i < run->kernel_count; i++) {
        const KernelStats *kernel = &run->kernels[i];
        CountersShape shape = run->shape;
        shape.is_complete = kernel->status == RUN_COMPLETE;
        is_complete &= shape.is_complete;
        has_overlap |= kernel->has_overlapped;
        if (!kernel->timing || kernel->has_overlapped) continue;
        KernelFigures figures = run_figures(kernel->timing);
        is_good &= check_part(kernel->name, &figures.counters, shape, why);
        is_good &= check_states(kernel->name, &figures, why);
    }
    Counters total = run_total(run);
    CountersShape shape = run->shape;
    shape.is_complete = is_complete;
    if (run->profile) is_good &= profile_check(run->profile, why);
    if (has_overlap) return is_good;
    return check_part("total", &total, shape, why) && is_good;
}
