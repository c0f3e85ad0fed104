/* The states of warps by the profiler's names: what puts a warp into each of them and for how long,
 * in closed form, and that every warp is in exactly one. */
#include "controls.h"

/* Warp cycles in a state, by the end of its name in the enum. */
#define STATE(bench, name) (sm_warp_states((bench)->sm)->of[WARP_STATE_##name])

/* A warp that issues one instruction per cycle never stalls. The exit may retire it in the same
 * cycle; then it does not count as a resident warp in that cycle. */
static void test_a_warp_that_issues_is_selected(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    Bench *bench = run("", 1, moves, control, false);
    assert_int_equal(STATE(bench, selected), sm_counters(bench->sm)->issued - 1);
    assert_int_equal(STATE(bench, selected) + STATE(bench, no_instruction),
                     sm_counters(bench->sm)->warp_cycles);
    bench_stop(bench);
}

static void test_a_stall_count_is_a_wait(void **state) {
    (void)state;
    for (uint8_t stall = 1; stall <= 15; stall += 7) {
        IsaControl control[MOST];
        start_controls(control);
        control[1].stall = stall;
        control[3].yields = true;
        Bench *bench = run("", 1, moves, control, false);
        assert_int_equal(STATE(bench, wait), stall - 1 + 1);
        bench_stop(bench);
    }
}

/* Warps 0 and 4 are in one sub-core, and its recorder picks the lowest. */
static void test_one_of_two_is_not_selected(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    Bench *bench = run("", 5, moves, control, false);
    assert_int_equal(issue_of(bench, 4, 0) - issue_of(bench, 0, 0), 7);
    assert_int_equal(STATE(bench, not_selected), 7);
    bench_stop(bench);
}

/* ---- Counters ---- */

static void test_a_special_function_is_a_short_scoreboard(void **state) {
    (void)state;
    for (uint32_t latency = 20; latency <= 90; latency += 35) {
        IsaControl control[MOST];
        char more[64];
        start_controls(control);
        control[1].unit = ISA_UNIT_SFU;
        control[1].stall = 3;
        control[1].write_counter = 3;
        control[2].wait_mask = 1 << 3;
        snprintf(more, sizeof more, "ops.sfu.latency=%u", latency);
        Bench *bench = run(more, 1, moves, control, false);
        assert_int_equal(STATE(bench, wait), 2);
        assert_int_equal(STATE(bench, short_scoreboard), between(bench, 0, 1, 2) - 3);
        assert_int_equal(STATE(bench, long_scoreboard), 0);
        bench_stop(bench);
    }
}

/* Both of its counters are those of a global access. A parameter comes from the constant cache. */
static void test_a_load_is_a_long_scoreboard(void **state) {
    (void)state;
    static const char *const load =
        "ld.param.u64 %d0, [buffer]; ld.global.u32 %r2, [%d0]; mov.u32 %r3, 1; mov.u32 %r4, 1;";
    IsaControl control[MOST];
    start_controls(control);
    control[0].unit = control[1].unit = ISA_UNIT_MEMORY;
    control[0].stall = control[1].stall = 2;
    control[0].write_counter = 0;
    control[1].wait_mask = 1 << 0;
    control[1].write_counter = 1;
    control[1].read_counter = 2;
    control[2].wait_mask = 1 << 2;
    control[3].wait_mask = 1 << 1;
    Bench *bench = run("", 1, load, control, false);
    assert_int_equal(STATE(bench, wait), 2);
    assert_int_equal(STATE(bench, short_scoreboard), between(bench, 0, 0, 1) - 2);
    assert_int_equal(STATE(bench, long_scoreboard),
                     between(bench, 0, 1, 2) - 2 + between(bench, 0, 2, 3) - 1);
    bench_stop(bench);
}

/* The kind is that of the instruction that raised the counter since it was last 0, not of an
 * earlier one. */
static void test_a_counter_forgets_who_raised_it_before(void **state) {
    (void)state;
    static const char *const load = "ld.param.u64 %d0, [buffer]; ld.global.u32 %r2, [%d0];"
                                    "mov.u32 %r3, 1; mov.u32 %r4, 1; mov.u32 %r5, 1;";
    IsaControl control[MOST];
    start_controls(control);
    control[0].unit = control[1].unit = ISA_UNIT_MEMORY;
    control[0].stall = control[1].stall = control[3].stall = 2;
    control[0].write_counter = control[1].write_counter = control[3].write_counter = 0;
    control[1].wait_mask = control[2].wait_mask = control[4].wait_mask = 1 << 0;
    control[3].unit = ISA_UNIT_SFU;
    Bench *bench = run("ops.sfu.latency=30", 1, load, control, false);
    assert_int_equal(STATE(bench, long_scoreboard), between(bench, 0, 1, 2) - 2);
    assert_int_equal(STATE(bench, short_scoreboard),
                     between(bench, 0, 0, 1) - 2 + between(bench, 0, 3, 4) - 2);
    bench_stop(bench);
}

/* ---- Supply ---- */

static void test_a_taken_branch_is_resolved(void **state) {
    (void)state;
    static const char *const loop = "mov.u32 %r1, 3;\nagain: add.u32 %r1, %r1, -1;"
                                    "setp.ne.u32 %p1, %r1, 0; @%p1 bra again; mov.u32 %r2, 1;";
    IsaControl control[MOST];
    start_controls(control);
    Bench *bench = run("modern.branch_latency=17", 1, loop, control, false);
    assert_int_equal(STATE(bench, branch_resolving), 2 * 16);
    bench_stop(bench);
}

static void test_a_missing_constant_is_an_imc_miss(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[2].constant = control[4].constant = 1u << 31 | 0x210;
    Bench *bench = run("modern.constant_miss=50", 1, moves, control, false);
    assert_int_equal(STATE(bench, imc_miss), 50);
    bench_stop(bench);
}

/* A warp looks up its constant only when its counters allow it. */
static void test_a_counter_comes_before_a_constant(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[1].unit = ISA_UNIT_SFU;
    control[1].stall = 2;
    control[1].write_counter = 3;
    control[2].wait_mask = 1 << 3;
    control[2].constant = 1u << 31 | 0x210;
    Bench *bench = run("modern.constant_miss=90 ops.sfu.latency=30", 1, moves, control, false);
    const uint64_t latency = 30 + sm_op_distance(bench->stage->sm.config);
    assert_int_equal(STATE(bench, short_scoreboard), latency - 2);
    assert_int_equal(STATE(bench, imc_miss), between(bench, 0, 1, 2) - latency);
    bench_stop(bench);
}

/* The first line holds eight of these 13 instructions. */
static const char *const two_lines =
    "mov.u32 %r1, 1; mov.u32 %r2, 1; mov.u32 %r3, 1; mov.u32 %r4, 1; mov.u32 %r5, 1;"
    "mov.u32 %r6, 1; mov.u32 %r7, 1; mov.u32 %r8, 1; mov.u32 %r9, 1; mov.u32 %r10, 1;"
    "mov.u32 %r11, 1; mov.u32 %r12, 1;";

/* A stall count, a missing line and a missing constant follow one another, and each has its own
 * cycles. */
static void test_a_delay_of_several_causes_is_told_apart(void **state) {
    (void)state;
    for (uint8_t stall = 1; stall <= 13; stall += 4) {
        IsaControl control[MOST];
        start_controls(control);
        control[7].stall = stall;
        control[8].constant = 1u << 31 | 0x210;
        Bench *bench = run("modern.stream_buffer=0 modern.code_latency=100 modern.fetch_latency=20 "
                           "modern.constant_miss=90",
                           1, two_lines, control, false);
        assert_int_equal(between(bench, 0, 7, 8), stall + 120 + 90);
        assert_int_equal(STATE(bench, wait), stall - 1);
        assert_int_equal(STATE(bench, no_instruction), 2 * 120);
        assert_int_equal(STATE(bench, imc_miss), 90);
        bench_stop(bench);
    }
}

/* ---- Places ---- */

static void test_a_pipe_that_is_taken_throttles(void **state) {
    (void)state;
    static const struct {
        const char *more;
        uint8_t unit;
        uint64_t math, mio;
    } rows[] = {{"ops.sfu.initiation=8", ISA_UNIT_SFU, 0, 7},
                {"ops.shuffle.initiation=6", ISA_UNIT_MEMORY, 0, 5},
                {"ops.other.initiation=2", ISA_UNIT_ALU, 1, 0},
                {"ops.other.initiation=3", ISA_UNIT_FMA, 2, 0},
                {"ops.other.initiation=4", ISA_UNIT_DOUBLE, 3, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        IsaControl control[MOST];
        start_controls(control);
        control[3].unit = control[4].unit = rows[i].unit;
        Bench *bench = run(rows[i].more, 1, moves, control, false);
        assert_int_equal(STATE(bench, math_pipe_throttle), rows[i].math);
        assert_int_equal(STATE(bench, mio_throttle), rows[i].mio);
        bench_stop(bench);
    }
}

/* Two stores, or two loads of shared memory, and a queue with one place. */
static void test_a_full_queue_throttles_by_what_wants_it(void **state) {
    (void)state;
    static const char *const lines[] = {
        "ld.param.u64 %d0, [buffer]; st.global.u32 [%d0], %r2; st.global.u32 [%d0], %r3;",
        "ld.param.u64 %d0, [buffer]; ld.shared.u32 %r2, [%r1]; ld.shared.u32 %r3, [%r1];"};
    for (int shared = 0; shared < 2; shared++) {
        IsaControl control[MOST];
        start_controls(control);
        control[0].unit = control[1].unit = control[2].unit = ISA_UNIT_MEMORY;
        control[0].write_counter = 0;
        control[0].stall = 2;
        control[1].wait_mask = 1 << 0;
        Bench *bench = run("modern.memory_queue=1", 1, lines[shared], control, false);
        const uint64_t cycles = between(bench, 0, 1, 2) - 1;
        assert_true(cycles > 0);
        assert_int_equal(STATE(bench, lg_throttle), shared ? 0 : cycles);
        assert_int_equal(STATE(bench, mio_throttle), shared ? cycles : 0);
        bench_stop(bench);
    }
}

/* After the stall count of the instruction that reads it: a miss, then a hit. The address that the
 * load leaves selects the constant. */
static void test_an_indexed_constant_is_a_miss_of_its_cache(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[1] = control[2] = plain(5);
    control[1].constant = control[2].constant = ISA_INDEXED_CONSTANT;
    Bench *bench = run("modern.constant_miss=50 modern.indexed_constant=9", 1,
                       "mov.u32 %r6, 0; ld.shared.u32 %r1, [%r6]; ld.shared.u32 %r2, [%r6];"
                       "mov.u32 %r3, 1; mov.u32 %r4, 1;",
                       control, false);
    assert_int_equal(STATE(bench, imc_miss), 50 + 9 + 9);
    assert_true(STATE(bench, wait) >= 4 + 4);
    bench_stop(bench);
}

/* Three registers of a bank take its port for three cycles. The next instruction is held in
 * Allocate, so Control has no room for a third one. */
static void test_a_taken_control_stage_is_a_dispatch_stall(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    for (int i = 0; i < 6; i++) {
        const IsaUnit units[] = {ISA_UNIT_ALU, ISA_UNIT_FMA, ISA_UNIT_DOUBLE};
        control[i].unit = (uint8_t)units[i % 3];
        for (int place = 0; place < ISA_PLACES; place++)
            control[i].operand[place] = (uint8_t)(2 + 2 * place);
    }
    Bench *bench = run("ops.other.initiation=1", 1, moves, control, false);
    assert_true(STATE(bench, dispatch_stall) > 0);
    assert_int_equal(STATE(bench, dispatch_stall), between(bench, 0, 0, 6) - 6);
    bench_stop(bench);
}

/* ---- Warps held by residency ---- */

/* Warp 4 reaches the barrier after warp 0, because both are in one sub-core. */
static void test_a_barrier_keeps_those_that_came_first(void **state) {
    (void)state;
    static const char *const lines = "mov.u32 %r1, 1; bar.sync 0; mov.u32 %r2, 1;";
    IsaControl control[MOST];
    start_controls(control);
    Bench *bench = run("", 5, lines, control, false);
    uint64_t cycles = 0;
    for (int warp = 0; warp < 4; warp++)
        cycles += between(bench, warp, 1, 2) - 1;
    assert_true(cycles > 4);
    assert_int_equal(STATE(bench, barrier), cycles);
    bench_stop(bench);
}

static void test_a_fence_is_a_membar(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[0].unit = ISA_UNIT_SFU;
    control[0].stall = 2;
    control[0].write_counter = 1;
    Bench *bench =
        run("ops.sfu.latency=50", 1, "mov.u32 %r1, 1; membar.gl; mov.u32 %r2, 1;", control, false);
    assert_int_equal(STATE(bench, membar), between(bench, 0, 1, 2) - 1);
    bench_stop(bench);
}

/* An exited warp stays until its store is acknowledged. */
static void test_a_warp_drains_after_its_exit(void **state) {
    (void)state;
    static const char *const store = "ld.param.u64 %d0, [buffer]; st.global.u32 [%d0], %r2;";
    IsaControl control[MOST];
    start_controls(control);
    control[0].unit = control[1].unit = ISA_UNIT_MEMORY;
    control[0].stall = 2;
    control[0].write_counter = 0;
    control[1].wait_mask = 1 << 0;
    Bench *bench = run("", 1, store, control, false);
    assert_int_equal(STATE(bench, drain), bench->ended_at - issue_of(bench, 0, 2) - 1);
    assert_true(STATE(bench, drain) >= ANSWER);
    bench_stop(bench);
}

/* ---- All together ---- */

/* In every cycle each resident warp is in exactly one state, asleep and awake. */
static void test_the_states_are_the_resident_warps(void **state) {
    (void)state;
    static const char *const more[] = {"",
                                       "sm.instructions=lowered",
                                       "sm.instructions=lowered modern.memory_queue=1",
                                       "modern.code_latency=900 modern.stream_buffer=0",
                                       "modern.constant_miss=300 lsu.acknowledges_stores=no",
                                       "lsu.loads_block=yes lsu.atomics_block=yes"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        Bench *awake = run(more[i], 6, work, NULL, true),
              *asleep = run(more[i], 6, work, NULL, false);
        const Counters *c = sm_counters(asleep->sm);
        assert_true(c->warp_cycles > 0);
        assert_int_equal(warp_states_sum(sm_warp_states(asleep->sm)), c->warp_cycles);
        assert_memory_equal(sm_warp_states(asleep->sm), sm_warp_states(awake->sm),
                            sizeof(WarpStates));
        assert_in_range(STATE(asleep, selected), c->issued - 6, c->issued);
        assert_int_equal(STATE(asleep, misc), 0);
        bench_stop(awake);
        bench_stop(asleep);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_warp_that_issues_is_selected),
        cmocka_unit_test(test_a_stall_count_is_a_wait),
        cmocka_unit_test(test_one_of_two_is_not_selected),
        cmocka_unit_test(test_a_special_function_is_a_short_scoreboard),
        cmocka_unit_test(test_a_load_is_a_long_scoreboard),
        cmocka_unit_test(test_a_counter_forgets_who_raised_it_before),
        cmocka_unit_test(test_a_taken_branch_is_resolved),
        cmocka_unit_test(test_a_missing_constant_is_an_imc_miss),
        cmocka_unit_test(test_a_counter_comes_before_a_constant),
        cmocka_unit_test(test_a_delay_of_several_causes_is_told_apart),
        cmocka_unit_test(test_a_pipe_that_is_taken_throttles),
        cmocka_unit_test(test_a_full_queue_throttles_by_what_wants_it),
        cmocka_unit_test(test_an_indexed_constant_is_a_miss_of_its_cache),
        cmocka_unit_test(test_a_taken_control_stage_is_a_dispatch_stall),
        cmocka_unit_test(test_a_barrier_keeps_those_that_came_first),
        cmocka_unit_test(test_a_fence_is_a_membar),
        cmocka_unit_test(test_a_warp_drains_after_its_exit),
        cmocka_unit_test(test_the_states_are_the_resident_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
