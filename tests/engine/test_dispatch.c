/* CTA dispatch to SMs that only record what they receive: the order of round-robin, the number of
 * CTAs per cycle, limits, room next to other grids, and a CTA scheduler that chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "engine/dispatch.h"
#include "isa/cluster.h"

enum { SMS = 5, MOST = 64 };

/* ---- SMs that record what they receive (linked in place of sm.c's) ---- */

void __wrap_sm_launch_cta(Sm *sm, SmGrid *grid, uint64_t cta, uint64_t cycle);
void __wrap_sm_last_cta(Sm *sm, SmGrid *grid, uint64_t cycle);
bool __wrap_sm_has_room(const Sm *sm, const SmGrid *grid);

static char units[SMS], handles[SMS]; /* their addresses serve as SMs and grids */

static struct {
    int sm[MOST]; /* SM of each CTA, in order of dispatch */
    uint64_t cycle[MOST];
    int count;
    int told_last; /* number of SMs notified that no CTA is left */
    bool is_full[SMS];
    int asked; /* number of queries whether an SM has room */
} noted;

void __wrap_sm_launch_cta(Sm *sm, SmGrid *grid, uint64_t cta, uint64_t cycle) {
    const int index = (int)((char *)sm - units);
    assert_ptr_equal(grid, &handles[index]);
    assert_int_equal(cta, noted.count);
    noted.sm[noted.count] = index;
    noted.cycle[noted.count++] = cycle;
}

void __wrap_sm_last_cta(Sm *sm, SmGrid *grid, uint64_t cycle) {
    (void)cycle;
    assert_ptr_equal(grid, &handles[(char *)sm - units]);
    noted.told_last++;
}

bool __wrap_sm_has_room(const Sm *sm, const SmGrid *grid) {
    (void)grid;
    noted.asked++;
    return !noted.is_full[(const char *)sm - units];
}

/* ---- A dispatcher ---- */

typedef struct Bench {
    CtaConfig config;
    Dispatch dispatch;
    Sm *sms[SMS];
    SmGrid *grids[SMS];
} Bench;

static void begin(Bench *bench, CtaConfig config, const CtaSched *sched) {
    memset(&noted, 0, sizeof noted);
    bench->config = config;
    for (int i = 0; i < SMS; i++) {
        bench->sms[i] = (Sm *)(void *)&units[i];
        bench->grids[i] = (SmGrid *)(void *)&handles[i];
    }
    const TytoGridView sizes = {.sms = SMS, .l1d_lines = 128, .l1d_ways = 4};
    dispatch_init(&bench->dispatch, &bench->config, sched, &sizes, NULL);
}

/* A grid that starts at cycle 100. An SM holds at most `limit` of its CTAs. */
static void start(Bench *bench, uint64_t ctas, uint32_t limit, uint32_t last, bool shares_sms) {
    bench->dispatch.limit = limit;
    dispatch_start(&bench->dispatch,
                   &(DispatchGrid){.ctas = ctas,
                                   .sms = bench->sms,
                                   .grid = bench->grids,
                                   .warps = 1,
                                   .given = 100,
                                   .last = last,
                                   .shares_sms = shares_sms},
                   100);
}

static void step(Bench *bench, uint64_t cycle) {
    assert_true(dispatch_step(&bench->dispatch, cycle));
}

static void finish(Bench *bench, uint32_t sm, uint64_t cycle) {
    static const Counters counters;
    dispatch_finished(&bench->dispatch, sm, 0, &counters, 0, cycle);
}

static void assert_order(const int *sms, int count) {
    assert_int_equal(noted.count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(noted.sm[i], sms[i]);
}

/* ---- Round-robin ---- */

/* CTA i goes to SM i modulo the number of SMs while all have room, starting with SM 0. */
static void ctas_go_round_from_the_first_sm(void **state) {
    (void)state;
    Bench bench;
    begin(&bench, (CtaConfig){.per_sm_per_cycle = 1}, NULL);
    start(&bench, 8, 2, SMS - 1, false);
    step(&bench, 100);
    assert_order((int[]){0, 1, 2, 3, 4}, 5);
    step(&bench, 101);
    assert_order((int[]){0, 1, 2, 3, 4, 0, 1, 2}, 8);
    dispatch_free(&bench.dispatch);
}

/* A grid that starts while others run begins after the SM that received the last CTA. */
static void ctas_go_on_behind_the_last_sm(void **state) {
    (void)state;
    Bench bench;
    begin(&bench, (CtaConfig){.per_sm_per_cycle = 1}, NULL);
    start(&bench, 4, 2, 2, true);
    step(&bench, 100);
    assert_order((int[]){3, 4, 0, 1}, 4);
    dispatch_free(&bench.dispatch);
}

static void a_place_that_is_free_again_is_taken(void **state) {
    (void)state;
    Bench bench;
    begin(&bench, (CtaConfig){.per_sm_per_cycle = 1}, NULL);
    start(&bench, 7, 1, SMS - 1, false);
    step(&bench, 100);
    step(&bench, 101);
    assert_int_equal(noted.count, SMS);
    finish(&bench, 3, 150);
    step(&bench, 150);
    assert_order((int[]){0, 1, 2, 3, 4, 3}, 6);
    assert_false(bench.dispatch.is_over);
    finish(&bench, 1, 160);
    step(&bench, 160);
    assert_order((int[]){0, 1, 2, 3, 4, 3, 1}, 7);
    assert_true(bench.dispatch.is_over);
    dispatch_free(&bench.dispatch);
}

/* ---- Clusters ---- */

/* SMs 0, 1 and 4 are one group, 2 and 3 the other. */
static void start_clusters(Bench *bench, const IsaLaunch *launch, uint32_t limit) {
    begin(bench, (CtaConfig){.per_sm_per_cycle = 1}, NULL);
    bench->dispatch.gpcs = 2;
    bench->dispatch.limit = limit;
    dispatch_start(&bench->dispatch,
                   &(DispatchGrid){.ctas = launch->ctas,
                                   .sms = bench->sms,
                                   .grid = bench->grids,
                                   .clusters = launch,
                                   .warps = 1,
                                   .given = 100,
                                   .last = SMS - 1},
                   100);
}

static void a_cluster_goes_out_whole_to_one_group(void **state) {
    (void)state;
    const IsaLaunch launch = {
        .grid = {12, 1, 1}, .cluster = {3, 1, 1}, .cluster_ctas = 3, .ctas = 12};
    Bench bench;
    start_clusters(&bench, &launch, 1);
    step(&bench, 100); /* the group of two SMs has no room for three CTAs */
    assert_order((int[]){0, 1, 4}, 3);
    step(&bench, 101);
    assert_int_equal(noted.count, 3);
    finish(&bench, 1, 102);
    step(&bench, 103); /* the other group has no room either: part of a cluster does not start */
    assert_int_equal(noted.count, 3);
    finish(&bench, 0, 104);
    finish(&bench, 4, 104);
    step(&bench, 105);
    assert_order((int[]){0, 1, 4, 0, 1, 4}, 6);
    dispatch_free(&bench.dispatch);
}

static void groups_take_turns_and_their_sms_share(void **state) {
    (void)state;
    const IsaLaunch launch = {
        .grid = {16, 1, 1}, .cluster = {4, 1, 1}, .cluster_ctas = 4, .ctas = 16};
    Bench bench;
    start_clusters(&bench, &launch, 2);
    step(&bench, 100);
    /* starts in the group after that of the last CTA and alternates, each time after the SM that
     * received a CTA last */
    assert_order((int[]){2, 3, 2, 3, 4, 0, 1, 4}, 8);
    dispatch_free(&bench.dispatch);
}

/* Clusters of 2 x 2 in a grid of 4 x 2: linear indices of their CTAs. */
static void the_ctas_of_a_cluster_are_neighbours(void **state) {
    (void)state;
    const IsaLaunch launch = {
        .grid = {4, 2, 1}, .cluster = {2, 2, 1}, .cluster_ctas = 4, .ctas = 8};
    static const uint64_t order[] = {0, 1, 4, 5, 2, 3, 6, 7};
    for (uint64_t place = 0; place < 8; place++)
        assert_int_equal(isa_cluster_order(&launch, place), order[place]);
}

/* ---- How many, and when ---- */

static void a_cycle_sends_as_many_as_the_machine_does(void **state) {
    (void)state;
    for (uint32_t per_cycle = 1; per_cycle <= 4; per_cycle++) {
        Bench bench;
        begin(&bench, (CtaConfig){.per_cycle = per_cycle, .per_sm_per_cycle = 1}, NULL);
        start(&bench, 20, 8, SMS - 1, false);
        for (uint64_t cycle = 100; cycle < 104; cycle++) {
            step(&bench, cycle);
            assert_int_equal(noted.count, per_cycle * (cycle - 99));
        }
        for (int i = 0; i < noted.count; i++)
            assert_int_equal(noted.sm[i], i % SMS);
        dispatch_free(&bench.dispatch);
    }
}

static void an_sm_gets_as_many_in_a_cycle_as_the_machine_gives(void **state) {
    (void)state;
    Bench bench;
    begin(&bench, (CtaConfig){.per_sm_per_cycle = 2}, NULL);
    start(&bench, 20, 3, SMS - 1, false);
    step(&bench, 100);
    assert_order((int[]){0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, 10);
    step(&bench, 101);
    assert_order((int[]){0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 1, 2, 3, 4}, 15);
    step(&bench, 102);
    assert_int_equal(noted.count, 15);
    dispatch_free(&bench.dispatch);
}

/* Legal at the launch latency, and not one cycle earlier. */
static void the_first_cta_waits_for_the_launch_latency(void **state) {
    (void)state;
    Bench bench;
    begin(&bench, (CtaConfig){.per_sm_per_cycle = 1, .launch_cycles = 40}, NULL);
    start(&bench, 1, 1, SMS - 1, false);
    step(&bench, 139);
    assert_int_equal(noted.count, 0);
    step(&bench, 140);
    assert_int_equal(noted.count, 1);
    assert_int_equal(noted.cycle[0], 140);
    dispatch_free(&bench.dispatch);
}

static void the_sms_hear_once_that_no_cta_is_left(void **state) {
    (void)state;
    Bench bench;
    begin(&bench, (CtaConfig){.per_sm_per_cycle = 1}, NULL);
    start(&bench, SMS + 1, 2, SMS - 1, false);
    step(&bench, 100);
    assert_int_equal(noted.told_last, 0);
    step(&bench, 101);
    assert_int_equal(noted.told_last, SMS);
    step(&bench, 102);
    assert_int_equal(noted.told_last, SMS);
    dispatch_free(&bench.dispatch);
}

static void a_small_grid_is_dealt_out_evenly_where_the_machine_does_so(void **state) {
    (void)state;
    Bench bench;
    begin(&bench, (CtaConfig){.spreads_small_grids = true}, NULL);
    assert_int_equal(dispatch_limit(&bench.dispatch, 6, 8), 2);
    assert_int_equal(dispatch_limit(&bench.dispatch, 5, 8), 1);
    assert_int_equal(dispatch_limit(&bench.dispatch, 100, 8), 8);
    bench.config.spreads_small_grids = false;
    assert_int_equal(dispatch_limit(&bench.dispatch, 6, 8), 8);
    dispatch_free(&bench.dispatch);
}

/* ---- Room ---- */

/* An SM is asked only if other grids may have taken room that its own count does not show. */
static void sms_are_asked_for_room_where_other_grids_are(void **state) {
    (void)state;
    Bench bench;
    begin(&bench, (CtaConfig){.per_sm_per_cycle = 1}, NULL);
    start(&bench, 20, 1, SMS - 1, true);
    noted.is_full[1] = noted.is_full[2] = true;
    step(&bench, 100);
    assert_order((int[]){0, 3, 4}, 3);
    assert_true(noted.asked > 0);
    noted.is_full[2] = false;
    step(&bench, 101);
    assert_order((int[]){0, 3, 4, 2}, 4);
    dispatch_free(&bench.dispatch);
    begin(&bench, (CtaConfig){.per_sm_per_cycle = 1}, NULL);
    start(&bench, 20, 1, SMS - 1, false);
    step(&bench, 100);
    assert_int_equal(noted.asked, 0);
    dispatch_free(&bench.dispatch);
}

/* ---- A CTA scheduler that chooses ---- */

static int choose_last(void *state, const TytoGridView *view, const TytoSmSet *room) {
    (void)state;
    for (int sm = (int)view->sms - 1; sm >= 0; sm--)
        if (tyto_sm_has(room, sm)) return sm;
    return TYTO_NO_SM;
}

static int choose_none(void *state, const TytoGridView *view, const TytoSmSet *room) {
    (void)state, (void)room;
    return (int)view->sms;
}

static CtaSched sched_of(const TytoCtaPolicy *policy) {
    return (CtaSched){.policy = policy, .text = "chosen"};
}

static void the_cta_scheduler_chooses_among_sms_with_room(void **state) {
    (void)state;
    static const TytoCtaPolicy policy = {.name = "last", .choose = choose_last};
    const CtaSched sched = sched_of(&policy);
    Bench bench;
    begin(&bench, (CtaConfig){.per_cycle = 3, .per_sm_per_cycle = 1}, &sched);
    start(&bench, 20, 1, SMS - 1, false);
    step(&bench, 100);
    assert_order((int[]){4, 3, 2}, 3);
    step(&bench, 101);
    assert_order((int[]){4, 3, 2, 1, 0}, 5);
    dispatch_free(&bench.dispatch);
}

static void a_choice_that_is_no_sm_is_a_fault(void **state) {
    (void)state;
    static const TytoCtaPolicy policy = {.name = "none", .choose = choose_none};
    const CtaSched sched = sched_of(&policy);
    Bench bench;
    begin(&bench, (CtaConfig){.per_sm_per_cycle = 1}, &sched);
    start(&bench, 20, 1, SMS - 1, false);
    assert_false(dispatch_step(&bench.dispatch, 100));
    assert_int_equal(bench.dispatch.fault.code, ISA_FAULT_POLICY);
    assert_int_equal(noted.count, 0);
    dispatch_free(&bench.dispatch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_go_round_from_the_first_sm),
        cmocka_unit_test(ctas_go_on_behind_the_last_sm),
        cmocka_unit_test(a_place_that_is_free_again_is_taken),
        cmocka_unit_test(a_cluster_goes_out_whole_to_one_group),
        cmocka_unit_test(groups_take_turns_and_their_sms_share),
        cmocka_unit_test(the_ctas_of_a_cluster_are_neighbours),
        cmocka_unit_test(a_cycle_sends_as_many_as_the_machine_does),
        cmocka_unit_test(an_sm_gets_as_many_in_a_cycle_as_the_machine_gives),
        cmocka_unit_test(the_first_cta_waits_for_the_launch_latency),
        cmocka_unit_test(the_sms_hear_once_that_no_cta_is_left),
        cmocka_unit_test(a_small_grid_is_dealt_out_evenly_where_the_machine_does_so),
        cmocka_unit_test(sms_are_asked_for_room_where_other_grids_are),
        cmocka_unit_test(the_cta_scheduler_chooses_among_sms_with_room),
        cmocka_unit_test(a_choice_that_is_no_sm_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
