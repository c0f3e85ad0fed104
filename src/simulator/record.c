/* The record of a simulator's run (see the header). */
#include "simulator/record.h"

#include <string.h>

#include "base/host.h"
#include "isa/sass/code.h"
#include "machine/machine.h"
#include "stats/output.h"

/* ---- Launches ---- */

static RunStatus status_of(const GpuResult *result) {
    if (result->status == GPU_OK) return RUN_COMPLETE;
    if (result->status == GPU_INTERRUPTED) return RUN_INTERRUPTED;
    if (result->status == GPU_STOPPED) return RUN_STOPPED;
    return result->fault_code == ISA_FAULT_DEADLOCK ? RUN_STUCK : RUN_FAULT;
}

static void add_timing(KernelStats *kernel, const GpuResult *result, Watch *watch) {
    KernelTiming *timing = run_add_timing(kernel);
    timing->ctas_per_sm = result->ctas_per_sm;
    timing->occupancy = result->occupancy;
    KernelFigures figures = {result->counters, result->histograms, result->spreads, result->states};
    run_set_figures(timing, &figures);
    timing->ctas = watch_take_ctas(watch, &timing->cta_count);
}

/* Records the kernel's instructions. */
static void say_code(const Gpu *gpu, const GpuLaunch *launch, KernelStats *kernel) {
    const MachineConfig *machine = launch->is_functional ? NULL : gpu_machine(gpu);
    const bool is_lowered = machine && machine->sm.instructions != SM_INSTRUCTIONS_PTX;
    isa_say_code(gpu_module_program(launch->module), kernel->code, sizeof kernel->code);
    if (!*kernel->code) strcpy(kernel->code, is_lowered ? "lowered ptx" : "ptx");
}

void record_launch(RunStats *run, const Gpu *gpu, const GpuLaunch *launch, uint32_t stream,
                   const GpuResult *result, Watch *watch) {
    const IsaFunction *function = &gpu_module_program(launch->module)->functions[launch->function];
    KernelStats *kernel = run_add_kernel(run, function->ptx->name);
    memcpy(kernel->grid, launch->grid, sizeof kernel->grid);
    memcpy(kernel->block, launch->block, sizeof kernel->block);
    gpu_cluster(launch, kernel->cluster);
    if (kernel->cluster[0] * kernel->cluster[1] * kernel->cluster[2] <= 1)
        memset(kernel->cluster, 0, sizeof kernel->cluster);
    kernel->registers =
        gpu_registers(gpu, function, launch->block[0] * launch->block[1] * launch->block[2]);
    kernel->shared_bytes = function->shared_bytes + launch->dynamic_shared_bytes;
    say_code(gpu, launch, kernel);
    kernel->status = status_of(result);
    kernel->stream = stream;
    kernel->has_overlapped = result->has_overlapped;
    kernel->time_ps = result->time_ps;
    kernel->wall_seconds = result->wall_seconds;
    kernel->cpu_seconds = result->cpu_seconds;
    if (kernel->status != RUN_COMPLETE) run->shape.is_complete = false;
    if (watch && !launch->is_functional) {
        add_timing(kernel, result, watch);
    } else {
        kernel->warp_instructions = result->warp_instructions;
        kernel->thread_instructions = result->thread_instructions;
    }
}

/* ---- The end ---- */

void record_sign(RunStats *run) { run->peak_memory_bytes = host_peak_memory_bytes(); }

void record_add_json(const RunStats *run, Text *out) {
    Json json;
    json_begin(&json, out);
    run_write_json(run, &json);
    text_add(out, "\n");
}

void record_add_profile(const RunStats *run, Text *out) {
    Json json;
    json_begin(&json, out);
    json_object(&json);
    run_write_origin(run, &json);
    json_key(&json, "profile");
    profile_write_json(run->profile, &json);
    json_end_object(&json);
    text_add(out, "\n");
}

/* The functions that rows of kind RESULT name; the table of options finds them by name. */
typedef void WriteResult(const RunStats *run, Text *out);

static void add_csv(const RunStats *run, Text *out) { run_write_csv(&run, 1, out); }

bool record_write(const RunStats *run, const Options *options, Diag *diag) {
    const struct {
        const char *path; /* NULL: not wanted */
        WriteResult *write;
    } files[] = {
#define RESULT(group, name, field, write, ...) {options->field, write},
#include "simulator/options.def"
    };
    Text text = {0};
    bool is_right = run_check(run, &text);
    if (!is_right) diag_error(diag, NULL, 0, 0, "the counters disagree: %s", text_string(&text));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (!files[i].path) continue;
        text_clear(&text);
        files[i].write(run, &text);
        is_right &= output_write(files[i].path, &text, diag);
    }
    text_free(&text);
    return is_right;
}
