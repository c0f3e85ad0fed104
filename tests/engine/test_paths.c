/* Independent threads (isa/flow/paths.c): lanes of one warp that wait for each other make progress
 * and reconverge where they can. Each kernel computes the same functionally and timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "timed.h"

#define INDEPENDENT "sm.divergence=independent"
#define WORDS       256

/* %p is the buffer of WORDS zeros, %o the address of the thread's own word, %l the lane, %t the
 * thread's number. */
#define KERNEL(body)                                                                               \
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"         \
    ".reg .b64 %p, %o, %x;\n.reg .b32 %t, %l, %a, %b, %i, %m;\n.reg .pred %c, %d;\n"               \
    ".shared .b32 s[64];\n"                                                                        \
    "ld.param.u64 %p, [a];\nmov.u32 %t, %tid.x;\nmov.u32 %l, %laneid;\n"                           \
    "mul.wide.u32 %o, %t, 4;\nadd.u64 %o, %o, %p;\n" body "ret;\n}\n"

/* Runs the kernel with one CTA. Without `sets` it runs functionally without a machine; else timed
 * on the machine, or functionally on it. */
static GpuResult run_at(const char *machine, const char *sets, bool is_functional, const char *ptx,
                        uint32_t threads, uint32_t *words) {
    Timed timed = {0};
    if (sets) {
        timed_start(&timed, machine, sets, "gto");
    } else {
        timed.diag = diag_new();
        timed.gpu = gpu_new(&(GpuOptions){.instruction_limit = 10000000}, timed.diag);
    }
    memset(words, 0, WORDS * sizeof *words);
    uint64_t buffer = timed_buffer(&timed, words, WORDS);
    GpuImage image = {.name = "k.ptx", .text = ptx, .length = strlen(ptx)};
    GpuModule *module = gpu_load(timed.gpu, &image, 1, timed.diag);
    if (!module) fail_msg("%s", diag_text(timed.diag));
    GpuLaunch launch = {.module = module,
                        .grid = {1, 1, 1},
                        .block = {threads, 1, 1},
                        .parameters = &buffer,
                        .is_functional = is_functional};
    launch.function = gpu_find_function(module, "k");
    GpuResult result;
    gpu_launch(timed.gpu, &launch, &result);
    assert_true(mem_read(gpu_memory(timed.gpu), buffer, words, WORDS * sizeof *words));
    gpu_unload(module);
    gpu_free(timed.gpu);
    sched_policy_free(timed.policy);
    machine_free(timed.machine);
    diag_free(timed.diag);
    return result;
}

static GpuResult run(const char *sets, const char *ptx, uint32_t threads, uint32_t *words) {
    return run_at("gtx480", sets, false, ptx, threads, words);
}

/* Runs both ways, and expects the same words. */
static void run_both(const char *ptx, uint32_t threads, uint32_t *words) {
    uint32_t detailed[WORDS];
    GpuResult result = run(NULL, ptx, threads, words);
    if (result.status != GPU_OK) fail_msg("functional: %s", result.message);
    result = run(INDEPENDENT, ptx, threads, detailed);
    if (result.status != GPU_OK) fail_msg("in detail: %s", result.message);
    assert_memory_equal(words, detailed, sizeof detailed);
}

/* Each thread takes a lock, which is released after the loop. */
static const char lock_ptx[] =
    KERNEL("again:\natom.global.cas.b32 %a, [%p], 0, 1;\nsetp.ne.u32 %c, %a, 0;\n"
           "@%c bra again;\n"
           "ld.volatile.global.u32 %b, [%p+4];\nadd.u32 %b, %b, 1;\n"
           "st.volatile.global.u32 [%p+4], %b;\nmembar.gl;\n"
           "atom.global.exch.b32 %a, [%p], 0;\n");

static void lanes_hand_a_lock_to_each_other(void **state) {
    (void)state;
    uint32_t words[WORDS];
    run_both(lock_ptx, 96, words);
    assert_int_equal(words[1], 96);
}

static void expect_deadlock(GpuResult result, bool is_of_lanes) {
    assert_int_equal(result.status, GPU_FAULT);
    assert_int_equal(result.fault_code, ISA_FAULT_DEADLOCK);
    assert_non_null(strstr(result.message, "look"));
    bool is_told = strstr(result.message, "lanes of one warp may wait for one another") &&
                   strstr(result.message, "--set sm.divergence=independent");
    assert_int_equal(is_told, is_of_lanes);
}

static void a_stack_says_that_lanes_wait_for_one_another(void **state) {
    (void)state;
    uint32_t words[WORDS];
    expect_deadlock(run("watchdog.cycles=100000", lock_ptx, 96, words), true);
    expect_deadlock(run_at("gtx480", "", true, lock_ptx, 96, words), true);
    GpuResult again = run("watchdog.cycles=100000", lock_ptx, 96, words),
              same = run("watchdog.cycles=100000", lock_ptx, 96, words);
    assert_string_equal(again.message, same.message);
}

static void a_store_that_never_comes_is_told(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char ptx[] = KERNEL("again:\nld.volatile.global.u32 %a, [%p];\n"
                                     "setp.eq.u32 %c, %a, 0;\n@%c bra again;\n");
    expect_deadlock(run(NULL, ptx, 64, words), false);
    expect_deadlock(run(INDEPENDENT " watchdog.cycles=100000", ptx, 64, words), false);
    expect_deadlock(run("watchdog.cycles=100000", ptx, 64, words),
                    false); /* no lane is held back */
}

/* Lane 0 repeats a loop that reads for longer than the watchdog waits. But the loop also stores, or
 * it only calls a function. */
static void loops_that_do_something_are_no_deadlock(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char counts[] =
        KERNEL("setp.ne.u32 %c, %l, 0;\n@%c bra end;\nagain:\n"
               "atom.global.add.u32 %a, [%p], 1;\nsetp.lt.u32 %c, %a, 2000;\n@%c bra again;\n"
               "end:\n");
    assert_int_equal(run("watchdog.cycles=100000", counts, 32, words).status, GPU_OK);
    assert_int_equal(words[0], 2001);
    static const char calls[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".func (.reg .b32 r) next(.reg .b32 x) { add.u32 r, x, 1; ret; }\n"
        ".visible .entry k(.param .u64 a) {\n.reg .b64 %p;\n.reg .b32 %i, %t;\n.reg .pred %c;\n"
        "ld.param.u64 %p, [a];\nmov.u32 %i, 0;\nagain:\ncall (%i), next, (%i);\n"
        "setp.lt.u32 %c, %i, 20000;\n@%c bra again;\nst.global.u32 [%p], %i;\nret;\n}\n";
    assert_int_equal(run("watchdog.cycles=100000", calls, 32, words).status, GPU_OK);
    assert_int_equal(words[0], 20000);
}

/* A loop of volatile loads that stores nothing and takes longer than the watchdog waits: each round
 * differs from the one before. */
static void a_loop_that_looks_and_counts_is_no_deadlock(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char ptx[] =
        KERNEL("mov.u32 %b, 0;\nagain:\nld.volatile.global.u32 %a, [%p+4];\nadd.u32 %b, %b, 1;\n"
               "setp.lt.u32 %c, %b, 200000;\n@%c bra again;\n"
               "st.global.u32 [%p], %b;\n");
    assert_int_equal(run(NULL, ptx, 1, words).status, GPU_OK);
    assert_int_equal(words[0], 200000);
    assert_int_equal(run("watchdog.cycles=20000", ptx, 1, words).status, GPU_OK);
    assert_int_equal(words[0], 200000);
}

/* Its state repeats every third round. */
static void a_loop_that_comes_back_in_a_while_is_a_deadlock(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char ptx[] =
        KERNEL("mov.u32 %b, 0;\nagain:\nld.volatile.global.u32 %a, [%p+4];\nadd.u32 %b, %b, 1;\n"
               "rem.u32 %b, %b, 3;\nsetp.eq.u32 %c, %a, 0;\n@%c bra again;\n"
               "st.global.u32 [%p], %b;\n");
    expect_deadlock(run(NULL, ptx, 1, words), false);
    expect_deadlock(run("watchdog.cycles=20000", ptx, 1, words), false);
}

/* The stores of ended warps take longer than the watchdog waits until they are acknowledged: a
 * network that accepts few flits at a time takes them one after another. */
static void a_kernel_whose_last_stores_are_under_way_is_no_deadlock(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char ptx[] =
        KERNEL("mul.wide.u32 %o, %t, 4;\nadd.u64 %o, %o, %p;\n"
               "mov.u32 %b, 0;\nagain:\nst.volatile.global.u32 [%o], %b;\nadd.u32 %b, %b, 1;\n"
               "setp.lt.u32 %c, %b, 64;\n@%c bra again;\n");
    const char *sets = "gpu.sms=2 watchdog.cycles=200 noc.router_delay=1024 noc.link_delay=64";
    assert_int_equal(run_at("owl", sets, false, ptx, 96, words).status, GPU_OK);
    assert_int_equal(words[5], 63);
}

static void a_lane_waits_for_what_another_stores_later(void **state) {
    (void)state;
    uint32_t words[WORDS];
    /* The taken side runs first, and waits for the side that did not run yet. */
    run_both(KERNEL("setp.eq.u32 %c, %l, 0;\n@%c bra wait;\n"
                    "setp.ne.u32 %d, %l, 31;\n@%d bra end;\nst.volatile.global.u32 [%p+400], 9;\n"
                    "bra end;\n"
                    "wait:\nld.relaxed.gpu.global.u32 %a, [%p+400];\nsetp.eq.u32 %d, %a, 0;\n"
                    "@%d bra wait;\nst.global.u32 [%p], %a;\nend:\n"),
             32, words);
    assert_int_equal(words[0], 9);
}

static void a_plain_loop_is_left_in_the_end_too(void **state) {
    (void)state;
    uint32_t words[WORDS];
    GpuResult result =
        run(NULL,
            KERNEL("setp.eq.u32 %c, %l, 0;\n@%c bra wait;\nbra store;\n"
                   "wait:\nld.global.u32 %a, [%p+400];\nsetp.eq.u32 %d, %a, 0;\n@%d bra wait;\n"
                   "store:\nst.global.u32 [%p+400], 9;\n"),
            32, words);
    assert_int_equal(result.status, GPU_OK);
    assert_int_equal(words[100], 9);
}

static void a_stack_never_leaves_such_a_loop(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char ptx[] =
        KERNEL("setp.eq.u32 %c, %l, 0;\n@%c bra wait;\nst.volatile.global.u32 [%p+400], 9;\n"
               "bra end;\nwait:\nld.volatile.global.u32 %a, [%p+400];\nsetp.eq.u32 %d, %a, 0;\n"
               "add.u32 %i, %i, 1;\nsetp.gt.u32 %c, %i, 200;\n@%c bra end;\n@%d bra wait;\n"
               "end:\nst.global.u32 [%o], %i;\n");
    run("", ptx, 32, words);
    assert_int_equal(words[0], 201);
    run(INDEPENDENT, ptx, 32, words);
    assert_in_range(words[0], 1, 100);
}

static void members_wait_for_each_other(void **state) {
    (void)state;
    uint32_t words[WORDS];
    /* Each lane reaches the shuffle after a loop with its own number of rounds. */
    run_both(KERNEL("mov.u32 %i, 0;\nloop:\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %c, %i, %l;\n"
                    "@%c bra loop;\n"
                    "setp.lt.u32 %c, %l, 7;\n@%c bra low;\nmul.lo.u32 %a, %l, 3;\nbra meet;\n"
                    "low:\nmul.lo.u32 %a, %l, 5;\nbar.warp.sync 0x7f;\n"
                    "meet:\nshfl.sync.bfly.b32 %b, %a, 31, 31, 0xffffffff;\n"
                    "st.global.u32 [%o], %b;\n"),
             32, words);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(words[lane], (31 - lane) * (31 - lane < 7 ? 5 : 3));
}

static void lanes_let_go_of_a_lock_meet_at_a_warp_barrier(void **state) {
    (void)state;
    uint32_t words[WORDS];
    run_both(KERNEL("again:\natom.global.cas.b32 %a, [%p+512], 0, 1;\nsetp.ne.u32 %c, %a, 0;\n"
                    "@%c bra again;\natom.global.exch.b32 %a, [%p+512], 0;\n"
                    "bar.warp.sync 0xffffffff;\nactivemask.b32 %m;\nst.global.u32 [%o], %m;\n"),
             32, words);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(words[lane], UINT32_MAX);
}

static void tiles_of_a_warp_do_not_see_each_other(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char ptx[] =
        KERNEL("and.b32 %a, %l, 24;\nshl.b32 %m, 255, %a;\nand.b32 %b, %l, 1;\n"
               "setp.eq.u32 %c, %b, 1;\nvote.sync.ballot.b32 %a, %c, %m;\n"
               "st.global.u32 [%o], %a;\nredux.sync.add.u32 %a, %l, %m;\n"
               "st.global.u32 [%o+128], %a;\nmatch.any.sync.b32 %a, %b, %m;\n"
               "st.global.u32 [%o+256], %a;\nelect.sync %a|%c, %m;\nst.global.u32 [%o+384], %a;\n");
    run_both(ptx, 32, words);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t tile = lane / 8 * 8, odd = 0xAAu << tile, even = 0x55u << tile;
        assert_int_equal(words[lane], odd);
        assert_int_equal(words[32 + lane], 8 * tile + 28);
        assert_int_equal(words[64 + lane], lane & 1 ? odd : even);
        assert_int_equal(words[96 + lane], tile);
    }
}

static void both_sides_of_a_branch_reach_a_barrier(void **state) {
    (void)state;
    uint32_t words[WORDS];
    run_both(KERNEL("mul.wide.u32 %x, %t, 4;\nmov.u64 %o, s;\nadd.u64 %x, %x, %o;\n"
                    "st.shared.u32 [%x], %t;\nsetp.lt.u32 %c, %l, 5;\n@%c bra low;\n"
                    "barrier.sync 0;\nld.shared.u32 %a, [s+252];\nbra meet;\n"
                    "low:\nbarrier.sync 0;\nld.shared.u32 %a, [s+128];\n"
                    "meet:\nmul.wide.u32 %o, %t, 4;\nadd.u64 %o, %o, %p;\n"
                    "st.global.u32 [%o], %a;\n"),
             64, words);
    for (uint32_t thread = 0; thread < 64; thread++)
        assert_int_equal(words[thread], thread % 32 < 5 ? 32 : 63);
}

static void a_barrier_waits_for_lanes_that_have_not_exited(void **state) {
    (void)state;
    uint32_t words[WORDS];
    run_both(KERNEL("setp.lt.u32 %c, %l, 9;\n@%c exit;\nbar.sync 0;\nst.global.u32 [%o], 1;\n"), 64,
             words);
    for (uint32_t thread = 0; thread < 64; thread++)
        assert_int_equal(words[thread], thread % 32 >= 9);
}

static void lanes_are_in_different_functions_at_a_time(void **state) {
    (void)state;
    uint32_t words[WORDS];
    /* Lane 0 waits inside f for a value that lane 1 stores inside g, whose frame has another
     * shape. */
    static const char ptx[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".func (.reg .b32 r) f(.reg .b64 p)\n{\n.reg .pred %c;\n"
        "wait:\nld.volatile.global.u32 r, [p+400];\nsetp.eq.u32 %c, r, 0;\n@%c bra wait;\nret;\n}\n"
        ".func (.reg .b32 r) g(.reg .b64 p)\n{\n.reg .b64 %x<4>;\n.reg .b32 %y;\nmov.u64 %x0, 40;\n"
        "add.u64 %x1, %x0, 2;\nmov.u64 %x2, p;\nmov.u64 %x3, 0;\n"
        "cvt.u32.u64 %y, %x1;\nst.volatile.global.u32 [%x2+400], %y;\nmov.u32 r, 1;\nret;\n}\n"
        ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %p, %o;\n.reg .b32 %t, %r;\n.reg .pred "
        "%c;\n"
        "ld.param.u64 %p, [a];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\n"
        "add.u64 %o, %o, %p;\nsetp.eq.u32 %c, %t, 0;\n@%c bra one;\ncall (%r), g, (%p);\nbra all;\n"
        "one:\ncall (%r), f, (%p);\nall:\nst.global.u32 [%o], %r;\nret;\n}\n";
    run_both(ptx, 32, words);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(words[lane], lane ? 1 : 42);
}

static void lanes_recurse_to_their_own_depth(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char ptx[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".func (.reg .b32 r) sum(.reg .b32 n)\n{\n.reg .pred %c;\n.reg .b32 %m;\nmov.u32 r, 0;\n"
        "setp.eq.u32 %c, n, 0;\n@%c ret;\nsub.u32 %m, n, 1;\ncall (r), sum, (%m);\n"
        "add.u32 r, r, n;\nret;\n}\n"
        ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %p, %o;\n.reg .b32 %t, %r;\n"
        "ld.param.u64 %p, [a];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\n"
        "add.u64 %o, %o, %p;\ncall (%r), sum, (%t);\nst.global.u32 [%o], %r;\nret;\n}\n";
    run_both(ptx, 96, words);
    for (uint32_t thread = 0; thread < 96; thread++)
        assert_int_equal(words[thread], thread * (thread + 1) / 2);
}

static void a_wait_that_cannot_end_is_told(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char ptx[] = KERNEL("setp.lt.u32 %c, %l, 4;\n@%c bra low;\nbar.sync 0;\nbra end;\n"
                                     "low:\nbar.warp.sync 0xffffffff;\nend:\n");
    GpuResult result = run(NULL, ptx, 32, words);
    assert_int_equal(result.status, GPU_FAULT);
    assert_int_equal(result.fault_code, ISA_FAULT_DEADLOCK);
    assert_non_null(strstr(result.message,
                           "deadlock: lanes 0x0000000f wait for lanes 0xfffffff0 of their member "
                           "mask 0xffffffff, which stand at a CTA barrier"));
}

/* ---- Lanes that end early ---- */

/* Odd threads above the limit end early, on one of two sides that reconverge before a barrier. Then
 * each thread reads what a thread of the other warp wrote. */
#define EARLY_END(end, limit)                                                                      \
    "and.b32 %a, %l, 1;\nsetp.eq.u32 %c, %a, 0;\n@%c bra even;\nsetp.le.u32 %d, %t, " #limit ";\n" \
    "@%d bra goes_on;\n" end "\ngoes_on:\nadd.u32 %i, %t, 500;\nbra meet;\n"                       \
    "even:\nadd.u32 %i, %t, 700;\n"                                                                \
    "meet:\nmul.wide.u32 %x, %t, 4;\nmov.u64 %o, s;\nadd.u64 %x, %x, %o;\n"                        \
    "st.shared.u32 [%x], %i;\nbar.sync 0;\nxor.b32 %a, %t, 33;\nmul.wide.u32 %x, %a, 4;\n"         \
    "add.u64 %x, %x, %o;\nld.shared.u32 %b, [%x];\nmul.wide.u32 %o, %t, 4;\n"                      \
    "add.u64 %o, %o, %p;\nst.global.u32 [%o], %b;\n"

static uint32_t early_end_word(uint32_t thread, uint32_t limit) {
    uint32_t other = thread ^ 33;
    bool is_gone = thread % 2 && thread > limit, is_silent = other % 2 && other > limit;
    return is_gone || is_silent ? 0 : other % 2 ? 500 + other : 700 + other;
}

static void those_that_go_on_meet_before_the_next_barrier(void **state) {
    (void)state;
    static const struct {
        uint32_t limit; /* odd threads above this end */
        const char *ptx;
    } kernels[] = {
        {1000, KERNEL(EARLY_END("trap;", 1000))},
        {1000, KERNEL(EARLY_END("trap;\nexit;", 1000))},
        {1000, KERNEL(EARLY_END("@%d add.u32 %i, %i, 1;\nbrkpt;\nexit;", 1000))},
        {40, KERNEL(EARLY_END("exit;", 40))},
        {40, KERNEL(EARLY_END("ret;", 40))},
        {40, KERNEL(EARLY_END("@!%d exit;", 40))},
        {40, KERNEL(EARLY_END("st.global.u32 [%o], 0;\n@!%d ret;\ntrap;", 40))},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        uint32_t words[WORDS];
        run_both(kernels[i].ptx, 64, words);
        for (int on_stack = 0; on_stack < 2; on_stack++) {
            for (uint32_t thread = 0; thread < 64; thread++)
                if (words[thread] != early_end_word(thread, kernels[i].limit))
                    fail_msg("kernel %zu, %s: thread %u has %u, not %u", i,
                             on_stack ? "stack" : "independent", thread, words[thread],
                             early_end_word(thread, kernels[i].limit));
            GpuResult result = run("", kernels[i].ptx, 64, words);
            if (result.status != GPU_OK) fail_msg("kernel %zu, stack: %s", i, result.message);
        }
    }
}

static void those_that_stay_in_a_function_meet_before_its_barrier(void **state) {
    (void)state;
    uint32_t words[WORDS];
    static const char ptx[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.shared .b32 s[64];\n"
        ".func (.reg .b32 r) f(.reg .b32 t)\n{\n.reg .pred %c;\n.reg .b32 %a, %i;\n"
        ".reg .b64 %x, %o;\nmov.u32 r, 7;\nand.b32 %a, t, 1;\nsetp.eq.u32 %c, %a, 0;\n"
        "@%c bra even;\nsetp.le.u32 %c, t, 40;\n@%c bra stay;\nret;\nstay:\n"
        "add.u32 %i, t, 500;\nbra meet;\neven:\nadd.u32 %i, t, 700;\nmeet:\nmov.u64 %o, s;\n"
        "mul.wide.u32 %x, t, 4;\nadd.u64 %x, %x, %o;\nst.shared.u32 [%x], %i;\nbar.sync 0;\n"
        "xor.b32 %a, t, 33;\nmul.wide.u32 %x, %a, 4;\nadd.u64 %x, %x, %o;\n"
        "ld.shared.u32 r, [%x];\nret;\n}\n"
        ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %p, %o;\n.reg .b32 %t, %r;\n.reg .pred "
        "%c;\nld.param.u64 %p, [a];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\n"
        "add.u64 %o, %o, %p;\nmov.u32 %r, 9;\nsetp.ne.u32 %c, %t, 3;\n@%c call (%r), f, (%t);\n"
        "st.global.u32 [%o], %r;\nret;\n}\n";
    for (int way = 0; way < 3; way++) {
        GpuResult result = run(way == 0 ? "" : way == 1 ? INDEPENDENT : NULL, ptx, 64, words);
        if (result.status != GPU_OK) fail_msg("%s", result.message);
        for (uint32_t thread = 0; thread < 64; thread++) {
            bool is_back = thread % 2 && thread > 40;
            uint32_t expected = thread == 3          ? 9
                                : is_back            ? 7
                                : thread == (3 ^ 33) ? 0
                                                     : early_end_word(thread, 40);
            assert_int_equal(words[thread], expected);
        }
    }
}

/* ---- Several warps ---- */

static void warps_read_before_any_of_them_writes(void **state) {
    (void)state;
    uint32_t words[WORDS];
    /* Eight warps add one to the same 32 words; they run in step, as on a GPU. */
    static const char ptx[] = KERNEL("mul.wide.u32 %o, %l, 4;\nadd.u64 %o, %o, %p;\n"
                                     "ld.global.u32 %a, [%o];\nadd.u32 %a, %a, 1;\n"
                                     "st.global.u32 [%o], %a;\n");
    run_both(ptx, 256, words);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(words[lane], 1);
}

static void a_store_is_seen_without_the_barrier_that_is_missing(void **state) {
    (void)state;
    uint32_t words[WORDS];
    run_both(KERNEL("mul.wide.u32 %x, %t, 4;\nmov.u64 %o, s;\nadd.u64 %x, %x, %o;\n"
                    "st.shared.u32 [%x], 5;\nxor.b32 %a, %t, 32;\nmul.wide.u32 %x, %a, 4;\n"
                    "add.u64 %x, %x, %o;\nld.shared.u32 %b, [%x];\nmul.wide.u32 %o, %t, 4;\n"
                    "add.u64 %o, %o, %p;\nst.global.u32 [%o], %b;\n"),
             64, words);
    for (uint32_t thread = 0; thread < 64; thread++)
        assert_int_equal(words[thread], 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_hand_a_lock_to_each_other),
        cmocka_unit_test(a_stack_says_that_lanes_wait_for_one_another),
        cmocka_unit_test(a_store_that_never_comes_is_told),
        cmocka_unit_test(loops_that_do_something_are_no_deadlock),
        cmocka_unit_test(a_loop_that_looks_and_counts_is_no_deadlock),
        cmocka_unit_test(a_loop_that_comes_back_in_a_while_is_a_deadlock),
        cmocka_unit_test(a_kernel_whose_last_stores_are_under_way_is_no_deadlock),
        cmocka_unit_test(a_lane_waits_for_what_another_stores_later),
        cmocka_unit_test(a_plain_loop_is_left_in_the_end_too),
        cmocka_unit_test(a_stack_never_leaves_such_a_loop),
        cmocka_unit_test(members_wait_for_each_other),
        cmocka_unit_test(lanes_let_go_of_a_lock_meet_at_a_warp_barrier),
        cmocka_unit_test(tiles_of_a_warp_do_not_see_each_other),
        cmocka_unit_test(both_sides_of_a_branch_reach_a_barrier),
        cmocka_unit_test(a_barrier_waits_for_lanes_that_have_not_exited),
        cmocka_unit_test(lanes_are_in_different_functions_at_a_time),
        cmocka_unit_test(lanes_recurse_to_their_own_depth),
        cmocka_unit_test(a_wait_that_cannot_end_is_told),
        cmocka_unit_test(those_that_go_on_meet_before_the_next_barrier),
        cmocka_unit_test(those_that_stay_in_a_function_meet_before_its_barrier),
        cmocka_unit_test(warps_read_before_any_of_them_writes),
        cmocka_unit_test(a_store_is_seen_without_the_barrier_that_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
