/* The load/store unit alone: the cycle in which each kind of access is written back, and what
 * delays it. The L1D, port and banks that it uses are real. */
#include "sm/lsu.h"
#include "stage.h"

enum { A = 0x10000 };

typedef struct Bench {
    Stage *stage;
    SmPort port;
    SmL1d l1d;
    SmLsu lsu;
    uint64_t written; /* banks, in this cycle */
    SmBankWrites writes;
    uint32_t load, store, atomic; /* pcs; the load writes register 3 */
} Bench;

static Bench *start(const char *settings, int packets) {
    Stage *stage = stage_new(settings, packets);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    l1d_init(&bench->l1d, &stage->sm, &bench->port);
    lsu_init(&bench->lsu, &stage->sm, &bench->l1d, &bench->port);
    bench->writes = (SmBankWrites){.of = {&bench->written}};
    StageInst memory = {
        .op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD, .dst_count = 1, .dst = {3}};
    bench->load = stage_program(stage, &memory);
    memory.memory = ISA_MEMORY_ATOMIC;
    bench->atomic = stage_program(stage, &memory);
    memory.memory = ISA_MEMORY_STORE;
    memory.dst_count = 0;
    bench->store = stage_program(stage, &memory);
    return bench;
}

static uint16_t make(Bench *bench, uint32_t pc, SmPath path, uint16_t accesses) {
    return stage_memory_inst(bench->stage, pc, 6, path, A, accesses);
}

static void step(Bench *bench) {
    stage_cycle(bench->stage);
    bench->written = 0;
    lsu_step(&bench->lsu, &bench->stage->sm, &bench->l1d, &bench->port, &bench->writes);
}

/* The unit takes an instruction in the current cycle. */
static uint16_t accept(Bench *bench, uint16_t inst) {
    assert_true(lsu_accept(&bench->lsu, &bench->stage->sm, inst));
    return inst;
}

/* Cycles until the event, with no other event before it. */
static uint32_t cycles_to(Bench *bench, SmEventKind kind, uint32_t index) {
    for (uint32_t cycles = 1; cycles < 500; cycles++) {
        step(bench);
        if (stage_is_silent(bench->stage)) continue;
        assert_true(stage_has_event(bench->stage, kind, index));
        return cycles;
    }
    fail_msg("no event");
    return 0;
}

/* The request that was sent, after its time in the network. */
static MemRequest *sent(Bench *bench) {
    stage_move(bench->stage);
    return stage_sent(bench->stage, &bench->port);
}

static void answer(Bench *bench, const MemRequest *request) {
    stage_reply(bench->stage, request, (int)mem_replies(request));
    stage_deliver(bench->stage, &bench->port);
}

/* ---- The latch ---- */

/* Five accesses, one per cycle, keep the latch a cycle longer than the time from pick to pick. */
static void test_only_what_stays_longer_than_a_pick_stalls_the_pipeline(void **state) {
    (void)state;
    for (int stalls = 0; stalls < 2; stalls++) {
        for (uint16_t accesses = 4; accesses <= 5; accesses++) {
            Bench *bench = start(stalls ? "lsu.stalls_pipeline=yes scheduler.issue_interval=4"
                                        : "scheduler.issue_interval=4",
                                 8);
            const SmContext *sm = &bench->stage->sm;
            accept(bench, make(bench, bench->load, SM_PATH_L1D, accesses));
            for (int cycle = 0; cycle < 4; cycle++) {
                assert_false(lsu_stalls_pipeline(&bench->lsu, sm));
                step(bench);
            }
            assert_int_equal(lsu_stalls_pipeline(&bench->lsu, sm), stalls && accesses > 4);
            step(bench);
            assert_false(lsu_stalls_pipeline(&bench->lsu, sm));
            stage_free(bench->stage);
        }
    }
}

/* ---- The pipeline in a row ---- */

/* Three stages of four cycles: instructions leave one per pick, and data that memory returns take a
 * pick from them. The pipeline stalls when all stages are full. */
static void test_what_memory_returns_keeps_instructions_in_a_row(void **state) {
    (void)state;
    for (int returns = 0; returns < 2; returns++) {
        Bench *bench = start("lsu.row_stages=3 scheduler.issue_interval=4 l1d.latency=1", 8);
        const SmContext *sm = &bench->stage->sm;
        MemRequest request = {.address = A};
        if (returns) {
            accept(bench, make(bench, bench->load, SM_PATH_L1D, 1));
            step(bench);
            step(bench);
            assert_int_equal(bench->port.misses[MEM_CLIENT_L1D].count, 1);
        }
        uint64_t first = sm->cycle;
        for (int pick = 0; pick < 3; pick++) {
            assert_false(lsu_stalls_pipeline(&bench->lsu, sm));
            lsu_note_issue(&bench->lsu, sm->cycle);
            for (int cycle = 0; cycle < 4; cycle++) {
                if (pick == 2 && cycle == 3 && returns)
                    l1d_line_arrived(&bench->l1d, &bench->stage->sm, &bench->port, &request);
                step(bench);
            }
        }
        assert_int_equal(sm->cycle, first + 12);
        /* the first instruction would leave now if the access did not */
        assert_int_equal(lsu_stalls_pipeline(&bench->lsu, sm), returns);
        assert_int_equal(lsu_has_work(&bench->lsu, sm, &bench->l1d, &bench->port), returns);
        for (int cycle = 0; returns && cycle < 4; cycle++) {
            assert_true(lsu_stalls_pipeline(&bench->lsu, sm));
            step(bench);
        }
        assert_false(lsu_stalls_pipeline(&bench->lsu, sm));
        stage_free(bench->stage);
    }
}

/* Accesses from memory are written back one per pick, whatever else the port could take. */
static void test_a_row_takes_an_access_of_memory_a_pick(void **state) {
    (void)state;
    Bench *bench =
        start("lsu.row_stages=5 scheduler.issue_interval=4 l1d.latency=1 l1d.mshr_merges=4", 8);
    uint16_t inst[3];
    for (int i = 0; i < 3; i++) {
        inst[i] = accept(bench, make(bench, bench->load, SM_PATH_L1D, 1));
        step(bench);
        step(bench);
    }
    MemRequest request = {.address = A};
    l1d_line_arrived(&bench->l1d, &bench->stage->sm, &bench->port, &request);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst[0]), 2);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst[1]), 4);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst[2]), 4);
    stage_free(bench->stage);
}

/* ---- Shared memory ---- */

/* Taken at t, done with c conflicts at t + c, then through the pipe, and one cycle for the port. */
static void test_shared_loads_take_conflicts_and_latency(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        uint16_t conflicts;
        uint32_t cycles;
    } rows[] = {{"shared.latency=2", 1, 4},
                {"shared.latency=26", 1, 28},
                {"shared.latency=26", 2, 29},
                {"shared.latency=26", 32, 59}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench *bench = start(rows[i].settings, 8);
        uint16_t inst = make(bench, bench->load, SM_PATH_SHARED, 1);
        insts_memory_of(&bench->stage->sm.insts, inst)->cycles = rows[i].conflicts;
        accept(bench, inst);
        for (uint16_t c = 1; c < rows[i].conflicts; c++) {
            step(bench);
            assert_false(lsu_is_free(&bench->lsu));
        }
        step(bench);
        assert_true(lsu_is_free(&bench->lsu));
        assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst),
                         rows[i].cycles - rows[i].conflicts);
        assert_int_equal(bench->written, bench->stage->sm.insts.inst[inst].writes);
        assert_int_equal(bench->stage->sm.counters.shared_cycles, rows[i].conflicts);
        assert_int_equal(bench->stage->sm.counters.shared_instructions, 1);
        stage_free(bench->stage);
    }
}

/* The fourth of several loads in a row waits in the latch until the port has taken the first. */
static void test_the_pipe_of_shared_memory_holds_as_many_loads_as_it_is_deep(void **state) {
    (void)state;
    for (uint32_t depth = 0; depth <= 3; depth += 3) {
        Bench *bench = start(depth ? "shared.latency=8 shared.depth=3" : "shared.latency=8", 8);
        for (int i = 0; i < 3; i++) {
            accept(bench, make(bench, bench->load, SM_PATH_SHARED, 1));
            step(bench);
            assert_true(lsu_is_free(&bench->lsu));
        }
        accept(bench, make(bench, bench->load, SM_PATH_SHARED, 1));
        for (int cycle = 4; cycle < 9; cycle++) {
            step(bench);
            assert_int_equal(lsu_is_free(&bench->lsu), !depth);
            assert_true(lsu_has_work(&bench->lsu, &bench->stage->sm, &bench->l1d, &bench->port) ||
                        !depth);
        }
        step(bench);
        assert_true(lsu_is_free(&bench->lsu));
        assert_int_equal(bench->stage->sm.counters.shared_instructions, 4);
        stage_free(bench->stage);
    }
}

static void test_a_shared_store_ends_with_its_last_conflict(void **state) {
    (void)state;
    Bench *bench = start("", 8);
    uint16_t inst = make(bench, bench->store, SM_PATH_SHARED, 1);
    insts_memory_of(&bench->stage->sm.insts, inst)->cycles = 5;
    accept(bench, inst);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst), 5);
    stage_free(bench->stage);
}

static void test_the_latch_takes_one_instruction_at_a_time(void **state) {
    (void)state;
    Bench *bench = start("", 8);
    uint16_t first = make(bench, bench->store, SM_PATH_SHARED, 1);
    uint16_t second = make(bench, bench->store, SM_PATH_SHARED, 1);
    insts_memory_of(&bench->stage->sm.insts, first)->cycles = 2;
    accept(bench, first);
    assert_false(lsu_accept(&bench->lsu, &bench->stage->sm, second));
    step(bench);
    assert_true(lsu_has_work(&bench->lsu, &bench->stage->sm, &bench->l1d, &bench->port));
    assert_false(lsu_accept(&bench->lsu, &bench->stage->sm, second));
    step(bench);
    assert_true(lsu_accept(&bench->lsu, &bench->stage->sm, second));
    stage_free(bench->stage);
}

/* ---- Constants and textures ---- */

static void test_a_constant_hit_ends_in_the_cycle_of_its_access(void **state) {
    (void)state;
    Bench *bench = start("l1c.latency=0", 8);
    uint16_t miss = accept(bench, make(bench, bench->load, SM_PATH_CONST, 1));
    step(bench); /* looks up and queues the miss */
    step(bench); /* the miss leaves */
    MemRequest *request = sent(bench);
    assert_int_equal(request->client, MEM_CLIENT_L1C);
    answer(bench, request);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, miss), 3); /* handled, chosen, written */
    uint16_t hit = accept(bench, make(bench, bench->load, SM_PATH_CONST, 1));
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, hit), 1);
    assert_int_equal(bench->stage->sm.counters.l1c_accesses, 2);
    assert_int_equal(bench->stage->sm.counters.l1c_misses, 1);
    stage_free(bench->stage);
}

static void test_with_a_perfect_l1_constants_and_textures_hit_too(void **state) {
    (void)state;
    Bench *bench = start("l1c.latency=0 l1t.latency=10", 8);
    bench->stage->sm.env.is_l1_perfect = true;
    uint16_t constant = accept(bench, make(bench, bench->load, SM_PATH_CONST, 1));
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, constant), 1);
    uint16_t texture = accept(bench, make(bench, bench->load, SM_PATH_TEXTURE, 1));
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, texture), 1 + 10 + 2);
    assert_int_equal(bench->stage->sm.counters.l1c_misses, 0);
    assert_int_equal(bench->stage->sm.counters.l1t_misses, 0);
    stage_free(bench->stage);
}

static void test_knows_that_a_texture_finds_no_room(void **state) {
    (void)state;
    Bench *bench = start("l1t.mshrs=1", 8);
    accept(bench, make(bench, bench->load, SM_PATH_TEXTURE, 2));
    step(bench); /* looks up and queues the miss */
    assert_false(bench->lsu.is_refused);
    step(bench); /* the miss leaves; the other access finds no MSHR */
    assert_true(bench->lsu.is_refused);
    assert_false(lsu_is_free(&bench->lsu));
    answer(bench, sent(bench));
    while (!lsu_is_free(&bench->lsu))
        step(bench);
    assert_false(bench->lsu.is_refused);
    stage_free(bench->stage);
}

static void test_a_texture_hit_passes_its_caches_latency(void **state) {
    (void)state;
    Bench *bench = start("l1t.latency=10", 8);
    read_cache_fill(&bench->lsu.l1t, A);
    uint16_t hit = accept(bench, make(bench, bench->load, SM_PATH_TEXTURE, 1));
    /* access, latency, chosen, written */
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, hit), 1 + 10 + 2);
    assert_int_equal(lsu_next_event(&bench->lsu, &bench->l1d), UINT64_MAX);
    stage_free(bench->stage);
}

/* Steps until a request goes out, for at most `cycles` cycles. Returns the request. */
static MemRequest *sent_within(Bench *bench, uint32_t cycles) {
    MemRequest *request = NULL;
    while (cycles-- && !request) {
        step(bench);
        request = sent(bench);
    }
    return request;
}

static uint16_t make_texture(Bench *bench, uint64_t address) {
    return stage_memory_inst(bench->stage, bench->load, 6, SM_PATH_TEXTURE, address, 1);
}

/* A miss whose line arrives before the line of an older miss waits for that one. A hit waits for no
 * other. */
static void test_textures_end_in_the_order_of_their_misses_if_they_shall(void **state) {
    (void)state;
    for (int in_order = 0; in_order < 2; in_order++) {
        Bench *bench = start(in_order ? "l1t.latency=0 lsu.textures_in_order=yes"
                                      : "l1t.latency=0 lsu.textures_in_order=no",
                             64);
        read_cache_fill(&bench->lsu.l1t, A + 0x2000);
        uint16_t older = accept(bench, make_texture(bench, A));
        MemRequest *first = sent_within(bench, 5);
        uint16_t younger = accept(bench, make_texture(bench, A + 0x1000));
        MemRequest *second = sent_within(bench, 5);
        uint16_t hit = accept(bench, make_texture(bench, A + 0x2000));
        assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, hit), 1);
        answer(bench, second);
        if (in_order)
            for (int cycle = 0; cycle < 10; cycle++) {
                step(bench);
                assert_true(stage_is_silent(bench->stage));
            }
        else assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, younger), 3);
        answer(bench, first);
        assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, older), 3);
        if (in_order) /* a cycle late, because both write the same register */
            assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, younger), 2);
        stage_free(bench->stage);
    }
}

/* A line that arrives before its turn keeps one of two MSHRs; a hit needs none. */
static void test_a_texture_keeps_its_mshr_until_it_ends(void **state) {
    (void)state;
    Bench *bench = start("l1t.latency=0 lsu.textures_in_order=yes l1t.mshr_requests=2", 64);
    uint16_t older = accept(bench, make_texture(bench, A));
    MemRequest *first = sent_within(bench, 5);
    accept(bench, make_texture(bench, A + 0x1000));
    answer(bench, sent_within(bench, 5));
    step(bench);
    uint16_t hit = accept(bench, make_texture(bench, A + 0x1000));
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, hit), 1);
    accept(bench, make_texture(bench, A + 0x2000));
    assert_null(sent_within(bench, 10));
    assert_true(bench->lsu.is_refused);
    answer(bench, first);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, older), 3);
    assert_non_null(sent_within(bench, 5));
    stage_free(bench->stage);
}

/* One MSHR for all caches: a miss in one blocks misses in the others until its data are written. */
static void test_caches_may_share_their_mshrs(void **state) {
    (void)state;
    static const char *const settings[] = {
        "lsu.mshrs=1 l1d.latency=1 l1t.latency=0 l1c.latency=0",
        "lsu.mshrs=1 l1d.latency=1 l1t.latency=0 l1c.latency=0 lsu.textures_in_order=yes"};
    static const SmPath paths[] = {SM_PATH_TEXTURE, SM_PATH_L1D, SM_PATH_CONST};
    for (int i = 0; i < 2 * 3 * 3; i++) {
        Bench *bench = start(settings[i / 9], 64);
        const SmPath has = paths[i % 3], wants = paths[i / 3 % 3];
        uint16_t inst = stage_memory_inst(bench->stage, bench->load, 6, has, A, 1);
        accept(bench, inst);
        MemRequest *request = sent_within(bench, 10);
        assert_non_null(request);
        uint16_t other = stage_memory_inst(bench->stage, bench->load, 7, wants, A + 0x1000, 1);
        accept(bench, other);
        assert_null(sent_within(bench, 20));
        answer(bench, request);
        assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst), 3);
        request = sent_within(bench, 10);
        assert_non_null(request);
        answer(bench, request);
        assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, other), 3);
        stage_free(bench->stage);
    }
}

/* A constant that is only in the second of two caches also keeps the shared MSHR until it is
 * written. */
static void test_a_constant_in_two_levels_gives_its_shared_mshr_back(void **state) {
    (void)state;
    Bench *bench = start("lsu.mshrs=1 l1d.latency=1 l1c.latency=0 lsu.second_constants=yes "
                         "l15c.latency=40",
                         64);
    read_cache_fill(&bench->lsu.l15c, A);
    uint16_t constant = accept(bench, make(bench, bench->load, SM_PATH_CONST, 1));
    step(bench);
    uint16_t load = stage_memory_inst(bench->stage, bench->load, 7, SM_PATH_L1D, A + 0x1000, 1);
    accept(bench, load);
    assert_null(sent_within(bench, 10));
    cycles_to(bench, SM_EVENT_INST_DONE, constant);
    MemRequest *request = sent_within(bench, 10);
    assert_non_null(request);
    answer(bench, request);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, load), 3);
    stage_free(bench->stage);
}

/* ---- Past the L1D ---- */

static void test_a_load_that_bypasses_ends_two_cycles_after_its_last_reply(void **state) {
    (void)state;
    Bench *bench = start("lsu.accesses_per_cycle=1", 64);
    uint16_t inst = accept(bench, make(bench, bench->load, SM_PATH_BYPASS, 2));
    step(bench);
    assert_false(lsu_is_free(&bench->lsu)); /* one access a cycle */
    step(bench);
    assert_true(lsu_is_free(&bench->lsu));
    MemRequest *first = sent(bench), *second = stage_sent(bench->stage, &bench->port);
    assert_int_equal(first->client, MEM_CLIENT_BYPASS);
    assert_int_equal(first->op, MEM_OP_READ);
    assert_int_equal(first->waiting, inst);
    answer(bench, first);
    for (int i = 0; i < 5; i++) {
        step(bench);
        assert_true(stage_is_silent(bench->stage)); /* the other half is still to come */
    }
    answer(bench, second);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst), 3);
    assert_int_equal(bench->stage->sm.counters.coalesced_accesses, 2);
    assert_int_equal(bench->stage->sm.counters.memory_requests, 1);
    stage_free(bench->stage);
}

static void test_several_accesses_go_in_a_cycle_where_the_machine_says_so(void **state) {
    (void)state;
    Bench *bench = start("lsu.accesses_per_cycle=3", 64);
    accept(bench, make(bench, bench->load, SM_PATH_BYPASS, 7));
    for (int left = 7; left > 0; left -= 3) {
        assert_false(lsu_is_free(&bench->lsu));
        step(bench);
    }
    assert_true(lsu_is_free(&bench->lsu));
    assert_int_equal(bench->port.outstanding, 7);
    stage_free(bench->stage);
}

static void test_a_store_is_done_when_handed_on_and_acknowledged_later(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    uint16_t inst = accept(bench, make(bench, bench->store, SM_PATH_BYPASS, 1));
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst), 1);
    MemRequest *request = sent(bench);
    assert_int_equal(request->op, MEM_OP_WRITE);
    assert_int_equal(request->client, MEM_CLIENT_STORE);
    assert_int_equal(request->waiting, 6); /* its warp */
    answer(bench, request);
    assert_int_equal(cycles_to(bench, SM_EVENT_STORE_DONE, 6), 1);
    stage_free(bench->stage);
}

static void test_an_atomic_is_answered_and_then_written_back(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    uint16_t inst = accept(bench, make(bench, bench->atomic, SM_PATH_BYPASS, 1));
    step(bench);
    MemRequest *request = sent(bench);
    assert_int_equal(request->op, MEM_OP_ATOMIC);
    answer(bench, request);
    assert_int_equal(cycles_to(bench, SM_EVENT_ATOMIC_DONE, 6), 1);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst), 2);
    stage_free(bench->stage);
}

static void test_a_full_network_keeps_the_access_in_the_latch(void **state) {
    (void)state;
    Bench *bench = start("", 1);
    accept(bench, make(bench, bench->load, SM_PATH_BYPASS, 1));
    step(bench);
    accept(bench, make(bench, bench->load, SM_PATH_BYPASS, 1));
    for (int i = 0; i < 3; i++) {
        step(bench);
        assert_false(lsu_is_free(&bench->lsu));
    }
    assert_non_null(sent(bench));
    step(bench);
    assert_true(lsu_is_free(&bench->lsu));
    stage_free(bench->stage);
}

/* ---- Through the L1D ---- */

/* Accesses in the queues of the L1D's banks. */
static uint32_t waiting_in_l1d(const Bench *bench) {
    uint32_t count = 0;
    for (uint32_t bank = 0; bank < bench->l1d.bank_count; bank++)
        count += bench->l1d.banks[bank].count;
    return count;
}

static void test_a_full_l1d_queue_keeps_the_access_in_the_latch(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=2 lsu.accesses_per_cycle=8", 64);
    accept(bench, make(bench, bench->load, SM_PATH_L1D, 3));
    step(bench);
    assert_false(lsu_is_free(&bench->lsu)); /* two places for three accesses */
    assert_int_equal(waiting_in_l1d(bench), 2);
    step(bench);
    assert_false(lsu_is_free(&bench->lsu));
    step(bench); /* the first access has looked up its tags */
    assert_true(lsu_is_free(&bench->lsu));
    stage_free(bench->stage);
}

/* Accesses are looked up from the latch. A hit ends in the cycle of its access, and a miss leaves.
 * A refused access keeps the latch until it is taken, which needs a cycle of its own. */
static void test_without_latency_the_latch_keeps_what_the_l1d_refuses(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=0 l1d.mshrs=1 l1d.miss_queue=16", 64);
    accept(bench, make(bench, bench->load, SM_PATH_L1D, 1));
    step(bench);
    assert_true(lsu_is_free(&bench->lsu));
    assert_int_equal(bench->port.misses[MEM_CLIENT_L1D].count, 1);
    assert_int_equal(waiting_in_l1d(bench), 0);
    accept(bench, make(bench, bench->load, SM_PATH_L1D, 2)); /* the second is refused */
    for (int cycle = 0; cycle < 4; cycle++) {
        step(bench);
        assert_false(lsu_is_free(&bench->lsu));
    }
    assert_int_equal(bench->stage->sm.counters.l1d_accesses, 2);
    assert_true(l1d_is_refusing(&bench->l1d));
    stage_move(bench->stage);
    answer(bench, stage_sent(bench->stage, &bench->port));
    step(bench); /* the line has come; the port takes the first of its loads in the next */
    assert_false(lsu_is_free(&bench->lsu));
    step(bench);
    step(bench);
    step(bench);
    assert_true(lsu_is_free(&bench->lsu)); /* once the MSHR is free */
    assert_int_equal(bench->stage->sm.counters.l1d_accesses, 3);
    uint16_t hit = accept(bench, make(bench, bench->load, SM_PATH_L1D, 1));
    step(bench);
    assert_true(stage_has_event(bench->stage, SM_EVENT_INST_DONE, hit));
    stage_free(bench->stage);
}

/* If tags can be looked up that often, the latch hands on two accesses per cycle. */
static void test_two_accesses_a_cycle_are_looked_up_from_the_latch(void **state) {
    (void)state;
    for (int interval = 0; interval < 2; interval++) {
        Bench *bench = start(interval ? "l1d.latency=0 lsu.accesses_per_cycle=2 l1d.miss_queue=64"
                                      : "l1d.latency=0 lsu.accesses_per_cycle=2 l1d.miss_queue=64 "
                                        "l1d.bank_interval=0 l1d.miss_interval=0",
                             64);
        accept(bench, make(bench, bench->load, SM_PATH_L1D, 5));
        for (uint64_t cycle = 1; cycle <= (interval ? 5 : 3); cycle++) {
            assert_false(lsu_is_free(&bench->lsu));
            step(bench);
            uint64_t most = interval ? cycle : 2 * cycle;
            assert_int_equal(bench->stage->sm.counters.l1d_accesses, most < 5 ? most : 5);
        }
        assert_true(lsu_is_free(&bench->lsu));
        stage_free(bench->stage);
    }
}

static void test_so_many_misses_leave_in_a_cycle(void **state) {
    (void)state;
    for (uint32_t sends = 1; sends <= 2; sends++) {
        Bench *bench =
            start(sends == 1 ? "l1d.latency=0 lsu.accesses_per_cycle=4 l1d.miss_queue=64 "
                               "l1d.bank_interval=0 l1d.miss_interval=0"
                             : "l1d.latency=0 lsu.accesses_per_cycle=4 l1d.miss_queue=64 "
                               "l1d.bank_interval=0 l1d.miss_interval=0 "
                               "lsu.sends_per_cycle=2",
                  64);
        accept(bench, make(bench, bench->load, SM_PATH_L1D, 4));
        step(bench);
        assert_int_equal(bench->port.misses[MEM_CLIENT_L1D].count, 4);
        for (uint32_t left = 4; left; left -= sends) {
            assert_int_equal(bench->port.outstanding, 4 - left);
            step(bench);
        }
        assert_int_equal(bench->port.outstanding, 4);
        stage_free(bench->stage);
    }
}

/* The accesses of stage_memory_inst are 128 bytes apart: in four banks with banks of 128 bytes, in
 * one bank with banks of 32. */
static void test_an_access_a_cycle_enters_each_bank_of_the_l1d(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        uint32_t cycles;
    } rows[] = {{"l1d.banks=4 l1d.bank=128B", 2}, {"l1d.banks=4 l1d.bank=32B", 8}};
    for (int i = 0; i < 2; i++) {
        Bench *bench = start(rows[i].settings, 64);
        accept(bench, make(bench, bench->load, SM_PATH_L1D, 8));
        for (uint32_t cycle = 1; cycle <= rows[i].cycles; cycle++) {
            assert_false(lsu_is_free(&bench->lsu));
            step(bench);
            assert_int_equal(waiting_in_l1d(bench), cycle * 8 / rows[i].cycles);
        }
        assert_true(lsu_is_free(&bench->lsu));
        stage_free(bench->stage);
    }
}

static void test_constants_that_always_hit_ask_for_nothing(void **state) {
    (void)state;
    Bench *bench = start("lsu.constants_hit=yes", 64);
    uint16_t inst = accept(bench, make(bench, bench->load, SM_PATH_CONST, 1));
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst), 1);
    assert_null(sent(bench));
    stage_free(bench->stage);
}

static void test_an_l1d_miss_ends_two_cycles_after_its_reply(void **state) {
    (void)state;
    Bench *bench = start("l1d.latency=3", 64);
    uint16_t inst = accept(bench, make(bench, bench->load, SM_PATH_L1D, 1));
    MemRequest *request = NULL;
    for (uint32_t cycles = 1; !request; cycles++) {
        step(bench);
        request = sent(bench);
        /* enters at 1, looks up its tags 3 cycles later, and the miss leaves in the next cycle */
        assert_int_equal(request != NULL, cycles == 1 + 3 + 1);
    }
    answer(bench, request);
    assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst), 3);
    stage_free(bench->stage);
}

/* ---- The write-back port ---- */

/* Loads from shared memory and past the L1D whose data arrive in the same cycle. Returns the number
 * of results in the first cycle. */
static uint32_t results_in_first_cycle(const char *settings) {
    Bench *bench = start(settings, 64);
    uint16_t bypass = accept(bench, make(bench, bench->load, SM_PATH_BYPASS, 1));
    step(bench);
    MemRequest *request = sent(bench);
    StageInst other = {
        .op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD, .dst_count = 1, .dst = {4}};
    uint16_t shared =
        accept(bench, stage_memory_inst(bench->stage, stage_program(bench->stage, &other), 6,
                                        SM_PATH_SHARED, 0, 1));
    step(bench);
    answer(bench, request);
    for (int i = 0; i < 3; i++) /* both are there, chosen, written */
        step(bench);
    uint32_t results = bench->stage->sm.events.count;
    assert_true(results >= 1);
    if (results == 1) {
        step(bench);
        assert_int_equal(bench->stage->sm.events.count, 1);
    } else {
        assert_int_not_equal(bench->stage->sm.events.items[0].index,
                             bench->stage->sm.events.items[1].index);
    }
    (void)bypass, (void)shared;
    stage_free(bench->stage);
    return results;
}

static void test_each_port_writes_back_one_load_a_cycle(void **state) {
    (void)state;
    assert_int_equal(results_in_first_cycle("shared.latency=2 lsu.writeback_ports=1"), 1);
    assert_int_equal(results_in_first_cycle("shared.latency=2 lsu.writeback_ports=2"), 2);
}

/* Texture hits that come in consecutive cycles, and a reply between them: the port takes turns. */
static void test_ways_back_take_turns_at_the_port(void **state) {
    (void)state;
    Bench *bench = start("l1t.latency=20 lsu.accesses_per_cycle=8", 64);
    read_cache_fill(&bench->lsu.l1t, A);
    uint16_t past = accept(bench, make(bench, bench->load, SM_PATH_BYPASS, 1));
    step(bench);
    MemRequest *request = sent(bench);
    uint16_t texture[3];
    for (int i = 0; i < 3; i++) {
        StageInst other = {.op_class = ISA_CLASS_MEMORY,
                           .memory = ISA_MEMORY_LOAD,
                           .dst_count = 1,
                           .dst = {(uint8_t)(4 + i)}}; /* a bank of its own */
        texture[i] = stage_memory_inst(bench->stage, stage_program(bench->stage, &other), 6,
                                       SM_PATH_TEXTURE, A, 1);
        accept(bench, texture[i]);
        step(bench);
        assert_true(lsu_is_free(&bench->lsu));
    }
    /* Accessed at 2, 3 and 4, available at 22, 23 and 24, chosen a cycle later. The reply handled
     * at 23 competes with the second hit, after the first has had its turn. */
    while (bench->stage->sm.cycle < 22)
        step(bench);
    answer(bench, request);
    const uint16_t order[] = {texture[0], past, texture[1], texture[2]};
    for (int i = 0; i < 4; i++)
        cycles_to(bench, SM_EVENT_INST_DONE, order[i]);
    stage_free(bench->stage);
}

/* The load waits to be chosen, and is written a cycle after that; or it has already been chosen,
 * and waits then. */
static void test_a_bank_that_a_pipeline_writes_keeps_the_load_waiting(void **state) {
    (void)state;
    for (uint32_t late = 0; late < 2; late++) {
        Bench *bench =
            start(late ? "shared.latency=1 lsu.waits_at_write=yes" : "shared.latency=1", 8);
        uint16_t inst = accept(bench, make(bench, bench->load, SM_PATH_SHARED, 1));
        step(bench);
        for (int i = 0; i < 4; i++) { /* its bank is written in every cycle */
            stage_cycle(bench->stage);
            bench->written = bench->stage->sm.insts.inst[inst].writes;
            lsu_step(&bench->lsu, &bench->stage->sm, &bench->l1d, &bench->port, &bench->writes);
            assert_true(stage_is_silent(bench->stage));
        }
        assert_int_equal(cycles_to(bench, SM_EVENT_INST_DONE, inst), 2 - late);
        stage_free(bench->stage);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_what_stays_longer_than_a_pick_stalls_the_pipeline),
        cmocka_unit_test(test_what_memory_returns_keeps_instructions_in_a_row),
        cmocka_unit_test(test_a_row_takes_an_access_of_memory_a_pick),
        cmocka_unit_test(test_shared_loads_take_conflicts_and_latency),
        cmocka_unit_test(test_the_pipe_of_shared_memory_holds_as_many_loads_as_it_is_deep),
        cmocka_unit_test(test_a_shared_store_ends_with_its_last_conflict),
        cmocka_unit_test(test_the_latch_takes_one_instruction_at_a_time),
        cmocka_unit_test(test_a_constant_hit_ends_in_the_cycle_of_its_access),
        cmocka_unit_test(test_with_a_perfect_l1_constants_and_textures_hit_too),
        cmocka_unit_test(test_knows_that_a_texture_finds_no_room),
        cmocka_unit_test(test_a_texture_hit_passes_its_caches_latency),
        cmocka_unit_test(test_textures_end_in_the_order_of_their_misses_if_they_shall),
        cmocka_unit_test(test_a_texture_keeps_its_mshr_until_it_ends),
        cmocka_unit_test(test_caches_may_share_their_mshrs),
        cmocka_unit_test(test_a_constant_in_two_levels_gives_its_shared_mshr_back),
        cmocka_unit_test(test_a_load_that_bypasses_ends_two_cycles_after_its_last_reply),
        cmocka_unit_test(test_several_accesses_go_in_a_cycle_where_the_machine_says_so),
        cmocka_unit_test(test_a_store_is_done_when_handed_on_and_acknowledged_later),
        cmocka_unit_test(test_an_atomic_is_answered_and_then_written_back),
        cmocka_unit_test(test_a_full_network_keeps_the_access_in_the_latch),
        cmocka_unit_test(test_a_full_l1d_queue_keeps_the_access_in_the_latch),
        cmocka_unit_test(test_without_latency_the_latch_keeps_what_the_l1d_refuses),
        cmocka_unit_test(test_two_accesses_a_cycle_are_looked_up_from_the_latch),
        cmocka_unit_test(test_so_many_misses_leave_in_a_cycle),
        cmocka_unit_test(test_an_access_a_cycle_enters_each_bank_of_the_l1d),
        cmocka_unit_test(test_constants_that_always_hit_ask_for_nothing),
        cmocka_unit_test(test_an_l1d_miss_ends_two_cycles_after_its_reply),
        cmocka_unit_test(test_each_port_writes_back_one_load_a_cycle),
        cmocka_unit_test(test_ways_back_take_turns_at_the_port),
        cmocka_unit_test(test_a_bank_that_a_pipeline_writes_keeps_the_load_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
