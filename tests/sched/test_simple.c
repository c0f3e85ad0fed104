/* lrr, gto and the two kinds of two-level scheduling, step by step on a fabricated SM. */
#include "fabricated.h"

#include <string.h>

#define EXPECT_STEPS(f, ...) expect_steps(f, (const int[]){__VA_ARGS__, -2})

static void expect_steps(Fabricated *f, const int *picks) {
    for (; *picks != -2; picks++)
        assert_int_equal(step(f), *picks);
}

/* ---- lrr ---- */

static void lrr_takes_turns_in_the_order_of_slots(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "lrr", (FabricatedSize){.warps = 3});
    launch_all(&f);
    EXPECT_STEPS(&f, 0, 1, 2, 0, 1);
    fabricated_free(&f);
}

static void lrr_skips_who_cannot_issue_and_goes_on_after_the_last_issue(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "lrr", (FabricatedSize){.warps = 4});
    launch_all(&f);
    EXPECT_STEPS(&f, 0);
    block(&f, warps(1, 1));
    EXPECT_STEPS(&f, 2, 3, 0, 2);
    unblock(&f, warps(1, 1));
    EXPECT_STEPS(&f, 3, 0, 1);
    fabricated_free(&f);
}

static void lrr_schedulers_turn_independently(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "lrr", (FabricatedSize){.warps = 6, .schedulers = 2});
    launch_all(&f);
    issue(&f, 2);
    assert_int_equal(pick_of(&f, 0, f.view.scheduler_warps[0]), 4);
    assert_int_equal(pick_of(&f, 1, f.view.scheduler_warps[1]), 1);
    fabricated_free(&f);
}

/* ---- gto ---- */

static void gto_stays_until_the_stall_then_takes_the_oldest(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "gto", (FabricatedSize){.warps = 4});
    launch_all(&f);
    EXPECT_STEPS(&f, 0, 0);
    block(&f, warps(0, 0));
    EXPECT_STEPS(&f, 1, 1);
    unblock(&f, warps(0, 0)); /* 0 is older, but 1 did not stall */
    EXPECT_STEPS(&f, 1);
    block(&f, warps(1, 1));
    EXPECT_STEPS(&f, 0);
    fabricated_free(&f);
}

static void greedy_and_oldest_can_be_had_apart(void **unused) {
    (void)unused;
    static const struct {
        const char *policy;
        int first[3], after_a_stall[2], after_another;
    } rows[] = {
        {"gto", {0, 0, 0}, {1, 1}, 0},
        {"gto:order=greedy-next", {0, 0, 0}, {1, 1}, 2},
        {"gto:order=oldest", {0, 0, 0}, {1, 0}, 0},
        {"gto:order=lrr", {0, 1, 2}, {3, 0}, 2},
        {"swl:order=lrr", {0, 1, 2}, {3, 0}, 2},
        {"ccws:order=oldest", {0, 0, 0}, {1, 0}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        fabricate(&f, rows[i].policy, (FabricatedSize){.warps = 4});
        launch_all(&f);
        EXPECT_STEPS(&f, rows[i].first[0], rows[i].first[1], rows[i].first[2]);
        block(&f, warps(0, 0));
        EXPECT_STEPS(&f, rows[i].after_a_stall[0]);
        unblock(&f, warps(0, 0));
        EXPECT_STEPS(&f, rows[i].after_a_stall[1]);
        block(&f, warps(1, 1));
        EXPECT_STEPS(&f, rows[i].after_another);
        fabricated_free(&f);
    }
}

static void gto_age_is_the_order_of_coming_not_the_slot(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "gto", (FabricatedSize){.warps = 6, .warps_per_cta = 2});
    launch(&f, 2, 0);
    launch(&f, 0, 1);
    launch(&f, 1, 2);
    EXPECT_STEPS(&f, 4); /* the lowest thread of the first CTA */
    block(&f, warps(4, 4));
    EXPECT_STEPS(&f, 5);
    block(&f, warps(5, 5));
    EXPECT_STEPS(&f, 0);
    fabricated_free(&f);
}

static void gto_a_slot_taken_again_is_the_youngest(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "gto", (FabricatedSize){.warps = 3});
    launch_all(&f);
    EXPECT_STEPS(&f, 0);
    finish_warp(&f, 0);
    launch(&f, 0, 3);
    EXPECT_STEPS(&f, 1); /* the new warp does not inherit the right to continue */
    block(&f, warps(1, 2));
    EXPECT_STEPS(&f, 0);
    fabricated_free(&f);
}

static void a_turn_goes_on_behind_a_warp_that_finishes(void **unused) {
    (void)unused;
    static const char *const policies[] = {"lrr", "gto:order=lrr", "swl:order=lrr"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        Fabricated f;
        fabricate(&f, policies[i], (FabricatedSize){.warps = 4});
        launch_all(&f);
        EXPECT_STEPS(&f, 0, 1, 2);
        finish_warp(&f, 2);
        EXPECT_STEPS(&f, 3, 0);
        fabricated_free(&f);
    }
}

/* ---- two-level ---- */

static void two_level_runs_a_group_until_all_of_it_waits_for_memory(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "two-level:group=2", (FabricatedSize){.warps = 6});
    launch_all(&f);
    EXPECT_STEPS(&f, 0, 1, 0);
    block(&f, warps(0, 0));
    EXPECT_STEPS(&f, 1, 1);
    block(&f, warps(1, 1));
    EXPECT_STEPS(&f, 2, 3);
    unblock(&f, warps(0, 1)); /* their turn comes after 4 and 5 */
    EXPECT_STEPS(&f, 2);
    block(&f, warps(2, 3));
    EXPECT_STEPS(&f, 4);
    block(&f, warps(4, 5));
    EXPECT_STEPS(&f, 0, 1); /* inside the group, after 1, which issued last */
    fabricated_free(&f);
}

static void two_level_a_short_wait_does_not_end_the_turn(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "two-level:group=2", (FabricatedSize){.warps = 4});
    launch_all(&f);
    assert_int_equal(pick(&f, warps(2, 3)), TYTO_NO_WARP);
    fabricated_free(&f);
    fabricate(&f, "two-level:group=2,stall=any", (FabricatedSize){.warps = 4});
    launch_all(&f);
    assert_int_equal(pick(&f, warps(2, 3)), 2);
    fabricated_free(&f);
}

static void two_level_barriers_and_ends_stall_a_group_too(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "two-level:group=2", (FabricatedSize){.warps = 4, .warps_per_cta = 4});
    launch_all(&f);
    arrive(&f, 0);
    finish_warp(&f, 1);
    EXPECT_STEPS(&f, 2);
    f.view.exited |= warps(2, 2);
    EXPECT_STEPS(&f, 3);
    fabricated_free(&f);
}

static void two_level_gto_is_greedy_inside_and_oldest_first_outside(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "two-level:group=2,inner=gto,outer=gto", (FabricatedSize){.warps = 6});
    launch(&f, 4, 0); /* group {4, 5} holds the oldest warps */
    launch(&f, 5, 1);
    for (int i = 0; i < 4; i++)
        launch(&f, i, (uint64_t)i + 2);
    EXPECT_STEPS(&f, 0, 0); /* turns begin with the first group */
    block(&f, warps(0, 1));
    EXPECT_STEPS(&f, 4, 4);
    unblock(&f, warps(0, 1));
    block(&f, warps(4, 5));
    EXPECT_STEPS(&f, 0); /* older than 2 and 3 */
    fabricated_free(&f);
}

static void two_level_a_newcomer_is_not_the_one_that_issued_last(void **unused) {
    (void)unused;
    static const struct {
        const char *policy;
        int then; /* the warp that issues after warp 1 has been replaced */
    } rows[] = {
        {"two-level:group=4,inner=gto,outer=gto", 0},
        {"ccws:group=4", 0},
        {"two-level:group=4", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        fabricate(&f, rows[i].policy, (FabricatedSize){.warps = 4});
        launch_all(&f);
        issue(&f, 1);
        finish_warp(&f, 1);
        launch(&f, 1, 4);
        EXPECT_STEPS(&f, rows[i].then);
        fabricated_free(&f);
    }
}

static void two_level_groups_hold_the_warps_of_one_scheduler(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "two-level:group=2", (FabricatedSize){.warps = 8, .schedulers = 2});
    launch_all(&f);
    block(&f, warps(1, 1) | warps(3, 3)); /* scheduler 1's first group: 1, 3 */
    assert_int_equal(pick_of(&f, 1, warps(5, 5) | warps(7, 7)), 5);
    assert_int_equal(pick_of(&f, 0, warps(2, 2) | warps(4, 4)), 2);
    fabricated_free(&f);
}

/* ---- two-level-active ---- */

static void active_warps_take_turns_and_others_do_not_issue(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "two-level-active:active=2", (FabricatedSize){.warps = 5});
    launch_all(&f);
    EXPECT_STEPS(&f, 0, 1, 0, 1);
    assert_int_equal(pick(&f, warps(2, 4)), TYTO_NO_WARP);
    fabricated_free(&f);
}

static void active_the_head_of_the_queue_replaces_one_that_waits(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "two-level-active:active=2", (FabricatedSize){.warps = 5});
    launch_all(&f);
    EXPECT_STEPS(&f, 0);
    block(&f, warps(0, 0) | warps(2, 2));
    pass(&f, 1);            /* active 1, 2 (promoted although it waits); queue 3, 4, 0 */
    EXPECT_STEPS(&f, 1, 1); /* first 2 gives way: active 1, 3; queue 4, 0, 2 */
    EXPECT_STEPS(&f, 3, 1);
    fabricated_free(&f);
}

static void active_many_cycles_asleep_are_what_they_would_be_one_by_one(void **unused) {
    (void)unused;
    const uint64_t patterns[] = {0, 0x15, 0x300, 0x7e, 0x3ff, 0x201};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (uint64_t cycles = 1; cycles < 60; cycles++) {
            Fabricated one, many;
            fabricate(&one, "two-level-active:active=3", (FabricatedSize){.warps = 10});
            fabricate(&many, "two-level-active:active=3", (FabricatedSize){.warps = 10});
            Fabricated *both[] = {&one, &many};
            for (int i = 0; i < 2; i++) {
                launch_all(both[i]);
                block(both[i], ~patterns[p]);
                pass(both[i], 1);
            }
            for (uint64_t c = 0; c < cycles; c++)
                pass(&one, 1);
            pass(&many, cycles);
            for (int i = 0; i < 12; i++) {
                assert_int_equal(step(&one), step(&many));
                if (i == 5) {
                    unblock(&one, UINT64_MAX);
                    unblock(&many, UINT64_MAX);
                }
            }
            fabricated_free(&one);
            fabricated_free(&many);
        }
}

/* The same policy in its simplest form: a list of the active slots and a queue, updated in every
 * cycle. */
typedef struct Plain {
    int slot[16], count, active; /* the active ones first */
} Plain;

static void plain_exchange(Plain *p, uint64_t going) {
    int next[16], n = 0, active = p->active;
    for (int i = 0; i < active; i++)
        if (tyto_has(going, p->slot[i])) next[n++] = p->slot[i];
    for (int i = active; i < p->count; i++)
        next[n++] = p->slot[i];
    for (int i = 0; i < active; i++)
        if (!tyto_has(going, p->slot[i])) next[n++] = p->slot[i];
    memcpy(p->slot, next, sizeof next);
}

static int plain_pick(const Plain *p, uint64_t ready) {
    for (int i = 0; i < p->active; i++)
        if (tyto_has(ready, p->slot[i])) return p->slot[i];
    return TYTO_NO_WARP;
}

static void plain_issued(Plain *p, int warp) {
    while (p->slot[p->active - 1] != warp) {
        int first = p->slot[0];
        memmove(p->slot, p->slot + 1, sizeof *p->slot * (size_t)(p->active - 1));
        p->slot[p->active - 1] = first;
    }
}

static uint64_t plain_active(const Plain *p) {
    uint64_t set = 0;
    for (int i = 0; i < p->active; i++)
        set |= UINT64_C(1) << p->slot[i];
    return set;
}

/* Drives the policy, with 12 warps, and a plain list by the same random waits and issues. */
static void agree_with_a_plain_list(const char *scheduler, int active, uint32_t random) {
    Fabricated f;
    Plain p = {.count = 12, .active = active};
    for (int i = 0; i < 12; i++)
        p.slot[i] = i;
    fabricate(&f, scheduler, (FabricatedSize){.warps = 12});
    launch_all(&f);
    for (int cycle = 0; cycle < 2000; cycle++) {
        random = random * 1664525 + 1013904223;
        if (random >> 24 < 40) f.view.waits_memory ^= random >> 8 & 0xFFF & random >> 12;
        pass(&f, 1);
        plain_exchange(&p, sched_view_unblocked(&f.view));
        assert_int_equal(f.policy->policy->looks_at(f.state, &f.view), plain_active(&p));
        uint64_t ready = sched_view_unblocked(&f.view) & (random >> 5 | random >> 17);
        if (!ready) continue;
        int warp = pick(&f, ready);
        assert_int_equal(warp, plain_pick(&p, ready));
        if (warp == TYTO_NO_WARP) continue;
        issue(&f, warp);
        plain_issued(&p, warp);
    }
    fabricated_free(&f);
}

static void active_agrees_with_a_plain_list_in_every_cycle(void **unused) {
    (void)unused;
    for (uint32_t seed = 1; seed < 40; seed++) {
        agree_with_a_plain_list("two-level-active:active=1", 1, seed);
        agree_with_a_plain_list("two-level-active:active=4", 4, seed);
        agree_with_a_plain_list("two-level-active:active=11", 11, seed);
        agree_with_a_plain_list("two-level-active:active=12", 12, seed); /* none waits */
    }
}

static void active_looks_at_its_active_slots_whatever_they_wait_for(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "two-level-active:active=2", (FabricatedSize){.warps = 8, .schedulers = 2});
    launch_all(&f);
    const TytoPolicy *policy = f.policy->policy;
    assert_int_equal(policy->looks_at(f.state, &f.view), 0x0F); /* 0, 2 and 1, 3 */
    block(&f, warps(0, 0));
    pass(&f, 1);
    assert_int_equal(policy->looks_at(f.state, &f.view), 0x1E);
    block(&f, UINT64_MAX);
    pass(&f, 1); /* every place goes to the head of the queue, which waits too */
    assert_int_equal(policy->looks_at(f.state, &f.view), 0xE1);
    fabricated_free(&f);
}

static void active_wakes_while_a_place_changes_hands(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "two-level-active:active=2", (FabricatedSize){.warps = 4});
    launch_all(&f);
    const TytoPolicy *policy = f.policy->policy;
    assert_int_equal(policy->next_change(f.state, &f.view), UINT64_MAX);
    block(&f, warps(0, 0));
    assert_int_equal(policy->next_change(f.state, &f.view), 1);
    block(&f, warps(2, 3)); /* the promoted warp waits as well, perhaps for something else */
    assert_int_equal(policy->next_change(f.state, &f.view), 1);
    fabricated_free(&f);
    fabricate(&f, "two-level-active:active=4", (FabricatedSize){.warps = 4});
    launch_all(&f);
    block(&f, warps(0, 3)); /* no warp is in the queue */
    assert_int_equal(policy->next_change(f.state, &f.view), UINT64_MAX);
    fabricated_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lrr_takes_turns_in_the_order_of_slots),
        cmocka_unit_test(lrr_skips_who_cannot_issue_and_goes_on_after_the_last_issue),
        cmocka_unit_test(lrr_schedulers_turn_independently),
        cmocka_unit_test(gto_stays_until_the_stall_then_takes_the_oldest),
        cmocka_unit_test(greedy_and_oldest_can_be_had_apart),
        cmocka_unit_test(gto_age_is_the_order_of_coming_not_the_slot),
        cmocka_unit_test(gto_a_slot_taken_again_is_the_youngest),
        cmocka_unit_test(a_turn_goes_on_behind_a_warp_that_finishes),
        cmocka_unit_test(two_level_runs_a_group_until_all_of_it_waits_for_memory),
        cmocka_unit_test(two_level_a_short_wait_does_not_end_the_turn),
        cmocka_unit_test(two_level_barriers_and_ends_stall_a_group_too),
        cmocka_unit_test(two_level_gto_is_greedy_inside_and_oldest_first_outside),
        cmocka_unit_test(two_level_a_newcomer_is_not_the_one_that_issued_last),
        cmocka_unit_test(two_level_groups_hold_the_warps_of_one_scheduler),
        cmocka_unit_test(active_warps_take_turns_and_others_do_not_issue),
        cmocka_unit_test(active_the_head_of_the_queue_replaces_one_that_waits),
        cmocka_unit_test(active_many_cycles_asleep_are_what_they_would_be_one_by_one),
        cmocka_unit_test(active_agrees_with_a_plain_list_in_every_cycle),
        cmocka_unit_test(active_looks_at_its_active_slots_whatever_they_wait_for),
        cmocka_unit_test(active_wakes_while_a_place_changes_hands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
