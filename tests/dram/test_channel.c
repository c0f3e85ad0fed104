/* One channel: closed-form latencies, bandwidth, order of service, conservation, and ticks that may
 * be skipped. */
#include "dram/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "drive.h"

static void push(Bench *bench, uint32_t handle, uint32_t bank, uint32_t row, uint32_t column,
                 uint32_t bytes, bool is_write) {
    assert_true(dram_can_accept(bench->channel));
    dram_push(bench->channel, bench->tick,
              &(DramRequest){.address = handle * UINT64_C(64),
                             .handle = handle,
                             .row = row,
                             .column = (uint16_t)column,
                             .bytes = (uint16_t)bytes,
                             .bank = (uint8_t)bank,
                             .is_write = is_write,
                             .requester = {.sm = (uint16_t)(handle / 8 % 5)}});
}

/* Steps every tick until a reply arrives. Returns the tick of that step. */
static uint64_t wait_reply(Bench *bench, uint32_t *handle) {
    for (int i = 0; i < 5000; i++) {
        uint64_t tick = bench->tick++;
        dram_step(bench->channel, tick);
        DramReply reply;
        if (!dram_pop_reply(bench->channel, &reply)) continue;
        if (handle) *handle = reply.handle;
        return tick;
    }
    fail_msg("no reply");
    return 0;
}

/* tRCD + tCL on a closed bank, tCL on the open row, tRP + tRCD + tCL on another row. */
static void latencies(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        const DramConfig *config = &devices[d].config;
        const DramTiming *t = &config->timing;
        uint32_t bytes = device_burst_bytes(&devices[d]);
        Bench bench = bench_new(config);
        static const struct {
            uint64_t start;
            uint32_t row;
        } reads[] = {{500, 3}, {1000, 3}, {1500, 4}};
        uint64_t expected[] = {t->rcd + t->cl, t->cl, t->rp + t->rcd + t->cl};
        for (int i = 0; i < 3; i++) {
            run_to(&bench, reads[i].start);
            push(&bench, 1, 1, reads[i].row, 0, bytes, false);
            run_to(&bench, reads[i].start + expected[i]);
            assert_null(dram_peek_reply(bench.channel)); /* not one tick early */
            assert_int_equal(wait_reply(&bench, NULL), reads[i].start + expected[i]);
        }
        const Counters *counters = bench.counters;
        assert_int_equal(counters->dram_row_misses, 1);
        assert_int_equal(counters->dram_row_hits, 1);
        assert_int_equal(counters->dram_row_conflicts, 1);
        assert_int_equal(counters->dram_activates, 2);
        assert_int_equal(counters->dram_precharges, 1);
        bench_free(&bench);
    }
}

/* A request of n bursts: its data arrives tCL after the last of n column commands. */
static void long_request(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        const DramTiming *t = &devices[d].config.timing;
        uint32_t step = t->ccd_long ? t->ccd_long : t->ccd;
        uint32_t bytes = 4 * device_burst_bytes(&devices[d]);
        Bench bench = bench_new(&devices[d].config);
        push(&bench, 1, 0, 0, 0, bytes, false);
        assert_int_equal(wait_reply(&bench, NULL), t->rcd + 3 * step + t->cl);
        assert_int_equal(bench.counters->dram_read_commands, 4);
        assert_int_equal(bench.counters->dram_bus_ticks, 4 * device_burst_ticks(&devices[d]));
        bench_free(&bench);
    }
}

/* Keeps the queue full of reads, `stride` banks apart, one row per bank at a time. Returns ticks
 * per read. */
static double stream(const Device *device, uint32_t banks_used, uint32_t stride) {
    enum { READS = 4000, WARM = 400 };
    const DramConfig *config = &device->config;
    Bench bench = bench_new(config);
    uint32_t per_row = config->row_bytes / device->read_bytes;
    uint64_t warm_tick = 0, end = 0;
    for (uint32_t sent = 0, got = 0; got < READS;) {
        if (sent < READS && dram_can_accept(bench.channel)) {
            uint32_t bank = sent % banks_used * stride, index = sent / banks_used;
            push(&bench, sent, bank, index / per_row, index % per_row * device->read_bytes,
                 device->read_bytes, false);
            sent++;
        }
        dram_step(bench.channel, bench.tick);
        DramReply reply;
        while (dram_pop_reply(bench.channel, &reply))
            if (++got == WARM) warm_tick = bench.tick;
        end = bench.tick++;
        assert_true(end < 1000000);
    }
    bench_free(&bench);
    return (double)(end - warm_tick) / (READS - WARM);
}

/* A stream over all banks keeps the data bus at least 90% busy. */
static void streaming_bandwidth(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        uint32_t bursts = (devices[d].read_bytes + device_burst_bytes(&devices[d]) - 1) /
                          device_burst_bytes(&devices[d]);
        double ideal = bursts * device_burst_ticks(&devices[d]);
        double ticks = stream(&devices[d], devices[d].config.banks, 1);
        assert_true(ticks >= ideal && ticks <= ideal / 0.9);
    }
}

/* GTX 480: 3 ticks per read inside one bank or one group, 2 over several groups. */
static void bank_group_spacing(void **state) {
    (void)state;
    const Device *gtx480 = &devices[DEVICE_GTX480];
    double one_bank = stream(gtx480, 1, 1), one_group = stream(gtx480, 4, 4);
    double two_groups = stream(gtx480, 2, 1);
    assert_true(one_bank >= 3.0 && one_bank < 3.7); /* includes the time to reopen rows */
    assert_true(one_group >= 3.0 && one_group < 3.05);
    assert_true(two_groups >= 2.0 && two_groups < 2.7);
}

/* Requests to rows A B A B of one bank: FR-FCFS serves A A B B, FCFS keeps the order. */
static void service_order(void **state) {
    (void)state;
    static const struct {
        DramSchedulerIndex scheduler;
        uint32_t order[4];
        uint64_t conflicts;
    } rows[] = {
        {DRAM_SCHEDULER_frfcfs, {0, 2, 1, 3}, 1},
        {DRAM_SCHEDULER_fcfs, {0, 1, 2, 3}, 3},
    };
    for (int i = 0; i < 2; i++) {
        DramConfig config = devices[DEVICE_GTX480].config;
        config.scheduler = rows[i].scheduler;
        Bench bench = bench_new(&config);
        for (uint32_t k = 0; k < 4; k++)
            push(&bench, k, 5, k % 2, 32 * k, 32, false);
        for (int k = 0; k < 4; k++) {
            uint32_t handle;
            wait_reply(&bench, &handle);
            assert_int_equal(handle, rows[i].order[k]);
        }
        assert_int_equal(bench.counters->dram_row_conflicts, rows[i].conflicts);
        bench_free(&bench);
    }
}

/* A later request to the open row overtakes older ones to other rows (no fairness limit). Under
 * FCFS, a request to a free bank does not overtake one that waits for its bank. */
static void overtaking(void **state) {
    (void)state;
    DramConfig config = devices[DEVICE_GTX480].config;
    Bench bench = bench_new(&config);
    push(&bench, 0, 0, 1, 0, 32, false);
    push(&bench, 1, 0, 2, 0, 32, false);
    run_to(&bench, 5);
    push(&bench, 2, 0, 1, 32, 32, false);
    static const uint32_t order[] = {0, 2, 1};
    for (int k = 0; k < 3; k++) {
        uint32_t handle;
        wait_reply(&bench, &handle);
        assert_int_equal(handle, order[k]);
    }
    bench_free(&bench);

    config.scheduler = DRAM_SCHEDULER_fcfs;
    bench = bench_new(&config);
    push(&bench, 0, 0, 1, 0, 32, false);
    push(&bench, 1, 0, 2, 0, 32, false);
    push(&bench, 2, 1, 1, 0, 32, false);
    uint32_t handle;
    assert_int_equal(wait_reply(&bench, &handle), 24);
    assert_int_equal(handle, 0);
    /* 0 leaves its bank in tick 12, 1 enters in 13, 2 in 14: 14 + tRCD + tCL */
    assert_int_equal(wait_reply(&bench, &handle), 38);
    assert_int_equal(handle, 2);
    wait_reply(&bench, &handle);
    assert_int_equal(handle, 1);
    bench_free(&bench);
}

/* Two closed banks: the second activate waits tRRD, and both reads still overlap. BLP counts a
 * request from the start of its service to its data. */
static void bank_parallelism(void **state) {
    (void)state;
    Bench bench = bench_new(&devices[DEVICE_GTX480].config);
    push(&bench, 0, 0, 1, 0, 32, false);
    push(&bench, 1, 1, 1, 0, 32, false);
    assert_int_equal(wait_reply(&bench, NULL), 24);
    assert_int_equal(wait_reply(&bench, NULL), 30); /* tRRD, 6 ticks, later */
    run_to(&bench, 100);
    dram_settle(bench.channel, 100);
    const Counters *counters = bench.counters;
    assert_int_equal(counters->dram_ticks, 100);
    assert_int_equal(counters->dram_busy_ticks, 30);
    /* bank 0 in ticks 0..23, bank 1 entered service in tick 1: 1..29 */
    assert_int_equal(counters->dram_bank_ticks, 24 + 29);
    assert_int_equal(counters->dram_queue_ticks, 1);
    assert_int_equal(counters->dram_queue_max, 2);
    assert_true(dram_is_idle(bench.channel));
    assert_true(dram_next_event(bench.channel) == UINT64_MAX);
    bench_free(&bench);
}

/* Two banks; one streams its open row. With two command buses, a row command for the other bank is
 * sent together with a column command, in any order of the banks. With one bus it is sent only when
 * its bank comes first. */
static void a_second_bus_takes_row_commands_beside_column_commands(void **state) {
    (void)state;
    DramConfig config = devices[DEVICE_HBM2].config;
    config.timing.ccd_long = 1; /* a column command every tick */
    uint64_t opened[2];
    for (int dual = 0; dual < 2; dual++) {
        config.has_dual_bus = dual;
        Bench bench = bench_new(&config);
        push(&bench, 0, 0, 1, 0, 1024, false); /* 32 column commands from tick 12 on */
        run_to(&bench, 15);
        push(&bench, 1, 1, 1, 0, 32, false); /* later in the scan */
        while (bench.counters->dram_activates < 2)
            dram_step(bench.channel, bench.tick++);
        opened[dual] = bench.tick - 1;
        bench_free(&bench);
    }
    assert_int_equal(opened[1], 15);
    assert_true(opened[0] > 15);
}

/* Ticks for a stream of reads that alternate between two open rows, in bank groups 0 and 1. */
static uint64_t ticks_of_two_channels(bool shares_bus) {
    DramConfig config = devices[DEVICE_HBM2].config;
    Bench bench[2] = {bench_new(&config), bench_new(&config)};
    DramBus bus = {0};
    uint32_t got = 0;
    for (int c = 0; c < 2; c++) {
        if (shares_bus) dram_share_bus(bench[c].channel, &bus);
        for (uint32_t i = 0; i < 60; i++)
            push(&bench[c], i, i & 1, 0, i / 2 * 32, 32, false);
    }
    for (; got < 120; bench[0].tick++) {
        assert_true(bench[0].tick < 1000);
        for (int c = 0; c < 2; c++) {
            DramReply reply;
            dram_step(bench[c].channel, bench[0].tick);
            got += dram_pop_reply(bench[c].channel, &reply);
        }
    }
    uint64_t ticks = bench[0].tick;
    bench_free(&bench[0]), bench_free(&bench[1]);
    return ticks;
}

static void pseudo_channels_share_one_column_command_a_tick(void **state) {
    (void)state;
    uint64_t alone = ticks_of_two_channels(false), together = ticks_of_two_channels(true);
    assert_in_range(alone, 60 + 24, 60 + 24 + 8);      /* one per tick and channel */
    assert_in_range(together, 120 + 24, 120 + 24 + 8); /* one per tick for both channels */
}

/* A request that arrives during a refresh waits for its end. After a request that arrives before a
 * refresh, the row is closed. */
static void requests_wait_for_a_refresh(void **state) {
    (void)state;
    DramConfig config = devices[DEVICE_HBM2].config;
    const DramTiming *t = &config.timing;
    uint64_t due = t->refi;
    Bench bench = bench_new(&config);
    run_to(&bench, due + 100);
    push(&bench, 0, 3, 1, 0, 32, false);
    assert_int_equal(wait_reply(&bench, NULL), due + t->rfc + t->rcd + t->cl);
    run_to(&bench, 2 * due - 20);
    push(&bench, 1, 3, 1, 32, 32, false);
    assert_int_equal(wait_reply(&bench, NULL), 2 * due - 20 + t->cl); /* the row is still open */
    run_to(&bench, 2 * due + 1);
    push(&bench, 2, 3, 1, 64, 32, false);
    assert_int_equal(wait_reply(&bench, NULL), 2 * due + t->rp + t->rfc + t->rcd + t->cl);
    assert_int_equal(bench.counters->dram_row_misses, 2);
    assert_int_equal(bench.counters->dram_row_hits, 1);
    /* after a long idle time only the last refresh matters */
    run_to(&bench, 50 * due + t->rfc + 1000);
    push(&bench, 3, 3, 1, 64, 32, false);
    assert_int_equal(wait_reply(&bench, NULL), 50 * due + t->rfc + 1000 + t->rcd + t->cl);
    bench_free(&bench);
}

typedef struct Outcome {
    Counters counters;
    uint64_t replies;     /* replies popped */
    uint64_t fingerprint; /* of every reply's handle and tick, in order */
} Outcome;

/* Random traffic in bursts with pauses. Pops at most one reply every `pop_every` ticks. Steps
 * either every tick, or only ticks in which the channel or the test has something to do. */
static Outcome random_traffic(const DramConfig *config, uint32_t requests, uint32_t pop_every,
                              bool skips) {
    Bench bench = bench_new(config);
    Outcome outcome = {.fingerprint = 1};
    uint64_t seed = 0x9E3779B97F4A7C15u, pause_until = 0;
    uint32_t sent = 0;
    bool seen[20000] = {false};
    assert_true(requests <= 20000);
    while (sent < requests || !dram_is_idle(bench.channel)) {
        uint64_t tick = bench.tick;
        assert_true(tick < 10000000);
        bool wants_push = sent < requests && tick >= pause_until;
        if (skips && tick < dram_next_event(bench.channel) && !wants_push &&
            !dram_peek_reply(bench.channel)) {
            bench.tick++;
            continue;
        }
        if (wants_push && dram_can_accept(bench.channel)) {
            uint64_t r = next_random(&seed);
            push(&bench, sent++, (uint32_t)(r % config->banks), (uint32_t)(r >> 8 & 3),
                 (uint32_t)(r >> 16) % (config->row_bytes / 128) * 128, (r >> 32 & 1) ? 32 : 128,
                 (r >> 33 & 3) == 0);
            if ((r >> 40 & 15) == 0) pause_until = tick + (r >> 48) % 300;
        }
        dram_step(bench.channel, tick);
        DramReply reply;
        if (tick % pop_every == 0 && dram_pop_reply(bench.channel, &reply)) {
            assert_false(seen[reply.handle]);
            seen[reply.handle] = true;
            assert_true(reply.address == reply.handle * UINT64_C(64));
            outcome.fingerprint = (outcome.fingerprint ^ reply.handle) * 0x100000001B3u + tick;
            outcome.replies++;
        }
        bench.tick++;
    }
    dram_settle(bench.channel, bench.tick);
    outcome.counters = *bench.counters;
    bench_free(&bench);
    return outcome;
}

static void conservation(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++)
        for (int s = 0; s < DRAM_SCHEDULER_COUNT; s++) {
            DramConfig config = device_under(&devices[d], (DramSchedulerIndex)s);
            Outcome o = random_traffic(&config, 5000, 1, false);
            assert_int_equal(o.counters.dram_reads + o.counters.dram_writes, 5000);
            assert_int_equal(o.replies, o.counters.dram_reads);
            assert_int_equal(o.counters.dram_row_hits + o.counters.dram_row_misses +
                                 o.counters.dram_row_conflicts,
                             5000);
            assert_int_equal(o.counters.dram_activates,
                             o.counters.dram_row_misses + o.counters.dram_row_conflicts);
            assert_int_equal(o.counters.dram_precharges, o.counters.dram_row_conflicts);
            assert_true(o.counters.dram_bus_ticks <= o.counters.dram_ticks);
            assert_true(o.counters.dram_queue_max <= config.queue_entries);
        }
}

/* Space for one request and one reply, and a slow owner: every request must still return once. */
static void hostile_limits(void **state) {
    (void)state;
    DramConfig config = devices[DEVICE_GTX480].config;
    config.queue_entries = config.reply_entries = 1;
    for (uint32_t pop_every = 1; pop_every <= 50; pop_every += 7) {
        Outcome o = random_traffic(&config, 1000, pop_every, false);
        assert_int_equal(o.replies, o.counters.dram_reads);
        assert_int_equal(o.counters.dram_reads + o.counters.dram_writes, 1000);
        assert_int_equal(o.counters.dram_queue_max, 1);
        Outcome skipped = random_traffic(&config, 1000, pop_every, true);
        assert_memory_equal(&o, &skipped, sizeof o);
    }
    config.banks = config.bank_groups = 1;
    Outcome o = random_traffic(&config, 1000, 1, false);
    assert_int_equal(o.replies, o.counters.dram_reads);
}

/* Stepping only at events gives the same replies at the same ticks and the same statistics. */
static void skipping(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++)
        for (int s = 0; s < DRAM_SCHEDULER_COUNT; s++) {
            DramConfig config = device_under(&devices[d], (DramSchedulerIndex)s);
            Outcome every = random_traffic(&config, 10000, 1, false);
            Outcome events = random_traffic(&config, 10000, 1, true);
            assert_memory_equal(&every, &events, sizeof every);
        }
}

/* While the channel is quiet, no event is announced for a tick in which nothing happens: a single
 * row conflict takes four steps. */
static void few_steps(void **state) {
    (void)state;
    Bench bench = bench_new(&devices[DEVICE_GTX480].config);
    push(&bench, 0, 0, 1, 0, 32, false);
    wait_reply(&bench, NULL);
    run_to(&bench, 200);
    push(&bench, 1, 0, 2, 0, 32, false);
    static const uint64_t events[] = {200, 212, 224, 236};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(dram_next_event(bench.channel), events[i]);
        dram_step(bench.channel, events[i]);
    }
    assert_true(dram_next_event(bench.channel) == UINT64_MAX);
    bench_free(&bench);
}

/* The scan over the banks starts one bank further after each request that enters service, and after
 * the bank that received a row command. */
static void rotating_scan(void **state) {
    (void)state;
    Bench bench = bench_new(&devices[DEVICE_GTX480].config);
    static const struct {
        uint32_t bank, row, first_bank;
    } rows[] = {
        {5, 1, 6},             /* closed: after bank 5 */
        {5, 1, 7},             /* open: one further */
        {15, 1, 0},            /* wraps around */
        {15, 1, 1}, {5, 2, 6}, /* closes row 1 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        push(&bench, 0, rows[i].bank, rows[i].row, 0, 32, false);
        dram_step(bench.channel, bench.tick++);
        assert_int_equal(bench.channel->first_bank, rows[i].first_bank);
        run_to(&bench, bench.tick + 100);
    }
    bench_free(&bench);
}

/* In tick 511, bank 4 may read and bank 8 may activate. Both happen if the scan reaches bank 8
 * first; only the read if it reaches bank 4 first. */
static void row_command_before_column_command(void **state) {
    (void)state;
    static const struct {
        uint32_t first_bank;
        bool gives_one_command;
        uint64_t read, opened;
    } rows[] = {
        {8, false, 511, 511}, {4, false, 511, 512}, {8, true, 512, 511}, {4, true, 511, 512}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        DramConfig config = devices[DEVICE_GTX480].config;
        config.gives_one_command = rows[i].gives_one_command;
        Bench bench = bench_new(&config);
        push(&bench, 0, 4, 1, 0, 32, false);
        wait_reply(&bench, NULL);
        run_to(&bench, 500);
        push(&bench, 1, 4, 1, 0, 32, true); /* write at 500: no read before 511 */
        run_to(&bench, 505);
        push(&bench, 2, 12, 1, 0, 32, false); /* activate at 505: none before 511 */
        run_to(&bench, 506);
        push(&bench, 3, 4, 1, 0, 32, false);
        run_to(&bench, 507);
        push(&bench, 4, 8, 1, 0, 32, false);
        run_to(&bench, 511);
        bench.channel->first_bank = rows[i].first_bank;
        uint64_t done[5];
        for (int k = 0; k < 3; k++) {
            uint32_t handle = 0;
            uint64_t tick = wait_reply(&bench, &handle);
            done[handle] = tick;
        }
        assert_int_equal(done[3], rows[i].read + 12);
        assert_int_equal(done[4], rows[i].opened + 24);
        bench_free(&bench);
    }
}

static void rejected(void **state) {
    (void)state;
    DramConfig good = devices[DEVICE_GTX480].config;
    struct {
        DramConfig config;
        const char *why;
    } rows[] = {
        {good, "banks = 33"},
        {good, "bank groups = 0"},
        {good, "queue entries = 0"},
        {good, "reply entries = 0"},
        {good, "not a whole number of ticks"},
        {good, "bank groups of"},
        {good, "tRAS is below"},
    };
    rows[0].config.banks = 33;
    rows[1].config.bank_groups = 0;
    rows[2].config.queue_entries = 0;
    rows[3].config.reply_entries = 0;
    rows[4].config.data_rate = 3;
    rows[5].config.banks = 2;
    rows[6].config.timing.ras = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Diag *diag = diag_new();
        assert_false(dram_config_check(&rows[i].config, diag));
        assert_non_null(strstr(diag_text(diag), rows[i].why));
        diag_free(diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies),
        cmocka_unit_test(long_request),
        cmocka_unit_test(streaming_bandwidth),
        cmocka_unit_test(bank_group_spacing),
        cmocka_unit_test(service_order),
        cmocka_unit_test(overtaking),
        cmocka_unit_test(bank_parallelism),
        cmocka_unit_test(a_second_bus_takes_row_commands_beside_column_commands),
        cmocka_unit_test(pseudo_channels_share_one_column_command_a_tick),
        cmocka_unit_test(requests_wait_for_a_refresh),
        cmocka_unit_test(conservation),
        cmocka_unit_test(hostile_limits),
        cmocka_unit_test(skipping),
        cmocka_unit_test(few_steps),
        cmocka_unit_test(rotating_scan),
        cmocka_unit_test(row_command_before_column_command),
        cmocka_unit_test(rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
