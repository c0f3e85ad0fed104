#include "timed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void check(Timed *timed, const void *made) {
    if (!made) fail_msg("%s", diag_text(timed->diag));
}

void timed_start(Timed *timed, const char *name, const char *sets, const char *policy) {
    timed_start_awake(timed, name, sets, policy, false);
}

void timed_start_awake(Timed *timed, const char *name, const char *sets, const char *policy,
                       bool is_awake) {
    timed_start_how(timed, name, sets, policy, &(GpuOptions){.never_sleeps = is_awake});
}

void timed_start_how(Timed *timed, const char *name, const char *sets, const char *policy,
                     const GpuOptions *how) {
    *timed = (Timed){.diag = diag_new()};
    timed->machine = machine_load(name, timed->diag);
    check(timed, timed->machine);
    char *copy = strdup(sets);
    for (char *set = strtok(copy, " "); set; set = strtok(NULL, " "))
        if (!machine_set(timed->machine, set, timed->diag)) check(timed, NULL);
    free(copy);
    timed->config = machine_finish(timed->machine, timed->diag);
    check(timed, timed->config);
    timed->policy = sched_policy_new(policy, timed->diag);
    check(timed, timed->policy);
    GpuOptions options = *how;
    options.machine = timed->config;
    options.scheduler = timed->policy;
    timed->gpu = gpu_new(&options, timed->diag);
    check(timed, timed->gpu);
}

void timed_stop(Timed *timed) {
    gpu_free(timed->gpu);
    sched_policy_free(timed->policy);
    machine_free(timed->machine);
    diag_free(timed->diag);
}

uint64_t timed_buffer(Timed *timed, const uint32_t *initial, size_t words) {
    DeviceMemory *memory = gpu_memory(timed->gpu);
    uint64_t address = mem_alloc(memory, words * 4, MEM_ALLOC_ALIGN, MEM_KIND_BUFFER, NULL);
    assert_int_not_equal(address, 0);
    if (initial) assert_true(mem_write(memory, address, initial, words * 4));
    return address;
}

static int first_kernel(const GpuModule *module) {
    const IsaProgram *program = gpu_module_program(module);
    for (uint32_t i = 0; i < program->function_count; i++)
        if (program->functions[i].ptx->is_kernel) return (int)i;
    fail_msg("no kernel");
    return -1;
}

GpuResult timed_run_badly(Timed *timed, const char *ptx, uint32_t ctas, uint32_t threads,
                          const uint64_t *parameters) {
    GpuImage image = {.name = "test.ptx", .text = ptx, .length = strlen(ptx)};
    GpuModule *module = gpu_load(timed->gpu, &image, 1, timed->diag);
    check(timed, module);
    GpuLaunch launch = {.module = module,
                        .function = first_kernel(module),
                        .grid = {ctas, 1, 1},
                        .block = {threads, 1, 1},
                        .parameters = parameters};
    GpuResult result;
    gpu_launch(timed->gpu, &launch, &result);
    gpu_unload(module);
    return result;
}

GpuResult timed_run(Timed *timed, const char *ptx, uint32_t ctas, uint32_t threads,
                    const uint64_t *parameters) {
    GpuResult result = timed_run_badly(timed, ptx, ctas, threads, parameters);
    if (result.status != GPU_OK) fail_msg("%s", result.message);
    Text why = {0};
    CountersShape shape = {timed->config->sms, timed->config->sm.scheduler.count, true};
    if (!counters_check(&result.counters, shape, &why)) fail_msg("%s", text_string(&why));
    text_free(&why);
    return result;
}

uint32_t timed_word(Timed *timed, uint64_t buffer, size_t i) {
    uint32_t word = 0;
    assert_true(mem_read(gpu_memory(timed->gpu), buffer + 4 * i, &word, sizeof word));
    return word;
}
