/* Streams that wait for words of memory, and the work that is kept for them meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "tyto/cuda.h"

#define assert_cuda(call)        assert_int_equal((call), CUDA_SUCCESS)
#define assert_fails(call, code) assert_int_equal((call), CUDA_ERROR_##code)

static CUcontext context;
static CUdeviceptr word; /* two words of 32 bits */
static CUstream first, second;

static int start(void **state) {
    (void)state;
    return cuCtxCreate(&context, NULL, 0, 0) || cuMemAlloc(&word, 8) || cuMemsetD8(word, 0, 8) ||
           cuStreamCreate(&first, CU_STREAM_NON_BLOCKING) ||
           cuStreamCreate(&second, CU_STREAM_NON_BLOCKING);
}

static int end(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

static uint32_t value(void) {
    uint32_t found;
    assert_cuda(cuMemcpyDtoH(&found, word, sizeof found));
    return found;
}

static CUresult wait_for(CUstream stream, uint32_t wanted) {
    return cuStreamWaitValue32(stream, word, wanted, CU_STREAM_WAIT_VALUE_EQ);
}

static void what_comes_behind_a_wait_is_done_in_order(void **state) {
    (void)state;
    CUevent event;
    assert_cuda(cuEventCreate(&event, 0));
    assert_cuda(wait_for(first, 1));
    assert_cuda(cuMemsetD32Async(word, 2, 1, first));
    assert_cuda(cuEventRecord(event, first));
    assert_cuda(cuStreamWaitEvent(second, event, 0));
    assert_cuda(cuMemsetD32Async(word + 4, 7, 1, second));
    assert_int_equal(value(), 0);
    assert_fails(cuStreamQuery(first), NOT_READY);
    assert_fails(cuStreamQuery(second), NOT_READY);
    assert_fails(cuEventQuery(event), NOT_READY);
    assert_cuda(cuStreamQuery(NULL));
    assert_cuda(cuMemsetD32(word, 1, 1));
    assert_cuda(cuEventSynchronize(event));
    assert_int_equal(value(), 2);
    assert_cuda(cuStreamQuery(second));
    assert_cuda(cuEventDestroy(event));
}

static void a_destroyed_stream_does_what_it_was_given(void **state) {
    (void)state;
    assert_cuda(wait_for(first, 1));
    assert_cuda(cuMemsetD32Async(word, 5, 1, first));
    assert_cuda(cuStreamDestroy(first));
    assert_cuda(cuMemsetD32(word, 1, 1));
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(value(), 5);
}

static void a_wait_that_nothing_can_end_fails(void **state) {
    (void)state;
    assert_cuda(wait_for(first, 1));
    assert_cuda(cuMemsetD32Async(word, 2, 1, first));
    assert_cuda(cuStreamSynchronize(second));
    assert_fails(cuStreamSynchronize(first), LAUNCH_TIMEOUT);
    assert_fails(cuMemsetD32(word, 1, 1), LAUNCH_TIMEOUT); /* the error stays with the context */
}

static void a_context_takes_its_waits_along(void **state) {
    (void)state;
    assert_cuda(wait_for(first, 1));
    assert_cuda(cuMemsetD32Async(word, 2, 1, first));
}

static uint32_t *host; /* a word that the device sees too */
static CUdeviceptr host_word;

static void allocate_host_word(void) {
    assert_cuda(cuMemAllocHost((void **)&host, sizeof *host));
    *host = 0;
    assert_cuda(cuMemHostGetDevicePointer(&host_word, host, 0));
}

static void *write_later(void *unused) {
    (void)unused;
    atomic_store((_Atomic uint32_t *)host, 1);
    return NULL;
}

/* Repeats often, because the thread may end or start before or after the wait is checked. */
static void another_thread_ends_a_wait(void **state) {
    (void)state;
    allocate_host_word();
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        *host = 0;
        assert_cuda(cuMemsetD32(word, 0, 1));
        assert_cuda(cuStreamWaitValue32(first, host_word, 1, CU_STREAM_WAIT_VALUE_GEQ));
        assert_cuda(cuMemsetD32Async(word, 9, 1, first));
        assert_int_equal(pthread_create(&thread, NULL, write_later, NULL), 0);
        assert_cuda(cuStreamSynchronize(first));
        pthread_join(thread, NULL);
        assert_int_equal(value(), 9);
    }
    assert_cuda(cuMemFreeHost(host));
}

static void *pass_it_on(void *failed) {
    *(bool *)failed = cuCtxSetCurrent(context) || cuStreamSynchronize(second) ||
                      cuStreamWriteValue32(NULL, word, 1, 0);
    return NULL;
}

/* The thread is asleep when its wait ends. It must not count as a thread that can do nothing
 * more. */
static void a_thread_that_waits_may_go_on(void **state) {
    (void)state;
    allocate_host_word();
    for (int i = 0; i < 20; i++) {
        bool failed;
        pthread_t waiting, thread;
        *host = 0;
        assert_cuda(cuMemsetD32(word, 0, 1));
        assert_cuda(wait_for(first, 1));
        assert_cuda(cuStreamWaitValue32(second, host_word, 1, CU_STREAM_WAIT_VALUE_GEQ));
        assert_int_equal(pthread_create(&waiting, NULL, pass_it_on, &failed), 0);
        assert_int_equal(pthread_create(&thread, NULL, write_later, NULL), 0);
        assert_cuda(cuStreamSynchronize(first));
        pthread_join(waiting, NULL);
        pthread_join(thread, NULL);
        assert_false(failed);
        assert_int_equal(value(), 1);
    }
    assert_cuda(cuMemFreeHost(host));
}

/* A copy from pageable memory reads it when the call is made; a copy to pageable memory is waited
 * for. */
static void copies_of_pageable_memory_are_as_if_nothing_waited(void **state) {
    (void)state;
    uint32_t plain[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back = 0;
    CUDA_MEMCPY2D corner = {.srcXInBytes = 4,
                            .srcY = 1,
                            .srcMemoryType = CU_MEMORYTYPE_HOST,
                            .srcHost = plain,
                            .srcPitch = 8,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = word,
                            .dstPitch = 4,
                            .WidthInBytes = 4,
                            .Height = 2};
    assert_cuda(wait_for(first, 1));
    assert_cuda(cuMemcpy2DAsync(&corner, first));
    memset(plain, 0, sizeof plain);
    assert_cuda(cuStreamWriteValue32(second, word, 1, 0));
    assert_cuda(cuMemcpyDtoHAsync(&back, word + 4, sizeof back, first));
    assert_int_equal(back, 6);
    assert_int_equal(value(), 4);
}

/* ---- Graphs ---- */

static CUstreamBatchMemOpParams operation(CUstreamBatchMemOpType type, uint32_t wanted) {
    CUstreamBatchMemOpParams made;
    memset(&made, 0, sizeof made);
    made.waitValue.operation = type;
    made.waitValue.address = word;
    made.waitValue.value = wanted;
    made.waitValue.flags = type == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? CU_STREAM_WAIT_VALUE_EQ : 0;
    return made;
}

static CUgraphNode add_operations(CUgraph graph, CUstreamBatchMemOpParams *list, unsigned count,
                                  const CUgraphNode *after) {
    CUgraphNode node;
    CUDA_BATCH_MEM_OP_NODE_PARAMS given = {context, count, list, 0};
    assert_cuda(cuGraphAddBatchMemOpNode(&node, graph, after, after ? 1 : 0, &given));
    return node;
}

static void a_graph_goes_on_where_it_does_not_wait(void **state) {
    (void)state;
    CUgraph graph, child;
    CUgraphExec executable;
    CUgraphNode node;
    CUDA_BATCH_MEM_OP_NODE_PARAMS found, changed = {context, 1, NULL, 0};
    CUstreamBatchMemOpParams list[2] = {operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, 1),
                                        operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, 2)};
    CUstreamBatchMemOpParams other = operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, 3);
    assert_cuda(cuGraphCreate(&child, 0));
    add_operations(child, list, 2, NULL); /* 1 becomes 2 */
    assert_cuda(cuGraphCreate(&graph, 0));
    assert_cuda(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    list[0] = operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, 2);
    list[1] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, 4);
    node = add_operations(graph, list, 2, &node); /* after the child: 2 becomes 4 */
    list[0] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, 1);
    add_operations(graph, list, 1, NULL); /* independent of it, created last: 0 becomes 1 */
    assert_cuda(cuGraphBatchMemOpNodeGetParams(node, &found));
    assert_int_equal(found.count, 2);
    assert_int_equal(found.paramArray[1].writeValue.value, 4);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, first));
    assert_cuda(cuStreamSynchronize(first));
    assert_int_equal(value(), 4);

    changed.paramArray = &other;
    assert_cuda(cuGraphExecBatchMemOpNodeSetParams(executable, node, &changed));
    assert_cuda(cuGraphLaunch(executable, first)); /* stops at 2, because it waits for 3 */
    assert_int_equal(value(), 2);
    assert_fails(cuStreamQuery(first), NOT_READY);
    assert_fails(cuGraphExecBatchMemOpNodeSetParams(executable, node, &changed), INVALID_VALUE);
    assert_cuda(cuGraphExecDestroy(executable)); /* its launch continues */
    assert_cuda(cuMemsetD32(word, 3, 1));
    assert_cuda(cuStreamSynchronize(first));
    changed.count = 257;
    assert_fails(cuGraphBatchMemOpNodeSetParams(node, &changed), INVALID_VALUE);
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuGraphDestroy(child));
}

static void a_captured_wait_is_a_node(void **state) {
    (void)state;
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode nodes[2];
    CUgraphNodeType type;
    size_t count = 2;
    assert_cuda(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(wait_for(first, 1));
    assert_cuda(cuMemsetD32Async(word, 6, 1, first));
    assert_cuda(cuStreamEndCapture(first, &graph));
    assert_cuda(cuGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 2);
    assert_cuda(cuGraphNodeGetType(nodes[0], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, first));
    assert_cuda(cuStreamWriteValue32(second, word, 1, 0));
    assert_cuda(cuStreamSynchronize(first));
    assert_int_equal(value(), 6);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

int main(void) {
#define CASE(test) cmocka_unit_test_setup_teardown(test, start, end)
    const struct CMUnitTest tests[] = {
        CASE(what_comes_behind_a_wait_is_done_in_order),
        CASE(a_destroyed_stream_does_what_it_was_given),
        CASE(a_wait_that_nothing_can_end_fails),
        CASE(a_context_takes_its_waits_along),
        CASE(another_thread_ends_a_wait),
        CASE(a_thread_that_waits_may_go_on),
        CASE(copies_of_pageable_memory_are_as_if_nothing_waited),
        CASE(a_graph_goes_on_where_it_does_not_wait),
        CASE(a_captured_wait_is_a_node),
    };
    if (cuInit(0) != CUDA_SUCCESS) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
