/* Memory instructions on their way to the load/store unit: the cycles in which a sub-core can issue
 * them, compared with Huerta's measurements. */
#include "sm/modern/memory.h"
#include "stage.h"

enum { MOST = 12 };

typedef struct Bench {
    Stage *stage;
    SmPort port;
    SmL1d l1d;
    SmLsu lsu;
    ModernMemory memory;
    uint32_t load;
} Bench;

static Bench *start(const char *settings) {
    Stage *stage = stage_new(settings, 64);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    l1d_init(&bench->l1d, &stage->sm, &bench->port);
    lsu_init(&bench->lsu, &stage->sm, &bench->l1d, &bench->port);
    memory_init(&bench->memory, &stage->config->sm);
    memory_start(&bench->memory);
    const StageInst load = {
        .op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD, .dst_count = 1, .dst = {3}};
    bench->load = stage_program(stage, &load);
    return bench;
}

static uint16_t make(Bench *bench, uint8_t warp, uint32_t order) {
    const uint16_t inst = stage_memory_inst(bench->stage, bench->load, warp, SM_PATH_SHARED, 0, 1);
    bench->stage->sm.insts.inst[inst].order = order;
    insts_memory_of(&bench->stage->sm.insts, inst)->cycles = 1;
    return inst;
}

/* The unit is done with what it took in the previous cycle. */
static void clear_latch(Bench *bench) {
    if (lsu_is_free(&bench->lsu)) return;
    insts_handed_on(&bench->stage->sm.insts, bench->lsu.latch);
    insts_free(&bench->stage->sm.insts, bench->lsu.latch);
    bench->lsu.latch = SM_NONE;
}

/* The cycles in which each of `subcores` sub-cores issues its first loads: one per cycle while
 * there is room, the first in cycle 2. */
static void issue_all(Bench *bench, uint32_t subcores, uint64_t cycles[SM_MAX_SUBCORES][MOST]) {
    uint32_t issued[SM_MAX_SUBCORES] = {0}, order = 0, done = 0;
    const uint64_t first = bench->stage->sm.cycle;
    while (done < subcores) {
        stage_cycle(bench->stage);
        clear_latch(bench);
        memory_step(&bench->memory, &bench->stage->sm, &bench->lsu);
        done = 0;
        for (uint32_t s = 0; s < subcores; s++) {
            if (issued[s] < MOST && memory_has_room(&bench->memory, s)) {
                cycles[s][issued[s]++] = bench->stage->sm.cycle - first + 1;
                memory_put(&bench->memory, s, make(bench, (uint8_t)s, order++),
                           bench->stage->sm.cycle);
            }
            done += issued[s] == MOST;
        }
    }
}

/* Five consecutive issues, then one for each load that leaves: the sixth at 13, and further ones 4
 * cycles apart for one or two sub-cores, 6 for three, 8 for four (Huerta, table 1). */
static void test_issue_follows_the_published_table(void **state) {
    (void)state;
    static const uint64_t apart[] = {4, 4, 6, 8};
    for (uint32_t subcores = 1; subcores <= 4; subcores++) {
        Bench *bench = start("sm.subcores=4 scheduler.count=4 sm.core=modern");
        uint64_t cycles[SM_MAX_SUBCORES][MOST];
        issue_all(bench, subcores, cycles);
        for (uint32_t s = 0; s < subcores; s++) {
            for (uint64_t i = 0; i < 5; i++)
                assert_int_equal(cycles[s][i], 2 + i);
            assert_in_range(cycles[s][5], 13, 13 + 2 * (subcores - 1));
            for (int i = 7; i < MOST; i++)
                assert_int_equal(cycles[s][i] - cycles[s][i - 1], apart[subcores - 1]);
        }
        stage_free(bench->stage);
    }
}

static void test_none_goes_before_its_addresses_are_there(void **state) {
    (void)state;
    for (uint32_t entry = 1; entry < 20; entry += 6) {
        char settings[96];
        snprintf(settings, sizeof settings,
                 "sm.subcores=4 scheduler.count=4 sm.core=modern modern.memory_entry=%u", entry);
        Bench *bench = start(settings);
        stage_cycle(bench->stage);
        const uint64_t issued = bench->stage->sm.cycle;
        const uint16_t inst = make(bench, 1, 0);
        memory_put(&bench->memory, 1, inst, issued);
        assert_int_equal(memory_next(&bench->memory, &bench->lsu, issued), issued + entry);
        while (bench->stage->sm.cycle + 1 < issued + entry) {
            stage_cycle(bench->stage);
            assert_int_equal(memory_step(&bench->memory, &bench->stage->sm, &bench->lsu), SM_NONE);
        }
        stage_cycle(bench->stage);
        assert_int_equal(memory_step(&bench->memory, &bench->stage->sm, &bench->lsu), inst);
        assert_int_equal(memory_next(&bench->memory, &bench->lsu, issued), UINT64_MAX);
        stage_free(bench->stage);
    }
}

/* Independent of the number of its sub-core. */
static void test_the_oldest_goes_first(void **state) {
    (void)state;
    Bench *bench = start("sm.subcores=4 scheduler.count=4 sm.core=modern");
    const uint32_t orders[] = {7, 5, 8, 6};
    uint16_t insts[4];
    for (uint32_t s = 0; s < 4; s++) {
        insts[s] = make(bench, (uint8_t)s, orders[s]);
        memory_put(&bench->memory, s, insts[s], bench->stage->sm.cycle);
    }
    const uint16_t expected[] = {insts[1], insts[3], insts[0], insts[2]};
    for (int taken = 0; taken < 4;) {
        stage_cycle(bench->stage);
        clear_latch(bench);
        const uint16_t inst = memory_step(&bench->memory, &bench->stage->sm, &bench->lsu);
        if (inst != SM_NONE) assert_int_equal(inst, expected[taken++]);
    }
    stage_free(bench->stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_issue_follows_the_published_table),
        cmocka_unit_test(test_none_goes_before_its_addresses_are_there),
        cmocka_unit_test(test_the_oldest_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
