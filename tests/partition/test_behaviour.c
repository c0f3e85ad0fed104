/* The behavior of a partition for each kind of access: counters, DRAM traffic, order. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rig.h"

#define DEVICE UINT64_C(0xC0000000) /* where a GTX480's device memory begins */

enum { LIMIT = 100000 };

static void send(Rig *rig, MemOp op, uint64_t address, uint32_t sectors) {
    assert_true(rig_send(rig, 0, op, address, sectors));
}

/* Stores to the bytes `first` to `last` of the 64 bytes at `address`. */
static void store_bytes(Rig *rig, uint64_t address, int first, int last) {
    MemRequest request = {
        .address = address,
        .sectors = 1,
        .op = MEM_OP_WRITE,
        .client = MEM_CLIENT_STORE,
        .written = {bits_low_mask(last + 1) & ~bits_low_mask(first)},
    };
    assert_true(rig_send_request(rig, 0, &request));
    assert_true(rig_drain(rig, LIMIT));
}

static Counters drained(Rig *rig) {
    assert_true(rig_drain(rig, LIMIT));
    rig_run(rig, 1000); /* write-backs */
    return rig_counters(rig);
}

/* The i-th line of one L2 set of slice 0 of gtx480. */
static uint64_t line_of_set(const Rig *rig, uint32_t i) {
    return DEVICE + (UINT64_C(1) << 14) * rig->config.partitions * i;
}

static void test_reads_hit_merge_and_miss(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    send(rig, MEM_OP_READ, DEVICE, 0xF);
    send(rig, MEM_OP_READ, DEVICE, 0x3);
    Counters counters = drained(rig);
    assert_int_equal(counters.l2_misses, 4); /* a cold line counts each sector */
    assert_int_equal(counters.l2_pending_hits, 2);
    assert_int_equal(counters.dram_reads, 4);
    send(rig, MEM_OP_READ, DEVICE, 0xC);
    counters = drained(rig);
    assert_int_equal(counters.l2_hits, 2);
    assert_int_equal(counters.l2_accesses, 8);
    assert_int_equal(counters.l2_reads, 8);
    assert_int_equal(counters.l2_read_misses, 4);
    assert_int_equal(counters.dram_reads, 4);
    rig_free(rig);
}

/* A fetch serves four requests to its sector in all. The fifth is refused until the data arrive,
 * and blocks the requests behind it. */
static void test_merges_are_limited(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    partition_fill_from_host(rig->partitions, DEVICE + 4096 * 6, 32);
    for (int i = 0; i < 4; i++)
        send(rig, MEM_OP_READ, DEVICE, 1);
    Counters counters = drained(rig);
    assert_int_equal(counters.l2_refusals, 0);
    for (int i = 0; i < 5; i++)
        send(rig, MEM_OP_READ, DEVICE + 64, 1);
    send(rig, MEM_OP_READ, DEVICE + 4096 * 6, 1); /* a hit in the same slice */
    uint64_t answered = rig->answered;
    rig_run(rig, 180); /* a hit takes 122 cycles */
    assert_int_equal(rig->answered, answered);
    counters = drained(rig);
    assert_true(counters.l2_refusals > 100);
    assert_int_equal(counters.l2_pending_hits, 3 + 3);
    assert_int_equal(counters.l2_hits, 1 + 1);
    assert_int_equal(counters.dram_reads, 2);
    rig_free(rig);
}

static void test_mshrs_are_limited(void **state) {
    (void)state;
    static const char *const settings[] = {"l2.mshrs=2", NULL};
    Rig *rig = rig_new("gtx480", settings, NULL);
    send(rig, MEM_OP_READ, DEVICE, 0x3);
    assert_int_equal(drained(rig).l2_refusals, 0);
    send(rig, MEM_OP_READ, DEVICE + 128, 0x7);
    assert_true(drained(rig).l2_refusals > 100);
    rig_free(rig);
}

/* A set whose ways are all being filled accepts no other line. */
static void test_pending_lines_stay(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    uint32_t ways = rig->config.partition.l2.ways;
    for (uint32_t i = 0; i < ways; i++)
        send(rig, MEM_OP_READ, line_of_set(rig, i), 1);
    assert_int_equal(drained(rig).l2_refusals, 0);
    for (uint32_t i = 0; i < ways + 1; i++)
        send(rig, MEM_OP_READ, line_of_set(rig, ways + i), 1);
    Counters counters = drained(rig);
    assert_true(counters.l2_refusals > 50);
    assert_int_equal(counters.l2_evictions, ways + 1);
    assert_int_equal(counters.l2_write_backs, 0);
    rig_free(rig);
}

static void test_stores_allocate_without_fetching(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    send(rig, MEM_OP_WRITE, DEVICE, 0xF);
    Counters counters = drained(rig);
    assert_int_equal(counters.l2_misses, 4);
    assert_int_equal(counters.l2_reads + counters.dram_reads + counters.dram_writes, 0);
    send(rig, MEM_OP_READ, DEVICE, 0xF);
    send(rig, MEM_OP_WRITE, DEVICE, 0xF);
    counters = drained(rig);
    assert_int_equal(counters.l2_hits, 8);
    assert_int_equal(counters.dram_reads, 0);
    rig_free(rig);
}

/* A sector that is written in part is fetched when it is read, unless stores have covered it by
 * then. */
static void test_partly_written_sectors(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    store_bytes(rig, DEVICE, 0, 15);
    store_bytes(rig, DEVICE, 8, 11);
    Counters counters = drained(rig);
    assert_int_equal(counters.l2_misses, 1);
    assert_int_equal(counters.l2_hits, 1);
    send(rig, MEM_OP_READ, DEVICE, 1);
    counters = drained(rig);
    assert_int_equal(counters.l2_read_misses, 1);
    assert_int_equal(counters.dram_reads, 1);

    store_bytes(rig, DEVICE + 32, 0, 15);
    store_bytes(rig, DEVICE + 32, 16, 31);
    send(rig, MEM_OP_READ, DEVICE + 32, 1);
    counters = drained(rig);
    assert_int_equal(counters.l2_read_misses, 1);
    assert_int_equal(counters.dram_reads, 1);
    rig_free(rig);
}

/* A store that begins in the middle of a sector writes part of the sector. */
static void test_store_inside_a_sector(void **state) {
    (void)state;
    static const char *const settings[] = {"l2.write_allocate=validate", "l2.allocate=on-miss",
                                           "l2.store_mshrs=no", "partition.write_backs_first=no",
                                           NULL};
    Rig *rig = rig_new("owl", settings, NULL);
    store_bytes(rig, 32, 0, 31); /* the upper half of a sector of 64 bytes */
    store_bytes(rig, 0, 0, 31);
    send(rig, MEM_OP_READ, 0, 1);
    assert_int_equal(drained(rig).dram_reads, 0);
    rig_free(rig);
}

/* All dirty sectors of an evicted line make one DRAM write; 64 bytes are one command. */
static void test_write_backs(void **state) {
    (void)state;
    static const struct {
        uint32_t sectors, commands;
    } rows[] = {{0xF, 2}, {0x1, 1}, {0x6, 1}, {0xE, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Rig *rig = rig_new("gtx480", NULL, NULL);
        send(rig, MEM_OP_WRITE, line_of_set(rig, 0), rows[i].sectors);
        for (uint32_t way = 1; way <= 8; way++)
            send(rig, MEM_OP_READ, line_of_set(rig, way), 1);
        Counters counters = drained(rig);
        assert_int_equal(counters.l2_write_backs, 1);
        assert_int_equal(counters.dram_writes, 1);
        assert_int_equal(counters.dram_write_commands, rows[i].commands);
        rig_free(rig);
    }
}

/* A store that misses goes to DRAM, and its line is fetched from there and is clean. So does a
 * store that finds the line under way, as far as the merges allow. A store that hits stays in
 * L2. */
static void test_lines_of_stores_that_miss_come_beside_them(void **state) {
    (void)state;
    static const char *const settings[] = {"l2.write_allocate=beside", "l2.mshr_merges=3", NULL};
    Rig *rig = rig_new("pro", settings, NULL);
    MemRequest write = {.address = DEVICE,
                        .sectors = 1,
                        .bytes = 32,
                        .op = MEM_OP_WRITE,
                        .client = MEM_CLIENT_STORE};
    for (uint32_t sm = 0; sm < 3; sm++)
        assert_true(rig_send_request(rig, sm, &write));
    Counters counters = drained(rig);
    assert_int_equal(counters.l2_refusals, 0);
    assert_int_equal(counters.dram_writes, 3);
    assert_int_equal(counters.dram_reads, 1);
    assert_int_equal(counters.l2_misses, 1);
    assert_int_equal(counters.l2_pending_hits, 2);
    for (uint32_t way = 1; way <= 8; way++)
        send(rig, MEM_OP_READ, line_of_set(rig, way), 1);
    assert_int_equal(drained(rig).l2_write_backs, 0);

    write.address = line_of_set(rig, 8);
    assert_true(rig_send_request(rig, 0, &write));
    counters = drained(rig);
    assert_int_equal(counters.l2_hits, 1);
    assert_int_equal(counters.dram_writes, 3);
    write.address = DEVICE;
    for (uint32_t sm = 0; sm < 4; sm++)
        assert_true(rig_send_request(rig, sm, &write));
    assert_true(drained(rig).l2_refusals > 0); /* the fourth */
    rig_free(rig);
}

/* An atomic leaves its sector dirty, whether it was fetched or already there. */
static void test_atomics(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    partition_fill_from_host(rig->partitions, line_of_set(rig, 1), 32);
    send(rig, MEM_OP_ATOMIC, line_of_set(rig, 0), 1);
    send(rig, MEM_OP_ATOMIC, line_of_set(rig, 1), 1);
    Counters counters = drained(rig);
    assert_int_equal(counters.l2_reads, 2);
    assert_int_equal(counters.dram_reads, 1);
    for (uint32_t way = 2; way < 10; way++)
        send(rig, MEM_OP_READ, line_of_set(rig, way), 1);
    assert_int_equal(drained(rig).l2_write_backs, 2);
    rig_free(rig);
}

/* Data that an atomic has written are not lost when a store drops their line. */
static void test_a_store_that_drops_a_line_of_an_atomic_writes_it_back(void **state) {
    (void)state;
    static const char *const settings[] = {"l2.write=write-evict", NULL};
    Rig *rig = rig_new("gtx480", settings, NULL);
    send(rig, MEM_OP_READ, DEVICE, 0x3);
    send(rig, MEM_OP_ATOMIC, DEVICE, 0x1);
    assert_int_equal(drained(rig).dram_writes, 0);
    send(rig, MEM_OP_WRITE, DEVICE, 0x2);
    Counters counters = drained(rig);
    assert_int_equal(counters.l2_write_backs, 1);
    assert_int_equal(counters.dram_writes, 2);
    send(rig, MEM_OP_READ, DEVICE, 0x1);
    assert_int_equal(drained(rig).dram_reads, 3); /* the line is gone */
    rig_free(rig);
}

/* Another sector of the line is under way. The store drops only its own sector. */
static void test_a_store_drops_its_sector_of_a_line_under_way(void **state) {
    (void)state;
    static const char *const settings[] = {"l2.write=write-evict", NULL};
    Rig *rig = rig_new("gtx480", settings, NULL);
    send(rig, MEM_OP_READ, DEVICE, 0x1);
    assert_int_equal(drained(rig).dram_reads, 1);
    send(rig, MEM_OP_READ, DEVICE, 0x2);
    send(rig, MEM_OP_WRITE, DEVICE, 0x1);
    assert_int_equal(drained(rig).dram_reads, 2);
    send(rig, MEM_OP_READ, DEVICE, 0x3);
    Counters counters = drained(rig);
    assert_int_equal(counters.dram_reads, 3); /* the sector that has arrived is still there */
    assert_int_equal(counters.l2_evictions, 0);
    rig_free(rig);
}

static void test_without_l2(void **state) {
    (void)state;
    Rig *rig = rig_new("md", NULL, NULL);
    for (int i = 0; i < 2; i++)
        send(rig, MEM_OP_READ, DEVICE, 0xF);
    send(rig, MEM_OP_WRITE, DEVICE, 0x3);
    Counters counters = drained(rig);
    assert_int_equal(counters.dram_reads, 8);
    assert_int_equal(counters.dram_writes, 2);
    send(rig, MEM_OP_ATOMIC, DEVICE, 1);
    counters = drained(rig);
    assert_int_equal(counters.dram_reads, 9);
    assert_int_equal(counters.dram_writes, 3);
    assert_int_equal(counters.l2_accesses, 0);
    rig_free(rig);
}

/* DRAM commands of a write that covers less than its sector: bursts of 64 bytes, in a sector of
 * 128. */
static void test_part_of_a_sector_is_written(void **state) {
    (void)state;
    static const uint32_t rows[][2] = {{0, 2}, {128, 2}, {64, 1}, {32, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Rig *rig = rig_new("md", NULL, NULL);
        MemRequest write = {.address = DEVICE,
                            .sectors = 1,
                            .bytes = (uint16_t)rows[i][0],
                            .op = MEM_OP_WRITE,
                            .client = MEM_CLIENT_STORE};
        assert_true(rig_send_request(rig, 0, &write));
        Counters counters = drained(rig);
        assert_int_equal(counters.dram_writes, 1);
        assert_int_equal(counters.dram_write_commands, rows[i][1]);
        rig_free(rig);
    }
}

/* Port time in L2 of such a write, for which a read waits: 32 bytes per cycle. */
static void test_part_of_a_sector_takes_part_of_the_port(void **state) {
    (void)state;
    uint64_t cycles[2];
    for (uint32_t is_part = 0; is_part < 2; is_part++) {
        /* A flit of 256 bytes holds any packet, so that packets take no extra time. */
        Rig *rig = rig_new("pro", (const char *const[]){"noc.flit=256B", NULL}, NULL);
        MemRequest write = {.address = DEVICE,
                            .sectors = 1,
                            .bytes = is_part ? 32 : 128,
                            .op = MEM_OP_WRITE,
                            .client = MEM_CLIENT_STORE};
        rig_latency(rig, MEM_OP_READ, DEVICE, 1);
        uint64_t start = rig->cycle;
        for (uint32_t sm = 0; sm < 4; sm++)
            assert_true(rig_send_request(rig, sm, &write));
        assert_true(rig_drain(rig, LIMIT));
        cycles[is_part] = rig->cycle - start;
        rig_free(rig);
    }
    assert_int_equal(cycles[0] - cycles[1], 3 * 3); /* three wait for the writes before them */
}

/* A dirty line that a read replaces also takes port time, if the machine says so: a hit behind it
 * waits while its 128 bytes pass. */
static void test_a_dirty_line_that_a_read_replaces_passes_the_port(void **state) {
    (void)state;
    static const char *const sets[] = {"partition.port_moves_victims=no",
                                       "partition.port_moves_victims=yes"};
    uint64_t cycles[2];
    for (size_t moves = 0; moves < 2; moves++) {
        enum { WAYS = 8 };
        Rig *rig = rig_new("pro", (const char *const[]){"noc.flit=256B", sets[moves], NULL}, NULL);
        for (uint32_t way = 0; way < WAYS; way++)
            rig_latency(rig, MEM_OP_READ, line_of_set(rig, way), 1);
        rig_latency(rig, MEM_OP_WRITE, line_of_set(rig, 0), 1);
        for (uint32_t way = 1; way < WAYS; way++)
            rig_latency(rig, MEM_OP_READ, line_of_set(rig, way), 1);
        const uint64_t answered = rig->answered, start = rig->cycle;
        assert_true(rig_send(rig, 0, MEM_OP_READ, line_of_set(rig, WAYS), 1));
        assert_true(rig_send(rig, 1, MEM_OP_READ, line_of_set(rig, 1), 1));
        while (rig->answered == answered) /* the hit is answered first */
            rig_step(rig);
        cycles[moves] = rig->cycle - start;
        assert_int_equal(drained(rig).l2_write_backs, 1);
        rig_free(rig);
    }
    assert_int_equal(cycles[1] - cycles[0], 3); /* 4 cycles; one is the miss's own */
}

/* ---- Lines that are allocated on arrival ---- */

/* The i-th line of one L2 set of channel 0 of owl: 16 ways of 64 B, 512 sets. */
static uint64_t line_of_owl_set(uint32_t i) {
    return UINT64_C(65536) * 4 * i; /* above the bits that select channel and set */
}

/* Reads under way reserve no way: more of them than a set has ways are not refused, and each brings
 * in a line that replaces another. */
static void test_lines_under_way_keep_no_way(void **state) {
    (void)state;
    static const char *const on_miss[] = {"l2.allocate=on-miss", "l2.store_mshrs=no",
                                          "partition.write_backs_first=no", NULL};
    uint64_t cycles[2];
    for (int is_late = 0; is_late < 2; is_late++) {
        Rig *rig = rig_new("owl", is_late ? NULL : on_miss, NULL);
        const uint32_t ways = rig->config.partition.l2.ways;
        for (uint32_t i = 0; i < ways + 2; i++)
            send(rig, MEM_OP_READ, line_of_owl_set(i), 1);
        Counters counters = drained(rig);
        assert_int_equal(counters.l2_refusals > 0, !is_late);
        assert_int_equal(counters.l2_evictions, 2);
        send(rig, MEM_OP_READ, line_of_owl_set(ways + 1), 1);
        assert_int_equal(drained(rig).l2_hits, 1);
        cycles[is_late] = rig_latency(rig, MEM_OP_READ, line_of_owl_set(ways + 2), 1);
        rig_free(rig);
    }
    assert_int_equal(cycles[0] - cycles[1], 1); /* the answer leaves in the cycle of the return */
}

/* A store that misses has an MSHR. Another store to its line makes no DRAM write. A read of the
 * line makes no DRAM read: it is answered when the store is written, and brings the line in. */
static void test_a_store_that_misses_is_joined(void **state) {
    (void)state;
    static const char *const without[] = {"l2.store_mshrs=no", NULL};
    for (int joins = 0; joins < 2; joins++) {
        Rig *rig = rig_new("owl", joins ? NULL : without, NULL);
        send(rig, MEM_OP_WRITE, 0, 1);
        send(rig, MEM_OP_WRITE, 0, 1);
        send(rig, MEM_OP_READ, 0, 1);
        Counters counters = drained(rig);
        assert_int_equal(counters.dram_writes, joins ? 1 : 2);
        assert_int_equal(counters.dram_reads, !joins);
        assert_int_equal(counters.l2_misses, joins ? 1 : 3);
        assert_int_equal(counters.l2_pending_hits, joins ? 2 : 0);
        send(rig, MEM_OP_READ, 0, 1);
        counters = drained(rig);
        assert_int_equal(counters.l2_hits, 1);
        assert_int_equal(counters.dram_reads, !joins);
        rig_free(rig);
    }
}

/* A store to a line under way joins its read and leaves the line clean. A store brings no line in
 * if no read waits for the line. The line of an atomic is dirty. */
static void test_a_store_joins_a_read(void **state) {
    (void)state;
    Rig *rig = rig_new("owl", NULL, NULL);
    send(rig, MEM_OP_READ, 0, 1);
    send(rig, MEM_OP_WRITE, 0, 1);
    Counters counters = drained(rig);
    assert_int_equal(counters.dram_writes, 0);
    assert_int_equal(counters.l2_pending_hits, 1);
    partition_flush_l2(rig->partitions[0]);
    assert_int_equal(rig_counters(rig).l2_write_backs, 0);
    send(rig, MEM_OP_WRITE, 64, 1);
    drained(rig);
    send(rig, MEM_OP_READ, 64, 1);
    assert_int_equal(drained(rig).l2_hits, 0);
    send(rig, MEM_OP_ATOMIC, 128, 1);
    drained(rig);
    partition_flush_l2(rig->partitions[0]);
    assert_int_equal(rig_counters(rig).l2_write_backs, 1);
    rig_free(rig);
}

/* L2 can be flushed while a store is on its way to DRAM. No request waits for that store. */
static void test_flush_while_a_store_is_under_way(void **state) {
    (void)state;
    Rig *rig = rig_new("owl", NULL, NULL);
    send(rig, MEM_OP_WRITE, 0, 1);
    assert_true(rig_drain(rig, LIMIT)); /* acknowledged */
    assert_int_equal(rig_counters(rig).dram_writes, 0);
    partition_flush_l2(rig->partitions[0]);
    assert_int_equal(drained(rig).dram_writes, 1);
    rig_free(rig);
}

/* A request that arrives while the requests waiting for its line are being answered, one per cycle,
 * joins them. In no cycle does it find neither line nor MSHR. */
static void test_who_comes_while_others_are_answered_joins_them(void **state) {
    (void)state;
    static const MemOp ops[] = {MEM_OP_READ, MEM_OP_WRITE};
    for (size_t i = 0; i < 2; i++) {
        Rig *rig = rig_new("owl", (const char *const[]){"noc.flit=256B", NULL}, NULL);
        for (int cycle = 0; cycle < 600; cycle++) {
            rig_send(rig, 0, ops[i], 0, 1);
            rig_step(rig);
        }
        Counters counters = drained(rig);
        assert_int_equal(counters.dram_reads + counters.dram_writes, 1);
        assert_int_equal(counters.l2_misses, 1);
        assert_true(counters.l2_pending_hits > 50);
        rig_free(rig);
    }
}

/* A store that is acknowledged late is acknowledged when it is written, together with a store that
 * has joined it. */
static void test_a_late_store_waits_in_its_mshr(void **state) {
    (void)state;
    static const char *const settings[] = {"partition.acknowledges_late=yes", NULL};
    Rig *rig = rig_new("owl", NULL, NULL), *late = rig_new("owl", settings, NULL);
    const uint64_t early = rig_latency(rig, MEM_OP_WRITE, 0, 1);
    assert_true(rig_latency(late, MEM_OP_WRITE, 0, 1) > early + 60);
    send(late, MEM_OP_WRITE, 64, 1);
    send(late, MEM_OP_WRITE, 64, 1);
    assert_int_equal(drained(late).dram_writes, 2);
    rig_free(rig);
    rig_free(late);
}

/* While the DRAM queue is full, a write-back overtakes the reads that wait for the queue. */
static void test_write_backs_go_first(void **state) {
    (void)state;
    static const char *const sets[] = {"partition.write_backs_first=no",
                                       "partition.write_backs_first=yes"};
    for (size_t first = 0; first < 2; first++) {
        Rig *rig = rig_new(
            "owl",
            (const char *const[]){sets[first], "dram.queue=1", "partition.dram_latency=0", NULL},
            NULL);
        const uint32_t ways = rig->config.partition.l2.ways;
        for (uint32_t i = 0; i < ways; i++) {
            rig_latency(rig, MEM_OP_READ, line_of_owl_set(i), 1);
            if (!i) rig_latency(rig, MEM_OP_WRITE, line_of_owl_set(i), 1);
        }
        for (uint32_t i = 1; i < ways; i++)
            rig_latency(rig, MEM_OP_READ, line_of_owl_set(i), 1);
        const uint64_t before = rig_counters(rig).dram_reads;
        send(rig, MEM_OP_READ, line_of_owl_set(ways), 1);
        for (uint64_t i = 0; i < 20; i++) /* rows of one bank, which take time */
            send(rig, MEM_OP_READ, line_of_owl_set(ways + 1) + 64 + i * 65536, 1);
        while (!rig_counters(rig).dram_writes)
            rig_step(rig);
        const uint64_t reads = rig_counters(rig).dram_reads - before;
        if (first) assert_true(reads < 10);
        else assert_true(reads > 15);
        rig_free(rig);
    }
}

/* A store to a line that is not in L2 carries its byte mask: three bursts of 32 bytes, for 64 bytes
 * of data and 8 of mask. A write-back has no mask. */
static void test_a_store_brings_its_mask_to_dram(void **state) {
    (void)state;
    static const char *const sets[] = {"dram.mask=0B", "dram.mask=8B"};
    for (uint32_t has_mask = 0; has_mask < 2; has_mask++) {
        Rig *rig = rig_new("owl", (const char *const[]){sets[has_mask], NULL}, NULL);
        send(rig, MEM_OP_WRITE, 0, 1);
        Counters counters = drained(rig);
        assert_int_equal(counters.dram_writes, 1);
        assert_int_equal(counters.dram_write_commands, 2 + has_mask);
        const uint32_t ways = rig->config.partition.l2.ways;
        rig_latency(rig, MEM_OP_READ, line_of_owl_set(0), 1);
        rig_latency(rig, MEM_OP_WRITE, line_of_owl_set(0), 1);
        for (uint32_t i = 1; i <= ways; i++)
            rig_latency(rig, MEM_OP_READ, line_of_owl_set(i), 1);
        counters = drained(rig);
        assert_int_equal(counters.l2_write_backs, 1);
        assert_int_equal(counters.dram_write_commands, 4 + has_mask);
        assert_int_equal(counters.dram_read_commands, 2 * counters.dram_reads);
        rig_free(rig);
    }
}

static void test_perfect_l2(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, &(RigOptions){.is_l2_perfect = true});
    for (uint64_t i = 0; i < 100; i++) {
        send(rig, MEM_OP_READ, DEVICE + i * 4096, 0xF);
        send(rig, MEM_OP_WRITE, DEVICE + i * 4096, 0xF);
    }
    Counters counters = drained(rig);
    assert_int_equal(counters.l2_hits, 800);
    assert_int_equal(counters.dram_reads + counters.dram_writes, 0);
    rig_free(rig);
}

/* Each sector of a copy ages the other lines: the last lines of a set survive, dirty ones are
 * lost. */
static void test_copies_fill_l2(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    send(rig, MEM_OP_WRITE, line_of_set(rig, 0), 0xF);
    drained(rig);
    for (uint32_t i = 1; i <= 8; i++)
        partition_fill_from_host(rig->partitions, line_of_set(rig, i), 128);
    for (uint32_t i = 8; i >= 1; i--)
        send(rig, MEM_OP_READ, line_of_set(rig, i), 0xF);
    Counters counters = drained(rig);
    assert_int_equal(counters.l2_hits, 32);
    send(rig, MEM_OP_READ, line_of_set(rig, 0), 0xF);
    counters = drained(rig);
    assert_int_equal(counters.dram_reads, 4);
    assert_int_equal(counters.l2_write_backs + counters.dram_writes, 0);

    /* Line 8 was evicted. Line 7 is now the least recently used one, and a copy to it keeps it. */
    partition_fill_from_host(rig->partitions, line_of_set(rig, 7), 1);
    send(rig, MEM_OP_READ, line_of_set(rig, 9), 1);
    send(rig, MEM_OP_READ, line_of_set(rig, 7), 0xF);
    assert_int_equal(drained(rig).dram_reads, 5);
    rig_free(rig);
}

static void test_flush_writes_back(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    for (uint64_t i = 0; i < 60; i++)
        send(rig, MEM_OP_WRITE, DEVICE + i * 128, 1);
    send(rig, MEM_OP_READ, DEVICE + 60 * 128, 1);
    drained(rig);
    for (uint32_t i = 0; i < rig->config.partitions; i++)
        partition_flush_l2(rig->partitions[i]);
    assert_int_equal(rig_counters(rig).l2_write_backs, 60);
    send(rig, MEM_OP_READ, DEVICE, 1);
    assert_int_equal(drained(rig).dram_reads, 2);
    rig_free(rig);
}

/* No request waits for the line that a store fetches, so the line may arrive after the store's
 * answer. */
static void test_flush_while_a_line_comes_beside_its_store(void **state) {
    (void)state;
    static const char *const settings[] = {"l2.write_allocate=beside", NULL};
    Rig *rig = rig_new("pro", settings, NULL);
    send(rig, MEM_OP_WRITE, DEVICE, 1);
    assert_true(rig_drain(rig, LIMIT));
    assert_true(rig->partitions[0]->slices[0].mshr.used);
    partition_flush_l2(rig->partitions[0]);
    assert_int_equal(drained(rig).dram_reads, 1);
    send(rig, MEM_OP_READ, DEVICE, 1);
    assert_int_equal(drained(rig).l2_read_misses, 0); /* its line is still there */
    partition_flush_l2(rig->partitions[0]);
    send(rig, MEM_OP_READ, DEVICE, 1);
    assert_int_equal(drained(rig).l2_read_misses, 1);
    rig_free(rig);
}

/* The rest of an open row is prefetched into L2 and counted as used when it is requested. */
static void test_prefetched_lines(void **state) {
    (void)state;
    RigOptions options = {.prefetch = {.scheme = DRAM_PREFETCH_STOP}};
    Rig *rig = rig_new("owl", NULL, &options);
    send(rig, MEM_OP_READ, 0, 1);
    rig_run(rig, 2000);
    Counters counters = drained(rig);
    assert_int_equal(counters.dram_prefetches, 31); /* 2 KB rows of 64 B lines */
    assert_int_equal(counters.l2_prefetches, 31);
    assert_int_equal(counters.l2_prefetches_used, 0);
    for (int i = 0; i < 2; i++)
        send(rig, MEM_OP_READ, 64, 1);
    counters = drained(rig);
    assert_int_equal(counters.l2_prefetches_used, 1); /* once, however often it is read */
    assert_int_equal(counters.dram_reads, 1);
    rig_free(rig);
}

/* A prefetch of a line is late if a demand read for it is already on its way to DRAM. */
static void test_late_prefetches(void **state) {
    (void)state;
    RigOptions options = {.prefetch = {.scheme = DRAM_PREFETCH_STOP}};
    Rig *rig = rig_new("owl", NULL, &options);
    send(rig, MEM_OP_READ, 0, 1);
    rig_run(rig, 50); /* the way from L2 to the controller takes 60 cycles */
    send(rig, MEM_OP_READ, 64, 1);
    Counters counters = drained(rig);
    assert_int_equal(counters.dram_reads, 2);
    assert_int_equal(counters.l2_prefetches_late, 1);
    assert_int_equal(counters.l2_prefetches, counters.dram_prefetches - 1);
    rig_free(rig);
}

/* For a line with sectors, a prefetch brings the sectors of one burst and is counted as used
 * once. */
static void test_prefetched_sectors(void **state) {
    (void)state;
    RigOptions options = {.prefetch = {.scheme = DRAM_PREFETCH_STOP}};
    Rig *rig = rig_new("gtx480", NULL, &options);
    send(rig, MEM_OP_READ, 0, 1);
    rig_run(rig, 2000);
    Counters counters = drained(rig);
    assert_int_equal(counters.dram_prefetches, 63); /* 4 KB rows, bursts of 64 B */
    assert_int_equal(counters.l2_prefetches, 63);
    send(rig, MEM_OP_READ, 128, 0xF); /* two prefetches of two sectors each */
    counters = drained(rig);
    assert_int_equal(counters.l2_prefetches_used, 2);
    assert_int_equal(counters.dram_reads, 1);
    rig_free(rig);
}

/* Without L2 there is no place for prefetched data. */
static void test_no_prefetch_without_l2(void **state) {
    (void)state;
    RigOptions options = {.prefetch = {.scheme = DRAM_PREFETCH_MIN, .lower = 8, .higher = 16}};
    Rig *rig = rig_new("md", NULL, &options);
    send(rig, MEM_OP_READ, 0, 1);
    rig_run(rig, 2000);
    Counters counters = drained(rig);
    assert_int_equal(counters.dram_reads, 1);
    assert_int_equal(counters.dram_prefetches, 0);
    rig_free(rig);
}

/* ---- What DRAM schedulers see ---- */

/* The requester of the only request that a channel holds, waiting or in service. */
static DramRequester requester_in(const Partition *partition) {
    const DramChannel *channel = partition->channel;
    assert_int_equal(bits_count32(channel->serving), 1);
    const uint16_t entry = channel->entry[bits_lowest32(channel->serving)];
    return channel->queue.entries[entry].request.requester;
}

static void send_from(Rig *rig, uint32_t sm, uint8_t warp, MemOp op, uint64_t address) {
    const MemRequest request = {.address = address,
                                .sectors = 1,
                                .op = (uint8_t)op,
                                .client = MEM_CLIENT_L1D,
                                .warp = warp};
    assert_true(rig_send_request(rig, sm, &request));
}

/* Runs until a channel serves a request; returns its requester. */
static DramRequester first_requester(Rig *rig, uint64_t address) {
    const uint32_t slice = address_map_slice(&rig->map, address);
    const Partition *partition = rig->partitions[slice / rig->config.partition.slices];
    for (int i = 0; i < LIMIT && !partition->channel->serving; i++)
        rig_step(rig);
    return requester_in(partition);
}

/* Two SMs read a sector that misses in L2: the DRAM access belongs to the first one. A write-back
 * belongs to no SM. */
static void test_dram_sees_who_missed_first(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    send_from(rig, 2, 37, MEM_OP_READ, DEVICE);
    rig_run(rig, 3);
    send_from(rig, 1, 5, MEM_OP_READ, DEVICE);
    DramRequester requester = first_requester(rig, DEVICE);
    assert_int_equal(requester.sm, 2);
    assert_int_equal(requester.warp, 37);
    assert_int_equal(drained(rig).dram_reads, 1);
    send_from(rig, 3, 9, MEM_OP_READ, line_of_set(rig, 5)); /* of another row */
    requester = first_requester(rig, line_of_set(rig, 5));
    assert_int_equal(requester.sm, 3);
    assert_int_equal(requester.warp, 9);
    rig_free(rig);
}

static void test_a_write_back_is_nobodys(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    send_from(rig, 2, 1, MEM_OP_WRITE, line_of_set(rig, 0));
    for (uint32_t way = 1; way <= 8; way++)
        send_from(rig, 2, 1, MEM_OP_READ, line_of_set(rig, way));
    const Partition *partition = rig->partitions[0];
    const DramChannel *channel = partition->channel;
    bool is_seen = false;
    for (int i = 0; i < 3000; i++) {
        rig_step(rig);
        for (uint32_t left = channel->serving; left; left &= left - 1) {
            const uint16_t entry = channel->entry[bits_lowest32(left)];
            const DramRequest *request = &channel->queue.entries[entry].request;
            assert_int_equal(request->requester.sm, request->is_write ? DRAM_NO_SM : 2);
            assert_int_equal(request->requester.warp, request->is_write ? DRAM_NO_WARP : 1);
            is_seen |= request->is_write;
        }
    }
    assert_true(is_seen);
    rig_free(rig);
}

/* With one credit a slice has one access under way, however many it has to make. */
static void test_credits(void **state) {
    (void)state;
    static const char *const settings[] = {"partition.dram_credits=2", NULL};
    uint64_t cycles[2];
    for (int i = 0; i < 2; i++) {
        Rig *rig = rig_new("gtx480", i ? NULL : settings, NULL);
        send(rig, MEM_OP_READ, DEVICE, 0xF);
        send(rig, MEM_OP_READ, DEVICE + 128, 0xF);
        drained(rig);
        cycles[i] = rig->last_push - rig->last_arrived;
        rig_free(rig);
    }
    assert_true(cycles[0] > 8 * 110); /* one by one, each through the delay line */
    assert_true(cycles[1] < 300);
}

/* ---- two halves ---- */

enum { FAR_LATENCY = 30 };
static const char *const halves[] = {"l2.halves=2", "l2.far_latency=30", "l2.far_link=32B", NULL};

/* Cycles of a read by an SM, from its arrival at L2 to its answer. */
static uint64_t read_by(Rig *rig, uint32_t sm, uint64_t address) {
    assert_true(rig_send(rig, sm, MEM_OP_READ, address, 1));
    assert_true(rig_drain(rig, LIMIT));
    return rig->last_push - rig->last_arrived;
}

/* The first line at or after DEVICE whose home is in the half. */
static uint64_t line_of_half(const Rig *rig, uint32_t half) {
    uint64_t address = DEVICE;
    while (address_map_slice(&rig->map, address) / machine_half_slices(&rig->config) != half)
        address += 256;
    return address;
}

/* Consecutive atomics on one sector are counted, with and without L2. */
static void test_atomics_in_turn_are_counted(void **state) {
    (void)state;
    static const char *const settings[][3] = {{NULL},
                                              {"l2.enabled=no", "l2.filled_by_copies=no", NULL}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        Rig *rig = rig_new("gtx480", settings[i], NULL);
        for (uint32_t n = 0; n < 3; n++)
            send(rig, MEM_OP_ATOMIC, DEVICE, 1);
        send(rig, MEM_OP_ATOMIC, DEVICE + 32, 1); /* the next sector */
        send(rig, MEM_OP_READ, DEVICE + 32, 1);
        send(rig, MEM_OP_ATOMIC, DEVICE + 32, 1);
        Counters counters = drained(rig);
        assert_int_equal(counters.l2_atomics, 5);
        assert_int_equal(counters.l2_atomics_in_turn, 3);
        rig_free(rig);
    }
}

static void test_reads_of_the_other_half_leave_copies(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", halves, NULL);
    uint64_t line = line_of_half(rig, 1);
    uint32_t near = RIG_SMS - 1, far = 0; /* relative to the line's home */
    read_by(rig, near, line);
    uint64_t hit = read_by(rig, near, line);
    /* The read crosses the link in both directions. A packet without data takes one cycle on it, a
     * packet with data two; the waiting read is answered in the cycle after. */
    assert_int_equal(read_by(rig, far, line), hit + 2 * FAR_LATENCY + 1 + 2 + 1);
    Counters counters = rig_counters(rig);
    assert_int_equal(counters.l2_far_accesses, 1);
    assert_int_equal(counters.l2_copy_hits, 0);
    assert_int_equal(read_by(rig, far, line), hit);
    counters = rig_counters(rig);
    assert_int_equal(counters.l2_far_accesses, 1);
    assert_int_equal(counters.l2_copy_hits, 1);
    assert_int_equal(counters.l2_accesses, 4); /* each is counted once */
    assert_int_equal(counters.l2_misses, 1);
    assert_int_equal(counters.dram_reads, 1);
    rig_free(rig);
}

static void test_writes_drop_the_copy_of_the_other_half(void **state) {
    (void)state;
    for (uint32_t writer = 0; writer < RIG_SMS; writer += RIG_SMS - 1) {
        for (int is_atomic = 0; is_atomic < 2; is_atomic++) {
            Rig *rig = rig_new("gtx480", halves, NULL);
            uint64_t line = line_of_half(rig, 1);
            uint64_t missed = read_by(rig, 0, line), hit = read_by(rig, 0, line);
            assert_true(missed > hit + 2 * FAR_LATENCY);
            assert_true(rig_send(rig, writer, is_atomic ? MEM_OP_ATOMIC : MEM_OP_WRITE, line, 1));
            assert_true(rig_drain(rig, LIMIT));
            assert_int_equal(read_by(rig, 0, line), hit + 2 * FAR_LATENCY + 1 + 2 + 1);
            assert_int_equal(read_by(rig, 0, line), hit);
            rig_free(rig);
        }
    }
}

/* All packets in one direction share one link. */
static void test_the_link_between_halves_has_a_bandwidth(void **state) {
    (void)state;
    enum { READS = 64, LINK = 4 };
    static const char *const slow[] = {"l2.halves=2", "l2.far_link=4B", NULL};
    Rig *rig = rig_new("gtx480", slow, NULL);
    uint64_t line = line_of_half(rig, 1);
    for (uint32_t i = 0; i < READS; i++)
        read_by(rig, RIG_SMS - 1, line + i / 8 * 1536 + i % 8 * 32); /* from near into L2 */
    uint64_t start = rig->cycle;
    for (uint32_t i = 0; i < READS; i++)
        assert_true(rig_send(rig, 0, MEM_OP_READ, line + i / 8 * 1536 + i % 8 * 32, 1));
    Counters counters = drained(rig);
    uint64_t bytes = (uint64_t)READS * (rig->config.network.header_bytes + 32);
    assert_int_equal(counters.l2_far_accesses, READS);
    assert_true(rig->last_push - start >= bytes / LINK);
    rig_free(rig);
}

/* Data may come without a header; an acknowledgement consists of a header. */
static void test_replies_may_be_their_data(void **state) {
    (void)state;
    for (int without = 0; without < 2; without++) {
        const char *const settings[] = {without ? "noc.replies_have_header=no" : NULL, NULL};
        Rig *rig = rig_new("gtx480", settings, NULL);
        uint32_t header = rig->config.network.header_bytes;
        send(rig, MEM_OP_READ, DEVICE, 1);
        drained(rig);
        assert_int_equal(noc_stats(rig->replies).bytes_injected, (without ? 0 : header) + 32);
        send(rig, MEM_OP_WRITE, DEVICE, 1);
        drained(rig);
        assert_int_equal(noc_stats(rig->replies).bytes_injected, (without ? 1 : 2) * header + 32);
        rig_free(rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_hit_merge_and_miss),
        cmocka_unit_test(test_merges_are_limited),
        cmocka_unit_test(test_mshrs_are_limited),
        cmocka_unit_test(test_pending_lines_stay),
        cmocka_unit_test(test_stores_allocate_without_fetching),
        cmocka_unit_test(test_partly_written_sectors),
        cmocka_unit_test(test_store_inside_a_sector),
        cmocka_unit_test(test_write_backs),
        cmocka_unit_test(test_lines_of_stores_that_miss_come_beside_them),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_a_store_that_drops_a_line_of_an_atomic_writes_it_back),
        cmocka_unit_test(test_a_store_drops_its_sector_of_a_line_under_way),
        cmocka_unit_test(test_without_l2),
        cmocka_unit_test(test_part_of_a_sector_is_written),
        cmocka_unit_test(test_part_of_a_sector_takes_part_of_the_port),
        cmocka_unit_test(test_a_dirty_line_that_a_read_replaces_passes_the_port),
        cmocka_unit_test(test_lines_under_way_keep_no_way),
        cmocka_unit_test(test_a_store_that_misses_is_joined),
        cmocka_unit_test(test_a_store_joins_a_read),
        cmocka_unit_test(test_flush_while_a_store_is_under_way),
        cmocka_unit_test(test_who_comes_while_others_are_answered_joins_them),
        cmocka_unit_test(test_a_late_store_waits_in_its_mshr),
        cmocka_unit_test(test_write_backs_go_first),
        cmocka_unit_test(test_a_store_brings_its_mask_to_dram),
        cmocka_unit_test(test_replies_may_be_their_data),
        cmocka_unit_test(test_perfect_l2),
        cmocka_unit_test(test_copies_fill_l2),
        cmocka_unit_test(test_flush_writes_back),
        cmocka_unit_test(test_flush_while_a_line_comes_beside_its_store),
        cmocka_unit_test(test_prefetched_lines),
        cmocka_unit_test(test_late_prefetches),
        cmocka_unit_test(test_prefetched_sectors),
        cmocka_unit_test(test_no_prefetch_without_l2),
        cmocka_unit_test(test_credits),
        cmocka_unit_test(test_dram_sees_who_missed_first),
        cmocka_unit_test(test_a_write_back_is_nobodys),
        cmocka_unit_test(test_atomics_in_turn_are_counted),
        cmocka_unit_test(test_reads_of_the_other_half_leave_copies),
        cmocka_unit_test(test_writes_drop_the_copy_of_the_other_half),
        cmocka_unit_test(test_the_link_between_halves_has_a_bandwidth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
