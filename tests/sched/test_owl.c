/* The worked examples of the OWL paper: formation of groups, priorities, the two schedules of
 * figure 4. */
#include "fabricated.h"

#include <stdio.h>
#include <stdlib.h>

#include "sched/cta_groups.h"

static void expect_sizes(uint32_t ctas, uint32_t warps_per_cta, uint32_t least,
                         const char *expected) {
    uint32_t sizes[TYTO_MAX_CTAS];
    char text[4 * TYTO_MAX_CTAS] = "";
    uint32_t count = cta_groups_sizes(ctas, warps_per_cta, least, sizes), length = 0;
    for (uint32_t g = 0; g < count; g++)
        length += (uint32_t)sprintf(text + length, "%s%u", g ? " " : "", sizes[g]);
    assert_string_equal(text, expected);
}

/* Section 4.1: N = 10, k = 2, g = 5. */
static void ten_ctas_of_two_warps_form_groups_of_3_3_and_4(void **unused) {
    (void)unused;
    expect_sizes(10, 2, 5, "3 3 4");
}

static void what_remains_joins_the_last_group(void **unused) {
    (void)unused;
    expect_sizes(8, 8, 8, "1 1 1 1 1 1 1 1");
    expect_sizes(8, 4, 8, "2 2 2 2");
    expect_sizes(7, 4, 8, "2 2 3");
    expect_sizes(8, 6, 8, "2 2 2 2");
    expect_sizes(1, 32, 8, "1");
    expect_sizes(5, 1, 5, "5");
    expect_sizes(3, 2, 8, "3"); /* too few warps for one group of 8 */
}

static void groups_are_formed_on_the_sm(void **unused) {
    (void)unused;
    Fabricated f;
    double sizes[TYTO_MAX_CTAS];
    fabricate(&f, "cta-aware:group_size=5", (FabricatedSize){.ctas = 10, .warps_per_cta = 2});
    assert_int_equal(reported_list(&f, "group_sizes", sizes, TYTO_MAX_CTAS), 3);
    assert_true(sizes[0] == 3 && sizes[1] == 3 && sizes[2] == 4);
    fabricated_free(&f);
}

/* Algorithm 1: g_pri[g][s] = (g - s) mod groups. */
static void expect_priorities(const char *policy, uint32_t sm, const double *expected, int count) {
    Fabricated f;
    double priorities[TYTO_MAX_CTAS];
    fabricate(&f, policy,
              (FabricatedSize){.sm = sm, .sms = 28, .ctas = (uint32_t)count, .warps_per_cta = 8});
    assert_int_equal(reported_list(&f, "priorities", priorities, TYTO_MAX_CTAS), count);
    for (int g = 0; g < count; g++)
        assert_true(priorities[g] == expected[g]);
    fabricated_free(&f);
}

static void with_locality_a_groups_priority_is_its_number_on_every_sm(void **unused) {
    (void)unused;
    for (uint32_t sm = 0; sm < 5; sm++)
        expect_priorities("cta-aware-locality", sm, (const double[]){0, 1, 2, 3}, 4);
}

static void with_blp_priorities_are_shifted_by_the_number_of_the_sm(void **unused) {
    (void)unused;
    for (int sm = 0; sm < 28; sm++) {
        double expected[6];
        for (int g = 0; g < 6; g++)
            expected[g] = ((g - sm) % 6 + 6) % 6;
        expect_priorities("cta-aware-locality-blp", (uint32_t)sm, expected, 6);
        expect_priorities("owl", (uint32_t)sm, expected, 6);
    }
}

/* Figure 4: CTAs 1, 3, 5, 7 on one SM, each in a group of its own; here in slots 0 to 3. Each
 * issues twice and is then blocked. The data of CTA 1 arrive while CTA 5 executes. `expected` lists
 * the CTAs in the order of their issues. */
static void expect_figure_4(const char *policy, const int *expected) {
    Fabricated f;
    fabricate(&f, policy, (FabricatedSize){.ctas = 4, .warps_per_cta = 8});
    for (int slot = 0; slot < 4; slot++)
        launch(&f, slot, 1 + 2 * (uint64_t)slot);
    int issues[4] = {0};
    for (int i = 0; expected[i]; i++) {
        int warp = step(&f);
        assert_in_range(warp, 0, 31);
        int slot = f.view.warp[warp].cta_slot;
        assert_int_equal(f.view.cta[slot].index, expected[i]);
        if (++issues[slot] % 2 == 0) block(&f, f.view.cta[slot].warps);
        if (slot == 2) unblock(&f, f.view.cta[0].warps);
    }
    fabricated_free(&f);
}

static void figure_4a_cta_aware_goes_on_to_the_next_groups(void **unused) {
    (void)unused;
    expect_figure_4("cta-aware", (const int[]){1, 1, 3, 3, 5, 5, 7, 7, 1, 1, 0});
}

static void figure_4b_locality_returns_to_the_first_group_at_once(void **unused) {
    (void)unused;
    expect_figure_4("cta-aware-locality", (const int[]){1, 1, 3, 3, 5, 1, 1, 5, 1, 1, 7, 7, 0});
}

static void inside_a_group_warps_take_turns(void **unused) {
    (void)unused;
    const char *const policies[] = {"cta-aware", "cta-aware-locality", "owl"};
    for (int p = 0; p < 3; p++) {
        Fabricated f;
        fabricate(&f, policies[p], (FabricatedSize){.ctas = 4, .warps_per_cta = 4});
        launch_all(&f);
        for (int i = 0; i < 20; i++)
            assert_int_equal(step(&f), i % 8);
        fabricated_free(&f);
    }
}

/* Algorithm 1: another group issues only if all warps are blocked because of unavailability of
 * data. */
static void a_group_gives_way_only_when_all_its_warps_are_blocked(void **unused) {
    (void)unused;
    const char *const policies[] = {"cta-aware", "cta-aware-locality"};
    for (int p = 0; p < 2; p++) {
        Fabricated f;
        fabricate(&f, policies[p], (FabricatedSize){.ctas = 2, .warps_per_cta = 8});
        launch_all(&f);
        assert_int_equal(pick(&f, warps(8, 15)), TYTO_NO_WARP);
        block(&f, warps(0, 6));
        assert_int_equal(pick(&f, warps(8, 15)), TYTO_NO_WARP);
        arrive(&f, 7);
        assert_int_equal(pick(&f, warps(8, 15)), 8);
        fabricated_free(&f);
    }
}

static void with_stall_any_a_group_gives_way_at_once(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cta-aware-locality:stall=any", (FabricatedSize){.ctas = 2, .warps_per_cta = 8});
    launch_all(&f);
    assert_int_equal(pick(&f, warps(8, 15)), 8);
    assert_int_equal(pick(&f, warps(7, 15)), 7);
    fabricated_free(&f);
}

static void finish_cta(Fabricated *f, int slot) {
    for (uint64_t rest = f->view.cta[slot].warps; rest; rest &= rest - 1)
        finish_warp(f, tyto_lowest(rest));
}

/* Section 4.2: when a group has completed, the next one is always prioritized. New CTAs in the old
 * slots come after it. */
static void a_completed_group_goes_behind_the_others(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cta-aware-locality", (FabricatedSize){.ctas = 3, .warps_per_cta = 8});
    launch_all(&f);
    finish_cta(&f, 0);
    launch(&f, 0, 3);
    assert_int_equal(step(&f), 8);
    finish_cta(&f, 1);
    assert_int_equal(step(&f), 16);
    finish_cta(&f, 2);
    assert_int_equal(step(&f), 0);
    fabricated_free(&f);
}

/* Section 4.3 and algorithm 1: groups are numbered in the order in which they were scheduled. So a
 * new group comes after those between, and before those that are older than the preferred one. */
static void with_blp_a_group_is_numbered_by_its_age(void **unused) {
    (void)unused;
    Fabricated f;
    double priorities[TYTO_MAX_CTAS];
    fabricate(&f, "cta-aware-locality-blp",
              (FabricatedSize){.sm = 1, .sms = 28, .ctas = 4, .warps_per_cta = 8});
    launch_all(&f);
    assert_int_equal(step(&f), 8);
    finish_cta(&f, 1);
    launch(&f, 1, 4);
    assert_int_equal(step(&f), 16);
    assert_int_equal(reported_list(&f, "priorities", priorities, TYTO_MAX_CTAS), 4);
    assert_memory_equal(priorities, ((const double[]){3, 2, 0, 1}), 4 * sizeof *priorities);
    fabricated_free(&f);
}

enum { SMS = 6, CTAS = 3 };

/* By SM: the number of the CTA that it prefers, after every SM has finished `waves` CTAs. */
static void preferred_after(const char *policy, int waves, int64_t preferred[SMS]) {
    Fabricated f[SMS];
    uint64_t next = 0;
    for (uint32_t sm = 0; sm < SMS; sm++)
        fabricate(&f[sm], policy,
                  (FabricatedSize){.sm = sm, .sms = SMS, .ctas = CTAS, .warps_per_cta = 8});
    for (int slot = 0; slot < CTAS; slot++)
        for (int sm = 0; sm < SMS; sm++)
            launch(&f[sm], slot, next++);
    for (int wave = 0; wave < waves; wave++) {
        for (int sm = 0; sm < SMS; sm++) {
            int slot = f[sm].view.warp[pick_any(&f[sm])].cta_slot;
            finish_cta(&f[sm], slot);
            launch(&f[sm], slot, next++);
        }
    }
    for (int sm = 0; sm < SMS; sm++) {
        preferred[sm] = (int64_t)f[sm].view.cta[f[sm].view.warp[pick_any(&f[sm])].cta_slot].index;
        fabricated_free(&f[sm]);
    }
}

/* Section 4.3: "non-consecutive CTAs are always prioritized in different cores". In section 4.2,
 * consecutive ones are. */
static void neighbours_prefer_ctas_far_apart_with_blp_whatever_has_finished(void **unused) {
    (void)unused;
    for (int waves = 0; waves < 20; waves++) {
        int64_t with_locality[SMS], with_blp[SMS];
        preferred_after("cta-aware-locality", waves, with_locality);
        preferred_after("cta-aware-locality-blp", waves, with_blp);
        for (int sm = 0; sm + 1 < SMS; sm++) {
            assert_int_equal(with_locality[sm + 1] - with_locality[sm], 1);
            assert_in_range(llabs(with_blp[sm + 1] - with_blp[sm]), SMS - 1, CTAS * SMS);
        }
    }
}

static void a_group_has_completed_when_the_ctas_it_was_filled_with_have(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cta-aware-locality", (FabricatedSize){.ctas = 4, .warps_per_cta = 4});
    launch_all(&f);
    finish_cta(&f, 1);
    launch(&f, 1, 4); /* runs at the group's priority */
    block(&f, warps(0, 3));
    assert_int_equal(step(&f), 4);
    finish_cta(&f, 0); /* now the first generation is complete */
    launch(&f, 0, 5);
    assert_int_equal(step(&f), 8);
    fabricated_free(&f);
}

static void the_fair_variant_hands_the_highest_priority_on(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cta-aware-locality:fair=100", (FabricatedSize){.ctas = 3, .warps_per_cta = 8});
    launch_all(&f);
    const TytoPolicy *policy = f.policy->policy;
    assert_int_equal(policy->next_change(f.state, &f.view), 100);
    pass(&f, 99);
    assert_int_equal(pick_any(&f), 0);
    pass(&f, 1);
    assert_int_equal(pick_any(&f), 8);
    block(&f, warps(8, 15)); /* the others follow in a ring */
    assert_int_equal(pick_any(&f), 16);
    unblock(&f, warps(8, 15));
    pass(&f, 200); /* during sleep: two more turns */
    assert_int_equal(pick_any(&f), 0);
    fabricated_free(&f);
}

static void one_group_of_all_is_round_robin(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cta-aware-locality",
              (FabricatedSize){.ctas = 3, .warps_per_cta = 2, .warps = 6});
    launch_all(&f);
    for (int i = 0; i < 12; i++)
        assert_int_equal(step(&f), i % 6);
    fabricated_free(&f);
}

/* ---- What is asked of the memory controllers ---- */

static DramPrefetchConfig prefetch_of(const char *text) {
    Diag *diag = diag_new();
    SchedPolicy *policy = sched_policy_new(text, diag);
    if (!policy) fail_msg("%s", diag_text(diag));
    DramPrefetchConfig config = {.lower = 77,
                                 .higher = 77,
                                 .threshold = 77,
                                 .skips_cached = true,
                                 .order = DRAM_PREFETCH_ONWARD,
                                 .begins_idle = true};
    sched_policy_prefetch(policy, &config);
    sched_policy_free(policy);
    diag_free(diag);
    return config;
}

static void expect_prefetch(const char *text, DramPrefetchConfig expected) {
    DramPrefetchConfig config = prefetch_of(text);
    assert_int_equal(config.scheme, expected.scheme);
    assert_int_equal(config.lower, expected.lower);
    assert_int_equal(config.higher, expected.higher);
    assert_int_equal(config.threshold, expected.threshold);
    assert_int_equal(config.skips_cached, expected.skips_cached);
    assert_int_equal(config.order, expected.order);
    assert_int_equal(config.begins_idle, expected.begins_idle);
}

/* Section 4.4: C is 8, or 16 while fewer requests wait than on average, and prefetching continues
 * after a demand to another row arrives. Section 4.5: the bits of a row are reset when it is
 * opened, whatever L2 contains. */
static void owl_asks_for_8_lines_and_for_16_while_few_requests_wait(void **unused) {
    (void)unused;
    expect_prefetch("owl", (DramPrefetchConfig){.scheme = DRAM_PREFETCH_MIN,
                                                .lower = 8,
                                                .higher = 16,
                                                .order = DRAM_PREFETCH_AROUND,
                                                .begins_idle = true});
}

static void each_of_owls_parameters_reaches_the_prefetcher_at_its_own_place(void **unused) {
    (void)unused;
    expect_prefetch(
        "owl:prefetch=stop,lower=3,higher=5,threshold=7,skip=cached,order=row,start=always",
        (DramPrefetchConfig){.scheme = DRAM_PREFETCH_STOP,
                             .lower = 3,
                             .higher = 5,
                             .threshold = 7,
                             .skips_cached = true});
    assert_int_equal(prefetch_of("owl:order=onward").order, DRAM_PREFETCH_ONWARD);
    assert_int_equal(prefetch_of("owl:prefetch=none").scheme, DRAM_PREFETCH_NONE);
}

static void a_policy_that_asks_for_nothing_gets_no_prefetcher(void **unused) {
    (void)unused;
    expect_prefetch("cta-aware-locality-blp", (DramPrefetchConfig){0});
}

static void a_shared_object_may_ask_too(void **unused) {
    (void)unused;
    expect_prefetch(
        TEST_PLUGINS "/prefetching.so:lines=6",
        (DramPrefetchConfig){
            .scheme = DRAM_PREFETCH_MIN, .lower = 6, .higher = 12, .skips_cached = true});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_ctas_of_two_warps_form_groups_of_3_3_and_4),
        cmocka_unit_test(what_remains_joins_the_last_group),
        cmocka_unit_test(groups_are_formed_on_the_sm),
        cmocka_unit_test(with_locality_a_groups_priority_is_its_number_on_every_sm),
        cmocka_unit_test(with_blp_priorities_are_shifted_by_the_number_of_the_sm),
        cmocka_unit_test(figure_4a_cta_aware_goes_on_to_the_next_groups),
        cmocka_unit_test(figure_4b_locality_returns_to_the_first_group_at_once),
        cmocka_unit_test(inside_a_group_warps_take_turns),
        cmocka_unit_test(a_group_gives_way_only_when_all_its_warps_are_blocked),
        cmocka_unit_test(with_stall_any_a_group_gives_way_at_once),
        cmocka_unit_test(a_completed_group_goes_behind_the_others),
        cmocka_unit_test(with_blp_a_group_is_numbered_by_its_age),
        cmocka_unit_test(neighbours_prefer_ctas_far_apart_with_blp_whatever_has_finished),
        cmocka_unit_test(a_group_has_completed_when_the_ctas_it_was_filled_with_have),
        cmocka_unit_test(the_fair_variant_hands_the_highest_priority_on),
        cmocka_unit_test(one_group_of_all_is_round_robin),
        cmocka_unit_test(owl_asks_for_8_lines_and_for_16_while_few_requests_wait),
        cmocka_unit_test(each_of_owls_parameters_reaches_the_prefetcher_at_its_own_place),
        cmocka_unit_test(a_policy_that_asks_for_nothing_gets_no_prefetcher),
        cmocka_unit_test(a_shared_object_may_ask_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
