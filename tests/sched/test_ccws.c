/* The CCWS paper: the limit of SWL, the steps T0 to T4 of figure 6, equation (1), the victim tag
 * array, and that only loads are gated. */
#include "fabricated.h"

#include <stdio.h>

#include "base/bits.h"

/* ---- swl ---- */

static void swl_lets_the_oldest_warps_issue(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "swl:limit=3", (FabricatedSize){.warps_per_cta = 2, .ctas = 4});
    launch(&f, 2, 0); /* the limit ignores the boundaries of CTAs */
    launch(&f, 0, 1);
    launch(&f, 1, 2);
    assert_int_equal(may_issue(&f), warps(4, 5) | warps(0, 0));
    finish_warp(&f, 4);
    assert_int_equal(may_issue(&f), warps(5, 5) | warps(0, 1));
    fabricated_free(&f);
}

static void swl_counts_no_warp_that_has_exited(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "swl:limit=2", (FabricatedSize){.warps = 4});
    launch_all(&f);
    assert_int_equal(may_issue(&f), warps(0, 1));
    f.view.exited = warps(0, 0); /* its stores are under way, and no event reports the exit */
    assert_int_equal(may_issue(&f) & ~f.view.exited, warps(1, 2));
    f.view.exited = 0;
    finish_warp(&f, 0);
    assert_int_equal(may_issue(&f), warps(1, 2));
    fabricated_free(&f);
}

static void swl_is_greedy_then_oldest_inside(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "swl:limit=2", (FabricatedSize){.warps = 4});
    launch_all(&f);
    assert_int_equal(step(&f), 0);
    block(&f, warps(0, 0));
    assert_int_equal(step(&f), 1);
    unblock(&f, warps(0, 0));
    assert_int_equal(step(&f), 1);
    block(&f, warps(0, 1));
    assert_int_equal(step(&f), TYTO_NO_WARP); /* 2 and 3 could issue, but may not */
    fabricated_free(&f);
}

static void swl_lets_the_rest_of_a_cta_run_up_to_the_barrier(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "swl:limit=1", (FabricatedSize){.warps_per_cta = 3, .ctas = 2});
    launch_all(&f);
    assert_int_equal(may_issue(&f), warps(0, 0));
    arrive(&f, 0);
    assert_int_equal(may_issue(&f), warps(0, 2));
    arrive(&f, 1);
    arrive(&f, 2);
    release(&f, 0);
    assert_int_equal(may_issue(&f), warps(0, 0));
    fabricated_free(&f);
}

static void swl_lets_the_rest_of_a_cta_end_the_phase_of_an_mbarrier(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "swl:limit=1", (FabricatedSize){.warps_per_cta = 3, .ctas = 2});
    launch_all(&f);
    assert_int_equal(may_issue(&f), warps(0, 0));
    f.view.at_mbarrier = warps(0, 0); /* without an event */
    assert_int_equal(may_issue(&f), warps(0, 2));
    f.view.at_mbarrier = 0;
    assert_int_equal(may_issue(&f), warps(0, 0));
    fabricated_free(&f);
}

/* ---- ccws ---- */

static void issue_many(Fabricated *f, int warp, int count) {
    for (int i = 0; i < count; i++)
        issue(f, warp);
}

/* The warp misses a line that it had brought in and lost. */
static void lose_locality(Fabricated *f, int warp) {
    uint64_t address = (uint64_t)warp << 20;
    l1d_evict(f, warp, address);
    l1d_miss(f, warp, address);
}

/* Section 3.3.4: four warps, W2 loses locality (T1), then W0 and W2 (T2), scores fall (T3), W2
 * finishes and W0 loses locality (T4). */
static void figure_6_walks_from_t0_to_t4(void **unused) {
    (void)unused;
    Fabricated f;
    double scores[4];
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    for (int w = 0; w < 4; w++)
        issue_many(&f, w, 4);

    assert_int_equal(may_load(&f), warps(0, 3)); /* T0: base scores, cutoff 4 x base */
    reported_list(&f, "scores", scores, 4);
    for (int w = 0; w < 4; w++)
        assert_true(scores[w] == 100);
    assert_true(reported(&f, "cutoff") == 400);

    lose_locality(&f,
                  2); /* T1: 1 hit / 16 instructions x 8 x 400 = 200 pushes W3 above the cutoff */
    assert_true(reported(&f, "detected_score") == 200);
    assert_int_equal(may_load(&f), warps(0, 2));

    lose_locality(&f, 0); /* T2: 2 / 16 x 8 x 400 = 400, and */
    lose_locality(&f, 2); /* 3 / 16 x 8 x 400 = 600: W1 and W3 are above */
    assert_int_equal(may_load(&f), warps(2, 2));
    pass(&f, 200); /* W2 400, W0 200 */
    assert_int_equal(may_load(&f), warps(2, 2));
    pass(&f, 1); /* W2 399: W0 may, W1 and W3 stay above */
    assert_int_equal(may_load(&f), warps(0, 0) | warps(2, 2));

    pass(&f, 99); /* T3: W2 300, W0 100, so W0 and one more */
    assert_int_equal(may_load(&f), warps(0, 0) | warps(2, 2));
    pass(&f, 1);
    assert_int_equal(may_load(&f), warps(0, 2));
    pass(&f, 99); /* W2 200: 200 + 100 + 100 is the cutoff, W3 is not below */
    assert_int_equal(may_load(&f), warps(0, 2));
    pass(&f, 1);
    assert_int_equal(may_load(&f), warps(0, 3));

    finish_warp(&f,
                2); /* T4: three warps, cutoff 3 x base; W2's hits and instructions stay counted */
    assert_true(reported(&f, "cutoff") == 300);
    lose_locality(&f, 0); /* 4 / 16 x 8 x 300 = 600 */
    assert_true(reported(&f, "detected_score") == 600);
    assert_int_equal(may_load(&f), warps(0, 0));
    fabricated_free(&f);
}

static void equation_1_is_hits_over_instructions_times_throttle_times_cutoff(void **unused) {
    (void)unused;
    const int throttles[] = {1, 8, 32};
    for (int t = 0; t < 3; t++)
        for (int instructions = 1; instructions < 50; instructions += 12) {
            Fabricated f;
            char policy[40];
            snprintf(policy, sizeof policy, "ccws:k_throttle=%d,base=50", throttles[t]);
            fabricate(&f, policy, (FabricatedSize){.warps = 6});
            launch_all(&f);
            issue_many(&f, 1, instructions);
            for (int hits = 1; hits < 5; hits++) {
                lose_locality(&f, 1);
                int expected = hits * throttles[t] * 6 * 50 / instructions;
                assert_int_equal(reported(&f, "detected_score"), expected);
                double scores[6];
                reported_list(&f, "scores", scores, 6);
                assert_int_equal(scores[1], expected < 50 ? 50 : expected);
            }
            fabricated_free(&f);
        }
}

/* One point per cycle means one point for each warp instruction that could have been issued. */
static void scores_fall_by_a_point_in_each_issue_interval(void **unused) {
    (void)unused;
    Fabricated f;
    double scores[4];
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4, .issue_interval = 4});
    launch_all(&f);
    for (int w = 0; w < 4; w++)
        issue_many(&f, w, 2);
    lose_locality(&f, 2); /* 1 / 8 x 8 x 400 */
    assert_true(reported(&f, "detected_score") == 400);
    assert_true(reported(&f, "cutoff") == 400);
    assert_int_equal(may_load(&f), warps(2, 2));
    pass(&f, 4 * 100);
    reported_list(&f, "scores", scores, 4);
    assert_true(scores[2] == 300 && scores[0] == 100);
    assert_int_equal(may_load(&f), warps(0, 0) | warps(2, 2));
    pass(&f, 4 * 200);
    reported_list(&f, "scores", scores, 4);
    assert_true(scores[2] == 100);
    assert_int_equal(may_load(&f), warps(0, 3));
    fabricated_free(&f);
}

static void hits_so_far(Fabricated *f, int expected) {
    assert_int_equal(reported(f, "vta_hits"), expected);
}

static void a_warp_finds_the_lines_it_lost_itself(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    l1d_evict(&f, 1, 0x1000);
    l1d_miss(&f, 0, 0x1000); /* lost by another warp */
    l1d_miss(&f, 1, 0x1080); /* another line */
    hits_so_far(&f, 0);
    l1d_miss(&f, 1, 0x1000);
    hits_so_far(&f, 1);
    l1d_evict(&f, TYTO_NO_WARP, 0x2000); /* the owner of the line is unknown */
    l1d_miss(&f, 1, 0x2000);
    hits_so_far(&f, 1);
    fabricated_free(&f);
}

/* With sectors, a load makes an access for each sector of a line. */
static void a_load_has_lost_a_line_once_however_many_sectors_it_reads(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    l1d_evict(&f, 1, 0x1000);
    l1d_miss(&f, 1, 0x1000);
    for (int sector = 1; sector < 4; sector++)
        l1d_miss_again(&f, 1, 0x1000);
    hits_so_far(&f, 1);
    l1d_miss(&f, 1, 0x1000); /* the tag stays: the next load finds it */
    hits_so_far(&f, 2);
    fabricated_free(&f);
}

static void the_victim_tags_are_16_per_warp_2_sets_of_8_first_in_first_out(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    for (uint64_t i = 0; i < 16; i++)
        l1d_evict(&f, 2, i * 128); /* eight lines of each set */
    l1d_miss(&f, 2, 0);
    l1d_miss(&f, 2, 15 * 128);
    hits_so_far(&f, 2);
    l1d_evict(&f, 2,
              16 * 128); /* the ninth of set 0 evicts its first one, although that was just hit */
    l1d_miss(&f, 2, 0);
    hits_so_far(&f, 2);
    l1d_miss(&f, 2, 1 * 128); /* set 1 is unchanged */
    l1d_miss(&f, 2, 2 * 128);
    l1d_miss(&f, 2, 16 * 128);
    hits_so_far(&f, 5);
    fabricated_free(&f);
}

/* The set of a line is its number plus seven times its tag, as in the caches. With two sets this is
 * the sum of its two lowest bits. */
static void sets_of_victim_tags_are_sums(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    const uint64_t even_sums[] = {0, 3, 4, 7, 8, 11, 12, 15};
    for (int i = 0; i < 8; i++)
        l1d_evict(&f, 0, even_sums[i] * 128);
    l1d_evict(&f, 0, 18 * 128); /* an odd one */
    l1d_miss(&f, 0, 0);
    hits_so_far(&f, 1);
    l1d_evict(&f, 0, 19 * 128);
    l1d_miss(&f, 0, 0);
    hits_so_far(&f, 1);
    fabricated_free(&f);
}

static void victim_tags_are_of_slots_and_a_new_warp_finds_them(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    l1d_evict(&f, 3, 0x1000);
    finish_warp(&f, 3);
    launch(&f, 3, 4);
    l1d_miss(&f, 3, 0x1000);
    hits_so_far(&f, 1);
    fabricated_free(&f);
}

static void a_load_that_joins_a_line_under_way_has_missed_too(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    l1d_evict(&f, 2, 0x1000);
    l1d_join(&f, 2, 0x1000);
    hits_so_far(&f, 1);
    l1d_join(&f, 1, 0x1000);
    hits_so_far(&f, 1);
    fabricated_free(&f);
}

static void a_store_makes_every_warp_forget_the_line(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    for (int w = 0; w < 4; w++) {
        l1d_evict(&f, w, 0x1000);
        l1d_evict(&f, w, 0x2000);
    }
    l1d_store(&f, 1, 0x1000);
    for (int w = 0; w < 4; w++)
        l1d_miss(&f, w, 0x1000);
    hits_so_far(&f, 0);
    for (int w = 0; w < 4; w++)
        l1d_miss(&f, w, 0x2000);
    hits_so_far(&f, 4);
    fabricated_free(&f);
}

static void a_forgotten_line_leaves_its_place_to_the_next(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws:vta_sets=1,vta_ways=2", (FabricatedSize){.warps = 2});
    launch_all(&f);
    l1d_evict(&f, 0, 0x1000);
    l1d_evict(&f, 0, 0x2000);
    l1d_store(&f, 0, 0x2000);
    l1d_evict(&f, 0, 0x3000); /* there is room: 0x1000 stays */
    l1d_miss(&f, 0, 0x1000);
    l1d_miss(&f, 0, 0x3000);
    hits_so_far(&f, 2);
    fabricated_free(&f);
}

/* A hit gives 8 x 400 / instructions points: 1600 with 2 instructions, 400 with 8. */
static void scores_stay_below_what_a_hit_would_give_now(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    issue_many(&f, 0, 2);
    lose_locality(&f, 0);
    assert_int_equal(may_load(&f), warps(0, 0));
    issue_many(&f, 0, 14); /* 8 x 400 / 16 = 200 */
    assert_int_equal(may_load(&f), warps(0, 2));
    fabricated_free(&f);
}

/* Section 5.7: two registers, for all hits and all instructions. */
static void what_ended_warps_lost_and_issued_still_counts(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    issue_many(&f, 1, 8);
    lose_locality(&f, 1);
    finish_warp(&f, 1);
    launch(&f, 1, 4);
    double scores[4];
    reported_list(&f, "scores", scores, 4);
    assert_true(scores[1] == 100);
    issue_many(&f, 0, 8);
    lose_locality(&f, 0);
    assert_true(reported(&f, "detected_score") == 2 * 8 * 400 / 16);
    hits_so_far(&f, 2);
    fabricated_free(&f);
}

/* Warps that only wait for their stores are still on the SM, but issue nothing more. */
static void warps_that_have_exited_do_not_count(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    issue_many(&f, 0, 16);
    lose_locality(&f, 3); /* 1 / 16 x 8 x 400 = 200 */
    assert_int_equal(may_load(&f), warps(0, 1) | warps(3, 3));
    f.view.exited = warps(0, 0);
    assert_true(reported(&f, "cutoff") == 300);
    assert_int_equal(may_load(&f), warps(1, 1) | warps(3, 3));
    issue(&f, 1); /* scores are at most 1 / 17 x 8 x 300 = 141 */
    assert_int_equal(may_load(&f), warps(1, 3));
    f.view.exited = 0;
    assert_int_equal(may_load(&f), warps(0, 3)); /* 141 + 100 + 100 < 400 */
    f.view.exited = warps(3, 3);
    assert_int_equal(may_load(&f), warps(0, 2));
    fabricated_free(&f);
}

static void a_detected_score_is_in_whole_points(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4, .issue_interval = 4});
    launch_all(&f);
    issue_many(&f, 0, 9);
    lose_locality(&f, 0); /* 3200 / 9 = 355.6 */
    assert_true(reported(&f, "detected_score") == 355);
    fabricated_free(&f);
}

static void loads_are_gated_and_nothing_else(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 4});
    launch_all(&f);
    issue(&f, 0);
    lose_locality(&f, 0); /* 3200 points: no other warp may load */
    assert_int_equal(may_load(&f), warps(0, 0));
    assert_null(f.policy->policy->may_issue);
    assert_int_equal(pick(&f, warps(1, 3)), 1);
    assert_int_equal(pick(&f, warps(3, 3)), 3);
    fabricated_free(&f);
}

static void prioritization_among_the_allowed_is_greedy_then_oldest(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 3});
    launch_all(&f);
    issue(&f, 1);
    lose_locality(&f, 2);
    assert_int_equal(pick(&f, warps(0, 2)), 1); /* the score gates, it does not rank */
    assert_int_equal(pick(&f, warps(0, 0) | warps(2, 2)), 0);
    fabricated_free(&f);
}

/* ---- ccws against a model that does everything every cycle ---- */

typedef struct Model {
    uint64_t score[16]; /* points, by warp */
    uint64_t hits, instructions;
    uint64_t resident;
} Model;

/* Equation (1) caps every score, with the current hits, instructions and resident warps. */
static void model_cap(Model *m) {
    uint64_t cutoff = (uint64_t)bits_count64(m->resident) * 100;
    uint64_t cap = m->hits * 8 * cutoff / (m->instructions ? m->instructions : 1);
    for (int w = 0; w < 16; w++)
        if (m->score[w] > cap) m->score[w] = cap < 100 ? 100 : cap;
}

static uint64_t model_may_load(const Model *m) {
    uint64_t limit = (uint64_t)bits_count64(m->resident) * 100, sum = 0, allowed = 0;
    for (uint64_t rest = m->resident; rest && sum < limit;) {
        int best = tyto_lowest(rest);
        for (uint64_t others = rest; others; others &= others - 1)
            if (m->score[tyto_lowest(others)] > m->score[best]) best = tyto_lowest(others);
        allowed |= UINT64_C(1) << best;
        sum += m->score[best];
        rest &= ~(UINT64_C(1) << best);
    }
    return allowed;
}

static uint32_t next_random(uint32_t *seed) { return *seed = *seed * 1664525 + 1013904223; }

/* Two levels, with groups of 2: a group continues while any of its warps can issue, and gives way
 * when the loads of its other warps are held back. */
static void over_two_levels_a_group_whose_loads_are_held_back_gives_way(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws:group=2", (FabricatedSize){.warps = 4});
    launch_all(&f);
    assert_int_equal(step(&f), 0);
    block(&f, warps(0, 0));
    assert_int_equal(step(&f), 1); /* its group */
    unblock(&f, warps(0, 0));
    lose_locality(&f, 2); /* 1 hit / 2 instructions x 8 x 400: no other may load */
    assert_int_equal(may_load(&f), warps(2, 2));
    f.view.wants_load = warps(0, 2);
    assert_int_equal(pick(&f, warps(2, 3)), 2);
    f.view.wants_load = 0;
    block(&f, warps(2, 3));
    assert_int_equal(step(&f), 1); /* greedy in the first group */
    fabricated_free(&f);
}

static void who_may_load_is_what_a_walk_over_sorted_scores_gives_in_every_cycle(void **unused) {
    (void)unused;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        Fabricated f;
        Model m = {.resident = warps(0, 15)};
        fabricate(&f, "ccws", (FabricatedSize){.warps = 16});
        launch_all(&f);
        for (int w = 0; w < 16; w++)
            m.score[w] = 100;
        uint32_t random = seed;
        for (int cycle = 0; cycle < 3000; cycle++) {
            int warp = (int)(next_random(&random) >> 16) % 16;
            if (!tyto_has(m.resident, warp)) warp = tyto_lowest(m.resident);
            issue(&f, warp);
            m.instructions++;
            model_cap(&m);
            if (next_random(&random) >> 16 < 600) {
                lose_locality(&f, warp);
                m.hits++;
                m.score[warp] = UINT64_MAX;
                model_cap(&m);
            }
            if (cycle % 700 == 699) {
                finish_warp(&f, warp);
                m.resident &= ~(UINT64_C(1) << warp);
                model_cap(&m);
            }
            uint64_t expected = model_may_load(&m);
            assert_int_equal(may_load(&f), expected);
            pass(&f, 1);
            for (int w = 0; w < 16; w++)
                m.score[w] -= m.score[w] > 100;
        }
        fabricated_free(&f);
    }
}

static void it_wakes_when_the_next_warp_may_load_not_later(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ccws", (FabricatedSize){.warps = 8});
    launch_all(&f);
    assert_int_equal(f.policy->policy->next_change(f.state, &f.view), UINT64_MAX);
    for (int w = 0; w < 8; w++)
        issue_many(&f, w, 2);
    lose_locality(&f, 3);
    lose_locality(&f, 5);
    while (may_load(&f) != warps(0, 7)) {
        uint64_t before = may_load(&f), wait = f.policy->policy->next_change(f.state, &f.view);
        assert_in_range(wait, 1, 10000);
        for (uint64_t c = 1; c < wait; c++) {
            pass(&f, 1);
            assert_int_equal(may_load(&f), before);
        }
        pass(&f, 1);
    }
    fabricated_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swl_lets_the_oldest_warps_issue),
        cmocka_unit_test(swl_counts_no_warp_that_has_exited),
        cmocka_unit_test(swl_is_greedy_then_oldest_inside),
        cmocka_unit_test(swl_lets_the_rest_of_a_cta_run_up_to_the_barrier),
        cmocka_unit_test(swl_lets_the_rest_of_a_cta_end_the_phase_of_an_mbarrier),
        cmocka_unit_test(figure_6_walks_from_t0_to_t4),
        cmocka_unit_test(equation_1_is_hits_over_instructions_times_throttle_times_cutoff),
        cmocka_unit_test(scores_fall_by_a_point_in_each_issue_interval),
        cmocka_unit_test(a_warp_finds_the_lines_it_lost_itself),
        cmocka_unit_test(a_load_has_lost_a_line_once_however_many_sectors_it_reads),
        cmocka_unit_test(the_victim_tags_are_16_per_warp_2_sets_of_8_first_in_first_out),
        cmocka_unit_test(sets_of_victim_tags_are_sums),
        cmocka_unit_test(victim_tags_are_of_slots_and_a_new_warp_finds_them),
        cmocka_unit_test(a_load_that_joins_a_line_under_way_has_missed_too),
        cmocka_unit_test(a_store_makes_every_warp_forget_the_line),
        cmocka_unit_test(a_forgotten_line_leaves_its_place_to_the_next),
        cmocka_unit_test(scores_stay_below_what_a_hit_would_give_now),
        cmocka_unit_test(what_ended_warps_lost_and_issued_still_counts),
        cmocka_unit_test(warps_that_have_exited_do_not_count),
        cmocka_unit_test(a_detected_score_is_in_whole_points),
        cmocka_unit_test(loads_are_gated_and_nothing_else),
        cmocka_unit_test(prioritization_among_the_allowed_is_greedy_then_oldest),
        cmocka_unit_test(over_two_levels_a_group_whose_loads_are_held_back_gives_way),
        cmocka_unit_test(who_may_load_is_what_a_walk_over_sorted_scores_gives_in_every_cycle),
        cmocka_unit_test(it_wakes_when_the_next_warp_may_load_not_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
