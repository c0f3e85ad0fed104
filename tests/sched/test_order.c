/* Policies that only order warps, step by step on a fabricated SM: oldest and youngest first, the
 * active set of Gebhart et al., criticality, prefetch-aware groups and the tournament. */
#include "fabricated.h"

#include "base/bits.h"

#define EXPECT_STEPS(f, ...) expect_steps(f, (const int[]){__VA_ARGS__, -2})

static void expect_steps(Fabricated *f, const int *picks) {
    for (; *picks != -2; picks++)
        assert_int_equal(step(f), *picks);
}

/* ---- oldest, youngest ---- */

static void oldest_and_youngest_look_at_age_alone(void **unused) {
    (void)unused;
    static const struct {
        const char *policy;
        int first, without, again; /* picks: from all, without that one, from all */
    } rows[] = {{"oldest", 2, 0, 2}, {"youngest", 1, 3, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Fabricated f;
        fabricate(&f, rows[i].policy, (FabricatedSize){.warps = 4});
        launch(&f, 2, 0);
        launch(&f, 0, 1);
        launch(&f, 3, 2);
        launch(&f, 1, 3);
        EXPECT_STEPS(&f, rows[i].first, rows[i].first);
        block(&f, warps(rows[i].first, rows[i].first));
        EXPECT_STEPS(&f, rows[i].without, rows[i].without);
        unblock(&f, warps(0, 3)); /* not greedy: the other one did not stall */
        EXPECT_STEPS(&f, rows[i].again);
        fabricated_free(&f);
    }
}

/* ---- gebhart ---- */

static void gebhart_issues_from_the_active_warps_alone(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "gebhart:active=2", (FabricatedSize){.warps = 4});
    launch_all(&f);
    EXPECT_STEPS(&f, 0, 1, 0, 1);
    assert_int_equal(pick(&f, warps(2, 3)), TYTO_NO_WARP); /* a short wait keeps the place */
    fabricated_free(&f);
}

static void gebhart_the_longest_pending_that_can_go_on_takes_a_free_place(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "gebhart:active=2", (FabricatedSize){.warps = 5});
    launch_all(&f);
    EXPECT_STEPS(&f, 0, 1);
    block(&f, warps(2, 2)); /* pending, but it waits itself: it is skipped */
    block(&f, warps(0, 0));
    EXPECT_STEPS(&f, 3, 1, 3);
    unblock(&f, warps(0, 0)); /* after 4, which has been pending since its start */
    block(&f, warps(1, 1));
    EXPECT_STEPS(&f, 4, 3, 4);
    block(&f, warps(3, 3));
    unblock(&f, warps(2, 2)); /* 2 has been pending for longer than 0 */
    EXPECT_STEPS(&f, 2, 4);
    block(&f, warps(4, 4));
    EXPECT_STEPS(&f, 0, 2);
    fabricated_free(&f);
}

static void gebhart_a_place_stays_free_while_all_others_wait(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "gebhart:active=2", (FabricatedSize){.warps = 4, .warps_per_cta = 4});
    launch_all(&f);
    block(&f, warps(1, 2));
    EXPECT_STEPS(&f, 0, 3);
    arrive(&f, 3); /* a barrier also ends a turn */
    EXPECT_STEPS(&f, 0, 0);
    unblock(&f, warps(2, 2));
    EXPECT_STEPS(&f, 2, 0);
    finish_warp(&f, 0);
    unblock(&f, warps(1, 1));
    EXPECT_STEPS(&f, 1, 2);
    fabricated_free(&f);
}

/* ---- Criticality ---- */

enum { ALL_LANES = -1, LOW_LANES = 0xff };

/* The warp executes an instruction; without slot_at, one without an issue slot. */
static void execute_at(Fabricated *f, int warp, int lanes) {
    f->view.warp[warp].thread_instructions += (uint64_t)bits_count32((uint32_t)lanes);
}

/* A slot of the instruction at `pc`, which has executed. */
static void slot_at(Fabricated *f, int warp, uint32_t pc, int lanes) {
    f->view.warp[warp].instructions++;
    TytoIssue issue = {.warp = warp, .lanes = (uint32_t)lanes, .pc = pc};
    sched_agent_issued(&f->agent, &f->view, &issue);
}

static void issue_at(Fabricated *f, int warp, uint32_t pc, int lanes) {
    execute_at(f, warp, lanes);
    slot_at(f, warp, pc, lanes);
}

static void issue_from_to(Fabricated *f, int warp, uint32_t first, uint32_t last, int lanes) {
    for (uint32_t pc = first; pc <= last; pc++)
        issue_at(f, warp, pc, lanes);
}

/* A branch, after which the lanes `after` continue at `target`. */
static void issue_branch(Fabricated *f, int warp, uint32_t pc, uint32_t target, int before,
                         int after) {
    TytoEvent event = {.kind = TYTO_EVENT_BRANCH,
                       .warp = warp,
                       .pc = pc,
                       .target = target,
                       .lanes_before = (uint32_t)before,
                       .lanes_after = (uint32_t)after};
    event.is_divergent = before & ~after && !(after & ~before);
    sched_agent_event(&f->agent, &f->view, &event);
    issue_at(f, warp, pc, before);
}

static int criticality_of(Fabricated *f, int warp) {
    double values[TYTO_MAX_WARPS];
    reported_list(f, "criticality", values, TYTO_MAX_WARPS);
    return (int)values[warp];
}

/* Three warps arrive in cycle 0. In cycle 10 each issues its first instruction, a branch: warp 0
 * jumps forward over 9 instructions, warp 1 over none, warp 2 jumps back over 5. */
static void issue_branches(Fabricated *f) {
    launch_all(f);
    pass(f, 10);
    issue_branch(f, 0, 10, 20, ALL_LANES, ALL_LANES);
    issue_branch(f, 1, 10, 11, ALL_LANES, ALL_LANES);
    issue_branch(f, 2, 10, 5, ALL_LANES, ALL_LANES);
}

/* Remaining instructions: -9 - 1, -1, +6 - 1; 10 cycles per instruction; 9 stalled cycles each. */
static void criticality_is_of_instructions_to_go_and_stalls(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cawa", (FabricatedSize){.warps = 3});
    issue_branches(&f);
    assert_int_equal(criticality_of(&f, 0), -10 * 10 + 9);
    assert_int_equal(criticality_of(&f, 1), -1 * 10 + 9);
    assert_int_equal(criticality_of(&f, 2), 5 * 10 + 9);
    pass(&f, 4); /* two instructions in 14 cycles; 3 more stalled cycles */
    issue_at(&f, 2, 5, ALL_LANES);
    assert_int_equal(criticality_of(&f, 2), 4 * 14 / 2 + 12);
    fabricated_free(&f);
}

static void a_jump_that_parts_lanes_takes_nothing_away(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cawa", (FabricatedSize){.warps = 2});
    launch_all(&f);
    pass(&f, 10);
    issue_branch(&f, 0, 10, 20, ALL_LANES, LOW_LANES);
    issue_branch(&f, 1, 20, 15, ALL_LANES, LOW_LANES);
    assert_int_equal(criticality_of(&f, 0), -1 * 10 + 9);
    assert_int_equal(criticality_of(&f, 1), 5 * 10 + 9);
    fabricated_free(&f);
}

/* An if-else: the branch at 0 jumps to 11, the branch at 10 to 21, where the sides meet. Lanes that
 * have jumped run first, and wait at 21; no event reports that. All that follows is in one cycle,
 * after 99 stalled ones. */
static void a_warp_that_runs_both_sides_has_as_much_to_go_as_others(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cawa", (FabricatedSize){.warps = 3});
    launch_all(&f);
    pass(&f, 100);
    issue_branch(&f, 0, 0, 11, ALL_LANES, LOW_LANES);
    issue_from_to(&f, 0, 11, 20, LOW_LANES);
    issue_from_to(&f, 0, 1, 9, ~LOW_LANES);
    issue_branch(&f, 0, 10, 21, ~LOW_LANES, ALL_LANES);
    issue_branch(&f, 1, 0, 11, ALL_LANES, ALL_LANES);
    issue_from_to(&f, 1, 11, 20, ALL_LANES);
    issue_branch(&f, 2, 0, 1, ALL_LANES, ALL_LANES);
    issue_from_to(&f, 2, 1, 9, ALL_LANES);
    issue_branch(&f, 2, 10, 21, ALL_LANES, ALL_LANES);
    assert_int_equal(criticality_of(&f, 0), -21 * 100 / 21 + 99); /* 21 fewer, 21 executed */
    assert_int_equal(criticality_of(&f, 1), -21 * 100 / 11 + 99); /* 21 fewer, 11 executed */
    assert_int_equal(criticality_of(&f, 2), -21 * 100 / 11 + 99);
    fabricated_free(&f);
}

/* The side at 11 ends with a branch, after which the lanes of the side at 1 run: no loop. */
static void a_branch_after_which_other_lanes_run_is_no_jump(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cawa", (FabricatedSize){.warps = 1});
    launch_all(&f);
    pass(&f, 100);
    issue_branch(&f, 0, 0, 11, ALL_LANES, LOW_LANES);
    issue_from_to(&f, 0, 11, 18, LOW_LANES);
    issue_branch(&f, 0, 19, 1, LOW_LANES, ~LOW_LANES);
    assert_int_equal(criticality_of(&f, 0), -10 * 100 / 10 + 99);
    fabricated_free(&f);
}

/* A loop from 5 to 14 whose exit, the branch at 7, jumps to 15. The low lanes leave first and wait
 * there. The others run another iteration and leave; none of them skips anything in vain. */
static void after_a_loop_that_lanes_leave_apart_a_warp_has_as_much_to_go(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cawa", (FabricatedSize){.warps = 1});
    launch_all(&f);
    pass(&f, 100);
    issue_from_to(&f, 0, 0, 6, ALL_LANES);
    issue_branch(&f, 0, 7, 8, ALL_LANES, ~LOW_LANES);
    issue_from_to(&f, 0, 8, 13, ~LOW_LANES);
    issue_branch(&f, 0, 14, 5, ~LOW_LANES, ~LOW_LANES);
    issue_from_to(&f, 0, 5, 6, ~LOW_LANES);
    assert_int_equal(criticality_of(&f, 0), -7 * 100 / 17 + 99); /* as at 7 */
    issue_branch(&f, 0, 7, 15, ~LOW_LANES, ALL_LANES);
    assert_int_equal(criticality_of(&f, 0), -15 * 100 / 18 + 99);
    fabricated_free(&f);
}

/* Both sides of the branch at 5 end with a jump back to the loop's start at 2, where they meet. The
 * low lanes also part at 11: four of them run 12 and 13, four 14 and 15. They meet in machine
 * code's way, by a wait at 16, which is no branch. */
static void lanes_that_meet_at_the_start_of_a_loop_begin_an_iteration(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cawa", (FabricatedSize){.warps = 1});
    launch_all(&f);
    pass(&f, 100);
    issue_from_to(&f, 0, 0, 4, ALL_LANES);
    issue_branch(&f, 0, 5, 11, ALL_LANES, LOW_LANES);
    issue_branch(&f, 0, 11, 12, LOW_LANES, 0xf0);
    issue_at(&f, 0, 12, 0xf0);
    issue_branch(&f, 0, 13, 16, 0xf0, 0xf0);
    issue_at(&f, 0, 16, 0xf0);
    issue_from_to(&f, 0, 14, 16, 0xf);
    issue_from_to(&f, 0, 17, 18, LOW_LANES);
    issue_branch(&f, 0, 19, 6, LOW_LANES, ~LOW_LANES);
    assert_int_equal(criticality_of(&f, 0), -(6 + 9) * 100 / 16 + 99); /* 11 to 19 are done */
    issue_from_to(&f, 0, 6, 9, ~LOW_LANES);
    issue_branch(&f, 0, 10, 2, ~LOW_LANES, ALL_LANES);
    assert_int_equal(criticality_of(&f, 0), -2 * 100 / 21 + 99);
    fabricated_free(&f);
}

/* Two groups of lanes part again and again, as in loops that run in turns. Only the splits that
 * contain the present lanes are kept, so those of the next warp stay as they are. */
static void splits_of_lanes_that_run_in_turns_do_not_pile_up(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cawa", (FabricatedSize){.warps = 2});
    launch_all(&f);
    pass(&f, 100);
    issue_branch(&f, 1, 0, 3, ALL_LANES, LOW_LANES);
    issue_branch(&f, 0, 0, 3, ALL_LANES, LOW_LANES);
    for (int i = 0; i < 40; i++) {
        issue_branch(&f, 0, 3, 3, LOW_LANES, 1);
        issue_branch(&f, 0, 1, 1, ~LOW_LANES, 0x100);
    }
    issue_from_to(&f, 1, 3, 4, LOW_LANES);
    issue_branch(&f, 1, 2, 5, ~LOW_LANES, ALL_LANES);
    assert_int_equal(criticality_of(&f, 1), -5 * 100 / 4 + 99);
    fabricated_free(&f);
}

/* A loop of 20 instructions. Odd pcs below 17 take no slot, and 18 takes three. */
static void an_iteration_of_instructions_without_slots_leaves_as_much_to_go(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cawa", (FabricatedSize){.warps = 1});
    launch_all(&f);
    pass(&f, 100);
    for (int i = 0; i < 3; i++) {
        for (uint32_t pc = 0; pc < 19; pc++) {
            execute_at(&f, 0, ALL_LANES);
            if (pc >= 17 || pc % 2 == 0) slot_at(&f, 0, pc, ALL_LANES);
            if (pc == 18) slot_at(&f, 0, pc, ALL_LANES);
            if (pc == 18) slot_at(&f, 0, pc, ALL_LANES);
        }
        issue_branch(&f, 0, 19, 0, ALL_LANES, ALL_LANES);
        assert_int_equal(criticality_of(&f, 0), 99);
    }
    execute_at(&f, 0, ALL_LANES);
    slot_at(&f, 0, 0, LOW_LANES); /* guarded; cycles per instruction of the program, not per slot */
    assert_int_equal(criticality_of(&f, 0), -1 * 100 / 61 + 99);
    fabricated_free(&f);
}

/* No event reports a call: the instructions between the pcs are not executed. */
static void a_call_is_one_instruction(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "cawa", (FabricatedSize){.warps = 1});
    launch_all(&f);
    pass(&f, 100);
    issue_at(&f, 0, 5, ALL_LANES);
    issue_from_to(&f, 0, 1000, 1001, ALL_LANES);
    issue_at(&f, 0, 6, ALL_LANES);
    issue_branch(&f, 0, 7, 18, ALL_LANES, ALL_LANES);
    assert_int_equal(criticality_of(&f, 0), -(5 + 10) * 100 / 5 + 99);
    fabricated_free(&f);
}

static void caws_takes_the_most_critical_cawa_stays_until_the_stall(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "caws", (FabricatedSize){.warps = 3});
    issue_branches(&f);
    assert_int_equal(pick(&f, warps(0, 2)), 2);
    assert_int_equal(pick(&f, warps(0, 1)), 1);
    fabricated_free(&f);
    fabricate(&f, "cawa", (FabricatedSize){.warps = 3});
    issue_branches(&f);
    issue_at(&f, 0, 20, ALL_LANES);
    assert_int_equal(pick(&f, warps(0, 2)), 0);
    assert_int_equal(pick(&f, warps(1, 2)), 2);
    finish_warp(&f, 0);
    launch(&f, 0, 3); /* the new warp is neither greedy nor as critical as warp 2 */
    assert_int_equal(pick(&f, warps(0, 2)), 2);
    assert_int_equal(pick(&f, warps(0, 1)), 0);
    fabricated_free(&f);
}

static void equally_critical_warps_go_oldest_first(void **unused) {
    (void)unused;
    static const char *const policies[] = {"caws", "cawa", "caws:by=progress"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        Fabricated f;
        fabricate(&f, policies[i], (FabricatedSize){.warps = 3});
        launch(&f, 2, 0);
        launch(&f, 0, 1);
        launch(&f, 1, 2);
        assert_int_equal(pick(&f, warps(0, 2)), 2);
        fabricated_free(&f);
    }
}

static void caws_by_progress_takes_the_warp_that_has_issued_least(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "caws:by=progress", (FabricatedSize){.warps = 3});
    launch_all(&f);
    EXPECT_STEPS(&f, 0, 1, 2, 0);
    block(&f, warps(1, 1));
    EXPECT_STEPS(&f, 2, 0, 2);
    unblock(&f, warps(1, 1));
    EXPECT_STEPS(&f, 1, 1, 0);
    fabricated_free(&f);
}

/* ---- cawa-cacp ---- */

/* A set of four lines in places 0 to 3. All of them can be evicted. A higher place is older. */
static int victim_among(Fabricated *f, const uint64_t numbers[4], uint64_t address, uint32_t pc) {
    TytoLine lines[4];
    for (uint32_t i = 0; i < 4; i++)
        lines[i] = (TytoLine){.address = numbers[i] * 128,
                              .order = 10 - i,
                              .place = i,
                              .owner_pc = 5,
                              .can_go = true};
    const TytoLines set = {sizeof set, 4, sizeof lines[0], lines};
    const TytoMiss miss = {.size = sizeof miss, .warp = 0, .address = address, .pc = pc};
    return sched_agent_victim(&f->agent, &f->view, &miss, &set);
}

static int victim_of(Fabricated *f, uint64_t address, uint32_t pc) {
    return victim_among(f, (const uint64_t[]){16, 17, 18, 19}, address, pc);
}

/* An event of a line that the load at 5 has brought in, so that the signature is the line's number
 * with two bits inverted. The load at 9 hits it; a load at 13 replaces it. */
static void at_place(Fabricated *f, TytoEventKind kind, int warp, uint32_t place, uint64_t line) {
    const uint32_t pc = kind == TYTO_EVENT_L1D_HIT ? 9 : kind == TYTO_EVENT_L1D_EVICTED ? 13 : 5;
    TytoEvent event = {.kind = kind, .warp = warp, .owner = 0, .place = place, .pc = pc};
    event.owner_pc = 5;
    event.address = line * 128;
    sched_agent_event(&f->agent, &f->view, &event);
}

/* A load misses; the miss does not know its place. The line arrives there. */
static void bring(Fabricated *f, uint32_t place, uint64_t line) {
    at_place(f, TYTO_EVENT_L1D_MISS, 0, TYTO_NO_PLACE, line);
    at_place(f, TYTO_EVENT_L1D_FILLED, TYTO_NO_WARP, place, line);
}

/* Warp 1 is critical, because it has another iteration of a long loop to run. */
static void begin_cacp(Fabricated *f, const char *policy) {
    fabricate(f, policy, (FabricatedSize){.warps = 2});
    launch_all(f);
    issue_at(f, 0, 0, ALL_LANES);
    pass(f, 100);
    issue_branch(f, 1, 1000, 0, ALL_LANES, ALL_LANES);
    issue_from_to(f, 1, 0, 64, ALL_LANES); /* checked every 64 instructions */
    for (uint32_t place = 0; place < 4; place++)
        bring(f, place, 16 + place);
}

/* Of a load's accesses to the sectors of a line, the first one counts. */
static void cacp_further_sectors_of_a_load_are_no_hits(void **unused) {
    (void)unused;
    Fabricated f;
    begin_cacp(&f, "cawa-cacp");
    TytoEvent further = {.kind = TYTO_EVENT_L1D_HIT, .place = 3, .pc = 9, .owner_pc = 5};
    further.address = 19 * 128;
    further.repeats_line = true;
    sched_agent_event(&f.agent, &f.view, &further);
    assert_int_equal(victim_of(&f, 0x4000, 0), 3);
    at_place(&f, TYTO_EVENT_L1D_HIT, 0, 3, 19);
    assert_int_not_equal(victim_of(&f, 0x4000, 0), 3);
    fabricated_free(&f);
}

static void cacp_lines_nobody_has_used_go_first_the_oldest_before_others(void **unused) {
    (void)unused;
    Fabricated f;
    begin_cacp(&f, "cawa-cacp");
    assert_int_equal(victim_of(&f, 0x4000, 0), 3);
    at_place(&f, TYTO_EVENT_L1D_HIT, 0, 3, 19);
    at_place(&f, TYTO_EVENT_L1D_HIT, 0, 2, 18);
    assert_int_equal(victim_of(&f, 0x4000, 0), 1);
    fabricated_free(&f);
}

/* After two hits of a critical warp, the next line of that signature belongs to the critical part.
 */
static void make_line_critical(Fabricated *f) {
    at_place(f, TYTO_EVENT_L1D_HIT, 1, 0, 16);
    at_place(f, TYTO_EVENT_L1D_HIT, 1, 0, 16);
    at_place(f, TYTO_EVENT_L1D_EVICTED, 0, 0, 16);
    bring(f, 0, 16);
}

static void cacp_lines_of_critical_warps_keep_their_part(void **unused) {
    (void)unused;
    Fabricated f;
    begin_cacp(&f, "cawa-cacp");
    make_line_critical(&f);
    assert_int_equal((int)reported(&f, "critical_hits"), 2);
    for (uint32_t place = 1; place < 4; place++)
        at_place(&f, TYTO_EVENT_L1D_HIT, 0, place, 16 + place);
    assert_int_equal(victim_of(&f, 0x4000, 0), 3); /* one critical line is less than the half */
    fabricated_free(&f);
    begin_cacp(&f, "cawa-cacp:part=0"); /* no part: it is evicted */
    make_line_critical(&f);
    assert_int_equal(victim_of(&f, 0x4000, 0), 0);
    fabricated_free(&f);
}

/* Line 272 has the signature of line 16. It arrives before line 16 is reused, so it starts like
 * other lines without a use, as the oldest. */
static void cacp_a_line_starts_as_its_signature_was_when_it_arrived(void **unused) {
    (void)unused;
    Fabricated f;
    begin_cacp(&f, "cawa-cacp");
    at_place(&f, TYTO_EVENT_L1D_EVICTED, 0, 3, 19);
    bring(&f, 3, 272);
    at_place(&f, TYTO_EVENT_L1D_HIT, 0, 0, 16);
    assert_int_equal(victim_among(&f, (const uint64_t[]){16, 17, 18, 272}, 0x4000, 0), 3);
    fabricated_free(&f);
}

/* A store's line comes without an event. Its hits count for its own signature, not for signature 0,
 * which is that of line 5: that line starts like other lines without a use, as the oldest. */
static void cacp_hits_of_a_line_without_an_arrival_count_for_its_signature(void **unused) {
    (void)unused;
    Fabricated f;
    begin_cacp(&f, "cawa-cacp");
    at_place(&f, TYTO_EVENT_L1D_EVICTED, 0, 3, 19);
    at_place(&f, TYTO_EVENT_L1D_HIT, 0, 3, 40);
    at_place(&f, TYTO_EVENT_L1D_EVICTED, 0, 3, 40);
    bring(&f, 3, 5);
    assert_int_equal(victim_among(&f, (const uint64_t[]){16, 17, 18, 5}, 0x4000, 0), 3);
    at_place(&f, TYTO_EVENT_L1D_EVICTED, 0, 3, 5);
    bring(&f, 3, 40); /* has been reused: it stays longer */
    assert_int_equal(victim_among(&f, (const uint64_t[]){16, 17, 18, 40}, 0x4000, 0), 2);
    fabricated_free(&f);
}

/* The record of a line that was replaced without an event is not that of the present line. */
static void cacp_a_line_that_no_event_has_reported_is_new(void **unused) {
    (void)unused;
    Fabricated f;
    begin_cacp(&f, "cawa-cacp");
    for (uint32_t place = 0; place < 4; place++)
        at_place(&f, TYTO_EVENT_L1D_HIT, 0, place, 16 + place);
    assert_int_equal(victim_among(&f, (const uint64_t[]){16, 33, 18, 19}, 0x4000, 0), 1);
    fabricated_free(&f);
}

/* ---- prefetch-aware ---- */

static void prefetch_aware_consecutive_warps_are_in_different_groups(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "prefetch-aware:group=2", (FabricatedSize){.warps = 6}); /* {0,3} {1,4} {2,5} */
    launch_all(&f);
    EXPECT_STEPS(&f, 0, 3, 0);
    block(&f, warps(0, 0));
    block(&f, warps(3, 3));
    EXPECT_STEPS(&f, 1, 4);
    block(&f, warps(1, 2)); /* one warp of the next group can issue */
    block(&f, warps(4, 4));
    EXPECT_STEPS(&f, 5, 5);
    unblock(&f, warps(3, 4));
    block(&f, warps(5, 5));
    EXPECT_STEPS(&f, 3); /* the first group comes next, before 4 of the second */
    fabricated_free(&f);
}

static void prefetch_aware_as_few_groups_as_hold_all(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "prefetch-aware:group=2", (FabricatedSize){.warps = 5}); /* {0,3} {1,4} {2} */
    launch_all(&f);
    block(&f, warps(0, 1));
    block(&f, warps(3, 4));
    EXPECT_STEPS(&f, 2, 2);
    fabricated_free(&f);
}

/* A kernel that fills half the slots forms half as many groups. */
static void prefetch_aware_groups_are_of_the_warps_that_a_kernel_has(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "prefetch-aware:group=2",
              (FabricatedSize){.warps = 8, .ctas = 4}); /* {0,2,4,6} {1,3,5,7} */
    launch_all(&f);
    EXPECT_STEPS(&f, 0, 2, 0, 2);
    block(&f, warps(0, 0));
    block(&f, warps(2, 2));
    EXPECT_STEPS(&f, 1, 3, 1);
    fabricated_free(&f);
}

enum { MOST_PREFETCHED = 16 };
typedef struct Prefetched {
    uint64_t addresses[MOST_PREFETCHED];
    int count;
} Prefetched;

static bool note_prefetch(void *unit, uint64_t address, uint32_t tag) {
    (void)tag;
    Prefetched *prefetched = unit;
    assert_true(prefetched->count < MOST_PREFETCHED);
    prefetched->addresses[prefetched->count++] = address;
    return true;
}

/* Blocks of four lines of 128 bytes: the second miss to a block prefetches its other two lines. */
static void prefetch_aware_the_second_miss_of_a_block_brings_the_rest(void **unused) {
    (void)unused;
    Fabricated f;
    Prefetched got = {.count = 0};
    fabricate(&f, "prefetch-aware:entries=4", (FabricatedSize){.warps = 2});
    launch_all(&f);
    f.view.prefetch = note_prefetch;
    f.view.unit = &got;
    l1d_miss(&f, 0, 0x1080);
    l1d_miss(&f, 0, 0x1080); /* the same line */
    l1d_join(&f, 1, 0x1100); /* already under way */
    l1d_miss(&f, 1, 0x1200); /* another block */
    assert_int_equal(got.count, 0);
    l1d_miss(&f, 1, 0x1180);
    assert_int_equal(got.count, 2);
    assert_int_equal(got.addresses[0], 0x1000);
    assert_int_equal(got.addresses[1], 0x1100);
    l1d_miss(&f, 1, 0x1000); /* only once */
    assert_int_equal(got.count, 2);
    l1d_miss(&f, 0, 0x1a00); /* takes the entry of the block at 0x1200 ... */
    l1d_miss(&f, 0, 0x1280); /* ... which is then lost */
    assert_int_equal(got.count, 2);
    assert_int_equal((int)reported(&f, "prefetches_asked"), 2);
    fabricated_free(&f);
    fabricate(&f, "prefetch-aware:prefetch=no", (FabricatedSize){.warps = 2});
    launch_all(&f);
    f.view.prefetch = note_prefetch;
    f.view.unit = &got;
    l1d_miss(&f, 0, 0x1080);
    l1d_miss(&f, 1, 0x1180);
    assert_int_equal(got.count, 2);
    fabricated_free(&f);
}

/* A prefetch brings a sector: a line with sectors takes several. */
static void prefetch_aware_brings_all_sectors_of_a_line(void **unused) {
    (void)unused;
    Fabricated f;
    Prefetched got = {.count = 0};
    fabricate(&f, "prefetch-aware:lines=2,demanded=1", (FabricatedSize){.warps = 2});
    launch_all(&f);
    f.view.prefetch = note_prefetch;
    f.view.unit = &got;
    f.view.fill_bytes = 32;
    l1d_miss(&f, 0, 0x1080);
    assert_int_equal(got.count, 4);
    for (int sector = 0; sector < 4; sector++)
        assert_int_equal(got.addresses[sector], 0x1000 + 32 * sector);
    fabricated_free(&f);
}

/* ---- apres ---- */

/* Warps 0 to 3 have executed the load at 5, and warp 4 has executed none. Then warp 0 issues the
 * load at 9. */
static void begin_apres(Fabricated *f, Prefetched *got) {
    fabricate(f, "apres", (FabricatedSize){.warps = 5});
    launch_all(f);
    f->view.prefetch = note_prefetch;
    f->view.unit = got;
    for (int warp = 0; warp < 4; warp++) {
        issue_load(f, warp, 5);
        l1d_look_up(f, warp, 5, 0x100000 + (uint64_t)(warp * warp) * 512, TYTO_NO_WARP);
    }
    assert_int_equal(pick(f, warps(0, 4)), 0); /* each miss has moved those without a load back */
    issue(f, 4);
    assert_int_equal(pick(f, warps(0, 4)), 0);
    issue_load(f, 0, 9);
}

static void apres_a_hit_brings_the_group_forward_until_each_has_issued(void **unused) {
    (void)unused;
    Fabricated f;
    Prefetched got = {.count = 0};
    begin_apres(&f, &got);
    issue(&f, 1);
    issue(&f, 2);
    issue(&f, 3);
    assert_int_equal(pick(&f, warps(0, 4)), 4);
    l1d_look_up(&f, 0, 9, 0x2000, 3);
    EXPECT_STEPS(&f, 1, 2, 3, 4, 0);
    assert_int_equal(got.count, 0);
    fabricated_free(&f);
}

static void apres_a_miss_sends_the_group_behind(void **unused) {
    (void)unused;
    Fabricated f;
    Prefetched got = {.count = 0};
    begin_apres(&f, &got);
    l1d_look_up(&f, 0, 9, 0x2000, TYTO_NO_WARP);
    EXPECT_STEPS(&f, 4, 0, 1, 2, 3);
    l1d_look_up(&f, 0, 9, 0x2000, 3); /* the load's first access has already decided */
    EXPECT_STEPS(&f, 4, 0, 1, 2, 3);
    assert_int_equal(got.count, 0); /* no stride */
    fabricated_free(&f);
}

/* Misses of warps 0, 1 and 2 at 0x2000 and 512 bytes further for each warp. When the stride is seen
 * for the second time, the lines of the group are prefetched. */
static void apres_a_stride_that_repeats_is_prefetched_for_the_group(void **unused) {
    (void)unused;
    Fabricated f;
    Prefetched got = {.count = 0};
    begin_apres(&f, &got);
    l1d_look_up(&f, 0, 9, 0x2000, TYTO_NO_WARP);
    issue_load(&f, 1, 9);
    l1d_look_up(&f, 1, 9, 0x2200, TYTO_NO_WARP);
    assert_int_equal(got.count, 0);
    issue_load(&f, 2, 9); /* its group is warp 3: the others have executed the load at 9 */
    l1d_look_up(&f, 2, 9, 0x2400, TYTO_NO_WARP);
    assert_int_equal(got.count, 1);
    assert_int_equal(got.addresses[0], 0x2600);
    EXPECT_STEPS(&f, 3, 4); /* the warp with the prefetched line goes first */
    assert_int_equal((int)reported(&f, "group_misses"), 7);
    fabricated_free(&f);
}

/* Strides are of bytes: the lanes of each warp read half a line. */
static void apres_strides_are_shorter_than_a_line(void **unused) {
    (void)unused;
    Fabricated f;
    Prefetched got = {.count = 0};
    begin_apres(&f, &got);
    l1d_look_up(&f, 0, 9, 0x2000, TYTO_NO_WARP);
    issue_load(&f, 1, 9);
    l1d_look_up(&f, 1, 9, 0x2040, TYTO_NO_WARP);
    issue_load(&f, 2, 9);
    l1d_look_up(&f, 2, 9, 0x2080, TYTO_NO_WARP);
    assert_int_equal(got.count, 1);
    assert_int_equal(got.addresses[0], 0x20c0);
    fabricated_free(&f);
}

/* ---- tournament ---- */

/* Four schedulers of three warps: 0 follows lrr, 1 gto, 2 swl, 3 two-level. */
static void tournament_each_scheduler_follows_another_policy_then_all_the_best(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, "tournament:period=100", (FabricatedSize){.warps = 12, .schedulers = 4});
    launch_all(&f);
    issue(&f, 0);
    issue(&f, 1);
    assert_int_equal(pick_of(&f, 0, f.view.scheduler_warps[0]), 4); /* in turn */
    assert_int_equal(pick_of(&f, 1, f.view.scheduler_warps[1]), 1); /* greedy */
    issue(&f, 1);
    issue(&f, 3);
    pass(&f, 99);
    assert_int_equal((int)reported(&f, "winner"), -1);
    pass(&f, 1);
    assert_int_equal((int)reported(&f, "winner"), 1);
    assert_int_equal(pick_of(&f, 0, f.view.scheduler_warps[0]), 0); /* now greedy, too */
    pass(&f, 100000);
    assert_int_equal((int)reported(&f, "winner"), 1);
    fabricated_free(&f);
}

static void tournament_with_one_scheduler_takes_four_rounds(void **unused) {
    (void)unused;
    static const int issues[] = {3, 5, 2, 7};
    Fabricated f;
    double counts[4];
    fabricate(&f, "tournament:period=100,again=50", (FabricatedSize){.warps = 4});
    launch_all(&f);
    for (int round = 0; round < 4; round++) {
        assert_int_equal((int)reported(&f, "winner"), -1);
        for (int i = 0; i < issues[round]; i++)
            issue(&f, 0);
        pass(&f, 100);
    }
    assert_int_equal((int)reported(&f, "winner"), 3);
    assert_int_equal(reported_list(&f, "round_instructions", counts, 4), 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal((int)counts[i], issues[i]);
    pass(&f, 49);
    assert_int_equal((int)reported(&f, "winner"), 3);
    pass(&f, 1); /* a new tournament */
    assert_int_equal((int)reported(&f, "winner"), -1);
    fabricated_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oldest_and_youngest_look_at_age_alone),
        cmocka_unit_test(gebhart_issues_from_the_active_warps_alone),
        cmocka_unit_test(gebhart_the_longest_pending_that_can_go_on_takes_a_free_place),
        cmocka_unit_test(gebhart_a_place_stays_free_while_all_others_wait),
        cmocka_unit_test(criticality_is_of_instructions_to_go_and_stalls),
        cmocka_unit_test(a_jump_that_parts_lanes_takes_nothing_away),
        cmocka_unit_test(a_warp_that_runs_both_sides_has_as_much_to_go_as_others),
        cmocka_unit_test(a_branch_after_which_other_lanes_run_is_no_jump),
        cmocka_unit_test(after_a_loop_that_lanes_leave_apart_a_warp_has_as_much_to_go),
        cmocka_unit_test(lanes_that_meet_at_the_start_of_a_loop_begin_an_iteration),
        cmocka_unit_test(splits_of_lanes_that_run_in_turns_do_not_pile_up),
        cmocka_unit_test(an_iteration_of_instructions_without_slots_leaves_as_much_to_go),
        cmocka_unit_test(a_call_is_one_instruction),
        cmocka_unit_test(caws_takes_the_most_critical_cawa_stays_until_the_stall),
        cmocka_unit_test(equally_critical_warps_go_oldest_first),
        cmocka_unit_test(caws_by_progress_takes_the_warp_that_has_issued_least),
        cmocka_unit_test(cacp_further_sectors_of_a_load_are_no_hits),
        cmocka_unit_test(cacp_lines_nobody_has_used_go_first_the_oldest_before_others),
        cmocka_unit_test(cacp_lines_of_critical_warps_keep_their_part),
        cmocka_unit_test(cacp_a_line_starts_as_its_signature_was_when_it_arrived),
        cmocka_unit_test(cacp_hits_of_a_line_without_an_arrival_count_for_its_signature),
        cmocka_unit_test(cacp_a_line_that_no_event_has_reported_is_new),
        cmocka_unit_test(prefetch_aware_consecutive_warps_are_in_different_groups),
        cmocka_unit_test(prefetch_aware_as_few_groups_as_hold_all),
        cmocka_unit_test(prefetch_aware_groups_are_of_the_warps_that_a_kernel_has),
        cmocka_unit_test(prefetch_aware_the_second_miss_of_a_block_brings_the_rest),
        cmocka_unit_test(prefetch_aware_brings_all_sectors_of_a_line),
        cmocka_unit_test(apres_a_hit_brings_the_group_forward_until_each_has_issued),
        cmocka_unit_test(apres_a_miss_sends_the_group_behind),
        cmocka_unit_test(apres_a_stride_that_repeats_is_prefetched_for_the_group),
        cmocka_unit_test(apres_strides_are_shorter_than_a_line),
        cmocka_unit_test(tournament_each_scheduler_follows_another_policy_then_all_the_best),
        cmocka_unit_test(tournament_with_one_scheduler_takes_four_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
