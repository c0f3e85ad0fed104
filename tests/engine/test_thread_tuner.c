/* What of a cycle the team does, by a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/thread_pool.h"
#include "engine/thread_tuner.h"

static double now; /* the time that the clock tells */

static double clock_of_test(void) { return now; }

enum { ALONE_US = 100, SMS_US = 60, ALL_US = 40, APART_US = 30, BOTH_US = 50, MOST = 1000000 };

/* Each way by two threads: a mode has its way's number. */
enum { WAYS = SHARE_APART_SMS + 1 };
static const ShareMode TWO[WAYS] = {
    {SHARE_ALONE, 1}, {SHARE_SMS, 2}, {SHARE_ALL, 2}, {SHARE_APART, 2}, {SHARE_APART_SMS, 2}};
static const int EACH_FASTER[WAYS] = {ALONE_US, SMS_US, ALL_US, APART_US, BOTH_US};

/* One cycle, which takes as long as its way says. */
static ShareWay cycle(Share *share, const int us[WAYS]) {
    const ShareWay way = share_next(share).way;
    now += us[way] * 1e-6;
    return way;
}

static void start_with(Share *share, const ShareMode *modes, uint32_t count) {
    now = 5;
    share_init(share, clock_of_test, modes, count);
}

static void start_first(Share *share) { start_with(share, TWO, WAYS); }

/* Goes on until a stage comes that is not this one; the seconds. */
static double pass(Share *share, ShareStage stage, const int us[WAYS]) {
    const double before = now;
    for (uint32_t i = 0; i < MOST && share->stage == stage; i++)
        cycle(share, us);
    assert_true(share->stage != stage);
    return now - before;
}

/* Goes on to the next decision; the way that is then kept. */
static ShareWay kept_of(Share *share, const int us[WAYS]) {
    const uint32_t before = share->decisions;
    for (uint32_t i = 0; i < MOST && share->decisions == before; i++)
        cycle(share, us);
    assert_int_equal(share->stage, SHARE_KEEP);
    return share->kept;
}

static double absolute(double value) { return value < 0 ? -value : value; }

static void a_short_kernel_wakes_nobody(void **state) {
    (void)state;
    Share share;
    start_first(&share);
    assert_true(pass(&share, SHARE_REST, EACH_FASTER) >= SHARE_NAP_SECONDS);
    assert_true(share.stage == SHARE_TRY && share.mode.way == SHARE_ALONE);
}

static void every_way_is_tried_in_each_round_for_the_same_time(void **state) {
    (void)state;
    Share share;
    double spent[WAYS] = {0};
    start_first(&share);
    pass(&share, SHARE_REST, EACH_FASTER);
    while (share.decisions == 0) {
        const bool is_trial = share.stage == SHARE_TRY;
        const double before = now;
        const ShareWay way = cycle(&share, EACH_FASTER);
        if (is_trial) spent[way] += now - before;
    }
    for (int way = 0; way < WAYS; way++) {
        const double look = SHARE_LOOK_CYCLES * EACH_FASTER[way] * 1e-6;
        const double least = SHARE_WARM_SECONDS + SHARE_TRIAL_SECONDS;
        const double most = SHARE_ROUNDS * (least + 3 * look);
        assert_true(spent[way] > SHARE_ROUNDS * least * 0.9 && spent[way] < most);
    }
}

static void the_way_that_takes_least_is_kept(void **state) {
    (void)state;
    for (int fast = 0; fast < WAYS; fast++) {
        int us[WAYS];
        for (int way = 0; way < WAYS; way++)
            us[way] = way == fast ? SMS_US : ALONE_US;
        Share share;
        start_first(&share);
        assert_int_equal(kept_of(&share, us), fast);
        for (int i = 0; i < 2 * SHARE_LOOK_CYCLES; i++)
            assert_int_equal(cycle(&share, us), fast);
    }
}

/* What it takes until units are in the caches of those that have them is no matter. */
static void a_way_is_timed_when_it_is_warm(void **state) {
    (void)state;
    Share share;
    start_first(&share);
    ShareWay before = SHARE_ALONE;
    for (double cold = 0; share.decisions == 0; before = share.mode.way) {
        if (share.mode.way != before) cold = now + SHARE_WARM_SECONDS / 2;
        cycle(&share, EACH_FASTER);
        if (share.mode.way == SHARE_APART && now < cold) now += SHARE_WARM_SECONDS / 3;
    }
    assert_int_equal(share.kept, SHARE_APART);
    assert_true(share.cost[SHARE_APART] < 1.01e-6 * APART_US);
}

static void ways_that_the_machine_does_not_allow_are_not_tried(void **state) {
    (void)state;
    Share share;
    start_with(&share, TWO, SHARE_ALL + 1);
    for (int decisions = 0; decisions < SHARE_FULL_TRIALS + 1; decisions++)
        assert_int_equal(kept_of(&share, EACH_FASTER), SHARE_ALL);
    assert_true(share.cost[SHARE_APART] == 0 && share.cost[SHARE_APART_SMS] == 0);
}

/* Once is not enough: another process may have had the processor. */
static void one_bad_round_does_not_decide(void **state) {
    (void)state;
    Share share;
    start_first(&share);
    pass(&share, SHARE_REST, EACH_FASTER);
    while (share.mode.way != SHARE_APART)
        cycle(&share, EACH_FASTER);
    now += 0.1;
    assert_int_equal(kept_of(&share, EACH_FASTER), SHARE_APART);
}

/* Each decision holds for twice as long as the one before, up to a bound, but for one that is new.
 */
static void what_is_found_right_is_kept_for_longer(void **state) {
    (void)state;
    static const int other[WAYS] = {ALONE_US, SMS_US, ALL_US / 4, APART_US, BOTH_US};
    Share share;
    start_first(&share);
    double seconds = SHARE_FIRST_KEPT;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(kept_of(&share, EACH_FASTER), SHARE_APART);
        const double kept = pass(&share, SHARE_KEEP, EACH_FASTER);
        assert_true(absolute(kept - seconds) < 2 * SHARE_LOOK_CYCLES * APART_US * 1e-6);
        if (seconds < SHARE_MOST_KEPT) seconds *= 2;
    }
    /* a way that was far from the fastest is found at the next full trial */
    for (int i = 0; i < SHARE_FULL_TRIALS && share.kept != SHARE_ALL; i++)
        kept_of(&share, other);
    assert_int_equal(share.kept, SHARE_ALL);
    assert_true(pass(&share, SHARE_KEEP, other) < 1.2 * SHARE_MOST_KEPT / SHARE_DOUBT);
}

/* A cost that moves by as much as it does from trial to trial changes nothing. */
static void what_is_kept_yields_to_what_is_clearly_faster(void **state) {
    (void)state;
    static const int first[WAYS] = {1000, 600, 500, 300, 500};
    static const int about[WAYS] = {1000, 600, 295, 300, 500};
    static const int clearly[WAYS] = {1000, 600, 280, 300, 500};
    Share share;
    start_first(&share);
    assert_int_equal(kept_of(&share, first), SHARE_APART);
    for (int i = 0; i < 2 * SHARE_FULL_TRIALS; i++)
        assert_int_equal(kept_of(&share, about), SHARE_APART);
    assert_int_equal(kept_of(&share, clearly), SHARE_ALL);
}

/* They cost the time of a slow way, for little hope. */
static void ways_that_are_far_slower_are_left_out_of_most_trials(void **state) {
    (void)state;
    Share share;
    start_first(&share);
    kept_of(&share, EACH_FASTER);
    pass(&share, SHARE_KEEP, EACH_FASTER);
    bool is_tried[WAYS] = {false};
    while (share.stage != SHARE_KEEP)
        is_tried[cycle(&share, EACH_FASTER)] = true;
    assert_true(is_tried[SHARE_APART] && !is_tried[SHARE_ALONE] && !is_tried[SHARE_SMS]);
    for (int i = 2; i < SHARE_FULL_TRIALS; i++)
        kept_of(&share, EACH_FASTER);
    pass(&share, SHARE_KEEP, EACH_FASTER);
    while (share.stage != SHARE_KEEP)
        is_tried[cycle(&share, EACH_FASTER)] = true;
    assert_true(is_tried[SHARE_ALONE] && is_tried[SHARE_SMS] && is_tried[SHARE_APART_SMS]);
}

/* Costs that change while some ways are left out leave those known as they are. */
static void a_way_that_was_not_tried_has_no_new_cost(void **state) {
    (void)state;
    static const int all_slower[WAYS] = {900, 900, 900, 900, 900};
    Share share;
    start_first(&share);
    kept_of(&share, EACH_FASTER);
    const double before = share.cost[SHARE_ALONE];
    kept_of(&share, all_slower);
    assert_true(share.cost[SHARE_ALONE] == before && share.cost[SHARE_APART] > before);
    kept_of(&share, all_slower); /* and the trials come to an end */
}

/* A kernel goes on with what those before it have found, and with their trials. */
static void kernels_learn_from_one_another(void **state) {
    (void)state;
    static const int swift[WAYS] = {10, 6, 4, 3, 5};
    Share share;
    start_first(&share);
    for (int kernels = 0; share.decisions == 0; kernels++) {
        assert_true(kernels < 100);
        share_start(&share);
        for (const double end = now + 0.002; now < end;)
            cycle(&share, swift);
    }
    assert_int_equal(share.kept, SHARE_APART);
    share_start(&share);
    assert_int_equal(cycle(&share, swift), SHARE_ALONE);
    pass(&share, SHARE_REST, swift);
    assert_int_equal(share.stage, SHARE_WAKE);
    cycle(&share, swift);
    assert_int_equal(cycle(&share, swift), SHARE_APART);
    assert_int_equal(share.stage, SHARE_KEEP);
}

static void a_team_that_must_wake_up_first_may_be_late(void **state) {
    (void)state;
    Share share;
    start_first(&share);
    for (uint32_t i = 0; i < MOST && share.stage != SHARE_WAKE; i++)
        cycle(&share, EACH_FASTER);
    assert_int_equal(share.mode.way, SHARE_SMS);
    share_waited(&share, UINT32_MAX);
    assert_int_equal(share_next(&share).way, SHARE_SMS);
    assert_int_equal(share.stage, SHARE_TRY);
}

/* Seconds of a cycle in a mode of several threads. */
static void step(Share *share, double (*seconds)(ShareMode mode)) {
    now += seconds(share_next(share));
}

static const ShareMode WIDER[] = {{SHARE_ALONE, 1},     {SHARE_APART, 2}, {SHARE_APART_SMS, 2},
                                  {SHARE_APART_SMS, 4}, {SHARE_ALL, 4},   {SHARE_APART_SMS, 8},
                                  {SHARE_ALL, 8}};
enum { WIDER_MODES = sizeof WIDER / sizeof WIDER[0] };

/* Four threads step SMs in a cycle of 30 microseconds, any other number in more. */
static double four_are_best(ShareMode mode) {
    return mode.way == SHARE_APART_SMS && mode.threads == 4 ? 30e-6 : 50e-6;
}

static void as_many_threads_as_are_fastest_are_kept(void **state) {
    (void)state;
    Share share;
    start_with(&share, WIDER, WIDER_MODES);
    while (share.decisions < 3)
        step(&share, four_are_best);
    assert_true(share.mode.way == SHARE_APART_SMS && share.mode.threads == 4);
    assert_int_equal(share.stage, SHARE_KEEP);
}

/* The host has the more left for other runs. */
static void of_modes_that_are_alike_the_one_of_fewest_threads_is_kept(void **state) {
    (void)state;
    static const ShareMode alike[] = {{SHARE_ALONE, 1}, {SHARE_APART, 2}, {SHARE_APART_SMS, 8}};
    static const int us[WAYS] = {ALONE_US, SMS_US, 0, 99, 98}; /* by way */
    Share share;
    start_with(&share, alike, 3);
    while (share.decisions < 2 * SHARE_FULL_TRIALS) {
        cycle(&share, us);
        assert_int_equal(share.kept, 0);
    }
}

/* No cycle that is timed, or kept, has a thread that slept through the one before. */
static void threads_that_did_nothing_wake_up_before_they_are_counted_on(void **state) {
    (void)state;
    Share share;
    start_with(&share, WIDER, WIDER_MODES);
    int woken = 0;
    for (uint32_t before = 1; share.decisions < 3; before = share.mode.threads) {
        step(&share, four_are_best);
        if (share.stage == SHARE_WAKE) woken++;
        else assert_true(share.mode.threads <= before);
    }
    assert_true(woken >= SHARE_ROUNDS * 3); /* 2, 4, and 8 threads in each */
}

/* Seven others have the host's processors: all eight wait for one that is late. */
static void threads_that_come_late_do_not_keep_fewer_from_being_tried(void **state) {
    (void)state;
    Share share;
    start_with(&share, WIDER, WIDER_MODES);
    for (uint32_t i = 0; i < MOST && share.decisions == 0; i++) {
        const ShareMode mode = share_next(&share);
        now += mode.threads == 8 ? 1e-3 : four_are_best(mode);
        if (mode.threads == 8) share_waited(&share, UINT32_MAX);
    }
    assert_int_equal(share.decisions, 1);
    assert_true(share.modes[share.kept].threads == 4);
}

/* Each time for twice as long as before, up to a bound; for half as long after a decision. */
static void a_team_that_comes_late_rests_for_longer_and_longer(void **state) {
    (void)state;
    Share share;
    start_first(&share);
    double rest = SHARE_FIRST_PENALTY;
    for (int i = 0; i < 15; i++) {
        const uint32_t decisions = share.decisions;
        while (share.stage != SHARE_TRY || share.mode.way == SHARE_ALONE)
            cycle(&share, EACH_FASTER);
        share_waited(&share, UINT32_MAX);
        if (share.decisions != decisions) rest /= 2;
        assert_int_equal(share.mode.way, SHARE_ALONE);
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
    start_first(&share);
    assert_int_equal(kept_of(&share, EACH_FASTER), SHARE_APART);
    const double until = share.kept_until;
    share_waited(&share, UINT32_MAX);
    assert_int_equal(share_next(&share).way, SHARE_ALONE);
    pass(&share, SHARE_REST, EACH_FASTER);
    assert_int_equal(share.stage, SHARE_WAKE);
    assert_int_equal(share_next(&share).way, SHARE_APART);
    assert_true(share.stage == SHARE_KEEP && share.until == until);
    share_waited(&share, UINT32_MAX);
    now = until + SHARE_MOST_PENALTY;
    while (share.stage == SHARE_REST)
        share_next(&share);
    assert_int_equal(share.stage, SHARE_WAKE);
    share_next(&share);
    assert_int_equal(share.stage, SHARE_TRY);
}

/* Where a cycle takes a thread long, parts of it may differ by long. */
static void a_wait_is_long_by_the_machines_cycle(void **state) {
    (void)state;
    static const int swift[WAYS] = {2, 1, 2, 2, 2}, slow[WAYS] = {100, 60, 90, 90, 90};
    Share share;
    start_first(&share);
    assert_int_equal(kept_of(&share, slow), SHARE_SMS);
    share_waited(&share, 4 * TEAM_LONG);
    assert_int_equal(share.mode.way, SHARE_SMS);
    share_waited(&share, 6 * TEAM_LONG);
    assert_int_equal(share.mode.way, SHARE_ALONE);
    start_first(&share);
    assert_int_equal(kept_of(&share, swift), SHARE_SMS);
    share_waited(&share, 4 * TEAM_LONG);
    assert_int_equal(share.mode.way, SHARE_ALONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_kernel_wakes_nobody),
        cmocka_unit_test(every_way_is_tried_in_each_round_for_the_same_time),
        cmocka_unit_test(the_way_that_takes_least_is_kept),
        cmocka_unit_test(a_way_is_timed_when_it_is_warm),
        cmocka_unit_test(ways_that_the_machine_does_not_allow_are_not_tried),
        cmocka_unit_test(one_bad_round_does_not_decide),
        cmocka_unit_test(what_is_found_right_is_kept_for_longer),
        cmocka_unit_test(what_is_kept_yields_to_what_is_clearly_faster),
        cmocka_unit_test(ways_that_are_far_slower_are_left_out_of_most_trials),
        cmocka_unit_test(a_way_that_was_not_tried_has_no_new_cost),
        cmocka_unit_test(kernels_learn_from_one_another),
        cmocka_unit_test(a_team_that_must_wake_up_first_may_be_late),
        cmocka_unit_test(as_many_threads_as_are_fastest_are_kept),
        cmocka_unit_test(of_modes_that_are_alike_the_one_of_fewest_threads_is_kept),
        cmocka_unit_test(threads_that_did_nothing_wake_up_before_they_are_counted_on),
        cmocka_unit_test(threads_that_come_late_do_not_keep_fewer_from_being_tried),
        cmocka_unit_test(a_team_that_comes_late_rests_for_longer_and_longer),
        cmocka_unit_test(what_is_kept_outlasts_a_rest),
        cmocka_unit_test(a_wait_is_long_by_the_machines_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
