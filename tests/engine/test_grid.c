/* Grids in progress: a run that pauses, a run that changes from functional to timed execution, and
 * launches that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "engine/launch/gpu_internal.h"
#include "timed.h"

enum { CTAS = 48, THREADS = 128, WORDS = CTAS * THREADS };

/* Word i becomes 3 i + the number of its CTA, through shared memory and a loop with loads. */
static const char work[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 buffer)\n{\n"
    "  .reg .pred %q; .reg .b32 %i, %v, %s, %t, %c, %n; .reg .b64 %p, %o;\n"
    "  .shared .align 4 .b8 s[512];\n"
    "  ld.param.u64 %p, [buffer];\n  mov.u32 %c, %ctaid.x;\n  mov.u32 %t, %tid.x;\n"
    "  mad.lo.u32 %i, %c, 128, %t;\n  mul.wide.u32 %o, %i, 4;\n  add.u64 %p, %p, %o;\n"
    "  mov.u32 %s, s;\n  mad.lo.u32 %s, %t, 4, %s;\n  mov.u32 %n, 3;\n"
    "again:\n"
    "  ld.global.u32 %v, [%p];\n  add.u32 %v, %v, %i;\n  st.shared.u32 [%s], %v;\n"
    "  bar.sync 0;\n  ld.shared.u32 %v, [%s];\n  st.global.u32 [%p], %v;\n"
    "  sub.u32 %n, %n, 1;\n  setp.ne.u32 %q, %n, 0;\n  @%q bra again;\n"
    "  ld.global.u32 %v, [%p];\n  add.u32 %v, %v, %c;\n  st.global.u32 [%p], %v;\n  ret;\n}\n";

/* A launch of that kernel, with its buffer. */
typedef struct Fixture {
    Timed timed;
    GpuModule *module;
    uint64_t buffer;
    GpuLaunch launch;
} Fixture;

static void start(Fixture *fixture, const char *machine, const GpuOptions *how) {
    static const uint32_t zeros[WORDS];
    timed_start_how(&fixture->timed, machine, "", "gto", how);
    GpuImage image = {"work.ptx", work, strlen(work)};
    fixture->module = gpu_load(fixture->timed.gpu, &image, 1, fixture->timed.diag);
    if (!fixture->module) fail_msg("%s", diag_text(fixture->timed.diag));
    fixture->buffer = timed_buffer(&fixture->timed, zeros, WORDS);
    fixture->launch = (GpuLaunch){.module = fixture->module,
                                  .grid = {CTAS, 1, 1},
                                  .block = {THREADS, 1, 1},
                                  .parameters = &fixture->buffer};
}

static void stop(Fixture *fixture) {
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(timed_word(&fixture->timed, fixture->buffer, i), 3 * i + i / THREADS);
    gpu_unload(fixture->module);
    timed_stop(&fixture->timed);
}

/* Runs the launch with a pause every `every` cycles. */
static GpuResult run_with_pauses(const char *machine, const GpuOptions *how, uint64_t every) {
    Fixture fixture;
    GpuResult result;
    start(&fixture, machine, how);
    Gpu *gpu = fixture.timed.gpu;
    GpuGrid *grid = gpu_begin(gpu, &fixture.launch, NULL), *ended = NULL;
    for (uint64_t until = every; !ended; until += every) {
        ended = engine_advance(gpu->engine, gpu, until);
        if (!ended) assert_int_equal(engine_cycle(gpu->engine), until);
    }
    assert_ptr_equal(ended, grid);
    gpu_end(gpu, grid, &result);
    if (result.status != GPU_OK) fail_msg("%s", result.message);
    stop(&fixture);
    return result;
}

static GpuResult run_at_once(const char *machine, const GpuOptions *how) {
    Fixture fixture;
    GpuResult result;
    start(&fixture, machine, how);
    gpu_launch(fixture.timed.gpu, &fixture.launch, &result);
    if (result.status != GPU_OK) fail_msg("%s", result.message);
    stop(&fixture);
    return result;
}

static void assert_same(const GpuResult *a, const GpuResult *b) {
    assert_memory_equal(&a->counters, &b->counters, sizeof a->counters);
    assert_memory_equal(&a->histograms, &b->histograms, sizeof a->histograms);
    assert_memory_equal(&a->spreads, &b->spreads, sizeof a->spreads);
}

/* Pauses occur in every kind of cycle, including quiet cycles and cycles in which host threads run
 * ahead of each other. */
static void a_run_that_pauses_counts_the_same(void **state) {
    (void)state;
    static const uint64_t every[] = {1, 7, 64, 1000};
    static const char *const machines[] = {"gtx480", "ccws", "qv100"};
    static const GpuOptions ways[] = {
        {.threads = 1}, {.threads = 2, .pool_every = 9}, {.threads = 3, .pool_every = 13}};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        const GpuResult whole = run_at_once(machines[m], &ways[0]);
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            for (size_t e = 0; e < sizeof every / sizeof *every; e++) {
                if (w && e % 2 == w - 1) continue; /* each pause with one of the pools */
                const GpuResult parts = run_with_pauses(machines[m], &ways[w], every[e]);
                assert_same(&whole, &parts);
            }
    }
}

/* The first CTAs run functionally, the others are timed. */
static void a_run_changes_from_functional_to_timed(void **state) {
    (void)state;
    static const uint64_t changes[] = {1, CTAS / 2, CTAS - 1, CTAS};
    const GpuResult whole = run_at_once("gtx480", &(GpuOptions){0});
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        Fixture fixture;
        GpuResult result;
        start(&fixture, "gtx480", &(GpuOptions){0});
        Gpu *gpu = fixture.timed.gpu;
        GpuGrid *grid = gpu_begin(gpu, &fixture.launch, NULL);
        grid_run_functional(gpu, grid, changes[i]);
        assert_int_equal(grid->next, changes[i]);
        assert_int_equal(grid->done, changes[i]);
        const uint64_t before = grid->result->thread_instructions;
        assert_ptr_equal(gpu_advance(gpu), grid);
        gpu_end(gpu, grid, &result);
        assert_int_equal(result.status, GPU_OK);
        assert_int_equal(result.counters.ctas_finished, CTAS - changes[i]);
        assert_int_equal(result.counters.thread_instructions + before, whole.thread_instructions);
        assert_int_equal(result.thread_instructions, whole.thread_instructions);
        assert_int_equal(result.warp_instructions, whole.warp_instructions);
        stop(&fixture);
    }
}

/* An impossible launch ends immediately, and does not affect others. */
static void an_impossible_launch_has_ended_at_once(void **state) {
    (void)state;
    Fixture fixture;
    GpuResult result;
    start(&fixture, "gtx480", &(GpuOptions){0});
    Gpu *gpu = fixture.timed.gpu;
    GpuGrid *good = gpu_begin(gpu, &fixture.launch, NULL);
    GpuLaunch launch = fixture.launch;
    launch.block[0] = 2048;
    GpuGrid *bad = gpu_begin(gpu, &launch, NULL);
    assert_ptr_equal(gpu_advance(gpu), bad);
    assert_int_equal(gpu_end(gpu, bad, &result), GPU_BAD_LAUNCH);
    assert_non_null(strstr(result.message, "block x is 2048"));
    assert_ptr_equal(gpu_advance(gpu), good);
    assert_int_equal(gpu_end(gpu, good, &result), GPU_OK);
    assert_null(gpu_advance(gpu));
    stop(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_pauses_counts_the_same),
        cmocka_unit_test(a_run_changes_from_functional_to_timed),
        cmocka_unit_test(an_impossible_launch_has_ended_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
