/* Linebacker's load monitor and its decisions on CTAs, step by step on a fabricated SM. */
#include "fabricated.h"

/* Four CTAs of two warps; windows of 100 cycles. */
static void begin(Fabricated *f, const char *parameters) {
    char policy[120];
    snprintf(policy, sizeof policy, "linebacker:window=100%s", parameters);
    fabricate(f, policy, (FabricatedSize){.warps = 8, .warps_per_cta = 2});
    launch_all(f);
    assert_int_equal(may_issue(f), warps(0, 7));
}

/* The load at `pc` hits and misses lines of its own. */
static void loads(Fabricated *f, uint32_t pc, int hits, int misses) {
    for (int i = 0; i < hits; i++)
        l1d_look_up(f, 0, pc, 0x100000 * pc, 0);
    for (int i = 0; i < misses; i++)
        l1d_look_up(f, 0, pc, 0x100000 * pc + 0x1000 * (uint64_t)(i + 1), TYTO_NO_WARP);
}

static void window(Fabricated *f, int instructions) {
    for (int i = 0; i < instructions; i++)
        issue(f, 0);
    pass(f, 100);
}

/* Two windows in which the load at pc 3 always hits, with 100 instructions each: a CTA is paused.
 */
static void monitor(Fabricated *f) {
    for (int i = 0; i < 2; i++) {
        loads(f, 3, 1, 0);
        window(f, 100);
    }
    assert_int_equal(may_issue(f), warps(0, 5));
}

/* ---- The load monitor ---- */

/* 1 of 5 is the threshold, 1 of 6 is less. */
static void two_windows_that_select_the_same_loads_pause_a_cta(void **unused) {
    (void)unused;
    Fabricated f;
    begin(&f, "");
    loads(&f, 3, 1, 4);
    loads(&f, 4, 1, 5);
    loads(&f, 5, 7, 0);
    pass(&f, 100);
    assert_int_equal(may_issue(&f), warps(0, 7));
    assert_int_equal((int)reported(&f, "selected_loads"), 0); /* not yet */
    loads(&f, 3, 2, 8);
    loads(&f, 5, 1, 0);
    pass(&f, 99);
    assert_int_equal(may_issue(&f), warps(0, 7));
    pass(&f, 1);
    assert_int_equal(may_issue(&f), warps(0, 5));
    assert_int_equal((int)reported(&f, "selected_loads"), 2);
    assert_int_equal((int)reported(&f, "monitored"), 2);
    assert_int_equal((int)reported(&f, "monitored_accesses"), 5 + 6 + 7 + 10 + 1);
    assert_int_equal((int)reported(&f, "lowered"), 1);
    fabricated_free(&f);
}

static void windows_that_differ_are_followed_by_another(void **unused) {
    (void)unused;
    static const uint32_t selects[] = {3, 5, 3, 5, 5};
    Fabricated f;
    begin(&f, "");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(may_issue(&f), warps(0, 7));
        loads(&f, selects[i], 1, 0);
        loads(&f, 8 - selects[i], 0, 1);
        pass(&f, 100);
    }
    assert_int_equal(may_issue(&f), warps(0, 5));
    assert_int_equal((int)reported(&f, "monitored"), 5);
    fabricated_free(&f);
}

static void without_a_load_with_locality_no_cta_is_ever_paused(void **unused) {
    (void)unused;
    for (int always = 0; always < 2; always++) {
        Fabricated f;
        begin(&f, always ? ",starts=always" : "");
        for (int i = 0; i < 2; i++) {
            loads(&f, 3, 1, 9);
            pass(&f, 100);
        }
        for (int i = 0; i < 4; i++) { /* too late */
            loads(&f, 3, 9, 1);
            window(&f, 10 << i);
        }
        assert_int_equal(may_issue(&f), always ? warps(0, 1) : warps(0, 7));
        assert_int_equal((int)reported(&f, "selected_loads"), 0);
        assert_int_equal((int)reported(&f, "monitored"), always ? 1 : 2);
        fabricated_free(&f);
    }
}

/* Each line is read, lost, and read again: half of the accesses are hits only among the tags. */
static void a_miss_on_a_lost_line_shows_locality(void **unused) {
    (void)unused;
    static const struct {
        const char *parameters;
        bool stores;
        int victim_hits;
    } rows[] = {{",hits=victims", false, 6}, {",hits=victims", true, 0}, {",hits=l1d", false, 0}};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        Fabricated f;
        begin(&f, rows[row].parameters);
        for (uint64_t line = 0x1000; line < 0x7000; line += 0x1000) {
            l1d_look_up(&f, 1, 9, line, TYTO_NO_WARP);
            l1d_evict(&f, 1, line);
            if (rows[row].stores) l1d_store(&f, 0, line);
            l1d_look_up(&f, 2, 9, line, TYTO_NO_WARP);
            if (line == 0x3000) pass(&f, 100);
        }
        pass(&f, 100);
        assert_int_equal((int)reported(&f, "victim_tag_hits"), rows[row].victim_hits);
        assert_int_equal(may_issue(&f), rows[row].victim_hits ? warps(0, 5) : warps(0, 7));
        fabricated_free(&f);
    }
}

static void further_sectors_of_a_line_are_no_accesses(void **unused) {
    (void)unused;
    Fabricated f;
    begin(&f, "");
    l1d_miss(&f, 0, 0x1000);
    l1d_miss_again(&f, 0, 0x1020);
    assert_int_equal((int)reported(&f, "monitored_accesses"), 1);
    fabricated_free(&f);
}

/* ---- The number of CTAs ---- */

/* The bounds are 10%: 110 and 90 of 100 change nothing. */
static void a_rise_pauses_a_cta_and_a_fall_lets_one_continue(void **unused) {
    (void)unused;
    static const struct {
        int instructions, running; /* CTAs after the window */
    } rows[] = {{110, 3}, {99, 3},  {100, 3}, {90, 3}, {100, 2}, {111, 1}, {200, 1},
                {179, 2}, {179, 2}, {160, 3}, {1, 4},  {0, 4},   {0, 4}};
    Fabricated f;
    begin(&f, "");
    monitor(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        window(&f, rows[i].instructions);
        assert_int_equal(may_issue(&f), warps(0, 2 * rows[i].running - 1));
        assert_int_equal((int)reported(&f, "cta_limit"), rows[i].running);
    }
    assert_int_equal((int)reported(&f, "lowered"), 3);
    assert_int_equal((int)reported(&f, "raised"), 3);
    fabricated_free(&f);
}

static void the_first_window_may_stay_the_one_compared_with(void **unused) {
    (void)unused;
    static const struct {
        int instructions, previous, first; /* CTAs that run, by the two readings */
    } rows[] = {{111, 2, 2}, {112, 2, 1}, {95, 3, 1}, {89, 3, 2}, {88, 3, 3}};
    for (int first = 0; first < 2; first++) {
        Fabricated f;
        begin(&f, first ? ",against=first" : ",against=previous");
        monitor(&f);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            window(&f, rows[i].instructions);
            const int running = first ? rows[i].first : rows[i].previous;
            assert_int_equal(may_issue(&f), warps(0, 2 * running - 1));
        }
        fabricated_free(&f);
    }
}

/* When few CTAs are left, the next pause counts from them, not from the limit. */
static void a_cta_of_the_last_ones_is_paused(void **unused) {
    (void)unused;
    Fabricated f;
    begin(&f, "");
    for (int warp = 4; warp < 8; warp++)
        finish_warp(&f, warp);
    for (int i = 0; i < 2; i++) {
        loads(&f, 3, 1, 0);
        window(&f, 100);
    }
    assert_int_equal(may_issue(&f), warps(0, 1));
    finish_warp(&f, 0);
    finish_warp(&f, 1);
    assert_int_equal(may_issue(&f), warps(2, 3));
    fabricated_free(&f);
}

static void windows_pass_only_while_the_sm_has_ctas(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "linebacker:window=100", (FabricatedSize){.warps = 8, .warps_per_cta = 2});
    pass(&f, 1000);
    launch_all(&f);
    pass(&f, 99);
    assert_int_equal((int)reported(&f, "monitored"), 0);
    pass(&f, 1);
    assert_int_equal((int)reported(&f, "monitored"), 1);
    fabricated_free(&f);
}

static void windows_that_pass_at_once_are_compared_one_by_one(void **unused) {
    (void)unused;
    Fabricated f;
    begin(&f, "");
    monitor(&f);
    window(&f, 100);
    pass(&f, 250); /* windows without instructions: a fall, then no change */
    assert_int_equal(may_issue(&f), warps(0, 7));
    assert_int_equal((int)reported(&f, "raised"), 1);
    fabricated_free(&f);
}

/* A warp of another CTA of the cluster, or another grid, may have to arrive. */
static void paused_warps_issue_while_all_running_ones_wait_for_warps_or_grids(void **unused) {
    (void)unused;
    Fabricated f;
    begin(&f, "");
    monitor(&f);
    f.view.at_mbarrier = warps(0, 3);
    f.view.waits_other = warps(4, 4);
    assert_int_equal(may_issue(&f), warps(0, 5));
    arrive(&f, 5);
    assert_int_equal(may_issue(&f), warps(0, 7));
    f.view.waits_other = 0;
    assert_int_equal(may_issue(&f), warps(0, 5));
    f.view.exited = warps(4, 4); /* its stores are under way */
    assert_int_equal(may_issue(&f), warps(0, 7));
    fabricated_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_windows_that_select_the_same_loads_pause_a_cta),
        cmocka_unit_test(windows_that_differ_are_followed_by_another),
        cmocka_unit_test(without_a_load_with_locality_no_cta_is_ever_paused),
        cmocka_unit_test(a_miss_on_a_lost_line_shows_locality),
        cmocka_unit_test(further_sectors_of_a_line_are_no_accesses),
        cmocka_unit_test(a_rise_pauses_a_cta_and_a_fall_lets_one_continue),
        cmocka_unit_test(the_first_window_may_stay_the_one_compared_with),
        cmocka_unit_test(a_cta_of_the_last_ones_is_paused),
        cmocka_unit_test(windows_pass_only_while_the_sm_has_ctas),
        cmocka_unit_test(windows_that_pass_at_once_are_compared_one_by_one),
        cmocka_unit_test(paused_warps_issue_while_all_running_ones_wait_for_warps_or_grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
