/* The path from issue to the pipelines, for one sub-core and several: what passes while the
 * load/store unit is busy, what waits for it, and what sub-cores have of their own or share. */
#include "sm/classic/subcore.h"
#include "stage.h"

typedef struct Bench {
    Stage *stage;
    SmPort port;
    SmL1d l1d;
    SmLsu lsu;
    SmSubcores cores;
    uint32_t add, load, fma; /* pcs; sub-cores may share the unit of the fma */
} Bench;

#define ONE "ops.int_add.latency=4 units.sp.lanes=32 shared.latency=2"
#define FOUR                                                                                       \
    ONE " scheduler.count=4 sm.subcores=4 sm.threads=1536 units.sp.count=1 units.sp.issue_slots=1" \
        " ops.int_add.initiation=2 units.dp.count=1 ops.fp64_mad.unit=dp ops.fp64_mad.latency=4"   \
        " ops.fp64_mad.initiation=4"

static Bench *start(const char *settings) {
    Stage *stage = stage_new(settings, 8);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    l1d_init(&bench->l1d, &stage->sm, &bench->port);
    lsu_init(&bench->lsu, &stage->sm, &bench->l1d, &bench->port);
    subcores_init(&bench->cores, stage->sm.config, stage->sm.arena);
    StageInst inst = {.op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .dst = {5}};
    bench->add = stage_program(stage, &inst);
    inst = (StageInst){.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD};
    bench->load = stage_program(stage, &inst);
    inst = (StageInst){.op_class = ISA_CLASS_FP64_MAD, .dst_count = 1, .dst = {6}};
    bench->fma = stage_program(stage, &inst);
    return bench;
}

/* A load from shared memory with `conflicts` conflicts. */
static uint16_t shared_load(Bench *bench, uint8_t warp, uint16_t conflicts) {
    uint16_t inst = stage_memory_inst(bench->stage, bench->load, warp, SM_PATH_SHARED, 0, 1);
    insts_memory_of(&bench->stage->sm.insts, inst)->cycles = conflicts;
    return inst;
}

static SmCollector *collector_of(Bench *bench, int warp) {
    return collectors_of(&bench->cores.collectors, warp);
}

static void step(Bench *bench) {
    SmContext *sm = &bench->stage->sm;
    stage_cycle(bench->stage);
    subcores_write_back(&bench->cores, sm);
    lsu_step(&bench->lsu, sm, &bench->l1d, &bench->port, &bench->cores.writes);
    subcores_step(&bench->cores, sm, &bench->lsu);
}

/* Issues an instruction of each warp at once; `cycles` receives the cycle of each result. */
static void race(Bench *bench, uint32_t pc, SmUnit unit, const uint8_t *warps, uint32_t count,
                 uint32_t *cycles) {
    uint16_t inst[8];
    for (uint32_t i = 0; i < count; i++) {
        inst[i] = stage_inst(bench->stage, pc, warps[i]);
        collector_put(collector_of(bench, warps[i]), unit, inst[i]);
        cycles[i] = 0;
    }
    for (uint32_t cycle = 1; cycle < 64; cycle++) {
        step(bench);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t e = 0; e < bench->stage->sm.events.count; e++)
                if (bench->stage->sm.events.items[e].index == inst[i]) cycles[i] = cycle;
    }
}

/* Issued at t: gets a unit at t + 1, has nothing to read, leaves at t + 2, is in its pipeline at t
 * + 3, and has its result L + 2 later. */
static void test_an_instruction_passes_while_the_load_store_unit_is_busy(void **state) {
    (void)state;
    Bench *bench = start(ONE);
    assert_true(lsu_accept(&bench->lsu, &bench->stage->sm, shared_load(bench, 0, 50)));
    uint16_t add = stage_inst(bench->stage, bench->add, 1);
    collector_put(collector_of(bench, 1), SM_UNIT_SP, add);
    for (int cycle = 1; cycle < 3 + 4 + 2; cycle++) {
        step(bench);
        assert_true(stage_is_silent(bench->stage));
        assert_int_equal(subcores_have_work(&bench->cores, &bench->lsu), cycle < 3);
    }
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, add));
    assert_false(lsu_is_free(&bench->lsu));
    stage_free(bench->stage);
}

static void test_a_load_waits_for_the_latch_and_leaves_when_it_is_taken(void **state) {
    (void)state;
    Bench *bench = start(ONE);
    SmCollector *collector = collector_of(bench, 0);
    assert_true(lsu_accept(&bench->lsu, &bench->stage->sm, shared_load(bench, 0, 10)));
    collector_put(collector, SM_UNIT_LDST, shared_load(bench, 0, 1));
    for (int cycle = 1; cycle < 10; cycle++) {
        step(bench);
        assert_false(collector_is_empty(collector));
        assert_int_equal(subcores_have_work(&bench->cores, &bench->lsu), cycle < 2);
    }
    step(bench); /* the last conflict ends, and the next load is taken in the same cycle */
    assert_true(collector_is_empty(collector));
    assert_false(lsu_is_free(&bench->lsu));
    step(bench);
    assert_true(lsu_is_free(&bench->lsu));
    stage_free(bench->stage);
}

static void test_banks_are_written_for_one_cycle(void **state) {
    (void)state;
    Bench *bench = start(ONE);
    uint16_t add = stage_inst(bench->stage, bench->add, 1);
    uint64_t writes = bench->stage->sm.insts.inst[add].writes;
    collector_write(collector_of(bench, 1), writes);
    assert_false(collector_can_write(collector_of(bench, 1), writes));
    step(bench);
    assert_true(collector_can_write(collector_of(bench, 1), writes));
    stage_free(bench->stage);
}

/* Initiation interval 2: the second add comes two cycles later in the same sub-core, and at once in
 * another. */
static void test_each_sub_core_has_pipelines_of_its_own(void **state) {
    (void)state;
    Bench *bench = start(FOUR);
    uint32_t cycles[4];
    race(bench, bench->add, SM_UNIT_SP, (uint8_t[]){0, 1, 2, 3}, 4, cycles);
    for (int i = 0; i < 4; i++)
        assert_int_equal(cycles[i], 3 + 4 + 2);
    race(bench, bench->add, SM_UNIT_SP, (uint8_t[]){5, 2}, 2, cycles);
    assert_int_equal(cycles[0], cycles[1]);
    stage_free(bench->stage);

    bench = start(FOUR " units.sp.issue_slots=2");
    race(bench, bench->add, SM_UNIT_SP, (uint8_t[]){1, 5}, 2, cycles); /* both in sub-core 1 */
    assert_int_equal(cycles[0] + cycles[1], 2 * (3 + 4 + 2) + 2);
    assert_int_not_equal(cycles[0], cycles[1]);
    stage_free(bench->stage);
}

/* Shared by two, initiation interval 4: the partner waits that long and not a cycle longer. The
 * other pair has its own. */
static void test_sub_cores_that_share_a_pipeline_take_turns_at_it(void **state) {
    (void)state;
    for (uint32_t by = 1; by <= 4; by *= 2) {
        char settings[512];
        snprintf(settings, sizeof settings, "%s units.dp.shared_by=%u", FOUR, by);
        Bench *bench = start(settings);
        uint32_t cycles[4], at[4] = {0};
        race(bench, bench->fma, SM_UNIT_DP, (uint8_t[]){0, 1, 2, 3}, 4, cycles);
        for (int i = 0; i < 4; i++) {
            assert_int_equal((cycles[i] - (3 + 4 + 2)) % 4, 0);
            assert_true((cycles[i] - (3 + 4 + 2)) / 4 < by);
            at[(cycles[i] - (3 + 4 + 2)) / 4]++;
        }
        for (uint32_t turn = 0; turn < by; turn++)
            assert_int_equal(at[turn], 4 / by);
        stage_free(bench->stage);
    }
}

/* Warp 3's load issued before those of the sub-cores that are examined first. */
static void test_the_load_store_unit_takes_the_oldest_load_of_all_sub_cores(void **state) {
    (void)state;
    static const uint8_t warps[] = {3, 1, 2, 0};
    Bench *bench = start(FOUR);
    SmInsts *insts = &bench->stage->sm.insts;
    uint16_t loads[4];
    for (uint32_t i = 0; i < 4; i++) {
        loads[i] = shared_load(bench, warps[i], 1);
        insts->inst[loads[i]].order = 7 + i;
        collector_put(collector_of(bench, warps[i]), SM_UNIT_LDST, loads[i]);
    }
    step(bench);
    step(bench);
    for (uint32_t i = 0; i < 4; i++) {
        step(bench);
        assert_int_equal(bench->lsu.latch, loads[i]);
    }
    stage_free(bench->stage);
}

/* A write takes the bank only in the writer's sub-core. */
static void test_sub_cores_have_banks_of_their_own(void **state) {
    (void)state;
    Bench *bench = start(FOUR);
    uint64_t all = UINT64_MAX;
    collector_write(collector_of(bench, 1), all);
    assert_false(collector_can_write(collector_of(bench, 5), 1));
    assert_true(collector_can_write(collector_of(bench, 2), 1));
    stage_free(bench->stage);
}

static void test_what_memory_returns_is_written_to_the_banks_of_its_sub_core(void **state) {
    (void)state;
    Bench *bench = start(FOUR);
    for (int warp = 0; warp < 8; warp++) {
        bank_writes_add(&bench->cores.writes, warp, 0x4);
        assert_false(collector_can_write(collector_of(bench, warp), 0x4));
        assert_false(bank_writes_can(&bench->cores.writes, warp, 0x6));
        assert_true(bank_writes_can(&bench->cores.writes, warp, 0x3));
        assert_true(bank_writes_can(&bench->cores.writes, warp + 1, 0x4));
        collector_forget_writes(collector_of(bench, warp));
    }
    stage_free(bench->stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_instruction_passes_while_the_load_store_unit_is_busy),
        cmocka_unit_test(test_a_load_waits_for_the_latch_and_leaves_when_it_is_taken),
        cmocka_unit_test(test_banks_are_written_for_one_cycle),
        cmocka_unit_test(test_each_sub_core_has_pipelines_of_its_own),
        cmocka_unit_test(test_sub_cores_that_share_a_pipeline_take_turns_at_it),
        cmocka_unit_test(test_the_load_store_unit_takes_the_oldest_load_of_all_sub_cores),
        cmocka_unit_test(test_sub_cores_have_banks_of_their_own),
        cmocka_unit_test(test_what_memory_returns_is_written_to_the_banks_of_its_sub_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
