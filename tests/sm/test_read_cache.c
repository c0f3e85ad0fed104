/* A read-only cache alone, with hostile limits. */
#include "sm/read_cache.h"
#include "stage.h"

enum { A = 0x1000, B = 0x2000, C = 0x3000 };

typedef struct Bench {
    Stage *stage;
    SmPort port;
    SmReadCache cache;
} Bench;

static Bench *start(const char *settings) {
    Stage *stage = stage_new(settings, 8);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    read_cache_init(&bench->cache, &stage->sm, &bench->port, &stage->sm.config->l1c,
                    MEM_CLIENT_L1C);
    return bench;
}

static ReadResult look(Bench *bench, uint64_t address, uint32_t waiter) {
    return read_cache_access(&bench->cache, &bench->stage->sm, &bench->port, address, SM_NO_PC,
                             waiter, 7);
}

static void test_a_missing_line_is_asked_for_once_and_then_there(void **state) {
    (void)state;
    Bench *bench = start("");
    uint32_t line = bench->cache.fill_bytes;
    assert_false(read_cache_has(&bench->cache, A));
    assert_int_equal(look(bench, A + 4, 11), READ_WAIT);
    assert_int_equal(look(bench, A + line - 4, 12), READ_WAIT);
    const SmSendQueue *misses = &bench->port.misses[MEM_CLIENT_L1C];
    assert_int_equal(misses->count, 1);
    const SmSend *send = &misses->items[0];
    assert_int_equal(send->access.address, A);
    assert_int_equal(send->access.bytes, line);
    assert_int_equal(send->access.sectors, (1u << (line + 31) / 32) - 1);
    assert_int_equal(send->op, MEM_OP_READ);
    assert_int_equal(send->client, MEM_CLIENT_L1C);
    assert_int_equal(send->warp, 7);
    assert_false(read_cache_has(&bench->cache, A));
    assert_false(mshr_has_ready(&bench->cache.mshr));
    read_cache_fill(&bench->cache, A);
    assert_int_equal(mshr_pop(&bench->cache.mshr), 11);
    assert_int_equal(mshr_pop(&bench->cache.mshr), 12);
    assert_false(mshr_has_ready(&bench->cache.mshr));
    assert_true(read_cache_has(&bench->cache, A + line - 1));
    assert_false(read_cache_has(&bench->cache, A + line));
    assert_int_equal(look(bench, A, 13), READ_HIT);
    stage_free(bench->stage);
}

static void test_a_line_smaller_than_a_sector_asks_for_one(void **state) {
    (void)state;
    Bench *bench = start("l1c.line=16B");
    assert_int_equal(look(bench, A + 16, 1), READ_WAIT);
    const SmSend *send = &bench->port.misses[MEM_CLIENT_L1C].items[0];
    assert_int_equal(send->access.address, A + 16);
    assert_int_equal(send->access.bytes, 16);
    assert_int_equal(send->access.sectors, 1);
    stage_free(bench->stage);
}

static void test_two_mshrs_take_two_lines(void **state) {
    (void)state;
    Bench *bench = start("l1c.mshrs=2 l1c.mshr_merges=2 l1c.miss_queue=8");
    assert_int_equal(look(bench, A, 1), READ_WAIT);
    assert_int_equal(look(bench, B, 2), READ_WAIT);
    assert_int_equal(look(bench, C, 3), READ_REFUSED);
    assert_int_equal(look(bench, B, 4), READ_WAIT);    /* the second for the MSHR */
    assert_int_equal(look(bench, B, 5), READ_REFUSED); /* but not the third */
    read_cache_fill(&bench->cache, A);
    assert_int_equal(look(bench, C, 3), READ_REFUSED); /* until the waiting one is taken */
    assert_int_equal(mshr_pop(&bench->cache.mshr), 1);
    assert_int_equal(look(bench, C, 3), READ_WAIT);
    assert_int_equal(look(bench, A, 6), READ_HIT);
    stage_free(bench->stage);
}

static void test_a_miss_queue_of_one_takes_one(void **state) {
    (void)state;
    Bench *bench = start("l1c.mshrs=8 l1c.miss_queue=1");
    assert_int_equal(look(bench, A, 1), READ_WAIT);
    assert_int_equal(look(bench, B, 2), READ_REFUSED);
    assert_true(port_step_misses(&bench->port, &bench->stage->sm, MEM_CLIENT_L1C));
    assert_int_equal(look(bench, B, 2), READ_WAIT);
    stage_free(bench->stage);
}

/* Lines of one set: their addresses are size / ways apart. */
static void test_a_set_full_of_lines_under_way_refuses_on_miss_and_not_on_fill(void **state) {
    (void)state;
    for (int on_fill = 0; on_fill < 2; on_fill++) {
        Bench *bench = start(on_fill ? "l1c.allocate=on-fill l1c.mshrs=32 l1c.miss_queue=32"
                                     : "l1c.allocate=on-miss l1c.mshrs=32 l1c.miss_queue=32");
        const CacheConfig *config = bench->cache.config;
        uint64_t apart = config->size_bytes / config->ways;
        for (uint64_t way = 0; way < config->ways; way++)
            assert_int_equal(look(bench, way * apart, 1), READ_WAIT);
        assert_int_equal(look(bench, config->ways * apart, 1), on_fill ? READ_WAIT : READ_REFUSED);
        read_cache_fill(&bench->cache, 0);
        assert_int_equal(look(bench, config->ways * apart, 1), READ_WAIT);
        stage_free(bench->stage);
    }
}

static void test_the_line_used_longest_ago_goes(void **state) {
    (void)state;
    Bench *bench = start("l1c.ways=4 l1c.mshrs=32 l1c.miss_queue=32 l1c.replacement=lru");
    const CacheConfig *config = bench->cache.config;
    uint64_t apart = config->size_bytes / config->ways;
    for (uint64_t way = 0; way < config->ways; way++) {
        assert_int_equal(look(bench, way * apart, 1), READ_WAIT);
        read_cache_fill(&bench->cache, way * apart);
    }
    assert_int_equal(look(bench, 0, 1), READ_HIT);     /* the oldest two, used again: */
    assert_int_equal(look(bench, apart, 1), READ_HIT); /* found at once, and by a search */
    assert_int_equal(look(bench, config->ways * apart, 1), READ_WAIT);
    read_cache_fill(&bench->cache, config->ways * apart);
    assert_true(read_cache_has(&bench->cache, 0));
    assert_true(read_cache_has(&bench->cache, apart));
    assert_false(read_cache_has(&bench->cache, 2 * apart));
    stage_free(bench->stage);
}

static void test_a_kernels_start_drops_lines_where_the_machine_says_so(void **state) {
    (void)state;
    for (int never = 0; never < 2; never++) {
        Bench *bench = start(never ? "l1c.flush=never" : "l1c.flush=kernel");
        look(bench, A, 1);
        read_cache_fill(&bench->cache, A);
        read_cache_start_kernel(&bench->cache);
        assert_int_equal(read_cache_has(&bench->cache, A), never);
        stage_free(bench->stage);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_missing_line_is_asked_for_once_and_then_there),
        cmocka_unit_test(test_a_line_smaller_than_a_sector_asks_for_one),
        cmocka_unit_test(test_two_mshrs_take_two_lines),
        cmocka_unit_test(test_a_miss_queue_of_one_takes_one),
        cmocka_unit_test(test_a_set_full_of_lines_under_way_refuses_on_miss_and_not_on_fill),
        cmocka_unit_test(test_the_line_used_longest_ago_goes),
        cmocka_unit_test(test_a_kernels_start_drops_lines_where_the_machine_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
