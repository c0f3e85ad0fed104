/* Opportunistic prefetch, OWL section 4.4 sentence by sentence, on OWL's channel: rows of 32 lines
 * of 64 bytes. Tests that do not depend on the order of service run under each request scheduler;
 * the test's state names it. */
#include "dram/prefetch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "drive.h"

enum { LINE = 64, LINES = 32 };

/* 4 banks, 2 KB rows in pieces of 256 bytes across 8 channels. */
#define OWL_BITS "RRRRRRRRRRRR.BB.CCC.PPP.CCCCCCCC"

static AddressMap owl_map(void) {
    AddressMap map;
    Diag *diag = diag_new();
    assert_true(address_map_init(&map, &(AddressMapConfig){.bits = OWL_BITS}, diag));
    diag_free(diag);
    return map;
}

static DramConfig owl_config(const AddressMap *map, DramPrefetchScheme scheme) {
    DramConfig config = device_under(&devices[DEVICE_OWL], DRAM_SCHEDULER_frfcfs);
    config.prefetch = (DramPrefetchConfig){
        .scheme = scheme, .lower = 8, .higher = 16, .line_bytes = LINE, .map = map};
    return config;
}

static DramConfig owl_config_under(const char *scheduler, const AddressMap *map,
                                   DramPrefetchScheme scheme) {
    DramConfig config = owl_config(map, scheme);
    while (strcmp(dram_scheduler_names[config.scheduler], scheduler))
        config.scheduler++;
    return config;
}

static uint64_t address_of(uint32_t bank, uint32_t row, uint32_t line) {
    uint32_t column = line * LINE;
    return (uint64_t)row << 16 | bank << 14 | (column >> 8) << 11 | 5u << 8 | (column & 255);
}

static void demand(Bench *bench, uint32_t bank, uint32_t row, uint32_t line, bool is_write) {
    dram_push(bench->channel, bench->tick,
              &(DramRequest){.address = address_of(bank, row, line),
                             .handle = 1,
                             .row = row,
                             .column = (uint16_t)(line * LINE),
                             .bytes = LINE,
                             .bank = (uint8_t)bank,
                             .is_write = is_write});
}

/* Steps until the next reply. Returns its tick. */
static uint64_t next_reply(Bench *bench, DramReply *reply) {
    for (int i = 0; i < 2000; i++) {
        dram_step(bench->channel, bench->tick++);
        if (dram_pop_reply(bench->channel, reply)) return bench->tick - 1;
    }
    fail_msg("no reply");
    return 0;
}

static void expect_demand(Bench *bench, uint32_t bank, uint32_t row, uint32_t line) {
    DramReply reply;
    next_reply(bench, &reply);
    assert_false(reply.is_prefetch);
    assert_true(reply.address == address_of(bank, row, line));
}

/* The next replies must be prefetches of lines `first` to `last` of a row, in order. */
static void expect_prefetches(Bench *bench, uint32_t bank, uint32_t row, uint32_t first,
                              uint32_t last) {
    for (uint32_t line = first; line <= last; line++) {
        DramReply reply;
        next_reply(bench, &reply);
        assert_true(reply.is_prefetch);
        assert_int_equal(reply.bank, bank);
        assert_true(reply.address == address_of(bank, row, line));
    }
}

static void expect_quiet(Bench *bench) {
    run_to(bench, bench->tick + 100);
    assert_true(dram_is_idle(bench->channel));
    assert_true(dram_next_event(bench->channel) == UINT64_MAX);
}

/* "starts prefetching when there are no more demand requests to an open row ... sequentially
 * prefetches the cache lines that were not accessed by demand requests" */
static void rest_of_the_row(void **state) {
    AddressMap map = owl_map();
    for (int scheme = DRAM_PREFETCH_STOP; scheme <= DRAM_PREFETCH_MIN; scheme++) {
        DramConfig config = owl_config_under(*state, &map, (DramPrefetchScheme)scheme);
        Bench bench = bench_new(&config);
        demand(&bench, 2, 9, 5, false);
        demand(&bench, 2, 9, 3, false);
        demand(&bench, 2, 9, 31, true); /* a write counts as an access too */
        expect_demand(&bench, 2, 9, 5);
        expect_demand(&bench, 2, 9, 3);
        expect_prefetches(&bench, 2, 9, 0, 2);
        expect_prefetches(&bench, 2, 9, 4, 4);
        expect_prefetches(&bench, 2, 9, 6, 30);
        expect_quiet(&bench);
        const Counters *counters = bench.counters;
        assert_int_equal(counters->dram_prefetches, LINES - 3);
        assert_int_equal(counters->dram_read_commands, 4 * (LINES - 3 + 2)); /* 16-byte bursts */
        assert_int_equal(counters->dram_reads, 2);
        assert_int_equal(counters->dram_activates, 1);
        assert_int_equal(counters->dram_row_hits, 2);
        bench_free(&bench);
    }
}

static void none(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_NONE);
    Bench bench = bench_new(&config);
    demand(&bench, 2, 9, 5, false);
    expect_demand(&bench, 2, 9, 5);
    expect_quiet(&bench);
    assert_int_equal(bench.counters->dram_prefetches, 0);
    bench_free(&bench);
}

/* "the prefetcher stops immediately after a demand request to a different row arrives": the line
 * that is being read is the last one. */
static void stop(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_STOP);
    Bench bench = bench_new(&config);
    demand(&bench, 0, 1, 0, false);
    expect_demand(&bench, 0, 1, 0);
    expect_prefetches(&bench, 0, 1, 1, 4);
    uint64_t begun = bench.counters->dram_prefetches;
    demand(&bench, 0, 2, 7, false);
    expect_prefetches(&bench, 0, 1, 5, (uint32_t)begun);
    expect_demand(&bench, 0, 2, 7);
    assert_true(bench.counters->dram_prefetches > begun); /* now for the new row */
    expect_prefetches(&bench, 0, 2, 0, 6); /* all bits were cleared when the row was opened */
    expect_prefetches(&bench, 0, 2, 8, 31);
    expect_quiet(&bench);
    bench_free(&bench);
}

/* If a demand to another row waits from the start, scheme `stop` prefetches nothing. */
static void stop_before_the_start(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_STOP);
    Bench bench = bench_new(&config);
    demand(&bench, 0, 1, 0, false);
    demand(&bench, 0, 2, 0, false);
    expect_demand(&bench, 0, 1, 0);
    expect_demand(&bench, 0, 2, 0);
    bench_free(&bench);
}

/* Demands to other rows of two banks arrive at once. Only one enters service in the next tick, and
 * the other bank must not start a prefetch meanwhile. */
static void stop_in_every_bank(void **state) {
    (void)state;
    AddressMap map = owl_map();
    DramConfig config = owl_config(&map, DRAM_PREFETCH_STOP);
    Bench bench = bench_new(&config);
    demand(&bench, 0, 1, 0, false);
    demand(&bench, 1, 1, 0, false);
    expect_demand(&bench, 0, 1, 0);
    DramReply reply;
    do
        next_reply(&bench, &reply);
    while (reply.is_prefetch);
    for (int i = 0; i < 5; i++)
        next_reply(&bench, &reply);
    while (bench.channel->serving)
        dram_step(bench.channel, bench.tick++); /* between two lines */
    run_to(&bench, bench.tick + 1);             /* tCCD is over: a prefetch could start next */
    uint64_t begun = bench.counters->dram_prefetches;
    demand(&bench, 0, 2, 0, false);
    demand(&bench, 1, 2, 0, false);
    run_to(&bench, bench.tick + 10); /* too short to close either row and read the new one */
    assert_int_equal(bench.counters->dram_prefetches, begun);
    bench_free(&bench);
}

/* "prefetches at least a minimum number of cache lines (C) regardless of whether or not a demand
 * arrives": C is `lower`, or `higher` while fewer requests than the threshold wait. */
static void minimum(void **state) {
    static const struct {
        uint32_t threshold, lines;
    } rows[] = {
        {1, 8},  /* one waits: not fewer than 1 */
        {2, 16}, /* fewer than 2 */
        {0, 8},  /* the running mean is still below 1 */
    };
    AddressMap map = owl_map();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_MIN);
        config.prefetch.threshold = rows[i].threshold;
        Bench bench = bench_new(&config);
        demand(&bench, 0, 1, 0, false);
        demand(&bench, 0, 2, 0, false);
        expect_demand(&bench, 0, 1, 0);
        expect_prefetches(&bench, 0, 1, 1, rows[i].lines);
        expect_demand(&bench, 0, 2, 0);
        /* after the minimum it continues while no demand waits */
        expect_prefetches(&bench, 0, 2, 1, 31);
        expect_quiet(&bench);
        bench_free(&bench);
    }
}

/* "it may be worthwhile to keep prefetching even after a demand to a different row arrives": a
 * demand that waits before the prefetching starts is not delayed, a later one is. */
static void minimum_of_what_has_begun(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_MIN);
    config.prefetch.threshold = 1;
    config.prefetch.begins_idle = true;
    Bench bench = bench_new(&config);
    demand(&bench, 0, 1, 0, false);
    demand(&bench, 0, 2, 0, false);
    expect_demand(&bench, 0, 1, 0);
    expect_demand(&bench, 0, 2, 0);
    expect_prefetches(&bench, 0, 2, 1, 2);
    demand(&bench, 0, 3, 0, false);
    demand(&bench, 0, 4, 0, false);
    expect_prefetches(&bench, 0, 2, 3, 8);
    expect_demand(&bench, 0, 3, 0);
    expect_demand(&bench, 0, 4, 0); /* no prefetch of row 3 had started, although row 2's had */
    bench_free(&bench);
}

/* C changes while the prefetcher runs: more requests than the threshold reduce it to `lower`. */
static void minimum_follows_the_queue(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_MIN);
    config.prefetch.threshold = 3;
    Bench bench = bench_new(&config);
    demand(&bench, 0, 1, 0, false);
    demand(&bench, 0, 2, 0, false);
    expect_demand(&bench, 0, 1, 0);
    expect_prefetches(&bench, 0, 1, 1, 10); /* on the way to 16 */
    uint32_t begun = (uint32_t)bench.counters->dram_prefetches;
    demand(&bench, 0, 3, 0, false);
    demand(&bench, 0, 4, 0, false); /* three wait */
    expect_prefetches(&bench, 0, 1, 11, begun);
    expect_demand(&bench, 0, 2, 0);
    bench_free(&bench);
}

/* Every row that is opened receives its minimum. */
static void minimum_of_each_row(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_MIN);
    config.prefetch.threshold = 1;
    Bench bench = bench_new(&config);
    for (uint32_t row = 1; row <= 3; row++)
        demand(&bench, 0, row, 0, false);
    for (uint32_t row = 1; row <= 2; row++) {
        expect_demand(&bench, 0, row, 0);
        expect_prefetches(&bench, 0, row, 1, 8);
    }
    expect_demand(&bench, 0, 3, 0);
    bench_free(&bench);
}

/* An owner that takes no replies delays prefetches, but none is lost. */
static void slow_owner(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_STOP);
    config.reply_entries = 1;
    Bench bench = bench_new(&config);
    demand(&bench, 0, 1, 0, false);
    run_to(&bench, 1000);
    uint64_t begun = bench.counters->dram_prefetches;
    assert_true(begun < LINES - 1);
    demand(&bench, 1, 1, 0, false);
    run_to(&bench, 2000);
    assert_int_equal(bench.counters->dram_prefetches, begun);
    bool seen[2][LINES] = {{false}};
    for (int i = 0; i < 2 * LINES; i++) {
        DramReply reply;
        next_reply(&bench, &reply);
        uint32_t line = address_map_place(&map, reply.address).column / LINE;
        assert_false(seen[reply.bank][line]);
        seen[reply.bank][line] = true;
    }
    expect_quiet(&bench);
    bench_free(&bench);
}

/* A demand to the row that is being prefetched is served next, and its line is not prefetched. */
static void demand_in_between(void **state) {
    (void)state;
    AddressMap map = owl_map();
    DramConfig config = owl_config(&map, DRAM_PREFETCH_MIN);
    Bench bench = bench_new(&config);
    demand(&bench, 0, 1, 0, false);
    expect_demand(&bench, 0, 1, 0);
    expect_prefetches(&bench, 0, 1, 1, 3);
    uint32_t begun = (uint32_t)bench.counters->dram_prefetches;
    demand(&bench, 0, 1, 20, false);
    expect_prefetches(&bench, 0, 1, 4, begun);
    expect_demand(&bench, 0, 1, 20);
    expect_prefetches(&bench, 0, 1, begun + 1, 19);
    expect_prefetches(&bench, 0, 1, 21, 31);
    expect_quiet(&bench);
    assert_int_equal(bench.counters->dram_activates, 1);
    bench_free(&bench);
}

/* Demand requests to another bank's open row occupy the data bus: there is no prefetch between
 * them. */
static void demand_has_the_bus(void **state) {
    (void)state;
    AddressMap map = owl_map();
    DramConfig config = owl_config(&map, DRAM_PREFETCH_STOP);
    Bench bench = bench_new(&config);
    demand(&bench, 1, 1, 0, false);
    expect_demand(&bench, 1, 1, 0);
    run_to(&bench, bench.tick + 500); /* row open, all of it prefetched */
    DramReply reply;
    while (dram_pop_reply(bench.channel, &reply))
        continue;
    for (uint32_t line = 0; line < 20; line++)
        demand(&bench, 1, 1, line, false);
    demand(&bench, 0, 1, 0, false); /* meanwhile bank 0 is opened and could prefetch */
    int demands = 0;
    while (demands < 21) {
        next_reply(&bench, &reply);
        assert_false(reply.is_prefetch);
        demands++;
    }
    expect_prefetches(&bench, 0, 1, 1, 31);
    bench_free(&bench);
}

/* "takes advantage of a row that was already opened by a demand request": a write-back is not a
 * demand, because no program waits for it, so the rest of its row is not prefetched. */
static void written_rows_are_left_alone(void **state) {
    AddressMap map = owl_map();
    for (int scheme = DRAM_PREFETCH_STOP; scheme <= DRAM_PREFETCH_MIN; scheme++) {
        DramConfig config = owl_config_under(*state, &map, (DramPrefetchScheme)scheme);
        Bench bench = bench_new(&config);
        demand(&bench, 1, 4, 6, true);
        expect_quiet(&bench);
        assert_int_equal(bench.counters->dram_prefetches, 0);
        demand(&bench, 1, 4, 2, false); /* the row is still open */
        expect_demand(&bench, 1, 4, 2);
        expect_prefetches(&bench, 1, 4, 0, 1);
        expect_prefetches(&bench, 1, 4, 3, 5);
        expect_prefetches(&bench, 1, 4, 7, 31);
        expect_quiet(&bench);
        bench_free(&bench);
    }
}

/* Tick of the last of 20 reads of bank 3's open row, while bank 0 has a row to prefetch. */
static uint64_t end_of_stream(const AddressMap *map, DramPrefetchScheme scheme) {
    DramConfig config = owl_config(map, scheme);
    config.bank_groups = 2;
    config.timing.ccd_long = 3; /* leaves one tick of the bus free between two bursts of a bank */
    Bench bench = bench_new(&config);
    for (uint32_t line = 0; line < 20; line++)
        demand(&bench, 3, 1, line, false);
    demand(&bench, 0, 1, 0, false);
    DramReply reply;
    uint64_t end = 0;
    for (int demands = 0; demands < 21;) {
        uint64_t tick = next_reply(&bench, &reply);
        if (reply.is_prefetch) continue;
        demands++;
        if (reply.bank == 3) end = tick;
    }
    bench_free(&bench);
    return end;
}

/* A prefetch does not use gaps of a stream that are too short for it. */
static void prefetch_delays_no_stream(void **state) {
    (void)state;
    AddressMap map = owl_map();
    assert_int_equal(end_of_stream(&map, DRAM_PREFETCH_STOP),
                     end_of_stream(&map, DRAM_PREFETCH_NONE));
}

/* Ticks of a read of bank 1's open row while lines of bank 0 are prefetched. */
static uint64_t read_beside_prefetches(const AddressMap *map, DramPrefetchScheme scheme,
                                       uint32_t ticks_later) {
    DramConfig config = owl_config(map, scheme);
    Bench bench = bench_new(&config);
    demand(&bench, 1, 1, 0, false);
    run_to(&bench, 1000); /* the whole row has been prefetched */
    demand(&bench, 0, 1, 0, false);
    run_to(&bench, 1060 + ticks_later);
    DramReply reply;
    while (dram_pop_reply(bench.channel, &reply))
        continue;
    demand(&bench, 1, 1, 0, false);
    uint64_t begun = bench.tick, end = 0;
    while (!end) {
        uint64_t tick = next_reply(&bench, &reply);
        if (!reply.is_prefetch) end = tick;
    }
    bench_free(&bench);
    return end - begun;
}

/* The prefetch of a line can be interrupted: it costs a request one burst, not four. */
static void prefetch_under_way_gives_way(void **state) {
    (void)state;
    AddressMap map = owl_map();
    for (uint32_t later = 0; later < 16; later++) {
        uint64_t alone = read_beside_prefetches(&map, DRAM_PREFETCH_NONE, later);
        uint64_t beside = read_beside_prefetches(&map, DRAM_PREFETCH_STOP, later);
        assert_in_range(beside, alone, alone + 2);
    }
}

/* The minimum of a row for which a request waits takes precedence over prefetches of other banks,
 * for which no request waits. */
static void minimum_goes_first(void **state) {
    (void)state;
    AddressMap map = owl_map();
    DramConfig config = owl_config(&map, DRAM_PREFETCH_MIN);
    config.prefetch.threshold = 1;
    Bench bench = bench_new(&config);
    demand(&bench, 3, 1, 0, false);
    expect_demand(&bench, 3, 1, 0);
    demand(&bench, 0, 1, 0, false);
    demand(&bench, 0, 2, 0, false);
    DramReply reply;
    do
        next_reply(&bench, &reply);
    while (reply.is_prefetch); /* bank 3's prefetches */
    assert_true(reply.address == address_of(0, 1, 0));
    int others = 0;
    for (uint32_t line = 1; line <= 8;) {
        next_reply(&bench, &reply);
        if (reply.bank == 0) assert_true(reply.address == address_of(0, 1, line++));
        else others++;
    }
    assert_true(others <= 1); /* the one in progress */
    bench_free(&bench);
}

static bool is_line_2_to_4_or_31(const void *cache, uint64_t address) {
    const AddressMap *map = cache;
    uint32_t line = address_map_place(map, address).column / LINE;
    return (line >= 2 && line <= 4) || line == 31;
}

/* "prefetch the so-far-unfetched cache lines": lines that are in L2 when the row is opened are not
 * prefetched. */
static void lines_that_l2_has_are_skipped(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_MIN);
    config.prefetch.skips_cached = true;
    config.prefetch.is_cached = is_line_2_to_4_or_31;
    config.prefetch.cache = &map;
    Bench bench = bench_new(&config);
    demand(&bench, 1, 7, 0, false);
    expect_demand(&bench, 1, 7, 0);
    expect_prefetches(&bench, 1, 7, 1, 1);
    expect_prefetches(&bench, 1, 7, 5, 30);
    expect_quiet(&bench);
    bench_free(&bench);
}

/* Prefetches continue after the last line that was sent, and wrap around the row's end. */
static void lines_after_the_demand_come_first(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_MIN);
    config.prefetch.order = DRAM_PREFETCH_AROUND;
    Bench bench = bench_new(&config);
    demand(&bench, 1, 7, 27, false);
    demand(&bench, 1, 7, 29, false);
    expect_demand(&bench, 1, 7, 27);
    expect_demand(&bench, 1, 7, 29);
    expect_prefetches(&bench, 1, 7, 30, 31);
    expect_prefetches(&bench, 1, 7, 0, 26);
    expect_prefetches(&bench, 1, 7, 28, 28);
    expect_quiet(&bench);
    bench_free(&bench);
}

/* Prefetches continue after the last line that was sent, up to the row's end. A demand before that
 * line starts again. */
static void onward_lines_end_with_the_row(void **state) {
    AddressMap map = owl_map();
    DramConfig config = owl_config_under(*state, &map, DRAM_PREFETCH_MIN);
    config.prefetch.order = DRAM_PREFETCH_ONWARD;
    Bench bench = bench_new(&config);
    demand(&bench, 1, 7, 29, false);
    expect_demand(&bench, 1, 7, 29);
    expect_prefetches(&bench, 1, 7, 30, 31);
    expect_quiet(&bench);
    demand(&bench, 1, 7, 26, false);
    expect_demand(&bench, 1, 7, 26);
    expect_prefetches(&bench, 1, 7, 27, 28);
    expect_quiet(&bench);
    demand(&bench, 1, 7, 30, false);
    expect_demand(&bench, 1, 7, 30);
    expect_quiet(&bench);
    bench_free(&bench);
}

static void running_mean(void **state) {
    (void)state;
    AddressMap map = owl_map();
    DramPrefetchConfig config = owl_config(&map, DRAM_PREFETCH_MIN).prefetch;
    DramPrefetch prefetch;
    dram_prefetch_init(&prefetch, &config, 2048);
    for (int i = 0; i < 2000; i++)
        dram_prefetch_arrived(&prefetch, 20);
    assert_int_equal((prefetch.mean + (1 << 15)) >> DRAM_PREFETCH_FRACTION, 20);
    for (int i = 0; i < 2000; i++)
        dram_prefetch_arrived(&prefetch, i % 2 ? 4 : 6);
    assert_int_equal((prefetch.mean + (1 << 15)) >> DRAM_PREFETCH_FRACTION, 5);
    /* 12 lines prefetched: enough for `lower`, not for `higher` */
    dram_prefetch_opened(&prefetch, 3, 0);
    dram_prefetch_demanded(&prefetch, 3, 31 * LINE, LINE, false);
    for (uint32_t line = 0; line < 12; line++)
        dram_prefetch_sent(&prefetch, 3, line * LINE);
    assert_int_equal(dram_prefetch_held(&prefetch, 4), 1 << 3);
    assert_int_equal(dram_prefetch_held(&prefetch, 6), 0);
}

/* A channel under FCFS that prefetches row 1 of bank 0. Two requests wait for different rows of
 * bank 1; later requests wait behind the second. */
static Bench fcfs_with_a_jam(const AddressMap *map) {
    DramConfig config = owl_config_under("fcfs", map, DRAM_PREFETCH_STOP);
    Bench bench = bench_new(&config);
    DramReply reply;
    demand(&bench, 1, 3, 0, false);
    run_to(&bench, 1000); /* the whole row is prefetched */
    while (dram_pop_reply(bench.channel, &reply))
        continue;
    demand(&bench, 0, 1, 0, false);
    expect_demand(&bench, 0, 1, 0);
    expect_prefetches(&bench, 0, 1, 1, 4);
    demand(&bench, 1, 1, 0, false);
    demand(&bench, 1, 2, 0, false);
    return bench;
}

/* The rest of the row is not prefetched while a request to it waits behind others. */
static void fcfs_waits_for_a_request_to_the_open_row_behind_others(void **state) {
    (void)state;
    AddressMap map = owl_map();
    Bench bench = fcfs_with_a_jam(&map);
    uint64_t begun = bench.counters->dram_prefetches - (LINES - 1);
    demand(&bench, 0, 1, 29, false);
    expect_prefetches(&bench, 0, 1, 5, (uint32_t)begun);
    expect_demand(&bench, 1, 1, 0);
    expect_demand(&bench, 0, 1, 29);
    bench_free(&bench);
}

/* With scheme `stop`, the same holds for a request to another row. */
static void fcfs_stops_for_a_request_to_another_row_behind_others(void **state) {
    (void)state;
    AddressMap map = owl_map();
    Bench bench = fcfs_with_a_jam(&map);
    uint64_t begun = bench.counters->dram_prefetches - (LINES - 1);
    demand(&bench, 0, 2, 7, false);
    expect_prefetches(&bench, 0, 1, 5, (uint32_t)begun);
    expect_demand(&bench, 1, 1, 0);
    bench_free(&bench);
}

/* Sends random demand reads and writes. Steps every tick, or only at events. */
static Counters random_traffic(const DramConfig *config, bool skips) {
    Bench bench = bench_new(config);
    uint64_t seed = 0xABCDEF12345u, sent = 0, reads = 0, got = 0, prefetched = 0, pause_until = 0;
    while (sent < 5000 || !dram_is_idle(bench.channel)) {
        assert_true(bench.tick < 10000000);
        bool wants_push = sent < 5000 && bench.tick >= pause_until;
        if (wants_push && dram_can_accept(bench.channel)) {
            uint64_t r = next_random(&seed);
            demand(&bench, r & 3, r >> 2 & 3, r >> 8 & 31, (r >> 32 & 7) == 0);
            reads += (r >> 32 & 7) != 0;
            sent++;
            if ((r >> 40 & 7) == 0) pause_until = bench.tick + (r >> 48) % 200;
        }
        if (!skips || bench.tick >= dram_next_event(bench.channel))
            dram_step(bench.channel, bench.tick);
        DramReply reply;
        while (dram_pop_reply(bench.channel, &reply)) {
            if (reply.is_prefetch) prefetched++;
            else got++;
        }
        bench.tick++;
    }
    dram_settle(bench.channel, bench.tick);
    Counters counters = *bench.counters;
    assert_int_equal(got, reads);
    assert_int_equal(prefetched, counters.dram_prefetches);
    assert_int_equal(counters.dram_reads, reads);
    assert_true(counters.dram_prefetches > 0);
    bench_free(&bench);
    return counters;
}

static void random_and_skipping(void **state) {
    AddressMap map = owl_map();
    for (int scheme = DRAM_PREFETCH_STOP; scheme <= DRAM_PREFETCH_MIN; scheme++) {
        DramConfig config = owl_config_under(*state, &map, (DramPrefetchScheme)scheme);
        for (int tight = 0; tight < 2; tight++) {
            if (tight) config.queue_entries = config.reply_entries = 1;
            Counters every = random_traffic(&config, false);
            Counters events = random_traffic(&config, true);
            assert_memory_equal(&every, &events, sizeof every);
        }
    }
}

static void rejected(void **state) {
    (void)state;
    AddressMap map = owl_map();
    const DramConfig good = owl_config(&map, DRAM_PREFETCH_MIN);
    struct {
        DramConfig config;
        const char *why;
    } rows[] = {
        {good, "lines of 0 bytes"},
        {good, "lines of 8 bytes"},
        {good, "lower 20 and higher 16"},
        {good, "higher 200"},
        {good, "but the address map has rows of 2048"},
    };
    rows[0].config.prefetch.line_bytes = 0;
    rows[1].config.prefetch.line_bytes = 8;
    rows[2].config.prefetch.lower = 20;
    rows[3].config.prefetch.higher = 200;
    rows[4].config.row_bytes = 4096;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Diag *diag = diag_new();
        assert_false(dram_config_check(&rows[i].config, diag));
        assert_non_null(strstr(diag_text(diag), rows[i].why));
        diag_free(diag);
    }
}

/* clang-format off */
#define UNDER(scheduler, test) {#test " under " scheduler, test, NULL, NULL, (void *)scheduler}
#define UNDER_EACH(test) UNDER("fr-fcfs", test), UNDER("fcfs", test), UNDER("bliss", test)
/* clang-format on */

int main(void) {
    const struct CMUnitTest tests[] = {
        UNDER_EACH(rest_of_the_row),
        UNDER_EACH(none),
        UNDER_EACH(stop),
        UNDER_EACH(stop_before_the_start),
        cmocka_unit_test(stop_in_every_bank),
        UNDER_EACH(minimum),
        UNDER_EACH(minimum_of_each_row),
        UNDER_EACH(minimum_of_what_has_begun),
        UNDER_EACH(slow_owner),
        UNDER_EACH(minimum_follows_the_queue),
        cmocka_unit_test(demand_in_between),
        cmocka_unit_test(demand_has_the_bus),
        UNDER_EACH(written_rows_are_left_alone),
        cmocka_unit_test(prefetch_delays_no_stream),
        cmocka_unit_test(prefetch_under_way_gives_way),
        cmocka_unit_test(minimum_goes_first),
        UNDER_EACH(lines_that_l2_has_are_skipped),
        UNDER_EACH(lines_after_the_demand_come_first),
        UNDER_EACH(onward_lines_end_with_the_row),
        cmocka_unit_test(running_mean),
        cmocka_unit_test(fcfs_waits_for_a_request_to_the_open_row_behind_others),
        cmocka_unit_test(fcfs_stops_for_a_request_to_another_row_behind_others),
        UNDER_EACH(random_and_skipping),
        cmocka_unit_test(rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
