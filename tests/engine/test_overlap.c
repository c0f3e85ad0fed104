/* Grids that run concurrently: kernels that each fill half of the machine end in the time of one;
 * turns and priorities; the room of an SM; counters; and a grid that fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "engine/launch/gpu_internal.h"
#include "engine/observe/watch.h"
#include "timed.h"

enum { GRIDS = 4, WORDS = 1 << 16, ROUNDS = 100 };

/* Each thread executes a chain of dependent instructions for some rounds, then stores a number. The
 * second kernel does the same with other instructions; the third stores to an invalid address. */
static const char kernels[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 buffer, .param .u64 rounds)\n{\n"
    "  .reg .pred %q; .reg .b32 %i, %t, %c, %n, %v, %d; .reg .b64 %p, %o, %r;\n"
    "  ld.param.u64 %p, [buffer];\n  ld.param.u64 %r, [rounds];\n  cvt.u32.u64 %n, %r;\n"
    "  mov.u32 %c, %ctaid.x;\n  mov.u32 %t, %tid.x;\n  mov.u32 %d, %ntid.x;\n"
    "  mad.lo.u32 %i, %c, %d, %t;\n  mov.u32 %v, 0;\n"
    "again:\n  mad.lo.u32 %v, %v, 3, 1;\n  mad.lo.u32 %v, %v, 5, %i;\n"
    "  sub.u32 %n, %n, 1;\n  setp.ne.u32 %q, %n, 0;\n  @%q bra again;\n"
    "  mul.wide.u32 %o, %i, 4;\n  add.u64 %p, %p, %o;\n  st.global.u32 [%p], %v;\n  ret;\n}\n"
    ".visible .entry other(.param .u64 buffer, .param .u64 rounds)\n{\n"
    "  .reg .pred %q; .reg .b32 %i, %t, %c, %n, %v, %d; .reg .b64 %p, %o, %r;\n"
    "  ld.param.u64 %p, [buffer];\n  ld.param.u64 %r, [rounds];\n  cvt.u32.u64 %n, %r;\n"
    "  mov.u32 %c, %ctaid.x;\n  mov.u32 %t, %tid.x;\n  mov.u32 %d, %ntid.x;\n"
    "  mad.lo.u32 %i, %c, %d, %t;\n  mov.u32 %v, 0;\n"
    "again:\n  mul.lo.u32 %v, %v, 3;\n  add.u32 %v, %v, 1;\n  mul.lo.u32 %v, %v, 5;\n"
    "  add.u32 %v, %v, %i;\n  bar.sync 0;\n"
    "  sub.u32 %n, %n, 1;\n  setp.ne.u32 %q, %n, 0;\n  @%q bra again;\n"
    "  mul.wide.u32 %o, %i, 4;\n  add.u64 %p, %p, %o;\n  st.global.u32 [%p], %v;\n  ret;\n}\n"
    ".visible .entry stray(.param .u64 buffer, .param .u64 rounds)\n{\n"
    "  .reg .b32 %v; .reg .b64 %p;\n  mov.u64 %p, 8;\n  mov.u32 %v, 1;\n"
    "  st.global.u32 [%p], %v;\n  ret;\n}\n";

/* The value that a thread stores. */
static uint32_t expected(uint32_t i, uint32_t rounds) {
    uint32_t v = 0;
    while (rounds--)
        v = (v * 3 + 1) * 5 + i;
    return v;
}

/* A grid of a test: its kernel, its size and its stream. */
typedef struct Given {
    const char *kernel;
    uint32_t ctas, threads, rounds, shared;
    bool is_cooperative;
    GpuStreamInfo stream;
} Given;

typedef struct Rig {
    Timed timed;
    GpuModule *module;
    uint64_t parameters[GRIDS][2];
    GpuGrid *grid[GRIDS];
    GpuResult result[GRIDS];
    int order[GRIDS]; /* order in which they ended */
    int ended;
} Rig;

static void start(Rig *rig, const char *machine, const char *sets, const GpuOptions *how) {
    *rig = (Rig){.ended = 0};
    timed_start_how(&rig->timed, machine, sets, "gto", how);
    GpuImage image = {"kernels.ptx", kernels, strlen(kernels)};
    rig->module = gpu_load(rig->timed.gpu, &image, 1, rig->timed.diag);
    if (!rig->module) fail_msg("%s", diag_text(rig->timed.diag));
}

static void stop(Rig *rig) {
    gpu_unload(rig->module);
    timed_stop(&rig->timed);
}

static void give(Rig *rig, int i, const Given *given) {
    rig->parameters[i][0] = timed_buffer(&rig->timed, NULL, WORDS);
    rig->parameters[i][1] = given->rounds;
    const GpuLaunch launch = {.module = rig->module,
                              .function = gpu_find_function(rig->module, given->kernel),
                              .grid = {given->ctas, 1, 1},
                              .block = {given->threads, 1, 1},
                              .dynamic_shared_bytes = given->shared,
                              .is_cooperative = given->is_cooperative,
                              .parameters = rig->parameters[i]};
    assert_true(given->ctas * given->threads <= WORDS);
    rig->grid[i] = gpu_begin(rig->timed.gpu, &launch, &given->stream);
}

static void take(Rig *rig, int count) {
    GpuGrid *grid = gpu_advance(rig->timed.gpu);
    for (int i = 0; i < count; i++)
        if (rig->grid[i] == grid) {
            gpu_end(rig->timed.gpu, grid, &rig->result[i]);
            rig->order[rig->ended++] = i;
        }
}

static void run(Rig *rig, const Given *given, int count) {
    for (int i = 0; i < count; i++)
        give(rig, i, &given[i]);
    while (rig->ended < count)
        take(rig, count);
    assert_null(gpu_advance(rig->timed.gpu));
}

/* Checks that all ended well and stored the right values. */
static void check(Rig *rig, const Given *given, int count) {
    for (int i = 0; i < count; i++) {
        const uint32_t threads = given[i].ctas * given[i].threads;
        if (rig->result[i].status != GPU_OK) fail_msg("%s", rig->result[i].message);
        for (uint32_t t = 0; t < threads; t += 29)
            assert_int_equal(timed_word(&rig->timed, rig->parameters[i][0], t),
                             expected(t, given[i].rounds));
        assert_int_equal(rig->result[i].counters.ctas_finished, given[i].ctas);
        assert_int_equal(rig->result[i].counters.warps_finished,
                         given[i].ctas * ((given[i].threads + 31) / 32));
    }
}

static GpuResult run_alone(const char *machine, const char *sets, const GpuOptions *how,
                           const Given *given) {
    Rig rig;
    start(&rig, machine, sets, how);
    run(&rig, given, 1);
    check(&rig, given, 1);
    assert_false(rig.result[0].has_overlapped);
    assert_int_equal(gpu_time_ps(rig.timed.gpu), rig.result[0].time_ps);
    stop(&rig);
    return rig.result[0];
}

static uint64_t end_of(const GpuResult *result) { return result->start_ps + result->time_ps; }

static bool is_same(const GpuResult *a, const GpuResult *b) {
    return !memcmp(&a->counters, &b->counters, sizeof a->counters) &&
           !memcmp(&a->histograms, &b->histograms, sizeof a->histograms) &&
           !memcmp(&a->spreads, &b->spreads, sizeof a->spreads) && a->start_ps == b->start_ps &&
           a->time_ps == b->time_ps && a->has_overlapped == b->has_overlapped;
}

/* ---- Halves of a machine ---- */

/* Runs two such grids together, in several ways that must give the same bytes. */
static void run_halves(const char *machine, uint32_t registers, const Given *half) {
    const GpuOptions ways[] = {{.registers = registers, .threads = 1},
                               {.registers = registers, .never_sleeps = true},
                               {.registers = registers, .threads = 2, .pool_every = 101},
                               {.registers = registers, .threads = 3, .pool_every = 103}};
    const Given both[2] = {*half,
                           {.kernel = "other",
                            .ctas = half->ctas,
                            .threads = half->threads,
                            .rounds = half->rounds,
                            .stream = {2, 0}}};
    const GpuResult alone[2] = {run_alone(machine, "", &ways[0], &both[0]),
                                run_alone(machine, "", &ways[0], &both[1])};
    GpuResult first[2] = {{0}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        Rig rig;
        start(&rig, machine, "", &ways[w]);
        run(&rig, both, 2);
        check(&rig, both, 2);
        const uint64_t longest =
            alone[0].time_ps > alone[1].time_ps ? alone[0].time_ps : alone[1].time_ps;
        for (int i = 0; i < 2; i++) {
            const GpuResult *result = &rig.result[i];
            assert_true(result->has_overlapped);
            assert_int_equal(result->warp_instructions, alone[i].warp_instructions);
            assert_int_equal(result->thread_instructions, alone[i].thread_instructions);
            if (end_of(result) * 10 > longest * 11)
                fail_msg("%s: %llu ps, alone %llu ps", machine, (unsigned long long)end_of(result),
                         (unsigned long long)longest);
            if (w && !is_same(result, &first[i])) fail_msg("%s: way %zu differs", machine, w);
            first[i] = *result;
        }
        assert_int_equal(gpu_time_ps(rig.timed.gpu), end_of(&rig.result[0]) > end_of(&rig.result[1])
                                                         ? end_of(&rig.result[0])
                                                         : end_of(&rig.result[1]));
        stop(&rig);
    }
}

static const char *const machines[] = {"gtx480", "ccws", "rtx3070"};
enum { MACHINES = sizeof machines / sizeof *machines };

/* An SM has registers for four CTAs, and each grid has two CTAs per SM. */
static void two_halves_of_each_sm_take_the_time_of_one(void **state) {
    (void)state;
    enum { FIT = 4, THREADS = 32 };
    for (int m = 0; m < MACHINES; m++) {
        Timed timed;
        timed_start(&timed, machines[m], "", "gto");
        const uint32_t registers = timed.config->sm.registers / (FIT * THREADS);
        const Given half = {.kernel = "k",
                            .ctas = timed.config->sms * FIT / 2,
                            .threads = THREADS,
                            .rounds = ROUNDS,
                            .stream = {1, 0}};
        timed_stop(&timed);
        run_halves(machines[m], registers, &half);
    }
}

static void two_halves_of_the_sms_take_the_time_of_one(void **state) {
    (void)state;
    for (int m = 0; m < MACHINES; m++) {
        Timed timed;
        timed_start(&timed, machines[m], "", "gto");
        const Given half = {.kernel = "k",
                            .ctas = timed.config->sms / 2,
                            .threads = 64,
                            .rounds = ROUNDS,
                            .stream = {1, 0}};
        timed_stop(&timed);
        run_halves(machines[m], 0, &half);
    }
}

/* ---- Turns ---- */

static void a_grids_turn_comes_when_all_ctas_before_it_are_out(void **state) {
    (void)state;
    const Given given[] = {
        {.kernel = "k", .ctas = 300, .threads = 64, .rounds = 100, .stream = {1, 0}},
        {.kernel = "other", .ctas = 15, .threads = 64, .rounds = 300, .stream = {2, 0}},
        {.kernel = "k", .ctas = 15, .threads = 64, .rounds = 10, .stream = {3, 0}}};
    Rig rig;
    start(&rig, "gtx480", "", &(GpuOptions){0});
    run(&rig, given, 3);
    check(&rig, given, 3);
    assert_int_equal(rig.result[0].start_ps, 0);
    assert_true(rig.result[1].start_ps > rig.result[0].time_ps / 2);
    assert_true(rig.result[1].start_ps < rig.result[0].time_ps);
    assert_true(rig.result[2].start_ps > rig.result[1].start_ps);
    assert_int_equal(rig.order[2], 1);
    stop(&rig);
}

static void a_higher_priority_goes_first(void **state) {
    (void)state;
    const Given given[] = {
        {.kernel = "k", .ctas = 300, .threads = 64, .rounds = 100, .stream = {1, 0}},
        {.kernel = "k", .ctas = 300, .threads = 64, .rounds = 100, .stream = {2, 0}},
        {.kernel = "other", .ctas = 15, .threads = 64, .rounds = 100, .stream = {3, 5}}};
    Rig rig;
    start(&rig, "gtx480", "", &(GpuOptions){0});
    run(&rig, given, 3);
    check(&rig, given, 3);
    assert_int_equal(rig.result[2].start_ps, 0);
    assert_true(rig.result[0].start_ps < rig.result[1].start_ps);
    stop(&rig);
}

/* A grid that arrives while CTAs of a lower priority are dispatched gets the next free places. */
static void a_higher_priority_overtakes(void **state) {
    (void)state;
    const Given given[] = {
        {.kernel = "k", .ctas = 600, .threads = 64, .rounds = 100, .stream = {1, 0}},
        {.kernel = "other", .ctas = 30, .threads = 64, .rounds = 20, .stream = {2, 1}}};
    Rig rig;
    start(&rig, "gtx480", "", &(GpuOptions){0});
    give(&rig, 0, &given[0]);
    assert_null(engine_advance(rig.timed.gpu->engine, rig.timed.gpu, 1500));
    give(&rig, 1, &given[1]);
    while (rig.ended < 2)
        take(&rig, 2);
    check(&rig, given, 2);
    assert_int_equal(rig.order[0], 1);
    assert_true(end_of(&rig.result[1]) < rig.result[0].time_ps / 2);
    stop(&rig);
}

/* On a new machine the first CTA goes to SM 0. If the machine resumes its scan, a kernel's first
 * CTA goes to the SM after the last one, so three kernels use SMs 0, 1 and 2. */
static void round_robin_goes_on_from_kernel_to_kernel(void **state) {
    (void)state;
    static const struct {
        const char *sets;
        uint32_t sms[3]; /* SM of each kernel's only CTA */
    } cases[] = {{"cta.resumes_scan=yes", {0, 1, 2}}, {"cta.resumes_scan=no", {0, 0, 0}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Rig rig;
        Watch watch = {.records_ctas = true};
        const Given given = {.kernel = "k", .ctas = 1, .threads = 32, .rounds = 1};
        start(&rig, "gtx480", cases[c].sets, &(GpuOptions){.watch = &watch});
        for (int i = 0; i < 3; i++) {
            rig.ended = 0;
            run(&rig, &given, 1);
            uint64_t count;
            CtaRecord *ctas = watch_take_ctas(&watch, &count);
            assert_int_equal(ctas[0].sm, cases[c].sms[i]);
            free(ctas);
        }
        stop(&rig);
    }
}

/* ---- Room ---- */

/* CTAs of two grids do not share an SM if each takes more than half of a resource. */
static void an_sm_holds_no_more_than_it_has_room_for(void **state) {
    (void)state;
    static const struct {
        Given given;
        uint32_t registers;
    } cases[] = {{{.kernel = "k", .ctas = 15, .threads = 64, .rounds = ROUNDS, .shared = 30000}, 0},
                 {{.kernel = "k", .ctas = 15, .threads = 256, .rounds = ROUNDS}, 80},
                 {{.kernel = "k", .ctas = 15, .threads = 800, .rounds = ROUNDS}, 0},
                 {{.kernel = "k", .ctas = 15 * 5, .threads = 32, .rounds = ROUNDS}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const GpuOptions how = {.registers = cases[i].registers};
        Given both[2] = {cases[i].given, cases[i].given};
        both[1].stream.number = 1;
        const GpuResult alone = run_alone("gtx480", "", &how, &both[0]);
        Rig rig;
        start(&rig, "gtx480", "", &how);
        run(&rig, both, 2);
        check(&rig, both, 2);
        if (end_of(&rig.result[1]) * 10 < alone.time_ps * 15)
            fail_msg("case %zu: %llu ps, alone %llu ps", i,
                     (unsigned long long)end_of(&rig.result[1]), (unsigned long long)alone.time_ps);
        assert_true(rig.result[0].counters.ctas_per_sm_max <= 8);
        stop(&rig);
    }
}

/* CTAs of different sizes use each other's warp slots, one after another. */
static void grids_of_different_sizes_share_sms(void **state) {
    (void)state;
    static const uint64_t pauses[] = {UINT64_MAX, 1, 97};
    const Given given[] = {
        {.kernel = "k", .ctas = 70, .threads = 160, .rounds = 40, .shared = 3000, .stream = {1, 0}},
        {.kernel = "other", .ctas = 90, .threads = 96, .rounds = 30, .stream = {2, 0}},
        {.kernel = "k", .ctas = 200, .threads = 32, .rounds = 50, .stream = {3, 0}},
        {.kernel = "other", .ctas = 20, .threads = 1024, .rounds = 9, .stream = {4, 0}}};
    GpuResult first[GRIDS];
    for (size_t p = 0; p < sizeof pauses / sizeof *pauses; p++) {
        Rig rig;
        start(&rig, "gtx480", "", &(GpuOptions){0});
        for (int i = 0; i < GRIDS; i++)
            give(&rig, i, &given[i]);
        const uint64_t step = pauses[p];
        for (uint64_t until = step; step != UINT64_MAX && until < 20000; until += step)
            engine_advance(rig.timed.gpu->engine, rig.timed.gpu, until);
        while (rig.ended < GRIDS)
            take(&rig, GRIDS);
        check(&rig, given, GRIDS);
        for (int i = 0; i < GRIDS; i++)
            if (p) assert_true(is_same(&rig.result[i], &first[i]));
        memcpy(first, rig.result, sizeof first);
        stop(&rig);
    }
}

/* More grids than the machine can hold. */
static void grids_wait_for_a_place(void **state) {
    (void)state;
    enum { MANY = 40 };
    Rig rig;
    GpuResult result;
    start(&rig, "gtx480", "", &(GpuOptions){0});
    uint64_t parameters[2] = {timed_buffer(&rig.timed, NULL, WORDS), 200};
    const GpuLaunch launch = {.module = rig.module,
                              .function = gpu_find_function(rig.module, "k"),
                              .grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .parameters = parameters};
    for (uint32_t i = 0; i < MANY; i++)
        gpu_begin(rig.timed.gpu, &launch, &(GpuStreamInfo){.number = i});
    int ended = 0;
    for (GpuGrid *grid; (grid = gpu_advance(rig.timed.gpu)) != NULL; ended++)
        assert_int_equal(gpu_end(rig.timed.gpu, grid, &result), GPU_OK);
    assert_int_equal(ended, MANY);
    stop(&rig);
}

/* ---- Grids that run alone ---- */

static void a_cooperative_grid_runs_alone(void **state) {
    (void)state;
    const Given given[] = {
        {.kernel = "k", .ctas = 15, .threads = 64, .rounds = 100, .stream = {1, 0}},
        {.kernel = "k",
         .ctas = 15,
         .threads = 64,
         .rounds = 100,
         .is_cooperative = true,
         .stream = {2, 0}},
        {.kernel = "k", .ctas = 15, .threads = 64, .rounds = 100, .stream = {3, 0}}};
    Rig rig;
    start(&rig, "gtx480", "", &(GpuOptions){0});
    run(&rig, given, 3);
    check(&rig, given, 3);
    for (int i = 0; i < 3; i++) {
        assert_false(rig.result[i].has_overlapped);
        assert_int_equal(rig.order[i], i);
    }
    assert_int_equal(rig.result[1].start_ps, end_of(&rig.result[0]));
    assert_int_equal(rig.result[2].start_ps, end_of(&rig.result[1]));
    stop(&rig);
}

/* ---- Failures ---- */

static void a_fault_ends_all_grids(void **state) {
    (void)state;
    const Given given[] = {
        {.kernel = "k", .ctas = 15, .threads = 64, .rounds = 1000, .stream = {1, 0}},
        {.kernel = "stray", .ctas = 1, .threads = 32, .rounds = 1, .stream = {2, 0}},
        {.kernel = "k", .ctas = 600, .threads = 64, .rounds = 1000, .stream = {3, -1}}};
    Rig rig;
    start(&rig, "gtx480", "", &(GpuOptions){0});
    run(&rig, given, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rig.result[i].status, GPU_FAULT);
    assert_non_null(strstr(rig.result[1].message, "stray"));
    assert_null(strstr(rig.result[1].message, "another kernel"));
    assert_non_null(strstr(rig.result[0].message, "ended with another kernel"));
    assert_non_null(strstr(rig.result[2].message, "ended with another kernel"));
    rig.ended = 0; /* the machine works as before */
    run(&rig, given, 1);
    check(&rig, given, 1);
    stop(&rig);
}

static void stop_after_counts_the_instructions_of_all(void **state) {
    (void)state;
    enum { LIMIT = 200000 };
    const Given given[] = {
        {.kernel = "k", .ctas = 15, .threads = 64, .rounds = 2000, .stream = {1, 0}},
        {.kernel = "other", .ctas = 15, .threads = 64, .rounds = 2000, .stream = {2, 0}}};
    Rig rig;
    start(&rig, "gtx480", "", &(GpuOptions){.stop_after = LIMIT});
    run(&rig, given, 2);
    assert_int_equal(rig.result[0].status, GPU_STOPPED);
    assert_int_equal(rig.result[1].status, GPU_STOPPED);
    const uint64_t sum = rig.result[0].thread_instructions + rig.result[1].thread_instructions;
    assert_true(sum >= LIMIT && sum < LIMIT + LIMIT / 10);
    stop(&rig);
}

/* Cycles before the first CTA can start are counted separately from other cycles without a warp.
 * This holds for each grid that starts on an idle machine, but not for a grid that starts while
 * another runs. */
static void the_launch_latency_is_counted_of_a_machine_at_rest(void **state) {
    (void)state;
    enum { LATENCY = 500 };
    const Given given[] = {
        {.kernel = "k", .ctas = 15, .threads = 64, .rounds = 100, .stream = {1, 0}},
        {.kernel = "other", .ctas = 15, .threads = 64, .rounds = 100, .stream = {2, 0}}};
    Rig rig;
    start(&rig, "gtx480", "cta.launch_latency=500cycles", &(GpuOptions){0});
    run(&rig, given, 2);
    const MachineConfig *config = rig.timed.config;
    const Counters *first = &rig.result[0].counters;
    assert_int_equal(first->idle_launch,
                     (uint64_t)LATENCY * config->sms * config->sm.scheduler.count);
    assert_true(first->idle_launch <= first->idle_no_warp);
    assert_int_equal(rig.result[1].counters.idle_launch, 0);
    stop(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_launch_latency_is_counted_of_a_machine_at_rest),
        cmocka_unit_test(two_halves_of_each_sm_take_the_time_of_one),
        cmocka_unit_test(two_halves_of_the_sms_take_the_time_of_one),
        cmocka_unit_test(a_grids_turn_comes_when_all_ctas_before_it_are_out),
        cmocka_unit_test(a_higher_priority_goes_first),
        cmocka_unit_test(a_higher_priority_overtakes),
        cmocka_unit_test(round_robin_goes_on_from_kernel_to_kernel),
        cmocka_unit_test(an_sm_holds_no_more_than_it_has_room_for),
        cmocka_unit_test(grids_of_different_sizes_share_sms),
        cmocka_unit_test(grids_wait_for_a_place),
        cmocka_unit_test(a_cooperative_grid_runs_alone),
        cmocka_unit_test(a_fault_ends_all_grids),
        cmocka_unit_test(stop_after_counts_the_instructions_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
