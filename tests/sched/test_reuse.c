/* Checks reuse distances against a list that moves each line read to its front, and losses against
 * probabilities computed by hand and against a cache that several CTAs share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sched/reuse.h"

static uint32_t random_below(uint64_t *state, uint32_t bound) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % bound);
}

static Reuse *new_reuse(void) {
    Reuse *reuse = calloc(1, sizeof *reuse);
    assert_non_null(reuse);
    return reuse;
}

static void the_distance_is_the_other_lines_in_between(void **unused) {
    (void)unused;
    Reuse *reuse = new_reuse();
    const uint64_t reads[] = {0, 128, 256, 0, 0, 128, 256, 128};
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
        reuse_read(reuse, reads[i]);
    assert_int_equal(reuse->lines, 3);
    assert_int_equal(reuse->again, 3);
    assert_int_equal(reuse->distances[0], 1);
    assert_int_equal(reuse->distances[1], 1);
    assert_int_equal(reuse->distances[2], 3);
    free(reuse);
}

/* Twice as many reads as there are marks, so that marks are reused. */
static void distances_are_those_of_a_list_with_the_latest_in_front(void **unused) {
    (void)unused;
    enum { LINES = 64, READS = 4 << REUSE_LINE_BITS };
    static uint64_t list[LINES];
    static uint32_t expected[LINES];
    Reuse *reuse = new_reuse();
    uint64_t state = 1;
    uint32_t count = 0;
    for (int i = 0; i < READS; i++) {
        const uint64_t line = UINT64_C(128) * random_below(&state, 1 + random_below(&state, LINES));
        uint32_t at = 0;
        while (at < count && list[at] != line)
            at++;
        if (at == count) count++;
        else expected[at]++;
        memmove(list + 1, list, at * sizeof *list);
        list[0] = line;
        reuse_read(reuse, line);
    }
    assert_int_equal(reuse->lines, count);
    assert_memory_equal(reuse->distances, expected, sizeof expected);
    free(reuse);
}

static void the_count_stops_before_the_lines_beyond_its_bound(void **unused) {
    (void)unused;
    Reuse *reuse = new_reuse();
    for (uint64_t i = 0; i < REUSE_LINES + 100; i++)
        reuse_read(reuse, i * 128);
    assert_int_equal(reuse->lines, REUSE_LINES);
    reuse_read(reuse, (REUSE_LINES + 50) * UINT64_C(128));
    assert_int_equal(reuse->again, 0);
    reuse_read(reuse, 0);
    assert_int_equal(reuse->again, 1);
    assert_int_equal(reuse->distances[REUSE_LINES - 1], 1);
    free(reuse);
}

static double lost_of_one(uint32_t distance, double ctas, uint32_t sets, uint32_t ways) {
    uint32_t distances[100] = {0};
    distances[distance] = 1;
    return reuse_lost(distances, 100, ctas, sets, ways);
}

static void losses_are_the_chances_that_a_set_fills(void **unused) {
    (void)unused;
    assert_true(lost_of_one(1, 1, 2, 1) == 0.5);
    assert_true(lost_of_one(2, 1, 2, 2) == 0.25);
    assert_true(fabs(lost_of_one(3, 1, 4, 2) - 10.0 / 64) < 1e-15);
    assert_true(fabs(lost_of_one(1, 3, 4, 2) - 10.0 / 64) < 1e-15);
    assert_true(lost_of_one(3, 1, 1, 4) == 0 && lost_of_one(4, 1, 1, 4) == 1);
    assert_true(lost_of_one(2, 2, 1, 4) == 1);
    assert_true(lost_of_one(2, 1.9, 1, 4) == 0);
    assert_true(lost_of_one(0, 8, 16, 4) == 0);
    assert_true(lost_of_one(99, 32, 2, 4) > 0.999999);
}

/* Looks up a line in a set of a cache, ordered with the latest in front; returns whether it is
 * there. */
static bool look_up(uint64_t *set, uint32_t ways, uint64_t line) {
    uint32_t at = 0;
    while (at < ways - 1 && set[at] != line)
        at++;
    const bool is_there = set[at] == line;
    memmove(set + 1, set, at * sizeof *set);
    set[0] = line;
    return is_there;
}

static void losses_agree_with_those_of_a_cache_that_ctas_share(void **unused) {
    (void)unused;
    enum { SETS = 16, WAYS = 4, LINES = 20, READS = 20000, MOST = 4 };
    for (uint32_t ctas = 1; ctas <= MOST; ctas++) {
        uint64_t sets[SETS][WAYS] = {{0}}, lines[MOST][LINES], state = 7;
        Reuse *reuse = new_reuse();
        uint32_t again = 0, lost = 0;
        for (uint32_t c = 0; c < ctas; c++)
            for (uint32_t i = 0; i < LINES; i++)
                lines[c][i] = 1 + random_below(&state, 1u << 30);
        for (int i = 0; i < READS; i++)
            for (uint32_t c = 0; c < ctas; c++) {
                uint64_t *line = &lines[c][random_below(&state, LINES)];
                if (random_below(&state, 50) == 0) *line = 1 + random_below(&state, 1u << 30);
                const uint32_t before = reuse->lines;
                if (c == 0) reuse_read(reuse, *line * 128);
                const bool is_there = look_up(sets[*line % SETS], WAYS, *line);
                if (c || reuse->lines != before) continue;
                again++;
                lost += !is_there;
            }
        const double expected = reuse_lost(reuse->distances, REUSE_LINES, ctas, SETS, WAYS) / again;
        print_message("%u CTAs: %.3f lost, %.3f expected\n", ctas, (double)lost / again, expected);
        assert_true(fabs((double)lost / again - expected) < 0.03);
        free(reuse);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_is_the_other_lines_in_between),
        cmocka_unit_test(distances_are_those_of_a_list_with_the_latest_in_front),
        cmocka_unit_test(the_count_stops_before_the_lines_beyond_its_bound),
        cmocka_unit_test(losses_are_the_chances_that_a_set_fills),
        cmocka_unit_test(losses_agree_with_those_of_a_cache_that_ctas_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
