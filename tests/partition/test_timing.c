/* When a partition answers: latencies equal the sums of the configured delays, and its ports have
 * the configured rates. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rig.h"

#define DEVICE UINT64_C(0xC0000000) /* where a GTX480's device memory begins */

/* L2 and DRAM have the same clock, so that ticks are cycles. */
#define ONE_CLOCK "clock.l2=700MHz", "clock.dram=700MHz"

static void fill(Rig *rig, uint64_t address, uint64_t bytes) {
    partition_fill_from_host(rig->partitions, address, bytes);
}

static void test_hit_latency(void **state) {
    (void)state;
    static const struct {
        const char *machine, *rop, *latency;
        uint64_t cycles;
    } rows[] = {
        {"gtx480", "partition.rop_latency=120", "l2.latency=1", 122},
        {"gtx480", "partition.rop_latency=0", "l2.latency=1", 2},
        {"gtx480", "partition.rop_latency=0", "l2.latency=9", 10},
        {"owl", "partition.rop_latency=7", "l2.latency=1", 9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *settings[] = {rows[i].rop, rows[i].latency, "l2.filled_by_copies=yes", NULL};
        Rig *rig = rig_new(rows[i].machine, settings, NULL);
        fill(rig, DEVICE, 4096);
        assert_int_equal(rig_latency(rig, MEM_OP_READ, DEVICE + 64, 1), rows[i].cycles);
        assert_int_equal(rig->last.l2_cycles, rows[i].cycles);
        assert_int_equal(rig->last.queue_ticks + rig->last.dram_ticks, 0);
        assert_int_equal(rig_latency(rig, MEM_OP_WRITE, DEVICE + 64, 1), rows[i].cycles);
        assert_int_equal(rig_latency(rig, MEM_OP_ATOMIC, DEVICE + 64, 1), rows[i].cycles);
        rig_free(rig);
    }
}

/* Four sectors leave the ROP line one by one. */
static void test_a_line_takes_a_cycle_per_sector(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    fill(rig, DEVICE, 4096);
    assert_int_equal(rig_latency(rig, MEM_OP_READ, DEVICE, 0xF), 122 + 3);
    rig_free(rig);
}

/* Misses to a closed bank, to an open row, and to another row of the bank. In addition to the
 * cycles of a hit: one to leave the miss queue, one to enter the delay line, the delay line, one to
 * enter service, the ticks of DRAM, one to leave DRAM, one to be answered. */
static void test_miss_latency(void **state) {
    (void)state;
    static const char *const settings[] = {ONE_CLOCK, NULL};
    Rig *rig = rig_new("gtx480", settings, NULL);
    const DramTiming *t = &rig->config.dram.timing;
    uint64_t way = 122 + 1 + 1 + rig->config.partition.dram_latency + 1 + 1 + 1;
    assert_int_equal(rig_latency(rig, MEM_OP_READ, DEVICE, 1), way + t->rcd + t->cl);
    assert_int_equal(rig->last.queue_ticks, 0);
    assert_int_equal(rig->last.dram_ticks, t->rcd + t->cl + 1);
    assert_int_equal(rig->last.l2_cycles + rig->last.dram_ticks + 1, way + t->rcd + t->cl);
    assert_int_equal(rig_latency(rig, MEM_OP_READ, DEVICE + 32, 1), way + t->cl);
    rig_run(rig, 100);
    uint64_t other_row = DEVICE + (UINT64_C(1) << 16) * rig->config.partitions;
    assert_int_equal(rig_latency(rig, MEM_OP_READ, other_row, 1), way + t->rp + t->rcd + t->cl);
    rig_free(rig);
}

/* A store that goes to DRAM is acknowledged when it is sent or when it is written. In the second
 * case it takes as long as a read, without the cycle that answers a fill. */
static void test_acknowledgement_of_stores_by_dram(void **state) {
    (void)state;
    static const struct {
        const char *machine, *late, *allocate;
        bool is_late;
    } rows[] = {
        {"gtx480", "partition.acknowledges_late=no", "l2.write_allocate=none", false},
        {"gtx480", "partition.acknowledges_late=yes", "l2.write_allocate=none", true},
        {"pro", "partition.acknowledges_late=no", "l2.write_allocate=beside", false},
        {"pro", "partition.acknowledges_late=yes", "l2.write_allocate=beside", true},
        {"md", "partition.acknowledges_late=no", "l2.write_allocate=none", false},
        {"md", "partition.acknowledges_late=yes", "l2.write_allocate=none", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *settings[] = {ONE_CLOCK, rows[i].late, rows[i].allocate, NULL};
        Rig *rig = rig_new(rows[i].machine, settings, NULL);
        const DramTiming *t = &rig->config.dram.timing;
        uint64_t latency = rig_latency(rig, MEM_OP_WRITE, DEVICE, 1);
        uint32_t bursts = (rig->config.partition.l2_sector_bytes + 63) / 64;
        uint32_t opened = t->rcd - t->wl - 1, spacing = t->ccd_long;
        uint64_t written = opened + (bursts - 1) * spacing + t->wl;
        uint64_t way = 122 + (rig->config.partition.has_l2 ? 1 : 0) + 1 + 100 + 1 + 1;
        assert_int_equal(latency, rows[i].is_late ? way + written : 122);
        rig_free(rig);
    }
}

/* Reads that hit, from enough SMs: each slice answers one sector per cycle. */
static void test_peak_read_rate(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    enum { BYTES = 256 * 1024, WARM = 2000, CYCLES = 4000 };
    fill(rig, DEVICE, BYTES);
    uint64_t before = 0;
    for (uint64_t i = 0; rig->cycle < WARM + CYCLES; rig_step(rig)) {
        if (rig->cycle == WARM) before = rig_counters(rig).l2_accesses;
        for (uint32_t sm = 0; sm < RIG_SMS; sm++)
            if (rig_send(rig, sm, MEM_OP_READ, DEVICE + i * 128 % BYTES, 0xF)) i++;
    }
    uint64_t accesses = rig_counters(rig).l2_accesses - before;
    assert_in_range(accesses, CYCLES * 12 * 99 / 100, CYCLES * 12);
    rig_free(rig);
}

/* A stream of full-line stores through an L2 full of dirty lines. A line takes four lookups. The
 * first keeps the port for the four cycles that it takes to read out the evicted line. */
static void test_write_stream_rate(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    enum { LINES = 16384, WARM_LINES = 6144 };
    uint64_t begun = 0;
    Counters warm = {0};
    for (uint64_t i = 0; i < LINES || rig->answered < rig->sent; rig_step(rig)) {
        if (!begun && rig->answered >= WARM_LINES * 4) {
            begun = rig->cycle;
            warm = rig_counters(rig);
        }
        for (uint32_t sm = 0; sm < RIG_SMS && i < LINES; sm++)
            if (rig_send(rig, sm, MEM_OP_WRITE, DEVICE + i * 128, 0xF)) i++;
    }
    Counters all = rig_counters(rig), counters = counters_since(&warm, &all);
    assert_in_range(counters.l2_write_backs * 4, counters.l2_accesses - 48,
                    counters.l2_accesses + 48);
    double cycles_per_line = (double)(rig->cycle - begun) * 12 * 4 / (double)counters.l2_accesses;
    if (cycles_per_line < 6.9 || cycles_per_line > 7.3) fail_msg("%.2f", cycles_per_line);
    rig_free(rig);
}

/* Reads of a large buffer keep the DRAM bus busy. */
static void test_dram_bandwidth(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", NULL, NULL);
    enum { CYCLES = 20000 };
    for (uint64_t i = 0; rig->cycle < CYCLES; rig_step(rig))
        for (uint32_t sm = 0; sm < RIG_SMS; sm++)
            if (rig_send(rig, sm, MEM_OP_READ, DEVICE + i * 128, 0xF)) i++;
    Counters counters = rig_counters(rig);
    /* 32 of 64 bytes of each burst are requested; 2 ticks each. */
    assert_true(counters_ratio(&counters, RATIO_dram_bandwidth_use) > 0.9);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hit_latency),
        cmocka_unit_test(test_a_line_takes_a_cycle_per_sector),
        cmocka_unit_test(test_miss_latency),
        cmocka_unit_test(test_acknowledgement_of_stores_by_dram),
        cmocka_unit_test(test_peak_read_rate),
        cmocka_unit_test(test_write_stream_rate),
        cmocka_unit_test(test_dram_bandwidth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
