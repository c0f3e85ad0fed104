/* Clusters of several thread blocks: their shape, their barrier, distributed shared memory, copies
 * to several thread blocks, and stores and arrivals that complete in other blocks. In PTX or as
 * ptxas's machine code: TYTO_OPTIONS determine which, and whether the run is timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal((call), CUDA_SUCCESS)
#define COUNT(array)      (sizeof(array) / sizeof *(array))

enum { THREADS = 64, MOST_CTAS = 64, WORDS = MOST_CTAS * THREADS * 4 };

/* %out: the thread's output, 4 words; %s: the CTA's shared memory, 64 words; %m: two mbarriers;
 * %rank, %ranks, %next: the CTA's rank, the number of ranks, and the next rank; %t: the thread. */
static const char head[] =
    ".version 8.1\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 to) %s {\n"
    "  .reg .b64 %%out, %%in, %%l<4>; .reg .b32 %%s, %%m, %%rank, %%ranks, %%next, %%t, %%r<9>;\n"
    "  .reg .b16 %%h; .reg .pred pp, pq;\n"
    "  .shared .align 128 .b32 words[64]; .shared .align 8 .b64 barriers[2];\n"
    "  ld.param.u64 %%in, [in]; ld.param.u64 %%out, [to];\n"
    "  mov.u32 %%s, words; mov.u32 %%m, barriers; mov.u32 %%t, %%tid.x; setp.eq.u32 pp, %%t, 0;\n"
    "  mov.u32 %%rank, %%cluster_ctarank; mov.u32 %%ranks, %%cluster_nctarank;\n"
    "  add.u32 %%next, %%rank, 1; rem.u32 %%next, %%next, %%ranks;\n"
    "  mov.u32 %%r0, %%ctaid.x; mov.u32 %%r1, %%ctaid.y; mov.u32 %%r2, %%nctaid.x;\n"
    "  mad.lo.u32 %%r0, %%r1, %%r2, %%r0; mov.u32 %%r1, %%ctaid.z; mov.u32 %%r3, %%nctaid.y;\n"
    "  mul.lo.u32 %%r2, %%r2, %%r3; mad.lo.u32 %%r0, %%r1, %%r2, %%r0;\n"
    "  mad.lo.u32 %%r0, %%r0, 64, %%t; mul.wide.u32 %%l0, %%r0, 16; add.u64 %%out, %%out, %%l0;\n"
    "  mad.lo.u32 %%r8, %%t, 4, %%s;\n";
#define SYNC "  barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"

static CUcontext context;
static CUdeviceptr from, to;
static uint32_t given[WORDS], expected[WORDS], found[WORDS];

typedef struct Shape {
    unsigned grid[3], cluster[3];
} Shape;
static const Shape shapes[] = {{{6, 1, 1}, {2, 1, 1}},
                               {{4, 4, 1}, {2, 2, 1}},
                               {{2, 4, 4}, {1, 2, 4}},
                               {{4, 1, 2}, {4, 1, 2}},
                               {{3, 1, 1}, {1, 1, 1}}};

static int start(void **state) {
    (void)state;
    for (size_t i = 0; i < WORDS; i++)
        given[i] = (uint32_t)(i * 2654435761u >> 7);
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) ||
        cuMemAlloc(&to, sizeof found + sizeof given))
        return 1;
    from = to + sizeof found;
    return cuMemcpyHtoD(from, given, sizeof given) != CUDA_SUCCESS;
}

static int end(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

/* Launches the kernel of a module. Without `large`, only cluster sizes that all devices support are
 * allowed. */
static CUresult launch(const char *directives, const char *body, const Shape *shape, bool large) {
    static char ptx[1 << 16];
    CUmodule module;
    CUfunction kernel;
    void *arguments[] = {&from, &to};
    CUlaunchAttribute attribute = {
        .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        .value.clusterDim = {shape->cluster[0], shape->cluster[1], shape->cluster[2]}};
    const unsigned *grid = shape->grid;
    CUlaunchConfig config = {grid[0], grid[1], grid[2], THREADS,    1,
                             1,       0,       NULL,    &attribute, !*directives};
    const int used = snprintf(ptx, sizeof ptx, head, directives);
    snprintf(ptx + used, sizeof ptx - (size_t)used, "%s  ret;\n}\n", body);
    assert_cuda(cuMemsetD32(to, 0, WORDS));
    assert_cuda(cuModuleLoadData(&module, ptx));
    assert_cuda(cuModuleGetFunction(&kernel, module, "k"));
    if (large)
        assert_cuda(
            cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    CUresult status = cuLaunchKernelEx(&config, kernel, arguments, NULL);
    if (status == CUDA_SUCCESS) status = cuCtxSynchronize();
    cuModuleUnload(module);
    return status;
}

static void assert_written(void) {
    assert_cuda(cuMemcpyDtoH(found, to, sizeof found));
    for (size_t i = 0; i < WORDS; i++)
        if (found[i] != expected[i]) fail_msg("word %zu is %#x, not %#x", i, found[i], expected[i]);
}

/* ---- Expected output ---- */

typedef struct Cta {
    unsigned index, rank, ranks, cluster; /* index: linear; cluster: its number */
} Cta;

static Cta cta_of(const Shape *shape, unsigned x, unsigned y, unsigned z) {
    const unsigned *g = shape->grid, *c = shape->cluster;
    return (Cta){.index = (z * g[1] + y) * g[0] + x,
                 .rank = (z % c[2] * c[1] + y % c[1]) * c[0] + x % c[0],
                 .ranks = c[0] * c[1] * c[2],
                 .cluster = (z / c[2] * (g[1] / c[1]) + y / c[1]) * (g[0] / c[0]) + x / c[0]};
}

/* Sets the four words of a thread. */
typedef void Expect(const Cta *cta, unsigned thread, uint32_t *words);
static void expect(const Shape *shape, Expect *of) {
    memset(expected, 0, sizeof expected);
    for (unsigned z = 0; z < shape->grid[2]; z++)
        for (unsigned y = 0; y < shape->grid[1]; y++)
            for (unsigned x = 0; x < shape->grid[0]; x++)
                for (unsigned t = 0; t < THREADS; t++) {
                    const Cta cta = cta_of(shape, x, y, z);
                    of(&cta, t, &expected[(cta.index * THREADS + t) * 4]);
                }
}

static void run_in_all_shapes(const char *body, Expect *of) {
    for (size_t i = 0; i < COUNT(shapes); i++) {
        expect(&shapes[i], of);
        assert_cuda(launch("", body, &shapes[i], false));
        assert_written();
    }
}

static unsigned next_of(const Cta *cta) { return (cta->rank + 1) % cta->ranks; }
static unsigned last_of(const Cta *cta) { return (cta->rank + cta->ranks - 1) % cta->ranks; }

/* ---- Shape ---- */

static void number(const Cta *cta, unsigned t, uint32_t *words) {
    (void)t;
    words[0] = cta->rank;
    words[1] = cta->ranks;
    words[2] = cta->cluster;
    words[3] = cta->rank;
}

static void has_several(const Cta *cta, unsigned t, uint32_t *words) {
    (void)t;
    words[0] = cta->ranks > 1;
    words[1] = cta->ranks == 1;
    words[2] = words[3] = 0;
}

static void each_knows_whether_it_is_in_a_cluster(void **state) {
    (void)state;
    run_in_all_shapes("  mov.pred pp, %is_explicit_cluster; selp.u32 %r1, 1, 0, pp;\n"
                      "  selp.u32 %r2, 0, 1, pp; mov.u64 %l1, %current_graph_exec;\n"
                      "  mov.b64 {%r3, %r4}, %l1;\n"
                      "  st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};\n",
                      has_several);
}

static void each_knows_its_place(void **state) {
    (void)state;
    run_in_all_shapes(
        "  mov.u32 %r1, %clusterid.z; mov.u32 %r2, %nclusterid.y; mov.u32 %r3, %clusterid.y;\n"
        "  mad.lo.u32 %r1, %r1, %r2, %r3; mov.u32 %r2, %nclusterid.x; mov.u32 %r3, %clusterid.x;\n"
        "  mad.lo.u32 %r1, %r1, %r2, %r3;\n"
        "  mov.u32 %r2, %cluster_ctaid.z; mov.u32 %r3, %cluster_nctaid.y;\n"
        "  mov.u32 %r4, %cluster_ctaid.y; mad.lo.u32 %r2, %r2, %r3, %r4;\n"
        "  mov.u32 %r3, %cluster_nctaid.x; mov.u32 %r4, %cluster_ctaid.x;\n"
        "  mad.lo.u32 %r2, %r2, %r3, %r4;\n"
        "  st.global.v4.u32 [%out], {%rank, %ranks, %r1, %r2};\n",
        number);
}

/* ---- Distributed shared memory ---- */

static void exchanged(const Cta *cta, unsigned t, uint32_t *words) {
    words[0] = next_of(cta) * 1000 + t;              /* loaded from the next rank */
    words[1] = last_of(cta) * 100 + t;               /* stored by the previous rank */
    words[2] = cta->rank ? 0 : cta->ranks * THREADS; /* added to by all, at rank 0 */
    words[3] = next_of(cta);                         /* rank of an address in the next CTA */
}

static void memory_is_shared_within_a_cluster(void **state) {
    (void)state;
    run_in_all_shapes(
        "  mad.lo.u32 %r1, %rank, 1000, %t; st.shared.u32 [%r8], %r1;\n" SYNC
        "  mapa.shared::cluster.u32 %r2, %r8, %next; ld.shared::cluster.u32 %r3, [%r2];\n"
        "  getctarank.shared::cluster.u32 %r7, %r2;\n" SYNC
        "  mad.lo.u32 %r1, %rank, 100, %t; st.shared::cluster.u32 [%r2], %r1;\n" SYNC
        "  ld.shared.u32 %r4, [%r8]; bar.sync 0; @pp st.shared.u32 [words+128], 0;\n" SYNC
        "  mapa.shared::cluster.u32 %r2, %s, 0; atom.shared::cluster.add.u32 %r5, [%r2+128], "
        "1;\n" SYNC
        "  ld.shared.u32 %r6, [words+128]; setp.ne.u32 pq, %rank, 0; @pq mov.u32 %r6, 0;\n"
        "  st.global.v4.u32 [%out], {%r3, %r4, %r6, %r7};\n",
        exchanged);
}

static void pointed(const Cta *cta, unsigned t, uint32_t *words) {
    words[0] = next_of(cta) * 1000 + t;
    words[1] = 1U | (uint32_t)(cta->ranks == 1) << 1; /* in cluster memory; in its own */
    words[2] = next_of(cta);
    words[3] = cta->rank * 1000 + t; /* through its own generic address */
}

/* A generic address that a CTA makes for its own memory works in other CTAs. */
static void pointers_are_good_in_the_whole_cluster(void **state) {
    (void)state;
    run_in_all_shapes(
        "  .shared .align 8 .b64 pointer;\n"
        "  mad.lo.u32 %r1, %rank, 1000, %t; cvta.shared.u64 %l1, words;\n"
        "  mul.wide.u32 %l2, %t, 4; add.u64 %l2, %l1, %l2; st.u32 [%l2], %r1;\n"
        "  @pp st.shared.u64 [pointer], %l1;\n" SYNC
        "  mov.u32 %r2, pointer; mapa.shared::cluster.u32 %r2, %r2, %next;\n"
        "  ld.shared::cluster.u64 %l3, [%r2]; mul.wide.u32 %l1, %t, 4; add.u64 %l3, %l3, %l1;\n"
        "  ld.u32 %r3, [%l3]; ld.u32 %r6, [%l2]; mov.u32 %r4, 0;\n"
        "  isspacep.shared::cluster pq, %l3; @pq add.u32 %r4, %r4, 1;\n"
        "  isspacep.shared::cta pq, %l3; @pq add.u32 %r4, %r4, 2;\n"
        "  getctarank.u64 %r5, %l3;\n"
        "  st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6};\n" SYNC,
        pointed);
}

/* ---- The barrier ---- */

static void counted(const Cta *cta, unsigned t, uint32_t *words) {
    /* in each of 8 rounds all see rank 0's counter after all have added to it */
    for (unsigned i = 1; i <= 8 && t < 32; i++)
        words[0] += i * cta->ranks * 32;
    words[1] = t < 32;
}

/* Separate arrivals and waits; one warp of each thread block has exited before. */
static void the_barrier_waits_for_all_that_live(void **state) {
    (void)state;
    run_in_all_shapes(
        "  @pp st.shared.u32 [words], 0;\n" SYNC "  setp.ge.u32 pq, %t, 32; @pq ret;\n"
        "  mapa.shared::cluster.u32 %r1, %s, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
        "AGAIN: atom.shared::cluster.add.u32 %r4, [%r1], 1;\n"
        "  barrier.cluster.arrive.release; add.u32 %r2, %r2, 1; barrier.cluster.wait.acquire;\n"
        "  ld.shared::cluster.u32 %r4, [%r1]; add.u32 %r3, %r3, %r4;\n"
        "  barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n"
        "  setp.lt.u32 pq, %r2, 8; @pq bra AGAIN;\n"
        "  mov.u32 %r4, 1; st.global.v2.u32 [%out], {%r3, %r4};\n",
        counted);
}

/* ---- Operations that complete in other thread blocks ---- */

#define WAIT(label, barrier)                                                                       \
    #label ": mbarrier.try_wait.parity.shared::cta.b64 pq, [%m+" #barrier "], 0; @!pq bra " #label \
           ";\n"
#define COMPLETES "mbarrier::complete_tx::bytes"

/* What another warp tells a lane that polls while the rest of its warp is at the barrier. */
static void told(const Cta *cta, unsigned t, uint32_t *words) {
    (void)cta, (void)t;
    words[0] = 1000;
}

static void a_lane_may_reach_the_barrier_after_the_rest_of_its_warp(void **state) {
    (void)state;
    run_in_all_shapes(
        "  mov.u32 %r0, 0; @pp st.shared.u32 [%m], %r0; bar.sync 0;\n"
        "  setp.eq.u32 pq, %t, 32; @pq bra TELL; @!pp bra MEET;\n"
        "POLL: atom.shared.or.b32 %r0, [%m], 0; setp.eq.u32 pq, %r0, 0; @pq bra POLL;\n"
        "  bra MEET;\n"
        "TELL: add.u32 %r0, %r0, 1; setp.lt.u32 pq, %r0, 1000; @pq bra TELL;\n"
        "  atom.shared.exch.b32 %r1, [%m], %r0;\n"
        "MEET: st.shared.u32 [%r8], %r0;\n"
        "  barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n"
        "  mapa.shared::cluster.u32 %r1, %s, %next; ld.shared::cluster.u32 %r2, [%r1];\n"
        "  st.global.u32 [%out], %r2;\n"
        "  barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n",
        told);
}

static void completed(const Cta *cta, unsigned t, uint32_t *words) {
    const unsigned from_cta = last_of(cta);
    words[0] = given[t];            /* multicast by rank 0 */
    words[1] = from_cta * 1000 + t; /* st.async by the previous rank */
    words[2] = 5 + cta->ranks * 3;  /* red.async by all */
    words[3] = 1;
}

static void copies_stores_and_arrivals_complete_elsewhere(void **state) {
    (void)state;
    run_in_all_shapes(
        "  .shared .align 16 .b32 stored[64]; .shared .align 16 .b32 sum[4];\n"
        "  @!pp bra READY;\n"
        "  mbarrier.init.shared::cta.b64 [%m], 1;\n"
        /* at each CTA's second barrier, one thread per warp of rank 0 arrives */
        "  mul.lo.u32 %r1, %ranks, 2; mbarrier.init.shared::cta.b64 [%m+8], %r1;\n"
        "  st.shared.u32 [sum], 5; mul.lo.u32 %r1, %ranks, 4; add.u32 %r1, %r1, 512;\n"
        "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], %r1;\n"
        "  fence.mbarrier_init.release.cluster;\nREADY:\n" SYNC
        "  setp.eq.u32 pq, %rank, 0; and.pred pq, pq, pp;\n"
        "  mov.u32 %r1, 1; shl.b32 %r1, %r1, %ranks; sub.u32 %r1, %r1, 1; cvt.u16.u32 %h, %r1;\n"
        "  @pq cp.async.bulk.shared::cluster.global." COMPLETES ".multicast::cluster"
        " [%s], [%in], 256, [%m], %h;\n"
        "  mov.u32 %r1, stored; mad.lo.u32 %r1, %t, 4, %r1;\n"
        "  mapa.shared::cluster.u32 %r1, %r1, %next; mapa.shared::cluster.u32 %r2, %m, %next;\n"
        "  mad.lo.u32 %r3, %rank, 1000, %t;\n"
        "  st.async.weak.shared::cluster." COMPLETES ".u32 [%r1], %r3, [%r2];\n"
        "  setp.lt.u32 pq, %t, %ranks; mov.u32 %r4, sum; mov.u32 %r3, 3;\n"
        "  @!pq mov.u32 %r5, 0; @pq mov.u32 %r5, %t;\n"
        "  mapa.shared::cluster.u32 %r1, %r4, %r5; mapa.shared::cluster.u32 %r2, %m, %r5;\n"
        "  @pq red.async.relaxed.cluster.shared::cluster." COMPLETES
        ".add.u32 [%r1], %r3, [%r2];\n" WAIT(
            FIRST,
            0) "  and.b32 %r6, %t, 31; setp.ne.u32 pq, %r6, 0; @pq bra SECOND; mov.u32 %r5, 0;\n"
               "ALL: mapa.shared::cluster.u32 %r2, %m, %r5;\n"
               "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2+8];\n"
               "  add.u32 %r5, %r5, 1; setp.lt.u32 pq, %r5, %ranks; @pq bra ALL;\n" WAIT(
                   SECOND,
                   8) "  ld.shared.u32 %r1, [%r8]; mov.u32 %r2, stored; mad.lo.u32 %r2, %t, 4, "
                      "%r2;\n"
                      "  ld.shared.u32 %r2, [%r2]; ld.shared.u32 %r3, [sum]; mov.u32 %r4, 1;\n"
                      "  st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};\n" SYNC,
        completed);
}

/* ---- Sizes and occupancy ---- */

static void sizes_are_those_of_the_device(void **state) {
    (void)state;
    static const char body[] = "  st.global.v4.u32 [%out], {%rank, %ranks, %t, %t};\n" SYNC;
    static const Shape eight = {{8, 1, 1}, {8, 1, 1}}, sixteen = {{16, 1, 1}, {16, 1, 1}};
    static const Shape large = {{34, 1, 1}, {17, 1, 1}}, odd = {{6, 1, 1}, {4, 1, 1}};
    static const Shape own = {{4, 1, 1}, {0, 0, 0}};
    assert_cuda(launch("", body, &eight, false));
    assert_int_equal(launch("", body, &sixteen, false), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_cuda(launch("", body, &sixteen, true));
    assert_int_equal(launch("", body, &large, true), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_int_equal(launch("", body, &odd, false), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_cuda(launch(".explicitcluster .reqnctapercluster 4, 1, 1", body, &own, false));
    assert_cuda(cuMemcpyDtoH(found, to, sizeof found));
    assert_int_equal(found[3 * THREADS * 4], 3);
    assert_int_equal(launch(".explicitcluster", body, &own, false),
                     CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_int_equal(launch(".maxclusterrank 4 .reqnctapercluster 8, 1, 1", body, &eight, false),
                     CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

/* ---- Mistakes ---- */

static const struct {
    const char *body, *said;
} mistakes[] = {
    {"  mov.u32 %r1, 7; mapa.shared::cluster.u32 %r2, %s, %r1; ld.shared::cluster.u32 %r3, "
     "[%r2];\n",
     "a cluster of 2 CTAs"},
    {"  setp.eq.u32 pq, %rank, 1; @pq ret; mapa.shared::cluster.u32 %r2, %s, 1; mov.u32 %r4, 0;\n"
     "AGAIN: add.u32 %r4, %r4, 1; st.global.u32 [%out], %r4; membar.gl; setp.lt.u32 pq, %r4, "
     "2000;\n"
     "  @pq bra AGAIN; ld.shared::cluster.u32 %r3, [%r2]; st.global.u32 [%out], %r3;\n",
     "the CTA of rank 1 of the cluster has exited"},
    {"  mapa.shared::cluster.u32 %r2, %s, %next; st.shared::cluster.u32 [%r2+4096], 1;\n",
     "bytes of shared memory in that CTA"},
    {"  mapa.shared::cluster.u32 %r2, %s, %next; ld.shared::cluster.u32 %r3, [%r2+2];\n"
     "  st.global.u32 [%out], %r3;\n",
     "misaligned read of 4 bytes at shared::cluster address"},
};

/* The clusters that fit on h100, in a functional run too: of its 8 GPCs 2 have 18 SMs and 6
 * have 16. A CTA has 1 KiB of shared memory besides its own, so that only one with 113.5 KiB fits
 * on an SM. */
static void occupancy_is_that_of_the_machine(void **state) {
    (void)state;
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k() { ret; }\n";
    enum { KIB = 1024, HALF = 113 * KIB };
    static const struct {
        unsigned size, shared_bytes;
        int clusters;
    } rows[] = {{1, 200 * KIB, 132}, {2, 200 * KIB, 66}, {4, 200 * KIB, 32}, {8, 200 * KIB, 16},
                {16, 200 * KIB, 8},  {4, HALF, 66},      {4, HALF + 512, 32}};
    CUmodule module;
    CUfunction kernel;
    int clusters, ctas;
    assert_cuda(cuModuleLoadData(&module, ptx));
    assert_cuda(cuModuleGetFunction(&kernel, module, "k"));
    assert_cuda(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    for (size_t i = 0; i < COUNT(rows); i++) {
        CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
        attribute.value.clusterDim.x = rows[i].size;
        attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
        const CUlaunchConfig config = {rows[i].size,         1,    1,          128, 1, 1,
                                       rows[i].shared_bytes, NULL, &attribute, 1};
        assert_cuda(cuOccupancyMaxActiveClusters(&clusters, kernel, &config));
        assert_int_equal(clusters, rows[i].clusters);
        assert_cuda(cuOccupancyMaxPotentialClusterSize(&ctas, kernel, &config));
        assert_int_equal(ctas, 16);
    }
    assert_cuda(cuModuleUnload(module));
}

/* A grid that is counted in clusters. Its launch gives the kernel's block, or one of one thread. */
static void blocks_are_clusters(void **state) {
    (void)state;
    static const char ptx[] =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 to) .blocksareclusters .reqntid 64, 1, 1\n"
        ".reqnctapercluster 2, 3, 1 {\n"
        "  .reg .b64 %to, %at; .reg .b32 %x, %y, %n, %c; ld.param.u64 %to, [to];\n"
        "  mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %n, %nctaid.x;\n"
        "  mad.lo.u32 %x, %y, %n, %x; mov.u32 %y, %tid.x; mad.lo.u32 %x, %x, 64, %y;\n"
        "  mul.wide.u32 %at, %x, 4; add.u64 %to, %to, %at; mov.u32 %c, %cluster_ctarank;\n"
        "  mad.lo.u32 %n, %n, 100, %c; mov.u32 %c, %nclusterid.x; mad.lo.u32 %n, %c, 1000, %n;\n"
        "  st.global.u32 [%to], %n; ret;\n}\n";
    CUmodule module;
    CUfunction kernel;
    void *arguments[] = {&to};
    int clusters[2];
    assert_cuda(cuModuleLoadData(&module, ptx));
    assert_cuda(cuModuleGetFunction(&kernel, module, "k"));
    for (unsigned block = 1; block <= 64; block += 63) {
        const CUlaunchConfig config = {3, 2, 1, block, 1, 1, 0, NULL, NULL, 0};
        assert_cuda(cuMemsetD32(to, 0, WORDS));
        assert_cuda(cuLaunchKernel(kernel, 3, 2, 1, block, 1, 1, 0, NULL, arguments, NULL));
        assert_cuda(cuMemcpyDtoH(found, to, sizeof found));
        for (unsigned i = 0; i < 6 * 6 * 64; i++) {
            const unsigned cta = i / 64, rank = cta % 6 % 2 + cta / 6 % 3 * 2;
            assert_int_equal(found[i], 3 * 1000 + 6 * 100 + rank);
        }
        assert_int_equal(found[6 * 6 * 64], 0);
        assert_cuda(cuOccupancyMaxActiveClusters(&clusters[block > 1], kernel, &config));
    }
    assert_int_equal(clusters[0], clusters[1]);
    assert_int_equal(cuLaunchKernel(kernel, 3, 2, 1, 32, 1, 1, 0, NULL, arguments, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(kernel, 1u << 31, 2, 1, 1, 1, 1, 0, NULL, arguments, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuModuleUnload(module));
}

/* Without a shape of the cluster and the block the directive is an error, as for ptxas. */
static void blocks_are_clusters_of_a_known_shape(void **state) {
    (void)state;
    static const char *const functions[] = {".entry k() .blocksareclusters",
                                            ".entry k() .blocksareclusters .reqntid 32",
                                            ".entry k() .reqnctapercluster 2 .blocksareclusters"};
    char ptx[256];
    CUmodule module;
    for (size_t i = 0; i < COUNT(functions); i++) {
        snprintf(ptx, sizeof ptx,
                 ".version 9.0\n.target sm_90\n.address_size 64\n.visible %s { ret; }\n",
                 functions[i]);
        assert_int_equal(cuModuleLoadData(&module, ptx), CUDA_ERROR_INVALID_PTX);
    }
}

static void a_mistake_is_told(void **state) {
    (void)state;
    static const Shape pair = {{2, 1, 1}, {2, 1, 1}};
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        char body[1024], said[4096];
        snprintf(body, sizeof body, "%s  st.global.u32 [%%out+4], %%r3;\n" SYNC, mistakes[i].body);
        FILE *file = tmpfile();
        fflush(stderr);
        const int saved = dup(STDERR_FILENO);
        dup2(fileno(file), STDERR_FILENO);
        const CUresult status = launch("", body, &pair, false);
        fflush(stderr);
        dup2(saved, STDERR_FILENO);
        close(saved);
        rewind(file);
        said[fread(said, 1, sizeof said - 1, file)] = '\0';
        fclose(file);
        if (status == CUDA_SUCCESS || !strstr(said, mistakes[i].said))
            fail_msg("%s: %d, %s", mistakes[i].body, (int)status, said);
        cuCtxDestroy(context); /* a device error makes the context unusable */
        assert_int_equal(start(NULL), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_knows_its_place),
        cmocka_unit_test(each_knows_whether_it_is_in_a_cluster),
        cmocka_unit_test(memory_is_shared_within_a_cluster),
        cmocka_unit_test(pointers_are_good_in_the_whole_cluster),
        cmocka_unit_test(the_barrier_waits_for_all_that_live),
        cmocka_unit_test(a_lane_may_reach_the_barrier_after_the_rest_of_its_warp),
        cmocka_unit_test(copies_stores_and_arrivals_complete_elsewhere),
        cmocka_unit_test(sizes_are_those_of_the_device),
        cmocka_unit_test(occupancy_is_that_of_the_machine),
        cmocka_unit_test(blocks_are_clusters),
        cmocka_unit_test(blocks_are_clusters_of_a_known_shape),
        cmocka_unit_test(a_mistake_is_told),
    };
    return cmocka_run_group_tests(tests, start, end);
}
