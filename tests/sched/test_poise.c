/* Poise, step by step on a fabricated SM: samples, prediction, search, and the two knobs. */
#include <math.h>

#include "fabricated.h"

#include "sched/poise_weights.h"

static const char SHORT[] = "poise:delay=5,warmup=10,sample=100,step=50";

static void steps_of(Fabricated *f, int warp, int count) {
    for (int i = 0; i < count; i++)
        issue(f, warp);
}

static TytoInsertion insertion(Fabricated *f, int warp) {
    const TytoMiss miss = {.size = sizeof miss, .warp = warp};
    return sched_agent_insert(&f->agent, &f->view, &miss);
}

/* Warps 0 to `warps - 1` may issue; of these, the misses of the first `polluting` take lines. */
static void expect_knobs(Fabricated *f, int count, int polluting) {
    assert_int_equal(may_issue(f), warps(0, count - 1));
    for (uint64_t rest = f->view.resident; rest; rest &= rest - 1) {
        const int warp = tyto_lowest(rest);
        assert_int_equal(insertion(f, warp),
                         warp < polluting ? TYTO_INSERT_NORMAL : TYTO_INSERT_BYPASS);
    }
    assert_int_equal((int)reported(f, "warps"), count);
    assert_int_equal((int)reported(f, "polluting"), polluting);
}

/* Up to the first epoch. `first`: warps that issue before it. */
static void begin(Fabricated *f, const char *parameters, int first) {
    char policy[120];
    snprintf(policy, sizeof policy, "%s,epoch=2000%s", SHORT, parameters);
    fabricate(f, policy, (FabricatedSize){.warps = 32});
    launch_all(f);
    steps_of(f, 0, 9);
    expect_knobs(f, first, first);
    assert_int_equal(sched_agent_next_change(&f->agent, &f->view), 5);
    pass(f, 5);
    expect_knobs(f, 32, 32);
    assert_int_equal(sched_agent_next_change(&f->agent, &f->view), 10);
}

static void fill(Fabricated *f, int owner, uint64_t address) {
    TytoEvent event = {.kind = TYTO_EVENT_L1D_FILLED,
                       .warp = TYTO_NO_WARP,
                       .cta_slot = -1,
                       .owner = owner,
                       .address = address};
    sched_agent_event(&f->agent, &f->view, &event);
}

/* The first sample: 50 instructions, 20 loads; 5 hits, 2 of them on own lines; 15 misses. The first
 * takes 40 cycles. What comes in the warm-up does not count. */
static void sample_all(Fabricated *f) {
    steps_of(f, 3, 7);
    l1d_miss(f, 3, 0x9000);
    pass(f, 10);
    steps_of(f, 3, 50);
    for (int i = 0; i < 5; i++)
        l1d_look_up(f, 3, 0, 0x1000, i < 2 ? 3 : 4);
    for (uint64_t i = 0; i < 15; i++)
        l1d_miss(f, 5, 0x4000 + i * 128);
    pass(f, 40);
    fill(f, 6, 0x4000);       /* another warp's */
    fill(f, 5, 0x4000 + 128); /* another line */
    fill(f, 5, 0x4000);
    pass(f, 60);
}

/* The second sample: 10 instructions, 4 loads, 3 hits; the miss takes 10 cycles. */
static void sample_one(Fabricated *f) {
    expect_knobs(f, 1, 1);
    pass(f, 10);
    steps_of(f, 0, 10);
    for (int i = 0; i < 3; i++)
        l1d_look_up(f, 0, 0, 0x1000, 0);
    l1d_miss(f, 0, 0x2000);
    pass(f, 10);
    fill(f, 0, 0x2000);
    pass(f, 90);
}

static const double FEATURES[POISE_FEATURES] = {1, 0.25, 0.1, 0.75, 0.2, 2.0 / 7, 1.0 / 6};

static int by_weights(int knob, int most) {
    double sum = 0;
    for (int i = 0; i < POISE_FEATURES; i++)
        sum += poise_weights[knob][i] * FEATURES[i];
    const int value = (int)(most * exp(sum < 0 ? sum : 0) + 0.5);
    return value > 1 ? value : 1;
}

static void the_weights_and_the_samples_give_both_numbers(void **unused) {
    (void)unused;
    Fabricated f;
    begin(&f, ",result=predicted", 32);
    sample_all(&f);
    sample_one(&f);
    double features[POISE_FEATURES];
    assert_int_equal(reported_list(&f, "features", features, POISE_FEATURES), POISE_FEATURES);
    for (int i = 0; i < POISE_FEATURES; i++)
        assert_true(fabs(features[i] - FEATURES[i]) < 1e-12);
    const int count = by_weights(0, 32), polluting = by_weights(1, 32);
    expect_knobs(&f, count, polluting < count ? polluting : count);
    assert_int_equal((int)reported(&f, "inferences"), 1);
    assert_int_equal(sched_agent_next_change(&f.agent, &f.view), 2000 - 220);
    pass(&f, 2000 - 220 - 1);
    expect_knobs(&f, count, polluting < count ? polluting : count);
    pass(&f, 1); /* the next epoch */
    expect_knobs(&f, 32, 32);
    fabricated_free(&f);
}

static void without_loads_all_warps_issue_until_the_epoch_ends(void **unused) {
    (void)unused;
    Fabricated f;
    begin(&f, ",loads=0.1", 32);
    pass(&f, 10);
    steps_of(&f, 0, 100);
    for (uint64_t i = 0; i < 9; i++)
        l1d_miss(&f, 0, 0x1000 + i * 128);
    pass(&f, 100);
    expect_knobs(&f, 32, 32);
    assert_int_equal(sched_agent_next_change(&f.agent, &f.view), 2000 - 110);
    pass(&f, 2000 - 110 + 10);
    steps_of(&f, 0, 100);
    for (uint64_t i = 0; i < 10; i++)
        l1d_miss(&f, 0, 0x1000 + i * 128);
    pass(&f, 100);
    expect_knobs(&f, 1, 1);
    assert_int_equal((int)reported(&f, "inferences"), 0);
    fabricated_free(&f);
}

/* Measures the knobs in use. */
static void measure(Fabricated *f, int instructions) {
    steps_of(f, 0, 3); /* in the warm-up */
    pass(f, 10);
    steps_of(f, 0, instructions);
    pass(f, 50);
}

/* The prediction of the warps is replaced by the parameter, so that only p is searched. */
static void the_search_climbs_by_strides_and_halves_them(void **unused) {
    (void)unused;
    Fabricated f;
    begin(&f, ",warps=20,stride_polluting=2", 20);
    sample_all(&f);
    sample_one(&f);
    const int predicted = by_weights(1, 32), first = predicted < 20 ? predicted : 20;
    expect_knobs(&f, 20, first);
    measure(&f, 30);
    const int up = first + 2 < 20 ? first + 2 : 20, down = first - 2 > 1 ? first - 2 : 1;
    if (up != first) {
        expect_knobs(&f, 20, up);
        measure(&f, 30); /* as many are no rise */
    }
    assert_true(down < first);
    expect_knobs(&f, 20, down);
    measure(&f, 31);
    int at = down - 2 > 1 ? down - 2 : 1;
    if (at != down) {
        expect_knobs(&f, 20, at);
        measure(&f, 20);
    }
    expect_knobs(&f, 20, down + 1); /* the stride is 1 */
    measure(&f, 32);
    expect_knobs(&f, 20, down + 2);
    measure(&f, 10);
    expect_knobs(&f, 20, down); /* from the best downwards */
    measure(&f, 10);
    expect_knobs(&f, 20, down + 1);
    measure(&f, 40); /* the search is over */
    expect_knobs(&f, 20, down + 1);
    fabricated_free(&f);
}

static void fixed_knobs_never_change(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "poise:warps=6,polluting=2", (FabricatedSize){.warps = 8});
    launch_all(&f);
    expect_knobs(&f, 6, 2);
    assert_true(sched_agent_next_change(&f.agent, &f.view) == UINT64_MAX);
    pass(&f, 1000000);
    expect_knobs(&f, 6, 2);
    finish_warp(&f, 0);
    assert_int_equal(may_issue(&f), warps(1, 6));
    assert_int_equal(insertion(&f, 2), TYTO_INSERT_NORMAL);
    assert_int_equal(insertion(&f, 3), TYTO_INSERT_BYPASS);
    assert_int_equal(insertion(&f, TYTO_NO_WARP), TYTO_INSERT_NORMAL); /* a prefetch */
    f.view.exited |= warps(1, 1);                                      /* without an event */
    assert_int_equal(may_issue(&f), warps(2, 7));
    assert_int_equal(insertion(&f, 3), TYTO_INSERT_NORMAL);
    fabricated_free(&f);
}

static void bypasses_of_warps_beyond_the_polluting_ones_count(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "poise:warps=6,polluting=2", (FabricatedSize){.warps = 8});
    launch_all(&f);
    for (int warp = 0; warp < 4; warp++) {
        TytoEvent event = {.kind = TYTO_EVENT_L1D_MISS,
                           .warp = warp,
                           .cta_slot = -1,
                           .owner = TYTO_NO_WARP,
                           .place = warp == 3 ? 5 : TYTO_NO_PLACE};
        sched_agent_event(&f.agent, &f.view, &event);
    }
    assert_int_equal((int)reported(&f, "bypasses"), 1); /* warp 2; warp 3 had a place */
    fabricated_free(&f);
}

static void a_cta_with_a_warp_at_a_barrier_may_issue(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "poise:warps=1,polluting=1", (FabricatedSize){.warps = 6, .warps_per_cta = 2});
    launch_all(&f);
    assert_int_equal(may_issue(&f), warps(0, 0));
    f.view.at_mbarrier = warps(2, 2); /* without an event */
    assert_int_equal(may_issue(&f), warps(0, 0) | warps(2, 3));
    f.view.at_mbarrier = 0;
    assert_int_equal(may_issue(&f), warps(0, 0));
    arrive(&f, 0);
    assert_int_equal(may_issue(&f), warps(0, 1));
    assert_int_equal(insertion(&f, 1), TYTO_INSERT_BYPASS);
    release(&f, 0);
    assert_int_equal(may_issue(&f), warps(0, 0));
    fabricated_free(&f);
}

/* A grid of 3 CTAs of 4 warps: 12 of the 32 slots are used. */
static void the_warps_that_fit_are_the_most(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, SHORT, (FabricatedSize){.warps = 32, .warps_per_cta = 4, .ctas = 3});
    launch_all(&f);
    assert_int_equal((int)reported(&f, "most"), 12);
    expect_knobs(&f, 12, 12);
    fabricated_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_weights_and_the_samples_give_both_numbers),
        cmocka_unit_test(without_loads_all_warps_issue_until_the_epoch_ends),
        cmocka_unit_test(the_search_climbs_by_strides_and_halves_them),
        cmocka_unit_test(fixed_knobs_never_change),
        cmocka_unit_test(bypasses_of_warps_beyond_the_polluting_ones_count),
        cmocka_unit_test(a_cta_with_a_warp_at_a_barrier_may_issue),
        cmocka_unit_test(the_warps_that_fit_are_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
