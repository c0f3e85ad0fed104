/* Tests each hook of the policy interface with a small policy that uses it on a machine. What the
 * policy sees agrees with the counters, and neither sleeping nor threads change anything. */
#include "on_machine.h"

#include <stdio.h>
#include <string.h>

#include "../every.h"

#define PLUGIN(name) TEST_PLUGINS "/" name ".so"

/* Lines that do not fit into the L1D and that every warp reads again. */
static Workload walk(const char *scheduler) {
    return (Workload){.kernel = "walk",
                      .machine = "gtx480",
                      .set = "gpu.sms=3",
                      .scheduler = scheduler,
                      .ctas = 24,
                      .warps_per_cta = 4,
                      .lines = 12,
                      .rounds = 3,
                      .share = 2,
                      .work = 2,
                      .spread = 4};
}

static Workload phases(const char *scheduler) {
    return (Workload){.kernel = "phases",
                      .machine = "gtx480",
                      .set = "gpu.sms=3",
                      .scheduler = scheduler,
                      .ctas = 24,
                      .warps_per_cta = 5,
                      .lines = 1,
                      .rounds = 4,
                      .work = 30};
}

static Counters run(Workload w) { return run_on_machine(&w).counters; }

static void a_bypassed_instruction_brings_no_line(void **unused) {
    (void)unused;
    Counters normal = run(walk(PLUGIN("bypassing")));
    assert_true(last_report("asked") == 0 && last_report("unknown") == 0);
    const int pc = (int)last_report("load_pc") - 1;
    char name[300];
    snprintf(name, sizeof name, "%s:pc=%d", PLUGIN("bypassing"), pc);
    Counters bypassed = run(walk(name));
    assert_true(normal.l1d_hits > 0 && normal.l1d_evictions > 0);
    assert_int_equal(bypassed.l1d_hits, 0);
    assert_int_equal(bypassed.l1d_evictions, 0);
    assert_int_equal((int)last_report("placed"), 0);
    assert_int_equal((uint64_t)last_report("homeless"), bypassed.l1d_fills);
    assert_int_equal((uint64_t)last_report("asked"), bypassed.l1d_load_misses);
    snprintf(name, sizeof name, "%s:pc=%d", PLUGIN("bypassing"), pc + 1);
    Counters other = run(walk(name));
    assert_memory_equal(&other, &normal, sizeof other);
}

static void an_insertion_class_changes_who_goes(void **unused) {
    (void)unused;
    Counters normal = run(walk(PLUGIN("bypassing")));
    const int pc = (int)last_report("load_pc") - 1;
    uint64_t hits[2];
    for (int class = 1; class <= 2; class ++) {
        char name[300];
        snprintf(name, sizeof name, "%s:pc=%d,class=%d", PLUGIN("bypassing"), pc, class);
        Counters changed = run(walk(name));
        hits[class - 1] = changed.l1d_hits;
        assert_true(last_report("placed") > 0 && last_report("homeless") == 0);
        assert_int_equal(changed.l1d_accesses, normal.l1d_accesses);
    }
    assert_int_equal(hits[0], normal.l1d_hits); /* all lines are alike: the oldest is evicted */
    assert_int_equal(hits[1], normal.l1d_hits);
    char name[300];
    snprintf(name, sizeof name, "%s:pc=%d,class=7", PLUGIN("bypassing"), pc);
    Workload w = walk(name);
    assert_non_null(strstr(failure_on_machine(&w), "insert answered 7, which is none of its"));
}

static void a_prefetch_is_sent_and_accounted_for_by_its_tag(void **unused) {
    (void)unused;
    Workload w = walk(PLUGIN("next_line"));
    w.lines = 4, w.spread = 1, w.rounds = 1;
    Counters with = run(w);
    const double sent = last_report("sent"), used = last_report("used");
    print_message("    sent %g, used %g, late %g, unused %g, dropped %g, refused %g\n", sent, used,
                  last_report("late"), last_report("unused"), last_report("dropped"),
                  last_report("refused"));
    assert_true(last_report("wrong") == 0);
    assert_true(sent > 0 && used > 0 && used + last_report("unused") <= sent);
    assert_true(last_report("l1d_prefetches_asked") == last_report("asked"));
    assert_true(last_report("l1d_prefetches_sent") == sent);
    assert_true(last_report("l1d_prefetches_used") == used);
    assert_true(last_report("l1d_prefetches_late") == last_report("late"));
    assert_true(last_report("l1d_prefetches_unused") == last_report("unused"));
    assert_true(last_report("l1d_prefetches_dropped") == last_report("dropped"));
    assert_true(last_report("asked") == sent + last_report("dropped"));
    assert_int_equal(with.l1d_fills, with.l1d_load_misses + (uint64_t)sent);
    w.scheduler = PLUGIN("next_line") ":times=0";
    Counters without = run(w);
    assert_true(last_report("sent") == 0);
    assert_int_equal(with.l1d_accesses, without.l1d_accesses);
    assert_true(with.l1d_load_misses < without.l1d_load_misses);
}

static void prefetches_that_nobody_wants_are_told(void **unused) {
    (void)unused;
    Workload w = walk(PLUGIN("next_line") ":lines=40,times=20");
    run(w);
    assert_true(last_report("wrong") == 0);
    assert_true(last_report("unused") > 0 && last_report("refused") > 0);
    assert_true(last_report("used") + last_report("unused") <= last_report("sent"));
    w.scheduler = PLUGIN("next_line") ":lines=1000000"; /* there is no memory */
    run(w);
    assert_true(last_report("sent") == 0 && last_report("dropped") == last_report("asked"));
}

static void prefetches_on_every_machine(void **unused) {
    (void)unused;
    static Every machines;
    every_machine(&machines);
    every_thin(&machines);
    for (int m = 0; m < machines.count; m++) {
        Workload w = walk(PLUGIN("next_line"));
        w.machine = every_at(&machines, m);
        w.lines = 40, w.spread = 1, w.ctas = 40;
        run(w);
        assert_true(last_report("wrong") == 0);
        assert_true(last_report("sent") > 0 && last_report("used") > 0);
        assert_true(last_report("used") + last_report("unused") <= last_report("sent"));
    }
}

static void a_chosen_line_goes(void **unused) {
    (void)unused;
    Workload w = walk(PLUGIN("choosing"));
    Counters youngest = run(w);
    assert_true(last_report("asked") > 0);
    assert_true(last_report("obeyed") == last_report("asked"));
    assert_int_equal((uint64_t)last_report("asked"), youngest.l1d_evictions);
    w.scheduler = PLUGIN("choosing") ":answer=1";
    Counters own = run(w);
    assert_true(last_report("obeyed") == 0);
    w.scheduler = PLUGIN("bypassing"); /* the same picks without a choice */
    Counters without = run(w);
    assert_memory_equal(&own, &without, sizeof own);
    print_message("    hits: %d by age, %d by youth\n", (int)own.l1d_hits, (int)youngest.l1d_hits);
    assert_true(own.l1d_hits != youngest.l1d_hits);
}

static void a_line_that_cannot_go_ends_the_kernel(void **unused) {
    (void)unused;
    Workload w = walk(PLUGIN("choosing") ":answer=3");
    assert_non_null(strstr(failure_on_machine(&w), "choosing.so:answer=3: cycle "));
    assert_non_null(strstr(failure_on_machine(&w), "victim answered 4, which is none of its"));
    w.scheduler = PLUGIN("choosing") ":answer=2";
    assert_non_null(strstr(failure_on_machine(&w), "victim answered "));
}

static void branches_are_told_as_they_are_counted(void **unused) {
    (void)unused;
    Workload all[] = {walk(PLUGIN("branching")), phases(PLUGIN("branching")),
                      walk(PLUGIN("branching")), phases(PLUGIN("branching"))};
    all[2].machine = all[3].machine = "h100"; /* some take no slot */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        Counters counters = run(all[i]);
        assert_true(counters.branches > 0);
        assert_int_equal((uint64_t)last_report("branches"), counters.branches);
        assert_int_equal((uint64_t)last_report("divergent"), counters.divergent_branches);
        assert_int_equal((uint64_t)last_report("split"), counters.divergent_branches);
        assert_true(last_report("taken") > 0 && last_report("taken") < last_report("branches"));
        if (i < 2) assert_true(last_report("wrong") == 0);
    }
}

static void full_units_are_seen(void **unused) {
    (void)unused;
    Workload w = walk(PLUGIN("stalling"));
    w.set = "gpu.sms=3,l1d.mshrs=2";
    Counters few = run(w);
    assert_true(last_report("wrong") == 0);
    assert_true(last_report("mshrs") > 0 && last_report("no_mshr") > 0 && last_report("lsu") > 0);
    assert_true(last_report("lsu") >= (double)few.pipeline_lsu); /* at least one warp in each */
    const double scarce = last_report("no_mshr");
    w.set = "gpu.sms=3,l1d.mshrs=512";
    run(w);
    assert_true(last_report("no_mshr") < scarce);
    Counters busy = run(phases(PLUGIN("stalling")));
    assert_true(last_report("wrong") == 0 && last_report("mshrs") == 0);
    assert_true(last_report("unit") >= (double)busy.pipeline_other);
}

/* A policy that counts cycles does not take the launch for cycles of its first CTA. */
static void cycles_without_ctas_are_told_apart(void **unused) {
    (void)unused;
    double empty[2], occupied[2];
    for (int late = 0; late < 2; late++) {
        Workload w = phases(PLUGIN("stalling"));
        w.set = late ? "gpu.sms=1,cta.launch_latency=1000" : "gpu.sms=1,cta.launch_latency=0";
        run(w);
        empty[late] = last_report("empty");
        occupied[late] = last_report("cycles") - empty[late];
    }
    assert_true(empty[1] - empty[0] == 1000 && occupied[0] == occupied[1] && occupied[0] > 0);
}

static void ctas_are_paused_and_ordered(void **unused) {
    (void)unused;
    Workload w = phases(NULL);
    w.ctas = 60, w.work = 60;
    w.cta_scheduler = PLUGIN("pausing");
    Counters counters = run(w);
    assert_int_equal(counters.ctas_finished, w.ctas);
    assert_true(last_cta_report("samples") >= 5 && last_cta_report("moved") > 10);
    assert_int_equal((int)last_cta_report("cheated"), 0);
    assert_int_equal((int)last_cta_report("unpaused"), 0);
    assert_int_equal((int)last_cta_report("strange"), 0);
    assert_int_equal((int)last_cta_report("finished"), w.ctas);
    assert_int_equal((uint64_t)last_cta_report("total"), counters.warp_instructions);
    assert_true(counters.throttled > 0);
    for (uint64_t cta = w.ctas - 3; cta < w.ctas; cta++) /* the last CTAs go first */
        assert_int_equal(last_sm_of(cta), w.ctas - 1 - cta);
    w.cta_scheduler = PLUGIN("pausing") ":every=0,reverse=0";
    Counters plain = run(w);
    assert_true(last_cta_report("samples") == 0 && plain.throttled == 0);
    assert_true(plain.cycles < counters.cycles);
    w.cta_scheduler = NULL;
    Counters round_robin = run(w);
    assert_memory_equal(&plain, &round_robin, sizeof plain);
}

static void a_cta_that_cannot_go_ends_the_kernel(void **unused) {
    (void)unused;
    Workload w = phases(NULL);
    w.cta_scheduler = PLUGIN("pausing") ":wrong=1";
    assert_non_null(
        strstr(failure_on_machine(&w), "chose CTA 0 for SM 1, which is already dispatched"));
    w.cta_scheduler = PLUGIN("pausing") ":wrong=2";
    assert_non_null(strstr(failure_on_machine(&w), "chose CTA 24 for SM 0, which does not exist"));
}

static void a_policy_of_another_layout_runs(void **unused) {
    (void)unused;
    Counters expected = run(walk(PLUGIN("bypassing")));
    Counters smaller = run(walk(PLUGIN("smaller"))), larger = run(walk(PLUGIN("larger")));
    assert_memory_equal(&smaller, &expected, sizeof expected);
    assert_memory_equal(&larger, &expected, sizeof expected);
}

/* ---- What must change nothing ---- */

static const char *const SCHEDULERS[] = {
    PLUGIN("bypassing") ":pc=30", PLUGIN("next_line"), PLUGIN("next_line") ":lines=3,times=5",
    PLUGIN("choosing"),           PLUGIN("branching"), PLUGIN("stalling")};
static const char *const NAMES[] = {"asked", "sent", "used",  "unused",  "obeyed", "branches",
                                    "unit",  "lsu",  "mshrs", "no_mshr", "no_miss"};
enum {
    SCHEDULER_COUNT = sizeof SCHEDULERS / sizeof *SCHEDULERS,
    NAME_COUNT = sizeof NAMES / sizeof *NAMES
};

static void expect_same(Workload w, const char *const *names, size_t count,
                        double (*value)(const char *)) {
    const Outcome expected = run_on_machine(&w);
    double before[NAME_COUNT];
    for (size_t i = 0; i < count; i++)
        before[i] = value(names[i]);
    for (int change = 1; change < 4; change++) { /* 2 threads, 3, and no sleep */
        Workload other = w;
        if (change < 3) other.threads = (uint32_t)change + 1;
        else other.never_sleeps = true;
        const Outcome outcome = run_on_machine(&other);
        assert_int_equal(outcome.hash, expected.hash);
        if (memcmp(&outcome.counters, &expected.counters, sizeof outcome.counters) != 0)
            fail_msg("%s on %s: other counters (change %d)", w.scheduler, w.machine, change);
        for (size_t i = 0; i < count; i++)
            if (value(names[i]) != before[i])
                fail_msg("%s %s: %s is %g, not %g (change %d)", w.scheduler, w.cta_scheduler,
                         names[i], value(names[i]), before[i], change);
    }
}

/* The value in the last run; -1 if the policy does not report it. */
static double any_report(const char *name) { return has_report(name) ? last_report(name) : -1; }

static void neither_sleep_nor_threads_change_what_warp_policies_see(void **unused) {
    (void)unused;
    const char *const machines[] = {"gtx480", "rtx3070"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        for (size_t s = 0; s < SCHEDULER_COUNT; s++) {
            Workload w = walk(SCHEDULERS[s]);
            w.machine = machines[m];
            w.set = "gpu.sms=4,l1d.mshrs=8";
            w.ctas = 12, w.share = 1;
            expect_same(w, NAMES, NAME_COUNT, any_report);
        }
}

static void neither_sleep_nor_threads_change_what_cta_policies_see(void **unused) {
    (void)unused;
    static const char *const names[] = {"samples",  "moved", "cheated",
                                        "unpaused", "total", "strange"};
    Workload w = phases(NULL);
    w.set = "gpu.sms=4";
    w.ctas = 40;
    w.cta_scheduler = PLUGIN("pausing") ":every=333";
    expect_same(w, names, sizeof names / sizeof *names, last_cta_report);
    w = walk(PLUGIN("next_line"));
    w.set = "gpu.sms=4";
    w.cta_scheduler = PLUGIN("pausing") ":every=777";
    expect_same(w, names, sizeof names / sizeof *names, last_cta_report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bypassed_instruction_brings_no_line),
        cmocka_unit_test(an_insertion_class_changes_who_goes),
        cmocka_unit_test(a_prefetch_is_sent_and_accounted_for_by_its_tag),
        cmocka_unit_test(prefetches_that_nobody_wants_are_told),
        cmocka_unit_test(prefetches_on_every_machine),
        cmocka_unit_test(a_chosen_line_goes),
        cmocka_unit_test(a_line_that_cannot_go_ends_the_kernel),
        cmocka_unit_test(branches_are_told_as_they_are_counted),
        cmocka_unit_test(full_units_are_seen),
        cmocka_unit_test(cycles_without_ctas_are_told_apart),
        cmocka_unit_test(ctas_are_paused_and_ordered),
        cmocka_unit_test(a_cta_that_cannot_go_ends_the_kernel),
        cmocka_unit_test(a_policy_of_another_layout_runs),
        cmocka_unit_test(neither_sleep_nor_threads_change_what_warp_policies_see),
        cmocka_unit_test(neither_sleep_nor_threads_change_what_cta_policies_see),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
