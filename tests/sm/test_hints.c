/* Hints alone: the priority that an access gets from instruction, cache policy and window. */
#include "sm/hints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cache/policy.h"

enum { INSIDE = 0x10000, OUTSIDE = 0x80000 };

static const PolicyWindow none = {0};
static const PolicyWindow persisting = {
    .address = INSIDE, .bytes = 0x1000, .share = 1, .hit = PTX_EVICT_LAST, .miss = PTX_EVICT_FIRST};

/* Applies hints to two accesses, one inside the window and one outside. */
static void mark(SmAccess access[2], SmHints hints, uint8_t advice) {
    access[0] = (SmAccess){.address = INSIDE};
    access[1] = (SmAccess){.address = OUTSIDE};
    SmMemory memory = {.count = 2, .access = access, .advice = advice};
    hints_apply(&hints, &memory);
}

static void test_the_window_speaks_where_the_instruction_is_silent(void **state) {
    (void)state;
    SmAccess access[2];
    IsaInfo info = {.memory = ISA_MEMORY_LOAD};
    assert_false(hints_are_given(&info, &none));
    assert_true(hints_are_given(&info, &persisting));
    SmHints hints = {.info = &info, .window = &persisting, .l1_takes = true, .l2_takes = true};
    mark(access, hints, 0);
    assert_int_equal(access[0].priority[1], PRIORITY_LAST);
    assert_int_equal(access[1].priority[1], PRIORITY_UNSAID);
    assert_int_equal(access[0].priority[0], PRIORITY_UNSAID);
    info.evict[1] = PTX_EVICT_NORMAL;
    mark(access, hints, 0);
    assert_int_equal(access[0].priority[1], PRIORITY_NORMAL);
    hints.policy = policy_of_fraction(PTX_EVICT_FIRST, PTX_EVICT_NONE, 1);
    mark(access, hints, 0);
    assert_int_equal(access[0].priority[1], PRIORITY_FIRST);
}

static void test_each_level_hears_what_is_said_to_it(void **state) {
    (void)state;
    SmAccess access[2];
    IsaInfo info = {.memory = ISA_MEMORY_LOAD, .prefetch = 7};
    info.evict[0] = PTX_EVICT_NO_ALLOCATE;
    SmHints hints = {.info = &info, .window = &none, .l1_takes = true, .l2_takes = true};
    mark(access, hints, 0);
    assert_int_equal(access[0].priority[0], PRIORITY_NO_ALLOCATE);
    assert_int_equal(access[0].priority[1], PRIORITY_UNSAID);
    assert_int_equal(access[0].prefetch, 7);
    hints.l1_takes = hints.l2_takes = false;
    mark(access, hints, 0);
    assert_int_equal(access[0].priority[0] | access[0].prefetch, 0);
}

static void test_streaming_operators_are_evict_first(void **state) {
    (void)state;
    static const uint8_t ops[] = {PTX_CACHE_CS, PTX_CACHE_LU};
    for (int i = 0; i < 2; i++) {
        SmAccess access[2];
        IsaInfo info = {.memory = ISA_MEMORY_LOAD, .cache_op = ops[i]};
        assert_true(hints_are_given(&info, &none));
        mark(access, (SmHints){.info = &info, .window = &none, .l1_takes = true, .l2_takes = true},
             0);
        assert_int_equal(access[1].priority[0], PRIORITY_FIRST);
        assert_int_equal(access[1].priority[1], PRIORITY_FIRST);
    }
}

static void test_a_prefetch_asks_for_the_line(void **state) {
    (void)state;
    SmAccess access[2];
    IsaInfo info = {.memory = ISA_MEMORY_PREFETCH};
    info.evict[1] = PTX_EVICT_LAST;
    mark(access, (SmHints){.info = &info, .window = &none, .l2_takes = true}, 1);
    assert_int_equal(access[0].prefetch, 7);
    assert_int_equal(access[0].priority[1], PRIORITY_LAST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_window_speaks_where_the_instruction_is_silent),
        cmocka_unit_test(test_each_level_hears_what_is_said_to_it),
        cmocka_unit_test(test_streaming_operators_are_evict_first),
        cmocka_unit_test(test_a_prefetch_asks_for_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
