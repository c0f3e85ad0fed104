/* Groups of asynchronous copies: what a warp waits for, and until when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sm/copies.h"

static void a_wait_for_a_group_ends_with_its_last_copy(void **state) {
    (void)state;
    SmCopies copies = {0};
    const uint8_t first = copies_issue(&copies), second = copies_issue(&copies);
    assert_int_equal(first, second);
    assert_false(copies_commit(&copies));
    assert_true(copies_wait(&copies, 0));
    assert_false(copies_done(&copies, first));
    assert_true(copies_done(&copies, second));
    assert_false(copies_wait(&copies, 0));
}

static void the_latest_groups_may_stay_under_way(void **state) {
    (void)state;
    SmCopies copies = {0};
    const uint8_t old = copies_issue(&copies);
    copies_commit(&copies);
    const uint8_t late = copies_issue(&copies);
    copies_commit(&copies);
    assert_false(copies_wait(&copies, 2));
    assert_true(copies_wait(&copies, 1));
    assert_true(copies_done(&copies, old));
    assert_true(copies_wait(&copies, 0));
    assert_true(copies_done(&copies, late));
}

static void a_later_group_that_is_done_first_ends_no_wait(void **state) {
    (void)state;
    SmCopies copies = {0};
    const uint8_t old = copies_issue(&copies);
    copies_commit(&copies);
    const uint8_t late = copies_issue(&copies);
    copies_commit(&copies);
    assert_true(copies_wait(&copies, 1));
    assert_false(copies_done(&copies, late));
    assert_true(copies_done(&copies, old));
}

static void copies_in_no_group_are_waited_for_by_wait_all_only(void **state) {
    (void)state;
    SmCopies copies = {0};
    const uint8_t open = copies_issue(&copies);
    assert_false(copies_wait(&copies, 0));
    assert_true(copies_wait_all(&copies));
    assert_true(copies_done(&copies, open));
}

static void one_group_too_many_waits_for_the_oldest(void **state) {
    (void)state;
    SmCopies copies = {0};
    const uint8_t oldest = copies_issue(&copies);
    for (int i = 0; i < SM_COPY_GROUPS - 1; i++) {
        assert_false(copies_commit(&copies));
        copies_issue(&copies);
    }
    assert_true(copies_commit(&copies));
    assert_true(copies_done(&copies, oldest));
    assert_int_equal(copies_issue(&copies), oldest);
}

static void an_empty_group_is_waited_for_by_nobody(void **state) {
    (void)state;
    SmCopies copies = {0};
    for (int i = 0; i < 3 * SM_COPY_GROUPS; i++)
        assert_false(copies_commit(&copies));
    assert_false(copies_wait(&copies, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_a_group_ends_with_its_last_copy),
        cmocka_unit_test(the_latest_groups_may_stay_under_way),
        cmocka_unit_test(a_later_group_that_is_done_first_ends_no_wait),
        cmocka_unit_test(copies_in_no_group_are_waited_for_by_wait_all_only),
        cmocka_unit_test(one_group_too_many_waits_for_the_oldest),
        cmocka_unit_test(an_empty_group_is_waited_for_by_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
