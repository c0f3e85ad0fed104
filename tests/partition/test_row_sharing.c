/* Row sharing of OWL: the examples of the paper, and the limits of the table. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "partition/row_sharing.h"

enum { BANKS = 16 };

/* Row sharing after the CTAs in a list that ends with 0 have read one row. */
static Counters read_row(const uint32_t *ctas) {
    Arena *arena = arena_new();
    Counters counters = {0};
    RowSharing sharing;
    row_sharing_init(&sharing, ROW_SHARING_AT_DRAM, arena);
    for (; *ctas; ctas++)
        row_sharing_read(&sharing, row_sharing_key(5, 3, BANKS), *ctas, &counters);
    row_sharing_close(&sharing, &counters);
    arena_free(arena);
    return counters;
}

static void test_examples(void **state) {
    (void)state;
    static const struct {
        uint32_t ctas[8];
        uint32_t distinct;
        double sharing;
    } rows[] = {
        {{1, 2, 3, 7}, 4, 0.75},         /* design: three of four are consecutive */
        {{1, 2, 3, 4}, 4, 1.0},          /* OWL section 4.3 */
        {{7, 3, 1, 2}, 4, 0.75},         /* in any order */
        {{1, 2, 1, 2, 2, 7}, 3, 2. / 3}, /* each counts once */
        {{1, 3, 5, 7}, 4, 0.0},          {{9}, 1, 0.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Counters counters = read_row(rows[i].ctas);
        assert_int_equal(counters.dram_rows_used, 1);
        assert_int_equal(counters.dram_rows_shared, rows[i].distinct > 1);
        assert_int_equal(counters.dram_row_ctas, rows[i].distinct);
        assert_float_equal(counters_ratio(&counters, RATIO_row_sharing), rows[i].sharing, 1e-5);
    }
}

/* The mean is over rows, independent of the number of CTAs that read each row. */
static void test_mean_over_rows(void **state) {
    (void)state;
    Arena *arena = arena_new();
    Counters counters = {0};
    RowSharing sharing;
    row_sharing_init(&sharing, ROW_SHARING_AT_DRAM, arena);
    static const uint32_t wide[] = {1, 2, 3, 4, 5, 6}, lone[] = {1, 9};
    for (int i = 0; i < 6; i++)
        row_sharing_read(&sharing, row_sharing_key(0, 0, BANKS), wide[i], &counters);
    for (int i = 0; i < 2; i++)
        row_sharing_read(&sharing, row_sharing_key(0, 1, BANKS), lone[i], &counters);
    row_sharing_close(&sharing, &counters);
    assert_int_equal(counters.dram_rows_used, 2);
    assert_int_equal(counters.dram_row_ctas, 8);
    assert_int_equal(counters.dram_row_neighbours, 6);
    assert_float_equal(counters_ratio(&counters, RATIO_row_sharing), 0.5, 1e-5);
    row_sharing_close(&sharing, &counters); /* nothing is counted twice */
    assert_int_equal(counters.dram_rows_used, 2);
    arena_free(arena);
}

/* Many rows, and rows of many CTAs: every reader is counted, in one row or another. */
static void test_full_table(void **state) {
    (void)state;
    Arena *arena = arena_new();
    Counters counters = {0};
    RowSharing sharing;
    row_sharing_init(&sharing, ROW_SHARING_AT_DRAM, arena);
    enum { ROWS = 4 * ROW_SHARING_ROWS / BANKS, CTAS = 2 * ROW_SHARING_CTAS };
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t bank = 0; bank < BANKS; bank++)
            for (uint32_t cta = 0; cta < CTAS; cta++)
                row_sharing_read(&sharing, row_sharing_key(row, bank, BANKS), cta, &counters);
    row_sharing_close(&sharing, &counters);
    assert_int_equal(counters.dram_row_ctas, ROWS * BANKS * CTAS);
    assert_int_equal(counters.dram_row_neighbours, ROWS * BANKS * CTAS);
    assert_int_equal(counters.dram_rows_used, ROWS * BANKS * 2);
    arena_free(arena);
}

/* Each measuring point has its own counters. */
static void test_places(void **state) {
    (void)state;
    Arena *arena = arena_new();
    Counters counters = {0};
    RowSharing sharing;
    row_sharing_init(&sharing, ROW_SHARING_AT_L2, arena);
    static const uint32_t ctas[] = {1, 2, 3, 7};
    for (int i = 0; i < 4; i++)
        row_sharing_read(&sharing, row_sharing_key(5, 3, BANKS), ctas[i], &counters);
    row_sharing_close(&sharing, &counters);
    assert_int_equal(counters.l2_rows_used, 1);
    assert_int_equal(counters.l2_row_ctas, 4);
    assert_float_equal(counters_ratio(&counters, RATIO_l2_row_sharing), 0.75, 1e-5);
    assert_float_equal(counters_ratio(&counters, RATIO_l2_ctas_per_row), 4, 1e-5);
    assert_int_equal(counters.dram_rows_used, 0);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_mean_over_rows),
        cmocka_unit_test(test_full_table),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
