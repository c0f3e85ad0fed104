/* Pipelines and write-back alone: the cycle of each result, and what keeps an instruction out. */
#include "sm/classic/pipes.h"
#include "stage.h"

typedef struct Bench {
    Stage *stage;
    SmCollector collector;
    SmPipes pipes;
} Bench;

static Bench *start(const char *settings) {
    Stage *stage = stage_new(settings, 8);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    collector_init(&bench->collector, stage->sm.config, stage->sm.arena);
    pipes_init(&bench->pipes, stage->sm.config, stage->sm.arena);
    return bench;
}

/* Puts an instruction at the pipelines' input. */
static uint16_t offer(Bench *bench, SmUnit unit, uint32_t pc, uint8_t warp) {
    uint16_t inst = stage_inst(bench->stage, pc, warp);
    bench->collector.out_kinds |= 1u << unit;
    sm_few_push(&bench->collector.out[unit], inst);
    return inst;
}

static void step(Bench *bench) {
    stage_cycle(bench->stage);
    collector_forget_writes(&bench->collector);
    pipes_write_back(&bench->pipes, &bench->stage->sm, &bench->collector);
    pipes_step(&bench->pipes, &bench->stage->sm, &bench->collector);
}

/* Cycles until the next results; all cycles before that are silent. */
static uint32_t cycles_to_results(Bench *bench) {
    for (uint32_t cycles = 1; cycles < 3000; cycles++) {
        uint64_t expected = bench->pipes.next;
        step(bench);
        if (stage_is_silent(bench->stage)) continue;
        assert_int_equal(expected, bench->stage->sm.cycle);
        return cycles;
    }
    fail_msg("no result");
    return 0;
}

/* An instruction that enters at t is written at t + L + 2, or as many cycles after L as the machine
 * says, plus the beats in which its warp enters except the first. */
static void test_a_result_comes_when_latency_and_lanes_say(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        uint32_t cycles;
    } rows[] = {
        {"ops.int_add.latency=1 units.sp.lanes=32", 3},
        {"ops.int_add.latency=1 units.sp.lanes=32 sm.write_back=1", 2},
        {"ops.int_add.latency=4 units.sp.lanes=16 sm.write_back=5", 10},
        {"ops.int_add.latency=4 units.sp.lanes=32", 6},
        {"ops.int_add.latency=4 units.sp.lanes=16", 7},
        {"ops.int_add.latency=4 units.sp.lanes=8", 9},
        {"ops.int_add.latency=330 units.sp.lanes=32", 332},
        {"ops.int_add.latency=1000 units.sp.lanes=1", 1033},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench *bench = start(rows[i].settings);
        StageInst add = {.op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .dst = {3}};
        uint32_t pc = stage_program(bench->stage, &add);
        for (int again = 0; again < 3; again++) { /* the rings go around */
            uint16_t inst = offer(bench, SM_UNIT_SP, pc, 1);
            assert_int_equal(bench->pipes.next, UINT64_MAX);
            step(bench);
            assert_false(collector_has(&bench->collector, SM_UNIT_SP));
            assert_int_equal(cycles_to_results(bench), rows[i].cycles);
            assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, inst));
            assert_int_equal(bench->collector.written, bench->stage->sm.insts.inst[inst].writes);
        }
        stage_free(bench->stage);
    }
}

/* An input is busy for the initiation interval, or as long as a warp takes to enter if that is
 * longer. */
static void test_a_pipeline_takes_the_next_after_its_initiation_interval(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        uint32_t interval;
    } rows[] = {
        {"units.sp.count=1 ops.int_add.initiation=1 units.sp.lanes=32", 1},
        {"units.sp.count=1 ops.int_add.initiation=7 units.sp.lanes=32", 7},
        {"units.sp.count=1 ops.int_add.initiation=1 units.sp.lanes=8", 4},
        {"units.sp.count=1 ops.int_add.initiation=7 units.sp.lanes=8", 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench *bench = start(rows[i].settings);
        StageInst add = {.op_class = ISA_CLASS_INT_ADD, .dst_count = 1};
        uint32_t pc = stage_program(bench->stage, &add);
        offer(bench, SM_UNIT_SP, pc, 0);
        offer(bench, SM_UNIT_SP, pc, 1);
        step(bench);
        for (uint32_t cycle = 1; cycle < rows[i].interval; cycle++) {
            step(bench);
            assert_true(collector_has(&bench->collector, SM_UNIT_SP));
        }
        step(bench);
        assert_false(collector_has(&bench->collector, SM_UNIT_SP));
        stage_free(bench->stage);
    }
}

/* Two pipelines whose results would come in the same cycle: with one bus the second instruction
 * enters a cycle later. */
static void test_a_booked_result_bus_keeps_an_instruction_out(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        uint32_t at_once;
    } rows[] = {
        {"units.sp.count=2 sm.result_buses=2 sm.writeback_width=2", 2},
        {"units.sp.count=2 sm.result_buses=1 sm.writeback_width=2", 1},
        {"units.sp.count=2 sm.result_buses=2 sm.writeback_width=1", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench *bench = start(rows[i].settings);
        StageInst add = {.op_class = ISA_CLASS_INT_ADD, .dst_count = 1};
        uint32_t pc = stage_program(bench->stage, &add);
        offer(bench, SM_UNIT_SP, pc, 0);
        offer(bench, SM_UNIT_SP, pc, 1);
        step(bench);
        assert_int_equal(bench->pipes.under_way, rows[i].at_once);
        step(bench);
        assert_int_equal(bench->pipes.under_way, 2);
        cycles_to_results(bench);
        assert_int_equal(bench->stage->sm.events.count, rows[i].at_once);
        if (rows[i].at_once == 1) assert_int_equal(cycles_to_results(bench), 1);
        assert_int_equal(bench->pipes.under_way, 0);
        stage_free(bench->stage);
    }
}

/* A slow instruction and a fast one after it would leave one pipeline in the same cycle. The fast
 * one waits, although two buses are free. */
static void test_a_pipeline_ends_one_instruction_a_cycle(void **state) {
    (void)state;
    Bench *bench = start("units.sp.count=1 sm.result_buses=2 sm.writeback_width=2 "
                         "ops.int_mul.latency=5 ops.int_mul.initiation=1 ops.int_mul.unit=sp "
                         "ops.int_add.latency=4 ops.int_add.initiation=1");
    StageInst slow = {.op_class = ISA_CLASS_INT_MUL}, fast = {.op_class = ISA_CLASS_INT_ADD};
    offer(bench, SM_UNIT_SP, stage_program(bench->stage, &slow), 0);
    offer(bench, SM_UNIT_SP, stage_program(bench->stage, &fast), 1);
    step(bench);
    step(bench);
    assert_int_equal(bench->pipes.under_way, 1);
    step(bench);
    assert_int_equal(bench->pipes.under_way, 2);
    stage_free(bench->stage);
}

static void test_instructions_of_the_load_store_unit_are_left_to_it(void **state) {
    (void)state;
    Bench *bench = start("");
    StageInst load = {.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD};
    offer(bench, SM_UNIT_LDST, stage_program(bench->stage, &load), 0);
    step(bench);
    assert_true(collector_has(&bench->collector, SM_UNIT_LDST));
    assert_int_equal(bench->pipes.under_way, 0);
    stage_free(bench->stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_result_comes_when_latency_and_lanes_say),
        cmocka_unit_test(test_a_pipeline_takes_the_next_after_its_initiation_interval),
        cmocka_unit_test(test_a_booked_result_bus_keeps_an_instruction_out),
        cmocka_unit_test(test_a_pipeline_ends_one_instruction_a_cycle),
        cmocka_unit_test(test_instructions_of_the_load_store_unit_are_left_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
