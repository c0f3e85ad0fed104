/* Gathering bits: runs, overlapping bits, the inverse, and the limit on runs. */
#include "base/gather.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void runs(void **state) {
    (void)state;
    BitGather gather = {0};
    for (int i = 0; i < 4; i++)
        assert_true(gather_append(&gather, i, 8 + i));
    assert_true(gather_append(&gather, 4, 20));
    assert_int_equal(gather.count, 2); /* adjacent bits share a run */
    assert_int_equal(gather_bits(&gather, 0x100A00), 0x1A);
    assert_int_equal(gather_bits(&gather, ~UINT64_C(0x100F00)), 0);
    assert_int_equal(gather_scatter(&gather, 0x1A), 0x100A00);
}

static void overlap_is_xor(void **state) {
    (void)state;
    BitGather gather = {0};
    gather_append(&gather, 0, 3);
    gather_append(&gather, 0, 7);
    assert_int_equal(gather_bits(&gather, 0x08), 1);
    assert_int_equal(gather_bits(&gather, 0x80), 1);
    assert_int_equal(gather_bits(&gather, 0x88), 0);
}

static void whole_word(void **state) {
    (void)state;
    BitGather gather = {0};
    for (int i = 0; i < 64; i++)
        assert_true(gather_append(&gather, i, i));
    assert_int_equal(gather.count, 1);
    assert_true(gather_bits(&gather, UINT64_MAX) == UINT64_MAX);
    assert_true(gather_scatter(&gather, UINT64_MAX) == UINT64_MAX);
}

static void too_many_runs(void **state) {
    (void)state;
    BitGather gather = {0};
    for (int i = 0; i < GATHER_MAX_RUNS; i++)
        assert_true(gather_append(&gather, i, 2 * i));
    assert_false(gather_append(&gather, GATHER_MAX_RUNS, 60));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs),
        cmocka_unit_test(overlap_is_xor),
        cmocka_unit_test(whole_word),
        cmocka_unit_test(too_many_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
