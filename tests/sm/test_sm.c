/* A whole SM: the cycles that an instruction takes from issue to issue, what keeps a CTA on the SM,
 * and sleep. The test answers requests after a fixed time. */
#include <string.h>

#include "sm/parts.h"
#include "sm_bench.h"

/* Creates a bench with the machine's core and begins the kernel. */
static Bench *start(const char *settings, uint32_t warps, const char *lines, bool never_sleeps) {
    Bench *bench = bench_new(settings, warps, lines, never_sleeps, NULL);
    bench_begin(bench, NULL);
    return bench;
}

/* Cycles from the CTA's launch to its end. */
static uint64_t cycles_of(const char *settings, const char *lines) {
    Bench *bench = start(settings, 1, lines, false);
    bench_run(bench, 1);
    uint64_t cycles = bench->ended_at;
    bench_stop(bench);
    return cycles;
}

#define IDEAL_FETCH "fetch.ideal=yes "

static void test_a_dependent_instruction_issues_six_cycles_after_its_latency(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        uint64_t latency;
    } rows[] = {{IDEAL_FETCH "ops.int_add.latency=1", 1},
                {IDEAL_FETCH "ops.int_add.latency=4", 4},
                {IDEAL_FETCH "ops.int_add.latency=145", 145}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t one = cycles_of(rows[i].settings, "add.u32 %r1, %r1, 1;");
        uint64_t four = cycles_of(rows[i].settings, "add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1;"
                                                    "add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1;");
        assert_int_equal(four - one, 3 * (6 + rows[i].latency));
    }
}

static void test_independent_instructions_issue_cycle_after_cycle(void **state) {
    (void)state;
    uint64_t one = cycles_of(IDEAL_FETCH, "add.u32 %r1, %r9, 1;");
    uint64_t four = cycles_of(IDEAL_FETCH, "add.u32 %r1, %r9, 1; add.u32 %r2, %r9, 1;"
                                           "add.u32 %r3, %r9, 1; add.u32 %r4, %r9, 1;");
    assert_int_equal(four - one, 3);
}

/* The load enters the unit at t + 4 and makes its access a cycle later. Then it passes the pipe and
 * the port. */
static void test_shared_memory_is_its_latency_and_six_cycles_away(void **state) {
    (void)state;
    uint64_t alone = cycles_of(IDEAL_FETCH "shared.latency=26", "mov.u32 %r2, 0;"
                                                                "add.u32 %r3, %r3, 1;");
    uint64_t loads = cycles_of(IDEAL_FETCH "shared.latency=26",
                               "mov.u32 %r2, 0; ld.shared.u32 %r1, [%r2];"
                               "ld.shared.u32 %r1, [%r1]; add.u32 %r3, %r1, 1;");
    uint64_t longer = cycles_of(IDEAL_FETCH "shared.latency=46",
                                "mov.u32 %r2, 0; ld.shared.u32 %r1, [%r2];"
                                "ld.shared.u32 %r1, [%r1]; add.u32 %r3, %r1, 1;");
    assert_int_equal(longer - loads, 2 * 20);
    assert_true(loads > alone + 2 * (26 + 5));
}

static void test_a_cta_keeps_its_slot_until_its_stores_are_acknowledged(void **state) {
    (void)state;
    const char *lines = "ld.param.u64 %d0, [buffer]; st.global.u32 [%d0], %r1;";
    for (int acknowledges = 0; acknowledges < 2; acknowledges++) {
        Bench *bench =
            start(acknowledges ? "lsu.acknowledges_stores=yes" : "lsu.acknowledges_stores=no", 1,
                  lines, false);
        bench_run(bench, 1);
        assert_int_equal(bench->ended_at > bench->acked_at, acknowledges);
        const Counters *c = sm_counters(bench->sm);
        assert_int_equal(c->writes_sent, 1);
        assert_int_equal(c->writes_acknowledged, 1);
        bench_stop(bench);
    }
}

#define SASS IDEAL_FETCH "sm.instructions=lowered "

/* The source registers differ from the result registers, so that nothing waits. A 64-bit sum whose
 * upper half is stored takes two machine instructions. */
/* Shared memory and the L1D share a store of 64 KiB: what one takes, the other lacks. */
static void test_a_policy_sees_the_lines_that_the_l1d_has_left(void **state) {
    (void)state;
    Bench *bench =
        start("l1d.size=64KiB l1d.ways=128 l1d.unified=64KiB", 1, "mov.u32 %r1, 0;", false);
    const TytoSmView *view = &bench->sm->context.view;
    assert_int_equal(view->l1d_places, 512);
    assert_int_equal(view->l1d_lines, 512);
    sm_carve_out(bench->sm, 16 << 10);
    assert_int_equal(view->l1d_lines, 384);
    sm_carve_out(bench->sm, 0);
    assert_int_equal(view->l1d_lines, 512);
    bench_stop(bench);
}

static void test_an_instruction_takes_as_many_issue_cycles_as_it_has_slots(void **state) {
    (void)state;
    static const char *const sums[] = {
        "add.u32 %r1, %r9, %r8; add.u64 %d1, %d6, %d7;",
        "add.u32 %r1, %r9, %r8; add.u64 %d2, %d6, %d7; add.u64 %d3, %d6, %d7;"
        "add.u64 %d1, %d6, %d7;"};
    static const char *const uses =
        "st.shared.u64 [0], %d1; st.shared.u64 [8], %d2; st.shared.u64 [16], %d3;";
    uint64_t cycles[2];
    for (int i = 0; i < 2; i++) {
        char lines[512];
        snprintf(lines, sizeof lines, "%s%s", sums[i], uses);
        cycles[i] = cycles_of(SASS, lines);
    }
    assert_int_equal(cycles[1] - cycles[0], 2 * 2);
}

static void test_an_instruction_without_a_slot_takes_no_time(void **state) {
    (void)state;
    uint64_t without =
        cycles_of(SASS, "add.u32 %r7, %r9, 1; add.u32 %r1, %r9, 1; add.u32 %r2, %r9, 1;");
    uint64_t with = cycles_of(SASS, "add.u32 %r7, %r9, 1; mov.u32 %r3, %r8; add.u32 %r1, %r9, 1;"
                                    "mov.u32 %r4, %r3; mov.u32 %r5, %r4; add.u32 %r2, %r9, 1;"
                                    "mov.u32 %r6, %r5;");
    assert_int_equal(with, without);
}

/* Through three moves; the machine has no moves of its own. */
static void test_a_result_is_waited_for_through_instructions_without_a_slot(void **state) {
    (void)state;
    static const char *const latency[] = {SASS "ops.int_add.latency=4",
                                          SASS "ops.int_add.latency=99"};
    uint64_t direct[2], moved[2];
    for (int i = 0; i < 2; i++) {
        direct[i] = cycles_of(latency[i], "add.u32 %r1, %r9, 1; mul.lo.u32 %r5, %r1, %r1;");
        moved[i] = cycles_of(latency[i], "add.u32 %r1, %r9, 1; mov.u32 %r2, %r1; mov.u32 %r3, %r2;"
                                         "mov.u32 %r4, %r3; mul.lo.u32 %r5, %r4, %r4;");
        assert_int_equal(moved[i], direct[i]);
    }
    assert_int_equal(moved[1] - moved[0], 95);
}

static void test_what_issues_is_counted_both_ways(void **state) {
    (void)state;
    Bench *bench = start(SASS, 2, "mov.u32 %r1, %r9; add.u32 %r2, %r1, %r8;", false);
    bench_run(bench, 3);
    const Counters *c = sm_counters(bench->sm);
    assert_int_equal(c->warp_instructions, 3 * 2 * 3);    /* mov, add, ret */
    assert_int_equal(c->machine_instructions, 3 * 2 * 3); /* the stack pointer, add, exit */
    assert_int_equal(c->issued, c->machine_instructions);
    bench_stop(bench);
    bench = start(IDEAL_FETCH, 2, "mov.u32 %r1, %r9; add.u32 %r2, %r1, %r8;", false);
    bench_run(bench, 3);
    assert_int_equal(sm_counters(bench->sm)->machine_instructions, 0);
    bench_stop(bench);
}

static const char *const mixed =
    "ld.param.u64 %d0, [buffer]; mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4;"
    "add.u64 %d2, %d0, %d1; ld.global.u32 %r2, [%d2]; add.u32 %r3, %r2, %r1;"
    "setp.gt.u32 %p1, %r1, 40; @%p1 bra L1; mul.lo.u32 %r3, %r3, %r3; L1:"
    "shl.b32 %r6, %r1, 2; st.shared.u32 [%r6], %r3; bar.sync 0; ld.shared.u32 %r4, [%r6];"
    "atom.global.add.u32 %r5, [%d0], 1; membar.gl; st.global.u32 [%d2], %r4;";

/* Sleeping skips steps, but changes nothing that is counted. */
static void test_a_sleeping_sm_counts_as_one_that_is_always_stepped(void **state) {
    (void)state;
    static const char *const settings[] = {"",
                                           "lsu.loads_block=yes l1d.mshrs=2 l1d.latency=7",
                                           "scheduler.issue_interval=4 units.sp.lanes=8",
                                           "lsu.stalls_pipeline=yes l1d.mshrs=2",
                                           "lsu.row_stages=2 scheduler.issue_interval=4",
                                           "lsu.row_stages=1 lsu.stalls_pipeline=yes",
                                           "sm.instructions=lowered scheduler.issue_interval=4",
                                           SASS "l1d.mshrs=2 sm.divergence=independent"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        Bench *sleepy = start(settings[i], 3, mixed, false);
        Bench *awake = start(settings[i], 3, mixed, true);
        bench_run(sleepy, 4);
        bench_run(awake, 4);
        assert_int_equal(sleepy->ended_at, awake->ended_at);
        assert_true(sleepy->steps < awake->steps);
        uint64_t end = sleepy->cycle > awake->cycle ? sleepy->cycle : awake->cycle;
        sm_settle(sleepy->sm, end + 1);
        sm_settle(awake->sm, end + 1);
        assert_memory_equal(sm_counters(sleepy->sm), sm_counters(awake->sm), sizeof(Counters));
        assert_memory_equal(sm_histograms(sleepy->sm), sm_histograms(awake->sm),
                            sizeof(Histograms));
        const Counters *c = sm_counters(sleepy->sm);
        assert_int_equal(c->scheduler_cycles,
                         c->sm_cycles * sleepy->stage->config->sm.scheduler.count);
        assert_int_equal(c->ctas_finished, 4);
        assert_int_equal(c->warps_finished, 12);
        assert_true(c->MemoryBlockCycles > 0);
        assert_int_equal(sleepy->waited, c->MemoryBlockCycles);
        assert_int_equal(awake->waited, c->MemoryBlockCycles);
        bench_stop(sleepy);
        bench_stop(awake);
    }
}

static void test_an_sm_counts_the_ctas_that_it_has(void **state) {
    (void)state;
    Bench *bench = start("", 1, "add.u32 %r1, %r1, 1;", false);
    for (uint32_t i = 0; i < 8; i++) {
        sm_launch_cta(bench->sm, bench->grid, i, 0);
        assert_int_equal(sm_resident_ctas(bench->sm), i + 1);
    }
    assert_int_equal(bench->stage->wake, 1);
    bench_stop(bench);
}

/* The warps of CTA 7, which all wait for memory before an addition. */
typedef struct Standing {
    const Bench *bench;
    uint32_t warps;
} Standing;

static void see_stall_reasons(void *user, const SourceWarp *warp, uint32_t pc, int slot,
                              ProfileColumn cause) {
    Standing *seen = user;
    assert_int_equal(slot, seen->warps);
    assert_int_equal(cause, PROFILE_cycles_memory);
    assert_string_equal(profile_columns[cause].sentence, "waiting for data from memory");
    assert_int_equal(interpreter_warp(warp)->cta->index, 7);
    assert_int_equal(seen->bench->program->infos[pc].op, PTX_OP_ADD);
    seen->warps++;
}

static void test_a_warp_that_waits_says_for_what(void **state) {
    (void)state;
    Bench *bench = start(IDEAL_FETCH, 2,
                         "ld.param.u64 %d0, [buffer];\nld.global.u32 %r1, [%d0];\n"
                         "add.u32 %r1, %r1, 1;",
                         false);
    sm_launch_cta(bench->sm, bench->grid, 7, 0);
    for (int i = 0; i < 100 && !bench->requests; i++)
        bench_cycle(bench);
    while (sm_counters(bench->sm)->load_instructions < 4) {
        bench_cycle(bench);
        sm_settle(bench->sm, bench->cycle);
    }
    for (int i = 0; i < 20; i++)
        bench_cycle(bench);
    Standing seen = {.bench = bench};
    sm_visit_stall_reasons(bench->sm, see_stall_reasons, &seen);
    assert_int_equal(seen.warps, 2);
    bench_stop(bench);
}

static void test_a_line_is_dropped_when_the_sm_has_no_thread_left(void **state) {
    (void)state;
    const char *lines =
        "ld.param.u64 %d0, [buffer]; ld.global.u32 %r1, [%d0]; add.u32 %r1, %r1, 1;";
    for (int idle = 0; idle < 2; idle++) {
        Bench *bench = start(idle ? "l1d.flush=idle" : "l1d.flush=never", 1, lines, false);
        bench_run(bench, 1);
        sm_launch_cta(bench->sm, bench->grid, 1, bench->cycle);
        while (bench->ends < 2)
            bench_cycle(bench);
        assert_int_equal(sm_counters(bench->sm)->l1d_load_misses, idle ? 2 : 1);
        bench_stop(bench);
    }
}

/* An agent that accepts one request, and has something to do at `due`. */
typedef struct Clerk {
    uint64_t due, stepped;
    bool is_full;
} Clerk;

static bool clerk_serves(void *agent, SmContext *sm, MemRequest *request) {
    Clerk *clerk = agent;
    (void)request;
    if (clerk->is_full) return false;
    clerk->is_full = true;
    clerk->due = sm->cycle + 20;
    return true;
}
static void clerk_steps(void *agent, SmContext *sm, SmPort *port) {
    Clerk *clerk = agent;
    (void)port;
    clerk->stepped = sm->cycle;
    if (sm->cycle >= clerk->due) clerk->due = UINT64_MAX;
}
static uint64_t clerk_next(const void *agent) { return ((const Clerk *)agent)->due; }

static void test_an_sm_wakes_for_its_agent_and_sleeps_until_its_time(void **state) {
    (void)state;
    static const SmAgentOps ops = {
        .serve = clerk_serves, .step = clerk_steps, .next_step = clerk_next};
    Bench *bench = start("", 1, "", false);
    const uint64_t *wake = &bench->stage->wake;
    Clerk clerk = {.due = UINT64_MAX};
    MemRequest request = {
        .handle = mem_handle(2, 0), .sectors = 1, .target = endpoint_sm(STAGE_SM)};
    assert_int_equal(sm_attach(bench->sm, &ops, &clerk), 0);
    assert_int_equal(*wake, UINT64_MAX); /* no CTA */
    assert_true(sm_is_idle(bench->sm));
    assert_true(sm_offer_request(bench->sm, 10, &request));
    assert_int_equal(*wake, 10);
    assert_false(sm_is_idle(bench->sm));
    sm_step(bench->sm, 10);
    assert_int_equal(clerk.stepped, 10);
    assert_int_equal(*wake, 30);
    assert_false(sm_offer_request(bench->sm, 12, &request));
    assert_int_equal(*wake, 30); /* a refused request wakes nothing */
    sm_step(bench->sm, 30);
    assert_int_equal(*wake, UINT64_MAX);
    assert_true(sm_is_idle(bench->sm));
    bench_stop(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_dependent_instruction_issues_six_cycles_after_its_latency),
        cmocka_unit_test(test_independent_instructions_issue_cycle_after_cycle),
        cmocka_unit_test(test_a_policy_sees_the_lines_that_the_l1d_has_left),
        cmocka_unit_test(test_an_instruction_takes_as_many_issue_cycles_as_it_has_slots),
        cmocka_unit_test(test_an_instruction_without_a_slot_takes_no_time),
        cmocka_unit_test(test_a_result_is_waited_for_through_instructions_without_a_slot),
        cmocka_unit_test(test_what_issues_is_counted_both_ways),
        cmocka_unit_test(test_shared_memory_is_its_latency_and_six_cycles_away),
        cmocka_unit_test(test_a_cta_keeps_its_slot_until_its_stores_are_acknowledged),
        cmocka_unit_test(test_a_sleeping_sm_counts_as_one_that_is_always_stepped),
        cmocka_unit_test(test_an_sm_counts_the_ctas_that_it_has),
        cmocka_unit_test(test_a_warp_that_waits_says_for_what),
        cmocka_unit_test(test_a_line_is_dropped_when_the_sm_has_no_thread_left),
        cmocka_unit_test(test_an_sm_wakes_for_its_agent_and_sleeps_until_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
