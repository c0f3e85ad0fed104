/* The L2 request coalescer: which reads share a lookup, when each is answered, and what ends the
 * sharing. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rig.h"

#define DEVICE UINT64_C(0xC0000000) /* where a GTX480's device memory begins */
/* L2 and DRAM have the same clock, so that ticks are cycles. */
#define ONE_CLOCK "clock.l2=700MHz", "clock.dram=700MHz"

enum {
    HIT = 122, /* cycles of a hit: rop_latency 120, latency 1, and one to be answered */
    LIMIT = 100000
};

static void send(Rig *rig, uint32_t sm, MemOp op, uint64_t address, uint32_t sectors) {
    assert_true(rig_send(rig, sm, op, address, sectors));
    rig_run(rig, 1);
}

static void read(Rig *rig, uint32_t sm) { send(rig, sm, MEM_OP_READ, DEVICE, 1); }

static Rig *rig_with(const char *const *settings) {
    Rig *rig = rig_new("gtx480", settings, NULL);
    partition_fill_from_host(rig->partitions, DEVICE, 4096);
    return rig;
}

/* Everything is answered, and `merged` of the `reads` were merged. */
static Counters expect_merged(Rig *rig, uint64_t reads, uint64_t merged) {
    assert_true(rig_drain(rig, LIMIT));
    const Counters counters = rig_counters(rig);
    assert_int_equal(counters.lrc_reads, reads);
    assert_int_equal(counters.lrc_merged, merged);
    assert_int_equal(counters.lrc_sent, reads - merged);
    assert_int_equal(counters.lrc_copies, counters.lrc_merged_sectors);
    return counters;
}

/* A read that arrives `d` cycles after another waits for the other's reply, HIT - d cycles, if it
 * arrives before that reply leaves. In the cycle in which it leaves, it is too late.
 */
static void test_reads_join_until_the_reply_leaves(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=8", NULL};
    static const uint64_t distances[] = {1, 2, 60, HIT - 1, HIT, HIT + 1};
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        const uint64_t d = distances[i];
        const bool is_merged = d < HIT;
        Rig *rig = rig_with(settings);
        read(rig, 0);
        if (d > 1) rig_run(rig, d - 1);
        read(rig, 1);
        const Counters counters = expect_merged(rig, 2, is_merged);
        assert_int_equal(rig->last_push - rig->last_arrived, is_merged ? HIT - d : HIT);
        assert_int_equal(rig->last.l2_cycles, is_merged ? HIT - d : HIT);
        assert_int_equal(counters.l2_accesses, is_merged ? 1 : 2);
        rig_free(rig);
    }
}

/* Without a coalescer, each read is looked up, and nothing is counted. */
static void test_without_entries_there_is_no_coalescer(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=0", NULL};
    Rig *rig = rig_with(settings);
    read(rig, 0);
    read(rig, 1);
    assert_int_equal(expect_merged(rig, 0, 0).l2_accesses, 2);
    rig_free(rig);
}

static void test_every_sector_is_answered(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=8", "lrc.group=all", NULL};
    Rig *rig = rig_with(settings);
    for (uint32_t sm = RIG_SMS; sm-- > 0;)
        send(rig, sm, MEM_OP_READ, DEVICE, 0xE);
    const Counters counters = expect_merged(rig, RIG_SMS, RIG_SMS - 1);
    assert_int_equal(counters.l2_accesses, 3);
    assert_int_equal(counters.lrc_merged_sectors, 3 * (RIG_SMS - 1));
    assert_int_equal(rig->answered, 3 * RIG_SMS);
    rig_free(rig);
}

/* A read of several sectors can be joined until the first of its replies leaves; the others follow
 * in the next cycles. */
static void test_reads_join_until_the_first_reply_leaves(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=8", NULL};
    for (uint64_t d = HIT - 1; d <= HIT + 1; d++) {
        Rig *rig = rig_with(settings);
        send(rig, 0, MEM_OP_READ, DEVICE, 0xF);
        rig_run(rig, d - 1);
        send(rig, 1, MEM_OP_READ, DEVICE, 0xF);
        const bool is_merged = d < HIT;
        assert_int_equal(expect_merged(rig, 2, is_merged).l2_accesses, is_merged ? 4 : 8);
        rig_free(rig);
    }
}

static void test_other_sectors_are_not_merged(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=8", NULL};
    Rig *rig = rig_with(settings);
    send(rig, 0, MEM_OP_READ, DEVICE, 0x3);
    send(rig, 1, MEM_OP_READ, DEVICE, 0x1);
    send(rig, 1, MEM_OP_READ, DEVICE, 0x6);
    send(rig, 1, MEM_OP_READ, DEVICE + 128, 0x3);
    send(rig, 1, MEM_OP_READ, DEVICE + 32, 0x3); /* the sectors of 0x6 */
    expect_merged(rig, 5, 1);
    rig_free(rig);
}

static void test_a_lookup_is_shared_by_few_reads(void **state) {
    (void)state;
    static const struct {
        const char *settings[4];
        uint64_t merged;
    } rows[] = {
        {{"lrc.entries=8", "lrc.group=all", "lrc.requests=1", NULL}, 0},
        {{"lrc.entries=8", "lrc.group=all", "lrc.requests=2", NULL}, 2},
        {{"lrc.entries=8", "lrc.group=all", "lrc.requests=3", NULL}, 2},
        {{"lrc.entries=1", "lrc.group=all", "lrc.requests=2", NULL}, 1},
        {{"lrc.entries=8", "lrc.group=gpc", "lrc.requests=4", NULL}, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Rig *rig = rig_with(rows[i].settings);
        for (uint32_t sm = 0; sm < 4; sm++)
            read(rig, sm);
        expect_merged(rig, 4, rows[i].merged);
        rig_free(rig);
    }
}

/* The coalescer takes a request per cycle, as a slice does. */
static void test_a_request_is_taken_per_cycle(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=8", "lrc.group=all", NULL};
    Rig *rig = rig_with(settings);
    for (uint32_t sm = 0; sm < RIG_SMS; sm++)
        assert_true(rig_send(rig, sm, MEM_OP_READ, DEVICE, 1));
    expect_merged(rig, RIG_SMS, RIG_SMS - 1);
    assert_int_equal(rig->last_push - rig->last_arrived, HIT - (RIG_SMS - 1));
    rig_free(rig);
}

/* An entry can be used again when its last reply has left. */
static void test_entries_become_free(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=1", NULL};
    Rig *rig = rig_with(settings);
    for (uint64_t round = 1; round <= 3; round++) {
        send(rig, 0, MEM_OP_READ, DEVICE + round * 256, 0x3);
        send(rig, 1, MEM_OP_READ, DEVICE + round * 256, 0x3);
        expect_merged(rig, 2 * round, round);
    }
    rig_free(rig);
}

static void test_the_window_closes(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=8", "lrc.window=10", NULL};
    for (uint64_t d = 10; d <= 11; d++) {
        Rig *rig = rig_with(settings);
        read(rig, 0);
        rig_run(rig, d - 1);
        read(rig, 1);
        expect_merged(rig, 2, d == 10);
        rig_free(rig);
    }
}

/* A read that arrives after a write to its sector is not answered with data from before. */
static void test_a_write_ends_the_sharing(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=8", NULL};
    static const struct {
        MemOp op;
        uint64_t address;
        uint64_t merged;
    } rows[] = {
        {MEM_OP_WRITE, DEVICE + 32, 0},
        {MEM_OP_ATOMIC, DEVICE + 32, 0},
        {MEM_OP_WRITE, DEVICE, 1},
        {MEM_OP_WRITE, DEVICE + 64, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Rig *rig = rig_with(settings);
        send(rig, 0, MEM_OP_READ, DEVICE + 32, 1);
        send(rig, 0, rows[i].op, rows[i].address, 1);
        send(rig, 1, MEM_OP_READ, DEVICE + 32, 1);
        expect_merged(rig, 2, rows[i].merged);
        rig_free(rig);
    }
}

/* The same if the write comes from the other half of L2, whose copies it drops. */
static void test_a_write_of_the_other_half_ends_the_sharing(void **state) {
    (void)state;
    static const char *const settings[] = {"l2.halves=2", "lrc.entries=8", NULL};
    Rig *rig = rig_with(settings);
    read(rig, 0);
    send(rig, RIG_SMS - 1, MEM_OP_WRITE, DEVICE, 1);
    rig_run(rig, 2);
    read(rig, 1);
    read(rig, 0);
    expect_merged(rig, 3, 1); /* the last one joins the one before */
    rig_free(rig);
}

/* Reads with other eviction priorities leave other lines behind. */
static void test_other_hints_are_not_merged(void **state) {
    (void)state;
    static const char *const settings[] = {"lrc.entries=8", "l2.hints=yes", NULL};
    Rig *rig = rig_with(settings);
    MemRequest request = {.address = DEVICE, .sectors = 1, .op = MEM_OP_READ};
    for (uint8_t priority = 0; priority < 2; priority++) {
        request.priority = priority;
        assert_true(rig_send_request(rig, 0, &request));
        rig_run(rig, 1);
    }
    expect_merged(rig, 2, 0);
    rig_free(rig);
}

/* The time in DRAM of a read that joins late begins with its arrival. It is its ticks,
 * and a cycle in which the data leave it. */
static void test_the_time_of_a_late_read_is_its_own(void **state) {
    (void)state;
    static const char *const settings[] = {ONE_CLOCK, "lrc.entries=8", NULL};
    Rig *alone = rig_new("gtx480", settings, NULL);
    const uint64_t miss = rig_latency(alone, MEM_OP_READ, DEVICE, 1);
    const uint32_t in_dram = alone->last.dram_ticks;
    rig_free(alone);
    for (uint64_t left = 3; left < miss; left += miss - 5) { /* 3, then miss - 2 cycles */
        Rig *rig = rig_new("gtx480", settings, NULL);
        read(rig, 0);
        rig_run(rig, miss - left - 1);
        read(rig, 1);
        expect_merged(rig, 2, 1);
        assert_int_equal(rig->last_push - rig->last_arrived, left);
        assert_int_equal(rig->last.dram_ticks, left == 3 ? 3 * in_dram / (in_dram + 1) : in_dram);
        assert_int_equal(rig->last.l2_cycles, left == 3 ? 0 : left - in_dram - 1);
        rig_free(rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_join_until_the_reply_leaves),
        cmocka_unit_test(test_without_entries_there_is_no_coalescer),
        cmocka_unit_test(test_every_sector_is_answered),
        cmocka_unit_test(test_reads_join_until_the_first_reply_leaves),
        cmocka_unit_test(test_other_sectors_are_not_merged),
        cmocka_unit_test(test_a_lookup_is_shared_by_few_reads),
        cmocka_unit_test(test_a_request_is_taken_per_cycle),
        cmocka_unit_test(test_entries_become_free),
        cmocka_unit_test(test_the_window_closes),
        cmocka_unit_test(test_a_write_ends_the_sharing),
        cmocka_unit_test(test_a_write_of_the_other_half_ends_the_sharing),
        cmocka_unit_test(test_other_hints_are_not_merged),
        cmocka_unit_test(test_the_time_of_a_late_read_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
