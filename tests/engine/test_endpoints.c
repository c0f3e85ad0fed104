/* Requests between SMs, and requests of agents next to the load/store unit. A toy agent in each SM
 * serves reads of its words (they represent the SM's shared memory), and sends reads to other SMs
 * or to L2. Checks latencies in closed form, conservation of requests, back-pressure, and equal
 * results for any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "sm/context.h"
#include "sm/port.h"
#include "timed.h"

enum {
    MOST_SMS = 80,
    WORDS = 16, /* words that a toy serves */
    WORD_BYTES = 4,
    MOST_SERVED = 4, /* requests that a toy holds */
    TRAFFIC_WORDS = 8 * 8192
};

struct Rig;

/* The agent of an SM: reader and server in one. */
typedef struct Toy {
    struct Rig *rig;
    uint32_t sm;                              /* the toy's SM */
    uint64_t random;                          /* state of its random generator */
    uint64_t cycle;                           /* cycle of its last step */
    uint32_t to_send;                         /* reads still to send */
    uint32_t number;                          /* number of the next read: its MemRequest.waiting */
    SmSend next;                              /* the next read to send ... */
    Endpoint target;                          /* ... and its target */
    bool has_next;                            /* whether these two are set */
    uint32_t *answers;                        /* by handle index: the word from the server */
    bool *is_answered;                        /* by read number */
    uint32_t sent, answered, served, replied; /* counts so far */
    uint64_t first_sent;                      /* cycle in which the first read was sent */
    uint64_t last_answered;                   /* cycle in which the last reply arrived */
    uint64_t hash;                            /* hash of everything it has seen, and when */
    struct {
        MemRequest *request;
        uint64_t due;       /* first cycle in which the reply may be sent */
    } serving[MOST_SERVED]; /* a ring with the rig's `room` entries */
    uint32_t head, count;   /* of the ring */
} Toy;

/* All toys of a machine, and their configuration. */
typedef struct Rig {
    Toy toys[MOST_SMS];
    uint32_t sms;        /* SMs of the machine */
    uint32_t room;       /* requests that a toy holds */
    uint32_t service;    /* cycles from taking a request to its reply */
    uint32_t reads;      /* reads that each of `senders` sends */
    uint32_t senders;    /* number of SMs that send: 0, 1, ... */
    uint64_t start;      /* first cycle in which they send */
    uint64_t l2_address; /* target of reads from L2; 0: all go to SMs */
    uint32_t fixed;      /* target SM of all reads; UINT32_MAX: random */
} Rig;

static uint32_t word_of(uint32_t sm, uint32_t word) { return sm * 1000 + word; }

static uint64_t draw(Toy *toy, uint64_t limit) {
    toy->random ^= toy->random << 13, toy->random ^= toy->random >> 7;
    toy->random ^= toy->random << 17;
    return (toy->random >> 16) % limit;
}

static void see(Toy *toy, uint64_t what, uint64_t cycle) {
    toy->hash = (toy->hash ^ what) * UINT64_C(0x100000001B3) ^ cycle;
}

/* ---- The agent ---- */

static void choose_read(Toy *toy) {
    const Rig *rig = toy->rig;
    const bool to_l2 = rig->l2_address && draw(toy, 2);
    const uint32_t sm = rig->fixed < rig->sms ? rig->fixed : (uint32_t)draw(toy, rig->sms);
    const uint64_t offset = draw(toy, WORDS) * (to_l2 ? 128 : WORD_BYTES);
    toy->has_next = true;
    toy->target = endpoint_sm(sm);
    toy->next = (SmSend){.access = {.address = offset + (to_l2 ? rig->l2_address : 0),
                                    .sectors = to_l2 ? 0xF : 1,
                                    .bytes = to_l2 ? 128 : WORD_BYTES,
                                    .pc = SM_NO_PC},
                         .waiting = toy->number,
                         .op = MEM_OP_READ,
                         .client = (uint8_t)agent_client(0),
                         .warp = SM_NO_WARP};
}

static void send_read(Toy *toy, SmContext *sm, SmPort *port) {
    if (!toy->has_next) choose_read(toy);
    const bool is_sent = toy->next.access.sectors == 1
                             ? port_send_to(port, sm, &toy->next, toy->target)
                             : port_send(port, sm, &toy->next);
    if (!is_sent) return;
    if (!toy->sent++) toy->first_sent = sm->cycle;
    toy->number++;
    toy->to_send--;
    toy->has_next = false;
}

static void send_reply(Toy *toy, const SmContext *sm) {
    if (sm->cycle < toy->serving[toy->head].due) return;
    if (!port_send_reply(sm, toy->serving[toy->head].request, WORD_BYTES)) return;
    toy->head = (toy->head + 1) % toy->rig->room;
    toy->count--;
    toy->replied++;
}

static void toy_step(void *agent, SmContext *sm, SmPort *port) {
    Toy *toy = agent;
    toy->cycle = sm->cycle;
    if (toy->count) send_reply(toy, sm);
    if (toy->to_send && sm->cycle >= toy->rig->start) send_read(toy, sm, port);
}

static uint64_t toy_next_step(const void *agent) {
    const Toy *toy = agent;
    const uint64_t reply = toy->count ? toy->serving[toy->head].due : UINT64_MAX;
    const uint64_t read = toy->to_send ? toy->rig->start : UINT64_MAX;
    return reply < read ? reply : read;
}

static bool toy_serve(void *agent, SmContext *sm, MemRequest *request) {
    Toy *toy = agent;
    if (toy->count == toy->rig->room) return false;
    assert_int_equal(request->target.kind, ENDPOINT_SM);
    assert_int_equal(request->target.index, toy->sm);
    const uint32_t source = mem_handle_sm(request->handle);
    toy->rig->toys[source].answers[mem_handle_index(request->handle)] =
        word_of(toy->sm, (uint32_t)request->address / WORD_BYTES);
    const uint32_t place = (toy->head + toy->count++) % toy->rig->room;
    toy->serving[place].request = request;
    toy->serving[place].due = sm->cycle + toy->rig->service;
    toy->served++;
    see(toy, request->handle, sm->cycle);
    return true;
}

static void toy_answered(void *agent, SmContext *sm, const MemRequest *request) {
    Toy *toy = agent;
    assert_int_equal(mem_handle_sm(request->handle), toy->sm);
    assert_true(request->waiting < toy->rig->reads && !toy->is_answered[request->waiting]);
    if (request->target.kind == ENDPOINT_SM)
        assert_int_equal(toy->answers[mem_handle_index(request->handle)],
                         word_of(request->target.index, (uint32_t)request->address / WORD_BYTES));
    toy->is_answered[request->waiting] = true;
    toy->answered++;
    toy->last_answered = sm->cycle;
    see(toy, request->waiting, sm->cycle);
}

static const SmAgentOps toy_ops = {
    .answered = toy_answered, .serve = toy_serve, .step = toy_step, .next_step = toy_next_step};

static void attach_toy(void *agents, Sm *sm, uint32_t index) {
    Rig *rig = agents;
    Toy *toy = &rig->toys[index];
    assert_true(index < MOST_SMS);
    *toy = (Toy){.rig = rig,
                 .sm = index,
                 .random = index * 77 + 1,
                 .to_send = index < rig->senders ? rig->reads : 0,
                 .answers = base_calloc(SM_REQUESTS, sizeof(uint32_t)),
                 .is_answered = base_calloc(rig->reads + 1, sizeof(bool))};
    rig->sms = index + 1;
    assert_int_equal(sm_attach(sm, &toy_ops, toy), 0);
}

/* ---- Runs ---- */

/* Every thread adds its number to eight words of its own, which are far apart. */
static const char traffic[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 buffer)\n{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [buffer];\n  cvta.to.global.u64 %rd1, %rd1;\n"
    "  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, %ctaid.x;\n  mad.lo.u32 %r3, %r2, 64, %r1;\n"
    "  mov.u32 %r4, 0;\n"
    "again:\n"
    "  mul.lo.u32 %r5, %r3, 33;\n  and.b32 %r5, %r5, 8191;\n"
    "  mad.lo.u32 %r5, %r4, 8192, %r5;\n"
    "  mul.wide.u32 %rd2, %r5, 4;\n  add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r6, [%rd3];\n  add.u32 %r6, %r6, %r3;\n  st.global.u32 [%rd3], %r6;\n"
    "  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 8;\n  @%p1 bra again;\n"
    "  ret;\n}\n";
static const char nothing[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry k(.param .u64 buffer)\n{\n  ret;\n}\n";

typedef struct Outcome {
    Counters counters;
    uint64_t hash; /* combined hash of all toys */
    uint32_t sent, answered, served, replied;
    uint32_t memory[TRAFFIC_WORDS];
} Outcome;

static void add_up(const Rig *rig, Outcome *outcome) {
    for (uint32_t i = 0; i < rig->sms; i++) {
        const Toy *toy = &rig->toys[i];
        outcome->hash = outcome->hash * 31 + toy->hash;
        outcome->sent += toy->sent;
        outcome->answered += toy->answered;
        outcome->served += toy->served;
        outcome->replied += toy->replied;
        free(toy->answers);
        free(toy->is_answered);
    }
}

/* Runs a kernel next to the toys of a rig, and collects what the toys counted. */
static void run(Outcome *outcome, Rig *rig, const char *machine, const char *sets, const char *ptx,
                const GpuOptions *how) {
    Timed timed;
    GpuOptions options = *how;
    options.attach = attach_toy;
    options.agents = rig;
    *outcome = (Outcome){.hash = 1};
    timed_start_how(&timed, machine, sets, "lrr", &options);
    const uint64_t buffer = timed_buffer(&timed, outcome->memory, TRAFFIC_WORDS);
    if (rig->l2_address) rig->l2_address = buffer;
    outcome->counters = timed_run(&timed, ptx, 40, 64, (uint64_t[]){buffer}).counters;
    mem_read(gpu_memory(timed.gpu), buffer, outcome->memory, sizeof outcome->memory);
    timed_stop(&timed);
    add_up(rig, outcome);
}

/* ---- Latency ---- */

/* Network latency of a packet from node to node in a machine's empty network. */
static uint64_t steps_of(const char *machine, const char *sets, uint32_t from, uint32_t to,
                         uint32_t data_bytes) {
    Timed timed;
    timed_start(&timed, machine, sets, "lrr");
    Noc *noc = noc_new(&timed.config->network.noc, NULL);
    const int bytes = (int)(timed.config->network.header_bytes + data_bytes);
    const int steps = noc_empty_latency(noc, (int)from, (int)to, bytes);
    noc_free(noc);
    timed_stop(&timed);
    return (uint64_t)steps;
}

/* A read is injected in a step of the SM. It arrives after the network's latency, is taken one
 * cycle later, and is served for `service` cycles. The same holds for the reply, which waits one
 * cycle at its port (sm/inbox.h). */
static void a_read_of_another_sm_takes_two_ways_and_its_service(void **state) {
    (void)state;
    static const struct {
        const char *machine, *sets;
    } rows[] = {{"gtx480", ""},
                {"gtx480", "noc.kind=ideal noc.ideal_latency=9"},
                {"gtx480", "noc.kind=switch noc.switch_delay=3"},
                {"gtx480", "noc.kind=mesh noc.columns=6 noc.rows=6"},
                {"gtx480", "noc.flit=8B noc.injection_flits=40 noc.output_delay=11"}};
    static const uint32_t ends[][2] = {{0, 1}, {0, 14}, {0, 0}, {0, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            const uint32_t service = (uint32_t)(i * 5), to = ends[e][1];
            Rig rig = {.room = 1,
                       .service = service,
                       .reads = 1,
                       .senders = 1,
                       .start = 20000, /* the kernel has ended, and the networks are empty */
                       .fixed = to};
            Outcome *outcome = base_calloc(1, sizeof *outcome);
            run(outcome, &rig, rows[i].machine, rows[i].sets, nothing, &(GpuOptions){.threads = 1});
            const uint64_t there = steps_of(rows[i].machine, rows[i].sets, 0, to, 0);
            const uint64_t back = steps_of(rows[i].machine, rows[i].sets, to, 0, WORD_BYTES);
            const Toy *reader = &rig.toys[0];
            assert_int_equal(reader->first_sent, 20000);
            assert_int_equal(outcome->answered, 1);
            assert_int_equal(reader->last_answered - reader->first_sent,
                             there + 1 + service + back + 2);
            free(outcome);
        }
}

/* ---- Conservation ---- */

/* Networks and toys with room for one item each, or for many. */
static const struct {
    const char *machine, *sets;
    uint32_t room, service;
} places[] = {
    {"gtx480", "", 4, 3},
    {"gtx480", "noc.injection_flits=5 noc.ejection_flits=5 noc.buffer_flits=1", 1, 0},
    {"gtx480", "noc.injection_flits=5 noc.ejection_flits=5 noc.buffer_flits=1 lsu.fifo=1", 1, 40},
    {"gtx480", "noc.sms_per_port=5", 1, 2},
    {"gtx480", "noc.kind=mesh noc.columns=6 noc.rows=6 noc.buffer_flits=1", 1, 7},
    {"gtx480", "clock.noc=350MHz", 2, 2},
    {"gtx480", "noc.kind=ideal", 1, 1},
    {"owl", "", 1, 3},
    {"ccws", "", 2, 5},
    {"qv100", "", 1, 1},
};
enum { PLACES = sizeof places / sizeof *places };

static Rig busy_rig(size_t place) {
    return (Rig){.room = places[place].room,
                 .service = places[place].service,
                 .reads = 60,
                 .senders = MOST_SMS,
                 .start = 50,
                 .l2_address = 1,
                 .fixed = UINT32_MAX};
}

static void run_place(Outcome *outcome, size_t place, const GpuOptions *how) {
    Rig rig = busy_rig(place);
    run(outcome, &rig, places[place].machine, places[place].sets, traffic, how);
    assert_int_equal(outcome->sent, rig.sms * rig.reads);
}

static void no_request_or_reply_is_lost_or_doubled(void **state) {
    (void)state;
    Outcome *outcome = base_calloc(2, sizeof *outcome);
    for (size_t i = 0; i < PLACES; i++) {
        run_place(outcome, i, &(GpuOptions){.threads = 1});
        assert_int_equal(outcome->answered, outcome->sent);
        assert_int_equal(outcome->replied, outcome->served);
        assert_in_range(outcome->served, outcome->sent / 4, outcome->sent * 3 / 4);
        /* some of the packets are the load/store units' */
        const Counters *counters = &outcome->counters;
        assert_true(counters->reads_sent > outcome->sent);
        assert_int_equal(counters->reads_sent, counters->reads_answered);
        assert_int_equal(counters->request_packets_sent, counters->request_packets_received);
        assert_int_equal(counters->reply_packets_sent, counters->reply_packets_received);
    }
    free(outcome);
}

/* Agents send requests through the port of a kernel. The kernel leaves the same memory as when it
 * runs alone, and its requests get the same number of replies. */
static void the_load_store_unit_gets_its_own_replies(void **state) {
    (void)state;
    Outcome *outcome = base_calloc(2, sizeof *outcome), *alone = outcome + 1;
    for (size_t i = 0; i < PLACES; i++) {
        run_place(outcome, i, &(GpuOptions){.threads = 1});
        Rig rig = {.room = 1, .fixed = UINT32_MAX};
        run(alone, &rig, places[i].machine, places[i].sets, traffic, &(GpuOptions){.threads = 1});
        assert_int_equal(alone->sent, 0);
        assert_memory_equal(outcome->memory, alone->memory, sizeof alone->memory);
        assert_int_equal(outcome->counters.warps_finished, alone->counters.warps_finished);
        assert_int_equal(outcome->counters.writes_acknowledged,
                         alone->counters.writes_acknowledged);
    }
    free(outcome);
}

static void a_unit_that_never_sleeps_does_the_same(void **state) {
    (void)state;
    Outcome *outcome = base_calloc(2, sizeof *outcome);
    for (size_t i = 0; i < PLACES; i++) {
        run_place(&outcome[0], i, &(GpuOptions){.threads = 1});
        run_place(&outcome[1], i, &(GpuOptions){.threads = 1, .never_sleeps = true});
        assert_int_equal(outcome[0].hash, outcome[1].hash);
        assert_int_equal(outcome[0].counters.cycles, outcome[1].counters.cycles);
    }
    free(outcome);
}

static void threads_change_nothing(void **state) {
    (void)state;
    enum { EVERY = 101 }; /* cycles; each costs all threads a turn on a processor of a busy host */
    Outcome *outcome = base_calloc(2, sizeof *outcome);
    for (size_t i = 0; i < PLACES; i++) {
        run_place(&outcome[0], i, &(GpuOptions){.threads = 1});
        const uint32_t threads = i % 3 == 1 ? 5 : 2;
        run_place(&outcome[1], i, &(GpuOptions){.threads = threads, .pool_every = EVERY});
        assert_memory_equal(&outcome[0], &outcome[1], sizeof *outcome);
    }
    free(outcome);
}

/* With an argument: only the test of threads. */
int main(int argc, char **argv) {
    (void)argv;
    const struct CMUnitTest of_threads[] = {cmocka_unit_test(threads_change_nothing)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_of_another_sm_takes_two_ways_and_its_service),
        cmocka_unit_test(no_request_or_reply_is_lost_or_doubled),
        cmocka_unit_test(the_load_store_unit_gets_its_own_replies),
        cmocka_unit_test(a_unit_that_never_sleeps_does_the_same),
    };
    return argc > 1 ? cmocka_run_group_tests(of_threads, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
