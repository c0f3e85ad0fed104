/* Tests which parts of a cycle the pool executes, with a simulated clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/thread_pool.h"
#include "engine/thread_tuner.h"

static double now; /* the time of the clock */

static double clock_of_test(void) { return now; }

enum { ALONE_US = 100, SMS_US = 60, ALL_US = 40, SPLIT_US = 30, BOTH_US = 50, MOST = 1000000 };

/* Each way with two threads; a mode has the number of its way. */
enum { WAYS = THREADS_SPLIT_SMS + 1 };
static const ThreadMode TWO[WAYS] = {{THREADS_ALONE, 1},
                                     {THREADS_SMS, 2},
                                     {THREADS_ALL, 2},
                                     {THREADS_SPLIT, 2},
                                     {THREADS_SPLIT_SMS, 2}};
static const int EACH_FASTER[WAYS] = {ALONE_US, SMS_US, ALL_US, SPLIT_US, BOTH_US};

/* One cycle, with the duration of its way. */
static ThreadWay cycle(ThreadTuner *tuner, const int us[WAYS]) {
    const ThreadWay way = thread_tuner_next(tuner).way;
    now += us[way] * 1e-6;
    return way;
}

static void start_with(ThreadTuner *tuner, const ThreadMode *modes, uint32_t count) {
    now = 5;
    thread_tuner_init(tuner, clock_of_test, modes, count);
}

static void start_first(ThreadTuner *tuner) { start_with(tuner, TWO, WAYS); }

/* Continues until the stage changes. Returns the seconds. */
static double pass(ThreadTuner *tuner, ThreadTunerStage stage, const int us[WAYS]) {
    const double before = now;
    for (uint32_t i = 0; i < MOST && tuner->stage == stage; i++)
        cycle(tuner, us);
    assert_true(tuner->stage != stage);
    return now - before;
}

/* Continues to the next decision. Returns the way that is kept. */
static ThreadWay kept_of(ThreadTuner *tuner, const int us[WAYS]) {
    const uint32_t before = tuner->decisions;
    for (uint32_t i = 0; i < MOST && tuner->decisions == before; i++)
        cycle(tuner, us);
    assert_int_equal(tuner->stage, TUNER_KEEP);
    return tuner->kept;
}

static double absolute(double value) { return value < 0 ? -value : value; }

static void a_short_kernel_wakes_nobody(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_first(&tuner);
    assert_true(pass(&tuner, TUNER_REST, EACH_FASTER) >= TUNER_NAP_SECONDS);
    assert_true(tuner.stage == TUNER_TRY && tuner.mode.way == THREADS_ALONE);
}

static void every_way_is_tried_in_each_round_for_the_same_time(void **state) {
    (void)state;
    ThreadTuner tuner;
    double spent[WAYS] = {0};
    start_first(&tuner);
    pass(&tuner, TUNER_REST, EACH_FASTER);
    while (tuner.decisions == 0) {
        const bool is_trial = tuner.stage == TUNER_TRY;
        const double before = now;
        const ThreadWay way = cycle(&tuner, EACH_FASTER);
        if (is_trial) spent[way] += now - before;
    }
    for (int way = 0; way < WAYS; way++) {
        const double look = TUNER_LOOK_CYCLES * EACH_FASTER[way] * 1e-6;
        const double least = TUNER_WARM_SECONDS + TUNER_TRIAL_SECONDS;
        const double most = TUNER_ROUNDS * (least + 3 * look);
        assert_true(spent[way] > TUNER_ROUNDS * least * 0.9 && spent[way] < most);
    }
}

static void the_way_that_takes_least_is_kept(void **state) {
    (void)state;
    for (int fast = 0; fast < WAYS; fast++) {
        int us[WAYS];
        for (int way = 0; way < WAYS; way++)
            us[way] = way == fast ? SMS_US : ALONE_US;
        ThreadTuner tuner;
        start_first(&tuner);
        assert_int_equal(kept_of(&tuner, us), fast);
        for (int i = 0; i < 2 * TUNER_LOOK_CYCLES; i++)
            assert_int_equal(cycle(&tuner, us), fast);
    }
}

/* The time until units are in the caches of their new threads does not count. */
static void a_way_is_timed_when_it_is_warm(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_first(&tuner);
    ThreadWay before = THREADS_ALONE;
    for (double cold = 0; tuner.decisions == 0; before = tuner.mode.way) {
        if (tuner.mode.way != before) cold = now + TUNER_WARM_SECONDS / 2;
        cycle(&tuner, EACH_FASTER);
        if (tuner.mode.way == THREADS_SPLIT && now < cold) now += TUNER_WARM_SECONDS / 3;
    }
    assert_int_equal(tuner.kept, THREADS_SPLIT);
    assert_true(tuner.cost[THREADS_SPLIT] < 1.01e-6 * SPLIT_US);
}

static void ways_that_the_machine_does_not_allow_are_not_tried(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_with(&tuner, TWO, THREADS_ALL + 1);
    for (int decisions = 0; decisions < TUNER_FULL_TRIALS + 1; decisions++)
        assert_int_equal(kept_of(&tuner, EACH_FASTER), THREADS_ALL);
    assert_true(tuner.cost[THREADS_SPLIT] == 0 && tuner.cost[THREADS_SPLIT_SMS] == 0);
}

/* A single slow round may mean that another process had the processor. */
static void one_bad_round_does_not_decide(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_first(&tuner);
    pass(&tuner, TUNER_REST, EACH_FASTER);
    while (tuner.mode.way != THREADS_SPLIT)
        cycle(&tuner, EACH_FASTER);
    now += 0.1;
    assert_int_equal(kept_of(&tuner, EACH_FASTER), THREADS_SPLIT);
}

/* Each confirmed decision holds for twice as long as the one before, up to a bound. A new decision
 * starts again. */
static void what_is_found_right_is_kept_for_longer(void **state) {
    (void)state;
    static const int other[WAYS] = {ALONE_US, SMS_US, ALL_US / 4, SPLIT_US, BOTH_US};
    ThreadTuner tuner;
    start_first(&tuner);
    double seconds = TUNER_FIRST_KEPT;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(kept_of(&tuner, EACH_FASTER), THREADS_SPLIT);
        const double kept = pass(&tuner, TUNER_KEEP, EACH_FASTER);
        assert_true(absolute(kept - seconds) < 2 * TUNER_LOOK_CYCLES * SPLIT_US * 1e-6);
        if (seconds < TUNER_MOST_KEPT) seconds *= 2;
    }
    /* a way that was far from the fastest is tried again in the next full trial */
    for (int i = 0; i < TUNER_FULL_TRIALS && tuner.kept != THREADS_ALL; i++)
        kept_of(&tuner, other);
    assert_int_equal(tuner.kept, THREADS_ALL);
    assert_true(pass(&tuner, TUNER_KEEP, other) < 1.2 * TUNER_MOST_KEPT / TUNER_DOUBT);
}

/* The usual variation of a cost between trials changes nothing. */
static void what_is_kept_yields_to_what_is_clearly_faster(void **state) {
    (void)state;
    static const int first[WAYS] = {1000, 600, 500, 300, 500};
    static const int about[WAYS] = {1000, 600, 295, 300, 500};
    static const int clearly[WAYS] = {1000, 600, 280, 300, 500};
    ThreadTuner tuner;
    start_first(&tuner);
    assert_int_equal(kept_of(&tuner, first), THREADS_SPLIT);
    for (int i = 0; i < 2 * TUNER_FULL_TRIALS; i++)
        assert_int_equal(kept_of(&tuner, about), THREADS_SPLIT);
    assert_int_equal(kept_of(&tuner, clearly), THREADS_ALL);
}

/* They cost the time of a slow way, with little chance to win. */
static void ways_that_are_far_slower_are_left_out_of_most_trials(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_first(&tuner);
    kept_of(&tuner, EACH_FASTER);
    pass(&tuner, TUNER_KEEP, EACH_FASTER);
    bool is_tried[WAYS] = {false};
    while (tuner.stage != TUNER_KEEP)
        is_tried[cycle(&tuner, EACH_FASTER)] = true;
    assert_true(is_tried[THREADS_SPLIT] && !is_tried[THREADS_ALONE] && !is_tried[THREADS_SMS]);
    for (int i = 2; i < TUNER_FULL_TRIALS; i++)
        kept_of(&tuner, EACH_FASTER);
    pass(&tuner, TUNER_KEEP, EACH_FASTER);
    while (tuner.stage != TUNER_KEEP)
        is_tried[cycle(&tuner, EACH_FASTER)] = true;
    assert_true(is_tried[THREADS_ALONE] && is_tried[THREADS_SMS] && is_tried[THREADS_SPLIT_SMS]);
}

/* When costs change while some ways are left out, the costs of these do not change. */
static void a_way_that_was_not_tried_has_no_new_cost(void **state) {
    (void)state;
    static const int all_slower[WAYS] = {900, 900, 900, 900, 900};
    ThreadTuner tuner;
    start_first(&tuner);
    kept_of(&tuner, EACH_FASTER);
    const double before = tuner.cost[THREADS_ALONE];
    kept_of(&tuner, all_slower);
    assert_true(tuner.cost[THREADS_ALONE] == before && tuner.cost[THREADS_SPLIT] > before);
    kept_of(&tuner, all_slower); /* and the trials end */
}

/* A kernel continues with the results and the trials of earlier kernels. */
static void kernels_learn_from_one_another(void **state) {
    (void)state;
    static const int swift[WAYS] = {10, 6, 4, 3, 5};
    ThreadTuner tuner;
    start_first(&tuner);
    for (int kernels = 0; tuner.decisions == 0; kernels++) {
        assert_true(kernels < 100);
        thread_tuner_start(&tuner);
        for (const double end = now + 0.002; now < end;)
            cycle(&tuner, swift);
    }
    assert_int_equal(tuner.kept, THREADS_SPLIT);
    thread_tuner_start(&tuner);
    assert_int_equal(cycle(&tuner, swift), THREADS_ALONE);
    pass(&tuner, TUNER_REST, swift);
    assert_int_equal(tuner.stage, TUNER_WAKE);
    cycle(&tuner, swift);
    assert_int_equal(cycle(&tuner, swift), THREADS_SPLIT);
    assert_int_equal(tuner.stage, TUNER_KEEP);
}

static void a_pool_that_must_wake_up_first_may_be_late(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_first(&tuner);
    for (uint32_t i = 0; i < MOST && tuner.stage != TUNER_WAKE; i++)
        cycle(&tuner, EACH_FASTER);
    assert_int_equal(tuner.mode.way, THREADS_SMS);
    thread_tuner_waited(&tuner, UINT32_MAX);
    assert_int_equal(thread_tuner_next(&tuner).way, THREADS_SMS);
    assert_int_equal(tuner.stage, TUNER_TRY);
}

/* Steps a cycle whose duration depends on the mode. */
static void step(ThreadTuner *tuner, double (*seconds)(ThreadMode mode)) {
    now += seconds(thread_tuner_next(tuner));
}

static const ThreadMode WIDER[] = {
    {THREADS_ALONE, 1}, {THREADS_SPLIT, 2},     {THREADS_SPLIT_SMS, 2}, {THREADS_SPLIT_SMS, 4},
    {THREADS_ALL, 4},   {THREADS_SPLIT_SMS, 8}, {THREADS_ALL, 8}};
enum { WIDER_MODES = sizeof WIDER / sizeof WIDER[0] };

/* With four threads for SMs a cycle takes 30 microseconds, with any other mode more. */
static double four_are_best(ThreadMode mode) {
    return mode.way == THREADS_SPLIT_SMS && mode.threads == 4 ? 30e-6 : 50e-6;
}

static void as_many_threads_as_are_fastest_are_kept(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_with(&tuner, WIDER, WIDER_MODES);
    while (tuner.decisions < 3)
        step(&tuner, four_are_best);
    assert_true(tuner.mode.way == THREADS_SPLIT_SMS && tuner.mode.threads == 4);
    assert_int_equal(tuner.stage, TUNER_KEEP);
}

/* This leaves more of the host for other runs. */
static void of_modes_that_are_alike_the_one_of_fewest_threads_is_kept(void **state) {
    (void)state;
    static const ThreadMode alike[] = {
        {THREADS_ALONE, 1}, {THREADS_SPLIT, 2}, {THREADS_SPLIT_SMS, 8}};
    static const int us[WAYS] = {ALONE_US, SMS_US, 0, 99, 98}; /* indexed by way */
    ThreadTuner tuner;
    start_with(&tuner, alike, 3);
    while (tuner.decisions < 2 * TUNER_FULL_TRIALS) {
        cycle(&tuner, us);
        assert_int_equal(tuner.kept, 0);
    }
}

/* Cycles that are timed, or kept, have no thread that slept through the previous cycle. */
static void threads_that_did_nothing_wake_up_before_they_are_counted_on(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_with(&tuner, WIDER, WIDER_MODES);
    int woken = 0;
    for (uint32_t before = 1; tuner.decisions < 3; before = tuner.mode.threads) {
        step(&tuner, four_are_best);
        if (tuner.stage == TUNER_WAKE) woken++;
        else assert_true(tuner.mode.threads <= before);
    }
    assert_true(woken >= TUNER_ROUNDS * 3); /* for 2, 4, and 8 threads in each round */
}

/* Seven other processes use the host's processors: all eight threads wait for one that is late. */
static void threads_that_come_late_do_not_keep_fewer_from_being_tried(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_with(&tuner, WIDER, WIDER_MODES);
    for (uint32_t i = 0; i < MOST && tuner.decisions == 0; i++) {
        const ThreadMode mode = thread_tuner_next(&tuner);
        now += mode.threads == 8 ? 1e-3 : four_are_best(mode);
        if (mode.threads == 8) thread_tuner_waited(&tuner, UINT32_MAX);
    }
    assert_int_equal(tuner.decisions, 1);
    assert_true(tuner.modes[tuner.kept].threads == 4);
}

/* Each rest is twice as long as the one before, up to a bound, and half as long after a
 * decision. */
static void a_pool_that_comes_late_rests_for_longer_and_longer(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_first(&tuner);
    double rest = TUNER_FIRST_PENALTY;
    for (int i = 0; i < 15; i++) {
        const uint32_t decisions = tuner.decisions;
        while (tuner.stage != TUNER_TRY || tuner.mode.way == THREADS_ALONE)
            cycle(&tuner, EACH_FASTER);
        thread_tuner_waited(&tuner, UINT32_MAX);
        if (tuner.decisions != decisions) rest /= 2;
        assert_int_equal(tuner.mode.way, THREADS_ALONE);
        assert_true(tuner.stage == TUNER_REST);
        assert_true(tuner.until - now > rest * 0.999 && tuner.until - now < rest * 1.001);
        if (rest < TUNER_MOST_PENALTY) rest *= 2;
    }
    assert_true(rest >= TUNER_MOST_PENALTY);
}

/* The kept way continues after the rest, when the pool is awake again, but not longer than it would
 * have without the rest. */
static void what_is_kept_outlasts_a_rest(void **state) {
    (void)state;
    ThreadTuner tuner;
    start_first(&tuner);
    assert_int_equal(kept_of(&tuner, EACH_FASTER), THREADS_SPLIT);
    const double until = tuner.kept_until;
    thread_tuner_waited(&tuner, UINT32_MAX);
    assert_int_equal(thread_tuner_next(&tuner).way, THREADS_ALONE);
    pass(&tuner, TUNER_REST, EACH_FASTER);
    assert_int_equal(tuner.stage, TUNER_WAKE);
    assert_int_equal(thread_tuner_next(&tuner).way, THREADS_SPLIT);
    assert_true(tuner.stage == TUNER_KEEP && tuner.until == until);
    thread_tuner_waited(&tuner, UINT32_MAX);
    now = until + TUNER_MOST_PENALTY;
    while (tuner.stage == TUNER_REST)
        thread_tuner_next(&tuner);
    assert_int_equal(tuner.stage, TUNER_WAKE);
    thread_tuner_next(&tuner);
    assert_int_equal(tuner.stage, TUNER_TRY);
}

/* If a thread needs long for a cycle, its parts may also differ by long times. */
static void a_wait_is_long_by_the_machines_cycle(void **state) {
    (void)state;
    static const int swift[WAYS] = {2, 1, 2, 2, 2}, slow[WAYS] = {100, 60, 90, 90, 90};
    ThreadTuner tuner;
    start_first(&tuner);
    assert_int_equal(kept_of(&tuner, slow), THREADS_SMS);
    thread_tuner_waited(&tuner, 4 * THREAD_POOL_LONG);
    assert_int_equal(tuner.mode.way, THREADS_SMS);
    thread_tuner_waited(&tuner, 6 * THREAD_POOL_LONG);
    assert_int_equal(tuner.mode.way, THREADS_ALONE);
    start_first(&tuner);
    assert_int_equal(kept_of(&tuner, swift), THREADS_SMS);
    thread_tuner_waited(&tuner, 4 * THREAD_POOL_LONG);
    assert_int_equal(tuner.mode.way, THREADS_ALONE);
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
        cmocka_unit_test(a_pool_that_must_wake_up_first_may_be_late),
        cmocka_unit_test(as_many_threads_as_are_fastest_are_kept),
        cmocka_unit_test(of_modes_that_are_alike_the_one_of_fewest_threads_is_kept),
        cmocka_unit_test(threads_that_did_nothing_wake_up_before_they_are_counted_on),
        cmocka_unit_test(threads_that_come_late_do_not_keep_fewer_from_being_tried),
        cmocka_unit_test(a_pool_that_comes_late_rests_for_longer_and_longer),
        cmocka_unit_test(what_is_kept_outlasts_a_rest),
        cmocka_unit_test(a_wait_is_long_by_the_machines_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
