/* Counters: sums, differences, ratios and identities. */
#include "stats/counters.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static uint64_t *value_of(Counters *counters, CounterId id) { return (uint64_t *)counters + id; }

static void test_rows_are_named_once(void **state) {
    (void)state;
    for (CounterId a = 0; a < COUNTER_COUNT; a++) {
        for (CounterId b = 0; b < a; b++)
            assert_string_not_equal(counter_rows[a].name, counter_rows[b].name);
        for (RatioId r = 0; r < RATIO_COUNT; r++)
            assert_string_not_equal(counter_rows[a].name, ratio_rows[r].name);
    }
}

static void test_groups_cover_all_rows_in_order(void **state) {
    (void)state;
    int count;
    const CounterGroup *groups = counter_groups(&count);
    assert_int_equal(groups[0].first, 0);
    for (int i = 1; i < count; i++)
        assert_true(groups[i].first > groups[i - 1].first);
}

static void test_sums_add_and_maxima_do_not(void **state) {
    (void)state;
    Counters sum = {0}, part = {0};
    for (CounterId id = 0; id < COUNTER_COUNT; id++) {
        *value_of(&sum, id) = 100 + id;
        *value_of(&part, id) = 10;
    }
    Counters before = sum;
    counters_add(&sum, &part);
    for (CounterId id = 0; id < COUNTER_COUNT; id++)
        assert_int_equal(counters_get(&sum, id), counter_rows[id].is_max ? 100 + id : 110 + id);
    Counters growth = counters_since(&before, &sum);
    for (CounterId id = 0; id < COUNTER_COUNT; id++)
        assert_int_equal(counters_get(&growth, id), counter_rows[id].is_max ? 100 + id : 10);
    part.dram_queue_max = 9999;
    counters_add(&sum, &part);
    assert_int_equal(sum.dram_queue_max, 9999);
}

static void test_ratios(void **state) {
    (void)state;
    Counters c = {.cycles = 200,
                  .thread_instructions = 3200,
                  .warp_instructions = 200,
                  .l1d_misses = 16,
                  .dram_row_hits = 3,
                  .dram_row_misses = 1,
                  .dram_row_conflicts = 2};
    assert_float_equal(counters_ratio(&c, RATIO_ipc), 16, 1e-12);
    assert_float_equal(counters_ratio(&c, RATIO_lanes_active), 0.5, 1e-12);
    assert_float_equal(counters_ratio(&c, RATIO_l1d_MPKI), 5, 1e-12);
    assert_float_equal(counters_ratio(&c, RATIO_RBL), 0.5, 1e-12);
    assert_true(isnan(counters_ratio(&c, RATIO_BLP)));
}

/* A kernel of 10 cycles on 2 SMs with 2 schedulers each, in which every identity holds. */
static Counters sound_counters(void) {
    return (Counters){
        .cycles = 10,
        .sm_cycles = 20,
        .scheduler_cycles = 40,
        .issued = 5,
        .idle_no_warp = 6,
        .idle_launch = 6,
        .idle_barrier = 1,
        .idle_branch = 2,
        .idle_fetch = 3,
        .scoreboard_memory = 10,
        .scoreboard_other = 4,
        .pipeline_lsu = 5,
        .pipeline_other = 3,
        .throttled = 1,
        .seen_vacant = 6,
        .seen_idle = 14,
        .seen_scoreboard = 11,
        .seen_pipeline = 4,
        .no_issue_cycles = 15,
        .MemoryBlockCycles = 9,
        .NoWarpCycles = 6,
        .warp_instructions = 5,
        .sp_instructions = 2,
        .sfu_instructions = 1,
        .ldst_instructions = 2,
        .branches = 1,
        .divergent_branches = 1,
        .l1d_accesses = 6,
        .l1d_hits = 3,
        .l1d_pending_hits = 1,
        .l1d_misses = 2,
        .l1d_intra_warp_hits = 2,
        .l1d_inter_warp_hits = 1,
        .l2_accesses = 4,
        .l2_hits = 1,
        .l2_pending_hits = 1,
        .l2_misses = 2,
        .dram_reads = 3,
        .dram_writes = 1,
        .dram_row_hits = 1,
        .dram_row_misses = 2,
        .dram_row_conflicts = 1,
        .load_cycles = 100,
        .load_noc_cycles = 40,
        .load_l2_cycles = 30,
        .load_queue_cycles = 20,
        .load_dram_cycles = 10,
        .ctas_launched = 2,
        .ctas_finished = 2,
        .warps_launched = 4,
        .warps_finished = 4,
        .reads_sent = 2,
        .reads_answered = 2,
        .writes_sent = 1,
        .writes_acknowledged = 1,
        .request_packets_sent = 3,
        .request_packets_received = 3,
        .reply_packets_sent = 3,
        .reply_packets_received = 3,
    };
}

static void test_identities_hold_for_a_sound_run(void **state) {
    (void)state;
    Counters counters = sound_counters();
    Text why = {0};
    bool is_good = counters_check(&counters, (CountersShape){2, 2, true}, &why);
    if (!is_good) fail_msg("%s", text_string(&why));
}

/* Counters that an identity covers: an increment of any of them must be noticed. */
static const CounterId watched[] = {
    COUNTER_cycles,
    COUNTER_sm_cycles,
    COUNTER_scheduler_cycles,
    COUNTER_issued,
    COUNTER_idle_no_warp,
    COUNTER_idle_launch,
    COUNTER_least_shared_cycles,
    COUNTER_l2_atomics_in_turn,
    COUNTER_idle_barrier,
    COUNTER_idle_branch,
    COUNTER_idle_fetch,
    COUNTER_scoreboard_memory,
    COUNTER_scoreboard_other,
    COUNTER_pipeline_lsu,
    COUNTER_pipeline_other,
    COUNTER_throttled,
    COUNTER_seen_vacant,
    COUNTER_seen_idle,
    COUNTER_seen_scoreboard,
    COUNTER_seen_pipeline,
    COUNTER_MemoryBlockCycles,
    COUNTER_NoWarpCycles,
    COUNTER_warp_instructions,
    COUNTER_sp_instructions,
    COUNTER_sfu_instructions,
    COUNTER_dp_instructions,
    COUNTER_ldst_instructions,
    COUNTER_divergent_branches,
    COUNTER_l1d_accesses,
    COUNTER_l1d_hits,
    COUNTER_l1d_pending_hits,
    COUNTER_l1d_misses,
    COUNTER_l1d_intra_warp_hits,
    COUNTER_l1d_inter_warp_hits,
    COUNTER_l2_accesses,
    COUNTER_l2_hits,
    COUNTER_l2_pending_hits,
    COUNTER_l2_misses,
    COUNTER_dram_reads,
    COUNTER_dram_writes,
    COUNTER_dram_row_hits,
    COUNTER_dram_row_misses,
    COUNTER_dram_row_conflicts,
    COUNTER_load_cycles,
    COUNTER_load_noc_cycles,
    COUNTER_load_l2_cycles,
    COUNTER_load_queue_cycles,
    COUNTER_load_dram_cycles,
};
static const CounterId watched_at_end[] = {
    COUNTER_ctas_launched,        COUNTER_ctas_finished,
    COUNTER_warps_launched,       COUNTER_warps_finished,
    COUNTER_reads_sent,           COUNTER_reads_answered,
    COUNTER_writes_sent,          COUNTER_writes_acknowledged,
    COUNTER_request_packets_sent, COUNTER_request_packets_received,
    COUNTER_reply_packets_sent,   COUNTER_reply_packets_received,
    COUNTER_least_accesses,
};

static bool is_noticed(CounterId id, bool is_complete) {
    Counters counters = sound_counters();
    ++*value_of(&counters, id);
    Text why = {0};
    bool is_good = counters_check(&counters, (CountersShape){2, 2, is_complete}, &why);
    if (!is_good) assert_non_null(strstr(text_string(&why), counter_rows[id].name));
    text_free(&why);
    return !is_good;
}

static void test_every_identity_can_fail(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
        if (!is_noticed(watched[i], false)) fail_msg("%s", counter_rows[watched[i]].name);
    }
    for (size_t i = 0; i < sizeof watched_at_end / sizeof *watched_at_end; i++) {
        assert_true(is_noticed(watched_at_end[i], true));
        assert_false(is_noticed(watched_at_end[i], false));
    }
    assert_false(is_noticed(COUNTER_l1d_fills, true));
}

static void test_reason_shows_the_numbers(void **state) {
    (void)state;
    Counters counters = sound_counters();
    counters.cycles = 11;
    Text why = {0};
    assert_false(counters_check(&counters, (CountersShape){2, 2, true}, &why));
    assert_non_null(
        strstr(text_string(&why), "scheduler_cycles = 40, not cycles x SMs x schedulers = 44\n"));
    assert_non_null(strstr(text_string(&why), "sm_cycles = 20, not cycles x SMs = 22\n"));
    text_free(&why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_named_once),
        cmocka_unit_test(test_groups_cover_all_rows_in_order),
        cmocka_unit_test(test_sums_add_and_maxima_do_not),
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_identities_hold_for_a_sound_run),
        cmocka_unit_test(test_every_identity_can_fail),
        cmocka_unit_test(test_reason_shows_the_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
