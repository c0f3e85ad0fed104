/* The interfaces of the SM with the smallest possible implementations: a source that replays a
 * recorded stream of instructions, and a core that issues one instruction per cycle. */
#include <string.h>

#include "machine/machine_rows.h"
#include "replay_source.h"
#include "sm_bench.h"
#include "toy_core.h"

enum { MOST_STEPS = 128 };

/* A loop of three rounds with loads, stores, shared memory and a barrier. All warps execute the
 * same instructions with the same addresses. */
static const char *const loop =
    "ld.param.u64 %d0, [buffer]; mov.u32 %r1, 3; mov.u32 %r4, %laneid; mul.wide.u32 %d1, %r4, 8;"
    "add.u64 %d2, %d0, %d1; shl.b32 %r6, %r4, 2;\n"
    "again: ld.global.u32 %r2, [%d2]; add.u32 %r3, %r2, %r1; st.shared.u32 [%r6], %r3;"
    "bar.sync 0; ld.shared.u32 %r5, [%r6]; st.global.u32 [%d2], %r5;"
    "add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;";
enum { LOOP_STEPS = 6 + 3 * 9 + 1 };

/* ---- A recorder before the interpreter ---- */

static struct {
    WarpSourceType type;
    const WarpSourceType *inner;
    ReplayStep steps[MOST_STEPS];
    uint32_t count;
} recorder;

/* Records what warp 0 of CTA 0 does. */
static WarpEvent record_step(WarpSource *source, SourceWarp *warp, uint64_t cycle) {
    const uint32_t pc = interpreter_warp(warp)->pc;
    const bool is_first = isa_warp_number(interpreter_warp(warp)) == 0;
    const WarpEvent event = recorder.inner->step(source, warp, cycle);
    const WarpStep *did = source->did;
    if (is_first && recorder.count < MOST_STEPS)
        recorder.steps[recorder.count++] =
            (ReplayStep){.pc = pc,
                         .executed = did->executed,
                         .address = did->address[0],
                         .stride = (uint32_t)(did->address[1] - did->address[0]),
                         .is_exit = event == WARP_EXITED};
    return event;
}

static WarpSource *record(Bench *bench) {
    WarpSource *source = &bench->stage->source.source;
    recorder.count = 0;
    recorder.inner = source->type;
    recorder.type = *source->type;
    recorder.type.step = record_step;
    source->type = &recorder.type;
    return source;
}

/* Runs CTAs of the loop from its PTX, recorded. */
static Bench *run_recorded(const char *settings, uint32_t warps, uint32_t ctas,
                           const SmCore *core) {
    Bench *bench = bench_new(settings, warps, loop, false, core);
    bench_begin(bench, record(bench));
    bench_run(bench, ctas);
    assert_int_equal(recorder.count, LOOP_STEPS);
    assert_true(recorder.steps[LOOP_STEPS - 1].is_exit);
    return bench;
}

/* Runs CTAs of the recorded stream. */
static Bench *run_replayed(const char *settings, uint32_t warps, uint32_t ctas, const SmCore *core,
                           ReplaySource *replay) {
    Bench *bench = bench_new(settings, warps, loop, false, core);
    bench_begin(bench, replay_source_start(replay, &bench->rows, warps, recorder.steps));
    bench_run(bench, ctas);
    return bench;
}

/* ---- A recorded stream ---- */

/* With both cores, and on a machine that issues instructions of its own. */
static void test_a_replayed_stream_takes_the_time_of_its_recording(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        const SmCore *core;
    } rows[] = {{"", NULL}, {"sm.instructions=lowered", NULL}, {"", &toy_core}};
    static ReplaySource replay;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench *real = run_recorded(rows[i].settings, 3, 2, rows[i].core);
        Bench *again = run_replayed(rows[i].settings, 3, 2, rows[i].core, &replay);
        assert_int_equal(again->ended_at, real->ended_at);
        assert_int_equal(again->requests, real->requests);
        assert_int_equal(replay.steps, 2 * 3 * LOOP_STEPS);
        assert_int_equal(sm_changes(again->sm), replay.steps);
        bool has_starved = false;
        assert_true(sm_all_poll(again->sm, 1, SM_POLLS_FOR_EVER, &has_starved)); /* there is none */
        assert_false(has_starved);
        assert_int_equal(sm_counters(real->sm)->warp_instructions, 2 * 3 * LOOP_STEPS);
        assert_memory_equal(sm_counters(again->sm), sm_counters(real->sm), sizeof(Counters));
        assert_memory_equal(sm_histograms(again->sm), sm_histograms(real->sm), sizeof(Histograms));
        bench_stop(real);
        bench_stop(again);
    }
}

static void test_one_grid_begins_after_another(void **state) {
    (void)state;
    static ReplaySource replay;
    Bench *bench = run_recorded("", 1, 1, NULL);
    const uint64_t first = sm_counters(bench->sm)->warp_instructions;
    sm_end_grid(bench->sm, bench->grid);
    bench_begin(bench, replay_source_start(&replay, &bench->rows, 2, recorder.steps));
    assert_int_equal(sm_counters(bench->sm)->warp_instructions, 0);
    bench->ends = 0;
    bench_run(bench, 1);
    assert_int_equal(sm_counters(bench->sm)->warp_instructions, 2 * first);
    bench_stop(bench);
}

static void test_a_source_that_fails_ends_the_sm(void **state) {
    (void)state;
    static ReplaySource replay;
    Bench *bench = bench_new("fetch.ideal=yes", 1, "add.u32 %r1, %r1, 1;", false, NULL);
    static const ReplayStep astray[] = {{.pc = 0, .executed = UINT32_MAX},
                                        {.pc = 1000, .executed = UINT32_MAX}};
    bench_begin(bench, replay_source_start(&replay, &bench->rows, 1, astray));
    sm_launch_cta(bench->sm, bench->grid, 0, 0);
    replay.warp[0].next = &astray[1];
    uint64_t cycle = 0;
    while (!sm_fault(bench->sm) && cycle < 1000)
        sm_step(bench->sm, ++cycle);
    assert_non_null(sm_fault(bench->sm));
    assert_string_equal(sm_fault(bench->sm)->text, "the stream leaves its program");
    bench_stop(bench);
}

/* ---- A core that issues one instruction per cycle ---- */

static void test_the_toy_core_issues_every_cycle(void **state) {
    (void)state;
    const char *lines = "add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1; mul.lo.u32 %r2, %r1, %r1;"
                        "bar.sync 0; setp.ne.u32 %p1, %r9, 0; @%p1 add.u32 %r2, %r2, %r1;";
    enum { STEPS = 7 };
    for (uint32_t warps = 1; warps <= 8; warps++) {
        Bench *bench = bench_new("", warps, lines, false, &toy_core);
        bench_begin(bench, NULL);
        bench_run(bench, 1);
        const Counters *c = sm_counters(bench->sm);
        assert_int_equal(bench->ended_at, warps * STEPS);
        assert_int_equal(bench->steps, warps * STEPS);
        assert_int_equal(c->warp_instructions, warps * STEPS);
        assert_int_equal(c->thread_instructions, warps * (STEPS - 1) * 32); /* one has a guard */
        assert_int_equal(c->warps_finished, warps);
        assert_int_equal(c->sm_cycles, warps * STEPS + 1); /* cycle 0 counts too */
        bench_stop(bench);
    }
}

/* From issue, a load from shared memory takes its latency and two more cycles: one in the latch,
 * one before the port. */
static void test_the_toy_core_waits_for_a_load(void **state) {
    (void)state;
    static const uint32_t latency[] = {10, 26, 46};
    for (int i = 0; i < 3; i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "shared.latency=%u", latency[i]);
        Bench *bench = bench_new(settings, 1,
                                 "mov.u32 %r2, 0; ld.shared.u32 %r1, [%r2];"
                                 "ld.shared.u32 %r1, [%r1];",
                                 false, &toy_core);
        bench_begin(bench, NULL);
        bench_run(bench, 1);
        assert_int_equal(bench->ended_at, 2 + 2 * (latency[i] + 2));
        bench_stop(bench);
    }
}

static void test_the_toy_core_has_the_effects_of_any_other(void **state) {
    (void)state;
    uint32_t words[2][64];
    for (int toy = 0; toy < 2; toy++) {
        Bench *bench = bench_new("", 1, loop, false, toy ? &toy_core : NULL);
        bench_begin(bench, NULL);
        bench_run(bench, 1);
        assert_true(mem_read(bench->memory, bench->buffer, words[toy], sizeof words[toy]));
        for (int lane = 0; lane < 32; lane++)
            assert_int_equal(words[toy][2 * lane], 3 + 2 + 1);
        assert_int_equal(sm_counters(bench->sm)->ctas_finished, 1);
        bench_stop(bench);
    }
    assert_memory_equal(words[0], words[1], sizeof words[0]);
}

static void see_memory(void *user, const SourceWarp *warp, uint32_t pc, int slot,
                       ProfileColumn cause) {
    (void)warp, (void)pc, (void)slot;
    ((uint32_t *)user)[cause == PROFILE_cycles_memory]++;
}

static void test_a_core_tells_why_its_warps_wait(void **state) {
    (void)state;
    uint32_t seen[2] = {0, 0};
    Bench *bench = bench_new("", 2, loop, false, &toy_core);
    bench_begin(bench, NULL);
    sm_launch_cta(bench->sm, bench->grid, 0, 0);
    while (bench->requests < 1)
        bench_cycle(bench);
    sm_visit_stall_reasons(bench->sm, see_memory, seen);
    assert_int_equal(seen[1], 2);
    assert_int_equal(seen[0], 0);
    bench_stop(bench);
}

static void test_a_machine_names_its_core(void **state) {
    (void)state;
    const MachineRow *row = machine_find_row("sm.core", strlen("sm.core"));
    for (int kind = 0; kind < SM_CORE_COUNT; kind++)
        assert_string_equal(row->choices[kind], sm_core_of((SmCoreKind)kind)->name);
    Stage *stage = stage_new("sm.core=classic", 8);
    assert_int_equal(stage->config->sm.core, SM_CORE_CLASSIC);
    stage_free(stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_replayed_stream_takes_the_time_of_its_recording),
        cmocka_unit_test(test_one_grid_begins_after_another),
        cmocka_unit_test(test_a_source_that_fails_ends_the_sm),
        cmocka_unit_test(test_the_toy_core_issues_every_cycle),
        cmocka_unit_test(test_the_toy_core_waits_for_a_load),
        cmocka_unit_test(test_the_toy_core_has_the_effects_of_any_other),
        cmocka_unit_test(test_a_core_tells_why_its_warps_wait),
        cmocka_unit_test(test_a_machine_names_its_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
