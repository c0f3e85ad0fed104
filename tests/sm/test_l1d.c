/* The L1 data cache alone: latency, misses, every kind of refusal and what ends it, stores by
 * policy. */
#include "sm/l1d.h"
#include "stage.h"

enum { A = 0x10000, B = 0x20000, C = 0x30000, LINE = 128 };

typedef struct Bench {
    Stage *stage;
    SmPort port;
    SmL1d l1d;
    uint32_t load, store; /* pcs */
} Bench;

static Bench *start(const char *settings) {
    Stage *stage = stage_new(settings, 64);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    l1d_init(&bench->l1d, &stage->sm, &bench->port);
    bench->load = stage_program(
        stage, &(StageInst){.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD, .bytes = 4});
    bench->store = stage_program(
        stage, &(StageInst){.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_STORE, .bytes = 4});
    return bench;
}

/* An access of one line enters the queue; returns its instruction, which has left the latch. */
static uint16_t enter(Bench *bench, uint32_t pc, uint8_t warp, uint64_t address) {
    SmInsts *insts = &bench->stage->sm.insts;
    uint16_t inst = stage_memory_inst(bench->stage, pc, warp, SM_PATH_L1D, address, 1);
    const SmMemory *memory = insts_memory_of(insts, inst);
    assert_true(l1d_can_enter(&bench->l1d, address));
    l1d_enter(&bench->l1d, &bench->stage->sm, inst, memory, &memory->access[0]);
    insts_handed_on(insts, inst);
    return inst;
}

static void step(Bench *bench) {
    stage_cycle(bench->stage);
    l1d_step(&bench->l1d, &bench->stage->sm, &bench->port);
}

static void steps(Bench *bench, uint32_t cycles) {
    while (cycles--)
        step(bench);
}

/* The line of `address` comes back. */
static void fill(Bench *bench, uint64_t address) {
    MemRequest request = {.address = address, .warp = 3};
    l1d_line_arrived(&bench->l1d, &bench->stage->sm, &bench->port, &request);
}

static const Counters *counters(const Bench *bench) { return &bench->stage->sm.counters; }

static uint32_t misses(const Bench *bench) { return bench->port.misses[MEM_CLIENT_L1D].count; }

/* ---- Loads ---- */

static void test_a_hit_is_done_when_the_latency_is_over_and_not_before(void **state) {
    (void)state;
    static const char *const settings[] = {"l1d.latency=1", "l1d.latency=2", "l1d.latency=35"};
    static const uint32_t latency[] = {1, 2, 35};
    for (int i = 0; i < 3; i++) {
        Bench *bench = start(settings[i]);
        int32_t place;
        TagEviction evicted;
        place = tag_array_reserve(&bench->l1d.tags, A, 1, &evicted);
        tag_array_fill(&bench->l1d.tags, place, 0xFF);
        uint16_t inst = enter(bench, bench->load, 3, A + 4);
        assert_int_equal(l1d_next_event(&bench->l1d), latency[i]);
        for (uint32_t cycle = 1; cycle < latency[i]; cycle++) {
            assert_int_equal(l1d_has_work(&bench->l1d, &bench->stage->sm), false);
            step(bench);
            assert_true(stage_is_silent(bench->stage));
        }
        assert_true(l1d_has_work(&bench->l1d, &bench->stage->sm));
        step(bench);
        assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, inst));
        assert_int_equal(counters(bench)->l1d_hits, 1);
        assert_int_equal(counters(bench)->l1d_accesses, 1);
        assert_int_equal(stage_heard(bench->stage)->count[TYTO_EVENT_L1D_HIT], 1);
        assert_false(l1d_is_busy(&bench->l1d, &bench->port));
        stage_free(bench->stage);
    }
}

/* Hits that are looked up in consecutive cycles have their data after the hit latency, in order. A
 * miss does not take that time. */
static void test_the_data_of_a_hit_come_after_the_latency_of_hits(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.hit_latency=10");
    int32_t place;
    TagEviction evicted;
    place = tag_array_reserve(&bench->l1d.tags, A, 1, &evicted);
    tag_array_fill(&bench->l1d.tags, place, 0xFF);
    uint16_t inst[2];
    for (int i = 0; i < 2; i++) {
        inst[i] = enter(bench, bench->load, 3, A + 4);
        step(bench);
    }
    assert_int_equal(counters(bench)->l1d_hits, 2);
    assert_false(l1d_is_quiet(&bench->l1d));
    enter(bench, bench->load, 3, B);
    step(bench);
    assert_int_equal(misses(bench), 1);
    assert_int_equal(l1d_next_event(&bench->l1d), 11);
    for (int i = 0; i < 2; i++) {
        while (bench->stage->sm.cycle < 10 + (uint64_t)i) {
            assert_true(stage_is_silent(bench->stage));
            step(bench);
        }
        assert_true(l1d_has_work(&bench->l1d, &bench->stage->sm));
        step(bench);
        assert_int_equal(bench->l1d.hits_from, bench->stage->sm.cycle);
        l1d_end_hits(&bench->l1d, &bench->stage->sm);
        assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, inst[i]));
    }
    assert_int_equal(l1d_next_event(&bench->l1d), UINT64_MAX);
    stage_free(bench->stage);
}

static void test_the_queue_is_as_long_as_the_latency(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=3");
    for (int i = 0; i < 3; i++)
        enter(bench, bench->load, 0, A + (uint64_t)i * LINE);
    assert_false(l1d_can_enter(&bench->l1d, A));
    steps(bench, 2);
    assert_false(l1d_can_enter(&bench->l1d, A));
    step(bench);
    assert_true(l1d_can_enter(&bench->l1d, A));
    stage_free(bench->stage);
}

/* Of the accesses to sectors of a line that an instruction makes, all but the first say so. Without
 * sectors each access is one to a line. */
static void events_of_sectors(const char *settings, bool has_sectors) {
    Bench *bench = start(settings);
    SmInsts *insts = &bench->stage->sm.insts;
    for (int round = 0; round < 2; round++) {
        uint16_t inst = stage_memory_inst(bench->stage, bench->load, 1, SM_PATH_L1D, A, 3);
        SmMemory *memory = insts_memory_of(insts, inst);
        memory->access[1].address = A + LINE / 2;
        memory->access[2].address = A + LINE;
        const bool repeats[] = {false, has_sectors, false};
        for (int i = 0; i < 3; i++) {
            l1d_enter(&bench->l1d, &bench->stage->sm, inst, memory, &memory->access[i]);
            step(bench);
            assert_int_equal(stage_heard(bench->stage)->last.repeats_line, repeats[i]);
        }
        insts_handed_on(insts, inst);
    }
    stage_free(bench->stage);
}

static void test_events_name_the_first_access_of_a_line(void **state) {
    (void)state;
    events_of_sectors("l1d.latency=1", false);
    events_of_sectors("l1d.latency=1 l1d.sector=32B", true);
}

static void test_a_miss_asks_for_its_line_and_waiting_loads_come_back_in_order(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1");
    uint16_t first = enter(bench, bench->load, 1, A + 64);
    step(bench);
    assert_int_equal(misses(bench), 1);
    const SmSend *send = &bench->port.misses[MEM_CLIENT_L1D].items[0];
    assert_int_equal(send->access.address, A);
    assert_int_equal(send->access.bytes, LINE);
    assert_int_equal(send->access.sectors, 0xF);
    assert_int_equal(send->op, MEM_OP_READ);
    assert_int_equal(send->client, MEM_CLIENT_L1D);
    assert_int_equal(send->warp, 1);
    uint16_t second = enter(bench, bench->load, 2, A);
    step(bench);
    assert_int_equal(misses(bench), 1); /* it joins */
    assert_int_equal(counters(bench)->l1d_misses, 1);
    assert_int_equal(counters(bench)->l1d_load_misses, 1);
    assert_int_equal(counters(bench)->l1d_pending_hits, 1);
    assert_int_equal(stage_heard(bench->stage)->count[TYTO_EVENT_L1D_MISS], 2);
    assert_true(stage_heard(bench->stage)->last.is_pending);
    assert_int_equal(stage_heard(bench->stage)->last.address, A);
    assert_false(l1d_has_return(&bench->l1d));
    fill(bench, A);
    assert_int_equal(counters(bench)->l1d_fills, 1);
    assert_true(l1d_has_return(&bench->l1d));
    assert_int_equal(l1d_peek_return(&bench->l1d), first);
    l1d_pop_return(&bench->l1d);
    assert_int_equal(l1d_peek_return(&bench->l1d), second);
    l1d_pop_return(&bench->l1d);
    assert_false(l1d_has_return(&bench->l1d));
    enter(bench, bench->load, 1, A);
    step(bench);
    assert_int_equal(counters(bench)->l1d_hits, 1);
    assert_int_equal(counters(bench)->l1d_intra_warp_hits, 1); /* warp 1 had brought it in */
    enter(bench, bench->load, 2, A);
    step(bench);
    assert_int_equal(counters(bench)->l1d_inter_warp_hits, 1);
    assert_int_equal(stage_heard(bench->stage)->last.owner, 1);
    stage_free(bench->stage);
}

/* A line on its way does not miss again. */
static void test_a_set_counts_its_lookups_misses_and_evictions(void **state) {
    (void)state;
    enum { SETS = 2 };
    Bench *bench = start("l1d.size=256B l1d.ways=1 l1d.latency=1 l1d.index=linear");
    Sets sets = sets_new(1, SETS);
    const SetCounts *of = sets_of(&sets, 0);
    bench->stage->sm.env.l1d_sets = sets_of(&sets, 0);
    enter(bench, bench->load, 1, A);
    step(bench);
    enter(bench, bench->load, 2, A);
    step(bench); /* on its way */
    fill(bench, A);
    enter(bench, bench->load, 3, A);
    step(bench); /* there */
    const uint32_t own = of[0].accesses ? 0 : 1;
    assert_int_equal(of[own].accesses, 3);
    assert_int_equal(of[own].misses, 1);
    assert_int_equal(of[own].evictions, 0);
    assert_int_equal(of[1 - own].accesses, 0);
    enter(bench, bench->load, 3, A + (uint64_t)SETS * LINE);
    step(bench);
    assert_int_equal(of[own].misses, 2);
    assert_int_equal(of[own].evictions, 1);
    sets_free(&sets);
    stage_free(bench->stage);
}

/* Who brought a line in: another warp, other threads of the warp, or all threads that hit it. */
static void test_hits_are_told_by_who_brought_the_line_in(void **state) {
    (void)state;
    static const struct {
        uint8_t warp;
        uint32_t lanes;
        uint64_t inter, intra, thread;
    } rows[] = {{1, 0x03, 0, 1, 1}, {1, 0x0F, 0, 2, 2}, {1, 0x1F, 0, 3, 2}, {2, 0x0F, 1, 3, 2}};
    Bench *bench = start("l1d.latency=1");
    SmInsts *insts = &bench->stage->sm.insts;
    uint16_t inst = stage_memory_inst(bench->stage, bench->load, 1, SM_PATH_L1D, A, 1);
    insts_memory_of(insts, inst)->access[0].lanes = 0x0F;
    l1d_enter(&bench->l1d, &bench->stage->sm, inst, insts_memory_of(insts, inst),
              &insts_memory_of(insts, inst)->access[0]);
    step(bench);
    fill(bench, A);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        inst = stage_memory_inst(bench->stage, bench->load, rows[i].warp, SM_PATH_L1D, A, 1);
        SmMemory *memory = insts_memory_of(insts, inst);
        memory->access[0].lanes = rows[i].lanes;
        l1d_enter(&bench->l1d, &bench->stage->sm, inst, memory, &memory->access[0]);
        step(bench);
        assert_int_equal(counters(bench)->l1d_inter_warp_hits, rows[i].inter);
        assert_int_equal(counters(bench)->l1d_intra_warp_hits, rows[i].intra);
        assert_int_equal(counters(bench)->l1d_intra_thread_hits, rows[i].thread);
        assert_int_equal(counters(bench)->l1d_hits, i + 1);
    }
    stage_free(bench->stage);
}

/* ---- Refusals ---- */

/* The head is stuck: steps change nothing, and cycles are counted as refusals of that kind. */
static void assert_stuck(Bench *bench, const uint64_t *counter) {
    uint64_t *now = &bench->stage->sm.cycle;
    step(bench);
    l1d_settle(&bench->l1d, *now);
    uint64_t before = *counter;
    assert_ptr_equal(bench->l1d.banks[0].refusal, counter);
    assert_int_equal(bench->l1d.banks[0].count, 1);
    assert_int_equal(l1d_next_event(&bench->l1d), UINT64_MAX);
    *now += 5;
    l1d_settle(&bench->l1d, *now);
    assert_int_equal(*counter, before + 5);
    assert_true(stage_is_silent(bench->stage));
}

static void assert_taken(Bench *bench) {
    step(bench);
    assert_false(l1d_is_refusing(&bench->l1d));
    assert_int_equal(bench->l1d.filled, 0);
}

static void send_all(Bench *bench) {
    while (misses(bench)) {
        l1d_send_miss(&bench->l1d, &bench->stage->sm, &bench->port);
        stage_move(bench->stage);
        stage_sent(bench->stage, &bench->port);
    }
}

static void test_two_mshrs_refuse_the_third_line_until_the_last_load_of_one_has_left(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.mshrs=2 l1d.miss_queue=16");
    for (int i = 0; i < 2; i++) {
        enter(bench, bench->load, 0, A);
        assert_taken(bench);
    }
    enter(bench, bench->load, 0, B);
    assert_taken(bench);
    enter(bench, bench->load, 0, C);
    assert_stuck(bench, &counters(bench)->l1d_fail_mshrs);
    send_all(bench);
    assert_stuck(bench, &counters(bench)->l1d_fail_mshrs);
    fill(bench, A); /* the line is there, but its MSHR is still taken */
    assert_stuck(bench, &counters(bench)->l1d_fail_mshrs);
    l1d_pop_return(&bench->l1d); /* one load less, which is no reason to look again */
    assert_false(bench->l1d.freed & bench->l1d.needed);
    assert_stuck(bench, &counters(bench)->l1d_fail_mshrs);
    l1d_pop_return(&bench->l1d);
    assert_taken(bench);
    stage_free(bench->stage);
}

static void test_a_merged_miss_is_the_first_warps(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1");
    for (uint8_t warp = 7; warp < 9; warp++) {
        enter(bench, bench->load, warp, A);
        step(bench);
    }
    assert_int_equal(misses(bench), 1);
    assert_int_equal(bench->port.misses[MEM_CLIENT_L1D].items[0].warp, 7);
    stage_free(bench->stage);
}

static void test_an_mshr_of_two_refuses_the_third_load_until_the_line_is_there(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.mshr_merges=2 l1d.miss_queue=16");
    for (int i = 0; i < 2; i++) {
        enter(bench, bench->load, 0, A);
        assert_taken(bench);
    }
    uint16_t third = enter(bench, bench->load, 0, A);
    assert_stuck(bench, &counters(bench)->l1d_fail_merges);
    send_all(bench);
    assert_stuck(bench, &counters(bench)->l1d_fail_merges);
    fill(bench, A);
    step(bench); /* a hit now */
    assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, third));
    stage_free(bench->stage);
}

/* A miss needs two places: one for itself and one for a dirty victim. */
static void test_a_miss_queue_without_two_places_refuses_until_one_is_sent(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.miss_queue=3");
    enter(bench, bench->load, 0, A);
    assert_taken(bench);
    enter(bench, bench->load, 0, B);
    assert_taken(bench);
    enter(bench, bench->load, 0, C);
    assert_stuck(bench, &counters(bench)->l1d_fail_queue);
    l1d_send_miss(&bench->l1d, &bench->stage->sm, &bench->port);
    assert_taken(bench);
    stage_free(bench->stage);
}

static void test_a_set_full_of_lines_under_way_refuses_until_one_is_filled(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.miss_queue=64 l1d.mshrs=64 l1d.index=linear");
    const CacheConfig *config = bench->l1d.config;
    uint64_t apart = config->size_bytes / config->ways, elsewhere = config->line_bytes;
    enter(bench, bench->load, 0, elsewhere);
    assert_taken(bench);
    for (uint64_t way = 0; way < config->ways; way++) {
        enter(bench, bench->load, 0, way * apart);
        assert_taken(bench);
    }
    enter(bench, bench->load, 9, config->ways * apart);
    assert_stuck(bench, &counters(bench)->l1d_fail_ways);
    l1d_send_miss(&bench->l1d, &bench->stage->sm, &bench->port);
    assert_stuck(bench, &counters(bench)->l1d_fail_ways);
    fill(bench, elsewhere); /* which is no reason to look again */
    assert_false(bench->l1d.freed & bench->l1d.needed);
    assert_stuck(bench, &counters(bench)->l1d_fail_ways);
    fill(bench, apart);
    assert_taken(bench);
    assert_int_equal(counters(bench)->l1d_evictions, 1);
    const StageHeard *heard = stage_heard(bench->stage);
    assert_int_equal(heard->count[TYTO_EVENT_L1D_EVICTED], 1);
    assert_int_equal(heard->last.kind, TYTO_EVENT_L1D_MISS);
    stage_free(bench->stage);
}

/* ---- Stores ---- */

/* A set whose lines are all under way refuses a store to another line if the machine says so, but
 * no store to one of them. */
static void test_a_store_may_need_a_way_though_it_takes_none(void **state) {
    (void)state;
    for (int needs = 0; needs < 2; needs++) {
        Bench *bench = start(needs ? "l1d.latency=1 l1d.miss_queue=64 l1d.stores_need_way=yes "
                                     "l1d.index=linear"
                                   : "l1d.latency=1 l1d.miss_queue=64 l1d.index=linear");
        const CacheConfig *config = bench->l1d.config;
        uint64_t apart = config->size_bytes / config->ways;
        for (uint64_t way = 0; way < config->ways; way++) {
            enter(bench, bench->load, 0, way * apart);
            assert_taken(bench);
        }
        enter(bench, bench->store, 1, apart);
        assert_taken(bench);
        enter(bench, bench->store, 1, config->ways * apart);
        if (needs) {
            assert_stuck(bench, &counters(bench)->l1d_fail_ways);
            fill(bench, apart);
        }
        assert_taken(bench);
        assert_int_equal(counters(bench)->l1d_evictions, 0);
        stage_free(bench->stage);
    }
}

static void test_a_store_that_is_passed_on_drops_its_line_where_the_policy_evicts(void **state) {
    (void)state;
    for (int evicts = 0; evicts < 2; evicts++) {
        Bench *bench = start(evicts ? "l1d.latency=1 l1d.write=write-evict"
                                    : "l1d.latency=1 l1d.write=write-through");
        enter(bench, bench->load, 4, A);
        step(bench);
        fill(bench, A);
        send_all(bench);
        enter(bench, bench->store, 6, A);
        step(bench);
        assert_true(stage_is_silent(bench->stage)); /* its acknowledgement is still to come */
        assert_int_equal(misses(bench), 1);
        const SmSend *send =
            &bench->port.misses[MEM_CLIENT_L1D].items[bench->port.misses[MEM_CLIENT_L1D].head];
        assert_int_equal(send->op, MEM_OP_WRITE);
        assert_int_equal(send->client, MEM_CLIENT_STORE);
        assert_int_equal(send->waiting, 6);
        assert_int_equal(tag_array_find(&bench->l1d.tags, A) == TAG_NONE, evicts);
        assert_int_equal(counters(bench)->l1d_evictions, evicts);
        assert_int_equal(counters(bench)->l1d_inter_warp_hits, 1);
        const StageHeard *heard = stage_heard(bench->stage);
        assert_int_equal(heard->count[TYTO_EVENT_L1D_EVICTED], evicts);
        assert_int_equal(heard->last.kind, TYTO_EVENT_L1D_STORED);
        assert_int_equal(heard->last.address, A);
        assert_int_equal(heard->last.warp, 6);
        stage_free(bench->stage);
    }
}

static void test_a_store_drops_its_sector_of_a_line_that_is_on_its_way_in_part(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.write=write-evict l1d.sector=32B");
    const TagArray *tags = &bench->l1d.tags;
    enter(bench, bench->load, 4, A);
    step(bench);
    fill(bench, A);
    enter(bench, bench->load, 4, A + 32);
    step(bench);
    send_all(bench);
    enter(bench, bench->store, 6, A);
    step(bench);
    int32_t place = tag_array_find(tags, A);
    assert_int_not_equal(place, TAG_NONE);
    assert_int_equal(tags->lines[place].valid, 0);
    assert_int_equal(counters(bench)->l1d_evictions, 0);
    assert_int_equal(stage_heard(bench->stage)->count[TYTO_EVENT_L1D_EVICTED], 0);
    fill(bench, A + 32);
    assert_int_equal(tags->lines[place].valid, 2);
    stage_free(bench->stage);
}

#define BACK                                                                                       \
    "l1d.latency=1 l1d.write=write-back l1d.write_allocate=validate l1d.index=linear "             \
    "l1d.miss_queue=64 "

static void test_a_write_back_cache_keeps_stores_and_writes_back_what_is_dirty(void **state) {
    (void)state;
    Bench *bench = start(BACK);
    const CacheConfig *config = bench->l1d.config;
    uint64_t apart = config->size_bytes / config->ways;
    for (uint64_t way = 0; way < config->ways; way++) {
        enter(bench, bench->store, 2, way * apart);
        step(bench);
        assert_true(stage_has_event(bench->stage, SM_EVENT_STORE_DONE, 2));
    }
    assert_int_equal(misses(bench), 0);
    enter(bench, bench->load, 2, config->ways * apart); /* the first line must be evicted */
    step(bench);
    assert_int_equal(counters(bench)->l1d_write_backs, 1);
    assert_int_equal(misses(bench), 2);
    const SmSend *send = bench->port.misses[MEM_CLIENT_L1D].items;
    assert_int_equal(send->op, MEM_OP_WRITE);
    assert_int_equal(send->access.address, 0);
    assert_int_equal(send->access.bytes, LINE);
    assert_int_equal(send->waiting, SM_NO_WARP);
    assert_int_equal(send->warp, 2); /* the warp whose load needs the room */
    stage_free(bench->stage);
}

static void test_only_dirty_sectors_are_written_back(void **state) {
    (void)state;
    Bench *bench = start(BACK "l1d.sector=32B");
    enter(bench, bench->store, 2, A + 32);
    step(bench);
    enter(bench, bench->store, 2, A + 96);
    step(bench);
    l1d_flush(&bench->l1d, &bench->stage->sm, &bench->port);
    const SmSend *send = bench->port.misses[MEM_CLIENT_L1D].items;
    assert_int_equal(misses(bench), 1);
    assert_int_equal(send->access.address, A + 32);
    assert_int_equal(send->access.sectors, 0x5); /* of three */
    assert_int_equal(send->access.bytes, 96);
    assert_int_equal(send->warp, SM_NO_WARP); /* a flush belongs to no warp */
    assert_int_equal(tag_array_find(&bench->l1d.tags, A), TAG_NONE);
    stage_free(bench->stage);
}

static void test_a_flush_takes_as_long_as_the_queue_lets_it(void **state) {
    (void)state;
    Bench *bench =
        start("l1d.latency=1 l1d.write=write-back l1d.write_allocate=validate l1d.miss_queue=2");
    for (uint64_t i = 0; i < 5; i++) {
        enter(bench, bench->store, 2, A + i * LINE);
        step(bench);
    }
    l1d_flush(&bench->l1d, &bench->stage->sm, &bench->port);
    for (int sent = 0; sent < 3; sent++) { /* two are queued at once, three wait for a place each */
        assert_true(bench->l1d.is_flushing);
        assert_true(l1d_is_busy(&bench->l1d, &bench->port));
        l1d_send_miss(&bench->l1d, &bench->stage->sm, &bench->port);
        stage_move(bench->stage);
        step(bench);
    }
    assert_false(bench->l1d.is_flushing);
    assert_int_equal(counters(bench)->l1d_write_backs, 5);
    stage_free(bench->stage);
}

static void test_a_store_that_fetches_its_line_wakes_nobody_when_it_comes(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.write=write-back l1d.write_allocate=fetch");
    enter(bench, bench->store, 2, A);
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_STORE_DONE, 2));
    assert_int_equal(misses(bench), 1);
    fill(bench, A);
    assert_int_equal(l1d_peek_return(&bench->l1d), SM_NONE);
    stage_free(bench->stage);
}

static void test_a_perfect_l1d_hits_always_and_sends_nothing(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1");
    bench->stage->sm.env.is_l1_perfect = true;
    uint16_t load = enter(bench, bench->load, 2, A);
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, load));
    enter(bench, bench->store, 2, A);
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_STORE_DONE, 2));
    assert_int_equal(counters(bench)->l1d_hits, 2);
    assert_int_equal(counters(bench)->l1d_load_accesses, 1);
    assert_int_equal(misses(bench), 0);
    stage_free(bench->stage);
}

static void test_allocation_on_fill_takes_a_line_when_the_data_come(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.allocate=on-fill");
    enter(bench, bench->load, 2, A);
    step(bench);
    assert_int_equal(tag_array_find(&bench->l1d.tags, A), TAG_NONE);
    fill(bench, A);
    assert_int_not_equal(tag_array_find(&bench->l1d.tags, A), TAG_NONE);
    assert_true(l1d_has_return(&bench->l1d));
    stage_free(bench->stage);
}

/* ---- Hints ---- */

/* The same with a priority; the access is looked up at once. */
static void look_up(Bench *bench, uint64_t address, CachePriority priority, uint8_t advice) {
    SmInsts *insts = &bench->stage->sm.insts;
    uint32_t pc = advice ? bench->store : bench->load;
    uint16_t inst = stage_memory_inst(bench->stage, pc, 2, SM_PATH_L1D, address, 1);
    SmMemory *memory = insts_memory_of(insts, inst);
    memory->access[0].priority[0] = (uint8_t)priority;
    memory->advice = advice;
    l1d_enter(&bench->l1d, &bench->stage->sm, inst, memory, &memory->access[0]);
    insts_handed_on(insts, inst);
    step(bench);
}

static void fill_for(Bench *bench, uint64_t address, CachePriority priority) {
    MemRequest request = {.address = address, .warp = 3, .l1_priority = (uint8_t)priority};
    l1d_line_arrived(&bench->l1d, &bench->stage->sm, &bench->port, &request);
}

static void test_a_load_that_is_not_to_allocate_leaves_no_line(void **state) {
    (void)state;
    static const char *const settings[] = {"l1d.latency=1 l1d.allocate=on-fill", "l1d.latency=1"};
    for (int i = 0; i < 2; i++) {
        Bench *bench = start(settings[i]);
        look_up(bench, A, PRIORITY_NO_ALLOCATE, 0);
        fill_for(bench, A, PRIORITY_NO_ALLOCATE);
        assert_int_equal(tag_array_find(&bench->l1d.tags, A), TAG_NONE);
        assert_true(l1d_has_return(&bench->l1d));
        stage_free(bench->stage);
    }
}

static void test_streaming_loads_leave_other_lines_alone(void **state) {
    (void)state;
    for (int streams = 0; streams < 2; streams++) {
        Bench *bench =
            start("l1d.latency=1 l1d.size=256B l1d.ways=2 l1d.index=linear l1d.miss_queue=16");
        CachePriority priority = streams ? PRIORITY_FIRST : PRIORITY_UNSAID;
        look_up(bench, A, PRIORITY_UNSAID, 0);
        fill_for(bench, A, PRIORITY_UNSAID);
        for (uint64_t line = B; line < B + 3 * LINE; line += LINE) {
            look_up(bench, line, priority, 0);
            fill_for(bench, line, priority);
        }
        assert_int_equal(tag_array_find(&bench->l1d.tags, A) != TAG_NONE, streams);
        stage_free(bench->stage);
    }
}

static void test_a_prefetch_brings_its_line_and_nobody_waits_for_it(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.mshrs=1");
    look_up(bench, A, PRIORITY_UNSAID, MEM_ADVICE_PREFETCH);
    assert_int_equal(misses(bench), 1);
    look_up(bench, A, PRIORITY_UNSAID, MEM_ADVICE_PREFETCH); /* under way already */
    look_up(bench, B, PRIORITY_UNSAID, MEM_ADVICE_PREFETCH); /* finds no MSHR: is dropped */
    assert_int_equal(misses(bench), 1);
    assert_int_equal(bench->l1d.filled, 0);
    assert_int_equal(counters(bench)->l1d_accesses, 2);
    fill_for(bench, A, PRIORITY_UNSAID);
    assert_int_not_equal(tag_array_find(&bench->l1d.tags, A), TAG_NONE);
    assert_int_equal(l1d_peek_return(&bench->l1d), SM_NONE);
    stage_free(bench->stage);
}

/* ---- Banks ---- */

#define BANKED "l1d.latency=1 l1d.sector=32B l1d.banks=4 l1d.miss_queue=16 l1d.index=linear "

static void test_each_bank_looks_up_an_access_a_cycle(void **state) {
    (void)state;
    for (uint32_t interval = 1; interval <= 3; interval += 2) {
        Bench *bench = start(interval == 1 ? BANKED "l1d.latency=4"
                                           : BANKED "l1d.latency=4 l1d.bank_interval=3");
        int32_t place;
        TagEviction evicted;
        for (uint64_t line = A; line < A + 2 * LINE; line += LINE) {
            place = tag_array_reserve(&bench->l1d.tags, line, 0xF, &evicted);
            tag_array_fill(&bench->l1d.tags, place, 0xF);
        }
        for (uint64_t sector = 0; sector < 8; sector++) /* two to each bank */
            enter(bench, bench->load, 0, A + sector * 32);
        steps(bench, 3);
        assert_int_equal(counters(bench)->l1d_hits, 0);
        step(bench);
        assert_int_equal(counters(bench)->l1d_hits, 4);
        assert_int_equal(l1d_next_event(&bench->l1d), 4 + interval);
        steps(bench, interval - 1);
        assert_int_equal(counters(bench)->l1d_hits, 4);
        step(bench);
        assert_int_equal(counters(bench)->l1d_hits, 8);
        stage_free(bench->stage);
    }
}

/* After a hit the next lookup comes after the bank interval. After anything else it comes after the
 * miss interval, or the bank interval if that is longer. */
static void test_what_does_not_hit_keeps_the_next_lookup_for_longer(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        uint32_t behind_hit, behind_miss;
    } rows[] = {{"l1d.latency=8", 1, 1},
                {"l1d.latency=8 l1d.bank_interval=2 l1d.miss_interval=5", 2, 5},
                {"l1d.latency=8 l1d.bank_interval=3 l1d.miss_interval=2", 3, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench *bench = start(rows[i].settings);
        const Counters *c = counters(bench);
        int32_t place;
        TagEviction evicted;
        place = tag_array_reserve(&bench->l1d.tags, A, 1, &evicted);
        tag_array_fill(&bench->l1d.tags, place, 0xFF);
        enter(bench, bench->load, 0, A); /* it hits, ... */
        enter(bench, bench->load, 0, B); /* ... misses, ... */
        enter(bench, bench->load, 0, B); /* ... and waits for the same line */
        enter(bench, bench->load, 0, A);
        steps(bench, 8);
        assert_int_equal(c->l1d_accesses, 1);
        uint32_t behind = rows[i].behind_hit;
        for (uint32_t taken = 2; taken <= 4; taken++) {
            steps(bench, behind - 1);
            assert_int_equal(c->l1d_accesses, taken - 1);
            step(bench);
            assert_int_equal(c->l1d_accesses, taken);
            behind = rows[i].behind_miss;
        }
        assert_int_equal(c->l1d_hits, 2);
        stage_free(bench->stage);
    }
}

/* Four MSHRs; each request takes one. The fifth waits for a free one, not for a line. */
static void test_every_request_that_waits_can_take_an_mshr(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=1 l1d.mshrs=4 l1d.mshr_merges=4 l1d.mshr_requests=4");
    for (int i = 0; i < 4; i++) {
        enter(bench, bench->load, 0, i < 3 ? A : B);
        step(bench);
    }
    assert_int_equal(misses(bench), 2);
    enter(bench, bench->load, 0, B);
    step(bench);
    assert_true(l1d_is_refusing(&bench->l1d));
    fill(bench, A);
    step(bench);
    assert_true(l1d_is_refusing(&bench->l1d));
    l1d_pop_return(&bench->l1d);
    step(bench);
    assert_false(l1d_is_refusing(&bench->l1d));
    assert_int_equal(counters(bench)->l1d_pending_hits, 3);
    l1d_settle(&bench->l1d, bench->stage->sm.cycle);
    assert_int_equal(counters(bench)->l1d_fail_mshrs, 2);
    assert_int_equal(counters(bench)->l1d_fail_merges, 0);
    stage_free(bench->stage);
}

static void test_a_bank_that_is_stuck_lets_the_others_go_on(void **state) {
    (void)state;
    Bench *bench = start(BANKED "l1d.mshrs=1");
    enter(bench, bench->load, 0, A);
    step(bench);
    enter(bench, bench->load, 0, B); /* no MSHR is left */
    int32_t place;
    TagEviction evicted;
    place = tag_array_reserve(&bench->l1d.tags, C, 0xF, &evicted);
    tag_array_fill(&bench->l1d.tags, place, 0xF);
    uint16_t other = enter(bench, bench->load, 0, C + 32);
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, other));
    assert_int_equal(bench->l1d.refusing, 1);
    assert_ptr_equal(bench->l1d.banks[0].refusal, &counters(bench)->l1d_fail_mshrs);
    assert_false(l1d_can_enter(&bench->l1d, B + 128));
    assert_true(l1d_can_enter(&bench->l1d, B + 96));
    fill(bench, A);
    l1d_pop_return(&bench->l1d);
    step(bench);
    assert_int_equal(bench->l1d.refusing, 0);
    assert_int_equal(counters(bench)->l1d_misses, 2);
    stage_free(bench->stage);
}

/* Both banks need a way of one set, and one way is free. The second bank finds the line that the
 * first one has brought in, and lacks only its sector. */
static void test_a_line_that_another_bank_brings_ends_the_want_of_a_way(void **state) {
    (void)state;
    Bench *bench = start(BANKED "l1d.size=4KiB l1d.ways=1 l1d.latency=2");
    uint64_t apart = 4096;
    enter(bench, bench->load, 0, A + 32);
    steps(bench, 2);
    enter(bench, bench->load, 0, A + apart);      /* bank 0: the line at A is under way */
    enter(bench, bench->load, 0, A + apart + 32); /* bank 1: likewise */
    steps(bench, 2);
    assert_int_equal(bench->l1d.refusing, 3);
    fill(bench, A + 32);
    step(bench);
    assert_int_equal(bench->l1d.refusing, 0);
    assert_int_equal(counters(bench)->l1d_misses, 3);
    assert_int_equal(counters(bench)->l1d_evictions, 1);
    stage_free(bench->stage);
}

/* ---- Stores that are written through and take their sectors ---- */

#define THROUGH                                                                                    \
    BANKED "l1d.write=write-through l1d.write_allocate=validate l1d.local_write=write-through "    \
           "l1d.local_write_allocate=validate "

/* Stores the bytes whose bits are set, in the sector at `address`. */
static void store_bytes(Bench *bench, uint64_t address, uint32_t bytes) {
    SmInsts *insts = &bench->stage->sm.insts;
    uint16_t inst = stage_memory_inst(bench->stage, bench->store, 5, SM_PATH_L1D, address, 1);
    SmMemory *memory = insts_memory_of(insts, inst);
    memory->access[0].bytes = 32;
    memory->access[0].sectors = 1;
    memory->access[0].written = bytes;
    l1d_enter(&bench->l1d, &bench->stage->sm, inst, memory, &memory->access[0]);
    insts_handed_on(insts, inst);
    step(bench);
}

static void test_sectors_written_in_parts_can_be_read_once_all_their_bytes_are(void **state) {
    (void)state;
    Bench *bench = start(THROUGH);
    for (uint32_t word = 0; word < 8; word++) {
        int32_t place;
        assert_int_not_equal(tag_array_probe(&bench->l1d.tags, A + 32, 2, &place), TAG_HIT);
        store_bytes(bench, A + 32, UINT32_C(0xF) << 4 * word);
        assert_int_equal(misses(bench), word + 1); /* each is sent on to L2 */
    }
    assert_int_equal(counters(bench)->l1d_misses, 1); /* the first */
    assert_int_equal(counters(bench)->l1d_hits, 7);
    uint16_t load = enter(bench, bench->load, 5, A + 32);
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, load));
    assert_int_equal(misses(bench), 8);
    stage_free(bench->stage);
}

static void test_a_load_fetches_what_a_store_has_left_open(void **state) {
    (void)state;
    Bench *bench = start(THROUGH);
    store_bytes(bench, A, 0xFF);
    enter(bench, bench->load, 5, A);
    step(bench);
    assert_int_equal(counters(bench)->l1d_load_misses, 1);
    assert_int_equal(misses(bench), 2);
    fill(bench, A);
    uint16_t again = enter(bench, bench->load, 5, A);
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, again));
    store_bytes(bench, A, 0xFF); /* part of a sector that is there: it stays readable */
    again = enter(bench, bench->load, 5, A);
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, again));
    stage_free(bench->stage);
}

static void test_what_was_written_through_is_never_written_back(void **state) {
    (void)state;
    Bench *bench = start(THROUGH "l1d.size=4KiB l1d.ways=1");
    store_bytes(bench, A, UINT32_MAX);
    send_all(bench);
    enter(bench, bench->load, 5, A + 4096); /* takes the store's line */
    step(bench);
    assert_int_equal(counters(bench)->l1d_evictions, 1);
    assert_int_equal(misses(bench), 1);
    store_bytes(bench, B, UINT32_MAX);
    send_all(bench);
    l1d_flush(&bench->l1d, &bench->stage->sm, &bench->port);
    assert_int_equal(counters(bench)->l1d_write_backs, 0);
    assert_false(bench->l1d.is_flushing);
    assert_int_equal(tag_array_find(&bench->l1d.tags, B), TAG_NONE);
    stage_free(bench->stage);
}

/* ---- A store shared with shared memory ---- */

static void test_a_carve_out_leaves_ways_in_proportion_from_the_next_flush_on(void **state) {
    (void)state;
    Bench *bench = start("l1d.size=128KiB l1d.ways=256 l1d.index=linear l1d.unified=128KiB "
                         "l1d.carve_outs=[0,8,16,32,64,96]");
    static const uint32_t rows[][2] = {{0, 256}, {8, 240}, {16, 224}, {64, 128}, {96, 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t before = bench->l1d.tags.ways;
        l1d_carve_out(&bench->l1d, bench->stage->sm.config, rows[i][0] * 1024);
        assert_int_equal(bench->l1d.tags.ways, before);
        l1d_flush(&bench->l1d, &bench->stage->sm, &bench->port);
        assert_int_equal(bench->l1d.tags.ways, rows[i][1]);
    }
    stage_free(bench->stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hit_is_done_when_the_latency_is_over_and_not_before),
        cmocka_unit_test(test_the_data_of_a_hit_come_after_the_latency_of_hits),
        cmocka_unit_test(test_the_queue_is_as_long_as_the_latency),
        cmocka_unit_test(test_events_name_the_first_access_of_a_line),
        cmocka_unit_test(test_a_miss_asks_for_its_line_and_waiting_loads_come_back_in_order),
        cmocka_unit_test(test_a_set_counts_its_lookups_misses_and_evictions),
        cmocka_unit_test(test_hits_are_told_by_who_brought_the_line_in),
        cmocka_unit_test(test_two_mshrs_refuse_the_third_line_until_the_last_load_of_one_has_left),
        cmocka_unit_test(test_a_merged_miss_is_the_first_warps),
        cmocka_unit_test(test_an_mshr_of_two_refuses_the_third_load_until_the_line_is_there),
        cmocka_unit_test(test_a_miss_queue_without_two_places_refuses_until_one_is_sent),
        cmocka_unit_test(test_a_set_full_of_lines_under_way_refuses_until_one_is_filled),
        cmocka_unit_test(test_a_store_may_need_a_way_though_it_takes_none),
        cmocka_unit_test(test_a_store_that_is_passed_on_drops_its_line_where_the_policy_evicts),
        cmocka_unit_test(test_a_store_drops_its_sector_of_a_line_that_is_on_its_way_in_part),
        cmocka_unit_test(test_a_write_back_cache_keeps_stores_and_writes_back_what_is_dirty),
        cmocka_unit_test(test_only_dirty_sectors_are_written_back),
        cmocka_unit_test(test_a_flush_takes_as_long_as_the_queue_lets_it),
        cmocka_unit_test(test_a_store_that_fetches_its_line_wakes_nobody_when_it_comes),
        cmocka_unit_test(test_a_perfect_l1d_hits_always_and_sends_nothing),
        cmocka_unit_test(test_allocation_on_fill_takes_a_line_when_the_data_come),
        cmocka_unit_test(test_a_load_that_is_not_to_allocate_leaves_no_line),
        cmocka_unit_test(test_streaming_loads_leave_other_lines_alone),
        cmocka_unit_test(test_a_prefetch_brings_its_line_and_nobody_waits_for_it),
        cmocka_unit_test(test_each_bank_looks_up_an_access_a_cycle),
        cmocka_unit_test(test_what_does_not_hit_keeps_the_next_lookup_for_longer),
        cmocka_unit_test(test_every_request_that_waits_can_take_an_mshr),
        cmocka_unit_test(test_a_bank_that_is_stuck_lets_the_others_go_on),
        cmocka_unit_test(test_a_line_that_another_bank_brings_ends_the_want_of_a_way),
        cmocka_unit_test(test_sectors_written_in_parts_can_be_read_once_all_their_bytes_are),
        cmocka_unit_test(test_a_load_fetches_what_a_store_has_left_open),
        cmocka_unit_test(test_what_was_written_through_is_never_written_back),
        cmocka_unit_test(test_a_carve_out_leaves_ways_in_proportion_from_the_next_flush_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
