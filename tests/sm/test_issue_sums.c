/* Sums of the issue stage: each is added once, to the counters that it belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sm/issue_sums.h"

/* The result of settling, in an SM with two schedulers. */
typedef struct Settled {
    Counters counters;
    Histograms histograms;
} Settled;

static Settled settle(SmIssueSums *sums, bool looks) {
    Settled settled = {0};
    issue_sums_settle(sums, 2, looks, &settled.counters, &settled.histograms);
    return settled;
}

static void an_outcome_is_one_counter_and_a_scheduler_cycle(void **state) {
    (void)state;
    static const CounterId counter_of[SM_OUTCOMES] = {
        [SM_ISSUED] = COUNTER_issued,
        [SM_IDLE_NO_WARP] = COUNTER_idle_no_warp,
        [SM_IDLE_BARRIER] = COUNTER_idle_barrier,
        [SM_IDLE_BRANCH] = COUNTER_idle_branch,
        [SM_IDLE_FETCH] = COUNTER_idle_fetch,
        [SM_SCOREBOARD_MEMORY] = COUNTER_scoreboard_memory,
        [SM_SCOREBOARD_OTHER] = COUNTER_scoreboard_other,
        [SM_PIPELINE_LSU] = COUNTER_pipeline_lsu,
        [SM_PIPELINE_OTHER] = COUNTER_pipeline_other,
        [SM_THROTTLED] = COUNTER_throttled,
    };
    for (int outcome = 0; outcome < SM_OUTCOMES; outcome++) {
        SmIssueSums sums = {0};
        sums.outcome[outcome] = 7;
        const Settled settled = settle(&sums, false);
        for (int other = 0; other < SM_OUTCOMES; other++)
            assert_int_equal(counters_get(&settled.counters, counter_of[other]),
                             other == outcome ? 7 : 0);
        assert_int_equal(settled.counters.scheduler_cycles, 7);
    }
}

static void an_instruction_counts_as_all_that_it_is(void **state) {
    (void)state;
    SmIssueSums sums = {0};
    sums.kind[SM_UNIT_DP] = 1;
    sums.kind[SM_UNIT_INT] = 2;
    sums.kind[SM_UNIT_TENSOR] = 3;
    sums.kind[SM_UNIT_SP + SM_COUNTS_BRANCH] = 4;
    sums.kind[SM_UNIT_SP + SM_COUNTS_BARRIER] = 5;
    sums.kind[SM_UNIT_LDST + SM_COUNTS_LOAD] = 10;
    sums.kind[SM_UNIT_LDST + SM_COUNTS_STORE] = 20;
    sums.kind[SM_UNIT_LDST + SM_COUNTS_ATOMIC] = 30;
    const Counters got = settle(&sums, false).counters;
    assert_int_equal(got.dp_instructions, 1);
    assert_int_equal(got.int_instructions, 2);
    assert_int_equal(got.tensor_instructions, 3);
    assert_int_equal(got.branches, 4);
    assert_int_equal(got.barriers, 5);
    assert_int_equal(got.sp_instructions, 9);
    assert_int_equal(got.sfu_instructions, 0);
    assert_int_equal(got.ldst_instructions, 60);
    assert_int_equal(got.load_instructions, 10);
    assert_int_equal(got.store_instructions, 20);
    assert_int_equal(got.atomic_instructions, 30);
}

static void what_two_kinds_can_run_counts_for_the_one_that_it_went_to(void **state) {
    (void)state;
    SmIssueSums sums = {.to_sfu = 3};
    sums.kind[SM_UNIT_SP_OR_SFU] = 8;
    sums.kind[SM_UNIT_SFU] = 1;
    const Counters got = settle(&sums, false).counters;
    assert_int_equal(got.sp_instructions, 5);
    assert_int_equal(got.sfu_instructions, 4);
}

static void the_idle_cycles_of_an_sm_without_warps_are_told_apart(void **state) {
    (void)state;
    /* Both schedulers in each of four cycles without a warp, and one of them in another cycle. */
    SmIssueSums sums = {.no_warp = 4};
    sums.outcome[SM_IDLE_NO_WARP] = 9;
    sums.outcome[SM_IDLE_FETCH] = 3;
    const Counters got = settle(&sums, false).counters;
    assert_int_equal(got.NoWarpCycles, 4);
    assert_int_equal(got.seen_vacant, 8);
    assert_int_equal(got.seen_idle, 4);
}

static void what_a_policy_sees_are_the_outcomes_unless_it_looks_at_some_warps_alone(void **state) {
    (void)state;
    const SmIssueSums seen = {.outcome = {[SM_IDLE_BARRIER] = 1,
                                          [SM_SCOREBOARD_MEMORY] = 2,
                                          [SM_SCOREBOARD_OTHER] = 3,
                                          [SM_PIPELINE_LSU] = 4,
                                          [SM_PIPELINE_OTHER] = 5,
                                          [SM_THROTTLED] = 6},
                              .seen = {[SM_SEEN_ISSUE] = 1,
                                       [SM_SEEN_IDLE] = 9,
                                       [SM_SEEN_SCOREBOARD] = 7,
                                       [SM_SEEN_PIPELINE] = 4}};
    for (int looks = 0; looks < 2; looks++) {
        SmIssueSums sums = seen;
        const Counters got = settle(&sums, looks).counters;
        assert_int_equal(got.seen_idle, looks ? 9 : 1);
        assert_int_equal(got.seen_scoreboard, looks ? 7 : 5);
        assert_int_equal(got.seen_pipeline, looks ? 4 : 15);
    }
}

static void the_lanes_are_a_histogram(void **state) {
    (void)state;
    SmIssueSums sums = {0};
    sums.lanes[0] = 1;
    sums.lanes[ISA_LANES] = 2;
    Settled settled = settle(&sums, false);
    const Histogram *lanes = histograms_get(&settled.histograms, HISTOGRAM_active_lanes);
    assert_int_equal(lanes->count, 3);
    assert_int_equal(lanes->sum, 2 * ISA_LANES);
    assert_int_equal(lanes->buckets[0], 1);
    assert_int_equal(lanes->buckets[ISA_LANES], 2);
}

static void nothing_is_settled_twice(void **state) {
    (void)state;
    SmIssueSums sums = {.memory_block = 1, .no_issue = 2, .no_warp = 3, .to_sfu = 1};
    sums.outcome[SM_ISSUED] = sums.kind[SM_UNIT_SP] = sums.lanes[5] = sums.seen[SM_SEEN_IDLE] = 4;
    const Counters got = settle(&sums, true).counters;
    assert_int_equal(got.MemoryBlockCycles, 1);
    assert_int_equal(got.no_issue_cycles, 2);
    const Settled again = settle(&sums, true), nothing = {0};
    assert_memory_equal(&again, &nothing, sizeof nothing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_outcome_is_one_counter_and_a_scheduler_cycle),
        cmocka_unit_test(an_instruction_counts_as_all_that_it_is),
        cmocka_unit_test(what_two_kinds_can_run_counts_for_the_one_that_it_went_to),
        cmocka_unit_test(the_idle_cycles_of_an_sm_without_warps_are_told_apart),
        cmocka_unit_test(what_a_policy_sees_are_the_outcomes_unless_it_looks_at_some_warps_alone),
        cmocka_unit_test(the_lanes_are_a_histogram),
        cmocka_unit_test(nothing_is_settled_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
