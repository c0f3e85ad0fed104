/* What of a cycle the team does, by a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/team.h"
#include "gpu/share.h"

static double now; /* the time that the clock tells */

static double clock_of_test(void) { return now; }

enum { ALONE_US = 100, SMS_US = 60, ALL_US = 40, APART_US = 30, MOST = 1000000 };

static const int EACH_FASTER[SHARE_WAYS] = {ALONE_US, SMS_US, ALL_US, APART_US};

/* Goes through cycles that take as long as their way says, until one goes another way or the stage
 * is over; their number. */
static uint32_t cycles_of(Share *share, ShareWay way, const int us[SHARE_WAYS]) {
    uint32_t cycles = 0;
    for (; cycles < MOST && share_next(share) == way; cycles++)
        now += us[way] * 1e-6;
    now += us[share->way] * 1e-6; /* of the cycle that ended it */
    return cycles;
}

static uint32_t cycles_in(double seconds, int us) {
    uint32_t cycles = (uint32_t)(seconds * 1e6 / us);
    return (cycles + SHARE_LOOK_CYCLES) / SHARE_LOOK_CYCLES * SHARE_LOOK_CYCLES;
}

/* Goes through the trials; the way that is then kept. */
static ShareWay kept_of(Share *share, const int us[SHARE_WAYS]) {
    for (uint32_t cycles = 0; cycles < MOST; cycles++) {
        ShareWay way = share_next(share);
        if (share->stage == SHARE_KEEP) return way;
        now += us[way] * 1e-6;
    }
    return SHARE_WAYS;
}

static void every_way_is_tried_for_the_same_time(void **state) {
    (void)state;
    Share share;
    now = 5;
    share_start(&share, clock_of_test);
    uint32_t alone = cycles_of(&share, SHARE_ALONE, EACH_FASTER);
    assert_in_range(alone, 1, cycles_in(SHARE_TRIAL_SECONDS, ALONE_US));
    /* the cycle that ended this was the one that woke the team */
    uint32_t sms = cycles_of(&share, SHARE_SMS, EACH_FASTER);
    uint32_t all = cycles_of(&share, SHARE_ALL, EACH_FASTER);
    uint32_t apart = cycles_of(&share, SHARE_APART, EACH_FASTER);
    assert_in_range(sms, alone + 1, cycles_in(SHARE_TRIAL_SECONDS, SMS_US));
    assert_true(all > sms && apart > all);
}

static void the_way_that_takes_least_is_kept_for_longer(void **state) {
    (void)state;
    for (ShareWay fast = SHARE_ALONE; fast < SHARE_WAYS; fast++) {
        int us[SHARE_WAYS] = {ALONE_US, ALONE_US + 10, ALONE_US + 10, ALONE_US + 10};
        us[fast] = SMS_US;
        Share share;
        share_start(&share, clock_of_test);
        assert_int_equal(kept_of(&share, us), fast);
        now += SHARE_KEPT_SECONDS / 2;
        for (int i = 0; i < 2 * SHARE_LOOK_CYCLES; i++)
            assert_int_equal(share_next(&share), fast);
        now += SHARE_KEPT_SECONDS;
        while (share.stage == SHARE_KEEP)
            share_next(&share);
        assert_int_equal(share.way, SHARE_ALONE); /* all are tried anew */
    }
}

static void a_team_that_must_wake_up_first_may_be_late(void **state) {
    (void)state;
    Share share;
    share_start(&share, clock_of_test);
    cycles_of(&share, SHARE_ALONE, EACH_FASTER);
    assert_int_equal(share.stage, SHARE_WAKE);
    share_waited(&share, UINT32_MAX);
    assert_int_equal(share_next(&share), SHARE_SMS);
    assert_int_equal(share.stage, SHARE_TRY);
}

/* Each time for twice as long as before, up to a bound. */
static void a_team_that_comes_late_rests_for_longer_and_longer(void **state) {
    (void)state;
    Share share;
    share_start(&share, clock_of_test);
    double rest = SHARE_FIRST_PENALTY;
    for (int i = 0; i < 13; i++) {
        while (share.stage != SHARE_TRY || share.way == SHARE_ALONE)
            now += EACH_FASTER[share_next(&share)] * 1e-6;
        share_waited(&share, UINT32_MAX);
        assert_int_equal(share.way, SHARE_ALONE);
        assert_true(share.stage == SHARE_REST);
        assert_true(share.until - now > rest * 0.999 && share.until - now < rest * 1.001);
        if (rest < SHARE_MOST_PENALTY) rest *= 2;
    }
    assert_true(rest >= SHARE_MOST_PENALTY);
}

/* The way that was kept goes on after the rest, once the team is awake again; no longer than it
 * would have without. */
static void what_is_kept_outlasts_a_rest(void **state) {
    (void)state;
    Share share;
    share_start(&share, clock_of_test);
    assert_int_equal(kept_of(&share, EACH_FASTER), SHARE_APART);
    const double until = share.kept_until;
    share_waited(&share, UINT32_MAX);
    assert_int_equal(share_next(&share), SHARE_ALONE);
    while (share.stage == SHARE_REST)
        now += EACH_FASTER[share_next(&share)] * 1e-6;
    assert_int_equal(share.stage, SHARE_WAKE);
    assert_int_equal(share_next(&share), SHARE_APART);
    assert_true(share.stage == SHARE_KEEP && share.until == until);
    share_waited(&share, UINT32_MAX);
    now = until + SHARE_MOST_PENALTY;
    while (share.stage == SHARE_REST)
        share_next(&share);
    assert_true(share.stage == SHARE_TRY && share.way == SHARE_ALONE);
}

/* Where a cycle takes a thread long, parts of it may differ by long. */
static void a_wait_is_long_by_the_machines_cycle(void **state) {
    (void)state;
    static const int swift[SHARE_WAYS] = {2, 1, 1, 1}, slow[SHARE_WAYS] = {100, 60, 60, 60};
    Share share;
    share_start(&share, clock_of_test);
    assert_int_equal(kept_of(&share, slow), SHARE_SMS);
    share_waited(&share, 4 * TEAM_LONG);
    assert_int_equal(share.way, SHARE_SMS);
    share_waited(&share, 6 * TEAM_LONG);
    assert_int_equal(share.way, SHARE_ALONE);
    share_start(&share, clock_of_test);
    assert_int_equal(kept_of(&share, swift), SHARE_SMS);
    share_waited(&share, 4 * TEAM_LONG);
    assert_int_equal(share.way, SHARE_ALONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_is_tried_for_the_same_time),
        cmocka_unit_test(the_way_that_takes_least_is_kept_for_longer),
        cmocka_unit_test(a_team_that_must_wake_up_first_may_be_late),
        cmocka_unit_test(a_team_that_comes_late_rests_for_longer_and_longer),
        cmocka_unit_test(what_is_kept_outlasts_a_rest),
        cmocka_unit_test(a_wait_is_long_by_the_machines_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
