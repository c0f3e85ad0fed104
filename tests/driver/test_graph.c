/* Graphs through the driver API: nodes and dependencies, executable graphs, capture of streams, and
 * the errors of each. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tyto/cuda.h"

#define assert_cuda(call)         assert_int_equal(call, CUDA_SUCCESS)
#define assert_fails(call, error) assert_int_equal(call, CUDA_ERROR_##error)

/* *at = *at * 3 + add */
static const char step_ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry step(.param .u64 at, .param .u32 add) {\n"
    "  .reg .b32 %r<4>;\n  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [at];\n"
    "  ld.param.u32 %r1, [add];\n  ld.global.u32 %r2, [%rd1];\n  mad.lo.u32 %r3, %r2, 3, %r1;\n"
    "  st.global.u32 [%rd1], %r3;\n  ret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUfunction step;
static CUdeviceptr cell;
static CUstream stream, other;

static int set_up(void **state) {
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, step_ptx) ||
           cuModuleGetFunction(&step, module, "step") || cuMemAlloc(&cell, 4) ||
           cuMemsetD32(cell, 1, 1) || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) ||
           cuStreamCreate(&other, CU_STREAM_DEFAULT);
}

static int tear_down(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

static uint32_t value(void) {
    uint32_t read;
    assert_cuda(cuMemcpyDtoH(&read, cell, 4));
    return read;
}

static CUDA_KERNEL_NODE_PARAMS adding(void **parameters) {
    return (CUDA_KERNEL_NODE_PARAMS){step, 1, 1, 1, 1, 1, 1, 0, parameters, NULL, NULL, NULL};
}

static CUgraphNode add_step(CUgraph graph, CUgraphNode after, uint32_t add) {
    CUgraphNode node;
    void *parameters[] = {&cell, &add};
    CUDA_KERNEL_NODE_PARAMS kernel = adding(parameters);
    assert_cuda(cuGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &kernel));
    return node;
}

static CUgraph new_graph(void) {
    CUgraph graph;
    assert_cuda(cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec executable;
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    return executable;
}

static CUresult launch(uint32_t add, CUstream in) {
    void *parameters[] = {&cell, &add};
    return cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, in, parameters, NULL);
}

/* ---- Graphs ---- */

static void test_nodes_run_after_what_they_depend_on(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode last = add_step(graph, NULL, 2), first = add_step(graph, NULL, 1);
    assert_cuda(cuGraphAddDependencies(graph, &first, &last, NULL, 1));
    CUgraphExec executable = instantiate(graph);
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuGraphUpload(executable, stream));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_cuda(cuStreamSynchronize(stream));
    assert_int_equal(value(), (1 * 3 + 1) * 3 + 2);
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(value(), (14 * 3 + 1) * 3 + 2);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_fails(cuGraphLaunch(executable, NULL), INVALID_VALUE);
    assert_fails(cuGraphExecDestroy(executable), INVALID_VALUE);
}

static void test_cycles_are_refused(void **state) {
    (void)state;
    CUgraphExec executable;
    CUgraph graph = new_graph();
    CUgraphNode first = add_step(graph, NULL, 1), second = add_step(graph, first, 2);
    assert_cuda(cuGraphAddDependencies(graph, &second, &first, NULL, 1));
    assert_fails(cuGraphInstantiate(&executable, graph, 0), INVALID_VALUE);
    assert_cuda(cuGraphRemoveDependencies(graph, &second, &first, NULL, 1));
    assert_cuda(cuGraphAddDependencies(graph, &first, &first, NULL, 1));
    assert_fails(cuGraphInstantiate(&executable, graph, 0), INVALID_VALUE);
    assert_cuda(cuGraphDestroyNode(first)); /* removes its edge to itself too */
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(value(), 1 * 3 + 2);
}

static void test_foreign_nodes_are_refused(void **state) {
    (void)state;
    CUgraph graph = new_graph(), foreign = new_graph();
    CUgraphNode node = add_step(graph, NULL, 1), alien = add_step(foreign, NULL, 1), made;
    CUgraphNode twice[] = {node, node};
    assert_fails(cuGraphAddEmptyNode(&made, graph, &alien, 1), INVALID_VALUE);
    assert_fails(cuGraphAddEmptyNode(&made, graph, twice, 2), INVALID_VALUE);
    assert_fails(cuGraphAddEmptyNode(&made, graph, NULL, 1), INVALID_VALUE);
    assert_fails(cuGraphAddDependencies(graph, &node, &alien, NULL, 1), INVALID_VALUE);
    assert_fails(cuGraphRemoveDependencies(graph, &node, &node, NULL, 1), INVALID_VALUE);
    assert_cuda(cuGraphDestroy(foreign));
    assert_fails(cuGraphDestroy(foreign), INVALID_VALUE);
    assert_fails(cuGraphDestroyNode(alien), INVALID_VALUE);
    assert_fails(cuGraphAddEmptyNode(&made, foreign, NULL, 0), INVALID_VALUE);
    CUgraphExec executable = instantiate(graph);
    assert_fails(cuGraphExecEventWaitNodeSetEvent(executable, node, NULL), INVALID_VALUE);
    assert_fails(cuGraphLaunch((CUgraphExec)graph, NULL), INVALID_VALUE);
    assert_fails(cuGraphCreate(NULL, 0), INVALID_VALUE);
    assert_fails(cuGraphKernelNodeSetParams(node, NULL), INVALID_VALUE);
    CUDA_KERNEL_NODE_PARAMS kernel; /* parameters that no launch supports */
    assert_cuda(cuGraphKernelNodeGetParams(node, &kernel));
    kernel.blockDimX = 4096;
    assert_fails(cuGraphAddKernelNode(&made, graph, NULL, 0, &kernel), INVALID_VALUE);
    assert_fails(cuGraphKernelNodeSetParams(node, &kernel), INVALID_VALUE);
    assert_fails(cuGraphExecKernelNodeSetParams(executable, node, &kernel), INVALID_VALUE);
    kernel.blockDimX = 1;
    kernel.sharedMemBytes = 50000;
    assert_fails(cuGraphAddKernelNode(&made, graph, NULL, 0, &kernel), INVALID_VALUE);
}

static void test_a_graph_says_what_it_consists_of(void **state) {
    (void)state;
    CUgraph graph = new_graph(), clone;
    CUgraphNode a = add_step(graph, NULL, 1), b = add_step(graph, a, 2), c = add_step(graph, a, 3);
    CUgraphNode nodes[4], from[4], to[4], twin;
    CUgraphNodeType type;
    size_t count = 4;
    assert_cuda(cuGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 3);
    assert_true(nodes[0] == a && nodes[1] == b && nodes[2] == c && !nodes[3]);
    assert_cuda(cuGraphGetRootNodes(graph, NULL, &count));
    assert_int_equal(count, 1);
    count = 4;
    assert_cuda(cuGraphGetEdges(graph, from, to, NULL, &count));
    assert_int_equal(count, 2);
    assert_true(from[0] == a && to[0] == b && from[1] == a && to[1] == c);
    count = 4;
    assert_cuda(cuGraphNodeGetDependentNodes(a, nodes, NULL, &count));
    assert_true(count == 2 && nodes[1] == c);
    count = 4;
    assert_cuda(cuGraphNodeGetDependencies(c, nodes, NULL, &count));
    assert_true(count == 1 && nodes[0] == a);
    assert_cuda(cuGraphNodeGetType(c, &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_KERNEL);
    assert_cuda(cuGraphClone(&clone, graph));
    assert_cuda(cuGraphNodeFindInClone(&twin, c, clone));
    assert_true(twin != c);
    assert_fails(cuGraphNodeFindInClone(&twin, c, graph), INVALID_VALUE);
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuGraphLaunch(instantiate(clone), NULL));
    assert_int_equal(value(), ((1 * 3 + 1) * 3 + 2) * 3 + 3);
}

static void count_call(void *counter) { ++*(int *)counter; }

static void test_each_kind_of_node_does_its_work(void **state) {
    (void)state;
    int calls = 0;
    uint32_t read = 0;
    CUgraph graph = new_graph(), child = new_graph(), embedded;
    CUgraphNode node, inner = add_step(child, NULL, 4);
    CUevent event, seen;
    assert_cuda(cuEventCreate(&event, 0));
    CUDA_MEMSET_NODE_PARAMS fill = {cell, 0, 10, 4, 1, 1}, fill_seen;
    CUDA_HOST_NODE_PARAMS host = {count_call, &calls}, host_seen;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = cell,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = &read,
                          .WidthInBytes = 4,
                          .Height = 1,
                          .Depth = 1},
                  copy_seen;
    assert_cuda(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, NULL));
    assert_cuda(cuGraphMemsetNodeGetParams(node, &fill_seen));
    assert_int_equal(fill_seen.value, 10);
    assert_cuda(cuGraphAddChildGraphNode(&node, graph, &node, 1, child));
    assert_cuda(cuGraphChildGraphNodeGetGraph(node, &embedded));
    assert_true(embedded != child);
    assert_fails(cuGraphDestroy(embedded), INVALID_VALUE);
    CUgraphNode child_node = node;
    assert_cuda(cuGraphAddMemcpyNode(&node, graph, &node, 1, &copy, NULL));
    assert_cuda(cuGraphMemcpyNodeGetParams(node, &copy_seen));
    assert_ptr_equal(copy_seen.dstHost, &read);
    assert_fails(cuGraphMemsetNodeSetParams(node, &fill), INVALID_VALUE);
    assert_cuda(cuGraphAddHostNode(&node, graph, &node, 1, &host));
    assert_cuda(cuGraphHostNodeGetParams(node, &host_seen));
    assert_ptr_equal(host_seen.userData, &calls);
    assert_cuda(cuGraphAddEventRecordNode(&node, graph, &node, 1, event));
    assert_cuda(cuGraphEventRecordNodeGetEvent(node, &seen));
    assert_ptr_equal(seen, event);
    assert_cuda(cuGraphAddEventWaitNode(&node, graph, &node, 1, event));
    assert_cuda(cuGraphEventWaitNodeSetEvent(node, event));
    CUgraphExec executable = instantiate(graph);
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_int_equal(read, 34);
    assert_int_equal(calls, 1);
    /* a child graph of the same shape, then one of another shape */
    CUgraph changed = new_graph();
    add_step(changed, NULL, 5);
    assert_cuda(cuGraphExecChildGraphNodeSetParams(executable, child_node, changed));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_int_equal(read, 35);
    add_step(changed, NULL, 5);
    assert_fails(cuGraphExecChildGraphNodeSetParams(executable, child_node, changed),
                 GRAPH_EXEC_UPDATE_FAILURE);
    (void)inner;
}

static void test_executable_graphs_take_updates(void **state) {
    (void)state;
    CUgraph graph = new_graph(), same = new_graph(), shape = new_graph();
    CUgraphNode first = add_step(graph, NULL, 1), second = add_step(graph, first, 2), node;
    CUgraphExec executable = instantiate(graph);
    CUgraphExecUpdateResultInfo result;
    uint32_t add = 7, is_enabled;
    void *parameters[] = {&cell, &add};
    CUDA_KERNEL_NODE_PARAMS kernel = adding(parameters), seen;
    assert_cuda(cuGraphExecKernelNodeSetParams(executable, second, &kernel));
    assert_cuda(cuGraphKernelNodeGetParams(second, &seen));
    assert_int_equal(*(uint32_t *)seen.kernelParams[1], 2); /* the graph itself does not change */
    assert_cuda(cuGraphNodeSetEnabled(executable, first, 0));
    assert_cuda(cuGraphNodeGetEnabled(executable, first, &is_enabled));
    assert_int_equal(is_enabled, 0);
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(value(), 1 * 3 + 7);
    assert_cuda(cuGraphNodeSetEnabled(executable, first, 1));
    node = add_step(same, NULL, 5);
    add_step(same, node, 6);
    assert_cuda(cuGraphExecUpdate(executable, same, &result));
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(value(), (10 * 3 + 5) * 3 + 6);
    add_step(shape, NULL, 1);
    assert_fails(cuGraphExecUpdate(executable, shape, &result), GRAPH_EXEC_UPDATE_FAILURE);
    assert_int_equal(result.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    assert_cuda(cuGraphAddEmptyNode(&node, shape, NULL, 0));
    assert_fails(cuGraphExecUpdate(executable, shape, &result), GRAPH_EXEC_UPDATE_FAILURE);
    assert_int_equal(result.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    assert_ptr_equal(result.errorNode, node);
    assert_fails(cuGraphExecUpdate(executable, shape, NULL), INVALID_VALUE);
    assert_fails(cuGraphInstantiate(&executable, graph, 16), INVALID_VALUE);
    assert_fails(cuGraphInstantiate(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
                 NOT_SUPPORTED);
}

static void destroy_executable(void *executable) {
    assert_cuda(cuGraphExecDestroy(*(CUgraphExec *)executable));
}

static void test_a_host_node_may_destroy_its_graph(void **state) {
    (void)state;
    CUgraphExec executable;
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS host = {destroy_executable, &executable};
    assert_cuda(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    add_step(graph, node, 1);
    executable = instantiate(graph);
    assert_cuda(cuGraphLaunch(executable, NULL)); /* the launch continues to its end */
    assert_int_equal(value(), 4);
    assert_fails(cuGraphLaunch(executable, NULL), INVALID_VALUE);
}

/* ---- Capture ---- */

static void test_captured_work_runs_at_the_launch(void **state) {
    (void)state;
    CUgraph graph, going_on;
    CUevent fork, join;
    CUstreamCaptureStatus status;
    const CUgraphNode *dependencies;
    cuuint64_t id;
    size_t count;
    assert_cuda(cuEventCreate(&fork, 0));
    assert_cuda(cuEventCreate(&join, 0));
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuMemsetD32Async(cell, 5, 1, stream));
    assert_cuda(cuEventRecord(fork, stream));
    assert_cuda(cuStreamWaitEvent(other, fork, 0));
    assert_cuda(launch(1, other));
    assert_cuda(cuEventRecord(join, other));
    assert_cuda(cuStreamWaitEvent(stream, join, 0));
    assert_cuda(launch(2, stream));
    assert_cuda(
        cuStreamGetCaptureInfo(stream, &status, &id, &going_on, &dependencies, NULL, &count));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_int_equal(count, 1);
    assert_fails(cuGraphDestroy(going_on), INVALID_VALUE);
    assert_fails(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), ILLEGAL_STATE);
    assert_cuda(cuStreamEndCapture(stream, &graph));
    assert_cuda(cuStreamIsCapturing(other, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_int_equal(value(), 1);
    assert_cuda(cuGraphLaunch(instantiate(graph), stream));
    assert_cuda(cuStreamSynchronize(stream));
    assert_int_equal(value(), (5 * 3 + 1) * 3 + 2);
    assert_fails(cuEventSynchronize(join), CAPTURED_EVENT);
    assert_fails(cuStreamEndCapture(stream, &graph), ILLEGAL_STATE);
}

static void fail_capture(CUresult expected, CUresult status) {
    CUgraph graph;
    assert_int_equal(status, expected);
    assert_fails(cuStreamEndCapture(stream, &graph), STREAM_CAPTURE_INVALIDATED);
    assert_null(graph);
}

static void begin(CUstreamCaptureMode mode) { assert_cuda(cuStreamBeginCapture(stream, mode)); }

static void test_mistakes_invalidate_a_capture(void **state) {
    (void)state;
    CUdeviceptr address;
    CUevent event;
    CUgraph graph;
    assert_cuda(cuEventCreate(&event, 0));
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    fail_capture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    fail_capture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize());
    begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    fail_capture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc(&address, 4));
    assert_cuda(cuEventRecord(event, other));
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    fail_capture(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(stream, event, 0));
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_cuda(cuMemAlloc(&address, 4));
    assert_cuda(launch(1, stream));
    assert_cuda(cuEventRecord(event, stream));
    assert_cuda(cuStreamWaitEvent(other, event, 0));
    assert_fails(launch(1, NULL), STREAM_CAPTURE_IMPLICIT); /* `other` is a blocking stream */
    assert_fails(launch(1, stream), STREAM_CAPTURE_INVALIDATED);
    assert_fails(cuStreamEndCapture(other, &graph), STREAM_CAPTURE_UNMATCHED);
    fail_capture(CUDA_SUCCESS, CUDA_SUCCESS);
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_cuda(cuEventRecord(event, stream));
    assert_cuda(cuStreamWaitEvent(other, event, 0));
    assert_cuda(launch(1, other));
    assert_fails(cuStreamEndCapture(stream, &graph), STREAM_CAPTURE_UNJOINED);
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_fails(cuCtxSynchronize(), STREAM_CAPTURE_UNSUPPORTED);
    assert_fails(cuStreamEndCapture(stream, &graph), STREAM_CAPTURE_INVALIDATED);
    assert_fails(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED),
                 STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(value(), 1);
}

static void test_a_thread_may_allow_itself_what_a_capture_forbids(void **state) {
    (void)state;
    CUgraph graph;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_cuda(cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_cuda(cuMemFree(0)); /* a call that could wait */
    assert_cuda(cuThreadExchangeStreamCaptureMode(&mode));
    assert_cuda(launch(1, stream));
    assert_cuda(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0,
                                                  CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    assert_fails(cuStreamUpdateCaptureDependencies(stream, (CUgraphNode *)&stream, NULL, 1, 0),
                 INVALID_VALUE);
    assert_cuda(cuStreamEndCapture(stream, &graph)); /* the program took the node out of the tail */
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_cuda(launch(1, stream));
    assert_cuda(cuStreamDestroy(stream)); /* ends the capture too */
    assert_cuda(cuCtxSynchronize());
}

/* Forks into a new stream, which is destroyed before the capture ends, with or without a join. */
static CUresult capture_without_fork(bool joins, CUgraph *graph) {
    CUstream branch;
    CUevent fork, join;
    assert_cuda(cuStreamCreate(&branch, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuEventCreate(&fork, 0));
    assert_cuda(cuEventCreate(&join, 0));
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_cuda(launch(1, stream));
    assert_cuda(cuEventRecord(fork, stream));
    assert_cuda(cuStreamWaitEvent(branch, fork, 0));
    assert_cuda(launch(2, branch));
    assert_cuda(cuEventRecord(join, branch));
    if (joins) assert_cuda(cuStreamWaitEvent(stream, join, 0));
    assert_cuda(cuStreamDestroy(branch));
    assert_cuda(cuEventDestroy(fork));
    assert_cuda(cuEventDestroy(join));
    return cuStreamEndCapture(stream, graph);
}

static void test_a_joined_stream_may_go_before_the_capture_ends(void **state) {
    (void)state;
    CUgraph graph;
    uint32_t before = value();
    assert_cuda(capture_without_fork(true, &graph));
    assert_cuda(cuGraphLaunch(instantiate(graph), stream));
    assert_cuda(cuStreamSynchronize(stream));
    assert_int_equal(value(), (before * 3 + 1) * 3 + 2);
    assert_fails(capture_without_fork(false, &graph), STREAM_CAPTURE_UNJOINED);
    assert_null(graph);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_nodes_run_after_what_they_depend_on),
        TEST(test_cycles_are_refused),
        TEST(test_foreign_nodes_are_refused),
        TEST(test_a_graph_says_what_it_consists_of),
        TEST(test_each_kind_of_node_does_its_work),
        TEST(test_executable_graphs_take_updates),
        TEST(test_a_host_node_may_destroy_its_graph),
        TEST(test_captured_work_runs_at_the_launch),
        TEST(test_mistakes_invalidate_a_capture),
        TEST(test_a_joined_stream_may_go_before_the_capture_ends),
        TEST(test_a_thread_may_allow_itself_what_a_capture_forbids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
