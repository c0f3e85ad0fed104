/* Kernels of known behaviour on machines (see the header). */
#include "on_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "machine/machine_file.h"
#include "engine/observe/watch.h"
#include "sched/cta_policy.h"
#include "sched/registry.h"

static const char PTX[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry walk(.param .u64 out, .param .u64 data, .param .u32 lines,\n"
    "                     .param .u32 rounds, .param .u32 share, .param .u32 work, .param .u32 "
    "spread)\n"
    "{\n"
    "  .reg .pred %p; .reg .b32 %r<20>; .reg .b64 %d<10>; .reg .f32 %f<4>;\n"
    "  ld.param.u64 %d0, [out]; ld.param.u64 %d1, [data]; ld.param.u32 %r0, [lines];\n"
    "  ld.param.u32 %r1, [rounds]; ld.param.u32 %r2, [share]; ld.param.u32 %r3, [work];\n"
    "  ld.param.u32 %r15, [spread];\n"
    "  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x;\n"
    "  mad.lo.u32 %r7, %r4, %r5, %r6;\n"
    "  shr.u32 %r8, %r7, 5; and.b32 %r9, %r6, 31;\n"
    "  div.u32 %r10, %r8, %r2; mul.lo.u32 %r10, %r10, %r0; shl.b32 %r10, %r10, 7;\n"
    "  mul.lo.u32 %r11, %r9, %r15; shr.u32 %r11, %r11, 5; shl.b32 %r11, %r11, 7;\n"
    "  add.u32 %r10, %r10, %r11; shl.b32 %r11, %r9, 2; and.b32 %r11, %r11, 127;\n"
    "  add.u32 %r10, %r10, %r11; mul.wide.u32 %d5, %r15, 128;\n"
    "  cvt.u64.u32 %d2, %r10; add.u64 %d1, %d1, %d2;\n"
    "  mov.f32 %f0, 0f00000000; mov.u32 %r12, 0;\n"
    "ROUND:\n"
    "  mov.u32 %r13, 0; mov.u64 %d3, %d1;\n"
    "LINE:\n"
    "  ld.global.f32 %f1, [%d3]; add.f32 %f0, %f0, %f1; mov.u32 %r14, 0;\n"
    "WORK:\n"
    "  fma.rn.f32 %f0, %f0, 0f3F800000, %f1; add.u32 %r14, %r14, 1;\n"
    "  setp.lt.u32 %p, %r14, %r3; @%p bra WORK;\n"
    "  add.u64 %d3, %d3, %d5; add.u32 %r13, %r13, %r15; setp.lt.u32 %p, %r13, %r0; @%p bra LINE;\n"
    "  add.u32 %r12, %r12, 1; setp.lt.u32 %p, %r12, %r1; @%p bra ROUND;\n"
    "  mul.wide.u32 %d4, %r7, 4; add.u64 %d4, %d0, %d4; st.global.f32 [%d4], %f0; ret;\n"
    "}\n"
    ".visible .entry phases(.param .u64 out, .param .u64 data, .param .u32 lines,\n"
    "                       .param .u32 rounds, .param .u32 share, .param .u32 work, .param .u32 "
    "spread)\n"
    "{\n"
    "  .reg .pred %p; .reg .b32 %r<20>; .reg .b64 %d<10>; .reg .f32 %f<4>;\n"
    "  ld.param.u64 %d0, [out]; ld.param.u32 %r1, [rounds]; ld.param.u32 %r3, [work];\n"
    "  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x;\n"
    "  mad.lo.u32 %r7, %r4, %r5, %r6; shr.u32 %r8, %r7, 5;\n"
    "  mov.f32 %f0, 0f3F800000; mov.u32 %r12, 0;\n"
    "PHASE:\n"
    "  mul.lo.u32 %r9, %r8, 5; mad.lo.u32 %r9, %r12, 3, %r9; and.b32 %r9, %r9, 7;\n"
    "  mul.lo.u32 %r9, %r9, %r3; mov.u32 %r14, 0;\n"
    "LOOP:\n"
    "  fma.rn.f32 %f0, %f0, 0f3F800001, 0f3F800000; add.u32 %r14, %r14, 1;\n"
    "  setp.lt.u32 %p, %r14, %r9; @%p bra LOOP;\n"
    "  bar.sync 0;\n"
    "  add.u32 %r12, %r12, 1; setp.lt.u32 %p, %r12, %r1; @%p bra PHASE;\n"
    "  mul.wide.u32 %d4, %r7, 4; add.u64 %d4, %d0, %d4; st.global.f32 [%d4], %f0; ret;\n"
    "}\n";

/* Everything that a run owns. */
typedef struct Rig {
    Diag *diag;
    Machine *machine;
    SchedPolicy *policy;
    CtaSched *ctas;
    Gpu *gpu;
    GpuModule *module;
} Rig;

static void *must(Rig *rig, void *made) {
    if (!made) fail_msg("%s", diag_text(rig->diag));
    return made;
}

/* Applies the changes, which are separated by commas. */
static void set_all(Rig *rig, const char *changes) {
    for (const char *at = changes; at && *at;) {
        char change[64];
        size_t length = strcspn(at, ",");
        snprintf(change, sizeof change, "%.*s", (int)length, at);
        if (!machine_set(rig->machine, change, rig->diag)) fail_msg("%s", diag_text(rig->diag));
        at += length + (at[length] == ',');
    }
}

static void set_up(Rig *rig, const Workload *w, Watch *watch) {
    *rig = (Rig){.diag = diag_new()};
    GpuOptions options = {.memory_bytes = 1 << 28, .watch = watch};
    if (w->machine) {
        rig->machine = must(rig, machine_load(w->machine, rig->diag));
        set_all(rig, w->set);
        options.machine = machine_finish(rig->machine, rig->diag);
        rig->policy = must(rig, sched_policy_new(w->scheduler ? w->scheduler : "gto", rig->diag));
        if (w->cta_scheduler) rig->ctas = must(rig, cta_sched_new(w->cta_scheduler, rig->diag));
        options.scheduler = rig->policy;
        options.cta_scheduler = rig->ctas;
        options.never_sleeps = w->never_sleeps;
        options.threads = w->threads;
        options.pool_every = w->threads ? 512 : 0;
    }
    rig->gpu = must(rig, gpu_new(&options, rig->diag));
    GpuImage image = {"kernels.ptx", PTX, strlen(PTX)};
    rig->module = must(rig, gpu_load(rig->gpu, &image, 1, rig->diag));
}

static void tear_down(Rig *rig) {
    gpu_unload(rig->module);
    gpu_free(rig->gpu);
    cta_sched_free(rig->ctas);
    sched_policy_free(rig->policy);
    machine_free(rig->machine);
    diag_free(rig->diag);
}

static uint64_t hash_of(const uint32_t *words, size_t count) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t fill(DeviceMemory *memory, size_t words) {
    uint64_t address = mem_alloc(memory, words * 4, 256, MEM_KIND_BUFFER, NULL);
    float *values = base_malloc(words * 4);
    for (size_t i = 0; i < words; i++)
        values[i] = (float)(i * 2654435761u % 1000);
    mem_write(memory, address, values, words * 4);
    free(values);
    return address;
}

enum { MOST_REPORTED = 100 };
static double last_values[MOST_REPORTED];
static char last_names[MOST_REPORTED][32]; /* for list items "name,index" */
static int last_count;

static double last_sums[MOST_REPORTED];
static char last_sum_names[MOST_REPORTED][32];
static int last_sum_count;

static void add_to_sum(const char *name, double value) {
    int i = 0;
    while (i < last_sum_count && strcmp(last_sum_names[i], name))
        i++;
    assert_true(i < MOST_REPORTED);
    if (i == last_sum_count) {
        last_sums[last_sum_count++] = 0;
        snprintf(last_sum_names[i], sizeof last_sum_names[0], "%.31s", name);
    }
    last_sums[i] += value;
}

/* Sums the numbers that the warp schedulers reported at the end. */
static void keep_sums(FILE *file) {
    char line[200], kernel[40], name[40];
    unsigned long long cycle;
    int sm;
    double value;
    last_sum_count = 0;
    rewind(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "\"%39[^\"]\",%llu,%d,%39[^,],,%lf", kernel, &cycle, &sm, name, &value) ==
            5)
            add_to_sum(name, value);
}

static int find_sum(const char *name) {
    for (int i = 0; i < last_sum_count; i++)
        if (!strcmp(last_sum_names[i], name)) return i;
    return -1;
}

bool has_report(const char *name) { return find_sum(name) >= 0; }

double last_report(const char *name) {
    if (!has_report(name)) fail_msg("no %s was reported", name);
    return last_sums[find_sum(name)];
}

/* Keeps the numbers that the CTA scheduler reported (the lines without an SM). */
static void keep_cta_report(FILE *file) {
    char line[200], kernel[40], name[40], index[4];
    unsigned long long cycle;
    double value;
    last_count = 0;
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        *index = '\0';
        if (sscanf(line, "\"%39[^\"]\",%llu,,%39[^,],,%lf", kernel, &cycle, name, &value) != 4 &&
            sscanf(line, "\"%39[^\"]\",%llu,,%39[^,],%3[0-9],%lf", kernel, &cycle, name, index,
                   &value) != 5)
            continue;
        assert_true(last_count < MOST_REPORTED);
        snprintf(last_names[last_count], sizeof last_names[0], *index ? "%.27s,%s" : "%.31s%s",
                 name, index);
        last_values[last_count++] = value;
    }
}

double last_cta_report(const char *name) {
    for (int i = 0; i < last_count; i++)
        if (!strcmp(last_names[i], name)) return last_values[i];
    fail_msg("no %s was reported", name);
    return 0;
}

double last_cta_report_at(const char *list, uint32_t index) {
    char name[48];
    snprintf(name, sizeof name, "%.27s,%u", list, index);
    return last_cta_report(name);
}

static uint32_t last_sms[1024];

static void keep_sms(Watch *watch) {
    uint64_t count;
    CtaRecord *ctas = watch_take_ctas(watch, &count);
    for (uint64_t i = 0; i < count; i++)
        if (ctas[i].cta < 1024) last_sms[ctas[i].cta] = ctas[i].sm;
    free(ctas);
}

uint32_t last_sm_of(uint64_t cta) {
    assert_true(cta < 1024);
    return last_sms[cta];
}

/* The outcome of a launch of the workload. */
typedef struct Launched {
    GpuResult result;
    uint64_t out; /* device address of the results */
    size_t words; /* of them */
} Launched;

static Launched launch_on(Rig *rig, const Workload *w) {
    DeviceMemory *memory = gpu_memory(rig->gpu);
    uint32_t warps = w->ctas * w->warps_per_cta, share = w->share ? w->share : 1;
    size_t words = (size_t)warps * 32, lines = ((size_t)warps / share + 1) * w->lines;
    struct {
        uint64_t out, data;
        uint32_t lines, rounds, share, work, spread;
    } parameters = {fill(memory, words),
                    fill(memory, lines * 32 + 32),
                    w->lines,
                    w->rounds,
                    share,
                    w->work,
                    w->spread ? w->spread : 1};
    GpuLaunch launch = {.module = rig->module,
                        .function = gpu_find_function(rig->module, w->kernel),
                        .grid = {w->ctas, 1, 1},
                        .block = {w->warps_per_cta * 32, 1, 1},
                        .parameters = &parameters,
                        .carve_out = w->carve_out};
    Launched launched = {.out = parameters.out, .words = words};
    gpu_launch(rig->gpu, &launch, &launched.result);
    return launched;
}

const char *failure_on_machine(const Workload *w) {
    static char message[sizeof((GpuResult *)0)->message];
    Rig rig;
    set_up(&rig, w, NULL);
    Launched launched = launch_on(&rig, w);
    assert_int_equal(launched.result.status, GPU_FAULT);
    snprintf(message, sizeof message, "%s", launched.result.message);
    tear_down(&rig);
    return message;
}

Outcome run_on_machine(const Workload *w) {
    Rig rig;
    FILE *reports = tmpfile();
    Watch watch = {.policies = reports, .records_ctas = true};
    set_up(&rig, w, &watch);
    Launched launched = launch_on(&rig, w);
    if (launched.result.status != GPU_OK)
        fail_msg("%s under %s: %s", w->kernel, w->scheduler, launched.result.message);
    uint32_t *results = base_malloc(launched.words * 4);
    mem_read(gpu_memory(rig.gpu), launched.out, results, launched.words * 4);
    Outcome outcome = {launched.result.counters, hash_of(results, launched.words)};
    free(results);
    if (w->machine) {
        const MachineConfig *config = gpu_options(rig.gpu)->machine;
        CountersShape shape = {config->sms, config->sm.scheduler.count, true};
        Text why = {0};
        if (!counters_check(&outcome.counters, shape, &why))
            fail_msg("%s under %s: %s", w->kernel, w->scheduler, text_string(&why));
        text_free(&why);
    }
    keep_cta_report(reports);
    keep_sums(reports);
    keep_sms(&watch);
    fclose(reports);
    tear_down(&rig);
    return outcome;
}
