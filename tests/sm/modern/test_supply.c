/* The supply of an instruction: its line of code, and its constant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sm/modern/constants.h"
#include "sm/modern/front.h"

enum {
    CODE = 0x100000,
    LINE = 128,
    END = CODE + 64 * LINE,
    NOW = 1000,
    FETCH = 20, /* modern.fetch_latency */
    BEYOND = 90 /* modern.code_latency */
};

typedef struct Bench {
    Arena *arena;
    SmConfig config;
    Counters counters;
    ModernFront front;
} Bench;

static void start(Bench *bench, uint32_t ahead) {
    memset(bench, 0, sizeof *bench);
    bench->arena = arena_new();
    bench->config.subcores = 2;
    bench->config.l0i = (CacheConfig){.size_bytes = 1024, .line_bytes = LINE, .ways = 2};
    bench->config.l1i = (CacheConfig){.size_bytes = 16384, .line_bytes = LINE, .ways = 4};
    bench->config.modern =
        (SmModernConfig){.fetch_latency = FETCH, .code_latency = BEYOND, .stream_buffer = ahead};
    front_init(&bench->front, &bench->config, bench->arena);
    front_start(&bench->front);
    for (int warp = 0; warp < 8; warp++)
        front_start_warp(&bench->front, warp);
}

static uint64_t need(Bench *bench, int warp, uint64_t address, uint64_t cycle) {
    return front_need(&bench->front, &bench->counters, warp, address, END, cycle);
}

static void test_a_line_comes_once(void **state) {
    (void)state;
    Bench bench;
    start(&bench, 0);
    assert_int_equal(need(&bench, 0, CODE + 16, NOW), NOW + BEYOND + FETCH);
    /* the other sub-core's line comes from l1i, once that has it */
    assert_int_equal(need(&bench, 1, CODE + 32, NOW + 10), NOW + BEYOND + FETCH);
    /* another warp of the sub-core finds the line on its way, and later there */
    assert_int_equal(need(&bench, 2, CODE, NOW + 50), NOW + BEYOND + FETCH);
    assert_int_equal(need(&bench, 4, CODE + LINE - 16, NOW + 500), NOW + 500);
    assert_int_equal(need(&bench, 4, CODE + 32, NOW + 501), NOW + 501); /* the line it has */
    assert_int_equal(bench.counters.l1i_accesses, 2);
    assert_int_equal(bench.counters.l1i_misses, 1);
    arena_free(bench.arena);
}

static void test_the_other_subcore_finds_it_in_l1i(void **state) {
    (void)state;
    Bench bench;
    start(&bench, 0);
    need(&bench, 0, CODE, NOW);
    assert_int_equal(need(&bench, 1, CODE, NOW + 500), NOW + 500 + FETCH);
    assert_int_equal(need(&bench, 3, CODE, NOW + 500), NOW + 500 + FETCH);
    assert_int_equal(need(&bench, 2, CODE, NOW + 500), NOW + 500);
    arena_free(bench.arena);
}

static void test_l1i_looks_up_a_line_a_cycle(void **state) {
    (void)state;
    Bench bench;
    start(&bench, 0);
    for (int warp = 0; warp < 4; warp++)
        assert_int_equal(need(&bench, warp, CODE + (uint64_t)warp * LINE, NOW),
                         NOW + (uint64_t)warp + BEYOND + FETCH);
    arena_free(bench.arena);
}

static void test_lines_behind_a_miss_are_asked_for_ahead(void **state) {
    (void)state;
    Bench bench;
    start(&bench, 3);
    need(&bench, 0, CODE, NOW);
    assert_int_equal(bench.counters.l1i_accesses, 4);
    assert_int_equal(need(&bench, 0, CODE + LINE, NOW + 50), NOW + 1 + BEYOND + FETCH);
    assert_int_equal(bench.counters.l1i_accesses, 5); /* the next line after them */
    assert_int_equal(need(&bench, 0, CODE + 3 * LINE, NOW + 500), NOW + 500);
    assert_int_equal(bench.counters.l1i_accesses, 7);
    /* elsewhere: a new stream begins */
    assert_int_equal(need(&bench, 0, CODE + 20 * LINE, NOW + 900), NOW + 900 + BEYOND + FETCH);
    assert_int_equal(bench.counters.l1i_accesses, 11);
    arena_free(bench.arena);
}

static void test_one_sub_cores_stream_delays_no_other(void **state) {
    (void)state;
    Bench bench;
    start(&bench, 8);
    need(&bench, 0, CODE, NOW);
    assert_int_equal(need(&bench, 1, CODE + 20 * LINE, NOW + 2), NOW + 2 + BEYOND + FETCH);
    assert_int_equal(need(&bench, 1, CODE + 22 * LINE, NOW + 50), NOW + 4 + BEYOND + FETCH);
    arena_free(bench.arena);
}

static void test_nothing_is_asked_for_behind_the_program(void **state) {
    (void)state;
    Bench bench;
    start(&bench, 8);
    need(&bench, 0, END - 2 * LINE, NOW);
    assert_int_equal(bench.counters.l1i_accesses, 2);
    arena_free(bench.arena);
}

static void test_the_least_recently_used_line_goes(void **state) {
    (void)state;
    Arena *arena = arena_new();
    ModernTags tags;
    tags_init(&tags, 4 * 64, 64, 2, arena); /* two sets */
    assert_null(tags_find(&tags, 0));
    tags_put(&tags, 0, 5);
    tags_put(&tags, 128, 6);
    assert_int_equal(tags_find(&tags, 63)->ready, 5);
    tags_put(&tags, 256, 7);
    assert_null(tags_find(&tags, 128));
    assert_int_equal(tags_find(&tags, 0)->ready, 5);
    assert_int_equal(tags_find(&tags, 300)->ready, 7);
    assert_null(tags_find(&tags, 64)); /* the other set */
    tags_clear(&tags);
    assert_null(tags_find(&tags, 0));
    arena_free(arena);
}

static void test_a_constant_that_misses_keeps_its_warp(void **state) {
    (void)state;
    Arena *arena = arena_new();
    const SmModernConfig config = {
        .constant_bytes = 2048, .constant_line_bytes = 64, .constant_ways = 4, .constant_miss = 79};
    ModernConstants constants;
    constants_init(&constants, &config, arena);
    const uint32_t parameter = 1u << 31 | 0x210;
    assert_int_equal(constants_need(&constants, 0, parameter, 1000), 1079);
    assert_int_equal(constants_need(&constants, 0, parameter + 8, 1078), 1079);
    assert_int_equal(constants_need(&constants, 0, parameter, 1079), 1079);
    assert_int_equal(constants_need(&constants, 0, parameter, 2000), 2000);
    assert_int_equal(constants_need(&constants, 0, parameter + 64, 2000), 2079);
    assert_int_equal(constants_need(&constants, 1, parameter, 2000), 2079); /* another grid's */
    constants_start(&constants);
    assert_int_equal(constants_need(&constants, 0, parameter, 3000), 3079);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_comes_once),
        cmocka_unit_test(test_the_other_subcore_finds_it_in_l1i),
        cmocka_unit_test(test_l1i_looks_up_a_line_a_cycle),
        cmocka_unit_test(test_lines_behind_a_miss_are_asked_for_ahead),
        cmocka_unit_test(test_one_sub_cores_stream_delays_no_other),
        cmocka_unit_test(test_nothing_is_asked_for_behind_the_program),
        cmocka_unit_test(test_the_least_recently_used_line_goes),
        cmocka_unit_test(test_a_constant_that_misses_keeps_its_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
