/* Zipf's distribution: how often ranks are drawn, and that scattered ranks stay different. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "common/zipf.h"

enum { RANKS = 4, DRAWS = 100000, MOST_ITEMS = 100 };

static const WorkloadInfo INFO = {.name = "zipf"};

/* Draws with an exponent of `hundredths`; each rank must be drawn `expected` times, give or take
 * 1% of all draws, which is six standard deviations or more. */
static void expect_draws(uint32_t hundredths, const double expected[RANKS]) {
    Workload workload = {.info = &INFO, .random_state = 1};
    Zipf zipf = zipf_new(&workload, RANKS, hundredths);
    unsigned counts[RANKS] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint32_t rank = zipf_draw(&workload, &zipf);
        assert_true(rank < RANKS);
        counts[rank]++;
    }
    for (int rank = 0; rank < RANKS; rank++)
        assert_float_equal(counts[rank], expected[rank], DRAWS / 100);
    free(workload.host_blocks);
}

static void test_without_exponent_ranks_are_equally_likely(void **state) {
    (void)state;
    expect_draws(0, (double[RANKS]){DRAWS / 4, DRAWS / 4, DRAWS / 4, DRAWS / 4});
}

static void test_with_exponent_1_a_rank_is_as_likely_as_its_inverse(void **state) {
    (void)state;
    double sum = 1.0 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4;
    expect_draws(100,
                 (double[RANKS]){DRAWS / sum, DRAWS / sum / 2, DRAWS / sum / 3, DRAWS / sum / 4});
}

static void test_with_exponent_2_it_is_as_likely_as_the_square(void **state) {
    (void)state;
    double sum = 1.0 + 1.0 / 4 + 1.0 / 9 + 1.0 / 16;
    expect_draws(200,
                 (double[RANKS]){DRAWS / sum, DRAWS / sum / 4, DRAWS / sum / 9, DRAWS / sum / 16});
}

static void test_scattered_ranks_are_different(void **state) {
    (void)state;
    for (uint32_t count = 1; count <= MOST_ITEMS; count++) {
        bool is_taken[MOST_ITEMS] = {false};
        for (uint32_t rank = 0; rank < count; rank++) {
            uint32_t item = zipf_scatter(rank, count);
            assert_true(item < count);
            assert_false(is_taken[item]);
            is_taken[item] = true;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_exponent_ranks_are_equally_likely),
        cmocka_unit_test(test_with_exponent_1_a_rank_is_as_likely_as_its_inverse),
        cmocka_unit_test(test_with_exponent_2_it_is_as_likely_as_the_square),
        cmocka_unit_test(test_scattered_ranks_are_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
