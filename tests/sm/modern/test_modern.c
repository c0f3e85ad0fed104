/* A whole SM with the modern core: the cycles in which instructions issue under control bits, legal
 * in a cycle and not in the one before. Sleeping changes nothing. */
#include <string.h>

#include "controls.h"

/* ---- Stall counts ---- */

static void test_a_stall_count_says_when_the_next_issues(void **state) {
    (void)state;
    for (uint8_t stall = 0; stall <= 15; stall++) {
        IsaControl control[MOST];
        start_controls(control);
        control[1].stall = stall;
        Bench *bench = run("", 1, moves, control, false);
        assert_int_equal(between(bench, 0, 0, 1), 1);
        assert_int_equal(between(bench, 0, 1, 2), stall ? stall : 1);
        assert_int_equal(between(bench, 0, 2, 3), 1);
        bench_stop(bench);
    }
}

static void test_a_warp_that_yields_issues_nothing_in_the_next_cycle(void **state) {
    (void)state;
    for (uint8_t stall = 1; stall <= 4; stall++) {
        IsaControl control[MOST];
        start_controls(control);
        control[2] = plain(stall);
        control[2].yields = true;
        Bench *bench = run("", 1, moves, control, false);
        assert_int_equal(between(bench, 0, 2, 3), stall > 2 ? stall : 2);
        bench_stop(bench);
    }
}

/* Warps 0 and 4 are in one sub-core, warp 1 is in another. The warp that waits gives way. */
static void test_another_warp_of_the_subcore_uses_the_cycles(void **state) {
    enum { WARPS = 8 };
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[2].stall = 3;
    Bench *bench = run("", WARPS, moves, control, false);
    assert_int_equal(between(bench, 0, 2, 3), 3);
    assert_int_equal(issue_of(bench, 4, 0), issue_of(bench, 0, 2) + 1);
    assert_int_equal(issue_of(bench, 1, 3), issue_of(bench, 0, 3)); /* in the same cycle */
    for (int warp = 0; warp < WARPS; warp++)
        for (int other = warp + SUBCORES; other < WARPS; other += SUBCORES)
            for (uint32_t pc = 0; pc < 6; pc++)
                for (uint32_t of = 0; of < 6; of++)
                    assert_int_not_equal(issue_of(bench, warp, pc), issue_of(bench, other, of));
    bench_stop(bench);
}

/* Two CTAs of 20 warps, in slots 0 to 39. */
static void test_warps_of_all_slots_have_a_subcore(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    Bench *bench = bench_new(machine, 20, "mov.u32 %r1, 1;", false, NULL);
    bench_set_controls(bench, control);
    bench_begin(bench, NULL);
    bench_run(bench, 2);
    for (int warp = 0; warp < 40; warp++)
        assert_in_range(issue_of(bench, warp, 0), issue_of(bench, 0, 0),
                        issue_of(bench, 0, 0) + 40);
    bench_stop(bench);
}

/* ---- Dependence counters ---- */

/* An instruction of variable latency that raises counter 3, and one that waits for the counter. */
static Bench *run_pair(uint8_t stall, uint32_t latency, uint8_t unit) {
    IsaControl control[MOST];
    char more[64];
    start_controls(control);
    control[1].unit = unit;
    control[1].stall = stall;
    control[1].write_counter = 3;
    control[2].wait_mask = 1 << 3;
    snprintf(more, sizeof more, "ops.sfu.latency=%u ops.shuffle.latency=%u", latency, latency);
    return run(more, 1, moves, control, false);
}

static void test_a_counter_keeps_its_readers_until_the_result_is_there(void **state) {
    (void)state;
    for (uint32_t latency = 5; latency < 200; latency += 31) {
        Bench *bench = run_pair(2, latency, ISA_UNIT_SFU);
        const uint32_t distance = sm_op_distance(bench->stage->sm.config);
        assert_int_equal(between(bench, 0, 1, 2), latency + distance);
        assert_int_equal(between(bench, 0, 2, 3), 1);
        bench_stop(bench);
    }
}

/* The raise becomes visible a cycle late: an instruction that issues one cycle later does not see
 * it. */
static void test_a_raise_shows_two_cycles_after_issue(void **state) {
    (void)state;
    Bench *bench = run_pair(1, 40, ISA_UNIT_SFU);
    assert_int_equal(between(bench, 0, 1, 2), 1);
    bench_stop(bench);
    bench = run_pair(2, 40, ISA_UNIT_SFU);
    assert_true(between(bench, 0, 1, 2) > 40);
    bench_stop(bench);
}

/* Sources of an instruction of variable latency are read five cycles after its issue. */
static void test_a_read_counter_falls_before_the_result(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[1].unit = ISA_UNIT_SFU;
    control[1].stall = 2;
    control[1].read_counter = 0;
    control[2].wait_mask = 1 << 0;
    Bench *bench = run("ops.sfu.latency=90", 1, moves, control, false);
    assert_int_equal(between(bench, 0, 1, 2), 5);
    bench_stop(bench);
}

static void test_depbar_lets_later_ones_go_on(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    for (int i = 0; i < 3; i++) {
        control[i].unit = ISA_UNIT_UNIFORM; /* its pipe takes one per cycle */
        control[i].stall = 10;
        control[i].write_counter = 5;
    }
    control[3].waits_for = 5;
    control[3].at_most = 1;
    Bench *bench = run("ops.other.latency=60", 1, moves, control, false);
    const uint64_t latency = 60 + sm_op_distance(bench->stage->sm.config);
    assert_int_equal(issue_of(bench, 0, 3), issue_of(bench, 0, 1) + latency);
    bench_stop(bench);
}

/* A fence also waits for results that do not come from memory. */
static void test_a_fence_goes_on_when_the_last_counter_falls(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[0].unit = ISA_UNIT_SFU;
    control[0].stall = 2;
    control[0].write_counter = 1;
    Bench *bench =
        run("ops.sfu.latency=50", 1, "mov.u32 %r1, 1; membar.gl; mov.u32 %r2, 1;", control, false);
    const uint64_t latency = 50 + sm_op_distance(bench->stage->sm.config);
    assert_int_equal(between(bench, 0, 0, 1), 2);
    assert_int_equal(between(bench, 0, 0, 2), latency);
    bench_stop(bench);
}

/* The raise becomes visible even while another warp issues. */
static void test_a_raise_shows_to_a_warp_that_is_not_picked(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[1].unit = ISA_UNIT_SFU;
    control[1].write_counter = 3;
    control[2].wait_mask = 1 << 3;
    Bench *bench = run("ops.sfu.latency=40 ops.sfu.initiation=1", 5, moves, control, false);
    assert_int_equal(between(bench, 0, 1, 2), 1); /* the recorder picks the lowest slot */
    assert_true(between(bench, 4, 1, 2) == 1 || between(bench, 4, 1, 2) > 40);
    bench_stop(bench);
}

/* ---- Memory ---- */

static const char *const load =
    "ld.param.u64 %d0, [buffer]; ld.global.u32 %r2, [%d0]; mov.u32 %r3, 1; mov.u32 %r4, 1;";

static void test_a_load_is_read_before_it_is_written(void **state) {
    (void)state;
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
    const SmModernConfig *config = &bench->stage->sm.config->modern;
    assert_int_equal(between(bench, 0, 1, 2), config->memory_entry);
    assert_true(between(bench, 0, 1, 3) > ANSWER);
    bench_stop(bench);
}

/* ---- Pipes ---- */

/* Two instructions of a sub-core: the pipe takes the second when it is free. */
static void test_a_pipe_takes_one_in_its_interval(void **state) {
    (void)state;
    static const struct {
        const char *more;
        uint8_t unit;
        uint64_t cycles;
    } rows[] = {{"ops.sfu.initiation=8", ISA_UNIT_SFU, 8},
                {"ops.other.initiation=2", ISA_UNIT_ALU, 2},
                {"ops.other.initiation=3", ISA_UNIT_FMA, 3},
                {"ops.other.initiation=4", ISA_UNIT_DOUBLE, 4},
                {"ops.other.initiation=9", ISA_UNIT_UNIFORM, 1},
                {"ops.other.initiation=9", ISA_UNIT_BRANCH, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        IsaControl control[MOST];
        start_controls(control);
        control[3].unit = control[4].unit = rows[i].unit;
        Bench *bench = run(rows[i].more, 1, moves, control, false);
        assert_int_equal(between(bench, 0, 3, 4), rows[i].cycles);
        bench_stop(bench);
    }
}

/* The address that the load leaves selects the constant. */
static void test_an_indexed_constant_keeps_the_warp_behind_its_stall_count(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[1] = control[2] = plain(5);
    control[1].constant = control[2].constant = ISA_INDEXED_CONSTANT;
    Bench *bench = run("modern.constant_miss=50 modern.indexed_constant=9", 1,
                       "mov.u32 %r6, 0; ld.shared.u32 %r1, [%r6]; ld.shared.u32 %r2, [%r6];"
                       "mov.u32 %r3, 1; mov.u32 %r4, 1;",
                       control, false);
    assert_int_equal(between(bench, 0, 1, 2), 5 + 50 + 9);
    assert_int_equal(between(bench, 0, 2, 3), 5 + 9);
    bench_stop(bench);
}

static void test_a_missing_constant_keeps_the_warp(void **state) {
    (void)state;
    IsaControl control[MOST];
    start_controls(control);
    control[2].constant = control[4].constant = 1u << 31 | 0x210;
    Bench *bench = run("modern.constant_miss=50", 1, moves, control, false);
    assert_int_equal(between(bench, 0, 1, 2), 51);
    assert_int_equal(between(bench, 0, 3, 4), 1);
    bench_stop(bench);
}

static void test_a_taken_branch_costs_its_latency(void **state) {
    (void)state;
    static const char *const loop = "mov.u32 %r1, 2;\nagain: add.u32 %r1, %r1, -1;"
                                    "setp.ne.u32 %p1, %r1, 0; @%p1 bra again; mov.u32 %r2, 1;";
    IsaControl control[MOST];
    start_controls(control);
    Bench *bench = run("modern.branch_latency=17", 1, loop, control, false);
    const StageHeard *heard = bench->sm->context.policy.state;
    assert_int_equal(heard->issues[3].pc, 3);
    assert_int_equal(heard->issues[4].pc, 1);
    assert_int_equal(heard->issues[4].cycle - heard->issues[3].cycle, 17);
    assert_int_equal(heard->issues[7].cycle - heard->issues[6].cycle, 1); /* not taken */
    bench_stop(bench);
}

/* ---- Code without control bits ---- */

static void test_code_without_control_bits_waits_for_its_results(void **state) {
    (void)state;
    static const char *const lines = "ld.param.u64 %d0, [buffer]; ld.global.u32 %r2, [%d0];"
                                     "add.u32 %r3, %r1, 1; add.u32 %r4, %r3, 1;"
                                     "add.u32 %r5, %r2, 1; rcp.approx.f32 %f1, %f2;"
                                     "add.f32 %f3, %f1, %f1; mov.u32 %r7, 1;";
    Bench *bench = run("ops.int_add.latency=5 ops.sfu.latency=30", 1, lines, NULL, false);
    const uint64_t distance = sm_op_distance(bench->stage->sm.config);
    assert_int_equal(between(bench, 0, 2, 3), 5 + distance);
    assert_true(between(bench, 0, 1, 4) > ANSWER);
    assert_int_equal(between(bench, 0, 5, 6), 30 + distance);
    assert_int_equal(between(bench, 0, 6, 7), 1);
    bench_stop(bench);
}

/* ---- Sleep ---- */

static void test_sleep_changes_nothing(void **state) {
    (void)state;
    static const char *const more[] = {"", "sm.instructions=lowered", "modern.code_latency=900",
                                       "modern.stream_buffer=0 modern.memory_queue=1"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        Bench *awake = run(more[i], 6, work, NULL, true);
        Bench *asleep = run(more[i], 6, work, NULL, false);
        assert_int_equal(asleep->ended_at, awake->ended_at);
        assert_int_equal(asleep->waited, awake->waited);
        assert_true(asleep->steps < awake->steps);
        assert_memory_equal(sm_counters(asleep->sm), sm_counters(awake->sm), sizeof(Counters));
        assert_memory_equal(sm_histograms(asleep->sm), sm_histograms(awake->sm),
                            sizeof(Histograms));
        assert_memory_equal(sm_warp_states(asleep->sm), sm_warp_states(awake->sm),
                            sizeof(WarpStates));
        bench_stop(awake);
        bench_stop(asleep);
    }
}

/* Every cycle of every scheduler is accounted for exactly once. */
static void test_the_outcomes_add_up(void **state) {
    (void)state;
    Bench *bench = run("", 6, work, NULL, false);
    const Counters *c = sm_counters(bench->sm);
    assert_int_equal(c->scheduler_cycles, SUBCORES * c->sm_cycles);
    assert_int_equal(c->issued, c->warp_instructions);
    bench_stop(bench);
}

/* Warp 0 waits at a barrier until warp 1, in the next sub-core, arrives. In that cycle the
 * outcome of warp 0's sub-core depends on whose turn comes first. */
static void test_an_outcome_is_that_of_the_subcores_turn(void **state) {
    (void)state;
    static const char *const lines = "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 31;"
                                     "@!%p1 bra there; mov.u32 %r2, 1; mov.u32 %r2, 1;"
                                     "there: bar.sync 0; mov.u32 %r3, 1;";
    uint32_t earlier = 0;
    for (uint8_t stall = 1; stall <= SUBCORES; stall++) {
        IsaControl control[MOST];
        start_controls(control);
        control[3].stall = 8 + stall; /* only warp 1 executes it */
        Bench *bench = run("", 2, lines, control, false);
        const uint64_t from = issue_of(bench, 0, 5), to = issue_of(bench, 1, 5);
        const bool is_before = (0 - to) % SUBCORES < (1 - to) % SUBCORES;
        earlier += is_before;
        assert_int_equal(sm_counters(bench->sm)->idle_barrier, to - from - 1 + is_before);
        bench_stop(bench);
    }
    assert_int_equal(earlier, SUBCORES - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stall_count_says_when_the_next_issues),
        cmocka_unit_test(test_a_warp_that_yields_issues_nothing_in_the_next_cycle),
        cmocka_unit_test(test_another_warp_of_the_subcore_uses_the_cycles),
        cmocka_unit_test(test_warps_of_all_slots_have_a_subcore),
        cmocka_unit_test(test_a_counter_keeps_its_readers_until_the_result_is_there),
        cmocka_unit_test(test_a_raise_shows_two_cycles_after_issue),
        cmocka_unit_test(test_a_read_counter_falls_before_the_result),
        cmocka_unit_test(test_depbar_lets_later_ones_go_on),
        cmocka_unit_test(test_a_fence_goes_on_when_the_last_counter_falls),
        cmocka_unit_test(test_a_raise_shows_to_a_warp_that_is_not_picked),
        cmocka_unit_test(test_a_load_is_read_before_it_is_written),
        cmocka_unit_test(test_a_pipe_takes_one_in_its_interval),
        cmocka_unit_test(test_an_indexed_constant_keeps_the_warp_behind_its_stall_count),
        cmocka_unit_test(test_a_missing_constant_keeps_the_warp),
        cmocka_unit_test(test_a_taken_branch_costs_its_latency),
        cmocka_unit_test(test_code_without_control_bits_waits_for_its_results),
        cmocka_unit_test(test_sleep_changes_nothing),
        cmocka_unit_test(test_the_outcomes_add_up),
        cmocka_unit_test(test_an_outcome_is_that_of_the_subcores_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
