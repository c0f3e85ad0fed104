/* Fetch and decode alone: when a buffer is filled, for which warp, and with how many
 * instructions. */
#include "sm/classic/fetch.h"
#include "stage.h"

typedef struct Bench {
    Stage *stage;
    SmPort port;
    SmFetch fetch;
} Bench;

/* Warps 0 .. count-1 are resident and start at pc 0. */
static Bench *start(const char *settings, int count) {
    Stage *stage = stage_new(settings, 64);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    fetch_init(&bench->fetch, &stage->sm, &bench->port);
    for (int w = 0; w < count; w++) {
        stage->sm.view.resident |= UINT64_C(1) << w;
        fetch_start_warp(&bench->fetch, w, 0, 0);
    }
    return bench;
}

/* Puts the line of an instruction into the L1I. */
static void warm(Bench *bench, uint32_t pc) {
    const SmFetchConfig *config = bench->fetch.config;
    uint64_t line = bench->fetch.l1i.config->line_bytes;
    uint64_t address = config->code_base + (uint64_t)pc * config->instruction_bytes;
    read_cache_fill(&bench->fetch.l1i, address & ~(line - 1));
}

static uint64_t step(Bench *bench) {
    stage_cycle(bench->stage);
    fetch_decode(&bench->fetch, &bench->stage->sm);
    bool has_work = fetch_has_work(&bench->fetch, &bench->stage->sm, &bench->port);
    if (!has_work) return UINT64_MAX;
    fetch_do_step(&bench->fetch, &bench->stage->sm, &bench->port);
    return fetch_scanned(&bench->fetch);
}

static const SmBuffer *buffer(const Bench *bench, int warp) { return &bench->fetch.buffer[warp]; }

/* Consumes the warp's buffered instructions, continuing in order. */
static void use_up(Bench *bench, int warp) {
    while (buffer(bench, warp)->count) {
        uint32_t pc = buffer(bench, warp)->pc;
        fetch_took(&bench->fetch, warp, pc, pc + 1, false);
    }
}

static void test_a_fetch_that_hits_fills_the_buffer_when_it_is_decoded(void **state) {
    (void)state;
    static const char *const settings[] = {"fetch.decode_latency=1", "fetch.decode_latency=4"};
    static const uint32_t latency[] = {1, 4};
    for (int i = 0; i < 2; i++) {
        Bench *bench = start(settings[i], 1);
        warm(bench, 0);
        step(bench);
        for (uint32_t cycle = 1; cycle < latency[i]; cycle++) {
            step(bench);
            assert_true(stage_is_silent(bench->stage));
            assert_int_equal(buffer(bench, 0)->count, 0);
        }
        step(bench);
        assert_true(stage_has_fetched(bench->stage, 0));
        assert_int_equal(buffer(bench, 0)->count, 2);
        assert_int_equal(buffer(bench, 0)->pc, 0);
        assert_int_equal(bench->stage->sm.counters.fetches, 1);
        assert_false(fetch_has_work(&bench->fetch, &bench->stage->sm, &bench->port));
        stage_free(bench->stage);
    }
}

static void test_warps_take_turns_and_the_scan_tells_whom_it_passed(void **state) {
    (void)state;
    Bench *bench = start("", 4);
    warm(bench, 0);
    /* Slot 0 counts as the last one fetched for. A fetch takes one cycle, and decoding happens in
     * the next. */
    static const struct {
        uint64_t passed;
        int fetched; /* warp whose buffer is filled in the cycle; -1: none */
    } rows[] = {{0x2, -1}, {0x4, 1}, {0x8, 2}, {~UINT64_C(0xE), 3}, {UINT64_MAX, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(step(bench), rows[i].passed);
        if (rows[i].fetched >= 0) assert_true(stage_has_fetched(bench->stage, rows[i].fetched));
    }
    stage_free(bench->stage);
}

static void test_a_fetch_ends_with_its_line(void **state) {
    (void)state;
    Bench *bench =
        start("fetch.width=8 fetch.buffer=8 fetch.instruction=8B fetch.crosses_lines=no", 1);
    uint32_t in_line = bench->fetch.l1i.config->line_bytes / 8;
    warm(bench, 0);
    warm(bench, in_line);
    fetch_start_warp(&bench->fetch, 0, 0, in_line - 3);
    step(bench);
    step(bench);
    assert_int_equal(buffer(bench, 0)->count, 3);
    use_up(bench, 0);
    step(bench);
    step(bench);
    assert_int_equal(buffer(bench, 0)->pc, in_line);
    assert_int_equal(buffer(bench, 0)->count, 8);
    stage_free(bench->stage);
}

static void test_a_fetch_may_bring_what_is_behind_its_line(void **state) {
    (void)state;
    Bench *bench = start("fetch.width=2 fetch.buffer=2 fetch.crosses_lines=yes", 1);
    uint32_t in_line = bench->fetch.l1i.config->line_bytes / bench->fetch.config->instruction_bytes;
    warm(bench, 0);
    fetch_start_warp(&bench->fetch, 0, 0, in_line - 1);
    step(bench);
    step(bench);
    assert_int_equal(buffer(bench, 0)->count, 2);
    stage_free(bench->stage);
}

static void test_a_buffer_is_refilled_when_empty_or_when_it_has_room(void **state) {
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        Bench *bench = start(waits ? "fetch.width=2 fetch.buffer=2 fetch.waits_for_empty=yes"
                                   : "fetch.width=2 fetch.buffer=2 fetch.waits_for_empty=no",
                             1);
        warm(bench, 0);
        step(bench);
        step(bench);
        assert_int_equal(bench->fetch.empty, 0);
        fetch_took(&bench->fetch, 0, 0, 1, false);
        assert_int_equal(bench->fetch.empty, !waits);
        assert_int_equal(fetch_has_work(&bench->fetch, &bench->stage->sm, &bench->port), !waits);
        step(bench);
        step(bench);
        assert_int_equal(buffer(bench, 0)->count, waits ? 1 : 2);
        assert_int_equal(buffer(bench, 0)->pc, 1);
        stage_free(bench->stage);
    }
}

static void test_a_miss_waits_for_its_line_and_uses_the_cycles_fetch(void **state) {
    (void)state;
    Bench *bench = start("", 2);
    Stage *stage = bench->stage;
    step(bench); /* warp 1 misses, */
    assert_int_equal(bench->fetch.waits, 0x2);
    step(bench); /* warp 0 joins */
    assert_int_equal(bench->fetch.waits, 0x3);
    assert_int_equal(stage->sm.counters.l1i_misses, 2);
    stage_move(stage);
    MemRequest *request = stage_sent(stage, &bench->port);
    assert_int_equal(request->client, MEM_CLIENT_L1I);
    assert_null(stage_sent(stage, &bench->port));
    for (int i = 0; i < 5; i++) {
        step(bench);
        assert_true(stage_is_silent(stage));
        assert_null(stage_sent(stage, &bench->port));
    }
    fetch_line_arrived(&bench->fetch, request);
    assert_true(fetch_has_work(&bench->fetch, &stage->sm, &bench->port));
    assert_int_equal(step(bench), 0); /* the line has returned: no scan */
    step(bench);
    assert_true(stage_has_fetched(stage, 1));
    assert_int_equal(bench->fetch.waits, 0);
    step(bench);
    assert_true(stage_has_fetched(stage, 0));
    assert_int_equal(stage->sm.counters.fetches, 2);
    stage_free(stage);
}

/* The scan continues meanwhile. Each cycle one warp stops waiting; it finds the line or not. */
static void test_a_warp_whose_line_has_come_asks_for_it_again(void **state) {
    (void)state;
    for (int stays = 0; stays < 2; stays++) {
        Bench *bench = start("fetch.asks_again=yes", 3);
        Stage *stage = bench->stage;
        fetch_start_warp(&bench->fetch, 2, 0, 100);
        warm(bench, 100);
        step(bench); /* warp 1 misses, */
        step(bench); /* warp 2 hits, */
        step(bench); /* which is decoded, and warp 0 joins warp 1 */
        assert_int_equal(bench->fetch.waits, 0x3);
        stage_move(stage);
        fetch_line_arrived(&bench->fetch, stage_sent(stage, &bench->port));
        use_up(bench, 2);
        step(bench); /* warp 2 again */
        assert_int_equal(bench->fetch.waits, 0x1);
        if (!stays)
            for (uint32_t line = 1; line <= 64; line++)
                warm(bench, 16 * line);
        step(bench); /* but not yet warp 0, which has only now stopped waiting */
        assert_int_equal(bench->fetch.waits, stays ? 0 : 0x2);
        assert_int_equal(stage->sm.counters.l1i_misses, stays ? 2 : 3);
        stage_free(stage);
    }
}

static void test_a_branch_drops_what_is_buffered_and_what_is_being_decoded(void **state) {
    (void)state;
    Bench *bench = start("fetch.decode_latency=2", 1);
    warm(bench, 0);
    warm(bench, 100);
    step(bench);
    fetch_flush(&bench->fetch, 0, 100); /* before decoding */
    step(bench);
    step(bench);
    assert_true(stage_is_silent(bench->stage));
    assert_int_equal(bench->fetch.redirected, 1);
    step(bench);
    assert_true(stage_has_fetched(bench->stage, 0));
    assert_int_equal(buffer(bench, 0)->pc, 100);
    assert_int_equal(bench->fetch.redirected, 0);
    fetch_flush(&bench->fetch, 0, 4); /* after decoding */
    assert_int_equal(buffer(bench, 0)->count, 0);
    assert_int_equal(buffer(bench, 0)->fetch_pc, 4);
    assert_int_equal(bench->fetch.empty, 1);
    stage_free(bench->stage);
}

static void test_the_last_instruction_of_a_buffer_tells_of_a_taken_branch(void **state) {
    (void)state;
    Bench *bench = start("", 1);
    warm(bench, 0);
    step(bench);
    step(bench);
    fetch_took(&bench->fetch, 0, 0, 50, false); /* the second is stale; issue detects this */
    assert_int_equal(bench->fetch.redirected, 0);
    fetch_took(&bench->fetch, 0, 1, 50, false);
    assert_int_equal(bench->fetch.redirected, 1);
    fetch_start_warp(&bench->fetch, 0, 0, 0);
    bench->fetch.redirected = 0;
    bench->fetch.buffer[0].count = 2;
    fetch_took(&bench->fetch, 0, 0, 0, true); /* an exit leaves nothing */
    assert_int_equal(buffer(bench, 0)->count, 0);
    assert_int_equal(bench->fetch.redirected, 0);
    stage_free(bench->stage);
}

static void test_warps_that_have_exited_or_retired_are_not_fetched_for(void **state) {
    (void)state;
    Bench *bench = start("", 3);
    warm(bench, 0);
    bench->stage->sm.view.exited = 0x2;
    fetch_retire(&bench->fetch, 0x4);
    assert_int_equal(step(bench), ~UINT64_C(1) | 1); /* once around, back to slot 0 */
    bench->stage->sm.view.exited = 0x3; /* exits while its instructions are being decoded */
    step(bench);
    assert_true(stage_is_silent(bench->stage));
    assert_int_equal(step(bench), UINT64_MAX);
    assert_int_equal(bench->stage->sm.counters.fetches, 1);
    stage_free(bench->stage);
}

static void test_an_ideal_front_end_fills_every_buffer_at_once(void **state) {
    (void)state;
    Bench *bench = start("fetch.ideal=yes fetch.buffer=3", 4);
    SourceWarp warps[4];
    for (uint32_t w = 0; w < 4; w++) {
        warps[w] = (SourceWarp){.pc = 10 + w, .active = UINT32_MAX};
        bench->stage->sm.warps.warp[w].handle = &warps[w];
    }
    assert_int_equal(step(bench), UINT64_MAX);
    assert_int_equal(bench->stage->sm.events.fetched, 0xF);
    for (int w = 0; w < 4; w++) {
        assert_int_equal(buffer(bench, w)->pc, 10 + w);
        assert_int_equal(buffer(bench, w)->count, 3);
    }
    fetch_flush(&bench->fetch, 2, 77);
    assert_int_equal(buffer(bench, 2)->pc, 77);
    assert_int_equal(buffer(bench, 2)->count, 3);
    stage_free(bench->stage);
}

/* ---- A front end for each sub-core ---- */

#define FRONTS                                                                                     \
    "scheduler.count=4 sm.subcores=4 fetch.per_subcore=yes fetch.width=2 l0i.size=512B "           \
    "l0i.ways=1 "                                                                                  \
    "l1i.size=4KiB l1i.latency=20"

static void test_each_sub_core_fetches_for_its_own_warps_in_a_cycle(void **state) {
    (void)state;
    Bench *bench = start(FRONTS, 8);
    for (int f = 0; f < 4; f++)
        read_cache_fill(&bench->fetch.l0i[f], bench->fetch.config->code_base);
    step(bench); /* one warp of each sub-core */
    assert_int_equal(bench->stage->sm.counters.fetches, 4);
    step(bench);
    uint32_t filled = 0;
    for (int warp = 0; warp < 8; warp++)
        filled += buffer(bench, warp)->count == 2;
    assert_int_equal(filled, 4);
    for (int warp = 0; warp < 4; warp++) /* one of the two warps of each */
        assert_int_equal(buffer(bench, warp)->count + buffer(bench, warp + 4)->count, 2);
    stage_free(bench->stage);
}

/* Cycles until the warp's buffer is filled. */
static uint32_t cycles_to_fill(Bench *bench, int warp) {
    uint32_t cycles = 0;
    while (!buffer(bench, warp)->count && cycles < 1000) {
        step(bench);
        cycles++;
    }
    return cycles;
}

static void
test_a_miss_of_the_l0i_takes_the_l1is_latency_and_fills_that_sub_cores_alone(void **state) {
    (void)state;
    Bench *bench = start(FRONTS, 1);
    read_cache_fill(&bench->fetch.l0i[0], bench->fetch.config->code_base);
    uint32_t near = cycles_to_fill(bench, 0);
    stage_free(bench->stage);
    bench = start(FRONTS, 1);
    warm(bench, 0);
    uint32_t far = cycles_to_fill(bench, 0);
    assert_int_equal(far - near, 20 + 1); /* plus the cycle in which the L0I is looked up again */
    assert_true(read_cache_has(&bench->fetch.l0i[0], bench->fetch.config->code_base));
    assert_false(read_cache_has(&bench->fetch.l0i[1], bench->fetch.config->code_base));
    stage_free(bench->stage);
}

static void test_what_the_l1i_lacks_it_fetches_once_for_all_sub_cores(void **state) {
    (void)state;
    Bench *bench = start(FRONTS, 4);
    for (int cycle = 0; cycle < 40; cycle++)
        step(bench);
    assert_int_equal(bench->fetch.waits, 0xF);
    assert_int_equal(bench->stage->sm.counters.reads_sent, 1);
    MemRequest request = {.address = bench->fetch.config->code_base};
    fetch_line_arrived(&bench->fetch, &request);
    for (int cycle = 0; cycle < 4; cycle++)
        step(bench);
    for (int warp = 0; warp < 4; warp++)
        assert_int_equal(buffer(bench, warp)->count, 2);
    assert_false(fetch_has_work(&bench->fetch, &bench->stage->sm, &bench->port));
    stage_free(bench->stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fetch_that_hits_fills_the_buffer_when_it_is_decoded),
        cmocka_unit_test(test_warps_take_turns_and_the_scan_tells_whom_it_passed),
        cmocka_unit_test(test_a_fetch_ends_with_its_line),
        cmocka_unit_test(test_a_fetch_may_bring_what_is_behind_its_line),
        cmocka_unit_test(test_a_buffer_is_refilled_when_empty_or_when_it_has_room),
        cmocka_unit_test(test_a_miss_waits_for_its_line_and_uses_the_cycles_fetch),
        cmocka_unit_test(test_a_warp_whose_line_has_come_asks_for_it_again),
        cmocka_unit_test(test_a_branch_drops_what_is_buffered_and_what_is_being_decoded),
        cmocka_unit_test(test_the_last_instruction_of_a_buffer_tells_of_a_taken_branch),
        cmocka_unit_test(test_warps_that_have_exited_or_retired_are_not_fetched_for),
        cmocka_unit_test(test_an_ideal_front_end_fills_every_buffer_at_once),
        cmocka_unit_test(test_each_sub_core_fetches_for_its_own_warps_in_a_cycle),
        cmocka_unit_test(
            test_a_miss_of_the_l0i_takes_the_l1is_latency_and_fills_that_sub_cores_alone),
        cmocka_unit_test(test_what_the_l1i_lacks_it_fetches_once_for_all_sub_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
