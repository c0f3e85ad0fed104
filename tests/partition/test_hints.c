/* Hints in L2: persisting lines, streaming lines, prefetches, discards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rig.h"

#define DEVICE UINT64_C(0xC0000000) /* where a GTX480's device memory begins */

enum { LIMIT = 100000 };

static const char *const hinted[] = {"l2.hints=yes", "l2.persisting=256KiB", NULL};

/* The i-th line of one L2 set of gtx480's slice 0, which has 8 ways. */
static uint64_t line_of_set(const Rig *rig, uint32_t i) {
    return DEVICE + (UINT64_C(1) << 14) * rig->config.partitions * i;
}

static void drain(Rig *rig) {
    assert_true(rig_drain(rig, LIMIT));
    rig_run(rig, 1000); /* write-backs, and all other accesses that no request waits for */
}

static void access(Rig *rig, MemOp op, uint64_t address, CachePriority priority) {
    MemRequest request = {.address = address,
                          .sectors = 0xF,
                          .op = (uint8_t)op,
                          .client = op == MEM_OP_WRITE ? MEM_CLIENT_STORE : MEM_CLIENT_BYPASS,
                          .priority = (uint8_t)priority};
    assert_true(rig_send_request(rig, 0, &request));
    drain(rig);
}

static void advise(Rig *rig, uint64_t address, MemAdvice advice, CachePriority priority) {
    MemRequest request = {.address = address,
                          .sectors = 1,
                          .op = MEM_OP_WRITE,
                          .client = MEM_CLIENT_STORE,
                          .priority = (uint8_t)priority,
                          .prefetch = 7,
                          .advice = (uint8_t)advice};
    assert_true(rig_send_request(rig, 0, &request));
    drain(rig);
}

/* Sectors that are fetched from DRAM when a line is read again. */
static uint64_t missing(Rig *rig, uint64_t address) {
    uint64_t before = rig_counters(rig).dram_reads;
    access(rig, MEM_OP_READ, address, PRIORITY_UNSAID);
    return rig_counters(rig).dram_reads - before;
}

static void sweep(Rig *rig, MemOp op) {
    for (uint32_t i = 0; i < 20; i++)
        access(rig, op, line_of_set(rig, 100 + i), PRIORITY_UNSAID);
}

static void set_aside(Rig *rig, uint32_t ways) {
    for (uint32_t p = 0; p < rig->config.partitions; p++)
        partition_set_aside(rig->partitions[p], ways);
}

static void test_persisting_lines_stay_under_a_sweep(void **state) {
    (void)state;
    static const char *const deaf[] = {"l2.hints=no", NULL};
    for (int kind = 0; kind < 4; kind++) { /* reads, writes, nothing set aside, hints ignored */
        Rig *rig = rig_new("gtx480", kind == 3 ? deaf : hinted, NULL);
        set_aside(rig, kind == 2 ? 0 : 4);
        for (uint32_t i = 0; i < 4; i++)
            access(rig, MEM_OP_READ, line_of_set(rig, i), PRIORITY_LAST);
        sweep(rig, kind == 1 ? MEM_OP_WRITE : MEM_OP_READ);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(missing(rig, line_of_set(rig, i)), kind < 2 ? 0 : 4);
        rig_free(rig);
    }
}

static void test_lines_stop_persisting_when_they_are_told_to(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", hinted, NULL);
    set_aside(rig, 4);
    for (uint32_t i = 0; i < 2; i++)
        access(rig, MEM_OP_READ, line_of_set(rig, i), PRIORITY_LAST);
    advise(rig, line_of_set(rig, 0), MEM_ADVICE_RANK, PRIORITY_NORMAL);
    sweep(rig, MEM_OP_READ);
    assert_int_equal(missing(rig, line_of_set(rig, 0)), 4);
    assert_int_equal(missing(rig, line_of_set(rig, 1)), 0);
    for (uint32_t p = 0; p < rig->config.partitions; p++)
        partition_forget_persisting(rig->partitions[p]);
    sweep(rig, MEM_OP_READ);
    assert_int_equal(missing(rig, line_of_set(rig, 1)), 4);
    rig_free(rig);
}

static void test_streaming_lines_leave_others_alone(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", hinted, NULL);
    for (uint32_t i = 0; i < 7; i++)
        access(rig, MEM_OP_READ, line_of_set(rig, i), PRIORITY_UNSAID);
    for (uint32_t i = 0; i < 20; i++)
        access(rig, MEM_OP_READ, line_of_set(rig, 100 + i), PRIORITY_FIRST);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(missing(rig, line_of_set(rig, i)), 0);
    rig_free(rig);
}

static void test_a_prefetch_brings_its_line_and_answers_at_once(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", hinted, NULL);
    uint64_t hit = rig_latency(rig, MEM_OP_WRITE, DEVICE + 0x4000, 1);
    MemRequest request = {.address = DEVICE + 0x8000,
                          .sectors = 1,
                          .op = MEM_OP_WRITE,
                          .client = MEM_CLIENT_STORE,
                          .prefetch = 7,
                          .advice = MEM_ADVICE_PREFETCH};
    assert_true(rig_send_request(rig, 0, &request));
    assert_true(rig_drain(rig, LIMIT));
    assert_int_equal(rig->last_push - rig->last_arrived, hit);
    rig_run(rig, 1000);
    assert_int_equal(rig_counters(rig).dram_reads, 4);
    assert_int_equal(missing(rig, DEVICE + 0x8000), 0);
    rig_free(rig);
}

static void test_a_read_brings_as_much_around_it_as_it_says(void **state) {
    (void)state;
    static const uint8_t sizes[] = {0, 6, 7}; /* none, 64, 128 bytes */
    static const uint64_t reads[] = {1, 2, 4};
    for (int i = 0; i < 3; i++) {
        Rig *rig = rig_new("gtx480", hinted, NULL);
        MemRequest request = {.address = DEVICE + 32,
                              .sectors = 1,
                              .client = MEM_CLIENT_BYPASS,
                              .prefetch = sizes[i]};
        assert_true(rig_send_request(rig, 0, &request));
        drain(rig);
        assert_int_equal(rig_counters(rig).dram_reads, reads[i]);
        assert_int_equal(missing(rig, DEVICE), 4 - reads[i]);
        rig_free(rig);
    }
}

/* This holds for any prefetch size in the request. A hit, a write and data that are already there
 * fetch nothing. */
static void test_a_miss_brings_at_least_what_the_machine_fetches(void **state) {
    (void)state;
    static const char *const wide[] = {"l2.hints=yes", "l2.least_fetch=64B", NULL};
    for (uint8_t said = 0; said < 2; said++) {
        Rig *rig = rig_new("gtx480", wide, NULL);
        MemRequest request = {.address = DEVICE + 96,
                              .sectors = 1,
                              .client = MEM_CLIENT_BYPASS,
                              .prefetch = said ? 7 : 5};
        assert_true(rig_send_request(rig, 0, &request));
        drain(rig);
        assert_int_equal(rig_counters(rig).dram_reads, said ? 4 : 2);
        request.address = DEVICE + 64;
        assert_true(rig_send_request(rig, 0, &request));
        drain(rig);
        assert_int_equal(rig_counters(rig).dram_reads, said ? 4 : 2);
        rig_free(rig);
    }
}

static void test_a_read_that_comes_before_its_prefetch_is_done_waits_for_it(void **state) {
    (void)state;
    Rig *rig = rig_new("gtx480", hinted, NULL);
    MemRequest request = {.address = DEVICE,
                          .sectors = 1,
                          .op = MEM_OP_WRITE,
                          .client = MEM_CLIENT_STORE,
                          .prefetch = 7,
                          .advice = MEM_ADVICE_PREFETCH};
    assert_true(rig_send_request(rig, 0, &request));
    assert_true(rig_drain(rig, LIMIT)); /* acknowledged, but the line is not there yet */
    assert_true(rig_send(rig, 0, MEM_OP_READ, DEVICE, 0xF));
    drain(rig);
    Counters counters = rig_counters(rig);
    assert_int_equal(counters.dram_reads, 4);
    assert_int_equal(counters.l2_pending_hits + counters.l2_hits, 4);
    rig_free(rig);
}

static void test_a_discarded_line_is_not_written_back(void **state) {
    (void)state;
    for (int discards = 0; discards < 2; discards++) {
        Rig *rig = rig_new("gtx480", hinted, NULL);
        access(rig, MEM_OP_WRITE, line_of_set(rig, 0), PRIORITY_UNSAID);
        if (discards) advise(rig, line_of_set(rig, 0), MEM_ADVICE_DISCARD, PRIORITY_UNSAID);
        sweep(rig, MEM_OP_READ);
        assert_int_equal(rig_counters(rig).l2_write_backs, !discards);
        rig_free(rig);
    }
}

/* The set-aside part holds a line once, at its home. Copies in the other half do not persist. */
static void test_copies_of_the_other_half_do_not_persist(void **state) {
    (void)state;
    static const char *const halves[] = {"l2.hints=yes", "l2.persisting=256KiB", "l2.halves=2",
                                         NULL};
    Rig *rig = rig_new("gtx480", halves, NULL);
    set_aside(rig, 4);
    uint32_t sm = 0; /* an SM of the first half; the home of the address is in the second */
    uint64_t line = DEVICE;
    while (address_map_slice(&rig->map, line) <
           rig->config.partitions * rig->config.partition.slices / 2)
        line += 256;
    MemRequest request = {.address = line, .sectors = 1, .client = MEM_CLIENT_BYPASS};
    for (int pass = 0; pass < 2; pass++) { /* the second hits the copy */
        request.priority = pass ? PRIORITY_LAST : PRIORITY_UNSAID;
        assert_true(rig_send_request(rig, sm, &request));
        drain(rig);
    }
    uint32_t home = address_map_slice(&rig->map, line);
    const Slice *slices = rig->partitions[home / rig->config.partition.slices]->slices;
    const Slice *slice = &slices[home % rig->config.partition.slices];
    assert_int_equal(rig_counters(rig).l2_copy_hits, 1);
    assert_int_equal(slice->tags.ranked_lines, 1);
    assert_int_equal(slice->far->peer->tags.ranked_lines, 0);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_persisting_lines_stay_under_a_sweep),
        cmocka_unit_test(test_lines_stop_persisting_when_they_are_told_to),
        cmocka_unit_test(test_streaming_lines_leave_others_alone),
        cmocka_unit_test(test_a_prefetch_brings_its_line_and_answers_at_once),
        cmocka_unit_test(test_a_read_brings_as_much_around_it_as_it_says),
        cmocka_unit_test(test_a_miss_brings_at_least_what_the_machine_fetches),
        cmocka_unit_test(test_a_read_that_comes_before_its_prefetch_is_done_waits_for_it),
        cmocka_unit_test(test_a_discarded_line_is_not_written_back),
        cmocka_unit_test(test_copies_of_the_other_half_do_not_persist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
