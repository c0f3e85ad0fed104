/* Two levels of read-only caches alone: which caches get a line, and when. */
#include "sm/read_levels.h"
#include "stage.h"

enum { A = 0x1000, B = 0x2000, ABOVE = 4, LATENCY = 9 };

typedef struct Bench {
    Stage *stage;
    SmPort port;
    SmReadCache above[ABOVE], below;
    SmReadLevels levels;
} Bench;

static Bench *start(uint32_t count) {
    Stage *stage = stage_new("l1c.miss_queue=1 l1c.mshrs=2 l1c.mshr_merges=2 l15c.latency=9 "
                             "lsu.second_constants=yes",
                             8);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    for (uint32_t i = 0; i < count; i++)
        read_cache_init(&bench->above[i], &stage->sm, &bench->port, &stage->sm.config->l1c,
                        MEM_CLIENT_L1C);
    read_cache_init(&bench->below, &stage->sm, &bench->port, &stage->sm.config->l15c,
                    MEM_CLIENT_L1C);
    read_levels_init(&bench->levels, bench->above, count, &bench->below, stage->sm.arena);
    return bench;
}

static ReadResult look(Bench *bench, int warp, uint64_t address) {
    return read_cache_access(&bench->above[warp & (int)bench->levels.above_mask], &bench->stage->sm,
                             &bench->port, address, SM_NO_PC, (uint32_t)warp, warp);
}

/* Steps until a cache above has received something, for at most `cycles` cycles. Returns the set of
 * caches that have. */
static uint32_t step(Bench *bench, uint32_t cycles) {
    uint32_t filled = 0;
    while (!filled && cycles--) {
        stage_cycle(bench->stage);
        filled = read_levels_step(&bench->levels, &bench->stage->sm, &bench->port);
    }
    return filled;
}

static uint32_t lines_asked_for(const Bench *bench) {
    return bench->port.misses[MEM_CLIENT_L1C].count;
}

static void test_what_is_below_comes_up_after_its_latency_and_no_sooner(void **state) {
    (void)state;
    Bench *bench = start(ABOVE);
    read_cache_fill(&bench->below, A);
    assert_false(read_levels_has_work(&bench->levels));
    assert_int_equal(read_levels_next(&bench->levels), UINT64_MAX);
    assert_int_equal(look(bench, 6, A), READ_WAIT);
    assert_int_equal(read_levels_has_work(&bench->levels), 1);
    assert_int_equal(read_levels_next(&bench->levels), bench->stage->sm.cycle + LATENCY / 2);
    assert_int_equal(step(bench, LATENCY - 1), 0);
    assert_int_equal(read_levels_next(&bench->levels), bench->stage->sm.cycle + 1);
    assert_int_equal(step(bench, 1), 1u << 6 % ABOVE);
    assert_false(read_levels_has_work(&bench->levels));
    assert_int_equal(mshr_pop(&bench->above[6 % ABOVE].mshr), 6);
    for (int i = 0; i < ABOVE; i++)
        assert_int_equal(read_cache_has(&bench->above[i], A), i == 6 % ABOVE);
    assert_int_equal(lines_asked_for(bench), 0);
    stage_free(bench->stage);
}

static void test_what_is_missing_below_is_fetched_once_for_all_above(void **state) {
    (void)state;
    Bench *bench = start(ABOVE);
    assert_int_equal(look(bench, 1, A), READ_WAIT);
    assert_int_equal(look(bench, 3, A), READ_WAIT);
    assert_int_equal(step(bench, 2 * LATENCY), 0);
    assert_int_equal(lines_asked_for(bench), 1);
    assert_int_equal(read_levels_line_arrived(&bench->levels, A), 1u << 1 | 1u << 3);
    assert_true(read_cache_has(&bench->below, A));
    assert_int_equal(mshr_pop(&bench->above[1].mshr), 1);
    assert_int_equal(mshr_pop(&bench->above[3].mshr), 3);
    stage_free(bench->stage);
}

static void test_one_line_a_cycle_is_looked_up(void **state) {
    (void)state;
    Bench *bench = start(ABOVE);
    read_cache_fill(&bench->below, A);
    read_cache_fill(&bench->below, B);
    look(bench, 0, A);
    look(bench, 1, B);
    assert_int_equal(step(bench, LATENCY), 1u << 0);
    assert_int_equal(step(bench, 1), 1u << 1);
    stage_free(bench->stage);
}

static void test_a_queue_between_the_levels_that_is_full_refuses(void **state) {
    (void)state;
    Bench *bench = start(1);
    assert_int_equal(look(bench, 0, A), READ_WAIT);
    assert_int_equal(look(bench, 0, B), READ_REFUSED);
    step(bench, LATENCY / 2);
    assert_int_equal(look(bench, 0, B), READ_WAIT);
    stage_free(bench->stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_below_comes_up_after_its_latency_and_no_sooner),
        cmocka_unit_test(test_what_is_missing_below_is_fetched_once_for_all_above),
        cmocka_unit_test(test_one_line_a_cycle_is_looked_up),
        cmocka_unit_test(test_a_queue_between_the_levels_that_is_full_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
