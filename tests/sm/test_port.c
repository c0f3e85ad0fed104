/* The network port alone: what is sent and when, what arrives and what it wakes. */
#include "stage.h"

typedef struct Bench {
    Stage *stage;
    SmPort port;
} Bench;

static Bench *start(const char *settings, int packets) {
    Stage *stage = stage_new(settings, packets);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    bench->stage = stage;
    port_init(&bench->port, &stage->sm);
    for (int cache = 0; cache < SM_CACHES; cache++)
        port_init_misses(&bench->port, &stage->sm, (MemClient)cache, 2);
    return bench;
}

static SmSend read_of(MemClient client, uint64_t address) {
    return (SmSend){.access = {.address = address, .sectors = 0xF, .bytes = 128},
                    .waiting = 77,
                    .op = MEM_OP_READ,
                    .client = (uint8_t)client,
                    .warp = 5};
}

static bool send(Bench *bench, const SmSend *what) {
    return port_send(&bench->port, &bench->stage->sm, what);
}

static MemRequest *receive(Bench *bench) { return stage_receive(bench->stage, &bench->port); }

/* Replies that the request still expects. */
static uint32_t expected(const Bench *bench, const MemRequest *request) {
    return bench->port.expected[mem_handle_index(request->handle)].replies;
}

static void test_a_request_says_all_that_a_partition_must_know(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    bench->stage->sm.cycle = 1234;
    bench->stage->sm.cta_of_warp[5] = 99;
    SmSend load = read_of(MEM_CLIENT_BYPASS, 0x4567 * 128);
    assert_true(send(bench, &load));
    stage_move(bench->stage);
    const MemRequest *request = stage_sent(bench->stage, &bench->port);
    assert_non_null(request);
    assert_int_equal(request->address, 0x4567 * 128);
    assert_int_equal(request->sectors, 0xF);
    assert_int_equal(request->bytes, 128);
    assert_int_equal(request->op, MEM_OP_READ);
    assert_int_equal(request->client, MEM_CLIENT_BYPASS);
    assert_int_equal(expected(bench, request), 4);
    assert_int_equal(request->waiting, 77);
    assert_int_equal(request->warp, 5);
    assert_int_equal(request->cta, 99);
    assert_int_equal(request->sent, 1234);
    assert_int_equal(request->target.index,
                     address_map_slice(&bench->stage->map, request->address));
    assert_int_equal(bench->port.outstanding, 1);
    assert_int_equal(bench->stage->sm.counters.reads_sent, 1);
    assert_null(stage_sent(bench->stage, &bench->port));
    stage_free(bench->stage);
}

static void test_a_line_smaller_than_a_sector_asks_for_the_sector_around_it(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    SmSend line = read_of(MEM_CLIENT_L1C, 0x1000 + 16);
    line.access.sectors = 1;
    line.access.bytes = 16;
    assert_true(send(bench, &line));
    stage_move(bench->stage);
    const MemRequest *request = stage_sent(bench->stage, &bench->port);
    assert_int_equal(request->address, 0x1000);
    assert_int_equal(port_line_of(request), 0x1000 + 16);
    stage_free(bench->stage);
}

static void test_a_write_carries_its_data_and_its_byte_mask(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    SmSend store = read_of(MEM_CLIENT_STORE, 0x2000), load = read_of(MEM_CLIENT_BYPASS, 0x2000);
    store.op = MEM_OP_WRITE;
    store.access.written = (SmBytes)0x5 << 64 | 0xA;
    assert_true(send(bench, &load));
    assert_int_equal(noc_stats(bench->stage->requests).bytes_injected, 8);
    assert_true(send(bench, &store));
    assert_int_equal(noc_stats(bench->stage->requests).bytes_injected, 8 + 8 + 128);
    stage_move(bench->stage);
    assert_int_equal(stage_sent(bench->stage, &bench->port)->op, MEM_OP_READ);
    const MemRequest *request = stage_sent(bench->stage, &bench->port);
    assert_int_equal(request->written[0], 0xA);
    assert_int_equal(request->written[1], 0x5);
    assert_int_equal(bench->stage->sm.counters.writes_sent, 1);
    assert_int_equal(bench->stage->sm.counters.reads_sent, 1);
    stage_free(bench->stage);
}

/* A store to the upper half of a 256-byte sector, whose bytes have no bits in the mask, still
 * writes only a part of the sector. */
static void test_a_part_beyond_the_byte_mask_stays_a_part(void **state) {
    (void)state;
    for (int is_part = 0; is_part < 2; is_part++) {
        Bench *bench = start("", 64);
        bench->stage->sm.env.l2_sector_bytes = 256;
        SmSend store = read_of(MEM_CLIENT_STORE, 0x2080);
        store.op = MEM_OP_WRITE;
        store.access.sectors = 1;
        store.access.written = is_part ? 0xF0 : 0;
        assert_true(send(bench, &store));
        stage_move(bench->stage);
        const MemRequest *request = stage_sent(bench->stage, &bench->port);
        assert_int_equal(request->address, 0x2000);
        assert_int_equal((request->written[0] | request->written[1]) != 0, is_part);
        stage_free(bench->stage);
    }
}

static void test_a_network_that_takes_one_packet_takes_the_next_after_it(void **state) {
    (void)state;
    Bench *bench = start("", 1);
    SmSend first = read_of(MEM_CLIENT_L1D, 0x1000), second = read_of(MEM_CLIENT_L1D, 0x2000);
    port_push_miss(&bench->port, MEM_CLIENT_L1D, &first);
    port_push_miss(&bench->port, MEM_CLIENT_L1D, &second);
    assert_false(port_has_room(&bench->port, MEM_CLIENT_L1D, 1));
    assert_true(port_step_misses(&bench->port, &bench->stage->sm, MEM_CLIENT_L1D));
    assert_false(port_step_misses(&bench->port, &bench->stage->sm, MEM_CLIENT_L1D));
    assert_int_equal(bench->port.outstanding, 1);
    assert_true(port_has_room(&bench->port, MEM_CLIENT_L1D, 1));
    assert_false(port_has_room(&bench->port, MEM_CLIENT_L1D, 2));
    stage_move(bench->stage);
    assert_int_equal(stage_sent(bench->stage, &bench->port)->address, 0x1000);
    assert_true(port_step_misses(&bench->port, &bench->stage->sm, MEM_CLIENT_L1D));
    assert_false(port_has_misses(&bench->port, MEM_CLIENT_L1D));
    stage_move(bench->stage);
    assert_int_equal(stage_sent(bench->stage, &bench->port)->address, 0x2000);
    assert_false(port_step_misses(&bench->port, &bench->stage->sm, MEM_CLIENT_L1D));
    stage_free(bench->stage);
}

static void test_a_port_has_so_many_records_and_no_more(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    SmSend load = read_of(MEM_CLIENT_BYPASS, 0x1000);
    MemRequest *request = NULL;
    for (int i = 0; i < SM_REQUESTS; i++) {
        assert_true(send(bench, &load));
        stage_move(bench->stage);
        request = stage_sent(bench->stage, &bench->port);
        assert_non_null(request);
    }
    assert_false(send(bench, &load));
    port_finish(&bench->port, &bench->stage->sm, request);
    assert_int_equal(bench->port.outstanding, SM_REQUESTS - 1);
    assert_true(send(bench, &load));
    stage_free(bench->stage);
}

static MemRequest *sent(Bench *bench, MemClient client, uint32_t sectors) {
    SmSend load = read_of(client, 0x1000);
    load.access.sectors = sectors;
    assert_true(send(bench, &load));
    stage_move(bench->stage);
    return stage_sent(bench->stage, &bench->port);
}

/* A packet takes one cycle to leave the network and one in the port's queue. Only the last packet
 * wakes the SM. */
static void test_the_last_reply_wakes_the_sm_and_is_handled(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    Stage *stage = bench->stage;
    stage->sm.view.cycle = stage->sm.cycle = 100;
    MemRequest *request = sent(bench, MEM_CLIENT_L1D, 0x7);
    stage_reply(stage, request, 3);
    for (int packet = 3; packet > 0; packet--) {
        assert_int_equal(stage->wake, UINT64_MAX);
        assert_null(receive(bench));
        stage_move(stage);
        assert_int_equal(expected(bench, request), packet);
    }
    stage_cycle(stage);
    assert_null(receive(bench));
    assert_int_equal(stage->wake, 101);
    assert_true(port_has_reply(&bench->port));
    assert_ptr_equal(port_take_reply(&bench->port), request);
    assert_null(port_take_reply(&bench->port));
    stage_cycle(stage);
    request->l2_cycles = 3, request->queue_ticks = 4, request->dram_ticks = 5;
    port_finish(&bench->port, &stage->sm, request);
    const Counters *c = &stage->sm.counters;
    assert_int_equal(bench->port.outstanding, 0);
    assert_int_equal(c->reads_answered, 1);
    assert_int_equal(c->load_cycles, 2);
    assert_int_equal(c->load_l2_cycles, 3);
    assert_int_equal(c->load_queue_cycles, 4);
    assert_int_equal(c->load_dram_cycles, 5);
    stage_free(stage);
}

static void test_a_unit_with_room_for_one_reply_leaves_the_rest_outside(void **state) {
    (void)state;
    Bench *bench = start("lsu.fifo=2 lsu.reply_fifo=1", 64);
    Stage *stage = bench->stage;
    MemRequest *first = sent(bench, MEM_CLIENT_L1D, 1), *second = sent(bench, MEM_CLIENT_L1C, 1);
    MemRequest *third = sent(bench, MEM_CLIENT_L1T, 1), *fourth = sent(bench, MEM_CLIENT_L1T, 1);
    stage_reply(stage, first, 1);
    stage_reply(stage, second, 1);
    stage_reply(stage, third, 1);
    stage_reply(stage, fourth, 1);
    stage_deliver(stage, &bench->port);
    uint32_t handle;
    assert_int_equal(bench->port.unit.count, 1);
    assert_int_equal(stage->inbox.count, 2);
    assert_true(noc_peek(stage->replies, STAGE_SM, &handle)); /* no place for the fourth */
    MemRequest *const order[] = {first, second, third, fourth};
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(port_take_reply(&bench->port), order[i]);
        assert_null(receive(bench));
        assert_null(receive(bench));
    }
    assert_int_equal(stage->inbox.count, 0);
    stage_free(stage);
}

static void test_instruction_lines_pass_a_full_unit(void **state) {
    (void)state;
    Bench *bench = start("lsu.reply_fifo=1", 64);
    Stage *stage = bench->stage;
    MemRequest *data = sent(bench, MEM_CLIENT_L1D, 1), *line = sent(bench, MEM_CLIENT_L1I, 0x3);
    stage_reply(stage, data, 1);
    stage_reply(stage, line, 2);
    MemRequest *got = NULL;
    for (int i = 0; i < 6 && !got; i++) {
        stage_move(stage);
        got = receive(bench);
    }
    assert_ptr_equal(got, line);
    assert_int_equal(expected(bench, line), 0);
    stage_free(stage);
}

static void test_an_acknowledged_write_counts_as_no_read(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    SmSend store = read_of(MEM_CLIENT_STORE, 0x1000);
    store.op = MEM_OP_WRITE;
    assert_true(send(bench, &store));
    stage_move(bench->stage);
    port_finish(&bench->port, &bench->stage->sm, stage_sent(bench->stage, &bench->port));
    assert_int_equal(bench->stage->sm.counters.writes_acknowledged, 1);
    assert_int_equal(bench->stage->sm.counters.reads_answered, 0);
    stage_free(bench->stage);
}

/* ---- Agents and other SMs ---- */

/* An agent that counts its calls; its record is `heard`. */
typedef struct Heard {
    uint32_t answered, served;
    const MemRequest *last;
} Heard;

static void hear_answer(void *agent, SmContext *sm, const MemRequest *request) {
    (void)sm;
    ((Heard *)agent)->answered++;
    ((Heard *)agent)->last = request;
}
static bool hear_request(void *agent, SmContext *sm, MemRequest *request) {
    (void)sm;
    ((Heard *)agent)->last = request;
    return !((Heard *)agent)->served++;
}
static void do_nothing(void *agent, SmContext *sm, SmPort *port) {
    (void)agent, (void)sm, (void)port;
}
static uint64_t at_answers(const void *agent) { return ((const Heard *)agent)->answered + 100; }

static const SmAgentOps asker = {
    .answered = hear_answer, .step = do_nothing, .next_step = at_answers};
static const SmAgentOps server = {
    .answered = hear_answer, .serve = hear_request, .step = do_nothing, .next_step = at_answers};

/* The request that has arrived at another SM's node. */
static const MemRequest *sent_to_sm(Bench *bench, uint32_t sm) {
    uint32_t handle;
    if (!noc_take(bench->stage->requests, (int)sm, &handle)) return NULL;
    return &bench->port.requests[mem_handle_index(handle)];
}

static void test_a_request_to_another_sm_goes_to_its_node_and_is_answered_there(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    Heard heard[2] = {{0}};
    MemRequest *line;
    agents_add(&bench->port.agents, &asker, &heard[0]);
    agents_add(&bench->port.agents, &asker, &heard[1]);
    SmSend word = read_of(agent_client(1), 0x104);
    word.access.sectors = 3;
    word.warp = SM_NO_WARP;
    assert_true(port_send_to(&bench->port, &bench->stage->sm, &word, endpoint_sm(3)));
    stage_move(bench->stage);
    assert_null(stage_sent(bench->stage, &bench->port)); /* to no slice */
    const MemRequest *request = sent_to_sm(bench, 3);
    assert_non_null(request);
    assert_int_equal(request->address, 0x104); /* the target's, not a sector's */
    assert_int_equal(request->target.kind, ENDPOINT_SM);
    assert_int_equal(request->waiting, 77);
    assert_int_equal(request->cta, UINT32_MAX);
    assert_int_equal(mem_source(request->handle).index, STAGE_SM);
    /* two replies; the agent gets only the last one, whatever the state of the unit's queue */
    assert_true(port_offer(&bench->port, &bench->stage->sm, 5, request->handle, &line));
    assert_null(line);
    assert_int_equal(bench->stage->wake, UINT64_MAX);
    assert_true(port_offer(&bench->port, &bench->stage->sm, 5, request->handle, &line));
    assert_ptr_equal(line, request);
    assert_int_equal(bench->stage->wake, 5);
    assert_false(port_has_reply(&bench->port));
    agents_answered(&bench->port.agents, &bench->stage->sm, line);
    assert_int_equal(heard[0].answered, 0);
    assert_int_equal(heard[1].answered, 1);
    assert_ptr_equal(heard[1].last, request);
    assert_int_equal(agents_next_step(&bench->port.agents), 100); /* the earlier of both */
    stage_free(bench->stage);
}

static void
test_the_agent_that_serves_is_offered_requests_and_its_reply_finds_the_source(void **state) {
    (void)state;
    Bench *bench = start("", 64);
    Heard heard[2] = {{0}};
    agents_add(&bench->port.agents, &asker, &heard[0]);
    agents_add(&bench->port.agents, &server, &heard[1]);
    MemRequest request = {.handle = mem_handle(2, 9), .sectors = 1};
    assert_true(agents_serve(&bench->port.agents, &bench->stage->sm, &request));
    assert_false(agents_serve(&bench->port.agents, &bench->stage->sm, &request)); /* it is full */
    assert_int_equal(heard[1].served, 2);
    assert_true(port_send_reply(&bench->stage->sm, &request, 4));
    stage_move(bench->stage);
    uint32_t handle;
    assert_true(noc_take(bench->stage->replies, 2, &handle));
    assert_int_equal(handle, request.handle);
    stage_free(bench->stage);
}

/* The network has room for one packet under way to a slice, and all packets go to one address. */
static void test_those_that_find_no_room_take_turns(void **state) {
    (void)state;
    Bench *bench = start("", 1);
    Heard heard[2] = {{0}};
    static const MemClient clients[] = {MEM_CLIENT_BYPASS, MEM_CLIENT_AGENT, MEM_CLIENT_AGENT + 1};
    uint32_t sent[3] = {0};
    agents_add(&bench->port.agents, &asker, &heard[0]);
    agents_add(&bench->port.agents, &asker, &heard[1]);
    for (int cycle = 0; cycle < 60; cycle++) {
        for (int party = 0; party < 3; party++) { /* the unit first, as often as it can */
            SmSend load = read_of(clients[party], 0x4000);
            while (send(bench, &load))
                sent[party]++;
        }
        stage_move(bench->stage);
        (void)stage_sent(bench->stage, &bench->port);
    }
    assert_int_equal(sent[0] + sent[1] + sent[2], 60);
    for (int party = 0; party < 3; party++)
        assert_in_range(sent[party], 19, 21);
    stage_free(bench->stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_says_all_that_a_partition_must_know),
        cmocka_unit_test(test_a_line_smaller_than_a_sector_asks_for_the_sector_around_it),
        cmocka_unit_test(test_a_write_carries_its_data_and_its_byte_mask),
        cmocka_unit_test(test_a_part_beyond_the_byte_mask_stays_a_part),
        cmocka_unit_test(test_a_network_that_takes_one_packet_takes_the_next_after_it),
        cmocka_unit_test(test_a_port_has_so_many_records_and_no_more),
        cmocka_unit_test(test_the_last_reply_wakes_the_sm_and_is_handled),
        cmocka_unit_test(test_a_unit_with_room_for_one_reply_leaves_the_rest_outside),
        cmocka_unit_test(test_instruction_lines_pass_a_full_unit),
        cmocka_unit_test(test_an_acknowledged_write_counts_as_no_read),
        cmocka_unit_test(test_a_request_to_another_sm_goes_to_its_node_and_is_answered_there),
        cmocka_unit_test(
            test_the_agent_that_serves_is_offered_requests_and_its_reply_finds_the_source),
        cmocka_unit_test(test_those_that_find_no_room_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
