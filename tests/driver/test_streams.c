/* Stream queues: the order of their work, what the host sees meanwhile, and what overlaps in timed
 * runs. Kernels change a cell by 3x + add, so the result depends on their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tyto/cuda.h"

#define assert_cuda(call)        assert_int_equal((call), CUDA_SUCCESS)
#define assert_fails(call, code) assert_int_equal((call), CUDA_ERROR_##code)

/* step: [cell] = 3 [cell] + add. slow: the same after 1000 instructions, each depends on the
 * previous one. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry step(.param .u64 cell, .param .u32 add) {\n"
    "  .reg .u64 %p; .reg .u32 %a, %x;\n"
    "  ld.param.u64 %p, [cell]; ld.param.u32 %a, [add];\n"
    "  ld.global.u32 %x, [%p]; mad.lo.u32 %x, %x, 3, %a; st.global.u32 [%p], %x; ret;\n}\n"
    ".visible .entry slow(.param .u64 cell, .param .u32 add) {\n"
    "  .reg .u64 %p; .reg .u32 %a, %x, %i; .reg .pred %more;\n"
    "  ld.param.u64 %p, [cell]; ld.param.u32 %a, [add]; mov.u32 %i, 1000;\n"
    "again: sub.u32 %i, %i, 1; setp.ne.u32 %more, %i, 0; @%more bra again;\n"
    "  ld.global.u32 %x, [%p]; mad.lo.u32 %x, %x, 3, %a; st.global.u32 [%p], %x; ret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUfunction step, slow;
static uint32_t *cell; /* two page-locked cells */
static CUstream blocking, non_blocking, urgent;

static int start(void **state) {
    (void)state;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, ptx) ||
        cuModuleGetFunction(&step, module, "step") || cuModuleGetFunction(&slow, module, "slow") ||
        cuMemAllocHost((void **)&cell, 2 * sizeof *cell) || cuStreamCreate(&blocking, 0) ||
        cuStreamCreate(&non_blocking, CU_STREAM_NON_BLOCKING) ||
        cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, -5))
        return 1;
    cell[0] = cell[1] = 0;
    return 0;
}

static int end(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

static CUresult run(CUfunction kernel, CUstream stream, uint32_t *where, uint32_t add) {
    CUdeviceptr address;
    CUresult status = cuMemHostGetDevicePointer(&address, where, 0);
    void *parameters[] = {&address, &add};
    return status ? status : cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

static void launch(CUstream stream, uint32_t add) { assert_cuda(run(step, stream, cell, add)); }

/* ---- Order ---- */

static void a_stream_keeps_its_order(void **state) {
    (void)state;
    launch(non_blocking, 1);
    launch(non_blocking, 2);
    assert_int_equal(cell[0], 0); /* nothing has waited for the stream yet */
    assert_cuda(cuStreamSynchronize(non_blocking));
    assert_int_equal(cell[0], 1 * 3 + 2);
}

static void an_event_holds_a_stream_of_higher_priority(void **state) {
    (void)state;
    CUevent event;
    assert_cuda(cuEventCreate(&event, 0));
    launch(non_blocking, 1);
    launch(non_blocking, 2);
    assert_cuda(cuEventRecord(event, non_blocking));
    assert_cuda(cuStreamWaitEvent(urgent, event, 0));
    launch(urgent, 4);
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(cell[0], (1 * 3 + 2) * 3 + 4);
}

static void the_legacy_stream_waits_for_blocking_ones(void **state) {
    (void)state;
    launch(blocking, 1);
    launch(blocking, 2);
    launch(NULL, 4);
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(cell[0], (1 * 3 + 2) * 3 + 4);
}

static void blocking_streams_wait_for_the_legacy_one(void **state) {
    (void)state;
    launch(NULL, 1);
    launch(CU_STREAM_LEGACY, 2);
    launch(blocking, 4);
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(cell[0], (1 * 3 + 2) * 3 + 4);
}

static void the_legacy_stream_does_not_wait_for_non_blocking_ones(void **state) {
    (void)state;
    assert_cuda(run(step, NULL, cell, 1));
    assert_cuda(run(slow, non_blocking, cell + 1, 2));
    assert_cuda(cuStreamSynchronize(NULL));
    assert_int_equal(cell[0], 1);
    assert_int_equal(cell[1], 0);
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(cell[1], 2);
}

/* Functional runs execute one kernel after another, so the result shows their order. */
static void higher_priority_comes_first(void **state) {
    (void)state;
    if (!strstr(getenv("TYTO_OPTIONS"), "--functional")) return;
    launch(non_blocking, 1);
    launch(urgent, 2);
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(cell[0], 2 * 3 + 1);
}

static void *ask_own_stream(void *answer) {
    *(CUresult *)answer = cuCtxSetCurrent(context);
    if (!*(CUresult *)answer) *(CUresult *)answer = cuStreamQuery(CU_STREAM_PER_THREAD);
    return NULL;
}

static void each_thread_has_a_default_stream(void **state) {
    (void)state;
    pthread_t thread;
    CUresult answer;
    launch(CU_STREAM_PER_THREAD, 1);
    assert_int_equal(pthread_create(&thread, NULL, ask_own_stream, &answer), 0);
    pthread_join(thread, NULL);
    assert_cuda(answer);
    assert_fails(cuStreamQuery(CU_STREAM_PER_THREAD), NOT_READY);
    launch(NULL, 2); /* the legacy stream waits for the other */
    assert_cuda(cuStreamSynchronize(NULL));
    assert_int_equal(cell[0], 1 * 3 + 2);
}

/* ---- What the host sees ---- */

static void the_first_query_finds_a_kernel(void **state) {
    (void)state;
    CUevent event;
    assert_cuda(cuEventCreate(&event, 0));
    assert_cuda(cuStreamQuery(blocking));
    launch(blocking, 1);
    assert_fails(cuStreamQuery(blocking), NOT_READY);
    assert_cuda(cuStreamQuery(blocking));
    assert_int_equal(cell[0], 1);
    launch(blocking, 2);
    assert_cuda(cuEventRecord(event, blocking));
    assert_fails(cuEventQuery(event), NOT_READY);
    assert_cuda(cuEventQuery(event));
    assert_int_equal(cell[0], 1 * 3 + 2);
}

static void a_fault_ends_what_the_streams_have_left(void **state) {
    (void)state;
    CUdeviceptr nowhere = 0;
    uint32_t add = 1;
    void *parameters[] = {&nowhere, &add};
    assert_cuda(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, urgent, parameters, NULL));
    launch(urgent, 1);
    assert_cuda(cuStreamQuery(blocking)); /* another stream does not report the fault yet */
    assert_fails(cuStreamSynchronize(urgent), ILLEGAL_ADDRESS);
    assert_fails(cuStreamSynchronize(urgent), ILLEGAL_ADDRESS);
    assert_int_equal(cell[0], 0);
}

static void impossible_launches_are_told_at_once(void **state) {
    (void)state;
    uint32_t add = 1;
    CUdeviceptr address;
    void *parameters[] = {&address, &add};
    assert_cuda(cuMemHostGetDevicePointer(&address, cell, 0));
    assert_fails(cuLaunchKernel(step, 1, 1, 1, 4096, 1, 1, 0, blocking, parameters, NULL),
                 INVALID_VALUE);
    assert_cuda(cuStreamQuery(blocking));
}

/* The number of launches that are kept is bounded. */
static void many_launches_let_the_device_run(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 1100; i++)
        launch(blocking, 1);
    assert_int_not_equal(cell[0], 0);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 1100; i++)
        expected = 3 * expected + 1;
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(cell[0], expected);
}

/* ---- Overlap ---- */

static bool is_timed(void) {
    const char *options = getenv("TYTO_OPTIONS");
    return !strstr(options, "--functional") && !strstr(options, "--serial-kernels");
}

static float elapsed(CUevent from, CUevent to) {
    float milliseconds;
    assert_cuda(cuEventSynchronize(to));
    assert_cuda(cuEventElapsedTime(&milliseconds, from, to));
    return milliseconds;
}

/* The simulated time of a graph of two kernels. With `is_chain` the second depends on the first. */
static float time_of_graph(bool is_chain) {
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode nodes[2];
    CUevent before, after;
    for (int i = 0; i < 2; i++)
        assert_cuda(cuEventCreate(i ? &after : &before, 0));
    assert_cuda(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 2; i++) {
        CUdeviceptr address;
        uint32_t add = 1;
        void *parameters[] = {&address, &add};
        CUDA_KERNEL_NODE_PARAMS kernel = {slow, 1, 1, 1, 1, 1, 1, 0, parameters, NULL, NULL, NULL};
        assert_cuda(cuMemHostGetDevicePointer(&address, cell + i, 0));
        assert_cuda(cuGraphAddKernelNode(&nodes[i], graph, nodes, is_chain && i, &kernel));
    }
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, blocking)); /* loads the code */
    assert_cuda(cuStreamSynchronize(blocking));
    assert_cuda(cuEventRecord(before, blocking));
    assert_cuda(cuGraphLaunch(executable, blocking));
    assert_cuda(cuEventRecord(after, blocking));
    return elapsed(before, after);
}

static void branches_of_a_graph_overlap(void **state) {
    (void)state;
    const float chain = time_of_graph(true), branches = time_of_graph(false);
    if (is_timed()) assert_true(branches < 0.6f * chain);
    else assert_true(branches > 0.9f * chain);
    assert_int_equal(cell[0], ((1 * 3 + 1) * 3 + 1) * 3 + 1);
    assert_int_equal(cell[1], cell[0]);
}

static void streams_overlap(void **state) {
    (void)state;
    CUevent events[3];
    for (int i = 0; i < 3; i++)
        assert_cuda(cuEventCreate(&events[i], 0));
    assert_cuda(run(slow, blocking, cell, 1));
    assert_cuda(cuStreamSynchronize(blocking));
    assert_cuda(cuEventRecord(events[0], blocking));
    assert_cuda(run(slow, blocking, cell, 2));
    assert_cuda(cuEventRecord(events[1], blocking));
    const float one = elapsed(events[0], events[1]);
    assert_cuda(cuEventRecord(events[0], blocking));
    assert_cuda(run(slow, blocking, cell, 4));
    assert_cuda(run(slow, non_blocking, cell + 1, 4));
    assert_cuda(cuEventRecord(events[1], blocking));
    assert_cuda(cuEventRecord(events[2], non_blocking));
    const float both = elapsed(events[0], events[2]);
    if (is_timed()) assert_true(both < 1.1f * one && both > 0.9f * one);
    else assert_true(both > 1.9f * one);
}

/* ---- The end of the process ---- */

static void look_at_the_end(void) { _exit(cell[0] == 1 * 3 + 2 ? 0 : 3); }

/* Functions registered before CUDA starts run after CUDA's own at the end. */
static void end_with_work_left(void) {
    atexit(look_at_the_end);
    exit(start(NULL) || run(step, non_blocking, cell, 1) || run(step, non_blocking, cell, 2));
}

static int status_of_child = -1;

static void the_process_ends_after_its_work(void **state) {
    (void)state;
    assert_int_equal(status_of_child, 0);
}

int main(void) {
#define CASE(test) cmocka_unit_test_setup_teardown(test, start, end)
    const struct CMUnitTest tests[] = {
        CASE(a_stream_keeps_its_order),
        CASE(an_event_holds_a_stream_of_higher_priority),
        CASE(the_legacy_stream_waits_for_blocking_ones),
        CASE(blocking_streams_wait_for_the_legacy_one),
        CASE(the_legacy_stream_does_not_wait_for_non_blocking_ones),
        CASE(higher_priority_comes_first),
        CASE(each_thread_has_a_default_stream),
        CASE(the_first_query_finds_a_kernel),
        CASE(a_fault_ends_what_the_streams_have_left),
        CASE(impossible_launches_are_told_at_once),
        CASE(many_launches_let_the_device_run),
        CASE(branches_of_a_graph_overlap),
        CASE(streams_overlap),
        CASE(the_process_ends_after_its_work),
    };
    const pid_t child = fork();
    if (child == 0) end_with_work_left();
    waitpid(child, &status_of_child, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
