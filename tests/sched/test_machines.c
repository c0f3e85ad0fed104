/* Every policy on real machines: all work finishes, the results are those of functional mode, and
 * the counters agree. On a kernel made for it, each policy does what its paper claims. */
#include "on_machine.h"

#include <stdio.h>
#include <string.h>

#include "../every.h"
#include "sched/md_model.h"

/* ---- What holds under every policy ---- */

static Every schedulers, cta_schedulers, machines, request_schedulers;

/* Everything that is registered, some combinations of parameters, and the plug-ins of the
 * tutorials. */
static void list_all(void) {
    every_scheduler(&schedulers);
    every_scheduler_choice(&schedulers);
    every_add(&schedulers, "two-level:group=2,inner=gto,outer=gto");
    every_add(&schedulers, "swl:limit=1");
    every_add(&schedulers, "swl:limit=7");
    every_add(&schedulers, "cta-aware-locality:fair=500");
    every_add(&schedulers, "ccws:k_throttle=128");
    every_add(&schedulers, "dyncta:period=64");
    every_add(&schedulers, "tournament:period=64,again=256");
    every_add(&schedulers, "equalizer:sample=8,epoch=32,epochs=1");
    every_add(&schedulers, "linebacker:window=64,threshold=0,rise=0,fall=0");
    every_add(&schedulers, "pcal:tokens=2,warps=3,period=128");
    every_add(&schedulers, "ciao:high=0.001,low=0.0005,high_epoch=50,low_epoch=10");
    every_add(&schedulers, "mascar:mshrs=24");
    every_add(&schedulers, TEST_TURNS);
    every_cta_scheduler(&cta_schedulers);
    every_cta_scheduler_choice(&cta_schedulers);
    every_add(&cta_schedulers, "limit:ctas=2");
    every_add(&cta_schedulers, "md:predictor=3");
    every_add(&cta_schedulers, TEST_NEIGHBOURS);
    every_add(&cta_schedulers, TEST_NEIGHBOURS ":group=5");
    every_machine(&machines);
    every_dram_scheduler(&request_schedulers);
    every_thin(&schedulers), every_thin(&cta_schedulers), every_thin(&machines);
}
#define COUNT(array) (sizeof(array) / sizeof *(array))

static Workload small_walk(void) {
    return (Workload){.kernel = "walk",
                      .set = "gpu.sms=3",
                      .ctas = 20,
                      .warps_per_cta = 4,
                      .lines = 12,
                      .rounds = 3,
                      .share = 2,
                      .work = 2,
                      .spread = 4};
}

static Workload small_phases(void) {
    return (Workload){.kernel = "phases",
                      .set = "gpu.sms=3",
                      .ctas = 20,
                      .warps_per_cta = 5,
                      .lines = 1,
                      .rounds = 4,
                      .work = 3};
}

/* The hash of `w` in functional mode. It depends on the kernel and its data, which all callers take
 * from small_walk or small_phases, so each of these runs once. */
static uint64_t functional_hash(Workload w) {
    static uint64_t hashes[2]; /* of "walk" and "phases"; 0: not known yet */
    uint64_t *hash = &hashes[strcmp(w.kernel, "walk") != 0];
    w.machine = NULL;
    if (!*hash) *hash = run_on_machine(&w).hash;
    return *hash;
}

static Outcome expect_functional_results(Workload w) {
    Outcome detailed = run_on_machine(&w);
    assert_int_equal(detailed.hash, functional_hash(w));
    assert_int_equal(detailed.counters.ctas_finished, w.ctas);
    assert_int_equal(detailed.counters.warps_finished, w.ctas * w.warps_per_cta);
    return detailed;
}

/* A second run steps its SMs in every cycle, and every fourth uses two host threads: engine_threads
 * runs every registered policy with two. */
static void expect_the_same_again(Workload w, int number, const Outcome *first) {
    w.threads = number % 4 == 0 ? 2 : 0;
    w.never_sleeps = true;
    Outcome second = run_on_machine(&w);
    if (memcmp(&first->counters, &second.counters, sizeof first->counters))
        fail_msg("%s on %s: a second run counts otherwise", w.scheduler, w.machine);
}

/* Each registered scheduler runs both kernels. Choices and parameters of one share the rest of its
 * code: they run one of them. */
static void
under_every_scheduler_results_are_functional_and_two_runs_count_the_same(void **unused) {
    (void)unused;
    for (int s = 0; s < schedulers.count; s++) {
        Workload walk = small_walk(), phases = small_phases();
        const bool is_registered = !strpbrk(schedulers.names[s], ":/");
        walk.scheduler = phases.scheduler = schedulers.names[s];
        walk.machine = every_at(&machines, s);
        phases.machine = every_at(&machines, s + 2);
        if (is_registered || s % 2) {
            Outcome first = expect_functional_results(walk);
            expect_the_same_again(walk, s, &first);
        }
        if (is_registered || s % 2 == 0) expect_functional_results(phases);
    }
}

/* Each on every second machine; the nightly test results_everywhere runs every registered one on
 * all of them. */
static void under_every_cta_scheduler_too(void **unused) {
    (void)unused;
    for (int s = 0; s < cta_schedulers.count; s++)
        for (int m = s % 2; m < machines.count; m += 2) {
            Workload walk = small_walk();
            walk.cta_scheduler = cta_schedulers.names[s];
            walk.machine = machines.names[m];
            expect_functional_results(walk);
        }
}

static void under_every_dram_scheduler_too(void **unused) {
    (void)unused;
    for (int s = 0; s < request_schedulers.count; s++)
        for (int m = 0; m < machines.count; m++) {
            Workload walk = small_walk();
            char set[EVERY_BYTES + sizeof "gpu.sms=3,"];
            snprintf(set, sizeof set, "gpu.sms=3,%s", request_schedulers.names[s]);
            walk.set = set;
            walk.machine = machines.names[m];
            expect_functional_results(walk);
        }
}

static void ctas_per_sm_stay_within_the_limit(void **unused) {
    (void)unused;
    Workload w = small_walk();
    w.machine = "gtx480";
    for (uint64_t limit = 1; limit <= 4; limit++) {
        char name[40];
        snprintf(name, sizeof name, "limit:ctas=%d", (int)limit);
        w.cta_scheduler = name;
        assert_int_equal(run_on_machine(&w).counters.ctas_per_sm_max, limit);
    }
}

static void a_cta_scheduler_chooses_the_sm(void **unused) {
    (void)unused;
    for (uint64_t group = 1; group <= 4; group *= 2) {
        char name[300];
        snprintf(name, sizeof name, "%s:group=%d", TEST_NEIGHBOURS, (int)group);
        Workload w = small_walk();
        w.machine = "gtx480";
        w.set = "gpu.sms=5";
        w.cta_scheduler = name;
        assert_int_equal(run_on_machine(&w).counters.ctas_finished, w.ctas);
        for (uint64_t cta = 0; cta < w.ctas; cta++) /* 4 on each: groups go to the SMs in turn */
            assert_int_equal(last_sm_of(cta), cta / group % 5);
    }
}

static void a_cta_scheduler_that_chooses_wrongly_ends_the_kernel(void **unused) {
    (void)unused;
    Workload w = small_walk();
    w.machine = "gtx480";
    w.cta_scheduler = TEST_PLUGINS "/bad_choice.so:sm=2";
    const char *message = failure_on_machine(&w);
    assert_non_null(strstr(message, "CTA scheduler " TEST_PLUGINS "/bad_choice.so:sm=2: cycle "));
    assert_non_null(strstr(message, ": chose SM 2 for CTA 1, which has no room for it"));
    w.cta_scheduler = TEST_PLUGINS "/bad_choice.so:sm=3";
    assert_non_null(strstr(failure_on_machine(&w), "chose SM 3 for CTA 0, which is none"));
}

/* ---- What each policy is for ---- */

static Outcome under(Workload w, const char *scheduler) {
    w.scheduler = scheduler;
    Outcome outcome = run_on_machine(&w);
    print_message("    %-24s %9d cycles\n", scheduler, (int)outcome.counters.cycles);
    return outcome;
}

static double speedup(const Outcome *of, const Outcome *over) {
    return (double)over->counters.cycles / (double)of->counters.cycles;
}

static double l1d_miss_rate(const Outcome *o) {
    return (double)o->counters.l1d_load_misses / (double)o->counters.l1d_load_accesses;
}

static double l2_hit_rate(const Outcome *o) {
    return (double)o->counters.l2_hits / (double)o->counters.l2_accesses;
}

static double bank_parallelism(const Outcome *o) {
    return (double)o->counters.dram_bank_ticks / (double)o->counters.dram_busy_ticks;
}

/* 32 warps with 32 lines each: four times the L1D of 256 lines. The 8 lines of a load take half its
 * MSHRs. */
static void where_working_sets_overflow_the_l1d_swl_and_ccws_beat_gto_by_a_third(void **unused) {
    (void)unused;
    Workload w = {.kernel = "walk",
                  .machine = "ccws",
                  .set = "gpu.sms=8",
                  .ctas = 32,
                  .warps_per_cta = 8,
                  .lines = 32,
                  .rounds = 16,
                  .work = 1,
                  .spread = 8};
    Outcome gto = under(w, "gto"), swl = under(w, "swl:limit=8"), ccws = under(w, "ccws");
    assert_true(speedup(&swl, &gto) > 1.3);
    assert_true(speedup(&ccws, &gto) > 1.3);
    assert_true(l1d_miss_rate(&ccws) < l1d_miss_rate(&gto) / 2);
}

/* 32 warps with 4 lines each: half of the L1D. */
static void where_all_fit_they_match_gto(void **unused) {
    (void)unused;
    Workload w = {.kernel = "walk",
                  .machine = "ccws",
                  .set = "gpu.sms=8",
                  .ctas = 32,
                  .warps_per_cta = 8,
                  .lines = 4,
                  .rounds = 40,
                  .work = 1,
                  .spread = 4};
    Outcome gto = under(w, "gto"), swl = under(w, "swl:limit=32"), ccws = under(w, "ccws");
    assert_true(speedup(&swl, &gto) > 0.97 && speedup(&swl, &gto) < 1.03);
    assert_true(speedup(&ccws, &gto) > 0.97 && speedup(&ccws, &gto) < 1.03);
}

/* The 8 warps of a CTA share 12 KiB. 4 CTAs do not fit into 32 KiB, one does. */
static void cta_aware_locality_lowers_the_miss_rate_where_ctas_reuse_data(void **unused) {
    (void)unused;
    Workload w = {.kernel = "walk",
                  .machine = "owl",
                  .set = "gpu.sms=8",
                  .ctas = 64,
                  .warps_per_cta = 8,
                  .lines = 96,
                  .rounds = 4,
                  .share = 8,
                  .work = 1,
                  .spread = 4};
    Outcome lrr = under(w, "lrr"), locality = under(w, "cta-aware-locality");
    print_message("    L1D misses %.1f%% and %.1f%%\n", 100 * l1d_miss_rate(&lrr),
                  100 * l1d_miss_rate(&locality));
    assert_true(l1d_miss_rate(&locality) < l1d_miss_rate(&lrr) / 2);
}

/* Each CTA reads 1 KiB once, next to the KiB of the next CTA. Two CTAs share a row, and the next
 * two use a row of the next channel. With owl's own map it would be a row of the next bank, and
 * neighbors would already use all banks of a channel. */
static void
blp_spreads_over_banks_where_consecutive_ctas_share_rows_and_owl_hits_l2(void **unused) {
    (void)unused;
    Workload w = {.kernel = "walk",
                  .machine = "owl",
                  .set = "map.bits=RRRRRRRRRRRRRRRR.BB.PPP.CCCCCCCCCCC",
                  .ctas = 336,
                  .warps_per_cta = 8,
                  .lines = 8,
                  .rounds = 1,
                  .share = 8,
                  .work = 8};
    Outcome locality = under(w, "cta-aware-locality"), blp = under(w, "cta-aware-locality-blp");
    Outcome owl = under(w, "owl");
    print_message("    busy banks %.2f and %.2f, L2 hits %.1f%% and %.1f%%\n",
                  bank_parallelism(&locality), bank_parallelism(&blp), 100 * l2_hit_rate(&blp),
                  100 * l2_hit_rate(&owl));
    assert_true(bank_parallelism(&blp) > bank_parallelism(&locality));
    assert_true(l2_hit_rate(&owl) > l2_hit_rate(&blp) + 0.1);
    assert_true(owl.counters.l2_prefetches_used > 0);
}

/* A policy requests prefetching, which works with every request scheduler. */
static void whoever_asks_has_rows_prefetched_under_every_dram_scheduler(void **unused) {
    (void)unused;
    static const struct {
        const char *scheduler;
        bool asks;
    } POLICIES[] = {
        {"owl", true}, {TEST_PLUGINS "/prefetching.so", true}, {"cta-aware-locality-blp", false}};
    for (int set = 0; set < request_schedulers.count; set++)
        for (size_t p = 0; p < COUNT(POLICIES); p++) {
            Workload w = small_walk();
            w.machine = "owl";
            w.set = request_schedulers.names[set];
            w.scheduler = POLICIES[p].scheduler;
            assert_int_equal(run_on_machine(&w).counters.dram_prefetches > 0, POLICIES[p].asks);
            expect_functional_results(w);
        }
}

/* The same overflow as for swl and ccws. Each of these throttling policies must lower the
 * misses. */
static void where_working_sets_overflow_the_l1d_throttling_lowers_its_misses(void **unused) {
    (void)unused;
    static const char *const policies[] = {"dyncta", "pcal:tokens=8,climb=none", "ciao", "daws"};
    Workload w = {.kernel = "walk",
                  .machine = "ccws",
                  .set = "gpu.sms=8",
                  .ctas = 32,
                  .warps_per_cta = 8,
                  .lines = 32,
                  .rounds = 16,
                  .work = 1,
                  .spread = 8};
    Outcome lrr = under(w, "lrr");
    print_message("    L1D misses %.1f%%\n", 100 * l1d_miss_rate(&lrr));
    for (size_t i = 0; i < COUNT(policies); i++) {
        Outcome outcome = under(w, policies[i]);
        print_message("    L1D misses %.1f%%\n", 100 * l1d_miss_rate(&outcome));
        assert_true(l1d_miss_rate(&outcome) < l1d_miss_rate(&lrr));
    }
}

/* Two CTAs of 4 warps each share their lines: bcs puts them on one SM. */
static void bcs_lowers_misses_where_consecutive_ctas_share_lines(void **unused) {
    (void)unused;
    Workload w = {.kernel = "walk",
                  .machine = "gtx480",
                  .set = "gpu.sms=4",
                  .ctas = 32,
                  .warps_per_cta = 4,
                  .lines = 32,
                  .rounds = 2,
                  .share = 8,
                  .work = 1,
                  .spread = 4};
    Outcome apart = run_on_machine(&w);
    w.cta_scheduler = "bcs";
    Outcome together = run_on_machine(&w);
    print_message("    L1D misses %.1f%% and %.1f%%\n", 100 * l1d_miss_rate(&apart),
                  100 * l1d_miss_rate(&together));
    assert_int_equal(last_sm_of(0), last_sm_of(1));
    assert_int_not_equal(last_sm_of(1), last_sm_of(2));
    assert_true(l1d_miss_rate(&together) < l1d_miss_rate(&apart));
}

/* The lines of a few CTAs fit into the L1D. Under gto the first CTAs, which find theirs again, are
 * far ahead when one of them finishes. */
static void lcs_holds_fewer_ctas_where_the_first_do_most_of_the_work(void **unused) {
    (void)unused;
    Workload w = {.kernel = "walk",
                  .machine = "ccws",
                  .set = "gpu.sms=2",
                  .ctas = 60,
                  .warps_per_cta = 4,
                  .lines = 32,
                  .rounds = 16,
                  .work = 1,
                  .spread = 8};
    w.cta_scheduler = "lcs";
    run_on_machine(&w);
    const double greedy = last_cta_report_at("limits", 0);
    w.scheduler = "lrr"; /* all have done about the same */
    run_on_machine(&w);
    const double in_turn = last_cta_report_at("limits", 0);
    print_message("    at most %.0f and %.0f of 8 CTAs\n", greedy, in_turn);
    assert_true(greedy >= 1 && greedy <= 4);
    assert_true(in_turn > greedy);
}

static void mascar_and_equalizer_see_memory_saturate_and_prefetches_are_used(void **unused) {
    (void)unused;
    Workload w = {.kernel = "walk",
                  .machine = "gtx480",
                  .set = "gpu.sms=2,l1d.mshrs=8",
                  .ctas = 24,
                  .warps_per_cta = 8,
                  .lines = 32,
                  .rounds = 4,
                  .work = 1,
                  .spread = 8};
    under(w, "mascar");
    assert_true(last_report("saturated") > 0 && last_report("owners") > 0);
    under(w, "equalizer:epochs=1");
    assert_true(last_report("lowered") > 0);
    w.set = "gpu.sms=2";
    w.spread = 1;
    under(w, "prefetch-aware");
    assert_true(last_report("prefetches_asked") > 0);
    assert_true(last_report("l1d_prefetches_used") > 0);
}

static void baws_shortens_waits_at_barriers_of_unequal_warps(void **unused) {
    (void)unused;
    Workload w = {.kernel = "phases",
                  .machine = "pro",
                  .set = "gpu.sms=4",
                  .ctas = 40,
                  .warps_per_cta = 8,
                  .lines = 1,
                  .rounds = 12,
                  .work = 16};
    Outcome lrr = under(w, "lrr"), baws = under(w, "baws");
    assert_true(speedup(&baws, &lrr) > 1);
}

static void no_cta_of_a_small_grid_waits_for_mds_predictor(void **unused) {
    (void)unused;
    Workload w = {.kernel = "walk",
                  .machine = "md",
                  .set = "gpu.sms=4",
                  .ctas = 8,
                  .warps_per_cta = 2,
                  .lines = 16,
                  .rounds = 12,
                  .work = 1,
                  .spread = 16};
    Outcome even = run_on_machine(&w);
    w.cta_scheduler = "md";
    Outcome uneven = run_on_machine(&w);
    assert_true(uneven.counters.cycles < even.counters.cycles * 3 / 2);
}

static void pro_shortens_a_kernel_of_unequal_warps_and_barriers(void **unused) {
    (void)unused;
    Workload w = {.kernel = "phases",
                  .machine = "pro",
                  .set = "gpu.sms=4",
                  .ctas = 40,
                  .warps_per_cta = 8,
                  .lines = 1,
                  .rounds = 12,
                  .work = 16};
    Outcome lrr = under(w, "lrr"), pro = under(w, "pro");
    assert_true(speedup(&pro, &lrr) > 1.05);
}

static double md_degree(Workload w) {
    w.cta_scheduler = "md";
    run_on_machine(&w);
    return last_cta_report("degree");
}

static void
md_picks_a_low_degree_under_contention_and_the_highest_for_a_compute_bound_kernel(void **unused) {
    (void)unused;
    Workload contended = {.kernel = "walk",
                          .machine = "md",
                          .set = "gpu.sms=4",
                          .ctas = 64,
                          .warps_per_cta = 6,
                          .lines = 20,
                          .rounds = 12,
                          .work = 1,
                          .spread = 16};
    Workload compute = {.kernel = "walk",
                        .machine = "md",
                        .set = "gpu.sms=4",
                        .ctas = 64,
                        .warps_per_cta = 6,
                        .lines = 4,
                        .rounds = 2,
                        .work = 100};
    assert_true(md_degree(contended) <= 2);
    assert_true(md_degree(compute) == 8);
    Outcome all = run_on_machine(&contended);
    contended.cta_scheduler = "md";
    Outcome md = run_on_machine(&contended);
    assert_true(speedup(&md, &all) > 1.2);
}

/* Runs a workload and reads the DRAM reads that md predicts for 1 to MD_MAX_DEGREE CTAs; returns
 * the outcome of the run. */
static Outcome predict(const Workload *w, double reads[MD_MAX_DEGREE]) {
    Outcome outcome = run_on_machine(w);
    for (uint32_t i = 0; i < MD_MAX_DEGREE; i++)
        reads[i] = last_cta_report_at("predicted_dram_reads", i);
    return outcome;
}

/* On a v100, a kernel that prefers half of the shared memory, 48 KiB, leaves 64 of the 128 KiB as
 * L1D: half the ways of its 4 sets. */
static void to_md_a_carve_out_leaves_an_l1d_of_fewer_ways(void **unused) {
    (void)unused;
    Workload carved = {.kernel = "walk",
                       .machine = "v100",
                       .set = "gpu.sms=2",
                       .cta_scheduler = "md",
                       .ctas = 40,
                       .warps_per_cta = 6,
                       .lines = 20,
                       .rounds = 4,
                       .work = 1,
                       .spread = 4,
                       .carve_out = 51};
    Workload all = carved, small = carved;
    all.carve_out = 1;
    small.set = "gpu.sms=2,l1d.unified=0 B,l1d.size=64 KiB,l1d.ways=128";
    double of_carved[MD_MAX_DEGREE], of_all[MD_MAX_DEGREE], of_small[MD_MAX_DEGREE];
    Outcome first = predict(&carved, of_carved), second = predict(&small, of_small);
    predict(&all, of_all);
    for (int i = 0; i < MD_MAX_DEGREE; i++)
        assert_true(of_carved[i] == of_small[i]);
    assert_memory_equal(&first.counters, &second.counters, sizeof first.counters);
    assert_true(of_carved[4] > 1.1 * of_all[4]);
}

static void a_cta_policy_is_told_of_the_kernels_l1d_before_it_starts(void **unused) {
    (void)unused;
    Workload carved = {.kernel = "walk",
                       .machine = "v100",
                       .set = "gpu.sms=1",
                       .cta_scheduler = TEST_PLUGINS "/told.so",
                       .ctas = 1,
                       .warps_per_cta = 1,
                       .lines = 1,
                       .rounds = 1,
                       .share = 1,
                       .work = 1,
                       .spread = 1,
                       .carve_out = 51};
    Workload all = carved;
    all.carve_out = 1;
    run_on_machine(&all);
    double lines = last_cta_report("lines"), ways = last_cta_report("ways");
    run_on_machine(&carved);
    assert_true(last_cta_report("lines") < lines && last_cta_report("ways") < ways);
    assert_true(last_cta_report("first_lines") == last_cta_report("lines"));
    assert_true(last_cta_report("first_ways") == last_cta_report("ways"));
}

int main(void) {
    list_all();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(under_every_scheduler_results_are_functional_and_two_runs_count_the_same),
        cmocka_unit_test(under_every_cta_scheduler_too),
        cmocka_unit_test(under_every_dram_scheduler_too),
        cmocka_unit_test(a_cta_scheduler_chooses_the_sm),
        cmocka_unit_test(a_cta_scheduler_that_chooses_wrongly_ends_the_kernel),
        cmocka_unit_test(ctas_per_sm_stay_within_the_limit),
        cmocka_unit_test(where_working_sets_overflow_the_l1d_swl_and_ccws_beat_gto_by_a_third),
        cmocka_unit_test(where_all_fit_they_match_gto),
        cmocka_unit_test(cta_aware_locality_lowers_the_miss_rate_where_ctas_reuse_data),
        cmocka_unit_test(blp_spreads_over_banks_where_consecutive_ctas_share_rows_and_owl_hits_l2),
        cmocka_unit_test(whoever_asks_has_rows_prefetched_under_every_dram_scheduler),
        cmocka_unit_test(where_working_sets_overflow_the_l1d_throttling_lowers_its_misses),
        cmocka_unit_test(bcs_lowers_misses_where_consecutive_ctas_share_lines),
        cmocka_unit_test(lcs_holds_fewer_ctas_where_the_first_do_most_of_the_work),
        cmocka_unit_test(mascar_and_equalizer_see_memory_saturate_and_prefetches_are_used),
        cmocka_unit_test(baws_shortens_waits_at_barriers_of_unequal_warps),
        cmocka_unit_test(no_cta_of_a_small_grid_waits_for_mds_predictor),
        cmocka_unit_test(pro_shortens_a_kernel_of_unequal_warps_and_barriers),
        cmocka_unit_test(
            md_picks_a_low_degree_under_contention_and_the_highest_for_a_compute_bound_kernel),
        cmocka_unit_test(to_md_a_carve_out_leaves_an_l1d_of_fewer_ways),
        cmocka_unit_test(a_cta_policy_is_told_of_the_kernels_l1d_before_it_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
