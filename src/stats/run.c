/* The statistics of one run: building them up, summing and checking them. */
#include "stats/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

const char *const run_status_names[RUN_STATUSES] = {
    [RUN_COMPLETE] = "complete",
    [RUN_INTERRUPTED] = "interrupted",
    [RUN_FAULT] = "fault",
    [RUN_STUCK] = "stuck",
};

static char *copy_of(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(base_malloc(size), text, size);
}

RunStats *run_new(const char *program, const char *machine, const char *scheduler,
                  const char *cta_scheduler, uint32_t sms, uint32_t schedulers) {
    RunStats *run = base_calloc(1, sizeof *run);
    run->program = copy_of(program);
    run->machine = copy_of(machine);
    run->scheduler = copy_of(scheduler);
    run->cta_scheduler = copy_of(cta_scheduler);
    run->shape = (CountersShape){.sms = sms, .schedulers = schedulers, .is_complete = true};
    return run;
}

void run_free(RunStats *run) {
    if (!run) return;
    for (int i = 0; i < run->kernel_count; i++) {
        free(run->kernels[i].name);
        free(run->kernels[i].ctas);
    }
    free(run->kernels);
    free(run->program);
    free(run->machine);
    free(run->scheduler);
    free(run->cta_scheduler);
    timeseries_free(run->series);
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

UntimedTotal run_untimed(const RunStats *run) {
    UntimedTotal total = {0};
    for (int i = 0; i < run->kernel_count; i++) {
        total.kernels += run->kernels[i].is_untimed;
        total.warp_instructions += run->kernels[i].warp_instructions;
        total.thread_instructions += run->kernels[i].thread_instructions;
    }
    return total;
}

Counters run_total(const RunStats *run) {
    Counters total = {0};
    for (int i = 0; i < run->kernel_count; i++)
        counters_add(&total, &run->kernels[i].counters);
    return total;
}

void run_total_histograms(const RunStats *run, Histograms *total) {
    memset(total, 0, sizeof *total);
    for (int i = 0; i < run->kernel_count; i++)
        histograms_add(total, &run->kernels[i].histograms);
}

static bool check_part(const char *name, const Counters *counters, CountersShape shape, Text *why) {
    Text lines = {0};
    bool is_good = counters_check(counters, shape, &lines);
    if (!is_good) text_printf(why, "%s:\n%s", name, text_string(&lines));
    text_free(&lines);
    return is_good;
}

bool run_check(const RunStats *run, Text *why) {
    bool is_good = true, is_complete = run->shape.is_complete;
    for (int i = 0; i < run->kernel_count; i++) {
        CountersShape shape = run->shape;
        shape.is_complete = run->kernels[i].status == RUN_COMPLETE;
        is_complete &= shape.is_complete;
        is_good &= check_part(run->kernels[i].name, &run->kernels[i].counters, shape, why);
    }
    Counters total = run_total(run);
    CountersShape shape = run->shape;
    shape.is_complete = is_complete;
    return check_part("total", &total, shape, why) && is_good;
}
