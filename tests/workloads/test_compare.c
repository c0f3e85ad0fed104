/* How programs compare pictures: some pixels may differ by one level of a channel, fewer pixels by
 * more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/workload.h"

enum { COUNT = 12 };

static const WorkloadInfo INFO = {.name = "picture"};
static const Workload WORKLOAD = {.info = &INFO};
static const uint32_t EXPECTED[COUNT] = {0x00000000, 0x01020304, 0xff00ff00, 0x80808080,
                                         0x00ff0000, 0x7f000001, 0x11111111, 0x22222222,
                                         0x33333333, 0x44444444, 0x55555555, 0x66666666};

/* Whether the picture is right with `most` when `levels` are added to the last `moved` pixels. */
static bool allows(size_t moved, int levels, size_t most) {
    uint32_t got[COUNT];
    memcpy(got, EXPECTED, sizeof got);
    for (size_t i = COUNT - moved; i < COUNT; i++)
        got[i] += (uint32_t)levels;
    return workload_compare_pixels(&WORKLOAD, got, EXPECTED, COUNT, most);
}

static void test_a_picture_is_itself(void **state) {
    (void)state;
    assert_true(allows(0, 0, 0));
}

static void test_none_may_differ(void **state) {
    (void)state;
    assert_false(allows(1, 1, 0));
}

static void test_as_many_as_allowed_may_be_a_level_off(void **state) {
    (void)state;
    static const int levels[] = {1, -1, 0x01000000, -0x01000000, 0x00010100, 0x01010101};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        assert_true(allows(3, levels[i], 3));
        assert_false(allows(4, levels[i], 3));
    }
}

static void test_a_third_may_be_off_by_more(void **state) {
    (void)state;
    static const int levels[] = {2, -2, 0x02000000, -0x02000000, 0x00010200, 0x01020101};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        assert_false(allows(1, levels[i], 2));
        assert_true(allows(1, levels[i], 3));
        assert_false(allows(2, levels[i], 5));
        assert_true(allows(2, levels[i], 6));
    }
}

/* The lowest and the highest level are not neighbors. */
static void test_levels_do_not_wrap(void **state) {
    (void)state;
    uint32_t black = 0x00000000, white = 0x000000ff;
    assert_false(workload_compare_pixels(&WORKLOAD, &white, &black, 1, 1));
    assert_false(workload_compare_pixels(&WORKLOAD, &black, &white, 1, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_picture_is_itself),
        cmocka_unit_test(test_none_may_differ),
        cmocka_unit_test(test_as_many_as_allowed_may_be_a_level_off),
        cmocka_unit_test(test_a_third_may_be_off_by_more),
        cmocka_unit_test(test_levels_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
