/* Random loads on whole machines: every request is answered under any limits, and sleeping and
 * skipping idle time change no statistic and no reply. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rig.h"

/* Random reads, stores (full, partial, scattered) and atomics in a buffer twice the size of L2. */
static void send_random(Rig *rig, uint32_t sm) {
    uint64_t r = rig_random(rig);
    const PartitionConfig *partition = &rig->config.partition;
    uint32_t line = partition->l2.line_bytes, line_sectors = line / partition->l2_sector_bytes;
    uint64_t buffer =
        UINT64_C(2) * partition->l2.size_bytes * partition->slices * rig->config.partitions;
    MemRequest request = {
        .address = (r % (buffer / line)) * line,
        .sectors = 1 + (uint32_t)(r >> 20) % ((1u << line_sectors) - 1),
        .op = (uint8_t)((r >> 40 & 7) > 5   ? MEM_OP_ATOMIC
                        : (r >> 40 & 7) > 3 ? MEM_OP_WRITE
                                            : MEM_OP_READ),
        .client = r >> 43 & 15 ? MEM_CLIENT_L1D : MEM_CLIENT_L1I,
        .cta = (uint32_t)(r >> 50) & 63,
    };
    if (r >> 57 & 1) request.address %= 65536; /* some addresses repeatedly */
    if (request.op == MEM_OP_WRITE && (r >> 58 & 1)) {
        request.written[0] = rig_random(rig);
        request.written[1] = rig_random(rig) | 1;
    }
    rig_send_request(rig, sm, &request);
}

typedef struct Outcome {
    Counters counters;
    uint64_t sent, answered, reply_hash;
} Outcome;

/* Bursts of requests with idle time between them. */
static Outcome run_bursts(const char *machine, const char *const *settings,
                          const RigOptions *options, bool is_jumping) {
    enum { BURSTS = 8, BURST_CYCLES = 250, IDLE_CYCLES = 4000, LIMIT = 3000000 };
    Rig *rig = rig_new(machine, settings, options);
    rig->is_jumping = is_jumping;
    partition_fill_from_host(rig->partitions, 0, 300000);
    for (int burst = 0; burst < BURSTS; burst++) {
        for (int i = 0; i < BURST_CYCLES; i++) {
            for (uint32_t sm = 0; sm < RIG_SMS; sm++)
                if (rig_random(rig) & 1) send_random(rig, sm);
            rig_run(rig, 1);
        }
        rig_run(rig, IDLE_CYCLES);
    }
    assert_true(rig_drain(rig, LIMIT));
    for (uint32_t i = 0; i < rig->config.partitions; i++) {
        assert_true(partition_is_idle(rig->partitions[i]));
        partition_close_rows(rig->partitions[i]);
    }
    rig->is_jumping = false;
    rig_run(rig, 5000); /* the last write-backs */
    Outcome outcome = {rig_counters(rig), rig->sent, rig->answered, rig->reply_hash};
    rig_free(rig);
    return outcome;
}

static void check_identities(const Outcome *outcome) {
    Text why = {0};
    bool is_good = counters_check(&outcome->counters, (CountersShape){1, 1, false}, &why);
    if (!is_good) fail_msg("%s", text_string(&why));
    text_free(&why);
    assert_int_equal(outcome->sent, outcome->answered);
    assert_true(outcome->sent > 1000);
}

/* Other sizes, down to the smallest possible. */
static const char *const hostile[] = {"partition.rop_latency=0",
                                      "partition.input_queue=1",
                                      "partition.reply_queue=1",
                                      "partition.to_dram_queue=1",
                                      "partition.from_dram_queue=1",
                                      "partition.dram_latency=0",
                                      "partition.dram_credits=1",
                                      "l2.mshrs=2",
                                      "l2.mshr_merges=1",
                                      "l2.miss_queue=1",
                                      "dram.queue=1",
                                      "dram.replies=1",
                                      NULL};
static const char *const narrow[] = {"partition.input_queue=3",
                                     "partition.reply_queue=2",
                                     "partition.dram_latency=7",
                                     "l2.mshrs=5",
                                     "l2.mshr_merges=2",
                                     "l2.miss_queue=2",
                                     "l2.latency=5",
                                     "clock.l2=650MHz",
                                     NULL};
static const char *const fetching[] = {"l2.write_allocate=fetch", NULL};
static const char *const not_allocating[] = {"l2.write_allocate=none", NULL};
static const char *const beside[] = {"l2.write_allocate=beside", "partition.acknowledges_late=yes",
                                     NULL};
static const char *const narrow_beside[] = {"l2.write_allocate=beside",
                                            "partition.acknowledges_late=yes",
                                            "partition.input_queue=1",
                                            "partition.reply_queue=1",
                                            "partition.to_dram_queue=1",
                                            "partition.from_dram_queue=1",
                                            "partition.dram_credits=1",
                                            "l2.size=16KiB",
                                            "l2.mshrs=2",
                                            "l2.mshr_merges=1",
                                            "l2.miss_queue=3",
                                            "dram.one_command=yes",
                                            "dram.queue=1",
                                            "dram.replies=1",
                                            NULL};
static const char *const late[] = {"partition.acknowledges_late=yes", NULL};
static const char *const through[] = {"l2.write=write-through", NULL};
static const char *const evicting[] = {"l2.write=write-evict", "l2.replacement=fifo", NULL};

/* An L2 that allocates lines on arrival, with and without the options that go with it. */
static const char *const few[] = {"l2.size=16KiB", "l2.ways=2", "partition.acknowledges_late=yes",
                                  NULL};
static const char *const few_in_order[] = {"l2.size=16KiB", "l2.ways=2", "l2.store_mshrs=no",
                                           "partition.write_backs_first=no", NULL};
static const char *const few_and_narrow[] = {"l2.size=16KiB",
                                             "l2.ways=2",
                                             "partition.input_queue=1",
                                             "partition.reply_queue=1",
                                             "partition.to_dram_queue=1",
                                             "partition.from_dram_queue=1",
                                             "l2.mshrs=1",
                                             "l2.mshr_merges=1",
                                             "l2.miss_queue=1",
                                             "dram.queue=1",
                                             "dram.replies=1",
                                             NULL};

static const char *const halves[] = {"l2.halves=2", NULL};
static const char *const narrow_halves[] = {"l2.halves=2",
                                            "l2.far_latency=1",
                                            "l2.far_link=1B",
                                            "partition.rop_latency=0",
                                            "partition.input_queue=1",
                                            "partition.reply_queue=1",
                                            "partition.to_dram_queue=1",
                                            "partition.from_dram_queue=1",
                                            "partition.dram_credits=1",
                                            "l2.size=16KiB",
                                            "l2.mshrs=2",
                                            "l2.mshr_merges=1",
                                            "l2.miss_queue=1",
                                            "dram.queue=1",
                                            "dram.replies=1",
                                            NULL};

/* Coalescers with room for many reads, and with room for few that may join for a short time. */
static const char *const coalescing[] = {"lrc.entries=64", "lrc.requests=4", "lrc.group=all", NULL};
static const char *const narrow_coalescing[] = {"lrc.entries=2",
                                                "lrc.requests=2",
                                                "lrc.window=3",
                                                "partition.rop_latency=0",
                                                "partition.input_queue=1",
                                                "partition.reply_queue=1",
                                                "partition.dram_credits=1",
                                                "l2.mshrs=2",
                                                "l2.mshr_merges=1",
                                                NULL};
static const char *const coalescing_halves[] = {"l2.halves=2", "lrc.entries=64", NULL};

static const struct Load {
    const char *machine;
    const char *const *settings;
    bool has_prefetch;
} loads[] = {
    {"gtx480", NULL, false},
    {"gtx480", hostile, false},
    {"gtx480", narrow, false},
    {"gtx480", fetching, false},
    {"gtx480", through, false},
    {"gtx480", evicting, false},
    {"gtx480", not_allocating, false},
    {"gtx480", beside, false},
    {"gtx480", narrow_beside, false},
    {"gtx480", halves, false},
    {"gtx480", narrow_halves, false},
    {"gtx480", coalescing, false},
    {"gtx480", narrow_coalescing, false},
    {"gtx480", coalescing_halves, false},
    {"owl", NULL, true},
    {"owl", hostile, true},
    {"owl", few, true},
    {"owl", few_in_order, false},
    {"owl", few_and_narrow, true},
    {"ccws", NULL, false},
    {"ccws", narrow, false},
    {"pro", NULL, false},
    {"pro", narrow_beside, false},
    {"md", NULL, false},
    {"md", late, false},
    {"md", hostile, false},
    {"md", coalescing, false},
};

static RigOptions options_of(const struct Load *load) {
    if (!load->has_prefetch) return (RigOptions){0};
    return (RigOptions){.prefetch = {.scheme = DRAM_PREFETCH_MIN, .lower = 8, .higher = 16}};
}

static void test_sleeping_changes_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        const struct Load *load = &loads[i];
        RigOptions options = options_of(load);
        Outcome asleep = run_bursts(load->machine, load->settings, &options, false);
        check_identities(&asleep);
        Outcome jumping = run_bursts(load->machine, load->settings, &options, true);
        assert_memory_equal(&asleep, &jumping, sizeof asleep);
        options.never_sleeps = true;
        Outcome awake = run_bursts(load->machine, load->settings, &options, false);
        assert_memory_equal(&asleep, &awake, sizeof asleep);
    }
}

/* Tight limits do cause refusals and full queues, so the tests above exercise them. */
static void test_hostile_limits_are_met(void **state) {
    (void)state;
    RigOptions options = {0};
    Outcome roomy = run_bursts("gtx480", NULL, &options, false);
    Outcome tight = run_bursts("gtx480", hostile, &options, false);
    assert_true(tight.counters.l2_refusals > roomy.counters.l2_refusals);
    assert_true(tight.counters.dram_queue_max == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleeping_changes_nothing),
        cmocka_unit_test(test_hostile_limits_are_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
