/* What an instruction has to be supplied with: its line of code, and its constant. */
#include "sm/modern/constants.h"
#include "sm/modern/front.h"
#include "stage.h"

enum { CODE = 0x100000, LINE = 128, END = CODE + 64 * LINE, WAIT = 20 };

typedef struct Bench {
    Stage *stage;
    SmPort port;
    ModernFront front;
} Bench;

static Bench *start(const char *more) {
    char settings[256];
    snprintf(
        settings, sizeof settings,
        "sm.core=modern sm.subcores=2 scheduler.count=2 l0i.size=1KiB l0i.ways=2 l1i.size=16KiB "
        "l1i.mshrs=32 l1i.miss_queue=32 modern.fetch_latency=20 %s",
        more);
    Stage *stage = stage_new(settings, 64);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    front_init(&bench->front, &stage->sm, &bench->port);
    front_start(&bench->front);
    for (int warp = 0; warp < 8; warp++)
        front_start_warp(&bench->front, warp);
    return bench;
}

static uint64_t need(Bench *bench, int warp, uint64_t address) {
    return front_need(&bench->front, &bench->stage->sm, &bench->port, warp, address, END,
                      bench->stage->sm.cycle);
}

static uint64_t arrive(Bench *bench, uint64_t line) {
    return front_line_arrived(&bench->front, &bench->stage->sm, line);
}

static uint32_t asked(const Bench *bench) { return bench->port.misses[MEM_CLIENT_L1I].count; }

static void test_a_line_comes_from_l2_once(void **state) {
    (void)state;
    Bench *bench = start("modern.stream_buffer=0");
    assert_int_equal(need(bench, 0, CODE + 16), UINT64_MAX);
    assert_int_equal(need(bench, 1, CODE + 32), UINT64_MAX); /* of the other sub-core */
    assert_int_equal(asked(bench), 1);
    assert_int_equal(bench->front.waits, 3);
    stage_cycle(bench->stage);
    assert_int_equal(arrive(bench, CODE), 3);
    assert_int_equal(bench->front.waits, 0);
    const uint64_t now = bench->stage->sm.cycle;
    assert_int_equal(need(bench, 2, CODE), now + WAIT); /* on its way from l1i */
    while (bench->stage->sm.cycle < now + WAIT)
        stage_cycle(bench->stage);
    assert_int_equal(need(bench, 4, CODE + LINE - 16), now + WAIT);
    assert_int_equal(need(bench, 4, CODE + 32), now + WAIT); /* the warp's own line */
    assert_int_equal(asked(bench), 1);
    stage_free(bench->stage);
}

/* What one sub-core brought is in the SM's cache for the other. */
static void test_the_other_subcore_finds_it_in_l1i(void **state) {
    (void)state;
    Bench *bench = start("modern.stream_buffer=0");
    need(bench, 0, CODE);
    arrive(bench, CODE);
    for (int i = 0; i < 100; i++)
        stage_cycle(bench->stage);
    const uint64_t now = bench->stage->sm.cycle;
    assert_int_equal(need(bench, 1, CODE), now + WAIT);
    assert_int_equal(need(bench, 3, CODE), now + WAIT);
    assert_int_equal(need(bench, 2, CODE), now);
    stage_free(bench->stage);
}

static void test_lines_behind_a_miss_are_asked_for_ahead(void **state) {
    (void)state;
    Bench *bench = start("modern.stream_buffer=3");
    assert_int_equal(need(bench, 0, CODE), UINT64_MAX);
    assert_int_equal(asked(bench), 4);
    for (int line = 0; line < 4; line++)
        arrive(bench, CODE + (uint64_t)line * LINE);
    for (int i = 0; i < 100; i++)
        stage_cycle(bench->stage);
    const uint64_t now = bench->stage->sm.cycle;
    assert_int_equal(need(bench, 0, CODE + LINE), now);
    assert_int_equal(asked(bench), 5); /* the next one behind them */
    assert_int_equal(need(bench, 0, CODE + 3 * LINE), now);
    assert_int_equal(asked(bench), 7);
    /* elsewhere: it begins anew */
    assert_int_equal(need(bench, 0, CODE + 20 * LINE), UINT64_MAX);
    assert_int_equal(asked(bench), 11);
    stage_free(bench->stage);
}

static void test_nothing_is_asked_for_behind_the_program(void **state) {
    (void)state;
    Bench *bench = start("modern.stream_buffer=8");
    need(bench, 0, END - 2 * LINE);
    assert_int_equal(asked(bench), 2);
    stage_free(bench->stage);
}

static void test_what_is_refused_is_asked_for_again(void **state) {
    (void)state;
    Bench *bench = start("modern.stream_buffer=0 l1i.mshrs=1");
    assert_int_equal(need(bench, 0, CODE), UINT64_MAX);
    assert_int_equal(need(bench, 2, CODE + LINE), UINT64_MAX);
    assert_int_equal(bench->front.refused, 1 << 2);
    assert_true(front_has_work(&bench->front, &bench->port));
    assert_int_equal(front_do_step(&bench->front, &bench->stage->sm, &bench->port), 0);
    assert_int_equal(arrive(bench, CODE), 1);
    assert_int_equal(front_do_step(&bench->front, &bench->stage->sm, &bench->port), 0);
    assert_int_equal(bench->front.refused, 0);
    assert_int_equal(bench->front.waits, 1 << 2);
    assert_int_equal(arrive(bench, CODE + LINE), 1 << 2);
    stage_free(bench->stage);
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
        cmocka_unit_test(test_a_line_comes_from_l2_once),
        cmocka_unit_test(test_the_other_subcore_finds_it_in_l1i),
        cmocka_unit_test(test_lines_behind_a_miss_are_asked_for_ahead),
        cmocka_unit_test(test_nothing_is_asked_for_behind_the_program),
        cmocka_unit_test(test_what_is_refused_is_asked_for_again),
        cmocka_unit_test(test_the_least_recently_used_line_goes),
        cmocka_unit_test(test_a_constant_that_misses_keeps_its_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
