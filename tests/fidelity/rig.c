/* See the header. Each rig loads its kernels itself, so measurements share nothing. */
#include "rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "machine/machine_file.h"
#include "sched/registry.h"

enum { MEMORY_BYTES = 64 << 20 };

struct Rig {
    const char *folder;
    Machine *machine;
    const MachineConfig *config; /* configuration of the machine */
    SchedPolicy *scheduler;
    Gpu *gpu;
    GpuModule *module; /* module of the last loaded kernel */
    Diag *diag;
};

static void stop(const Rig *rig, const char *what) __attribute__((noreturn));

static void stop(const Rig *rig, const char *what) {
    fprintf(stderr, "%s: %s\n", what, diag_text(rig->diag));
    exit(1);
}

Rig *rig_new(const char *folder, const RigSetup *setup) {
    Rig *rig = base_calloc(1, sizeof *rig);
    rig->folder = folder;
    rig->diag = diag_new();
    const char *name = setup->machine ? setup->machine : "gtx480";
    rig->machine = machine_load(name, rig->diag);
    if (setup->setting && !machine_set(rig->machine, setup->setting, rig->diag))
        stop(rig, setup->setting);
    const MachineConfig *config = rig->config = machine_finish(rig->machine, rig->diag);
    rig->scheduler = sched_policy_new(setup->scheduler ? setup->scheduler : "gto", rig->diag);
    if (!config || !rig->scheduler) stop(rig, name);
    rig->gpu = gpu_new(&(GpuOptions){.machine = config,
                                     .scheduler = rig->scheduler,
                                     .registers = setup->registers,
                                     .memory_bytes = MEMORY_BYTES},
                       rig->diag);
    if (!rig->gpu) stop(rig, name);
    return rig;
}

void rig_free(Rig *rig) {
    if (rig->module) gpu_unload(rig->module);
    gpu_free(rig->gpu);
    sched_policy_free(rig->scheduler);
    machine_free(rig->machine);
    diag_free(rig->diag);
    free(rig);
}

const MachineConfig *rig_machine(const Rig *rig) { return rig->config; }

double rig_cycles(const Rig *rig, const GpuResult *result) {
    return (double)result->cycles - rig->config->cta.launch_cycles;
}

/* ---- Kernels ---- */

/* Adds `count` copies of `text`, with `#` replaced by the number of the copy. */
static void add_copies(Text *out, int count, const char *text, size_t length) {
    for (int copy = 0; copy < count; copy++) {
        for (size_t i = 0; i < length; i++) {
            if (text[i] == '#') text_printf(out, "%d", copy);
            else text_add_bytes(out, &text[i], 1);
        }
        text_add(out, "\n");
    }
}

/* The kernel's text with its `// repeat` lines expanded. */
static void expand(const char *template, const char *op, Text *out) {
    while (*template) {
        size_t length = strcspn(template, "\n");
        int count, skipped = 0;
        bool is_repeated = sscanf(template, " // repeat %d: %n", &count, &skipped) == 1 && skipped;
        const char *text = template + skipped;
        bool is_hole = is_repeated && !strncmp(text, "$op", 3);
        if (is_hole) add_copies(out, count, op, strlen(op));
        else if (is_repeated) add_copies(out, count, text, length - (size_t)skipped);
        else text_add_bytes(out, template, length);
        text_add(out, "\n");
        template += length + (template[length] == '\n');
    }
}

void rig_load(Rig *rig, const char *name, const char *op) {
    char path[1024];
    size_t length;
    snprintf(path, sizeof path, "%s/kernels/%s.ptx", rig->folder, name);
    char *template = text_read_file(path, 1 << 20, &length);
    if (!template) stop(rig, path);
    Text ptx = {0};
    expand(template, op, &ptx);
    free(template);
    GpuImage image = {path, text_string(&ptx), ptx.length};
    if (rig->module) gpu_unload(rig->module);
    rig->module = gpu_load(rig->gpu, &image, 1, rig->diag);
    if (!rig->module) stop(rig, op ? op : path);
    text_free(&ptx);
}

/* ---- Memory ---- */

uint64_t rig_alloc(Rig *rig, uint64_t bytes) {
    uint64_t address =
        mem_alloc(gpu_memory(rig->gpu), bytes, MEM_ALLOC_ALIGN, MEM_KIND_BUFFER, NULL);
    if (!address) stop(rig, "out of device memory");
    return address;
}

void rig_write(Rig *rig, uint64_t address, const void *data, uint64_t bytes, bool is_copy) {
    if (!mem_write(gpu_memory(rig->gpu), address, data, bytes)) stop(rig, "bad write");
    if (is_copy) gpu_host_wrote(rig->gpu, address, bytes);
}

uint32_t rig_read_word(Rig *rig, uint64_t address) {
    uint32_t word = 0;
    if (!mem_read(gpu_memory(rig->gpu), address, &word, sizeof word)) stop(rig, "bad read");
    return word;
}

/* ---- Launches ---- */

GpuResult rig_launch(Rig *rig, const uint32_t grid[2], const uint32_t block[2],
                     const void *parameters) {
    GpuLaunch launch = {.module = rig->module,
                        .grid = {grid[0], grid[1], 1},
                        .block = {block[0], block[1], 1},
                        .parameters = parameters};
    GpuResult result;
    const IsaProgram *program = gpu_module_program(rig->module);
    for (uint32_t i = 0; i < program->function_count; i++)
        if (program->functions[i].ptx->is_kernel) launch.function = (int)i;
    if (gpu_launch(rig->gpu, &launch, &result) != GPU_OK) {
        fprintf(stderr, "%s\n", result.message);
        exit(1);
    }
    return result;
}

GpuResult rig_launch_line(Rig *rig, uint32_t ctas, uint32_t threads,
                          const RigParameters *parameters) {
    return rig_launch(rig, (uint32_t[]){ctas, 1}, (uint32_t[]){threads, 1}, parameters);
}
