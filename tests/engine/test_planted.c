/* Tests the checks of kernels with planted mistakes (plants.h). Each mistake is found at its line,
 * functionally and on a machine, and nothing is reported for correct kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/launch/gpu_checks.h"
#include "machine/machine_file.h"
#include "plants.h"
#include "sched/registry.h"

enum { BUFFER_BYTES = 4096, SHARED_BYTES = 1024 };

/* A plant's kernel, with the functions that some plants call. */
static char *kernel_of(const Plant *plant) {
    const bool is_new = strstr(plant->body, "async") != NULL;
    Text text = {0};
    text_printf(
        &text,
        ".version %s\n.target %s\n.address_size 64\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 n);\n"
        ".const .b32 constant[4];\n"
        ".func fill() { .local .align 8 .b8 f[16]; .reg .b64 %%x; mov.u64 %%x, f;\n"
        "st.local.u64 [%%x], %%x; ret; }\n"
        ".func look() { .local .align 8 .b8 f[16]; .reg .b64 %%x; .reg .b32 %%y; mov.u64 %%x, f;\n"
        "ld.local.u32 %%y, [%%x];%s\nret; }\n"
        ".visible .entry k(.param .u64 a)\n{\n"
        ".reg .b64 %%p, %%g, %%q, %%w, %%z;\n.reg .b32 %%t, %%b, %%a, %%v, %%i, %%j, %%k;\n"
        ".reg .pred %%c, %%d;\n.shared .align 16 .b8 s[%d];\n.local .align 16 .b8 l[64];\n"
        "ld.param.u64 %%p, [a];\nmov.u32 %%t, %%tid.x;\nmov.u32 %%b, %%ctaid.x;\n"
        "mul.wide.u32 %%g, %%t, 4;\nadd.u64 %%g, %%g, %%p;\nmov.u32 %%a, s;\n"
        "mad.lo.u32 %%a, %%t, 4, %%a;\n%sret;\n}\n",
        is_new ? "8.8" : "7.5", is_new ? "sm_90a" : "sm_75",
        strstr(plant->body, "look") ? "// bug" : "", SHARED_BYTES, plant->body);
    return text.bytes;
}

/* The line that ends in the mark, or 0. */
static uint32_t line_of(const char *text, const char *mark) {
    const char *at = strstr(text, mark);
    uint32_t line = 1;
    for (; at && text < at; text++)
        line += *text == '\n';
    return at ? line : 0;
}

/* The machine on which the kernels run. */
typedef struct Where {
    const char *machine; /* a setting for gtx480; NULL: functional */
    Machine *file;
    SchedPolicy *policy;
    Diag *diag;
} Where;

static void where_open(Where *where, const char *machine, GpuOptions *options) {
    *where = (Where){.machine = machine, .diag = diag_new()};
    if (!machine) return;
    where->file = machine_load("gtx480", where->diag);
    machine_set(where->file, machine, where->diag);
    options->machine = machine_finish(where->file, where->diag);
    where->policy = sched_policy_new("lrr", where->diag);
    options->scheduler = where->policy;
}

static void where_close(Where *where) {
    sched_policy_free(where->policy);
    machine_free(where->file);
    diag_free(where->diag);
}

typedef struct Run {
    Findings *findings;
    uint32_t leak_line; /* line in the PTX; 0: no leak */
    char *text;         /* text of the kernel */
} Run;

static Run run(const Plant *plant, const char *machine, GpuChecks checks) {
    Run run = {.findings = findings_new(100, NULL, NULL), .text = kernel_of(plant)};
    GpuOptions options = {.checks = checks, .findings = run.findings, .padding_bytes = 256};
    Where where;
    where_open(&where, machine, &options);
    Gpu *gpu = gpu_new(&options, where.diag);
    if (!gpu) fail_msg("%s", diag_text(where.diag));
    uint64_t buffer =
        mem_alloc(gpu_memory(gpu), BUFFER_BYTES, MEM_ALLOC_ALIGN, MEM_KIND_BUFFER, NULL);
    if (!strstr(plant->body, "allocation") && !checks.init)
        mem_fill(gpu_memory(gpu), buffer, 0, 1, BUFFER_BYTES);
    GpuImage image = {"k.ptx", run.text, strlen(run.text)};
    GpuModule *module = gpu_load(gpu, &image, 1, where.diag);
    if (!module) fail_msg("%s: %s", plant->name, diag_text(where.diag));
    GpuLaunch launch = {.module = module,
                        .function = gpu_find_function(module, "k"),
                        .grid = {plant->ctas ? (uint32_t)plant->ctas : 1, 1, 1},
                        .block = {plant->threads ? (uint32_t)plant->threads : 64, 1, 1},
                        .parameters = &buffer};
    GpuResult result;
    gpu_launch(gpu, &launch, &result);
    if (result.status != GPU_OK) fail_msg("%s: %s", plant->name, result.message);
    GpuHeapBlock block = {0};
    while (gpu_next_heap_block(gpu, &block))
        run.leak_line = block.site ? block.site->line : 1;
    gpu_unload(module);
    gpu_free(gpu);
    where_close(&where);
    return run;
}

static void run_free(Run *run) {
    findings_free(run->findings);
    free(run->text);
}

/* Whether the finding names the planted lines. Which access of a race comes second depends on the
 * schedule. */
static bool names(const Finding *finding, FindingKind kind, uint32_t bug, uint32_t other) {
    if (finding->kind != kind) return false;
    if (kind != FINDING_RACE) return finding->line == bug;
    if (!other) other = bug;
    return (finding->line == bug && finding->other_line == other) ||
           (finding->line == other && finding->other_line == bug);
}

/* Every mistake is found at its line, and nothing else is reported. */
static void find_all(const Plant *plants, size_t count, FindingKind kind, GpuChecks checks,
                     const char *machine) {
    assert_true(count >= 15);
    for (size_t i = 0; i < count; i++) {
        Run made = run(&plants[i], machine, checks);
        uint32_t bug = line_of(made.text, "// bug"), other = line_of(made.text, "// other");
        assert_int_not_equal(bug, 0);
        if (!findings_count(made.findings)) fail_msg("%s: not found", plants[i].name);
        for (uint32_t f = 0; f < findings_count(made.findings); f++) {
            const Finding *finding = finding_at(made.findings, f);
            if (!names(finding, kind, bug, other))
                fail_msg("%s (%s), planted at line %u: found %s", plants[i].name,
                         machine ? machine : "functional", bug, finding->text);
        }
        run_free(&made);
    }
}

/* Functionally, and with both models of divergence. */
static const char *const machines[] = {NULL, "sm.divergence=stack", "sm.divergence=independent"};
enum { MACHINES = sizeof machines / sizeof machines[0] };

#define FIND_ALL(plants, kind, ...)                                                                \
    for (int m = 0; m < MACHINES; m++)                                                             \
    find_all(plants, sizeof(plants) / sizeof(plants)[0], kind, (GpuChecks){__VA_ARGS__},           \
             machines[m])

static void finds_every_planted_bad_access(void **state) {
    (void)state;
    FIND_ALL(memory_plants, FINDING_MEMORY, .reports_faults = true);
}

static void finds_every_planted_race(void **state) {
    (void)state;
    FIND_ALL(race_plants, FINDING_RACE, .races = true);
}

static void finds_every_planted_read_of_what_nobody_wrote(void **state) {
    (void)state;
    FIND_ALL(init_plants, FINDING_INIT, .init = true);
}

static void finds_every_planted_misuse_of_barriers_and_masks(void **state) {
    (void)state;
    FIND_ALL(sync_plants, FINDING_SYNC, .sync = true);
}

static void finds_every_planted_leak_of_device_malloc(void **state) {
    (void)state;
    size_t count = sizeof leak_plants / sizeof leak_plants[0];
    assert_true(count >= 15);
    for (size_t i = 0; i < count * MACHINES; i++) {
        const Plant *plant = &leak_plants[i % count];
        Run made = run(plant, machines[i / count], (GpuChecks){.leaks = true});
        uint32_t bug = line_of(made.text, "// bug");
        if (made.leak_line != bug)
            fail_msg("%s: found at line %u, not %u", plant->name, made.leak_line, bug);
        run_free(&made);
    }
}

static void finds_nothing_where_nothing_is(void **state) {
    (void)state;
    static const GpuChecks all[] = {{.races = true, .sync = true, .reports_faults = true},
                                    {.leaks = true, .sync = true}};
    for (size_t i = 0; i < sizeof right_plants / sizeof right_plants[0]; i++)
        for (int m = 0; m < MACHINES * 2; m++) {
            Run made = run(&right_plants[i], machines[m / 2], all[m % 2]);
            if (findings_count(made.findings))
                fail_msg("%s: %s", right_plants[i].name, finding_at(made.findings, 0)->text);
            assert_int_equal(made.leak_line, 0);
            run_free(&made);
        }
}

static void a_dropped_read_gives_zero_and_a_dropped_write_changes_nothing(void **state) {
    (void)state;
    static const Plant plant = {
        "",
        "mov.u32 %v, 9;\nld.global.u32 %v, [%p+8192];\nst.global.u32 [%p+8192], 5;\n"
        "setp.ne.u32 %c, %v, 0;\n@%c trap;\nmov.u64 %q, 7;\nmov.u32 %j, 7;\n"
        "atom.global.add.u32 %j, [%p+4098], 1;\nsetp.ne.u32 %c, %j, 0;\n@%c trap;\n",
        0, 0};
    Run made = run(&plant, NULL, (GpuChecks){.reports_faults = true});
    assert_int_equal(findings_count(made.findings), 3);
    assert_int_equal(finding_at(made.findings, 0)->count, 64);
    assert_int_equal(findings_total(made.findings), 3 * 64);
    run_free(&made);
}

static void lists_no_more_places_than_asked_for(void **state) {
    (void)state;
    Findings *findings = findings_new(1, NULL, NULL);
    Text text = {0};
    for (uint64_t place = 0; place < 3; place++) {
        FindingKey key = {{FINDING_RACE, place}};
        if (!findings_note(findings, &key))
            findings_add(findings, &(Finding){.kind = FINDING_RACE, .what = "read after write"});
    }
    assert_int_equal(findings_count(findings), 1);
    assert_int_equal(findings_total(findings), 3);
    findings_summarise(findings, &text);
    assert_string_equal(text_string(&text),
                        "3 errors at 1 place: race 1; 2 more at places beyond the first 1 "
                        "(--errors N lists more)");
    text_free(&text);
    findings_free(findings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_planted_bad_access),
        cmocka_unit_test(finds_every_planted_race),
        cmocka_unit_test(finds_every_planted_read_of_what_nobody_wrote),
        cmocka_unit_test(finds_every_planted_misuse_of_barriers_and_masks),
        cmocka_unit_test(finds_every_planted_leak_of_device_malloc),
        cmocka_unit_test(finds_nothing_where_nothing_is),
        cmocka_unit_test(a_dropped_read_gives_zero_and_a_dropped_write_changes_nothing),
        cmocka_unit_test(lists_no_more_places_than_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
