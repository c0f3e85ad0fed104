/* Rules of advice: each applies from its threshold on and not below, in the order of their weights,
 * and states what was counted. */
#include "stats/advice.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* A kernel of 1000 cycles on 10 SMs with 2 schedulers each. All schedulers have warps, which issue
 * in a tenth of the cycles: nothing to advise. */
typedef struct Case {
    Counters counters;
    LevelPeaks peaks;
    Occupancy occupancy;
    AdviceFacts facts;
} Case;

enum {
    CYCLES = 1000,
    SMS = 10,
    SM_CYCLES = CYCLES * SMS,
    ALL = SM_CYCLES * 2,
    PERCENT = ALL / 100
};

static void begin(Case *at) {
    *at = (Case){.counters = {.cycles = CYCLES,
                              .sm_cycles = SM_CYCLES,
                              .scheduler_cycles = ALL,
                              .kernels = 1,
                              .issued = 10 * PERCENT,
                              .warp_instructions = 10 * PERCENT,
                              .thread_instructions = 320 * PERCENT,
                              .memory_requests = 100,
                              .coalesced_accesses = 1000,
                              .least_accesses = 1000,
                              .shared_instructions = 100,
                              .shared_cycles = 100,
                              .least_shared_cycles = 100,
                              .warp_cycles = SM_CYCLES * 8},
                 .peaks = {.of = {[LEVEL_issue] = 20,
                                  [LEVEL_shared] = 10,
                                  [LEVEL_l1d] = 10,
                                  [LEVEL_l2] = 10,
                                  [LEVEL_dram] = 100},
                           .dram_tick_bytes = 10},
                 .occupancy = {.ctas = {8, 2, 4, OCCUPANCY_NO_LIMIT}, .cta_warps = 8, .warps = 16}};
    at->facts = (AdviceFacts){&at->counters, &at->peaks, &at->occupancy, .ctas = 200, .sms = SMS};
}

static bool is_told(Case *at, AdviceRule rule) {
    AdviceRule found[ADVICE_MOST];
    const int count = advice_find(&at->facts, found);
    for (int i = 0; i < count; i++)
        if (found[i] == rule) return true;
    return false;
}

/* Makes a kernel to which the rule only just applies, or only just does not. */
static void make(Case *at, AdviceRule rule, bool applies) {
    Counters *c = &at->counters;
    const uint64_t less = applies ? 0 : 1;
    begin(at);
    switch (rule) {
    case ADVICE_launch_bound:
        c->idle_launch = c->idle_no_warp = 25 * PERCENT - less;
        c->NoWarpCycles = c->idle_launch / 2;
        break;
    case ADVICE_small_grid:
        at->facts.ctas = 19;
        c->idle_no_warp = 25 * PERCENT - less;
        break;
    case ADVICE_tail:
        at->facts.ctas = 20;
        c->idle_no_warp = 10 * PERCENT;
        c->NoWarpCycles = SM_CYCLES / 10 - less;
        break;
    case ADVICE_memory_bound: c->l2_accesses = 6000 - less; break;
    case ADVICE_memory_latency: c->scoreboard_memory = 30 * PERCENT - less; break;
    case ADVICE_uncoalesced: /* half of the accesses, a tenth of the cycles */
        c->least_accesses = 500;
        c->scoreboard_memory = 5 * PERCENT - less;
        c->pipeline_lsu = 5 * PERCENT;
        break;
    case ADVICE_bank_conflicts: c->shared_cycles += SM_CYCLES / 10 - less; break;
    case ADVICE_contended_atomics:
        c->l2_atomics = 500;
        c->l2_atomics_in_turn = 250 - less;
        c->scoreboard_other = 20 * PERCENT;
        break;
    case ADVICE_low_occupancy: /* a quarter of the warps fit */
        at->occupancy.ctas[OCCUPANCY_registers] = at->occupancy.cta_warps = 2;
        c->scoreboard_other = 20 * PERCENT - less;
        break;
    case ADVICE_divergence: /* half of the lanes, a tenth of the cycles */
        c->thread_instructions = 160 * PERCENT;
        c->issued -= less;
        break;
    case ADVICE_barrier_bound: c->idle_barrier = 20 * PERCENT - less; break;
    case ADVICE_fetch_bound:
        c->idle_fetch = 10 * PERCENT;
        c->idle_branch = 10 * PERCENT - less;
        break;
    case ADVICE_load_store_bound: c->pipeline_lsu = 30 * PERCENT - less; break;
    case ADVICE_pipe_bound: c->pipeline_other = 30 * PERCENT - less; break;
    case ADVICE_result_latency: c->scoreboard_other = 40 * PERCENT - less; break;
    case ADVICE_issue_bound: c->issued = 60 * PERCENT - less; break;
    case ADVICE_held_back: c->throttled = 20 * PERCENT - less; break;
    case ADVICE_RULE_COUNT: break;
    }
}

static void test_a_kernel_without_a_limit_gets_no_advice(void **state) {
    (void)state;
    Case at;
    AdviceRule found[ADVICE_MOST];
    begin(&at);
    assert_int_equal(advice_find(&at.facts, found), 0);
    at.counters = (Counters){0}; /* it was not timed */
    assert_int_equal(advice_find(&at.facts, found), 0);
}

static void test_each_rule_applies_from_its_threshold_on(void **state) {
    (void)state;
    Case at;
    for (AdviceRule rule = 0; rule < ADVICE_RULE_COUNT; rule++) {
        make(&at, rule, true);
        if (!is_told(&at, rule)) fail_msg("%s is not reported", advice_name((int)rule));
        make(&at, rule, false);
        if (is_told(&at, rule)) fail_msg("%s is reported", advice_name((int)rule));
    }
    assert_null(advice_name(ADVICE_RULE_COUNT));
    assert_null(advice_name(-1));
}

/* Further conditions of the rules. */
static void test_rules_have_conditions(void **state) {
    (void)state;
    Case at;
    make(&at, ADVICE_small_grid, true);
    at.facts.ctas = 20; /* as many as fit, so it is a tail */
    assert_false(is_told(&at, ADVICE_small_grid));
    make(&at, ADVICE_tail, true);
    at.facts.ctas = 19;
    assert_false(is_told(&at, ADVICE_tail));
    make(&at, ADVICE_low_occupancy, true);
    at.facts.ctas = 19;
    assert_false(is_told(&at, ADVICE_low_occupancy));
    make(&at, ADVICE_low_occupancy, true);
    at.occupancy.cta_warps = 4; /* half of the warps fit */
    assert_false(is_told(&at, ADVICE_low_occupancy));
    make(&at, ADVICE_memory_latency, true);
    at.counters.l2_accesses = 6000; /* bound by bandwidth */
    assert_false(is_told(&at, ADVICE_memory_latency));
    make(&at, ADVICE_memory_latency, true);
    at.counters.least_accesses = 500; /* this is the reason */
    assert_true(is_told(&at, ADVICE_uncoalesced));
    assert_false(is_told(&at, ADVICE_memory_latency));
    make(&at, ADVICE_load_store_bound, true);
    at.counters.least_accesses = 500;
    assert_false(is_told(&at, ADVICE_load_store_bound));
    make(&at, ADVICE_uncoalesced, true);
    at.counters.l2_atomics = at.counters.l2_atomics_in_turn = 400; /* they had to be serial */
    assert_false(is_told(&at, ADVICE_uncoalesced));
    make(&at, ADVICE_contended_atomics, true);
    at.counters.l2_atomics = at.counters.l2_atomics_in_turn = 400; /* 8% of the cycles */
    assert_false(is_told(&at, ADVICE_contended_atomics));
    make(&at, ADVICE_contended_atomics, true);
    at.counters.scoreboard_other = 0; /* their warps need no results, and have exited */
    at.counters.idle_no_warp = 30 * PERCENT;
    at.counters.seen_vacant = 10 * PERCENT;
    assert_true(is_told(&at, ADVICE_contended_atomics));
    at.counters.seen_vacant = 20 * PERCENT;
    assert_false(is_told(&at, ADVICE_contended_atomics));
    make(&at, ADVICE_divergence, true);
    at.counters.thread_instructions = 241 * PERCENT; /* 75.3% of the lanes */
    at.counters.issued = 50 * PERCENT;
    assert_false(is_told(&at, ADVICE_divergence));
}

/* Cycles of the launch do not dilute other rules, and cycles without a warp do not dilute rules
 * about warps. */
static void test_shares_leave_out_cycles_without_warps(void **state) {
    (void)state;
    Case at;
    make(&at, ADVICE_memory_latency, true);
    at.counters.scheduler_cycles *= 10;
    at.counters.sm_cycles *= 10;
    at.counters.cycles *= 10;
    at.counters.idle_no_warp = at.counters.idle_launch = 900 * PERCENT;
    at.counters.NoWarpCycles = 9 * SM_CYCLES;
    assert_true(is_told(&at, ADVICE_memory_latency));
    assert_float_equal(advice_weight(&at.facts, ADVICE_memory_latency), 0.3, 1e-9);
    make(&at, ADVICE_memory_bound, true);
    at.counters.scheduler_cycles *= 2;
    at.counters.sm_cycles *= 2;
    at.counters.cycles *= 2;
    at.counters.idle_no_warp = at.counters.idle_launch = ALL;
    at.counters.NoWarpCycles = SM_CYCLES;
    assert_float_equal(advice_weight(&at.facts, ADVICE_memory_bound), 0.6, 1e-9);
}

static void test_the_weightiest_rules_are_told_first(void **state) {
    (void)state;
    Case at;
    AdviceRule found[ADVICE_MOST];
    begin(&at);
    at.counters.idle_barrier = 22 * PERCENT;
    at.counters.idle_fetch = 21 * PERCENT;
    at.counters.throttled = 24 * PERCENT;
    at.counters.dram_bus_ticks = 7000;
    assert_int_equal(advice_find(&at.facts, found), ADVICE_MOST);
    assert_int_equal(found[0], ADVICE_memory_bound);
    assert_int_equal(found[1], ADVICE_held_back);
    assert_int_equal(found[2], ADVICE_barrier_bound);
}

/* Advice that needs a grid is not given for several launches together. */
static void test_a_total_has_no_grid(void **state) {
    (void)state;
    const AdviceRule rules[] = {ADVICE_small_grid, ADVICE_tail, ADVICE_low_occupancy};
    Case at;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        make(&at, rules[i], true);
        at.facts.occupancy = NULL;
        assert_false(is_told(&at, rules[i]));
    }
}

static void test_sentences_have_the_numbers(void **state) {
    (void)state;
    static const struct {
        AdviceRule rule;
        const char *text;
    } rows[] = {
        {ADVICE_launch_bound,
         "the launch latency is 25.0% of the time of this launch; give it more work"},
        {ADVICE_small_grid, "the GPU holds 20 of these thread blocks at once, and the grid has 19; "
                            "schedulers had no warp in 25.0% of their cycles"},
        {ADVICE_tail, "20 thread blocks are 1.0 times what the GPU holds at once; SMs had no warp "
                      "in 10.0% of their cycles"},
        {ADVICE_memory_bound, "L2 moves 60.0% of its peak; fewer bytes, or more reuse above it, "
                              "make the kernel faster"},
        {ADVICE_memory_latency,
         "warps wait for memory in 30.0% of the cycles with a warp, although "
         "L1D, the busiest level, moves only 0.0% of its peak"},
        {ADVICE_uncoalesced, "a global or local instruction makes 10.0 accesses; 50.0% of all "
                             "accesses would not be needed with contiguous data"},
        {ADVICE_bank_conflicts, "an instruction of shared memory takes 11.0 cycles instead of 1.0; "
                                "conflicts take 10.0% of the cycles with a warp"},
        {ADVICE_contended_atomics,
         "50.0% of 500 atomics waited for the previous atomic to the same "
         "sector; first add up in registers or shared memory"},
        {ADVICE_low_occupancy,
         "2 thread blocks of 2 warps fit on an SM, 25.0% of its warps, limited by warp slots and "
         "registers; warps wait for memory or results in 20.0% of the cycles with a warp"},
        {ADVICE_divergence, "instructions use 16.0 of 32 lanes; no branch splits a warp, "
                            "so predicates or the block size leave lanes idle"},
        {ADVICE_issue_bound, "schedulers issue in 60.0% of the cycles with a warp; fewer "
                             "instructions make the kernel faster"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Case at;
        Text text = {0};
        make(&at, rows[i].rule, true);
        advice_say(&at.facts, rows[i].rule, &text);
        assert_string_equal(text_string(&text), rows[i].text);
        text_free(&text);
    }
}

static void test_every_rule_has_a_sentence_and_a_row(void **state) {
    (void)state;
    Text page = {0};
    advice_document(&page);
    for (AdviceRule rule = 0; rule < ADVICE_RULE_COUNT; rule++) {
        Case at;
        Text text = {0};
        make(&at, rule, true);
        advice_say(&at.facts, rule, &text);
        assert_true(strlen(text_string(&text)) > 20);
        text_clear(&text);
        advice_explain(rule, &text);
        assert_int_equal(
            strncmp(text_string(&text), advice_name((int)rule), strlen(advice_name((int)rule))), 0);
        assert_non_null(strstr(text_string(&page), advice_name((int)rule)));
        text_free(&text);
    }
    text_free(&page);
}

/* ---- Occupancy ---- */

static void test_occupancy_names_all_that_limit_it(void **state) {
    (void)state;
    Occupancy occupancy = {.ctas = {8, 4, 4, OCCUPANCY_NO_LIMIT}, .cta_warps = 8, .warps = 64};
    Counters counters = {.sm_cycles = 1000, .NoWarpCycles = 500, .warp_cycles = 8000};
    Text text = {0};
    assert_int_equal(occupancy_ctas(&occupancy), 4);
    assert_float_equal(occupancy_theoretical(&occupancy), 0.5, 1e-12);
    assert_float_equal(occupancy_achieved(&occupancy, &counters), 0.25, 1e-12);
    occupancy_report(&occupancy, &counters, &text);
    assert_string_equal(text_string(&text),
                        "  warps   50.0% of 64 fit on an SM, limited by warp slots and registers; "
                        "25.0% were resident while an SM had any\n");
    occupancy.warps = 0; /* a result without occupancy */
    text_clear(&text);
    occupancy_report(&occupancy, &counters, &text);
    assert_string_equal(text_string(&text), "");
    assert_true(isnan(occupancy_theoretical(&occupancy)));
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kernel_without_a_limit_gets_no_advice),
        cmocka_unit_test(test_each_rule_applies_from_its_threshold_on),
        cmocka_unit_test(test_rules_have_conditions),
        cmocka_unit_test(test_shares_leave_out_cycles_without_warps),
        cmocka_unit_test(test_the_weightiest_rules_are_told_first),
        cmocka_unit_test(test_a_total_has_no_grid),
        cmocka_unit_test(test_sentences_have_the_numbers),
        cmocka_unit_test(test_every_rule_has_a_sentence_and_a_row),
        cmocka_unit_test(test_occupancy_names_all_that_limit_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
