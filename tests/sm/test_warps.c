/* Residency alone: which slots CTAs take, when a warp is drained, what holds it, and when it
 * retires. */
#include "sm/warps.h"
#include "stage.h"

/* A program of one kernel that exits at once, launched with a given number of warps per CTA. */
typedef struct Bench {
    Stage *stage;
    PtxFunction ptx;
    IsaFunction function;
    IsaProgram code;
    IsaLaunch launch;
    uint8_t parameters[64];
    SmCtaEnd ended;
    uint32_t ends;
} Bench;

static void hear_end(void *user, const SmCtaEnd *end) {
    Bench *bench = user;
    bench->ended = *end;
    bench->ends++;
}

static Bench *start(const char *settings, uint32_t warps) {
    Stage *stage = stage_new(settings, 8);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    bench->function = (IsaFunction){.ptx = &bench->ptx, .frame_bytes = 256, .pred_offset = 0};
    bench->code = (IsaProgram){.insts = stage->program,
                               .infos = stage->infos,
                               .functions = &bench->function,
                               .function_count = 1,
                               .reg_pool = stage->regs};
    bench->launch = (IsaLaunch){.program = &bench->code,
                                .function = &bench->function,
                                .grid = {100, 1, 1},
                                .block = {warps * 32, 1, 1},
                                .threads = warps * 32,
                                .warps = warps,
                                .ctas = 100,
                                .parameters = bench->parameters};
    stage_execute(stage, &bench->launch);
    stage->sm.listener = (SmListener){.cta_finished = hear_end, .user = bench};
    return bench;
}

static SmWarps *warps_of(Bench *bench) { return &bench->stage->sm.warps; }

static void test_ctas_take_the_first_free_slot_and_their_warps_rise_in_age(void **state) {
    (void)state;
    Bench *bench = start("", 3);
    SmContext *sm = &bench->stage->sm;
    assert_int_equal(warps_launch(sm, &bench->stage->grid, 40), 0x7);
    assert_int_equal(warps_launch(sm, &bench->stage->grid, 41), 0x38);
    assert_int_equal(sm->view.resident, 0x3F);
    assert_int_equal(sm->view.ctas, 0x3);
    for (uint32_t w = 0; w < 6; w++) {
        assert_int_equal(sm->view.warp[w].age, w);
        assert_int_equal(sm->warps.warp[w].cta_slot, w / 3);
        assert_int_equal(sm->warps.warp[w].index, w % 3);
        assert_int_equal(interpreter_warp(sm->warps.warp[w].handle)->slot, w);
        assert_int_equal(sm->cta_of_warp[w], 40 + w / 3);
    }
    for (int w = 0; w < 3; w++)
        warps_exited(sm, w);
    assert_int_equal(sm->warps.drained, 0x7);
    warps_retire(sm, 0x7);
    assert_int_equal(warps_launch(sm, &bench->stage->grid, 42), 0x7);
    assert_int_equal(sm->view.warp[0].age, 6);
    assert_int_equal(sm->cta_of_warp[2], 42);
    assert_int_equal(sm->counters.ctas_launched, 3);
    assert_int_equal(sm->counters.warps_launched, 9);
    assert_int_equal(sm->counters.ctas_per_sm_max, 2);
    stage_free(bench->stage);
}

static void test_a_cta_ends_with_its_last_warp(void **state) {
    (void)state;
    Bench *bench = start("", 2);
    SmContext *sm = &bench->stage->sm;
    sm->view.cycle = sm->cycle = 10;
    warps_launch(sm, &bench->stage->grid, 5);
    sm->cycle = 25;
    warps_exited(sm, 0);
    warps_retire(sm, 0x1);
    assert_int_equal(sm->view.resident, 0x2);
    assert_int_equal(sm->view.ctas, 0x1);
    assert_int_equal(bench->ends, 0);
    warps_exited(sm, 1);
    warps_retire(sm, 0x2);
    assert_int_equal(bench->ends, 1);
    assert_int_equal(bench->ended.cta, 5);
    assert_int_equal(bench->ended.start, 10);
    assert_int_equal(bench->ended.end, 25);
    assert_int_equal(bench->ended.sm, STAGE_SM);
    assert_int_equal(sm->view.ctas, 0);
    assert_int_equal(sm->counters.warps_finished, 2);
    assert_int_equal(sm->counters.ctas_finished, 1);
    const StageHeard *heard = stage_heard(bench->stage);
    assert_int_equal(heard->count[TYTO_EVENT_WARP_FINISHED], 2);
    assert_int_equal(heard->count[TYTO_EVENT_CTA_FINISHED], 1);
    assert_int_equal(heard->last.kind, TYTO_EVENT_CTA_FINISHED);
    stage_free(bench->stage);
}

/* ---- Under way ---- */

static void issue(Bench *bench, uint8_t warp, const SmMemory *memory, bool holds_warp) {
    warps_issued(warps_of(bench), warp);
    if (memory)
        warps_accesses(warps_of(bench), &(SmInst){.warp = warp, .holds_warp = holds_warp}, memory);
}

static bool is_drained(Bench *bench, int warp) {
    warps_settle(warps_of(bench), warp, false);
    return warps_of(bench)->drained >> warp & 1;
}

static void test_a_warp_is_drained_when_its_last_instruction_is_done(void **state) {
    (void)state;
    Bench *bench = start("", 2);
    warps_launch(&bench->stage->sm, &bench->stage->grid, 0);
    issue(bench, 1, NULL, false);
    issue(bench, 1, NULL, false);
    warps_exited(&bench->stage->sm, 0);
    warps_exited(&bench->stage->sm, 1);
    assert_int_equal(warps_of(bench)->drained, 0x1);
    warps_inst_done(warps_of(bench), &(SmInst){.warp = 1});
    assert_false(is_drained(bench, 1));
    warps_inst_done(warps_of(bench), &(SmInst){.warp = 1});
    assert_true(is_drained(bench, 1));
    stage_free(bench->stage);
}

static void test_stores_keep_a_warp_where_they_are_acknowledged(void **state) {
    (void)state;
    for (int acknowledged = 0; acknowledged < 2; acknowledged++) {
        Bench *bench =
            start(acknowledged ? "lsu.acknowledges_stores=yes" : "lsu.acknowledges_stores=no", 1);
        SmMemory store = {.count = 2, .path = SM_PATH_L1D, .is_store = true};
        warps_launch(&bench->stage->sm, &bench->stage->grid, 0);
        issue(bench, 0, &store, false);
        warps_exited(&bench->stage->sm, 0);
        warps_inst_done(warps_of(bench), &(SmInst){.warp = 0});
        assert_int_equal(is_drained(bench, 0), !acknowledged);
        warps_store_done(warps_of(bench), 0);
        assert_int_equal(is_drained(bench, 0), !acknowledged);
        warps_store_done(warps_of(bench), 0);
        assert_true(is_drained(bench, 0));
        store.path = SM_PATH_SHARED; /* leaves nothing to acknowledge */
        issue(bench, 0, &store, false);
        warps_exited(&bench->stage->sm, 0);
        assert_false(is_drained(bench, 0));
        warps_inst_done(warps_of(bench), &(SmInst){.warp = 0});
        assert_true(is_drained(bench, 0));
        stage_free(bench->stage);
    }
}

static void test_atomics_hold_their_warp_until_all_are_answered(void **state) {
    (void)state;
    Bench *bench = start("", 2);
    SmMemory atomic = {.count = 2, .path = SM_PATH_BYPASS, .is_atomic = true};
    warps_launch(&bench->stage->sm, &bench->stage->grid, 0);
    issue(bench, 1, &atomic, false);
    warps_exited(&bench->stage->sm, 1);
    assert_int_equal(warps_of(bench)->held, 0x2);
    warps_inst_done(warps_of(bench), &(SmInst){.warp = 1});
    assert_false(warps_settle(warps_of(bench), 1, false));
    warps_atomic_done(warps_of(bench), 1);
    assert_false(warps_settle(warps_of(bench), 1, false));
    assert_false(is_drained(bench, 1));
    warps_atomic_done(warps_of(bench), 1);
    assert_true(warps_settle(warps_of(bench), 1, false)); /* no longer held, and reported once */
    assert_int_equal(warps_of(bench)->held, 0);
    assert_true(is_drained(bench, 1));
    assert_false(warps_settle(warps_of(bench), 1, false));
    atomic.count = 0; /* no lane took part */
    issue(bench, 1, &atomic, false);
    assert_int_equal(warps_of(bench)->held, 0);
    stage_free(bench->stage);
}

static void test_atomics_may_leave_their_warp_to_issue(void **state) {
    (void)state;
    Bench *bench = start("lsu.atomics_block=no", 1);
    SmMemory atomic = {.count = 1, .path = SM_PATH_BYPASS, .is_atomic = true};
    warps_launch(&bench->stage->sm, &bench->stage->grid, 0);
    issue(bench, 0, &atomic, false);
    assert_int_equal(warps_of(bench)->held, 0);
    warps_fence(warps_of(bench), 0, true, false); /* only for its CTA */
    assert_int_equal(warps_of(bench)->held, 0);
    warps_fence(warps_of(bench), 0, false, false);
    assert_int_equal(warps_of(bench)->held, 1);
    assert_false(warps_settle(warps_of(bench), 0, false));
    warps_exited(&bench->stage->sm, 0);
    warps_inst_done(warps_of(bench), &(SmInst){.warp = 0});
    assert_false(is_drained(bench, 0));
    warps_atomic_done(warps_of(bench), 0);
    assert_true(warps_settle(warps_of(bench), 0, false));
    assert_true(is_drained(bench, 0));
    stage_free(bench->stage);
}

static void test_a_fence_waits_for_registers_and_beyond_the_cta_for_stores(void **state) {
    (void)state;
    for (int for_cta = 0; for_cta < 2; for_cta++) {
        Bench *bench = start("", 1);
        SmMemory store = {.count = 1, .path = SM_PATH_L1D, .is_store = true};
        warps_launch(&bench->stage->sm, &bench->stage->grid, 0);
        warps_fence(warps_of(bench), 0, for_cta, false); /* nothing is under way */
        assert_int_equal(warps_of(bench)->held, 0);
        issue(bench, 0, &store, false);
        warps_fence(warps_of(bench), 0, for_cta, true);
        assert_int_equal(warps_of(bench)->held, 1);
        assert_false(warps_settle(warps_of(bench), 0, true));
        assert_int_equal(warps_settle(warps_of(bench), 0, false), for_cta);
        warps_store_done(warps_of(bench), 0);
        assert_int_equal(warps_settle(warps_of(bench), 0, false), !for_cta);
        assert_int_equal(warps_of(bench)->held, 0);
        stage_free(bench->stage);
    }
}

/* The slot's first warp does not wait for its stores. The slot's next warp receives their
 * acknowledgements. */
static void test_acknowledgements_that_outlive_a_warp_come_to_the_next_one(void **state) {
    (void)state;
    Bench *bench = start("lsu.acknowledges_stores=no", 1);
    SmContext *sm = &bench->stage->sm;
    SmMemory store = {.count = 2, .path = SM_PATH_L1D, .is_store = true};
    warps_launch(sm, &bench->stage->grid, 0);
    issue(bench, 0, &store, false);
    warps_exited(sm, 0);
    warps_inst_done(warps_of(bench), &(SmInst){.warp = 0});
    assert_true(is_drained(bench, 0));
    warps_retire(sm, 0x1);
    assert_int_equal(warps_launch(sm, &bench->stage->grid, 1), 0x1);
    warps_store_done(warps_of(bench), 0);
    warps_fence(warps_of(bench), 0, false, false); /* one store is still under way */
    assert_int_equal(warps_of(bench)->held, 0x1);
    warps_store_done(warps_of(bench), 0);
    assert_true(warps_settle(warps_of(bench), 0, false));
    warps_fence(warps_of(bench), 0, false, false); /* nothing is under way */
    assert_int_equal(warps_of(bench)->held, 0);
    stage_free(bench->stage);
}

static void test_a_load_that_holds_its_warp_frees_it_when_done(void **state) {
    (void)state;
    Bench *bench = start("", 1);
    SmMemory load = {.count = 1, .path = SM_PATH_L1D};
    warps_launch(&bench->stage->sm, &bench->stage->grid, 0);
    issue(bench, 0, &load, true);
    assert_int_equal(warps_of(bench)->held, 1);
    assert_true(warps_inst_done(warps_of(bench), &(SmInst){.warp = 0, .holds_warp = true}));
    assert_int_equal(warps_of(bench)->held, 0);
    stage_free(bench->stage);
}

/* ---- Barriers ---- */

static void test_warps_arrive_at_a_barrier_and_are_released_together(void **state) {
    (void)state;
    Bench *bench = start("", 2);
    SmContext *sm = &bench->stage->sm;
    const StageHeard *heard = stage_heard(bench->stage);
    warps_launch(sm, &bench->stage->grid, 0);
    warps_launch(sm, &bench->stage->grid, 1);
    IsaCta *cta = &bench->stage->ctas[1];
    cta->waiting = 0x2;
    warps_update_barriers(sm, 3);
    assert_int_equal(sm->view.at_barrier, 0x8);
    assert_int_equal(heard->count[TYTO_EVENT_WARP_AT_BARRIER], 1);
    assert_int_equal(heard->last.warp, 3);
    cta->waiting = 0; /* the other one has arrived */
    warps_update_barriers(sm, 2);
    assert_int_equal(sm->view.at_barrier, 0);
    assert_int_equal(heard->count[TYTO_EVENT_WARP_AT_BARRIER], 1);
    assert_int_equal(heard->count[TYTO_EVENT_BARRIER_RELEASED], 1);
    assert_int_equal(heard->last.warps, 0x8);
    assert_int_equal(heard->last.cta_slot, 1);
    stage_free(bench->stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ctas_take_the_first_free_slot_and_their_warps_rise_in_age),
        cmocka_unit_test(test_a_cta_ends_with_its_last_warp),
        cmocka_unit_test(test_a_warp_is_drained_when_its_last_instruction_is_done),
        cmocka_unit_test(test_stores_keep_a_warp_where_they_are_acknowledged),
        cmocka_unit_test(test_atomics_hold_their_warp_until_all_are_answered),
        cmocka_unit_test(test_atomics_may_leave_their_warp_to_issue),
        cmocka_unit_test(test_a_fence_waits_for_registers_and_beyond_the_cta_for_stores),
        cmocka_unit_test(test_acknowledgements_that_outlive_a_warp_come_to_the_next_one),
        cmocka_unit_test(test_a_load_that_holds_its_warp_frees_it_when_done),
        cmocka_unit_test(test_warps_arrive_at_a_barrier_and_are_released_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
