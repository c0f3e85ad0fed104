/* Policies that hold back warps or CTAs, or that choose by what the SM is waiting for, step by step
 * on a fabricated SM. */
#include "fabricated.h"

static void steps_of(Fabricated *f, int warp, int count) {
    for (int i = 0; i < count; i++)
        issue(f, warp);
}

/* ---- dyncta ---- */

static const char DYNCTA[] = "dyncta:period=100,t_mem_l=20,t_mem_h=60";

/* Four CTAs of two warps. Two of the CTAs run at first. */
static void begin_dyncta(Fabricated *f, const char *policy) {
    fabricate(f, policy, (FabricatedSize){.warps = 8, .warps_per_cta = 2});
    launch_all(f);
    assert_int_equal(may_issue(f), warps(0, 3));
}

static void dyncta_adds_a_cta_while_memory_is_fast(void **unused) {
    (void)unused;
    Fabricated f;
    begin_dyncta(&f, DYNCTA);
    pass(&f, 99);
    assert_int_equal(may_issue(&f), warps(0, 3));
    pass(&f, 1);
    assert_int_equal(may_issue(&f), warps(0, 5));
    pass(&f, 1000); /* never more than there are */
    assert_int_equal(may_issue(&f), warps(0, 7));
    assert_int_equal((int)reported(&f, "cta_limit"), 4);
    assert_int_equal((int)reported(&f, "raised"), 2);
    fabricated_free(&f);
}

static void dyncta_pauses_the_last_cta_while_all_wait_for_memory(void **unused) {
    (void)unused;
    Fabricated f;
    begin_dyncta(&f, DYNCTA);
    block(&f, warps(0, 3));
    pass(&f, 59);
    unblock(&f, warps(0, 0)); /* one of them continues: 59 cycles are neither few nor many */
    pass(&f, 1);
    pass(&f, 40);
    assert_int_equal(may_issue(&f), warps(0, 3));
    block(&f, warps(0, 0));
    pass(&f, 60);
    unblock(&f, warps(0, 3));
    pass(&f, 1);
    pass(&f, 39);
    assert_int_equal(may_issue(&f), warps(0, 1));
    assert_int_equal((int)reported(&f, "lowered"), 1);
    block(&f, warps(0, 7)); /* at least one CTA runs */
    pass(&f, 500);
    assert_int_equal(may_issue(&f), warps(0, 1));
    fabricated_free(&f);
}

static void dyncta_when_a_cta_finishes_the_first_paused_goes_on(void **unused) {
    (void)unused;
    Fabricated f;
    begin_dyncta(&f, DYNCTA);
    finish_warp(&f, 0);
    assert_int_equal(may_issue(&f), warps(1, 3));
    finish_warp(&f, 1);
    assert_int_equal(may_issue(&f), warps(2, 5));
    launch(&f, 0, 4); /* after those that came before */
    assert_int_equal(may_issue(&f), warps(2, 5));
    fabricated_free(&f);
}

/* All running warps at a barrier count as idle by either definition, a short stall only by the
 * second. */
static void dyncta_idle_cycles_add_a_cta_though_memory_is_slow(void **unused) {
    (void)unused;
    static const struct {
        const char *reading;
        bool at_barrier, adds;
    } rows[] = {{"empty", true, true},
                {"empty", false, false},
                {"stalled", true, true},
                {"stalled", false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        char policy[80];
        snprintf(policy, sizeof policy, "%s,idle=%s", DYNCTA, rows[i].reading);
        begin_dyncta(&f, policy);
        block(&f, warps(0, 3));
        pass(&f, 60);
        unblock(&f, warps(0, 3));
        for (int warp = 0; rows[i].at_barrier && warp < 4; warp++)
            arrive(&f, warp);
        pass(&f, 1); /* no warp issues in this cycle */
        for (int cycle = 0; cycle < 15; cycle++)
            pass(&f, 1);
        for (int warp = 0; rows[i].at_barrier && warp < 4; warp += 2)
            release(&f, warp / 2);
        for (int cycle = 0; cycle < 24; cycle++) {
            issue(&f, 0);
            pass(&f, 1);
        }
        assert_int_equal(may_issue(&f), rows[i].adds ? warps(0, 5) : warps(0, 1));
        for (int cycle = 0; cycle < 100; cycle++) { /* the next period has no idle cycle */
            if (cycle < 40) issue(&f, 0);
            if (cycle == 40) block(&f, warps(0, 5));
            pass(&f, 1);
        }
        assert_int_equal(may_issue(&f), rows[i].adds ? warps(0, 3) : warps(0, 1));
        fabricated_free(&f);
    }
}

/* A scheduler that picks every four cycles: a cycle without a turn is as idle as the last turn. */
static void dyncta_cycles_between_the_turns_of_the_schedulers_are_not_idle(void **unused) {
    (void)unused;
    static const struct {
        uint64_t turns, at_once; /* turns with an issue; cycles that the SM reports at once */
        bool adds;
    } rows[] = {{10, 1, false}, {10, 4, false}, {7, 1, false}, {6, 1, true}, {6, 4, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        fabricate(&f, "dyncta:period=100,t_mem_l=20,t_mem_h=60,idle=stalled",
                  (FabricatedSize){.warps = 8, .warps_per_cta = 2, .issue_interval = 4});
        launch_all(&f);
        block(&f, warps(0, 3));
        pass(&f, 60);
        unblock(&f, warps(0, 3));
        for (uint64_t cycle = 0; cycle < 40; cycle += rows[i].at_once) {
            if (cycle % 4 == 0 && cycle / 4 < rows[i].turns) issue(&f, 0);
            pass(&f, rows[i].at_once);
        }
        assert_int_equal(may_issue(&f), rows[i].adds ? warps(0, 5) : warps(0, 1));
        fabricated_free(&f);
    }
}

static void dyncta_warps_at_an_mbarrier_do_not_wait_for_memory(void **unused) {
    (void)unused;
    Fabricated f;
    begin_dyncta(&f, DYNCTA);
    block(&f, warps(0, 3));
    pass(&f, 60);
    unblock(&f, warps(0, 3));
    f.view.at_mbarrier = warps(0, 3);
    for (int cycle = 0; cycle < 40; cycle++)
        pass(&f, 1);
    assert_int_equal(may_issue(&f), warps(0, 5)); /* idle */
    fabricated_free(&f);
}

/* ---- equalizer ---- */

/* Three CTAs of four warps; two samples an epoch, two epochs for a change. */
static void begin_equalizer(Fabricated *f) {
    fabricate(f, "equalizer:sample=10,epoch=20,epochs=2",
              (FabricatedSize){.warps = 12, .warps_per_cta = 4});
    launch_all(f);
    assert_int_equal(may_issue(f), warps(0, 11));
}

static void equalizer_pauses_a_cta_while_memory_refuses_more_than_a_cta_of_warps(void **unused) {
    (void)unused;
    Fabricated f;
    begin_equalizer(&f);
    f.view.lsu_full = warps(0, 3); /* four are not more than a CTA has */
    pass(&f, 100);
    assert_int_equal(may_issue(&f), warps(0, 11));
    f.view.lsu_full = warps(0, 4);
    pass(&f, 39);
    assert_int_equal(may_issue(&f), warps(0, 11));
    pass(&f, 1);
    assert_int_equal(may_issue(&f), warps(0, 7));
    f.view.lsu_full = warps(4, 11); /* warps of the paused CTA do not count */
    pass(&f, 200);
    assert_int_equal(may_issue(&f), warps(0, 7));
    fabricated_free(&f);
}

static void equalizer_adds_a_cta_while_most_warps_wait_and_memory_has_room(void **unused) {
    (void)unused;
    Fabricated f;
    begin_equalizer(&f);
    f.view.lsu_full = warps(0, 4);
    pass(&f, 40);
    assert_int_equal(may_issue(&f), warps(0, 7));
    f.view.lsu_full = warps(0, 2); /* memory is the bottleneck: no CTA is added */
    block(&f, warps(3, 7));
    pass(&f, 200);
    assert_int_equal(may_issue(&f), warps(0, 7));
    f.view.lsu_full = 0;
    pass(&f, 39);
    assert_int_equal(may_issue(&f), warps(0, 7));
    pass(&f, 1);
    assert_int_equal(may_issue(&f), warps(0, 11));
    assert_int_equal((int)reported(&f, "raised"), 1);
    assert_int_equal((int)reported(&f, "lowered"), 1);
    fabricated_free(&f);
}

/* If as many warps wait, but more than a CTA's warps are ready for arithmetic, nothing changes. */
static void equalizer_leaves_compute_bound_kernels_alone(void **unused) {
    (void)unused;
    static const char *const readings[] = {"issue", "unit"};
    for (int i = 0; i < 2; i++) {
        Fabricated f;
        char policy[80];
        snprintf(policy, sizeof policy, "equalizer:sample=1,epoch=1,epochs=1,excess=%s",
                 readings[i]);
        fabricate(&f, policy, (FabricatedSize){.warps = 16, .warps_per_cta = 2});
        launch_all(&f);
        f.view.lsu_full = warps(0, 2);
        pass(&f, 1);
        assert_int_equal(may_issue(&f), warps(0, 13));
        f.view.lsu_full = 0;
        block(&f, warps(0, 7));
        if (i == 0) assert_int_equal(pick(&f, warps(8, 11)), 8); /* three are not picked */
        f.view.unit_full = i ? warps(8, 10) : 0;
        pass(&f, 1);
        assert_int_equal(may_issue(&f), warps(0, 13));
        if (i == 0) assert_int_equal(pick(&f, warps(8, 10)), 8); /* two, no more than a CTA has */
        f.view.unit_full = i ? warps(8, 9) : 0;
        pass(&f, 1);
        assert_int_equal(may_issue(&f), warps(0, 15));
        fabricated_free(&f);
    }
}

/* Eight CTAs of two warps. The last one is paused. Most warps wait for memory. */
static void begin_equalizer_that_adds(Fabricated *f, uint32_t issue_interval) {
    fabricate(f, "equalizer:sample=1,epoch=1,epochs=1",
              (FabricatedSize){.warps = 16, .warps_per_cta = 2, .issue_interval = issue_interval});
    launch_all(f);
    f->view.lsu_full = warps(0, 2);
    pass(f, 1);
    assert_int_equal(may_issue(f), warps(0, 13));
    f->view.lsu_full = 0;
    block(f, warps(0, 7));
}

static void equalizer_stale_warps_are_not_ready(void **unused) {
    (void)unused;
    for (int stale = 0; stale < 2; stale++) {
        Fabricated f;
        begin_equalizer_that_adds(&f, 1);
        if (stale) f.view.has_instruction &= ~warps(10, 11);
        assert_int_equal(pick(&f, warps(8, 11)), 8);
        pass(&f, 1);
        assert_int_equal(may_issue(&f), stale ? warps(0, 15) : warps(0, 13));
        fabricated_free(&f);
    }
}

static void equalizer_samples_between_turns_see_the_last_turn(void **unused) {
    (void)unused;
    Fabricated f;
    begin_equalizer_that_adds(&f, 4);
    assert_int_equal(pick(&f, warps(8, 11)), 8);
    for (int cycle = 0; cycle < 4; cycle++) {
        pass(&f, 1);
        assert_int_equal(may_issue(&f), warps(0, 13));
    }
    pass(&f, 1); /* a turn has passed in which no warp was ready */
    assert_int_equal(may_issue(&f), warps(0, 15));
    fabricated_free(&f);
}

/* ---- mascar ---- */

/* The view shows no L1D until the kernel's first cycle with a CTA has passed. */
static void begin_mascar(Fabricated *f, uint32_t mshrs, uint32_t misses) {
    fabricate(f, "mascar", (FabricatedSize){.warps = 4});
    launch_all(f);
    pass(f, 700);
    issue(f, 0);
    f->view.l1d_mshrs_free = mshrs;
    f->view.l1d_misses_free = misses;
    f->view.wants_load = warps(1, 3);
    pass(f, 1);
}

static void mascar_all_may_load_until_mshrs_or_misses_are_almost_full(void **unused) {
    (void)unused;
    static const struct {
        uint32_t mshrs, misses;
        bool saturated;
    } rows[] = {{2, 2, false}, {1, 2, true}, {2, 1, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        begin_mascar(&f, rows[i].mshrs, rows[i].misses);
        assert_int_equal(may_load(&f), rows[i].saturated ? warps(1, 1) : warps(0, 3));
        assert_int_equal(pick(&f, warps(0, 3)), rows[i].saturated ? 1 : 0);
        fabricated_free(&f);
    }
}

static void mascar_the_owner_keeps_memory_until_it_waits_for_its_loads(void **unused) {
    (void)unused;
    Fabricated f;
    begin_mascar(&f, 0, 4);
    assert_int_equal(may_load(&f), warps(1, 1));
    f.view.wants_load = warps(2, 3); /* the owner computes now, so it has no priority */
    assert_int_equal(may_load(&f), warps(1, 1));
    assert_int_equal(pick(&f, warps(0, 1)), 0);
    block(&f, warps(1, 1));
    assert_int_equal(may_load(&f), warps(2, 2));
    finish_warp(&f, 2);
    assert_int_equal(may_load(&f), warps(3, 3));
    unblock(&f, warps(1, 1));
    f.view.wants_load = warps(1, 3); /* 1 is older, but 3 is the owner */
    assert_int_equal(may_load(&f), warps(3, 3));
    f.view.l1d_mshrs_free = 30;
    pass(&f, 1);
    assert_int_equal(may_load(&f) & f.view.resident, f.view.resident);
    assert_int_equal((int)reported(&f, "saturated"), 1);
    assert_int_equal((int)reported(&f, "owners"), 3);
    fabricated_free(&f);
}

static void mascar_memory_is_not_saturated_before_the_first_cta_or_between_ctas(void **unused) {
    (void)unused;
    Fabricated f;
    begin_mascar(&f, 8, 8);
    assert_int_equal((int)reported(&f, "saturated"), 0);
    f.view.l1d_mshrs_free = 0;
    pass(&f, 5);
    assert_int_equal((int)reported(&f, "saturated"), 5);
    for (int warp = 0; warp < 4; warp++)
        finish_warp(&f, warp);
    pass(&f, 1);
    launch_all(&f);
    pass(&f, 300);
    f.view.wants_load = warps(0, 3);
    assert_int_equal(may_load(&f), warps(0, 3));
    assert_int_equal((int)reported(&f, "saturated"), 5);
    pass(&f, 2);
    assert_int_equal((int)reported(&f, "saturated"), 7);
    fabricated_free(&f);
}

static void mascar_an_owner_at_an_mbarrier_leaves_memory_to_others(void **unused) {
    (void)unused;
    Fabricated f;
    begin_mascar(&f, 0, 4);
    assert_int_equal(may_load(&f), warps(1, 1));
    f.view.at_mbarrier = warps(1, 1);
    f.view.has_instruction &= ~warps(1, 1);
    f.view.wants_load &= ~warps(1, 1);
    assert_int_equal(may_load(&f), warps(2, 2));
    fabricated_free(&f);
}

/* ---- baws ---- */

static void baws_most_waiting_first_of_equals_the_oldest(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "baws", (FabricatedSize){.warps = 12, .warps_per_cta = 4});
    launch(&f, 1, 0); /* the oldest CTA */
    launch(&f, 0, 1);
    launch(&f, 2, 2);
    assert_int_equal(pick_any(&f), 4);
    arrive(&f, 8);
    assert_int_equal(pick_any(&f), 9);
    arrive(&f, 0);
    arrive(&f, 1);
    assert_int_equal(pick_any(&f), 2); /* two warps wait */
    arrive(&f, 9);
    assert_int_equal(pick_any(&f), 2); /* as many wait, but it is younger */
    block(&f, warps(2, 3));
    assert_int_equal(pick_any(&f), 10); /* no warp of the first CTA can issue */
    block(&f, warps(10, 11));
    assert_int_equal(pick_any(&f), 4); /* nor of the second */
    unblock(&f, warps(2, 3));
    release(&f, 0);
    assert_int_equal(pick(&f, warps(0, 7)), 4);
    fabricated_free(&f);
}

static void baws_a_younger_cta_with_more_waiting_warps_goes_first(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "baws", (FabricatedSize){.warps = 8, .warps_per_cta = 4});
    launch_all(&f);
    arrive(&f, 0);
    arrive(&f, 4);
    assert_int_equal(pick_any(&f), 1);
    arrive(&f, 5);
    assert_int_equal(pick_any(&f), 6);
    fabricated_free(&f);
}

static void baws_is_greedy_inside_a_cta(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "baws", (FabricatedSize){.warps = 8, .warps_per_cta = 4});
    launch_all(&f);
    arrive(&f, 0);
    issue(&f, 3);
    assert_int_equal(pick(&f, warps(1, 7)), 3);
    assert_int_equal(pick(&f, warps(1, 2)), 1);
    fabricated_free(&f);
}

/* ---- ipaws ---- */

static void ipaws_the_first_finished_warp_shows_whether_the_others_keep_up(void **unused) {
    (void)unused;
    static const struct {
        int others; /* instructions of each of the three others; the first warp has ten */
        bool in_turn;
    } rows[] = {{4, false}, {5, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        fabricate(&f, "ipaws", (FabricatedSize){.warps = 4});
        launch_all(&f);
        for (int warp = 1; warp < 4; warp++)
            steps_of(&f, warp, rows[i].others);
        steps_of(&f, 0, 10);
        assert_int_equal(pick(&f, warps(0, 3)), 0); /* greedy at first */
        finish_warp(&f, 0);
        issue(&f, 2);
        assert_int_equal(pick(&f, warps(1, 3)), rows[i].in_turn ? 3 : 2);
        assert_int_equal((int)reported(&f, "is_round_robin"), rows[i].in_turn);
        assert_true(reported(&f, "share") == rows[i].others / 10.0);
        steps_of(&f, 3, 100); /* already decided */
        finish_warp(&f, 3);
        assert_int_equal((int)reported(&f, "is_round_robin"), rows[i].in_turn);
        fabricated_free(&f);
    }
}

static void ipaws_leaves_out_warps_that_have_just_come(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "ipaws", (FabricatedSize){.warps = 3});
    launch(&f, 0, 0);
    launch(&f, 1, 1);
    steps_of(&f, 0, 10);
    steps_of(&f, 1, 8);
    pass(&f, 100);
    launch(&f, 2, 2);
    finish_warp(&f, 0);
    assert_true(reported(&f, "share") == 0.8);
    fabricated_free(&f);
}

/* ---- pcal ---- */

static TytoInsertion insertion(Fabricated *f, int warp) {
    const TytoMiss miss = {.size = sizeof miss, .warp = warp};
    return sched_agent_insert(&f->agent, &f->view, &miss);
}

static void expect_tokens(Fabricated *f, uint64_t holders) {
    for (uint64_t rest = f->view.resident; rest; rest &= rest - 1) {
        const int warp = tyto_lowest(rest);
        assert_int_equal(insertion(f, warp),
                         tyto_has(holders, warp) ? TYTO_INSERT_NORMAL : TYTO_INSERT_BYPASS);
    }
}

static void pcal_only_the_oldest_warps_take_lines(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pcal:tokens=2,climb=none", (FabricatedSize){.warps = 4});
    launch_all(&f);
    expect_tokens(&f, warps(0, 1));
    assert_int_equal(may_issue(&f), warps(0, 3));
    finish_warp(&f, 0);
    expect_tokens(&f, warps(1, 2));
    f.view.exited |= warps(1, 1);
    may_issue(&f);
    assert_int_equal(insertion(&f, 3), TYTO_INSERT_NORMAL);
    pass(&f, 1000000);
    assert_int_equal((int)reported(&f, "tokens"), 2);
    fabricated_free(&f);
}

static void pcal_tokens_climb_the_hill(void **unused) {
    (void)unused;
    static const int issues[] = {5, 3, 4, 4, 4, 9, 10}, tokens[] = {2, 3, 4, 3, 4, 5, 4};
    Fabricated f;
    fabricate(&f, "pcal:tokens=3,period=10,climb=tokens", (FabricatedSize){.warps = 5});
    launch_all(&f);
    for (int i = 0; i < 7; i++) {
        steps_of(&f, 0, issues[i]);
        pass(&f, 10);
        assert_int_equal((int)reported(&f, "tokens"), tokens[i]);
        expect_tokens(&f, warps(0, tokens[i] - 1));
    }
    fabricated_free(&f);
}

static void pcal_warps_climb_first(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pcal:tokens=2,warps=2,period=10", (FabricatedSize){.warps = 5});
    launch_all(&f);
    assert_int_equal(may_issue(&f), warps(0, 1));
    steps_of(&f, 0, 5);
    pass(&f, 10);
    assert_int_equal(may_issue(&f), warps(0, 2));
    steps_of(&f, 0, 6);
    pass(&f, 10);
    assert_int_equal(may_issue(&f), warps(0, 3));
    steps_of(&f, 0, 5);
    pass(&f, 10); /* the rate has fallen: the last warp stops again, tokens follow */
    assert_int_equal(may_issue(&f), warps(0, 2));
    expect_tokens(&f, warps(0, 1));
    steps_of(&f, 0, 4);
    pass(&f, 10); /* the rate of three warps, as it is now; no step of the tokens caused it */
    assert_int_equal(may_issue(&f), warps(0, 2));
    expect_tokens(&f, warps(0, 0));
    steps_of(&f, 0, 3);
    pass(&f, 10);
    assert_int_equal(may_issue(&f), warps(0, 2));
    expect_tokens(&f, warps(0, 1));
    fabricated_free(&f);
}

static void pcal_an_equal_rate_is_no_rise(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pcal:warps=2,period=10", (FabricatedSize){.warps = 5});
    launch_all(&f);
    for (int i = 0; i < 2; i++) {
        steps_of(&f, 0, 5);
        pass(&f, 10);
        assert_int_equal(may_issue(&f), i ? warps(0, 1) : warps(0, 2));
    }
    fabricated_free(&f);
}

/* All warps may issue, but those whose misses take lines change. */
static void pcal_foresees_the_next_step_of_the_tokens(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pcal:tokens=2,period=100", (FabricatedSize){.warps = 4});
    launch_all(&f);
    pass(&f, 30);
    assert_int_equal(sched_agent_next_change(&f.agent, &f.view), 70);
    pass(&f, 70);
    assert_int_equal(sched_agent_next_change(&f.agent, &f.view), 100);
    fabricated_free(&f);
    fabricate(&f, "pcal:tokens=2,climb=none", (FabricatedSize){.warps = 4});
    launch_all(&f);
    assert_true(sched_agent_next_change(&f.agent, &f.view) == UINT64_MAX);
    fabricated_free(&f);
}

static void pcal_miss(Fabricated *f, int warp, uint32_t place, bool is_pending) {
    TytoEvent event = {.kind = TYTO_EVENT_L1D_MISS,
                       .warp = warp,
                       .cta_slot = -1,
                       .owner = TYTO_NO_WARP,
                       .is_pending = is_pending,
                       .place = place};
    sched_agent_event(&f->agent, &f->view, &event);
}

/* Where lines are allocated when they arrive, misses of warps with a token have no place either. */
static void pcal_counts_bypasses_of_warps_without_a_token_alone(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pcal:tokens=2,climb=none", (FabricatedSize){.warps = 4});
    launch_all(&f);
    pcal_miss(&f, 0, TYTO_NO_PLACE, false);
    pcal_miss(&f, 1, 5, false);
    pcal_miss(&f, TYTO_NO_WARP, TYTO_NO_PLACE, false);
    assert_int_equal((int)reported(&f, "bypasses"), 0);
    pcal_miss(&f, 2, TYTO_NO_PLACE, true);
    pcal_miss(&f, 2, 5, false); /* a sector of a line that is there */
    assert_int_equal((int)reported(&f, "bypasses"), 0);
    pcal_miss(&f, 2, TYTO_NO_PLACE, false);
    assert_int_equal((int)reported(&f, "bypasses"), 1);
    fabricated_free(&f);
}

static void pcal_a_cta_with_a_warp_at_an_mbarrier_may_issue(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "pcal:warps=1", (FabricatedSize){.warps = 4, .warps_per_cta = 2});
    launch_all(&f);
    assert_int_equal(may_issue(&f), warps(0, 0));
    f.view.at_mbarrier = warps(2, 2); /* without an event */
    assert_int_equal(may_issue(&f), warps(0, 0) | warps(2, 3));
    f.view.at_mbarrier = 0;
    assert_int_equal(may_issue(&f), warps(0, 0));
    fabricated_free(&f);
}

/* ---- ciao ---- */

static const char CIAO[] = "ciao:high=0.5,low=0.2,high_epoch=4,low_epoch=2";

/* Warp 2 evicts a line of warp 0, which then misses it; after four instructions: 1 x 3 / 4 >
 * 0.5. */
static void begin_ciao(Fabricated *f, uint32_t warps_per_cta) {
    fabricate(f, CIAO, (FabricatedSize){.warps = 3, .warps_per_cta = warps_per_cta});
    launch_all(f);
    l1d_evict_by(f, 2, 0, 0x1000);
    l1d_miss(f, 0, 0x1000);
    steps_of(f, 0, 3);
    assert_int_equal(may_issue(f), warps(0, 2));
    steps_of(f, 0, 1);
    assert_int_equal(may_issue(f), warps(0, 1));
}

static void ciao_stops_the_interferer_until_the_score_has_fallen(void **unused) {
    (void)unused;
    Fabricated f;
    begin_ciao(&f, 1);
    steps_of(&f, 1, 11); /* 3 / 14 >= 0.2; checked every two instructions */
    assert_int_equal(may_issue(&f), warps(0, 1));
    steps_of(&f, 1, 1); /* 3 / 16 */
    assert_int_equal(may_issue(&f), warps(0, 2));
    assert_int_equal((int)reported(&f, "stops"), 1);
    assert_int_equal((int)reported(&f, "vta_hits"), 1);
    fabricated_free(&f);
}

static void ciao_a_stopped_warp_goes_on_when_its_sufferer_ends(void **unused) {
    (void)unused;
    Fabricated f;
    begin_ciao(&f, 1);
    finish_warp(&f, 0);
    assert_int_equal(may_issue(&f), warps(1, 2));
    fabricated_free(&f);
}

static void ciao_a_stopped_warp_runs_up_to_a_barrier_and_when_it_is_alone(void **unused) {
    (void)unused;
    Fabricated f;
    begin_ciao(&f, 3);
    arrive(&f, 1);
    assert_int_equal(may_issue(&f), warps(0, 2));
    fabricated_free(&f);
    begin_ciao(&f, 1);
    f.view.exited |= warps(0, 1);
    assert_int_equal(may_issue(&f), warps(0, 2));
    fabricated_free(&f);
}

/* With sectors, a load makes an access for each sector of a line. */
static void ciao_a_load_has_lost_a_line_once_however_many_sectors_it_reads(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, CIAO, (FabricatedSize){.warps = 3});
    launch_all(&f);
    l1d_evict_by(&f, 2, 0, 0x1000);
    l1d_miss(&f, 0, 0x1000);
    for (int sector = 1; sector < 4; sector++)
        l1d_miss_again(&f, 0, 0x1000);
    assert_int_equal((int)reported(&f, "vta_hits"), 1);
    fabricated_free(&f);
}

static void ciao_the_interferer_is_changed_by_repeated_evictions_alone(void **unused) {
    (void)unused;
    static const struct {
        uint64_t by_two, by_one; /* evictions: first by warp 2, then by warp 1 */
        bool changes;
    } rows[] = {{1, 1, false}, {1, 2, true}, {2, 2, false},
                {3, 3, false}, {3, 4, true}, {6, 4, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        fabricate(&f, CIAO, (FabricatedSize){.warps = 3});
        launch_all(&f);
        for (uint64_t n = 0; n < rows[i].by_two; n++)
            l1d_evict_by(&f, 2, 0, 0x1000);
        for (uint64_t n = 0; n < rows[i].by_one; n++)
            l1d_evict_by(&f, 1, 0, 0x2000);
        l1d_miss(&f, 0, 0x1000);
        steps_of(&f, 0, 4);
        assert_int_equal(may_issue(&f), rows[i].changes ? warps(0, 0) | warps(2, 2) : warps(0, 1));
        fabricated_free(&f);
    }
}

/* Scores of exactly 0.5 (two hits, two warps, eight instructions) and 0.25. */
static void ciao_stops_above_the_high_score_and_lets_go_below_the_low_one(void **unused) {
    (void)unused;
    static const struct {
        const char *policy;
        bool stops, goes_on;
    } rows[] = {{"ciao:high=0.5,low=0.1,high_epoch=8,low_epoch=2", false, true},
                {"ciao:high=0.49,low=0.25,high_epoch=8,low_epoch=2", true, false},
                {"ciao:high=0.49,low=0.26,high_epoch=8,low_epoch=2", true, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        fabricate(&f, rows[i].policy, (FabricatedSize){.warps = 2});
        launch_all(&f);
        l1d_evict_by(&f, 1, 0, 0x1000);
        l1d_miss(&f, 0, 0x1000);
        l1d_evict_by(&f, 1, 0, 0x1000);
        l1d_miss(&f, 0, 0x1000);
        steps_of(&f, 0, 8);
        assert_int_equal(may_issue(&f), rows[i].stops ? warps(0, 0) : warps(0, 1));
        steps_of(&f, 0, 8);
        assert_int_equal(may_issue(&f), rows[i].goes_on ? warps(0, 1) : warps(0, 0));
        fabricated_free(&f);
    }
}

static void ciao_a_new_warp_is_no_interferer_for_the_last_one_in_its_slot(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, CIAO, (FabricatedSize){.warps = 3});
    launch_all(&f);
    for (int i = 0; i < 3; i++)
        l1d_evict_by(&f, 2, 0, 0x1000);
    l1d_miss(&f, 0, 0x1000);
    finish_warp(&f, 2);
    launch(&f, 2, 3);
    steps_of(&f, 0, 4);
    assert_int_equal(may_issue(&f), warps(0, 2));
    l1d_evict_by(&f, 1, 0, 0x1000); /* no confidence is left either */
    steps_of(&f, 0, 4);             /* 3 / 8 is too low */
    l1d_miss(&f, 0, 0x1000);
    l1d_evict_by(&f, 1, 0, 0x1000);
    l1d_miss(&f, 0, 0x1000);
    steps_of(&f, 0, 4);
    assert_int_equal(may_issue(&f), warps(0, 0) | warps(2, 2));
    fabricated_free(&f);
}

/* `by` evicts a line of `owner`, which then misses it, until the owner's score is above 0.5. */
static void interfere(Fabricated *f, int by, int owner) {
    for (int i = 0; i < 4; i++) {
        l1d_evict_by(f, by, owner, 0x1000 * (uint64_t)(owner + 1));
        l1d_miss(f, owner, 0x1000 * (uint64_t)(owner + 1));
    }
}

static void ciao_a_new_warp_is_no_sufferer_for_the_last_one_in_its_slot(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, CIAO, (FabricatedSize){.warps = 4});
    launch_all(&f);
    interfere(&f, 3, 0);
    interfere(&f, 2, 1);
    steps_of(&f, 0, 4);
    assert_int_equal(may_issue(&f), warps(0, 1)); /* 3 was stopped for 0, then 2 for 1 */
    finish_warp(&f, 0);
    assert_int_equal(may_issue(&f), warps(1, 1)); /* 2 goes on first */
    launch(&f, 0, 4);
    interfere(&f, 0, 0); /* the new warp has a high score of its own */
    steps_of(&f, 0, 1);
    finish_warp(&f, 1);
    assert_int_equal(may_issue(&f), warps(0, 0) | warps(2, 3));
    fabricated_free(&f);
}

/* Two warps are stopped in turn, and each finishes while it is below the other on the stack. */
static void ciao_finished_warps_leave_the_stack(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, CIAO, (FabricatedSize){.warps = 4});
    launch_all(&f);
    for (int i = 1; i < 2 * TYTO_MAX_WARPS; i++) {
        const int stopped = 2 + i % 2, other = 5 - stopped;
        interfere(&f, stopped, i % 2);
        steps_of(&f, 0, 4);
        assert_false(tyto_has(may_issue(&f), stopped));
        assert_int_equal((int)reported(&f, "stopped"), i == 1 ? 1 : 2);
        if (i == 1) continue;
        finish_warp(&f, other);
        launch(&f, other, (uint64_t)i + 4);
        assert_int_equal(may_issue(&f), warps(0, 1) | warps(other, other));
    }
    finish_warp(&f, 0);
    finish_warp(&f, 1);
    assert_int_equal((int)reported(&f, "stopped"), 0);
    fabricated_free(&f);
}

/* The others wait for something that a stopped warp may have to do. */
static void ciao_a_stopped_warp_runs_when_the_others_wait_for_warps(void **unused) {
    (void)unused;
    Fabricated f;
    begin_ciao(&f, 1);
    f.view.at_mbarrier = warps(0, 0);
    f.view.waits_other = warps(1, 1);
    assert_int_equal(may_issue(&f), warps(0, 2));
    fabricated_free(&f);
}

/* ---- daws ---- */

/* Four warps in a loop of instructions 10 to 20, whose load at 15 finds its own line again. The
 * limit is 0.6 of 128 lines, which is 76. */
static void begin_daws(Fabricated *f, int accesses) {
    fabricate(f, "daws", (FabricatedSize){.warps = 4});
    launch_all(f);
    for (int warp = 0; warp < 4; warp++)
        branch_lanes(f, warp, 20, 10, 32);
    issue_load(f, 0, 15);
    for (int i = 0; i < accesses; i++)
        l1d_look_up(f, 0, 15, 0x1000 + (uint64_t)i * 128, TYTO_NO_WARP);
    assert_int_equal(may_load(f), warps(0, 3)); /* no locality seen yet */
    issue_load(f, 0, 15);
    for (int i = 0; i < accesses; i++)
        l1d_look_up(f, 0, 15, 0x1000 + (uint64_t)i * 128, 0);
}

static void expect_needed(Fabricated *f, const int *lines) {
    double needed[4];
    assert_int_equal(reported_list(f, "needed", needed, 4), 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal((int)needed[i], lines[i]);
}

static void daws_a_divergent_load_needs_a_line_for_each_lane(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 1);
    expect_needed(&f, (const int[]){1, 1, 1, 1});
    assert_int_equal(may_load(&f), warps(0, 3));
    fabricated_free(&f);
    begin_daws(&f, 2); /* contiguous data that are not aligned */
    expect_needed(&f, (const int[]){2, 2, 2, 2});
    assert_int_equal(may_load(&f), warps(0, 3));
    fabricated_free(&f);
    begin_daws(&f, 3);
    expect_needed(&f, (const int[]){32, 32, 32, 32});
    assert_int_equal(may_load(&f), warps(0, 1)); /* 64 of 76 */
    fabricated_free(&f);
}

/* A load that is issued before the access of another load does not count as a second access of that
 * load. */
static void daws_two_loads_under_way_are_not_a_divergent_one(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 0);
    issue_load(&f, 1, 12);
    issue_load(&f, 1, 13);
    l1d_look_up(&f, 1, 12, 0x2000, 1);
    l1d_look_up(&f, 1, 13, 0x3000, 1);
    expect_needed(&f, (const int[]){2, 2, 2, 2});
    fabricated_free(&f);
}

static void daws_lanes_that_leave_the_loop_make_room(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 3);
    branch_lanes(&f, 0, 20, 10, 12);
    expect_needed(&f, (const int[]){12, 32, 32, 32});
    assert_int_equal(may_load(&f), warps(0, 2)); /* 76 of 76 */
    branch_lanes(&f, 0, 20, 10, 13);
    assert_int_equal(may_load(&f), warps(0, 1));
    branch_lanes(&f, 1, 20, 21, 32); /* warp 1 leaves the loop: it needs nothing, and may load */
    expect_needed(&f, (const int[]){13, 0, 32, 32});
    assert_int_equal(may_load(&f), warps(0, 2));
    branch_lanes(&f, 1, 30, 25, 32); /* another loop, without the load */
    expect_needed(&f, (const int[]){13, 0, 32, 32});
    finish_warp(&f, 0);
    assert_int_equal(may_load(&f), warps(1, 3));
    fabricated_free(&f);
}

/* A branch as the SM reports it, with any lanes. */
static void branch_from(Fabricated *f, int warp, uint32_t pc, uint32_t target, uint32_t before,
                        uint32_t after) {
    TytoEvent event = {.kind = TYTO_EVENT_BRANCH,
                       .warp = warp,
                       .owner = TYTO_NO_WARP,
                       .is_divergent = before != after && !(after & ~before),
                       .pc = pc,
                       .target = target,
                       .lanes_before = before,
                       .lanes_after = after};
    sched_agent_event(&f->agent, &f->view, &event);
}

static const uint32_t EVEN = 0x55555555, ODD = 0xaaaaaaaa, EIGHT = 0x50505050, ALL = 0xffffffff;

/* The end of one side of an if, after which the other side runs, which has the lower pcs. */
static void daws_the_other_side_of_an_if_is_not_a_loop(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 1);
    branch_from(&f, 1, 20, 21, ALL, ALL);
    expect_needed(&f, (const int[]){1, 0, 1, 1});
    branch_from(&f, 1, 24, 14, EVEN, ODD);
    expect_needed(&f, (const int[]){1, 0, 1, 1});
    branch_from(&f, 1, 25, 14, EIGHT, EVEN); /* a loop: they meet others at its head */
    expect_needed(&f, (const int[]){1, 1, 1, 1});
    fabricated_free(&f);
}

/* A loop with its test at the head, or with a break, whose backward branch is always taken. */
static void daws_a_loop_is_left_at_any_branch_out_of_it(void **unused) {
    (void)unused;
    static const struct {
        uint32_t target, before, after;
        bool leaves;
    } rows[] = {{12, ALL, ALL, false}, {20, ALL, ALL, false}, {10, EVEN, ODD, false},
                {21, ALL, ALL, true},  {21, EVEN, ALL, true}, /* the last lanes leave */
                {9, EVEN, ODD, true},   /* the path ends; another one continues */
                {30, ALL, EVEN, true}}; /* the lanes that leave run first */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        begin_daws(&f, 1);
        branch_from(&f, 1, 11, rows[i].target, rows[i].before, rows[i].after);
        expect_needed(&f, (const int[]){1, !rows[i].leaves, 1, 1});
        fabricated_free(&f);
    }
}

/* The loop of begin_daws is inside one of 5 to 30, and that in one of 2 to 35. */
static void daws_after_an_inner_loop_a_warp_is_in_the_outer_one(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 3);
    branch_from(&f, 0, 35, 2, ALL, ALL);
    branch_from(&f, 0, 30, 5, ALL, ALL);
    l1d_look_up(&f, 0, 25, 0x4000, 0); /* a load of the two outer loops */
    l1d_look_up(&f, 0, 33, 0x5000, 0); /* one of the outermost */
    expect_needed(&f, (const int[]){33, 32, 32, 32});
    branch_from(&f, 1, 20, 10, ALL, EIGHT);
    expect_needed(&f, (const int[]){33, 8, 32, 32});
    branch_from(&f, 1, 20, 21, EIGHT, ALL); /* all lanes meet after the inner loop */
    expect_needed(&f, (const int[]){33, 33, 32, 32});
    branch_from(&f, 2, 13, 22, ALL, EIGHT); /* the others are in the inner loop */
    expect_needed(&f, (const int[]){33, 33, 33, 32});
    branch_from(&f, 1, 30, 31, ALL, ALL);
    expect_needed(&f, (const int[]){33, 34, 33, 32});
    branch_from(&f, 1, 35, 36, ALL, ALL);
    expect_needed(&f, (const int[]){33, 0, 33, 32});
    fabricated_free(&f);
}

/* Two loops one after the other: lanes that are not at the second one do not count. */
static void daws_lanes_of_another_loop_do_not_count(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 3);
    branch_from(&f, 1, 8, 3, EVEN, EVEN);
    branch_from(&f, 1, 8, 12, EVEN, EIGHT ^ EVEN);
    expect_needed(&f, (const int[]){32, 8, 32, 32});
    fabricated_free(&f);
}

/* A machine with sectors of 32 bytes makes up to four accesses to a line. */
static void daws_sectors_of_a_line_are_one_line(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 0);
    issue_load(&f, 0, 15);
    for (int sector = 0; sector < 4; sector++)
        l1d_look_up(&f, 0, 15, 0x1000, TYTO_NO_WARP);
    issue_load(&f, 0, 15);
    for (int sector = 0; sector < 4; sector++)
        l1d_look_up(&f, 0, 15, 0x1080, 0); /* another line, but not at once */
    expect_needed(&f, (const int[]){1, 1, 1, 1});
    l1d_look_up(&f, 0, 15, 0x1100, 0);
    expect_needed(&f, (const int[]){2, 2, 2, 2});
    l1d_look_up(&f, 0, 15, 0x1180, 0);
    expect_needed(&f, (const int[]){32, 32, 32, 32});
    fabricated_free(&f);
}

static void daws_an_if_inside_the_loop_changes_no_lanes(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 3);
    branch_from(&f, 0, 12, 16, ALL, 1);
    expect_needed(&f, (const int[]){32, 32, 32, 32});
    branch_from(&f, 0, 18, 13, 1, ALL ^ 1); /* its other side */
    branch_from(&f, 0, 15, 19, ALL ^ 1, ALL);
    expect_needed(&f, (const int[]){32, 32, 32, 32});
    branch_from(&f, 0, 12, 13, ALL, EIGHT); /* a break; the others wait after the loop */
    branch_from(&f, 0, 20, 10, EIGHT, EIGHT);
    expect_needed(&f, (const int[]){8, 32, 32, 32});
    fabricated_free(&f);
}

static void daws_replaced_loads_and_loops_need_nothing(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 1);
    issue_load(&f, 3, 15 + 64);
    l1d_look_up(&f, 3, 15 + 64, 0x2000, TYTO_NO_WARP);
    expect_needed(&f, (const int[]){0, 0, 0, 0});
    assert_int_equal(may_load(&f), warps(0, 3));
    fabricated_free(&f);
    begin_daws(&f, 3);
    assert_int_equal(may_load(&f), warps(0, 1));
    branch_from(&f, 3, 20 + 16, 30, ALL, ALL);
    expect_needed(&f, (const int[]){0, 0, 0, 0});
    assert_int_equal(may_load(&f), warps(0, 3));
    l1d_look_up(&f, 3, 32, 0x3000, 3); /* a load in the new loop */
    expect_needed(&f, (const int[]){0, 0, 0, 1});
    fabricated_free(&f);
    begin_daws(&f, 1);
    branch_from(&f, 3, 20, 16, ALL, ALL); /* the same branch, to another target */
    expect_needed(&f, (const int[]){0, 0, 0, 0});
    branch_from(&f, 3, 20, 10, ALL, ALL);
    expect_needed(&f, (const int[]){1, 1, 1, 1});
    fabricated_free(&f);
}

static void daws_locality_is_a_warps_own(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 0);
    issue_load(&f, 1, 12);
    l1d_look_up(&f, 1, 12, 0x2000, 0); /* another warp's line */
    expect_needed(&f, (const int[]){0, 0, 0, 0});
    l1d_evict(&f, 1, 0x3000);
    issue_load(&f, 1, 12);
    l1d_look_up(&f, 1, 12, 0x3000, TYTO_NO_WARP); /* its own line, which it had lost */
    expect_needed(&f, (const int[]){1, 1, 1, 1});
    fabricated_free(&f);
}

/* Loads of one line after another: the first brings it in, the others find it. */
static void daws_a_line_counts_once_for_all_loads_that_find_it(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 0);
    for (uint32_t pc = 12; pc < 15; pc++) {
        issue_load(&f, 1, pc);
        l1d_find(&f, 1, pc, 0x2000, 1, 11);
    }
    expect_needed(&f, (const int[]){1, 1, 1, 1});
    fabricated_free(&f);
}

/* Both loads bring in lines that both find: an unrolled loop. The divergent one gives the number.
 */
static void daws_loads_that_hit_each_others_lines_count_once(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 1);
    issue_load(&f, 1, 16);
    l1d_look_up(&f, 1, 16, 0x2000, TYTO_NO_WARP);
    l1d_find(&f, 1, 16, 0x2000, 1, 16);
    expect_needed(&f, (const int[]){2, 2, 2, 2}); /* two loads, each of its own lines */
    l1d_find(&f, 1, 15, 0x2000, 1, 16);
    expect_needed(&f, (const int[]){1, 1, 1, 1});
    issue_load(&f, 2, 16);
    for (uint64_t line = 0; line < 3; line++)
        l1d_look_up(&f, 2, 16, 0x3000 + line * 128, TYTO_NO_WARP);
    expect_needed(&f, (const int[]){32, 32, 32, 32});
    fabricated_free(&f);
}

/* A load that takes the place of another one in the table (64 pcs apart) is not of its class. */
static void daws_a_new_load_is_in_a_class_of_its_own(void **unused) {
    (void)unused;
    Fabricated f;
    begin_daws(&f, 1);
    branch_lanes(&f, 1, 90, 10, 32);
    l1d_find(&f, 1, 15, 0x2000, 1, 16); /* 15 and 16 are a class */
    l1d_find(&f, 1, 16, 0x2000, 1, 15);
    expect_needed(&f, (const int[]){1, 1, 1, 1});
    l1d_find(&f, 1, 16 + 64, 0x4000, 1, 16 + 64);
    expect_needed(&f, (const int[]){1, 2, 1, 1}); /* warp 1 alone is in the longer loop */
    fabricated_free(&f);
}

static void daws_a_warp_that_its_cta_waits_for_may_load(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "daws:share=0.01", (FabricatedSize){.warps = 4, .warps_per_cta = 2});
    launch_all(&f);
    for (int warp = 0; warp < 4; warp++)
        branch_lanes(&f, warp, 20, 10, 32);
    issue_load(&f, 0, 15);
    l1d_look_up(&f, 0, 15, 0x1000, 0);
    assert_int_equal(may_load(&f), warps(0, 0));
    arrive(&f, 2);
    assert_int_equal(may_load(&f), warps(0, 0) | warps(2, 3));
    release(&f, 1);
    assert_int_equal(may_load(&f), warps(0, 0));
    fabricated_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dyncta_adds_a_cta_while_memory_is_fast),
        cmocka_unit_test(dyncta_pauses_the_last_cta_while_all_wait_for_memory),
        cmocka_unit_test(dyncta_when_a_cta_finishes_the_first_paused_goes_on),
        cmocka_unit_test(dyncta_idle_cycles_add_a_cta_though_memory_is_slow),
        cmocka_unit_test(dyncta_cycles_between_the_turns_of_the_schedulers_are_not_idle),
        cmocka_unit_test(dyncta_warps_at_an_mbarrier_do_not_wait_for_memory),
        cmocka_unit_test(equalizer_pauses_a_cta_while_memory_refuses_more_than_a_cta_of_warps),
        cmocka_unit_test(equalizer_adds_a_cta_while_most_warps_wait_and_memory_has_room),
        cmocka_unit_test(equalizer_leaves_compute_bound_kernels_alone),
        cmocka_unit_test(equalizer_stale_warps_are_not_ready),
        cmocka_unit_test(equalizer_samples_between_turns_see_the_last_turn),
        cmocka_unit_test(mascar_all_may_load_until_mshrs_or_misses_are_almost_full),
        cmocka_unit_test(mascar_the_owner_keeps_memory_until_it_waits_for_its_loads),
        cmocka_unit_test(mascar_memory_is_not_saturated_before_the_first_cta_or_between_ctas),
        cmocka_unit_test(mascar_an_owner_at_an_mbarrier_leaves_memory_to_others),
        cmocka_unit_test(baws_most_waiting_first_of_equals_the_oldest),
        cmocka_unit_test(baws_a_younger_cta_with_more_waiting_warps_goes_first),
        cmocka_unit_test(baws_is_greedy_inside_a_cta),
        cmocka_unit_test(ipaws_the_first_finished_warp_shows_whether_the_others_keep_up),
        cmocka_unit_test(ipaws_leaves_out_warps_that_have_just_come),
        cmocka_unit_test(pcal_only_the_oldest_warps_take_lines),
        cmocka_unit_test(pcal_tokens_climb_the_hill),
        cmocka_unit_test(pcal_warps_climb_first),
        cmocka_unit_test(pcal_an_equal_rate_is_no_rise),
        cmocka_unit_test(pcal_foresees_the_next_step_of_the_tokens),
        cmocka_unit_test(pcal_counts_bypasses_of_warps_without_a_token_alone),
        cmocka_unit_test(pcal_a_cta_with_a_warp_at_an_mbarrier_may_issue),
        cmocka_unit_test(ciao_stops_the_interferer_until_the_score_has_fallen),
        cmocka_unit_test(ciao_a_stopped_warp_goes_on_when_its_sufferer_ends),
        cmocka_unit_test(ciao_a_stopped_warp_runs_up_to_a_barrier_and_when_it_is_alone),
        cmocka_unit_test(ciao_a_load_has_lost_a_line_once_however_many_sectors_it_reads),
        cmocka_unit_test(ciao_the_interferer_is_changed_by_repeated_evictions_alone),
        cmocka_unit_test(ciao_stops_above_the_high_score_and_lets_go_below_the_low_one),
        cmocka_unit_test(ciao_a_new_warp_is_no_interferer_for_the_last_one_in_its_slot),
        cmocka_unit_test(ciao_a_new_warp_is_no_sufferer_for_the_last_one_in_its_slot),
        cmocka_unit_test(ciao_finished_warps_leave_the_stack),
        cmocka_unit_test(ciao_a_stopped_warp_runs_when_the_others_wait_for_warps),
        cmocka_unit_test(daws_a_divergent_load_needs_a_line_for_each_lane),
        cmocka_unit_test(daws_two_loads_under_way_are_not_a_divergent_one),
        cmocka_unit_test(daws_lanes_that_leave_the_loop_make_room),
        cmocka_unit_test(daws_the_other_side_of_an_if_is_not_a_loop),
        cmocka_unit_test(daws_a_loop_is_left_at_any_branch_out_of_it),
        cmocka_unit_test(daws_after_an_inner_loop_a_warp_is_in_the_outer_one),
        cmocka_unit_test(daws_lanes_of_another_loop_do_not_count),
        cmocka_unit_test(daws_sectors_of_a_line_are_one_line),
        cmocka_unit_test(daws_an_if_inside_the_loop_changes_no_lanes),
        cmocka_unit_test(daws_replaced_loads_and_loops_need_nothing),
        cmocka_unit_test(daws_locality_is_a_warps_own),
        cmocka_unit_test(daws_a_line_counts_once_for_all_loads_that_find_it),
        cmocka_unit_test(daws_loads_that_hit_each_others_lines_count_once),
        cmocka_unit_test(daws_a_new_load_is_in_a_class_of_its_own),
        cmocka_unit_test(daws_a_warp_that_its_cta_waits_for_may_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
