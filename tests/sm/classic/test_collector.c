/* The operand collector alone: when an instruction leaves it, and what delays it. */
#include <string.h>

#include "sm/classic/collector.h"
#include "stage.h"

#define ONE_UNIT                                                                                   \
    "collector.banks=4 collector.adds_warp=no units.sp.collector_units=1 units.sp.collector_in=1 " \
    "units.sp.collector_out=1 units.sp.issue_slots=2 units.sp.dispatch_slots=1"

static SmCollector *start(Stage *stage) {
    SmCollector *collector = ARENA_ARRAY(stage->sm.arena, SmCollector, 1);
    collector_init(collector, stage->sm.config, stage->sm.arena);
    return collector;
}

static void step(Stage *stage, SmCollector *collector) {
    stage_cycle(stage);
    collector_forget_writes(collector);
    collector_step(collector, &stage->sm);
}

/* Steps until the instruction that was put in comes out; returns the number of steps. */
static uint32_t cycles_through(Stage *stage, SmCollector *collector, uint16_t inst) {
    uint32_t cycles = 0;
    collector_put(collector, SM_UNIT_SP, inst);
    do {
        step(stage, collector);
        cycles++;
        assert_true(cycles < 50);
    } while (!collector_has(collector, SM_UNIT_SP));
    assert_int_equal(collector_peek(collector, SM_UNIT_SP), inst);
    collector_pop(collector, SM_UNIT_SP);
    assert_true(collector_is_empty(collector));
    return cycles;
}

/* One cycle to get a unit, one for each read of the busiest bank, one to leave. */
static void test_an_instruction_leaves_when_its_busiest_bank_has_served_it(void **state) {
    (void)state;
    static const struct {
        uint8_t sources, source[4];
        uint32_t cycles, conflicts;
    } rows[] = {
        {0, {0}, 2, 0},    {1, {5}, 3, 0},           {3, {0, 1, 2}, 3, 0},
        {2, {1, 5}, 4, 1}, {3, {1, 5, 9}, 5, 2 + 1}, {4, {0, 4, 1, 5}, 4, 2},
    };
    Stage *stage = stage_new(ONE_UNIT, 8);
    SmCollector *collector = start(stage);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        StageInst inst = {.src_count = rows[i].sources};
        memcpy(inst.src, rows[i].source, sizeof inst.src);
        uint32_t pc = stage_program(stage, &inst);
        Counters before = stage->sm.counters;
        assert_int_equal(cycles_through(stage, collector, stage_inst(stage, pc, 0)),
                         rows[i].cycles);
        const Counters *c = &stage->sm.counters;
        assert_int_equal(c->register_reads - before.register_reads, rows[i].sources);
        assert_int_equal(c->register_conflict_cycles - before.register_conflict_cycles,
                         rows[i].conflicts);
    }
    stage_free(stage);
}

static void test_the_warp_moves_the_bank_where_the_machine_says_so(void **state) {
    (void)state;
    StageInst reads_one = {.src_count = 1, .src = {0}};
    for (int adds = 0; adds < 2; adds++) {
        Stage *stage = stage_new(adds ? "collector.banks=4 collector.adds_warp=yes"
                                      : "collector.banks=4 collector.adds_warp=no",
                                 8);
        SmCollector *collector = start(stage);
        uint32_t pc = stage_program(stage, &reads_one);
        StageInst writes_one = {.dst_count = 1, .dst = {2}};
        uint32_t writer = stage_program(stage, &writes_one);
        for (uint8_t warp = 0; warp < 2; warp++)
            collector_put(collector, SM_UNIT_SP, stage_inst(stage, pc, warp));
        step(stage, collector);
        step(stage, collector); /* both reads at once, or one after the other */
        assert_int_equal(collector->waiting_reads, adds ? 0 : 1);
        assert_int_equal(collector_banks_of(collector, stage->ops[writer].writes, 5),
                         UINT64_C(1) << (adds ? (2 + 5) % 4 : 2));
        stage_free(stage);
    }
}

static void test_a_bank_that_is_written_serves_no_read_unless_it_has_two_ports(void **state) {
    (void)state;
    for (int blocks = 0; blocks < 2; blocks++) {
        Stage *stage = stage_new(blocks ? ONE_UNIT " collector.writes_block_reads=yes"
                                        : ONE_UNIT " collector.writes_block_reads=no",
                                 8);
        SmCollector *collector = start(stage);
        StageInst reader = {.src_count = 1, .src = {1}};
        uint64_t written = UINT64_C(1) << 5 % 4;
        collector_put(collector, SM_UNIT_SP, stage_inst(stage, stage_program(stage, &reader), 0));
        step(stage, collector);
        for (int i = 0; i < 3; i++) { /* written in three consecutive cycles */
            stage_cycle(stage);
            collector_forget_writes(collector);
            assert_true(collector_can_write(collector, written));
            collector_write(collector, written);
            assert_false(collector_can_write(collector, written));
            collector_step(collector, &stage->sm);
            assert_int_equal(collector->waiting_reads, blocks);
        }
        step(stage, collector);
        assert_int_equal(collector->waiting_reads, 0);
        stage_free(stage);
    }
}

static void test_a_place_is_free_again_once_a_unit_has_the_instruction(void **state) {
    (void)state;
    Stage *stage = stage_new(ONE_UNIT, 8);
    SmCollector *collector = start(stage);
    StageInst reads = {.src_count = 1, .src = {0}};
    uint32_t pc = stage_program(stage, &reads);
    uint16_t first = stage_inst(stage, pc, 0), second = stage_inst(stage, pc, 1);
    assert_int_equal(collector->slots_free[SM_UNIT_SP], 2);
    collector_put(collector, SM_UNIT_SP, first);
    collector_put(collector, SM_UNIT_SP, second);
    assert_int_equal(collector->slots_free[SM_UNIT_SP], 0);
    step(stage, collector); /* the only unit goes to the first */
    assert_int_equal(collector->slots_free[SM_UNIT_SP], 1);
    step(stage, collector);
    assert_int_equal(collector->slots_free[SM_UNIT_SP], 1);
    step(stage, collector); /* it leaves, and the second takes its place in the same cycle */
    assert_int_equal(collector_peek(collector, SM_UNIT_SP), first);
    assert_int_equal(collector->slots_free[SM_UNIT_SP], 2);
    for (int i = 0; i < 5; i++) /* the only place after it is taken: the second waits in its unit */
        step(stage, collector);
    assert_int_equal(collector->out[SM_UNIT_SP].count, 1);
    assert_false(collector_can_move(collector, true) && !collector->out_kinds);
    collector_pop(collector, SM_UNIT_SP);
    assert_false(collector_has(collector, SM_UNIT_SP));
    assert_true(collector_can_move(collector, true));
    step(stage, collector);
    assert_int_equal(collector_peek(collector, SM_UNIT_SP), second);
    stage_free(stage);
}

static void test_units_leave_in_turns(void **state) {
    (void)state;
    Stage *stage = stage_new("units.sp.collector_units=3 units.sp.collector_in=3 "
                             "units.sp.collector_out=1 units.sp.issue_slots=4 "
                             "units.sp.dispatch_slots=4 collector.ideal=yes",
                             8);
    SmCollector *collector = start(stage);
    StageInst reads = {.src_count = 2, .src = {0, 4}}; /* ideal: no bank is read */
    uint32_t pc = stage_program(stage, &reads);
    uint16_t inst[4];
    for (uint8_t i = 0; i < 4; i++) {
        inst[i] = stage_inst(stage, pc, i);
        collector_put(collector, SM_UNIT_SP, inst[i]);
    }
    for (int i = 0; i < 6; i++)
        step(stage, collector);
    /* Unit 0 dispatched last before the start, so unit 1 comes first. The fourth instruction gets
     * the first unit that becomes free, and comes last. */
    static const int order[] = {1, 2, 0, 3};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(collector_peek(collector, SM_UNIT_SP), inst[order[i]]);
        collector_pop(collector, SM_UNIT_SP);
    }
    assert_true(collector_is_empty(collector));
    assert_int_equal(stage->sm.counters.register_reads, 0);
    stage_free(stage);
}

enum { WAITING = 4 };

/* Steps a collector with as many free units as instructions. The first step moves instructions into
 * units. */
static void expect_flow(const char *sets, const uint32_t waiting_before[3],
                        const uint32_t waiting_behind[3]) {
    Stage *stage = stage_new(sets, 8);
    SmCollector *collector = start(stage);
    StageInst reads = {.src_count = 1, .src = {0}}; /* collector.ideal: no bank is read */
    uint32_t pc = stage_program(stage, &reads);
    for (uint8_t i = 0; i < WAITING; i++)
        collector_put(collector, SM_UNIT_SP, stage_inst(stage, pc, i));
    for (int i = 0; i < 3; i++) {
        step(stage, collector);
        assert_int_equal(collector->in[SM_UNIT_SP].count, waiting_before[i]);
        assert_int_equal(collector->slots_free[SM_UNIT_SP], WAITING - waiting_before[i]);
        assert_int_equal(collector->out[SM_UNIT_SP].count, waiting_behind[i]);
    }
    stage_free(stage);
}

#define ROOM_FOR_ALL                                                                               \
    "collector.ideal=yes units.sp.collector_units=4 units.sp.issue_slots=4 "                       \
    "units.sp.dispatch_slots=4 "

static void test_no_more_enter_units_in_a_step_than_collector_in(void **state) {
    (void)state;
    expect_flow(ROOM_FOR_ALL "units.sp.collector_in=1 units.sp.collector_out=4",
                (uint32_t[]){3, 2, 1}, (uint32_t[]){0, 1, 2});
    expect_flow(ROOM_FOR_ALL "units.sp.collector_in=2 units.sp.collector_out=4",
                (uint32_t[]){2, 0, 0}, (uint32_t[]){0, 2, 4});
    expect_flow(ROOM_FOR_ALL "units.sp.collector_in=3 units.sp.collector_out=4",
                (uint32_t[]){1, 0, 0}, (uint32_t[]){0, 3, 4});
}

static void test_no_more_leave_units_in_a_step_than_collector_out(void **state) {
    (void)state;
    expect_flow(ROOM_FOR_ALL "units.sp.collector_in=4 units.sp.collector_out=1",
                (uint32_t[]){0, 0, 0}, (uint32_t[]){0, 1, 2});
    expect_flow(ROOM_FOR_ALL "units.sp.collector_in=4 units.sp.collector_out=3",
                (uint32_t[]){0, 0, 0}, (uint32_t[]){0, 3, 4});
}

static void test_it_has_nothing_to_move_only_when_all_wait_for_the_load_store_unit(void **state) {
    (void)state;
    Stage *stage = stage_new("", 8);
    SmCollector *collector = start(stage);
    StageInst load = {.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD};
    uint16_t inst = stage_inst(stage, stage_program(stage, &load), 0);
    assert_true(collector_is_empty(collector));
    collector_put(collector, SM_UNIT_LDST, inst);
    assert_false(collector_is_empty(collector));
    assert_true(collector_can_move(collector, false));
    step(stage, collector);
    assert_true(collector_can_move(collector, false)); /* it has its operands and can leave */
    step(stage, collector);
    assert_false(collector_can_move(collector, false));
    assert_true(collector_can_move(collector, true));
    collector_pop(collector, SM_UNIT_LDST);
    assert_true(collector_is_empty(collector));
    stage_free(stage);
}

#define SHARED_UNITS                                                                               \
    "collector.banks=4 collector.adds_warp=no collector.units=2 units.sfu.count=1 "                \
    "units.sp.issue_slots=2 units.sp.dispatch_slots=2"

/* Two units: an instruction of a third kind waits until one of them is free, whatever kinds the
 * other two instructions are. */
static void test_units_for_all_kinds_are_taken_by_any(void **state) {
    (void)state;
    Stage *stage = stage_new(SHARED_UNITS, 8);
    SmCollector *collector = start(stage);
    StageInst inst = {.src_count = 3, .src = {1, 5, 9}}; /* three reads of one bank */
    uint32_t slow = stage_program(stage, &inst);
    inst = (StageInst){.src_count = 1, .src = {2}};
    uint32_t fast = stage_program(stage, &inst);
    collector_put(collector, SM_UNIT_SP, stage_inst(stage, slow, 0));
    collector_put(collector, SM_UNIT_SFU, stage_inst(stage, fast, 0));
    collector_put(collector, SM_UNIT_LDST, stage_inst(stage, fast, 0));
    step(stage, collector); /* both units are taken */
    step(stage, collector); /* the SFU's operand is read */
    assert_int_equal(collector->in[SM_UNIT_LDST].count, 1);
    step(stage, collector); /* its unit takes the load next */
    assert_true(collector_has(collector, SM_UNIT_SFU));
    assert_int_equal(collector->in[SM_UNIT_LDST].count, 0);
    assert_false(collector_has(collector, SM_UNIT_SP));
    step(stage, collector);
    step(stage, collector);
    assert_true(collector_has(collector, SM_UNIT_SP) && collector_has(collector, SM_UNIT_LDST));
    for (SmUnit unit = 0; unit < SM_UNITS; unit++)
        if (collector_has(collector, unit)) collector_pop(collector, unit);
    assert_true(collector_is_empty(collector));
    stage_free(stage);
}

/* With two steps per cycle an instruction leaves in the first step of the next cycle, and up to two
 * reads of a bank add no time. A write blocks only the first step. */
static void test_two_steps_a_cycle_read_a_bank_twice(void **state) {
    (void)state;
    static const struct {
        uint8_t sources, source[4];
        uint32_t cycles;
    } rows[] = {{0, {0}, 1}, {1, {5}, 2}, {2, {1, 5}, 2}, {3, {1, 5, 9}, 3}, {4, {1, 5, 9, 13}, 3}};
    Stage *stage = stage_new(ONE_UNIT " collector.steps=2", 8);
    SmCollector *collector = start(stage);
    uint32_t pc = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        StageInst inst = {.src_count = rows[i].sources};
        memcpy(inst.src, rows[i].source, sizeof inst.src);
        pc = stage_program(stage, &inst);
        assert_int_equal(cycles_through(stage, collector, stage_inst(stage, pc, 0)),
                         rows[i].cycles);
    }
    collector_put(collector, SM_UNIT_SP, stage_inst(stage, pc, 0)); /* four reads of bank 1 */
    step(stage, collector);                                         /* one is read */
    stage_cycle(stage);
    collector_forget_writes(collector);
    collector_write(collector, 1u << 1);
    collector_step(collector, &stage->sm); /* one more is read, not two */
    assert_int_equal(collector->waiting_reads, 2);
    stage_free(stage);
}

/* The number of reads that an instruction makes after others of the same sub-core. */
static uint32_t reads_of(Stage *stage, SmCollector *collector, uint32_t pc, uint8_t warp) {
    uint16_t index = stage_inst(stage, pc, warp);
    SmInst *inst = &stage->sm.insts.inst[index];
    collector_keep_operands(collector, &stage->sm, inst);
    uint64_t before = stage->sm.counters.register_reads;
    cycles_through(stage, collector, index);
    uint32_t reads = (uint32_t)(stage->sm.counters.register_reads - before);
    assert_int_equal(reads, inst->read_count);
    return reads;
}

static void test_an_operand_is_used_again_in_its_place_until_it_is_written(void **state) {
    (void)state;
    Stage *stage = stage_new(ONE_UNIT " collector.reuse=yes", 8);
    SmCollector *collector = start(stage);
    StageInst inst = {.dst_count = 1, .dst = {7}, .src_count = 3, .src = {1, 2, 3}};
    uint32_t fma = stage_program(stage, &inst);
    inst = (StageInst){.dst_count = 1, .dst = {8}, .src_count = 3, .src = {2, 1, 3}};
    uint32_t crossed = stage_program(stage, &inst);
    inst = (StageInst){.dst_count = 1, .dst = {3}, .src_count = 3, .src = {1, 2, 3}};
    uint32_t sum = stage_program(stage, &inst);
    assert_int_equal(reads_of(stage, collector, fma, 0), 3);
    assert_int_equal(reads_of(stage, collector, fma, 0), 0);     /* all are reused */
    assert_int_equal(reads_of(stage, collector, crossed, 0), 2); /* only register 3 is in place */
    assert_int_equal(reads_of(stage, collector, crossed, 4), 3); /* another warp */
    assert_int_equal(reads_of(stage, collector, crossed, 0), 3); /* so the first warp's are gone */
    assert_int_equal(reads_of(stage, collector, sum, 0), 2);
    assert_int_equal(reads_of(stage, collector, sum, 0), 1); /* register 3 has been written */
    stage_free(stage);
}

/* An instruction in front of a full queue stays there. The collector examines nothing until the
 * queue has room. */
static void test_a_collector_that_is_stuck_goes_on_when_something_leaves(void **state) {
    (void)state;
    Stage *stage = stage_new(ONE_UNIT, 8);
    SmCollector *collector = start(stage);
    uint32_t pc = stage_program(stage, &(StageInst){.src_count = 1});
    collector_put(collector, SM_UNIT_SP, stage_inst(stage, pc, 0));
    for (int i = 0; i < 4; i++)
        step(stage, collector);
    collector_put(collector, SM_UNIT_SP, stage_inst(stage, pc, 1));
    for (int i = 0; i < 8; i++)
        step(stage, collector);
    assert_true(collector->is_stuck); /* the one in the unit finds the output queue full */
    collector_put(collector, SM_UNIT_SP, stage_inst(stage, pc, 2));
    assert_false(collector->is_stuck);
    for (int i = 0; i < 8; i++)
        step(stage, collector);
    assert_true(collector->is_stuck);
    for (int left = 3; left > 0; left--) {
        assert_true(collector_has(collector, SM_UNIT_SP));
        collector_pop(collector, SM_UNIT_SP);
        for (int i = 0; i < 8; i++)
            step(stage, collector);
    }
    assert_true(collector_is_empty(collector));
    assert_int_equal(stage->sm.counters.register_reads, 3);
    stage_free(stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_instruction_leaves_when_its_busiest_bank_has_served_it),
        cmocka_unit_test(test_the_warp_moves_the_bank_where_the_machine_says_so),
        cmocka_unit_test(test_a_bank_that_is_written_serves_no_read_unless_it_has_two_ports),
        cmocka_unit_test(test_a_place_is_free_again_once_a_unit_has_the_instruction),
        cmocka_unit_test(test_no_more_enter_units_in_a_step_than_collector_in),
        cmocka_unit_test(test_no_more_leave_units_in_a_step_than_collector_out),
        cmocka_unit_test(test_units_leave_in_turns),
        cmocka_unit_test(test_units_for_all_kinds_are_taken_by_any),
        cmocka_unit_test(test_two_steps_a_cycle_read_a_bank_twice),
        cmocka_unit_test(test_an_operand_is_used_again_in_its_place_until_it_is_written),
        cmocka_unit_test(test_a_collector_that_is_stuck_goes_on_when_something_leaves),
        cmocka_unit_test(test_it_has_nothing_to_move_only_when_all_wait_for_the_load_store_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
