/* The PRO paper: every transition of figure 3, every order of section III, the slow phase, the
 * sorts. */
#include "fabricated.h"

enum { NO_WAIT, BARRIER_WAIT, FINISH_WAIT, FINISH_NO_WAIT, BARRIER_WAIT_1 };

/* CTAs of three warps each, with the given thread instructions per warp; CTA i is in slot i. */
static void set_up(Fabricated *f, int ctas, const int *instructions) {
    fabricate(f, "pro", (FabricatedSize){.ctas = (uint32_t)ctas, .warps_per_cta = 3});
    launch_all(f);
    for (int w = 0; w < ctas * 3; w++)
        f->view.warp[w].thread_instructions = (uint64_t)instructions[w];
}

static int state_of(Fabricated *f, int cta) {
    double order[TYTO_MAX_CTAS], states[TYTO_MAX_CTAS];
    int count = reported_list(f, "order", order, TYTO_MAX_CTAS);
    assert_int_equal(reported_list(f, "states", states, TYTO_MAX_CTAS), count);
    for (int i = 0; i < count; i++)
        if (order[i] == cta) return (int)states[i];
    fail_msg("CTA %d is not in the order", cta);
    return -1;
}

#define EXPECT_CTAS(f, ...) expect_ctas(f, (const int[]){__VA_ARGS__, -1})
static void expect_ctas(Fabricated *f, const int *expected) {
    double order[TYTO_MAX_CTAS];
    int count = reported_list(f, "order", order, TYTO_MAX_CTAS);
    for (int i = 0; i < count; i++)
        assert_int_equal(order[i], expected[i]);
    assert_int_equal(expected[count], -1);
}

/* The order in which the resident warps would be picked. */
#define EXPECT_WARPS(f, ...) expect_warps(f, (const int[]){__VA_ARGS__, -1})
static void expect_warps(Fabricated *f, const int *expected) {
    for (uint64_t ready = f->view.resident & ~f->view.at_barrier; ready; expected++) {
        int warp = pick(f, ready);
        assert_int_equal(warp, *expected);
        ready &= ~(UINT64_C(1) << warp);
    }
    assert_int_equal(*expected, -1);
}

/* ---- Figure 3 ---- */

static void fast_phase_no_wait_to_barrier_wait_and_back(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 1, (int[3]){0});
    assert_int_equal(state_of(&f, 0), NO_WAIT);
    arrive(&f, 0);
    assert_int_equal(state_of(&f, 0), BARRIER_WAIT);
    arrive(&f, 1);
    assert_int_equal(state_of(&f, 0), BARRIER_WAIT);
    arrive(&f, 2);
    release(&f, 0);
    assert_int_equal(state_of(&f, 0), NO_WAIT);
    fabricated_free(&f);
}

static void fast_phase_no_wait_to_finish_wait_to_finish(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 1, (int[3]){0});
    finish_warp(&f, 0);
    assert_int_equal(state_of(&f, 0), FINISH_WAIT);
    finish_warp(&f, 1);
    assert_int_equal(state_of(&f, 0), FINISH_WAIT);
    finish_warp(&f, 2);
    double order[TYTO_MAX_CTAS];
    assert_int_equal(reported_list(&f, "order", order, TYTO_MAX_CTAS), 0);
    fabricated_free(&f);
}

static void a_cta_with_finished_and_waiting_warps_is_in_finish_wait(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 1, (int[3]){0});
    arrive(&f, 0);
    finish_warp(&f, 1);
    assert_int_equal(state_of(&f, 0), FINISH_WAIT);
    arrive(&f, 2);
    assert_int_equal(state_of(&f, 0), FINISH_WAIT);
    release(&f, 0);
    assert_int_equal(state_of(&f, 0), FINISH_WAIT);
    fabricated_free(&f);
}

/* Algorithm 1, lines 20 and 21: from any state. */
static void a_warp_at_a_barrier_takes_its_cta_out_of_finish_wait(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 1, (int[3]){0});
    finish_warp(&f, 1);
    assert_int_equal(state_of(&f, 0), FINISH_WAIT);
    arrive(&f, 0);
    assert_int_equal(state_of(&f, 0), BARRIER_WAIT);
    arrive(&f, 2);
    release(&f, 0);
    assert_int_equal(state_of(&f, 0), NO_WAIT);
    fabricated_free(&f);
}

/* Section III: "at least one warp waiting at a barrier". A CTA can have several barriers. */
static void a_cta_is_in_barrier_wait_while_any_of_its_barriers_holds_a_warp(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 2, (int[6]){0});
    arrive(&f, 0);
    arrive(&f, 1);
    release_some(&f, 0, warps(0, 0));
    assert_int_equal(state_of(&f, 0), BARRIER_WAIT);
    arrive(&f, 3);
    arrive(&f, 4);
    EXPECT_CTAS(&f, 1, 0); /* two warps wait, then one */
    release_some(&f, 0, warps(1, 1));
    assert_int_equal(state_of(&f, 0), NO_WAIT);
    fabricated_free(&f);
}

static void without_barriers_a_waiting_cta_keeps_its_state(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pro:barriers=no", (FabricatedSize){.ctas = 1, .warps_per_cta = 3});
    launch_all(&f);
    arrive(&f, 0);
    assert_int_equal(state_of(&f, 0), NO_WAIT);
    arrive(&f, 1);
    arrive(&f, 2);
    release(&f, 0);
    assert_int_equal(state_of(&f, 0), NO_WAIT);
    fabricated_free(&f);
}

static void the_last_cta_moves_all_to_the_states_of_the_slow_phase(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 3, (int[9]){0});
    arrive(&f, 3);
    finish_warp(&f, 6);
    last_cta(&f);
    assert_int_equal(state_of(&f, 0), FINISH_NO_WAIT); /* was noWait */
    assert_int_equal(state_of(&f, 1), BARRIER_WAIT_1); /* was barrierWait */
    assert_int_equal(state_of(&f, 2), FINISH_NO_WAIT); /* was finishWait */
    assert_true(reported(&f, "is_slow_phase") == 1);
    fabricated_free(&f);
}

/* The SM takes last_cta_dispatched back when another grid begins, without an event. */
static void another_grid_brings_the_fast_phase_back(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 4, (int[12]){0});
    finish_warp(&f, 9);
    finish_warp(&f, 10);
    finish_warp(&f, 11);
    arrive(&f, 3);
    finish_warp(&f, 6);
    last_cta(&f);
    f.view.warp[1].thread_instructions = 10; /* progress of CTA 0 */
    f.view.last_cta_dispatched = false;
    launch(&f, 3, 4);
    assert_int_equal(state_of(&f, 0), NO_WAIT);
    assert_int_equal(state_of(&f, 1), BARRIER_WAIT);
    assert_int_equal(state_of(&f, 2), FINISH_WAIT);
    assert_int_equal(state_of(&f, 4), NO_WAIT);
    assert_true(reported(&f, "is_slow_phase") == 0);
    EXPECT_CTAS(&f, 2, 1, 0, 4);
    EXPECT_WARPS(&f, 7, 8, 4, 5, 1, 0, 2, 9, 10, 11); /* the most progress goes first again */
    last_cta(&f);
    assert_int_equal(state_of(&f, 1), BARRIER_WAIT_1);
    assert_int_equal(state_of(&f, 4), FINISH_NO_WAIT);
    f.view.last_cta_dispatched = false; /* one whose CTAs all go to other SMs at first */
    pass(&f, 1);
    assert_int_equal(state_of(&f, 1), BARRIER_WAIT);
    assert_int_equal(state_of(&f, 4), NO_WAIT);
    fabricated_free(&f);
}

static void slow_phase_barriers_and_ends(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 2, (int[6]){0});
    last_cta(&f);
    arrive(&f, 0);
    assert_int_equal(state_of(&f, 0), BARRIER_WAIT_1);
    finish_warp(&f, 1);
    assert_int_equal(state_of(&f, 0), BARRIER_WAIT_1);
    arrive(&f, 2);
    release(&f, 0);
    assert_int_equal(state_of(&f, 0), FINISH_NO_WAIT);
    finish_warp(&f, 3);
    assert_int_equal(state_of(&f, 1), FINISH_NO_WAIT);
    finish_warp(&f, 4);
    finish_warp(&f, 5);
    EXPECT_CTAS(&f, 0); /* finishNoWait to Finish */
    fabricated_free(&f);
}

static void a_cta_that_comes_in_the_slow_phase_is_in_its_state(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pro", (FabricatedSize){.ctas = 2, .warps_per_cta = 3});
    last_cta(&f);
    launch(&f, 0, 7);
    assert_int_equal(state_of(&f, 7), FINISH_NO_WAIT);
    fabricated_free(&f);
}

/* ---- Orders ---- */

static void states_go_finish_wait_barrier_wait_no_wait(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 3, (const int[]){900, 900, 900, 50, 50, 50, 1, 1, 1});
    pass(&f, 1000);
    arrive(&f, 3);
    finish_warp(&f, 6);
    EXPECT_CTAS(&f, 2, 1, 0);
    fabricated_free(&f);
}

static void no_wait_goes_by_most_progress_then_by_index(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 4, (const int[]){5, 5, 5, 9, 9, 9, 5, 4, 6, 7, 7, 7});
    EXPECT_CTAS(&f, 0, 1, 2, 3); /* not sorted yet */
    pass(&f, 1000);
    EXPECT_CTAS(&f, 1, 3, 0, 2);
    fabricated_free(&f);
}

static void ties_go_by_the_index_in_the_grid_not_by_the_slot(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pro", (FabricatedSize){.ctas = 3, .warps_per_cta = 3});
    launch(&f, 0, 40);
    launch(&f, 1, 12);
    launch(&f, 2, 26);
    EXPECT_CTAS(&f, 12, 26, 40);
    fabricated_free(&f);
}

static void finish_wait_goes_by_warps_finished_then_by_most_progress(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 3, (const int[]){1, 1, 1, 9, 9, 9, 5, 5, 5});
    finish_warp(&f, 6);
    finish_warp(&f, 3);
    finish_warp(&f, 0);
    EXPECT_CTAS(&f, 1, 2, 0); /* one finished warp each: ordered by progress */
    finish_warp(&f, 1);
    EXPECT_CTAS(&f, 0, 1, 2); /* two in CTA 0 */
    fabricated_free(&f);
}

static void barrier_wait_goes_by_warps_at_the_barrier_then_by_most_progress(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 3, (const int[]){1, 1, 1, 9, 9, 9, 5, 5, 5});
    arrive(&f, 0);
    arrive(&f, 3);
    arrive(&f, 6);
    EXPECT_CTAS(&f, 1, 2, 0);
    arrive(&f, 1);
    EXPECT_CTAS(&f, 0, 1, 2);
    fabricated_free(&f);
}

static void the_slow_phase_goes_by_least_progress_behind_barrier_wait_1(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 4, (const int[]){5, 5, 5, 9, 9, 9, 5, 4, 6, 7, 7, 7});
    arrive(&f, 3);
    last_cta(&f);
    EXPECT_CTAS(&f, 1, 0, 2, 3); /* sorted at once; ties by index */
    for (int w = 0; w < 3; w++)
        f.view.warp[w].thread_instructions = 8;
    EXPECT_CTAS(&f, 1, 0, 2, 3);
    pass(&f, 1000);
    EXPECT_CTAS(&f, 1, 2, 3, 0);
    fabricated_free(&f);
}

static void warps_go_by_most_progress_in_no_wait_and_by_least_elsewhere(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 2, (const int[]){5, 9, 7, 1, 3, 2});
    EXPECT_WARPS(&f, 0, 1, 2, 3, 4, 5);
    pass(&f, 1000);
    EXPECT_WARPS(&f, 1, 2, 0, 4, 5, 3);
    arrive(&f, 3); /* CTA 1 moves to barrierWait: ahead, its least progress first */
    EXPECT_WARPS(&f, 5, 4, 1, 2, 0);
    finish_warp(&f, 0); /* CTA 0 moves to finishWait */
    EXPECT_WARPS(&f, 2, 1, 5, 4);
    fabricated_free(&f);
    set_up(&f, 1, (const int[]){5, 9, 7});
    last_cta(&f);
    EXPECT_WARPS(&f, 0, 2, 1);
    fabricated_free(&f);
}

static void warps_are_sorted_when_the_first_waits_or_ends_not_again(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 1, (const int[]){5, 9, 7});
    finish_warp(&f, 0);
    f.view.warp[2].thread_instructions = 20;
    EXPECT_WARPS(&f, 2, 1);
    pass(&f, 1000); /* the regular sort is for CTAs that wait for nothing */
    EXPECT_WARPS(&f, 2, 1);
    fabricated_free(&f);
}

/* ---- Time ---- */

static void the_order_stands_for_1000_cycles(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 2, (const int[]){0, 0, 0, 1, 1, 1});
    pass(&f, 999);
    EXPECT_CTAS(&f, 0, 1);
    pass(&f, 1);
    EXPECT_CTAS(&f, 1, 0);
    for (int w = 0; w < 3; w++)
        f.view.warp[w].thread_instructions = 2;
    pass(&f, 999);
    EXPECT_CTAS(&f, 1, 0);
    pass(&f, 1);
    EXPECT_CTAS(&f, 0, 1);
    assert_true(reported(&f, "sorts") == 2);
    fabricated_free(&f);
}

static void a_released_barrier_moves_none_of_the_others(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 3, (const int[]){9, 9, 9, 1, 1, 1, 0, 0, 0});
    pass(&f, 1000);
    EXPECT_CTAS(&f, 0, 1, 2);
    f.view.warp[3].thread_instructions = 1000;
    for (int w = 6; w < 9; w++)
        arrive(&f, w);
    EXPECT_CTAS(&f, 2, 0, 1);
    release(&f, 2);
    EXPECT_CTAS(&f, 0, 1, 2);
    pass(&f, 1000);
    EXPECT_CTAS(&f, 1, 0, 2);
    fabricated_free(&f);
}

/* CTAs that wait for nothing are ranked by the progress of all CTAs at the last regular sort. */
static void a_released_cta_has_the_place_that_the_last_sort_gives_it(void **unused) {
    (void)unused;
    Fabricated f;
    set_up(&f, 3, (const int[]){9, 9, 9, 1, 1, 1, 0, 0, 0});
    pass(&f, 1000);
    f.view.warp[6].thread_instructions = 1000;
    for (int w = 6; w < 9; w++)
        arrive(&f, w);
    EXPECT_CTAS(&f, 2, 0, 1);
    release(&f, 2);
    EXPECT_CTAS(&f, 0, 1, 2);
    f.view.warp[0].thread_instructions = 2000;
    f.view.warp[3].thread_instructions = 500;
    for (int w = 6; w < 9; w++)
        arrive(&f, w);
    pass(&f, 1000); /* also sorts those that wait then */
    f.view.warp[3].thread_instructions = 5000;
    release(&f, 2);
    EXPECT_CTAS(&f, 0, 2, 1);
    fabricated_free(&f);
}

static void normalised_progress_is_at_most_what_a_finished_cta_executed(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pro:progress=normalised", (FabricatedSize){.ctas = 3, .warps_per_cta = 1});
    launch_all(&f);
    issue_lanes(&f, 0, 5);
    finish_warp(&f, 0);
    issue_lanes(&f, 1, 6);
    issue_lanes(&f, 2, 7);
    pass(&f, 1000);
    EXPECT_CTAS(&f, 1, 2); /* both have done all their work: by index */
    fabricated_free(&f);
}

static void the_threshold_is_a_parameter(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pro:threshold=10", (FabricatedSize){.ctas = 2, .warps_per_cta = 1});
    launch_all(&f);
    issue_lanes(&f, 1, 7);
    pass(&f, 10);
    EXPECT_CTAS(&f, 1, 0);
    fabricated_free(&f);
}

static void progress_counts_active_lanes(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pro", (FabricatedSize){.ctas = 2, .warps_per_cta = 1});
    launch_all(&f);
    issue_lanes(&f, 0, 3);
    issue_lanes(&f, 0, 3);
    issue_lanes(&f, 1, 7);
    pass(&f, 1000);
    EXPECT_CTAS(&f, 1, 0);
    fabricated_free(&f);
}

/* Section III.E: two schedulers share the state, and each takes the best of its own warps. */
static void each_scheduler_takes_the_best_of_its_own_warps(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pro", (FabricatedSize){.schedulers = 2, .ctas = 3, .warps_per_cta = 4});
    launch_all(&f);
    finish_warp(&f, 9); /* CTA 2 first */
    assert_int_equal(pick_of(&f, 0, f.view.resident & f.view.scheduler_warps[0]), 8);
    assert_int_equal(pick_of(&f, 1, f.view.resident & f.view.scheduler_warps[1]), 11);
    fabricated_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_phase_no_wait_to_barrier_wait_and_back),
        cmocka_unit_test(fast_phase_no_wait_to_finish_wait_to_finish),
        cmocka_unit_test(a_cta_with_finished_and_waiting_warps_is_in_finish_wait),
        cmocka_unit_test(a_warp_at_a_barrier_takes_its_cta_out_of_finish_wait),
        cmocka_unit_test(a_cta_is_in_barrier_wait_while_any_of_its_barriers_holds_a_warp),
        cmocka_unit_test(without_barriers_a_waiting_cta_keeps_its_state),
        cmocka_unit_test(a_released_barrier_moves_none_of_the_others),
        cmocka_unit_test(a_released_cta_has_the_place_that_the_last_sort_gives_it),
        cmocka_unit_test(normalised_progress_is_at_most_what_a_finished_cta_executed),
        cmocka_unit_test(the_last_cta_moves_all_to_the_states_of_the_slow_phase),
        cmocka_unit_test(another_grid_brings_the_fast_phase_back),
        cmocka_unit_test(slow_phase_barriers_and_ends),
        cmocka_unit_test(a_cta_that_comes_in_the_slow_phase_is_in_its_state),
        cmocka_unit_test(states_go_finish_wait_barrier_wait_no_wait),
        cmocka_unit_test(no_wait_goes_by_most_progress_then_by_index),
        cmocka_unit_test(ties_go_by_the_index_in_the_grid_not_by_the_slot),
        cmocka_unit_test(finish_wait_goes_by_warps_finished_then_by_most_progress),
        cmocka_unit_test(barrier_wait_goes_by_warps_at_the_barrier_then_by_most_progress),
        cmocka_unit_test(the_slow_phase_goes_by_least_progress_behind_barrier_wait_1),
        cmocka_unit_test(warps_go_by_most_progress_in_no_wait_and_by_least_elsewhere),
        cmocka_unit_test(warps_are_sorted_when_the_first_waits_or_ends_not_again),
        cmocka_unit_test(the_order_stands_for_1000_cycles),
        cmocka_unit_test(the_threshold_is_a_parameter),
        cmocka_unit_test(progress_counts_active_lanes),
        cmocka_unit_test(each_scheduler_takes_the_best_of_its_own_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
