/* CTA schedulers lcs and bcs, step by step on a fabricated grid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/cta_agent.h"

enum { SMS = 3, SLOTS = 4 };

/* A grid whose CTAs are dispatched and finish as the test says. */
typedef struct Grid {
    CtaSched *sched;
    CtaAgent agent;
    TytoGridView view;
    uint32_t resident[SMS];
    uint64_t instructions[SLOTS]; /* of the CTAs on the SM in question; 0: no CTA */
} Grid;

static bool answer_cta(void *unit, uint32_t sm, uint32_t cta_slot, TytoCtaProgress *progress) {
    (void)sm;
    const Grid *grid = unit;
    progress->instructions = grid->instructions[cta_slot];
    return progress->instructions != 0;
}

static const TytoGridAnswers ANSWERS = {.size = sizeof ANSWERS, .cta = answer_cta};

static void grid_new(Grid *grid, const char *policy, uint64_t ctas, uint32_t capacity) {
    Diag *diag = diag_new();
    *grid = (Grid){.sched = cta_sched_new(policy, diag)};
    diag_free(diag);
    assert_non_null(grid->sched);
    grid->view = (TytoGridView){.size = sizeof grid->view,
                                .ctas = ctas,
                                .sms = SMS,
                                .capacity = capacity,
                                .cta_slots = SLOTS,
                                .resident = grid->resident,
                                .answers = &ANSWERS,
                                .unit = grid};
    cta_agent_init(&grid->agent, grid->sched, &grid->view, NULL);
    cta_agent_start(&grid->agent, &grid->view);
}

static void grid_free(Grid *grid) {
    cta_agent_free(&grid->agent);
    cta_sched_free(grid->sched);
}

static uint32_t limit_of(Grid *grid, uint32_t sm) {
    return cta_agent_limit(&grid->agent, &grid->view, sm);
}

static void finish_one(Grid *grid, uint32_t sm, const uint64_t instructions[SLOTS]) {
    const TytoSmMeasurement measured = {.size = sizeof measured};
    memcpy(grid->instructions, instructions, sizeof grid->instructions);
    cta_agent_finished(&grid->agent, &grid->view, sm, &measured);
}

/* ---- lcs ---- */

/* 1000 + 600 + 250 + 50 instructions: 1.9 times what the first CTA has issued. */
static void lcs_limits_an_sm_to_the_ctas_that_it_had_use_for(void **unused) {
    (void)unused;
    static const struct {
        const char *policy;
        uint64_t instructions[SLOTS];
        uint32_t limit;
    } rows[] = {{"lcs", {1000, 600, 250, 50}, 2},           {"lcs", {1000, 700, 250, 50}, 2},
                {"lcs", {1000, 700, 250, 51}, 3},           {"lcs", {50, 1000, 250, 600}, 2},
                {"lcs", {1000, 1000, 1000, 1000}, 4},       {"lcs", {1000, 0, 0, 0}, 1},
                {"lcs:round=down", {1000, 600, 250, 50}, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Grid grid;
        grid_new(&grid, rows[i].policy, 100, 4);
        assert_int_equal(limit_of(&grid, 1), 4);
        finish_one(&grid, 1, rows[i].instructions);
        assert_int_equal(limit_of(&grid, 1), rows[i].limit);
        assert_int_equal(limit_of(&grid, 0), 4); /* each SM decides for itself */
        grid_free(&grid);
    }
}

static void lcs_decides_once(void **unused) {
    (void)unused;
    Grid grid;
    grid_new(&grid, "lcs", 100, 4);
    finish_one(&grid, 0, (const uint64_t[SLOTS]){1000, 10, 10, 10});
    assert_int_equal(limit_of(&grid, 0), 2);
    finish_one(&grid, 0, (const uint64_t[SLOTS]){1000, 1000, 1000, 1000});
    assert_int_equal(limit_of(&grid, 0), 2);
    grid_free(&grid);
}

/* ---- bcs ---- */

/* Dispatches the next CTA when the SMs in `room` (one bit each) can take one; returns its SM. */
static int dispatch(Grid *grid, uint64_t room) {
    TytoSmSet set = {{room}};
    char text[200] = "";
    int sm;
    if (!cta_agent_choose(&grid->agent, &grid->view, &set, &sm, text, sizeof text))
        fail_msg("%s", text);
    if (sm == TYTO_NO_SM) return sm;
    grid->view.cta = grid->view.next++;
    grid->resident[sm]++;
    cta_agent_dispatched(&grid->agent, &grid->view, (uint32_t)sm);
    return sm;
}

static void bcs_sends_two_consecutive_ctas_to_an_sm(void **unused) {
    (void)unused;
    static const int sms[] = {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2};
    Grid grid;
    grid_new(&grid, "bcs", 100, 4);
    for (size_t i = 0; i < sizeof sms / sizeof *sms; i++)
        assert_int_equal(dispatch(&grid, 7), sms[i]);
    grid_free(&grid);
}

static void bcs_waits_until_an_sm_has_room_for_a_block(void **unused) {
    (void)unused;
    Grid grid;
    grid_new(&grid, "bcs", 13, 4);
    for (int i = 0; i < 12; i++)
        dispatch(&grid, 7);
    grid.view.ctas = 100;
    grid.resident[1] = 3;
    grid.resident[2] = 3;
    assert_int_equal(dispatch(&grid, 6), TYTO_NO_SM);
    grid.resident[2] = 2;
    assert_int_equal(dispatch(&grid, 6), 2);
    assert_int_equal(dispatch(&grid, 2), TYTO_NO_SM); /* the block has begun on SM 2 */
    assert_int_equal(dispatch(&grid, 6), 2);
    grid_free(&grid);
}

static void bcs_the_rest_of_a_grid_is_a_shorter_block(void **unused) {
    (void)unused;
    Grid grid;
    grid_new(&grid, "bcs:block=3", 4, 4);
    for (int i = 0; i < 3; i++)
        assert_int_equal(dispatch(&grid, 7), 0);
    grid.resident[1] = grid.resident[2] = 3; /* no room for three, but for the one that is left */
    assert_int_equal(dispatch(&grid, 6), 1);
    grid_free(&grid);
}

static void bcs_a_block_is_no_larger_than_an_sm(void **unused) {
    (void)unused;
    Grid grid;
    grid_new(&grid, "bcs:block=8", 100, 2);
    assert_int_equal(dispatch(&grid, 7), 0);
    assert_int_equal(dispatch(&grid, 7), 0);
    assert_int_equal(dispatch(&grid, 6), 1);
    grid_free(&grid);
}

/* The dispatcher reports CTAs of clusters, without asking for an SM. */
static void bcs_ctas_of_clusters_belong_to_no_block(void **unused) {
    (void)unused;
    Grid grid;
    grid_new(&grid, "bcs", 100, 4);
    assert_int_equal(dispatch(&grid, 7), 0);
    for (uint32_t sm = 0; sm < 2; sm++) {
        grid.view.cta = grid.view.next++;
        grid.resident[sm]++;
        cta_agent_dispatched(&grid.agent, &grid.view, sm);
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(dispatch(&grid, 7), 1 + i / 2);
    grid_free(&grid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lcs_limits_an_sm_to_the_ctas_that_it_had_use_for),
        cmocka_unit_test(lcs_decides_once),
        cmocka_unit_test(bcs_sends_two_consecutive_ctas_to_an_sm),
        cmocka_unit_test(bcs_waits_until_an_sm_has_room_for_a_block),
        cmocka_unit_test(bcs_the_rest_of_a_grid_is_a_shorter_block),
        cmocka_unit_test(bcs_a_block_is_no_larger_than_an_sm),
        cmocka_unit_test(bcs_ctas_of_clusters_belong_to_no_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
