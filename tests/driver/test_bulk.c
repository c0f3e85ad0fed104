/* Bulk copies, transaction counts of mbarriers, and clusters of one thread block, in PTX or as
 * ptxas's machine code. TYTO_OPTIONS determine which, and whether the run is timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal((call), CUDA_SUCCESS)
#define COUNT(array)      (sizeof(array) / sizeof *(array))

enum { BYTES = 1 << 16, THREADS = 128, STAGES = 4, TILE = 1024, TILES = 32 };

static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".extern .shared .align 128 .b8 room[];\n";
/* %m: the mbarrier; %r: shared memory; %a and %b: input and output; pp: true in the first
 * thread. */
static const char begin[] =
    ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {\n"
    "  .reg .b64 %a, %b, %l; .reg .b32 %m, %r, %n, %t, %x, %y, %z; .reg .pred pp, pq;\n"
    "  .shared .align 8 .b64 barriers[8];\n"
    "  ld.param.u64 %a, [p]; ld.param.u64 %b, [q]; ld.param.u32 %n, [n];\n"
    "  mov.u32 %m, barriers; mov.u32 %r, room; mov.u32 %t, %tid.x; setp.eq.u32 pp, %t, 0;\n"
    "  @pp mbarrier.init.shared::cta.b64 [%m], 1;\n"
    "  fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;\n";
static const char wait_for_phase[] = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%m], 0;\n"
                                     "  @!pq bra WAIT;\n";

static CUcontext context;
static CUdeviceptr from, to;
static unsigned char given[BYTES], expected[BYTES], found[BYTES];

static int start(void **state) {
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        given[i] = (unsigned char)(i * 2654435761u >> 13);
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuMemAlloc(&from, BYTES) ||
           cuMemAlloc(&to, BYTES) || cuMemcpyHtoD(from, given, BYTES);
}

static int end(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

/* Loads and runs a kernel with that body. Returns the result of cuCtxSynchronize. */
static CUresult run(const char *body, unsigned ctas, uint32_t n) {
    static char ptx[1 << 16];
    CUmodule module;
    CUfunction kernel;
    void *arguments[] = {&from, &to, &n};
    snprintf(ptx, sizeof ptx, "%s%s%s  ret;\n}\n", head, begin, body);
    assert_cuda(cuModuleLoadData(&module, ptx));
    assert_cuda(cuModuleGetFunction(&kernel, module, "k"));
    CUresult status =
        cuLaunchKernel(kernel, ctas, 1, 1, THREADS, 1, 1, 1 << 15, NULL, arguments, NULL);
    if (status == CUDA_SUCCESS) status = cuCtxSynchronize();
    cuModuleUnload(module);
    return status;
}

static void assert_written(void) {
    assert_cuda(cuMemcpyDtoH(found, to, BYTES));
    assert_memory_equal(found, expected, BYTES);
}

/* ---- Copies ---- */

/* Copies there and back, with sizes and addresses that are not multiples of a sector. */
static void bytes_go_through_shared_memory(void **state) {
    (void)state;
    static const uint32_t sizes[] = {16, 48, 112, 4096, 8208};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char body[2048];
        const uint32_t at = 16 * (uint32_t)i;
        snprintf(body, sizeof body,
                 "  @!pp bra WAIT;\n"
                 "  mbarrier.arrive.expect_tx.shared::cta.b64 %%l, [%%m], %%n;\n"
                 "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%%r+32], [%%a+%u], %%n, [%%m];\n%s"
                 "  @!pp bra DONE;\n"
                 "  cp.async.bulk.global.shared::cta.bulk_group [%%b+%u], [%%r+32], %%n;\n"
                 "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nDONE:\n",
                 at, wait_for_phase, 2 * at);
        memset(expected, 0, BYTES);
        memcpy(expected + (size_t)2 * at, given + at, sizes[i]);
        assert_cuda(cuMemsetD8(to, 0, BYTES));
        assert_cuda(run(body, 1, sizes[i]));
        assert_written();
    }
}

/* Every lane of a warp starts its own copy. */
static void each_lane_copies(void **state) {
    (void)state;
    static const char body[] =
        "  setp.ge.u32 pq, %t, 32; @pq bra WAIT;\n"
        "  mul.lo.u32 %x, %n, 32; @pp mbarrier.arrive.expect_tx.shared::cta.b64 %l, [%m], %x;\n"
        "  bar.warp.sync 0xffffffff;\n"
        "  mul.lo.u32 %x, %t, %n; mul.wide.u32 %l, %t, 64; add.u64 %a, %a, %l; add.u32 %y, %r, "
        "%x;\n"
        "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%y], [%a], %n, "
        "[%m];\n"
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%m], 0; @!pq bra WAIT;\n"
        "  setp.ge.u32 pq, %t, 32; @pq bra DONE;\n"
        "  mul.lo.u32 %x, %t, %n; cvt.u64.u32 %l, %x; add.u64 %b, %b, %l; add.u32 %y, %r, %x;\n"
        "  cp.async.bulk.global.shared::cta.bulk_group [%b], [%y], %n;\n"
        "  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\nDONE:\n";
    memset(expected, 0, BYTES);
    for (size_t lane = 0; lane < 32; lane++)
        memcpy(expected + lane * 48, given + lane * 64, 48);
    assert_cuda(cuMemsetD8(to, 0, BYTES));
    assert_cuda(run(body, 1, 48));
    assert_written();
}

static void shared_memory_is_copied_within_the_block(void **state) {
    (void)state;
    static const char body[] =
        "  shl.b32 %x, %t, 2; add.u32 %y, %r, %x; st.shared.u32 [%y], %t;\n"
        "  fence.proxy.async.shared::cta; bar.sync 0; @!pp bra WAIT;\n"
        "  mbarrier.arrive.expect_tx.shared::cta.b64 %l, [%m], 512;\n"
        "  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
        " [%r+1024], [%r], 512, [%m];\n"
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%m], 0; @!pq bra WAIT;\n"
        "  ld.shared.u32 %z, [%y+1024]; cvt.u64.u32 %l, %x; add.u64 %b, %b, %l;\n"
        "  st.global.u32 [%b], %z;\n";
    memset(expected, 0, BYTES);
    for (uint32_t i = 0; i < THREADS; i++)
        memcpy(expected + 4 * i, &i, 4);
    assert_cuda(cuMemsetD8(to, 0, BYTES));
    assert_cuda(run(body, 1, 0));
    assert_written();
}

/* A warp fetches tiles into a ring; the other warps sum them and release them. Each of STAGES
 * places has one mbarrier for "full" and one for "empty". */
static void a_ring_of_tiles_is_filled_and_emptied(void **state) {
    (void)state;
    static const char body[] =
        "  @!pp bra MADE;\n"
        "  mov.u32 %x, 0;\n"
        "INIT: shl.b32 %y, %x, 3; add.u32 %y, %y, %m; mbarrier.init.shared::cta.b64 [%y], 1;\n"
        "  mbarrier.init.shared::cta.b64 [%y+32], 96; add.u32 %x, %x, 1;\n"
        "  setp.lt.u32 pq, %x, 4; @pq bra INIT;\n"
        "MADE: bar.sync 0;\n"
        "  mov.u32 %x, 0; cvt.u64.u32 %l, %t; setp.ge.u32 pq, %t, 32; @pq bra CONSUME;\n"
        "  @!pp bra DONE;\n"
        "PRODUCE: and.b32 %y, %x, 3; shl.b32 %z, %y, 3; add.u32 %z, %z, %m; shr.u32 %n, %x, 2;\n"
        "  add.u32 %n, %n, 1; and.b32 %n, %n, 1;\n"
        "EMPTY: mbarrier.try_wait.parity.shared::cta.b64 pq, [%z+32], %n; @!pq bra EMPTY;\n"
        "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%z], 1024;\n"
        "  shl.b32 %y, %y, 10; add.u32 %y, %y, %r;\n"
        "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%y], [%a], 1024, [%z];\n"
        "  add.u64 %a, %a, 1024; add.u32 %x, %x, 1; setp.lt.u32 pq, %x, 32; @pq bra PRODUCE;\n"
        "  bra DONE;\n"
        "CONSUME: sub.u32 %t, %t, 32; shl.b32 %t, %t, 2; cvt.u64.u32 %l, %t; add.u64 %b, %b, %l;\n"
        "  mov.u32 %r, room; add.u32 %r, %r, %t; mov.b64 %l, 0;\n"
        "NEXT: and.b32 %y, %x, 3; shl.b32 %z, %y, 3; add.u32 %z, %z, %m; shr.u32 %n, %x, 2;\n"
        "  and.b32 %n, %n, 1;\n"
        "FULL: mbarrier.try_wait.parity.shared::cta.b64 pq, [%z], %n; @!pq bra FULL;\n"
        "  shl.b32 %y, %y, 10; add.u32 %y, %y, %r; ld.shared.u32 %n, [%y];\n"
        "  cvt.u64.u32 %a, %n; add.u64 %l, %l, %a; mbarrier.arrive.shared::cta.b64 _, [%z+32];\n"
        "  add.u32 %x, %x, 1; setp.lt.u32 pq, %x, 32; @pq bra NEXT;\n"
        "  cvt.u32.u64 %n, %l; st.global.u32 [%b], %n;\nDONE:\n";
    memset(expected, 0, BYTES);
    for (size_t i = 0; i < 96; i++) {
        uint32_t sum = 0, word;
        for (size_t tile = 0; tile < TILES; tile++) {
            memcpy(&word, given + tile * TILE + 4 * i, 4);
            sum += word;
        }
        memcpy(expected + 4 * i, &sum, 4);
    }
    assert_cuda(cuMemsetD8(to, 0, BYTES));
    assert_cuda(run(body, 1, 0));
    assert_written();
}

/* ---- Reductions ---- */

typedef uint64_t Combine(uint64_t a, uint64_t b);
#define COMBINE(name, type, result)                                                                \
    static uint64_t name(uint64_t x, uint64_t y) {                                                 \
        type a, b, r;                                                                              \
        memcpy(&a, &x, sizeof a);                                                                  \
        memcpy(&b, &y, sizeof b);                                                                  \
        r = (type)(result);                                                                        \
        uint64_t bits = 0;                                                                         \
        memcpy(&bits, &r, sizeof r);                                                               \
        return bits;                                                                               \
    }
COMBINE(add32, uint32_t, a + b)
COMBINE(add64, uint64_t, a + b)
COMBINE(add_f64, double, a + b)
COMBINE(min_u32, uint32_t, a < b ? a : b)
COMBINE(max_u32, uint32_t, a > b ? a : b)
COMBINE(min_s32, int32_t, a < b ? a : b)
COMBINE(max_s64, int64_t, a > b ? a : b)
COMBINE(min_u64, uint64_t, a < b ? a : b)
COMBINE(and64, uint64_t, a &b)
COMBINE(or32, uint32_t, a | b)
COMBINE(xor64, uint64_t, a ^ b)
COMBINE(inc, uint32_t, a >= b ? 0 : a + 1)
COMBINE(dec, uint32_t, a == 0 || a > b ? b : a - 1)

/* a: the old value; b: the value in shared memory. */
static const struct {
    const char *operation;
    size_t size;
    Combine *combine;
} reductions[] = {{"add.u32", 4, add32},   {"add.s32", 4, add32},   {"add.u64", 8, add64},
                  {"add.f64", 8, add_f64}, {"min.u32", 4, min_u32}, {"max.u32", 4, max_u32},
                  {"min.s32", 4, min_s32}, {"max.s64", 8, max_s64}, {"min.u64", 8, min_u64},
                  {"and.b64", 8, and64},   {"or.b32", 4, or32},     {"xor.b64", 8, xor64},
                  {"inc.u32", 4, inc},     {"dec.u32", 4, dec}};

static void reductions_combine_with_what_is_there(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(reductions); i++) {
        char body[2048];
        const size_t size = reductions[i].size, bytes = 1040;
        snprintf(body, sizeof body,
                 "  @!pp bra WAIT;\n"
                 "  mbarrier.arrive.expect_tx.shared::cta.b64 %%l, [%%m], %%n;\n"
                 "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%%r], [%%a], %%n, [%%m];\n%s"
                 "  @!pp bra DONE;\n"
                 "  cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%b], [%%r], %%n;\n"
                 "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nDONE:\n",
                 wait_for_phase, reductions[i].operation);
        memset(expected, 0, BYTES);
        for (size_t at = 0; at < bytes; at += size) {
            uint64_t a = 0, b = 0;
            memcpy(&a, given + 4096 + at, size);
            memcpy(&b, given + at, size);
            const uint64_t result = reductions[i].combine(a, b);
            memcpy(expected + at, &result, size);
        }
        assert_cuda(cuMemsetD8(to, 0, BYTES));
        assert_cuda(cuMemcpyHtoD(to, given + 4096, bytes));
        assert_cuda(run(body, 1, (uint32_t)bytes));
        assert_cuda(cuMemcpyDtoH(found, to, BYTES));
        if (memcmp(found, expected, BYTES)) fail_msg("%s", reductions[i].operation);
    }
}

/* Reductions are atomic: those of several thread blocks to the same words are no race. */
static void thread_blocks_combine_into_the_same_words(void **state) {
    (void)state;
    static const char body[] =
        "  shl.b32 %x, %t, 2; add.u32 %y, %r, %x; st.shared.u32 [%y], %t;\n"
        "  fence.proxy.async.shared::cta; bar.sync 0; @!pp bra DONE;\n"
        "  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%b], [%r], 512;\n"
        "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nDONE:\n";
    const uint32_t ctas = 6;
    memset(expected, 0, BYTES);
    for (uint32_t i = 0; i < THREADS; i++)
        memcpy(expected + 4 * i, &(uint32_t){ctas * i}, 4);
    assert_cuda(cuMemsetD8(to, 0, BYTES));
    assert_cuda(run(body, ctas, 0));
    assert_written();
}

/* The same in shared memory, with an mbarrier. */
static void reductions_combine_with_shared_memory(void **state) {
    (void)state;
    static const char body[] =
        "  shl.b32 %x, %t, 2; add.u32 %y, %r, %x; st.shared.u32 [%y], %t;\n"
        "  mad.lo.u32 %z, %t, 100, 7; st.shared.u32 [%y+1024], %z;\n"
        "  fence.proxy.async.shared::cta; bar.sync 0; @!pp bra WAIT;\n"
        "  mbarrier.arrive.expect_tx.shared::cta.b64 %l, [%m], 1024;\n"
        "  cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32"
        " [%r+1024], [%r], 512, [%m];\n"
        "  cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32"
        " [%r+1024], [%r], 512, [%m];\n"
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%m], 0; @!pq bra WAIT;\n"
        "  ld.shared.u32 %z, [%y+1024]; cvt.u64.u32 %l, %x; add.u64 %b, %b, %l;\n"
        "  st.global.u32 [%b], %z;\n";
    memset(expected, 0, BYTES);
    for (uint32_t i = 0; i < THREADS; i++)
        memcpy(expected + 4 * i, &(uint32_t){102 * i + 7}, 4);
    assert_cuda(cuMemsetD8(to, 0, BYTES));
    assert_cuda(run(body, 1, 0));
    assert_written();
}

/* ---- Transactions ---- */

/* The phase ends when all arrivals and transactions have happened, in any order. */
static void a_phase_waits_for_its_transactions(void **state) {
    (void)state;
    static const char body[] = "  @!pp bra DONE; mov.u32 %z, 0;\n"
#define NOTE                                                                                       \
    "  mbarrier.test_wait.parity.shared::cta.b64 pq, [%m], 0; selp.u32 %x, 1, 0, pq;\n"            \
    "  shl.b32 %z, %z, 1; or.b32 %z, %z, %x;\n"
        NOTE "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%m], 64;\n" NOTE
                               "  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%m], 64;\n" NOTE
                               "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], 80;\n" NOTE
                               "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%m], 48;\n" NOTE
                               "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%m], 32;\n" NOTE
                               "  st.global.u32 [%b], %z;\nDONE:\n";
    uint32_t seen;
    assert_cuda(run(body, 1, 0));
    assert_cuda(cuMemcpyDtoH(&seen, to, 4));
    assert_int_equal(seen, 1);
}

/* ---- A cluster of one thread block ---- */

static void a_thread_block_is_a_cluster_of_its_own(void **state) {
    (void)state;
    static const char body[] =
        "  griddepcontrol.wait; griddepcontrol.launch_dependents;\n"
        "  barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
        "  mapa.shared::cluster.u32 %x, %r, 0; @pp st.shared::cluster.u32 [%x+64], 77;\n"
        "  barrier.cluster.arrive; barrier.cluster.wait;\n"
        "  ld.shared::cta.u32 %z, [%r+64]; getctarank.shared::cluster.u32 %y, %x;\n"
        "  shl.b32 %y, %y, 8; or.b32 %z, %z, %y; mov.u32 %y, %cluster_ctarank;\n"
        "  shl.b32 %y, %y, 12; or.b32 %z, %z, %y; mov.u32 %y, %cluster_nctarank;\n"
        "  shl.b32 %y, %y, 16; or.b32 %z, %z, %y; mov.u32 %y, %nclusterid.x;\n"
        "  shl.b32 %y, %y, 20; or.b32 %z, %z, %y; mov.u32 %y, %clusterid.x;\n"
        "  shl.b32 %y, %y, 24; or.b32 %z, %z, %y; mov.u32 %y, %ctaid.x;\n"
        "  mul.wide.u32 %l, %y, 4; add.u64 %b, %b, %l; @pp st.global.u32 [%b], %z;\n";
    uint32_t seen[3];
    assert_cuda(run(body, 3, 0));
    assert_cuda(cuMemcpyDtoH(seen, to, sizeof seen));
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(seen[i], 77 | 1 << 16 | 3 << 20 | i << 24);
}

/* ---- Mistakes ---- */

#define LOAD "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
static const struct {
    const char *body, *said;
} mistakes[] = {
    {"@pp " LOAD "[%r], [%a+8], 16, [%m];", "must be multiples of 16"},
    {"@pp " LOAD "[%r], [%a], 24, [%m];", "must be multiples of 16"},
    {"@pp " LOAD "[%r], [%a], 16, [%m+4];", "the mbarrier of a bulk copy cannot be at"},
    {"mov.b64 %a, 4096; @pp " LOAD "[%r], [%a], 16, [%m];", "invalid access of 16 bytes at global"},
    {"add.u32 %r, %r, 0x7ff0; @pp " LOAD "[%r], [%a], 4096, [%m];",
     "invalid access of 16 bytes at shared"},
    {"@pp mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], 512;\n"
     "W: mbarrier.try_wait.parity.shared::cta.b64 pq, [%m], 0; @!pq bra W;",
     "whose phase waits for 0 arrivals and 512 bytes of copies"},
};

static void a_mistake_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        char body[1024], said[4096];
        snprintf(body, sizeof body,
                 "%s\n  bar.sync 0; ld.shared.u32 %%z, [%%r]; st.global.u32 [%%b], %%z;\n",
                 mistakes[i].body);
        FILE *file = tmpfile();
        fflush(stderr);
        const int saved = dup(STDERR_FILENO);
        dup2(fileno(file), STDERR_FILENO);
        const CUresult status = run(body, 1, 16);
        fflush(stderr);
        dup2(saved, STDERR_FILENO);
        close(saved);
        rewind(file);
        said[fread(said, 1, sizeof said - 1, file)] = '\0';
        fclose(file);
        if (status == CUDA_SUCCESS || !strstr(said, mistakes[i].said))
            fail_msg("%s: %d, %s", mistakes[i].body, (int)status, said);
        /* a device error makes the context unusable */
        cuCtxDestroy(context);
        assert_int_equal(start(NULL), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_through_shared_memory),
        cmocka_unit_test(each_lane_copies),
        cmocka_unit_test(shared_memory_is_copied_within_the_block),
        cmocka_unit_test(a_ring_of_tiles_is_filled_and_emptied),
        cmocka_unit_test(reductions_combine_with_what_is_there),
        cmocka_unit_test(thread_blocks_combine_into_the_same_words),
        cmocka_unit_test(reductions_combine_with_shared_memory),
        cmocka_unit_test(a_phase_waits_for_its_transactions),
        cmocka_unit_test(a_thread_block_is_a_cluster_of_its_own),
        cmocka_unit_test(a_mistake_is_told),
    };
    return cmocka_run_group_tests(tests, start, end);
}
