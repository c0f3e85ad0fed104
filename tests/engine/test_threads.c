/* Results do not depend on the number of host threads that step the SMs: kernels whose CTAs race
 * with each other in every way leave the same memory, counters and messages. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "../every.h"
#include "base/text.h"
#include "engine/observe/watch.h"
#include "timed.h"

enum {
    WORDS = 1024,
    CTAS = 32, /* with `is_whole`; otherwise half, as each run waits for a busy host's processors */
    THREADS = 64,
    ROUNDS = 3,       /* rounds of each thread */
    POOL_EVERY = 101, /* cycles between uses of the pool */
    PAIR = 2,         /* threads of the smallest pool */
    LARGE = 5,        /* of one that has more threads than most hosts have processors to spare */
    LARGE_EVERY = 5   /* of the machines, LARGE threads run on every such one, unless is_whole */
};

static bool is_whole; /* both sizes of the pool everywhere, and pools that are used more often */

static uint32_t ctas(void) { return is_whole ? CTAS : CTAS / 2; }

/* Cycles between uses of the pool. Each use costs all threads a turn on a processor, which takes
 * milliseconds on a busy host, and a run takes up to 64,000 cycles. */
static uint32_t every(uint32_t whole, uint32_t otherwise) { return is_whole ? whole : otherwise; }

/* Threads take tickets from one counter, write them where others read and write at the same time,
 * and add up what they read. SMs interact at every access. */
static const char racing[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 buffer)\n{\n"
    "  .reg .pred %p<3>; .reg .b32 %r<20>; .reg .b64 %rd<9>;\n"
    "  .shared .align 4 .b8 tile[256];\n"
    "  ld.param.u64 %rd1, [buffer];\n  cvta.to.global.u64 %rd1, %rd1;\n"
    "  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r9, 0;\n  mov.u32 %r10, 0;\n"
    "again:\n"
    "  atom.global.add.u32 %r3, [%rd1], 1;\n" /* a ticket */
    "  mad.lo.u32 %r4, %r3, 7, %r1;\n  and.b32 %r4, %r4, 511;\n"
    "  mul.wide.u32 %rd2, %r4, 4;\n  add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r5, [%rd3+2048];\n" /* any value */
    "  xor.b32 %r6, %r5, %r3;\n  add.u32 %r9, %r9, %r6;\n"
    "  st.global.u32 [%rd3+2048], %r9;\n" /* later readers see it */
    "  shl.b32 %r11, %r1, 2;\n  mov.u32 %r12, tile;\n  add.u32 %r12, %r12, %r11;\n"
    "  st.shared.u32 [%r12], %r9;\n  bar.sync 0;\n  ld.shared.u32 %r13, [%r12];\n"
    "  add.u32 %r9, %r9, %r13;\n"
    "  add.u32 %r10, %r10, 1;\n  setp.lt.u32 %p1, %r10, 3;\n  @%p1 bra again;\n"
    "  red.global.xor.b32 [%rd1+4], %r9;\n  atom.global.exch.b32 %r7, [%rd1+8], %r9;\n"
    "  ret;\n}\n";

typedef struct Outcome {
    uint32_t memory[WORDS];
    GpuResult result;
    Text printed;
} Outcome;

static void keep_printed(void *user, const char *text, size_t length) {
    Text *printed = user;
    text_add_bytes(printed, text, length);
}

static void run_watched(Outcome *outcome, const char *machine, const char *sets, const char *policy,
                        const char *ptx, uint32_t threads, uint32_t pool_every, Watch *watch) {
    Timed timed;
    *outcome = (Outcome){.printed = {0}};
    GpuOptions how = {.threads = threads,
                      .pool_every = pool_every,
                      .watch = watch,
                      .print = keep_printed,
                      .user = &outcome->printed};
    timed_start_how(&timed, machine, sets, policy, &how);
    uint64_t buffer = timed_buffer(&timed, outcome->memory, WORDS);
    outcome->result = timed_run_badly(&timed, ptx, ctas(), THREADS, (uint64_t[]){buffer});
    if (outcome->result.status == GPU_OK)
        mem_read(gpu_memory(timed.gpu), buffer, outcome->memory, sizeof outcome->memory);
    timed_stop(&timed);
}

static void run(Outcome *outcome, const char *machine, const char *sets, const char *policy,
                const char *ptx, uint32_t threads, uint32_t pool_every) {
    run_watched(outcome, machine, sets, policy, ptx, threads, pool_every, NULL);
}

static void assert_same(const Outcome *a, const Outcome *b) {
    assert_int_equal(a->result.status, b->result.status);
    assert_string_equal(a->result.message, b->result.message);
    assert_memory_equal(a->memory, b->memory, sizeof a->memory);
    assert_memory_equal(&a->result.counters, &b->result.counters, sizeof a->result.counters);
    assert_memory_equal(&a->result.histograms, &b->result.histograms, sizeof a->result.histograms);
    assert_string_equal(text_string(&a->printed), text_string(&b->printed));
}

static void compare_with(const Outcome *alone, const char *machine, const char *sets,
                         const char *policy, const char *ptx, uint32_t threads,
                         uint32_t pool_every) {
    Outcome together;
    run(&together, machine, sets, policy, ptx, threads, pool_every);
    assert_same(alone, &together);
    text_free(&together.printed);
}

/* Runs with each size of the pool. Returns the outcome with one thread; the caller frees its
 * text. */
static Outcome compare_every(const char *machine, const char *sets, const char *policy,
                             const char *ptx, uint32_t pool_every) {
    Outcome alone;
    run(&alone, machine, sets, policy, ptx, 1, 0);
    compare_with(&alone, machine, sets, policy, ptx, PAIR, pool_every);
    compare_with(&alone, machine, sets, policy, ptx, LARGE, pool_every);
    return alone;
}

static Outcome compare(const char *machine, const char *sets, const char *policy, const char *ptx) {
    return compare_every(machine, sets, policy, ptx, POOL_EVERY);
}

static void races_end_the_same_on_every_machine_and_under_every_policy(void **state) {
    (void)state;
    static Every machines, policies, orders;
    every_machine(&machines);
    every_scheduler(&policies);
    every_dram_scheduler(&orders);
    every_thin(&machines), every_thin(&policies);
    const uint32_t pool_every = every(POOL_EVERY, 10 * POOL_EVERY);
    for (int i = 0; i < machines.count || i < policies.count; i++) {
        const char *machine = every_at(&machines, i), *policy = every_at(&policies, i);
        const char *order = every_at(&orders, i);
        Outcome alone;
        run(&alone, machine, order, policy, racing, 1, 0);
        if (alone.result.status != GPU_OK) fail_msg("%s", alone.result.message);
        assert_int_equal(alone.memory[0], ctas() * THREADS * ROUNDS); /* no ticket was lost */
        compare_with(&alone, machine, order, policy, racing, PAIR, pool_every);
        if (is_whole || i % LARGE_EVERY == 0)
            compare_with(&alone, machine, order, policy, racing, LARGE, pool_every);
        text_free(&alone.printed);
    }
}

/* Where machine instructions are issued, a word that was just loaded is not loaded again: the
 * second load takes no issue slot, but reads what other SMs write. */
static void loads_without_a_slot_see_the_same(void **state) {
    (void)state;
    Outcome outcome =
        compare_every("v100", "", "lrr",
                      ".version 7.0\n.target sm_70\n.address_size 64\n"
                      ".visible .entry k(.param .u64 buffer)\n{\n"
                      "  .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<4>;\n"
                      "  ld.param.u64 %rd1, [buffer];\n  mov.u32 %r1, %ctaid.x;\n"
                      "  mov.u32 %r2, %tid.x;\n  mad.lo.u32 %r3, %r1, 64, %r2;\n  mov.u32 %r4, 0;\n"
                      "again:\n"
                      "  ld.global.u32 %r5, [%rd1];\n  ld.global.u32 %r6, [%rd1];\n"
                      "  ld.global.u32 %r7, [%rd1];\n  ld.global.u32 %r8, [%rd1];\n"
                      "  mad.lo.u32 %r3, %r3, 5, %r6;\n  mad.lo.u32 %r3, %r3, 7, %r7;\n"
                      "  mad.lo.u32 %r3, %r3, 3, %r8;\n  add.u32 %r3, %r3, %r5;\n"
                      "  st.global.u32 [%rd1], %r3;\n"
                      "  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 40;\n  @%p1 bra again;\n"
                      "  red.global.xor.b32 [%rd1+4], %r3;\n  ret;\n}\n",
                      every(3, 97));
    if (outcome.result.status != GPU_OK) fail_msg("%s", outcome.result.message);
    text_free(&outcome.printed);
}

/* SMs that share a port alternate, so races see them in another order each cycle. One thread has
 * all SMs of a port, so some pools have more threads than ports. */
static void sms_that_share_ports_keep_their_turns(void **state) {
    (void)state;
    static const char *const sets[] = {"", "gpu.sms=24 noc.sms_per_port=4",
                                       "gpu.sms=130 noc.sms_per_port=13",
                                       "gpu.sms=22 noc.sms_per_port=4"};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        Outcome outcome = compare_every("ccws", sets[i], "lrr", racing, every(5, 211));
        if (outcome.result.status != GPU_OK) fail_msg("%s", outcome.result.message);
        assert_int_equal(outcome.memory[0], ctas() * THREADS * ROUNDS);
        text_free(&outcome.printed);
    }
}

/* Starts twice as many busy processes as the host has processors. */
static int burden(pid_t *children, int most) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int count = 0;
    for (; count < most && count < 2 * processors; count++) {
        children[count] = fork();
        assert_true(children[count] >= 0);
        if (children[count]) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* they end with the test, however it ends */
        for (volatile uint64_t turns = 0;; turns++)
            continue;
    }
    return count;
}

/* Threads without a processor while the others wait for them. */
static void an_overloaded_host_gives_the_same(void **state) {
    (void)state;
    enum { MOST = 64, TEAM = 7, SELDOM = 1009 };
    pid_t children[MOST];
    Outcome alone, together;
    run(&alone, "gtx480", "", "gto", racing, 1, 0);
    int count = burden(children, MOST);
    assert_true(count >= 2);
    run(&together, "gtx480", "", "gto", racing, TEAM, SELDOM);
    for (int i = 0; i < count; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    assert_same(&alone, &together);
    text_free(&alone.printed);
    text_free(&together.printed);
}

/* An ideal network is stepped by one thread, whatever number is requested. */
static void an_ideal_network_gives_the_same_too(void **state) {
    (void)state;
    Outcome outcome = compare("gtx480", "noc.kind=ideal", "gto", racing);
    if (outcome.result.status != GPU_OK) fail_msg("%s", outcome.result.message);
    text_free(&outcome.printed);
}

static void lines_that_kernels_print_keep_their_order(void **state) {
    (void)state;
    Outcome outcome = compare(
        "gtx480", "", "gto",
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".global .align 1 .b8 format[7] = {37, 117, 32, 37, 117, 10, 0};\n" /* "%u %u\n" */
        ".extern .func (.param .b32 out) vprintf(.param .b64 a, .param .b64 b);\n"
        ".visible .entry k(.param .u64 buffer)\n{\n  .local .align 8 .b8 room[8];\n"
        "  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        "  ld.param.u64 %rd1, [buffer];\n"
        "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %tid.x;\n"
        "  setp.ne.u32 %p1, %r2, 0;\n  @%p1 ret;\n"
        "  atom.global.add.u32 %r3, [%rd1], 1;\n"
        "  mov.u64 %rd4, room;\n  cvta.local.u64 %rd5, %rd4;\n"
        "  st.local.u32 [%rd4], %r1;\n  st.local.u32 [%rd4+4], %r3;\n"
        "  mov.u64 %rd6, format;\n  cvta.global.u64 %rd7, %rd6;\n"
        "  { .param .b64 a; st.param.b64 [a], %rd7; .param .b64 b; st.param.b64 [b], %rd5;\n"
        "    .param .b32 out; call.uni (out), vprintf, (a, b); }\n"
        "  ret;\n}\n");
    if (outcome.result.status != GPU_OK) fail_msg("%s", outcome.result.message);
    uint32_t lines = 0;
    for (const char *at = text_string(&outcome.printed); (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, ctas());
    text_free(&outcome.printed);
}

/* SMs fault in the same cycle: the message always names the same one, and the whole cycle
 * counts. */
static void of_faults_in_a_cycle_the_same_is_told(void **state) {
    (void)state;
    static const struct {
        const char *machine, *sets;
        uint32_t every;
    } cases[] = {{"gtx480", "", POOL_EVERY}, {"ccws", "cta.per_cycle=0", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Outcome outcome = compare_every(cases[i].machine, cases[i].sets, "gto",
                                        ".version 7.0\n.target sm_70\n.address_size 64\n"
                                        ".visible .entry k(.param .u64 buffer)\n{\n"
                                        "  .reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
                                        "  mov.u32 %r1, %ctaid.x;\n  mul.wide.u32 %rd1, %r1, 4;\n"
                                        "  st.global.u32 [%rd1], %r1;\n  ret;\n}\n",
                                        cases[i].every);
        assert_int_equal(outcome.result.status, GPU_FAULT);
        assert_non_null(strstr(outcome.result.message, "next to the null pointer"));
        text_free(&outcome.printed);
    }
}

/* All threads read and write for some rounds. In a round, one thread block uses a bad address. The
 * format takes that round and the number of rounds. */
static const char straying[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 buffer)\n{\n"
    "  .reg .pred %%p<3>; .reg .b32 %%r<9>; .reg .b64 %%rd<6>;\n"
    "  ld.param.u64 %%rd1, [buffer];\n  mov.u32 %%r1, %%tid.x;\n"
    "  mov.u32 %%r2, %%ctaid.x;\n  mov.u32 %%r3, 0;\n  mov.u64 %%rd4, 8;\n"
    "again:\n"
    "  mad.lo.u32 %%r4, %%r3, 64, %%r1;\n  mul.wide.u32 %%rd2, %%r4, 4;\n"
    "  add.u64 %%rd3, %%rd1, %%rd2;\n  ld.volatile.global.u32 %%r5, [%%rd3];\n"
    "  st.global.u32 [%%rd3], %%r2;\n  add.u32 %%r3, %%r3, 1;\n"
    "  setp.eq.u32 %%p2, %%r3, %d;\n  setp.eq.and.u32 %%p2, %%r2, 3, %%p2;\n"
    "  @%%p2 st.global.u32 [%%rd4], %%r2;\n"
    "  setp.lt.u32 %%p1, %%r3, %d;\n  @%%p1 bra again;\n  ret;\n}\n";

/* The partitions may be one cycle ahead when an SM faults. */
static void a_fault_amid_traffic_leaves_the_same(void **state) {
    (void)state;
    enum { OFTEN = 9, FIRST = 3, SOON = 5, LAST = 14 };
    for (int round = FIRST; round <= (is_whole ? LAST : SOON); round++) {
        char *ptx = NULL;
        assert_true(asprintf(&ptx, straying, round, LAST + 1) > 0);
        Outcome alone, together;
        run(&alone, "gtx480", "", "gto", ptx, 1, 0);
        run(&together, "gtx480", "", "gto", ptx, 2, OFTEN);
        assert_int_equal(alone.result.status, GPU_FAULT);
        assert_same(&alone, &together);
        text_free(&alone.printed), text_free(&together.printed);
        free(ptx);
    }
}

/* A kernel may end in cycles of every kind; partitions must not be ahead afterwards. A short kernel
 * has as many ends as a long one. */
static void a_kernels_end_leaves_the_same(void **state) {
    (void)state;
    enum { FIRST = 8, LAST = 16, NEVER = 99, LONG = 15, SHORT = 5 };
    char *ptx = NULL;
    assert_true(asprintf(&ptx, straying, NEVER, is_whole ? LONG : SHORT) > 0);
    Outcome alone;
    run(&alone, "gtx480", "", "gto", ptx, 1, 0);
    assert_int_equal(alone.result.status, GPU_OK);
    for (uint32_t pool_every = FIRST; pool_every <= LAST; pool_every += is_whole ? 1 : 2)
        compare_with(&alone, "gtx480", "", "gto", ptx, PAIR, pool_every);
    text_free(&alone.printed);
    free(ptx);
}

/* A thread that was asleep is as late as the network allows, and catches up at once. */
static void a_network_of_long_links_gives_the_same(void **state) {
    (void)state;
    enum { SELDOM = 1601 }; /* cycles; parallel stretches last a hundred */
    Outcome outcome = compare_every("gtx480", "noc.output_delay=60", "gto", racing, SELDOM);
    if (outcome.result.status != GPU_OK) fail_msg("%s", outcome.result.message);
    text_free(&outcome.printed);
}

/* When the counters of all units are sampled, no unit is ahead of the others. */
static void samples_are_of_all_units_at_one_cycle(void **state) {
    (void)state;
    enum { INTERVAL = 13, MOST = 4096 };
    Watch alone = {.series = timeseries_new(INTERVAL, MOST)};
    Watch together = {.series = timeseries_new(INTERVAL, MOST)};
    Outcome first, second;
    run_watched(&first, "gtx480", "", "gto", racing, 1, 0, &alone);
    run_watched(&second, "gtx480", "", "gto", racing, 2, every(9, 97), &together);
    assert_same(&first, &second);
    const int samples = timeseries_count(alone.series);
    assert_true(samples > 100);
    assert_int_equal(timeseries_count(together.series), samples);
    for (int i = 0; i < samples; i++) {
        uint64_t end, other;
        const Counters *a = timeseries_at(alone.series, i, &end);
        assert_memory_equal(a, timeseries_at(together.series, i, &other), sizeof *a);
        assert_int_equal(end, other);
    }
    text_free(&first.printed), text_free(&second.printed);
    timeseries_free(alone.series), timeseries_free(together.series);
}

/* ---- The active policy call ---- */

/* Used by a policy, which receives only its state: the GPU; how often its own call was reported as
 * another one; how often an SM of another thread would have been reported. */
static struct {
    const Gpu *gpu;
    atomic_int wrong, others;
} asked;

static int ask(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)scheduler;
    char own[200] = "", any[200] = "", expected[40];
    snprintf(expected, sizeof expected, ", SM %u: pick", view->sm);
    const bool is_told = gpu_policy_call(asked.gpu, true, own, sizeof own);
    if (!is_told || !strstr(own, expected)) asked.wrong++;
    for (int i = 0; i < 20 && view->sm == 1; i++) /* long enough for another call */
        if (gpu_policy_call(asked.gpu, false, any, sizeof any) && !strstr(any, expected)) {
            asked.others++;
            break;
        }
    return tyto_lowest(ready);
}

/* The message about a crash names the SM of the thread that crashed, whatever other threads do. */
static void a_call_is_told_by_the_thread_that_makes_it(void **state) {
    (void)state;
    static const TytoPolicy policy = {TYTO_POLICY_HEAD, .name = "asking", .summary = "asks",
                                      .pick = ask};
    const SchedPolicy asking = {.policy = &policy, .text = "asking"};
    Timed timed;
    timed_start(&timed, "gtx480", "", "gto");
    gpu_free(timed.gpu);
    const GpuOptions how = {
        .machine = timed.config, .scheduler = &asking, .threads = 2, .pool_every = 1};
    timed.gpu = gpu_new(&how, timed.diag);
    asked.gpu = timed.gpu;
    uint64_t buffer = timed_buffer(&timed, NULL, WORDS);
    for (int runs = 0; runs < 50 && !asked.others; runs++) /* until both threads have run at once */
        timed_run(&timed, racing, ctas(), THREADS / 2, (uint64_t[]){buffer});
    assert_int_equal(asked.wrong, 0);
    timed_stop(&timed);
    if (!asked.others) skip();
}

/* `overloaded`: the test that needs more than the host has. `all`: every test, with both sizes of
 * the pool everywhere. */
int main(int argc, char **argv) {
    const struct CMUnitTest overloaded[] = {
        cmocka_unit_test(an_overloaded_host_gives_the_same),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(races_end_the_same_on_every_machine_and_under_every_policy),
        cmocka_unit_test(loads_without_a_slot_see_the_same),
        cmocka_unit_test(sms_that_share_ports_keep_their_turns),
        cmocka_unit_test(an_ideal_network_gives_the_same_too),
        cmocka_unit_test(lines_that_kernels_print_keep_their_order),
        cmocka_unit_test(of_faults_in_a_cycle_the_same_is_told),
        cmocka_unit_test(a_fault_amid_traffic_leaves_the_same),
        cmocka_unit_test(a_kernels_end_leaves_the_same),
        cmocka_unit_test(a_network_of_long_links_gives_the_same),
        cmocka_unit_test(samples_are_of_all_units_at_one_cycle),
        cmocka_unit_test(a_call_is_told_by_the_thread_that_makes_it),
    };
    is_whole = argc > 1 && strcmp(argv[1], "all") == 0;
    if (argc > 1 && !is_whole) return cmocka_run_group_tests(overloaded, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
