/* Closed forms: latencies that are sums of configured values, and minimum throughputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../every.h"
#include "base/text.h"
#include "timed.h"

#define HEADER ".version 7.5\n.target sm_75\n.address_size 64\n"

/* ---- Latency ---- */

enum { CHAIN = 16 };
#define NO_L2 "l2.enabled=no l2.filled_by_copies=no"

/* One thread follows CHAIN pointers with `load` and writes the cycles for all of them. A first pass
 * over the same pointers warms up caches and instruction memory. */
static char *chase_kernel(const char *load) {
    Text ptx = {0};
    text_add(&ptx, HEADER ".visible .entry chase(.param .u64 first, .param .u64 out)\n{\n"
                          ".reg .b64 %p, %o, %n;\n.reg .b32 %a, %b, %pass;\n.reg .pred %q;\n"
                          "ld.param.u64 %n, [first];\nld.param.u64 %o, [out];\nmov.u32 %pass, 0;\n"
                          "again:\nmov.b64 %p, %n;\nmov.u32 %a, %clock;\n");
    for (int i = 0; i < CHAIN; i++)
        text_printf(&ptx, "%s %%p, [%%p];\n", load);
    /* The address of the store depends on the last pointer, which is 0 at the chain's end. */
    text_add(&ptx, "add.s64 %p, %p, %o;\nmov.u32 %b, %clock;\nsub.u32 %b, %b, %a;\n"
                   "st.global.u32 [%p], %b;\nadd.u32 %pass, %pass, 1;\nsetp.lt.u32 %q, %pass, 2;\n"
                   "@%q bra again;\nret;\n}\n");
    return ptx.bytes;
}

/* Cycles of a chain of dependent loads; the pointers are `stride` bytes apart. */
static uint32_t chase(const char *machine, const char *sets, const char *load, uint32_t stride) {
    Timed timed;
    timed_start(&timed, machine, sets, "gto");
    size_t words = (size_t)stride / 4 * CHAIN + 2;
    uint32_t *pointers = calloc(words, sizeof *pointers);
    uint64_t buffer = timed_buffer(&timed, NULL, words), out = timed_buffer(&timed, NULL, 1);
    for (uint32_t i = 0; i + 1 < CHAIN; i++) {
        uint64_t next = buffer + (uint64_t)stride * (i + 1);
        memcpy(&pointers[stride / 4 * i], &next, sizeof next);
    }
    mem_write(gpu_memory(timed.gpu), buffer, pointers, words * 4);
    char *ptx = chase_kernel(load);
    timed_run(&timed, ptx, 1, 1, (uint64_t[]){buffer, out});
    uint32_t cycles = timed_word(&timed, out, 0);
    free(ptx);
    free(pointers);
    timed_stop(&timed);
    return cycles;
}

static void adds_up_at_every_level(void **state) {
    (void)state;
    /* A load that hits the L1D frees its register `latency` + 5 cycles after its issue
     * (docs/sm.md). The rest of the chain and the clock instructions cost the same for every
     * latency. */
    uint32_t l1 = chase("gtx480", "", "ld.global.u64", 8);
    assert_in_range(l1, CHAIN * 40, CHAIN * 40 + 24);
    assert_int_equal(chase("gtx480", "l1d.latency=36cycles", "ld.global.u64", 8), l1 + CHAIN);
    assert_int_equal(chase("gtx480", "l1d.latency=50cycles", "ld.global.u64", 8), l1 + 15 * CHAIN);
    /* With latency 0 the L1D is looked up in the cycle of the access itself. That is one cycle
     * earlier still if the unit takes an instruction in the cycle in which the collector dispatches
     * it. */
    uint32_t queued = chase("gtx480", "l1d.latency=1", "ld.global.u64", 8);
    assert_int_equal(queued, l1 - 34 * CHAIN);
    assert_int_equal(chase("gtx480", "l1d.latency=0", "ld.global.u64", 8), queued - CHAIN);
    assert_int_equal(chase("gtx480", "l1d.latency=0 lsu.enters_at_once=yes", "ld.global.u64", 8),
                     queued - 2 * CHAIN);
    /* Beyond the L1D, from L2: every load includes the ROP latency. */
    uint32_t l2 = chase("gtx480", "", "ld.global.cg.u64", 256);
    assert_in_range(l2, CHAIN * 143, CHAIN * 143 + 24);
    assert_int_equal(chase("gtx480", "partition.rop_latency=121cycles", "ld.global.cg.u64", 256),
                     l2 + CHAIN);
    assert_int_equal(chase("gtx480", "partition.rop_latency=200cycles", "ld.global.cg.u64", 256),
                     l2 + 80 * CHAIN);
    /* Without L2 every load goes to DRAM. The latency of its pipe counts in full, in SM cycles; its
     * ticks count at the DRAM clock. */
    uint32_t dram = chase("gtx480", NO_L2, "ld.global.cg.u64", 256);
    assert_true(dram > l2 + 90 * CHAIN);
    /* each load may differ by a tick, because the edges of the two clocks are aligned
     * differently */
    uint32_t longer =
        chase("gtx480", NO_L2 " partition.dram_latency=110cycles", "ld.global.cg.u64", 256);
    assert_in_range(longer, dram + 9 * CHAIN, dram + 11 * CHAIN);
    uint32_t slower = chase("gtx480", NO_L2 " dram.tCL=45", "ld.global.cg.u64", 256);
    assert_in_range(slower, dram + 24 * CHAIN, dram + 26 * CHAIN); /* 33 ticks are 25 SM cycles */
}

/* Cycles of two independent loads that both go to DRAM. */
static uint32_t two_loads(const char *sets) {
    Timed timed;
    timed_start(&timed, "gtx480", sets, "gto");
    uint64_t buffer = timed_buffer(&timed, NULL, 8192), out = timed_buffer(&timed, NULL, 1);
    timed_run(&timed,
              HEADER ".visible .entry two(.param .u64 buffer, .param .u64 out)\n{\n"
                     ".reg .b64 %p, %o;\n.reg .b32 %a, %b, %x, %y;\n"
                     "ld.param.u64 %p, [buffer];\nld.param.u64 %o, [out];\nmov.u32 %a, %clock;\n"
                     "ld.global.u32 %x, [%p];\nld.global.u32 %y, [%p+16384];\nadd.u32 %x, %x, %y;\n"
                     "mov.u32 %b, %clock;\nsub.u32 %b, %b, %a;\nadd.u32 %b, %b, %x;\n"
                     "st.global.u32 [%o], %b;\nret;\n}\n",
              1, 1, (uint64_t[]){buffer, out});
    uint32_t cycles = timed_word(&timed, out, 0);
    timed_stop(&timed);
    return cycles;
}

static void overlaps_loads_of_a_warp_unless_they_block(void **state) {
    (void)state;
    uint32_t together = two_loads(""), in_turn = two_loads("lsu.loads_block=yes");
    assert_in_range(in_turn, together + 250, together + 400); /* the latency of DRAM */
}

static void charges_shared_conflicts_their_degree(void **state) {
    (void)state;
    /* Every lane loads word lane x stride: with 32 banks, the degree of conflict equals the
     * stride. */
    uint32_t cycles[33] = {0};
    for (uint32_t stride = 1; stride <= 32; stride *= 2) {
        Timed timed;
        timed_start(&timed, "gtx480", "", "gto");
        uint64_t out = timed_buffer(&timed, NULL, 1);
        Text ptx = {0};
        text_printf(&ptx,
                    HEADER
                    ".visible .entry conflict(.param .u64 out)\n{\n.shared .b32 s[1056];\n"
                    ".reg .b64 %%o, %%p;\n.reg .b32 %%a, %%b, %%t, %%v, %%pass;\n.reg .pred %%q;\n"
                    "ld.param.u64 %%o, [out];\nmov.u32 %%t, %%tid.x;\nmul.lo.u32 %%t, %%t, %u;\n"
                    "mul.wide.u32 %%p, %%t, 4;\nmov.u64 %%o, %%o;\nmov.u32 %%pass, 0;\n"
                    ".reg .b64 %%s;\nmov.u64 %%s, s;\nadd.u64 %%p, %%p, %%s;\n"
                    "again:\nmov.u32 %%a, %%clock;\nld.shared.u32 %%v, [%%p];\n"
                    "add.u32 %%v, %%v, 1;\nmov.u32 %%b, %%clock;\nsub.u32 %%b, %%b, %%a;\n"
                    "st.global.u32 [%%o], %%b;\nadd.u32 %%pass, %%pass, 1;\n"
                    "setp.lt.u32 %%q, %%pass, 2;\n@%%q bra again;\nret;\n}\n",
                    stride);
        timed_run(&timed, text_string(&ptx), 1, 32, (uint64_t[]){out});
        cycles[stride] = timed_word(&timed, out, 0);
        text_free(&ptx);
        timed_stop(&timed);
        assert_int_equal(cycles[stride], cycles[1] + stride - 1);
    }
}

/* Cycles of a chain of loads from the kernel's constants. They hit the first cache, or the second
 * if the first is too small, or no cache. A hit takes the latency of the first cache; a miss adds
 * that of the second. */
static uint64_t constant_cycles(const char *sets, uint32_t stride, uint32_t passes) {
    Timed timed;
    Text ptx = {0};
    timed_start(&timed, "qv100", sets, "gto");
    uint64_t out = timed_buffer(&timed, NULL, 1);
    text_add(&ptx, HEADER ".const .align 8 .b8 ring[4096];\n"
                          ".visible .entry constants(.param .u64 out)\n{\n"
                          ".reg .b32 %p, %pass, %a, %b;\n.reg .b64 %o, %at, %base;\n"
                          ".reg .pred %q;\nld.param.u64 %o, [out];\nmov.u32 %pass, 0;\n"
                          "mov.u64 %base, ring;\nagain:\nmov.u64 %at, %base;\nmov.u32 %p, 0;\n"
                          "mov.u32 %a, %clock;\n");
    for (int i = 0; i < CHAIN; i++) /* every word is 0 */
        text_printf(&ptx,
                    "ld.const.u32 %%p, [%%at+%u];\ncvt.u64.u32 %%at, %%p;\n"
                    "add.s64 %%at, %%at, %%base;\n",
                    stride * (uint32_t)i);
    text_printf(&ptx,
                "mov.u32 %%b, %%clock;\nsub.u32 %%b, %%b, %%a;\nadd.u32 %%b, %%b, %%p;\n"
                "st.global.u32 [%%o], %%b;\nadd.u32 %%pass, %%pass, 1;\n"
                "setp.lt.u32 %%q, %%pass, %u;\n@%%q bra again;\nret;\n}\n",
                passes);
    timed_run(&timed, text_string(&ptx), 1, 1, (uint64_t[]){out});
    uint32_t cycles = timed_word(&timed, out, 0);
    text_free(&ptx);
    timed_stop(&timed);
    return cycles;
}

#define CONSTANTS                                                                                  \
    "lsu.constants_hit=no lsu.second_constants=yes l1c.size=512B l1c.ways=2 l1c.line=64B "         \
    "l1c.latency=10 l15c.size=4KiB "

static void constants_come_from_the_cache_that_holds_them(void **state) {
    (void)state;
    uint64_t first = constant_cycles(CONSTANTS "l15c.latency=40", 4, 2);
    uint64_t second = constant_cycles(CONSTANTS "l15c.latency=40", 128, 2);
    uint64_t slower = constant_cycles(CONSTANTS "l15c.latency=50", 128, 2);
    uint64_t cold = constant_cycles(CONSTANTS "l15c.latency=40", 256, 1);
    uint64_t one_level = constant_cycles("lsu.constants_hit=no l1c.latency=10", 4, 2);
    assert_int_equal(first, one_level); /* a hit in the first cache does not depend on the second */
    assert_int_equal(slower - second, 10 * CHAIN);
    assert_true(second >= first + 25 * CHAIN && second <= first + 40 * CHAIN);
    assert_true(cold >= second + 100 * CHAIN); /* which also goes to L2 and DRAM */
}

/* ---- Asynchronous copies and barriers in memory ---- */

/* Runs a body of instructions with `warps` warps. Returns its cycles, and stores its counts in
 * `result`. */
static uint64_t body_cycles(const char *sets, const char *body, uint32_t warps, GpuResult *result) {
    Timed timed;
    Text ptx = {0};
    timed_start(&timed, "qv100", sets, "gto");
    uint64_t data = timed_buffer(&timed, NULL, 4096);
    text_printf(&ptx,
                HEADER ".visible .entry body(.param .u64 data)\n{\n"
                       ".shared .align 16 .b8 tile[4096];\n.reg .b32 %%r<8>, %%t;\n"
                       ".reg .b64 %%d<4>;\n.reg .pred %%p<4>;\nld.param.u64 %%d0, [data];\n"
                       "mov.u32 %%t, %%tid.x;\nmul.wide.u32 %%d1, %%t, 16;\n"
                       "add.s64 %%d1, %%d1, %%d0;\nmov.u32 %%r0, tile;\nshl.b32 %%r1, %%t, 4;\n"
                       "add.u32 %%r1, %%r1, %%r0;\n%s\nret;\n}\n",
                body);
    *result = timed_run(&timed, text_string(&ptx), 1, 32 * warps, (uint64_t[]){data});
    text_free(&ptx);
    timed_stop(&timed);
    return result->cycles;
}

#define ADDS8                                                                                      \
    "add.u32 %r2, %r2, 3;\nadd.u32 %r3, %r3, 5;\nadd.u32 %r2, %r2, %r3;\n"                         \
    "add.u32 %r3, %r3, %r2;\nadd.u32 %r2, %r2, 3;\nadd.u32 %r3, %r3, 5;\n"                         \
    "add.u32 %r2, %r2, %r3;\nadd.u32 %r3, %r3, %r2;\n"
#define ADDS64 ADDS8 ADDS8 ADDS8 ADDS8 ADDS8 ADDS8 ADDS8 ADDS8

/* Copied data passes no register: the warp continues, and only a wait for the copies stops it. With
 * a load and a store of the same data it stops at the store. */
static void copies_pass_the_registers_by(void **state) {
    (void)state;
    static const char copy[] = "cp.async.cg.shared.global [%r1], [%d1], 16;\n";
    static const char wait[] = "cp.async.wait_all;\n";
    static const char moved[] = "ld.global.cg.v4.u32 {%r4, %r5, %r6, %r7}, [%d1];\n"
                                "st.shared.v4.u32 [%r1], {%r4, %r5, %r6, %r7};\n";
    Text early = {0}, late = {0}, loads = {0};
    GpuResult adds, copied, held, through;
    text_printf(&early, "%s%s%s", copy, ADDS64, wait);
    text_printf(&late, "%s%s%s", copy, wait, ADDS64);
    text_printf(&loads, "%s%s", moved, ADDS64);
    uint64_t alone = body_cycles("", ADDS64, 1, &adds);
    uint64_t hidden = body_cycles("", text_string(&early), 1, &copied);
    uint64_t waited = body_cycles("", text_string(&late), 1, &held);
    uint64_t loaded = body_cycles("", text_string(&loads), 1, &through);
    enum { LATENCY = 300 /* minimum for DRAM; the additions take longer */ };
    assert_true(hidden < alone + 50); /* the additions continue during the copy */
    assert_true(waited > alone + LATENCY);
    assert_true(loaded > alone + LATENCY);
    /* The store reads a loaded value again; a copy reads only addresses as operands. */
    assert_true(through.counters.register_reads > copied.counters.register_reads);
    assert_int_equal(copied.counters.register_reads, held.counters.register_reads);
    text_free(&early);
    text_free(&late);
    text_free(&loads);
}

/* Warp 4, in the same sub-core as warp 0, adds and arrives; warp 0 waits for it with `wait`. */
static uint64_t wait_cycles(const char *sets, const char *wait, GpuResult *result) {
    Text body = {0};
    text_printf(&body,
                "setp.eq.u32 %%p0, %%t, 0;\n@%%p0 mbarrier.init.shared.b64 [%%r0], 32;\n"
                "bar.sync 0;\nsetp.lt.u32 %%p1, %%t, 128;\n@%%p1 bra waits;\n%s%s%s%s"
                "mbarrier.arrive.shared.b64 %%d2, [%%r0];\nbra done;\n"
                "waits:\nsetp.ge.u32 %%p2, %%t, 32;\n@%%p2 bra done;\nagain:\n%s"
                "@!%%p3 bra again;\ndone:\n",
                ADDS64, ADDS64, ADDS64, ADDS64, wait);
    uint64_t cycles = body_cycles(sets, text_string(&body), 5, result);
    text_free(&body);
    return cycles;
}

#define TEST_WAIT "mbarrier.test_wait.parity.shared.b64 %p3, [%r0], 0;\n"
#define TRY_WAIT  "mbarrier.try_wait.parity.shared.b64 %p3, [%r0], 0;\n"

static void a_warp_that_tries_to_wait_leaves_its_slots_to_others(void **state) {
    (void)state;
    GpuResult spins, tries, gives_up, limited;
    uint64_t spinning = wait_cycles("", TEST_WAIT, &spins);
    uint64_t trying = wait_cycles("", TRY_WAIT, &tries);
    assert_true(trying <= spinning);
    /* A single try, which returns when the phase is complete, and its branch. */
    wait_cycles("sm.try_wait=0", TRY_WAIT, &gives_up);
    assert_int_equal(gives_up.warp_instructions, spins.warp_instructions);
    assert_true(tries.warp_instructions < spins.warp_instructions - 10);
    /* With a limit of 300 cycles, from the machine or in nanoseconds from the instruction itself,
     * it tries again after that time. */
    wait_cycles("sm.try_wait=300", TRY_WAIT, &limited);
    assert_true(limited.warp_instructions > tries.warp_instructions);
    assert_true(limited.warp_instructions < spins.warp_instructions);
    uint64_t count = limited.warp_instructions;
    wait_cycles("clock.sm=1000MHz", "mbarrier.try_wait.parity.shared.b64 %p3, [%r0], 0, 300;\n",
                &limited);
    assert_int_equal(limited.warp_instructions, count);
}

/* ---- Throughput ---- */

/* Cycles of shared memory for one ldmatrix of `matrices` matrices, with rows `stride` bytes
 * apart. */
static uint64_t matrix_cycles(const char *matrices, const char *registers, int stride) {
    Timed timed;
    Text ptx = {0};
    timed_start(&timed, "qv100", "", "gto");
    text_printf(&ptx,
                HEADER ".visible .entry rows()\n{\n.shared .align 16 .b8 tile[8192];\n"
                       ".reg .b32 %%a, %%b, %%r<4>;\nmov.u32 %%a, %%tid.x;\n"
                       "mul.lo.u32 %%a, %%a, %d;\nmov.u32 %%b, tile;\nadd.u32 %%a, %%a, %%b;\n"
                       "ldmatrix.sync.aligned.m8n8.%s.shared.b16 {%s}, [%%a];\nret;\n}\n",
                stride, matrices, registers);
    GpuResult result = timed_run(&timed, text_string(&ptx), 1, 32, NULL);
    text_free(&ptx);
    timed_stop(&timed);
    return result.counters.shared_cycles;
}

/* Eight rows of 16 bytes fill the 32 banks once. A matrix takes one cycle if its rows lie in
 * different banks, and eight if they lie in the same banks. */
static void charges_ldmatrix_a_cycle_for_each_matrix_and_its_conflicts(void **state) {
    (void)state;
    static const struct {
        const char *matrices, *registers;
        uint32_t count;
    } rows[] = {{"x1", "%r0", 1}, {"x2", "%r0, %r1", 2}, {"x4", "%r0, %r1, %r2, %r3", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *matrices = rows[i].matrices, *registers = rows[i].registers;
        assert_int_equal(matrix_cycles(matrices, registers, 16), rows[i].count);
        assert_int_equal(matrix_cycles(matrices, registers, 16 + 128), rows[i].count);
        assert_int_equal(matrix_cycles(matrices, registers, 32), 2 * rows[i].count);
        assert_int_equal(matrix_cycles(matrices, registers, 128), 8 * rows[i].count);
    }
}

/* Cycles of 16 products of m16n8k8 in each warp of a CTA: one dependent chain, or eight chains of
 * two. */
static uint32_t product_cycles(const char *sets, bool is_chain, uint32_t warps) {
    Timed timed;
    Text ptx = {0};
    timed_start(&timed, "qv100", sets, "lrr");
    uint64_t out = timed_buffer(&timed, NULL, 1);
    text_add(&ptx, HEADER ".visible .entry products(.param .u64 out)\n{\n.reg .f32 %d<32>;\n"
                          ".reg .b32 %x, %y, %z, %a, %b;\n.reg .b64 %o;\n"
                          "ld.param.u64 %o, [out];\nmov.u32 %x, 0;\nmov.u32 %y, 0;\n"
                          "mov.u32 %z, 0;\nbar.sync 0;\nmov.u32 %a, %clock;\n");
    for (int i = 0; i < 16; i++) {
        int first = is_chain ? 0 : i % 8 * 4;
        text_printf(&ptx,
                    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%%d%d, %%d%d, %%d%d, %%d%d},"
                    " {%%x, %%y}, {%%z}, {%%d%d, %%d%d, %%d%d, %%d%d};\n",
                    first, first + 1, first + 2, first + 3, first, first + 1, first + 2, first + 3);
    }
    for (int i = 0; i < 8; i++)
        text_printf(&ptx, "mov.b32 %%x, %%d%d;\n", 4 * i);
    text_add(&ptx, "mov.u32 %b, %clock;\nsub.u32 %b, %b, %a;\nst.global.u32 [%o], %b;\nret;\n}\n");
    timed_run(&timed, text_string(&ptx), 1, 32 * warps, (uint64_t[]){out});
    uint32_t cycles = timed_word(&timed, out, 0);
    text_free(&ptx);
    timed_stop(&timed);
    return cycles;
}

/* 1,024 products at 128 per cycle take the pipeline eight cycles. Each sub-core has one pipeline,
 * unless sub-cores share one. Seven registers are read. At most two of them lie in one bank, which
 * costs no further cycle. */
static void products_take_their_tensor_pipeline_by_their_size(void **state) {
    (void)state;
    enum { MOVES = 8 * 6 + 8 }; /* sequential, after the products, with the clock reads */
    uint32_t chain = product_cycles("tensor.fp16=128 tensor.latency=12", true, 1);
    assert_in_range(chain, 16 * (12 + 8 + 5), 16 * (12 + 8 + 5) + MOVES);
    assert_int_equal(product_cycles("tensor.fp16=128 tensor.latency=13", true, 1), chain + 16);
    assert_int_equal(product_cycles("tensor.fp16=64 tensor.latency=12", true, 1), chain + 8 * 16);
    uint32_t one = product_cycles("tensor.fp16=128 tensor.latency=2", false, 1);
    assert_in_range(one, 16 * 8, 16 * 8 + 12 + MOVES);
    uint32_t four = product_cycles("tensor.fp16=128 tensor.latency=2", false, 4);
    assert_in_range(four, one, one + 16); /* one per sub-core */
    uint32_t shared =
        product_cycles("tensor.fp16=128 tensor.latency=2 units.tensor.shared_by=4", false, 4);
    assert_in_range(shared, 4 * 16 * 8 - 48, 4 * 16 * 8 + 12 + MOVES);
}

static void reaches_peak_ipc_with_an_ideal_front_end(void **state) {
    (void)state;
    /* Long stretches with one latency: where the latency changes, results wait for each other at
     * the result bus. */
    enum { UNROLLED = 512, LOOPS = 8, REGISTERS = 32 };
    Text ptx = {0};
    text_add(&ptx,
             HEADER ".visible .entry fma()\n{\n.reg .f32 %f<64>;\n.reg .b32 %i;\n.reg .pred %q;\n"
                    "mov.u32 %i, 0;\nagain:\n");
    for (int i = 0; i < UNROLLED; i++) {
        int r = i % REGISTERS;
        text_printf(&ptx, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", r, r, r, r);
    }
    text_printf(&ptx, "add.u32 %%i, %%i, 1;\nsetp.lt.u32 %%q, %%i, %d;\n@%%q bra again;\nret;\n}\n",
                LOOPS);
    Timed timed;
    timed_start(&timed, "gtx480", "fetch.ideal=yes collector.ideal=yes", "lrr");
    GpuResult result = timed_run(&timed, text_string(&ptx), 15, 768, NULL);
    double peak = 15.0 * 2, ipc = (double)result.warp_instructions / (double)result.cycles;
    print_message("fma loop: %.2f of %.0f warp instructions a cycle\n", ipc, peak);
    assert_true(ipc >= 0.95 * peak);
    text_free(&ptx);
    timed_stop(&timed);
}

/* Independent products in 24 warps; stores their cycles and counts in *result. */
static void multiply(const char *sets, GpuResult *result) {
    enum { UNROLLED = 512, REGISTERS = 32 };
    Text ptx = {0};
    Timed timed;
    text_add(&ptx, HEADER ".visible .entry products()\n{\n.reg .f32 %f<64>;\n");
    for (int i = 0; i < UNROLLED; i++)
        text_printf(&ptx, "mul.rn.f32 %%f%d, %%f%d, %%f%d;\n", i % REGISTERS, i % REGISTERS,
                    i % REGISTERS);
    text_add(&ptx, "ret;\n}\n");
    timed_start(&timed, "gtx480", sets, "lrr");
    *result = timed_run(&timed, text_string(&ptx), 1, 768, NULL);
    text_free(&ptx);
    timed_stop(&timed);
}

/* With one SP pipeline for two schedulers, half of the products go to SFU if they may. */
static void what_two_kinds_can_run_goes_to_the_second_while_the_first_is_full(void **state) {
    (void)state;
#define ONE_SP "fetch.ideal=yes collector.ideal=yes units.sp.count=1 units.sp.issue_slots=1 "
    GpuResult one, either;
    multiply(ONE_SP, &one);
    multiply(ONE_SP "ops.fp32_mul.unit=sp-or-sfu", &either);
    assert_int_equal(one.counters.sfu_instructions, 0);
    assert_int_equal(either.counters.sp_instructions + either.counters.sfu_instructions,
                     one.counters.sp_instructions);
    assert_in_range(either.counters.sfu_instructions, one.counters.sp_instructions * 2 / 5,
                    one.counters.sp_instructions / 2);
    assert_true(either.cycles * 10 < one.cycles * 6);
}

/* Reads `bytes` of new memory, four independent words per thread and turn. */
static const char stream_kernel[] = HEADER
    ".visible .entry stream(.param .u64 in, .param .u64 out, .param .u64 turns)\n{\n"
    ".reg .b64 %p, %o;\n.reg .b32 %t, %c, %n, %d, %k, %i, %v<4>, %s, %step;\n.reg .pred %q;\n"
    "ld.param.u64 %p, [in];\nld.param.u64 %o, [out];\nld.param.u32 %k, [turns];\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %d, %nctaid.x;\n"
    "mad.lo.u32 %t, %c, %n, %t;\nmul.lo.u32 %step, %n, %d;\n.reg .b64 %w, %stride;\n"
    "mul.wide.u32 %w, %t, 4;\nadd.u64 %p, %p, %w;\nmul.wide.u32 %stride, %step, 4;\n"
    "mov.u32 %i, 0;\nmov.u32 %s, 0;\n"
    "again:\n"
    "ld.global.u32 %v0, [%p];\nadd.u64 %p, %p, %stride;\n"
    "ld.global.u32 %v1, [%p];\nadd.u64 %p, %p, %stride;\n"
    "ld.global.u32 %v2, [%p];\nadd.u64 %p, %p, %stride;\n"
    "ld.global.u32 %v3, [%p];\nadd.u64 %p, %p, %stride;\n"
    "add.u32 %s, %s, %v0;\nadd.u32 %s, %s, %v1;\nadd.u32 %s, %s, %v2;\nadd.u32 %s, %s, %v3;\n"
    "add.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, %k;\n@%q bra again;\n"
    "setp.eq.u32 %q, %s, 12345;\n@%q st.global.u32 [%o], %s;\nret;\n}\n";

static GpuResult stream(const char *machine, const char *sets, uint32_t turns) {
    enum { CTAS = 90, THREADS = 256 };
    Timed timed;
    timed_start(&timed, machine, sets, "lrr");
    size_t words = (size_t)CTAS * THREADS * 4 * turns;
    uint64_t in = timed_buffer(&timed, NULL, words), out = timed_buffer(&timed, NULL, 1);
    GpuResult result =
        timed_run(&timed, stream_kernel, CTAS, THREADS, (uint64_t[]){in, out, turns});
    timed_stop(&timed);
    return result;
}

static void streams_at_the_rate_of_the_channels(void **state) {
    (void)state;
    GpuResult result = stream("gtx480", "", 24);
    /* A 32-byte read is one command of 2 ticks (docs/dram.md), on each of 6 channels. */
    double ticks = (double)result.cycles * 924 / 700;
    double usable = ticks / 2 * 6, used = (double)result.counters.dram_read_commands;
    print_message("stream: %.1f%% of the channels' read commands\n", 100 * used / usable);
    assert_true(used >= 0.90 * usable);
}

/* Cycles of each of two CTAs, on separate SMs, that read lines past the L1D. */
static void read_side_by_side(const char *sets, uint32_t cycles[2]) {
    Timed timed;
    timed_start(&timed, "gtx480", sets, "gto");
    uint64_t in = timed_buffer(&timed, NULL, 1 << 17), out = timed_buffer(&timed, NULL, 2);
    Text ptx = {0};
    text_add(&ptx, HEADER ".visible .entry reads(.param .u64 in, .param .u64 out)\n{\n"
                          ".reg .b64 %p, %o, %n;\n.reg .b32 %a, %b, %t, %c, %s, %v<16>;\n"
                          "ld.param.u64 %p, [in];\nld.param.u64 %o, [out];\n"
                          "mov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\n"
                          "mul.wide.u32 %n, %t, 128;\nadd.u64 %p, %p, %n;\n"
                          "mul.wide.u32 %n, %c, 4;\nadd.u64 %o, %o, %n;\n"
                          "mul.wide.u32 %n, %c, 66816;\nadd.u64 %p, %p, %n;\n"
                          "mov.u32 %a, %clock;\n");
    for (int i = 0; i < 16; i++)
        text_printf(&ptx, "ld.global.cg.u32 %%v%d, [%%p+%d];\n", i, i * 4096);
    text_add(&ptx, "mov.u32 %s, 0;\n");
    for (int i = 0; i < 16; i++)
        text_printf(&ptx, "add.u32 %%s, %%s, %%v%d;\n", i);
    text_add(&ptx, "mov.u32 %b, %clock;\nsub.u32 %b, %b, %a;\nadd.u32 %b, %b, %s;\n"
                   "st.global.u32 [%o], %b;\nret;\n}\n");
    timed_run(&timed, text_string(&ptx), 2, 32, (uint64_t[]){in, out});
    for (size_t i = 0; i < 2; i++)
        cycles[i] = timed_word(&timed, out, i);
    text_free(&ptx);
    timed_stop(&timed);
}

/* A port takes one packet per cycle, from its SMs in turn: two SMs that share a port take twice as
 * long, and equally long. */
static void sms_that_share_a_port_share_its_packets(void **state) {
    (void)state;
    enum { PACKETS = 16 * 32 };
    uint32_t apart[2], together[2];
    read_side_by_side("gpu.sms=2 oracle.perfect_l2=yes", apart);
    read_side_by_side("gpu.sms=2 oracle.perfect_l2=yes noc.sms_per_port=2", together);
    for (int i = 0; i < 2; i++) {
        assert_in_range(apart[i], PACKETS,
                        PACKETS * 3 / 2); /* some packets wait for a busy slice */
        assert_in_range(together[i], 2 * PACKETS, 2 * PACKETS * 3 / 2);
    }
    assert_in_range(together[0], together[1] - 20, together[1] + 20);
}

/* ---- Oracles and caches ---- */

static void gains_from_a_perfect_l1_and_l2(void **state) {
    (void)state;
    uint64_t real = stream("gtx480", "", 6).cycles;
    uint64_t perfect_l2 = stream("gtx480", "oracle.perfect_l2=yes", 6).cycles;
    uint64_t perfect_l1 = stream("gtx480", "oracle.perfect_l1=yes", 6).cycles;
    assert_true(perfect_l2 < real);
    assert_true(perfect_l1 < perfect_l2);
}

static void keeps_l2_between_kernels_unless_told_to_flush(void **state) {
    (void)state;
    static const char *const sets[] = {"", "l2.flush=kernel"};
    for (int i = 0; i < 2; i++) {
        Timed timed;
        timed_start(&timed, "gtx480", sets[i], "gto");
        uint64_t in = timed_buffer(&timed, NULL, 256 * 4 * 8), out = timed_buffer(&timed, NULL, 1);
        uint64_t parameters[] = {in, out, 1};
        uint64_t first = timed_run(&timed, stream_kernel, 8, 256, parameters).counters.dram_reads;
        uint64_t second = timed_run(&timed, stream_kernel, 8, 256, parameters).counters.dram_reads;
        assert_true(first >= 8 * 4 * 256 * 4 / 32);
        if (i == 0) assert_true(second < first / 10);
        else assert_true(second >= 8 * 4 * 256 * 4 / 32);
        timed_stop(&timed);
    }
}

/* The second launch's thread block goes to another SM. The first launch's SM still has more lines
 * of local memory to write back than its queue can hold. */
static void an_sm_without_thread_blocks_empties_its_l1d_too(void **state) {
    (void)state;
    static const char spills[] =
        HEADER ".visible .entry spills()\n{\n.local .align 4 .b8 depot[64];\n.reg .b64 %p;\n"
               ".reg .b32 %v;\nmov.u64 %p, depot;\nld.local.u32 %v, [%p];\nst.local.u32 [%p], %v;\n"
               "ld.local.u32 %v, [%p+32];\nst.local.u32 [%p+32], %v;\nret;\n}\n";
    Timed timed;
    timed_start(&timed, "gtx480", "l1d.flush=kernel", "lrr");
    for (int launch = 0; launch < 2; launch++) {
        GpuResult result = timed_run(&timed, spills, 1, 512, NULL);
        assert_int_equal(result.counters.l1d_write_backs, launch ? 32 : 0);
    }
    timed_stop(&timed);
}

/* A CTA reads the same words again and again. LRU suits this if they fit. */
static double l1d_miss_rate(const char *sets) {
    Timed timed;
    timed_start(&timed, "gtx480", sets, "lrr");
    enum { WORDS = 3 * 1024 }; /* 12 KiB */
    uint64_t in = timed_buffer(&timed, NULL, WORDS), out = timed_buffer(&timed, NULL, 1);
    /* Launches share no L1D contents, so the kernel itself repeats: each CTA reads 12 KiB from the
     * same place eight times. */
    Text ptx = {0};
    text_add(&ptx, HEADER
             ".visible .entry loop(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %p, %b, %w, %o;\n"
             ".reg .b32 %t, %i, %j, %v, %s;\n.reg .pred %q;\nld.param.u64 %b, [in];\n"
             "ld.param.u64 %o, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %w, %t, 4;\n"
             "add.u64 %b, %b, %w;\nmov.u32 %j, 0;\nmov.u32 %s, 0;\nouter:\nmov.b64 %p, %b;\n"
             "mov.u32 %i, 0;\ninner:\nld.global.u32 %v, [%p];\nadd.u32 %s, %s, %v;\n"
             "add.u64 %p, %p, 1024;\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, 12;\n@%q bra inner;\n"
             "bar.sync 0;\nadd.u32 %j, %j, 1;\nsetp.lt.u32 %q, %j, 8;\n@%q bra outer;\n"
             "setp.eq.u32 %q, %s, 77;\n@%q st.global.u32 [%o], %s;\nret;\n}\n");
    GpuResult result = timed_run(&timed, text_string(&ptx), 15, 256, (uint64_t[]){in, out});
    text_free(&ptx);
    timed_stop(&timed);
    return counters_ratio(&result.counters, RATIO_l1d_miss_rate);
}

static void misses_no_more_with_a_larger_l1d(void **state) {
    (void)state;
    double previous = 1.0;
    static const char *const sizes[] = {"l1d.size=4KiB", "l1d.size=8KiB", "l1d.size=16KiB",
                                        "l1d.size=32KiB", "l1d.size=64KiB"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double rate = l1d_miss_rate(sizes[i]);
        assert_true(rate <= previous + 1e-12);
        previous = rate;
    }
    assert_true(previous < 0.2); /* the largest size holds everything: only the first turn misses */
}

/* Random words in a large buffer. */
static double random_blp(const char *sets) {
    Timed timed;
    timed_start(&timed, "gtx480", sets, "lrr");
    enum { WORDS = 1 << 22, THREADS = 15 * 512 };
    uint32_t *at = malloc(THREADS * sizeof *at);
    uint64_t seed = 1;
    for (int i = 0; i < THREADS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        at[i] = (uint32_t)(seed >> 33) % WORDS;
    }
    uint64_t in = timed_buffer(&timed, NULL, WORDS), index = timed_buffer(&timed, at, THREADS);
    static const char ptx[] = HEADER
        ".visible .entry gather(.param .u64 in, .param .u64 index)\n{\n.reg .b64 %p, %x, %w;\n"
        ".reg .b32 %t, %c, %n, %i, %v;\nld.param.u64 %p, [in];\nld.param.u64 %x, [index];\n"
        "mov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\nmov.u32 %n, %ntid.x;\n"
        "mad.lo.u32 %t, %c, %n, %t;\nmul.wide.u32 %w, %t, 4;\nadd.u64 %x, %x, %w;\n"
        "ld.global.u32 %i, [%x];\nmul.wide.u32 %w, %i, 4;\nadd.u64 %p, %p, %w;\n"
        "ld.global.cg.u32 %v, [%p];\nst.global.u32 [%x], %v;\nret;\n}\n";
    GpuResult result = timed_run(&timed, ptx, 15, 512, (uint64_t[]){in, index});
    free(at);
    timed_stop(&timed);
    return counters_ratio(&result.counters, RATIO_BLP);
}

static void uses_more_banks_when_there_are_more(void **state) {
    (void)state;
    double eight = random_blp("dram.banks=8 map.bits=RRRRRRRRRRRRRBBCCCCbCCCCCCCC");
    double sixteen = random_blp("");
    print_message("BLP of a random stream: %.2f with 8 banks, %.2f with 16\n", eight, sixteen);
    assert_true(sixteen >= eight);
}

/* ---- Determinism ---- */

static void repeats_every_counter(void **state) {
    (void)state;
    GpuResult first = stream("owl", "", 2);
    void *elsewhere = malloc(12345); /* moves later allocations to other host addresses */
    GpuResult second = stream("owl", "", 2);
    free(elsewhere);
    assert_memory_equal(&first.counters, &second.counters, sizeof first.counters);
}

/* Sleeping units and clock jumps must not change any counter. */
static void counts_the_same_without_sleep(void **state) {
    (void)state;
    static Every machines, policies, orders;
    every_machine(&machines);
    every_scheduler(&policies);
    every_dram_scheduler(&orders);
    every_thin(&machines), every_thin(&policies);
    for (int m = 0; m < machines.count || m < policies.count; m++) {
        const char *machine = every_at(&machines, m), *policy = every_at(&policies, m);
        Counters counters[2];
        for (int awake = 0; awake < 2; awake++) {
            Timed timed;
            timed_start_awake(&timed, machine, every_at(&orders, m), policy, awake);
            enum { CTAS = 40, THREADS = 192, TURNS = 2 };
            uint64_t in = timed_buffer(&timed, NULL, (size_t)CTAS * THREADS * 4 * TURNS);
            uint64_t out = timed_buffer(&timed, NULL, 1);
            counters[awake] =
                timed_run(&timed, stream_kernel, CTAS, THREADS, (uint64_t[]){in, out, TURNS})
                    .counters;
            timed_stop(&timed);
        }
        for (int i = 0; i < COUNTER_COUNT; i++)
            if (counters_get(&counters[0], (CounterId)i) !=
                counters_get(&counters[1], (CounterId)i))
                fail_msg("%s under %s: %s is %lu with sleep, %lu without", machine, policy,
                         counter_rows[i].name,
                         (unsigned long)counters_get(&counters[0], (CounterId)i),
                         (unsigned long)counters_get(&counters[1], (CounterId)i));
    }
}

/* The launch ends in the cycle that reaches the limit, so it exceeds the limit by at most one
 * cycle's issue. */
static void ends_in_the_cycle_that_reaches_the_limit(void **state) {
    (void)state;
    static const uint64_t limits[] = {1, 7, 1000, 5000};
    static const char spin[] =
        HEADER ".visible .entry k()\n{\n.reg .b32 %v;\nagain:\nadd.u32 %v, %v, 1;\nbra again;\n}\n";
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        Timed timed;
        timed_start(&timed, "gtx480", "", "lrr");
        gpu_options(timed.gpu)->instruction_limit = limits[i];
        GpuImage image = {"k.ptx", spin, sizeof spin - 1};
        GpuModule *module = gpu_load(timed.gpu, &image, 1, timed.diag);
        assert_non_null(module);
        GpuLaunch launch = {.module = module, .grid = {60, 1, 1}, .block = {256, 1, 1}};
        GpuResult result;
        gpu_launch(timed.gpu, &launch, &result);
        const SmSchedulerConfig *schedulers = &timed.config->sm.scheduler;
        uint64_t cycle = timed.config->sms * schedulers->count * schedulers->issue_width;
        assert_int_equal(result.status, GPU_FAULT);
        assert_int_equal(result.fault_code, ISA_FAULT_LIMIT);
        assert_in_range(result.warp_instructions, limits[i], limits[i] + cycle - 1);
        assert_non_null(strstr(result.message, " before k.ptx:"));
        gpu_unload(module);
        timed_stop(&timed);
    }
}

/* Instructions of all launches count. The launch that reaches the limit ends in that cycle; later
 * launches stop too. */
static void stops_in_the_cycle_that_reaches_what_was_asked_for(void **state) {
    (void)state;
    static const char count[] = HEADER ".visible .entry k()\n{\n.reg .b32 %v;\n.reg .pred "
                                       "%p;\nmov.u32 %v, 0;\nagain:\nadd.u32 %v, %v, 1;\n"
                                       "setp.lt.u32 %p, %v, 10;\n@%p bra again;\nret;\n}\n";
    Timed timed;
    timed_start(&timed, "gtx480", "", "lrr");
    GpuImage image = {"k.ptx", count, sizeof count - 1};
    GpuModule *module = gpu_load(timed.gpu, &image, 1, timed.diag);
    assert_non_null(module);
    GpuLaunch launch = {.module = module, .grid = {60, 1, 1}, .block = {200, 1, 1}};
    GpuResult result;
    assert_int_equal(gpu_launch(timed.gpu, &launch, &result), GPU_OK);
    const uint64_t all = result.thread_instructions;
    const SmSchedulerConfig *schedulers = &timed.config->sm.scheduler;
    const uint64_t cycle = 32 * timed.config->sms * schedulers->count * schedulers->issue_width;
    gpu_options(timed.gpu)->stop_after = 2 * all + 5000;
    assert_int_equal(gpu_launch(timed.gpu, &launch, &result), GPU_OK); /* runs to its end */
    assert_int_equal(gpu_launch(timed.gpu, &launch, &result), GPU_STOPPED);
    assert_in_range(result.thread_instructions, 5000, 5000 + cycle - 1);
    assert_in_range(result.cycles, 1, 5000);
    assert_int_equal(gpu_launch(timed.gpu, &launch, &result), GPU_STOPPED);
    assert_in_range(result.thread_instructions, 1, cycle);
    launch.is_functional = true; /* functional runs do not count */
    assert_int_equal(gpu_launch(timed.gpu, &launch, &result), GPU_OK);
    gpu_unload(module);
    timed_stop(&timed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_in_the_cycle_that_reaches_what_was_asked_for),
        cmocka_unit_test(ends_in_the_cycle_that_reaches_the_limit),
        cmocka_unit_test(adds_up_at_every_level),
        cmocka_unit_test(overlaps_loads_of_a_warp_unless_they_block),
        cmocka_unit_test(charges_shared_conflicts_their_degree),
        cmocka_unit_test(constants_come_from_the_cache_that_holds_them),
        cmocka_unit_test(copies_pass_the_registers_by),
        cmocka_unit_test(a_warp_that_tries_to_wait_leaves_its_slots_to_others),
        cmocka_unit_test(charges_ldmatrix_a_cycle_for_each_matrix_and_its_conflicts),
        cmocka_unit_test(products_take_their_tensor_pipeline_by_their_size),
        cmocka_unit_test(reaches_peak_ipc_with_an_ideal_front_end),
        cmocka_unit_test(what_two_kinds_can_run_goes_to_the_second_while_the_first_is_full),
        cmocka_unit_test(streams_at_the_rate_of_the_channels),
        cmocka_unit_test(sms_that_share_a_port_share_its_packets),
        cmocka_unit_test(gains_from_a_perfect_l1_and_l2),
        cmocka_unit_test(keeps_l2_between_kernels_unless_told_to_flush),
        cmocka_unit_test(an_sm_without_thread_blocks_empties_its_l1d_too),
        cmocka_unit_test(misses_no_more_with_a_larger_l1d),
        cmocka_unit_test(uses_more_banks_when_there_are_more),
        cmocka_unit_test(repeats_every_counter),
        cmocka_unit_test(counts_the_same_without_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
