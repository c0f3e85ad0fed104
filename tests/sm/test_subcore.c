/* The part from issue to the pipelines, as one: what passes through it while the load/store unit is
 * busy, and what waits for that. */
#include "sm/subcore.h"
#include "stage.h"

typedef struct Bench {
    Stage *stage;
    SmPort port;
    SmL1d l1d;
    SmLsu lsu;
    SmSubcore core;
    uint32_t add, load; /* pcs */
} Bench;

static Bench *start(void) {
    Stage *stage = stage_new("ops.int_add.latency=4 units.sp.lanes=32 shared.latency=2", 8);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    l1d_init(&bench->l1d, &stage->sm, &bench->port);
    lsu_init(&bench->lsu, &stage->sm, &bench->port);
    subcore_init(&bench->core, stage->sm.config, stage->sm.arena);
    StageInst inst = {.op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .dst = {5}};
    bench->add = stage_program(stage, &inst);
    inst = (StageInst){.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD};
    bench->load = stage_program(stage, &inst);
    return bench;
}

/* A load from shared memory with so many conflicts. */
static uint16_t shared_load(Bench *bench, uint16_t conflicts) {
    uint16_t inst = stage_memory_inst(bench->stage, bench->load, 0, SM_PATH_SHARED, 0, 1);
    insts_memory_of(&bench->stage->sm.insts, inst)->cycles = conflicts;
    return inst;
}

static void step(Bench *bench) {
    SmContext *sm = &bench->stage->sm;
    stage_cycle(bench->stage);
    subcore_write_back(&bench->core, sm);
    lsu_step(&bench->lsu, sm, &bench->l1d, &bench->port, &bench->core.collector);
    subcore_step(&bench->core, sm, &bench->lsu);
}

/* Issued at t: a unit at t + 1, nothing to read, out at t + 2, in its pipeline at t + 3, and the
 * result L + 2 later. */
static void test_an_instruction_passes_while_the_load_store_unit_is_busy(void **state) {
    (void)state;
    Bench *bench = start();
    assert_true(lsu_accept(&bench->lsu, &bench->stage->sm, shared_load(bench, 50)));
    uint16_t add = stage_inst(bench->stage, bench->add, 1);
    collector_put(&bench->core.collector, SM_UNIT_SP, add);
    for (int cycle = 1; cycle < 3 + 4 + 2; cycle++) {
        step(bench);
        assert_true(stage_is_silent(bench->stage));
        assert_int_equal(subcore_has_work(&bench->core, &bench->lsu), cycle < 3);
    }
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, add));
    assert_false(lsu_is_free(&bench->lsu));
    stage_free(bench->stage);
}

static void test_a_load_waits_for_the_latch_and_leaves_when_it_is_taken(void **state) {
    (void)state;
    Bench *bench = start();
    SmCollector *collector = &bench->core.collector;
    assert_true(lsu_accept(&bench->lsu, &bench->stage->sm, shared_load(bench, 10)));
    collector_put(collector, SM_UNIT_LDST, shared_load(bench, 1));
    for (int cycle = 1; cycle < 10; cycle++) {
        step(bench);
        assert_false(collector_is_empty(collector));
        assert_int_equal(subcore_has_work(&bench->core, &bench->lsu), cycle < 2);
    }
    step(bench); /* the last conflict is over, and the next is taken in the same cycle */
    assert_true(collector_is_empty(collector));
    assert_false(lsu_is_free(&bench->lsu));
    step(bench);
    assert_true(lsu_is_free(&bench->lsu));
    stage_free(bench->stage);
}

static void test_banks_are_written_for_one_cycle(void **state) {
    (void)state;
    Bench *bench = start();
    uint16_t add = stage_inst(bench->stage, bench->add, 1);
    collector_write(&bench->core.collector, bench->stage->sm.insts.inst[add].writes);
    assert_false(
        collector_can_write(&bench->core.collector, bench->stage->sm.insts.inst[add].writes));
    step(bench);
    assert_true(
        collector_can_write(&bench->core.collector, bench->stage->sm.insts.inst[add].writes));
    stage_free(bench->stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_instruction_passes_while_the_load_store_unit_is_busy),
        cmocka_unit_test(test_a_load_waits_for_the_latch_and_leaves_when_it_is_taken),
        cmocka_unit_test(test_banks_are_written_for_one_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
