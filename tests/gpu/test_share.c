/* When the team steps the SMs: what does not depend on the host's clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gpu/share.h"

/* Cycles until the team is asked, and then until it is no longer; at most `limit`. */
static uint32_t cycles_while(Share *share, bool is_together, uint32_t limit) {
    uint32_t cycles = 0;
    while (cycles < limit && share_next(share) == is_together)
        cycles++;
    return cycles;
}

static void one_thread_is_tried_first_and_then_the_team(void **state) {
    (void)state;
    Share share;
    share_start(&share);
    assert_int_equal(cycles_while(&share, false, UINT32_MAX), SHARE_TRIAL_CYCLES);
    for (int i = 0; i < SHARE_TRIAL_CYCLES; i++) /* after the one cycle that woke it */
        assert_true(share_next(&share));
}

static void a_team_that_must_wake_up_first_may_be_late(void **state) {
    (void)state;
    Share share;
    share_start(&share);
    cycles_while(&share, false, UINT32_MAX);
    share_late(&share);
    assert_int_equal(cycles_while(&share, true, SHARE_TRIAL_CYCLES), SHARE_TRIAL_CYCLES);
}

/* Each time for twice as long as before, up to a bound. */
static void a_team_that_comes_late_is_left_alone_for_longer_and_longer(void **state) {
    (void)state;
    Share share;
    share_start(&share);
    uint32_t alone = SHARE_KEPT_CYCLES;
    for (int i = 0; i < 9; i++) {
        while (share.stage != SHARE_TRY_TOGETHER)
            share_next(&share);
        share_late(&share);
        assert_int_equal(cycles_while(&share, false, UINT32_MAX), alone + SHARE_TRIAL_CYCLES);
        if (alone < SHARE_MOST_ALONE) alone *= 2;
    }
    assert_int_equal(alone, SHARE_MOST_ALONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_is_tried_first_and_then_the_team),
        cmocka_unit_test(a_team_that_must_wake_up_first_may_be_late),
        cmocka_unit_test(a_team_that_comes_late_is_left_alone_for_longer_and_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
