/* Nodes of graphs that CUDA 11 and 12 added: memory, conditional, any type. Properties of a node
 * besides its parameters. Graphs into which streams are captured. */
#include "graph_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void abort_on_call(void *nothing) {
    (void)nothing;
    abort();
}

/* ---- Conditions ---- */

static CUgraphConditionalHandle new_condition(CUgraph graph, unsigned first) {
    CUgraphConditionalHandle handle;
    assert_cuda(cuGraphConditionalHandleCreate(&handle, graph, context, first,
                                               CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

/* The graphs of a new conditional node. It follows the node *node and replaces it. */
static CUgraph *add_condition(CUgraph graph, CUgraphNode *node, CUgraphConditionalHandle handle,
                              CUgraphConditionalNodeType type, unsigned count) {
    CUgraphNode after = *node;
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    given.conditional = (CUDA_CONDITIONAL_NODE_PARAMS){handle, type, count, NULL, context};
    assert_cuda(cuGraphAddNode(node, graph, &after, NULL, after ? 1 : 0, &given));
    assert_non_null(given.conditional.phGraph_out);
    return given.conditional.phGraph_out;
}

static CUgraphNode add_count_down(CUgraph graph, CUgraphConditionalHandle condition) {
    CUgraphNode node;
    void *parameters[] = {&counter, &condition};
    CUgraphNodeParams given = kernel_of(count_down, parameters);
    assert_cuda(cuGraphAddNode(&node, graph, NULL, NULL, 0, &given));
    return node;
}

static void test_a_while_node_runs_until_a_kernel_clears_its_condition(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphConditionalHandle condition = new_condition(graph, 1);
    CUgraph *bodies = add_condition(graph, &node, condition, CU_GRAPH_COND_TYPE_WHILE, 1);
    add_step(bodies[0], add_count_down(bodies[0], condition), cell, 1);
    add_step(graph, node, cell, 0);
    CUgraphExec executable = instantiate(graph);
    assert_cuda(cuMemsetD32(counter, 3, 1));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_int_equal(read_cell(counter), 0);
    assert_int_equal(read_cell(cell), (((1 * 3 + 1) * 3 + 1) * 3 + 1) * 3);
    /* the next launch starts with the initial value again, also after the graph is destroyed */
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuMemsetD32(counter, 1, 1));
    assert_cuda(cuMemsetD32(cell, 1, 1));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_int_equal(read_cell(cell), (1 * 3 + 1) * 3);
}

static void test_an_if_node_chooses_one_of_two_graphs(void **state) {
    (void)state;
    for (unsigned value = 0; value < 2; value++) {
        CUgraph graph = new_graph();
        CUgraphNode node = NULL;
        CUgraph *bodies =
            add_condition(graph, &node, new_condition(graph, value), CU_GRAPH_COND_TYPE_IF, 2);
        add_step(bodies[0], NULL, cell, 10);
        add_step(bodies[1], NULL, cell, 20);
        assert_cuda(cuMemsetD32(cell, 1, 1));
        assert_cuda(cuGraphLaunch(instantiate(graph), stream));
        assert_int_equal(read_cell(cell), value ? 13 : 23);
    }
}

static void test_a_switch_node_does_the_graph_of_its_number_or_none(void **state) {
    (void)state;
    static const uint32_t expected[] = {4, 5, 6, 1};
    for (unsigned value = 0; value < 4; value++) {
        CUgraph graph = new_graph();
        CUgraphNode node = NULL;
        CUgraph *bodies =
            add_condition(graph, &node, new_condition(graph, value), CU_GRAPH_COND_TYPE_SWITCH, 3);
        for (uint32_t i = 0; i < 3; i++)
            add_step(bodies[i], NULL, cell, i + 1);
        assert_cuda(cuMemsetD32(cell, 1, 1));
        assert_cuda(cuGraphLaunch(instantiate(graph), stream));
        assert_int_equal(read_cell(cell), expected[value]);
    }
}

static void test_conditions_within_conditions_choose_by_themselves(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode node = NULL, inner = NULL;
    CUgraphConditionalHandle loop = new_condition(graph, 1), choice = new_condition(graph, 0);
    CUgraph body = add_condition(graph, &node, loop, CU_GRAPH_COND_TYPE_WHILE, 1)[0];
    inner = add_count_down(body, loop);
    add_step(add_condition(body, &inner, choice, CU_GRAPH_COND_TYPE_IF, 2)[1], NULL, cell, 2);
    assert_cuda(cuMemsetD32(counter, 2, 1));
    assert_cuda(cuGraphLaunch(instantiate(graph), stream));
    assert_int_equal(read_cell(cell), (1 * 3 + 2) * 3 + 2);
}

static void test_wrong_conditions_are_refused(void **state) {
    (void)state;
    CUgraph graph = new_graph(), clone;
    CUgraphExec executable;
    CUgraphNode node = NULL, made;
    CUgraphConditionalHandle condition = new_condition(graph, 1);
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    assert_fails(cuGraphInstantiate(&executable, graph, 0), INVALID_VALUE); /* unused */
    given.conditional =
        (CUDA_CONDITIONAL_NODE_PARAMS){condition, CU_GRAPH_COND_TYPE_WHILE, 2, NULL, context};
    assert_fails(cuGraphAddNode(&made, graph, NULL, NULL, 0, &given), INVALID_VALUE);
    given.conditional.size = 0;
    given.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
    assert_fails(cuGraphAddNode(&made, graph, NULL, NULL, 0, &given), INVALID_VALUE);
    given.conditional.handle = 12345;
    given.conditional.size = 1;
    assert_fails(cuGraphAddNode(&made, graph, NULL, NULL, 0, &given), INVALID_VALUE);
    CUgraph body = add_condition(graph, &node, condition, CU_GRAPH_COND_TYPE_WHILE, 1)[0];
    given.conditional.handle = condition;
    assert_fails(cuGraphAddNode(&made, graph, NULL, NULL, 0, &given), INVALID_VALUE); /* in use */
    CUDA_HOST_NODE_PARAMS host = {abort_on_call, NULL};
    assert_fails(cuGraphAddHostNode(&made, body, NULL, 0, &host), INVALID_VALUE);
    assert_fails(cuGraphClone(&clone, graph), NOT_SUPPORTED);
    assert_fails(cuGraphDestroy(body), INVALID_VALUE);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_fails(cuGraphLaunch(executable, stream), LAUNCH_TIMEOUT); /* nothing can end the loop */
}

static void test_a_kernel_that_sets_no_condition_of_a_graph_fails(void **state) {
    (void)state;
    CUgraphConditionalHandle wrong = 0x1234;
    void *parameters[] = {&counter, &wrong};
    assert_cuda(cuLaunchKernel(count_down, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    assert_fails(cuStreamSynchronize(stream), INVALID_PC);
}

/* ---- Memory ---- */

static CUDA_MEM_ALLOC_NODE_PARAMS four_bytes(void) {
    return (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                        .bytesize = 4};
}

static cuuint64_t graph_bytes(CUgraphMem_attribute attribute) {
    cuuint64_t value;
    assert_cuda(cuDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}

static void test_memory_of_a_graph_lives_from_its_node_to_its_end(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode first, last, node;
    CUDA_MEM_ALLOC_NODE_PARAMS memory = four_bytes(), seen;
    CUdeviceptr address;
    assert_cuda(cuGraphAddMemAllocNode(&first, graph, NULL, 0, &memory));
    assert_cuda(cuGraphMemAllocNodeGetParams(first, &seen));
    assert_true(seen.dptr == memory.dptr && seen.bytesize == 4);
    CUDA_MEMSET_NODE_PARAMS fill = {memory.dptr, 0, 5, 4, 1, 1};
    assert_cuda(cuGraphAddMemsetNode(&node, graph, &first, 1, &fill, NULL));
    node = add_step(graph, node, memory.dptr, 1);
    CUgraphNodeParams copy = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    copy.memcpy.copyParams = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                             .srcDevice = memory.dptr,
                                             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                             .dstDevice = cell,
                                             .WidthInBytes = 4,
                                             .Height = 1,
                                             .Depth = 1};
    assert_cuda(cuGraphAddNode(&node, graph, &node, NULL, 1, &copy));
    assert_cuda(cuGraphAddMemFreeNode(&last, graph, &node, 1, memory.dptr));
    assert_cuda(cuGraphMemFreeNodeGetParams(last, &address));
    assert_int_equal(address, memory.dptr);
    assert_fails(cuGraphAddMemFreeNode(&last, graph, &node, 1, memory.dptr), INVALID_VALUE);
    CUgraphExec executable = instantiate(graph), other;
    assert_fails(cuGraphInstantiate(&other, graph, 0), INVALID_VALUE); /* one at a time */
    assert_fails(cuGraphClone(&graph, graph), NOT_SUPPORTED);
    assert_fails(cuGraphDestroyNode(node), NOT_SUPPORTED);
    for (int launch = 0; launch < 2; launch++) {
        assert_cuda(cuMemsetD32(cell, 0, 1));
        assert_cuda(cuGraphLaunch(executable, stream));
        assert_int_equal(read_cell(cell), 5 * 3 + 1);
        assert_int_equal(graph_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
        assert_int_equal(graph_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 4);
    }
    assert_fails(cuMemFree(memory.dptr), INVALID_VALUE); /* it is already free */
    assert_cuda(cuGraphDestroy(graph));
    assert_int_equal(graph_bytes(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 4);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_int_equal(graph_bytes(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0);
    cuuint64_t zero = 0;
    assert_cuda(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    assert_fails(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
                 INVALID_VALUE);
    assert_int_equal(graph_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0);
    assert_cuda(cuDeviceGraphMemTrim(0));
}

static void test_memory_that_a_graph_leaves_is_the_programs_to_free(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUDA_MEM_ALLOC_NODE_PARAMS memory = four_bytes();
    CUgraphExec executable;
    assert_cuda(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory));
    executable = instantiate(graph);
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_fails(cuGraphLaunch(executable, stream), INVALID_VALUE); /* not freed yet */
    assert_cuda(cuMemFreeAsync(memory.dptr, stream));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(
        cuGraphInstantiate(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuMemsetD32(memory.dptr, 1, 1)); /* the memory still exists */
    assert_cuda(cuMemFree(memory.dptr));
    assert_fails(cuMemFree(memory.dptr), INVALID_VALUE);
    assert_int_equal(graph_bytes(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0);
    memory = four_bytes();
    memory.bytesize = 0;
    graph = new_graph();
    assert_fails(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory), INVALID_VALUE);
    assert_fails(cuGraphAddMemFreeNode(&node, graph, NULL, 0, cell), INVALID_VALUE);
}

static void test_captured_allocations_are_nodes(void **state) {
    (void)state;
    CUgraph graph;
    CUdeviceptr memory;
    uint32_t add = 2;
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuMemAllocAsync(&memory, 4, stream));
    assert_cuda(cuMemsetD32Async(memory, 7, 1, stream));
    void *parameters[] = {&memory, &add};
    assert_cuda(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    assert_cuda(cuMemcpyDtoDAsync(cell, memory, 4, stream));
    assert_cuda(cuMemFreeAsync(memory, stream));
    assert_cuda(cuStreamEndCapture(stream, &graph));
    CUgraphExec executable = instantiate(graph);
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_int_equal(read_cell(cell), 7 * 3 + 2);
}

/* ---- Nodes of any type ---- */

static void test_nodes_of_any_type_are_made_and_changed_by_one_structure(void **state) {
    (void)state;
    CUgraph graph = new_graph(), child = new_graph(), seen;
    CUgraphNode nodes[4];
    uint32_t add = 9;
    void *parameters[] = {&cell, &add};
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    add_step(child, NULL, cell, 1);
    assert_cuda(cuGraphAddNode(&nodes[0], graph, NULL, NULL, 0, &given));
    given = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMSET};
    given.memset = (CUDA_MEMSET_NODE_PARAMS_v2){cell, 0, 2, 4, 1, 1, context};
    assert_cuda(cuGraphAddNode(&nodes[1], graph, nodes, NULL, 1, &given));
    given = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_GRAPH};
    given.graph = (CUDA_CHILD_GRAPH_NODE_PARAMS){child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE};
    assert_cuda(cuGraphAddNode(&nodes[2], graph, &nodes[1], NULL, 1, &given));
    assert_cuda(cuGraphChildGraphNodeGetGraph(nodes[2], &seen));
    assert_ptr_equal(seen, child); /* moved, not copied */
    assert_fails(cuGraphDestroy(child), INVALID_VALUE);
    assert_fails(cuGraphAddNode(&nodes[3], graph, NULL, NULL, 0, &given), INVALID_VALUE);
    nodes[3] = add_step(graph, nodes[2], cell, 4);
    CUgraphExec executable = instantiate(graph);
    given = kernel_of(step, parameters);
    assert_cuda(cuGraphExecNodeSetParams(executable, nodes[3], &given));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_int_equal(read_cell(cell), (2 * 3 + 1) * 3 + 9);
    add = 8;
    assert_cuda(cuGraphNodeSetParams(nodes[3], &given));
    assert_cuda(cuGraphLaunch(instantiate(graph), stream));
    assert_int_equal(read_cell(cell), (2 * 3 + 1) * 3 + 8);
    assert_fails(cuGraphNodeSetParams(nodes[1], &given), INVALID_VALUE);
    given.reserved2 = 1;
    assert_fails(cuGraphNodeSetParams(nodes[3], &given), INVALID_VALUE);
    given = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
    assert_fails(cuGraphAddNode(&nodes[0], graph, NULL, NULL, 0, &given), NOT_SUPPORTED);
    given = (CUgraphNodeParams){.type = (CUgraphNodeType)99};
    assert_fails(cuGraphAddNode(&nodes[0], graph, NULL, NULL, 0, &given), INVALID_VALUE);
    assert_fails(cuGraphAddNode(&nodes[0], graph, NULL, NULL, 0, NULL), INVALID_VALUE);
}

static void test_attributes_of_kernel_nodes_stay_with_them(void **state) {
    (void)state;
    CUgraph graph = new_graph(), clone;
    CUgraphNode node = add_step(graph, NULL, cell, 1), other = add_step(graph, node, cell, 2), twin;
    CUkernelNodeAttrValue value = {.priority = -2}, seen;
    assert_cuda(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    assert_cuda(cuGraphKernelNodeCopyAttributes(other, node));
    assert_cuda(cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_PRIORITY, &seen));
    assert_int_equal(seen.priority, -2);
    assert_cuda(cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &seen));
    assert_int_equal(seen.cooperative, 0);
    assert_cuda(cuGraphClone(&clone, graph));
    assert_cuda(cuGraphNodeFindInClone(&twin, other, clone));
    assert_cuda(cuGraphKernelNodeGetAttribute(twin, CU_LAUNCH_ATTRIBUTE_PRIORITY, &seen));
    assert_int_equal(seen.priority, -2);
    value.accessPolicyWindow = (CUaccessPolicyWindow){NULL, 16, 2.0f, CU_ACCESS_PROPERTY_PERSISTING,
                                                      CU_ACCESS_PROPERTY_NORMAL};
    assert_fails(
        cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value),
        INVALID_VALUE);
    memset(&value, 0, sizeof value);
    value.clusterDim.x = 2; /* not y and z */
    assert_fails(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value),
                 INVALID_VALUE);
    assert_fails(
        cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
        INVALID_VALUE); /* only for streams */
    assert_fails(cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)77, &seen), INVALID_VALUE);
}

/* ---- Attributes of streams and launches ---- */

static void test_streams_keep_their_attributes(void **state) {
    (void)state;
    CUstream other;
    CUstreamAttrValue value = {.syncPolicy = CU_SYNC_POLICY_SPIN}, seen;
    assert_cuda(cuStreamCreate(&other, 0));
    assert_cuda(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &seen));
    assert_int_equal(seen.syncPolicy, CU_SYNC_POLICY_AUTO);
    assert_cuda(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    assert_cuda(cuStreamCopyAttributes(other, stream));
    assert_cuda(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &seen));
    assert_int_equal(seen.syncPolicy, CU_SYNC_POLICY_SPIN);
    value.syncPolicy = (CUsynchronizationPolicy)9;
    assert_fails(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
                 INVALID_VALUE);
    assert_fails(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
                 INVALID_VALUE);
    assert_fails(cuStreamGetAttribute((CUstream)&value, CU_LAUNCH_ATTRIBUTE_PRIORITY, &seen),
                 INVALID_HANDLE);
}

static void test_launches_take_their_attributes_and_record_their_events(void **state) {
    (void)state;
    CUevent event;
    uint32_t add = 1;
    void *parameters[] = {&cell, &add};
    assert_cuda(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
         .value.programmaticStreamSerializationAllowed = 1},
        {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
         .value.launchCompletionEvent = {event, 0}},
        {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
         .value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE},
    };
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, attributes, 3};
    assert_cuda(cuLaunchKernelEx(&config, step, parameters, NULL));
    assert_int_equal(read_cell(cell), 4);
    assert_cuda(cuEventQuery(event));
    attributes[2] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                        .value.clusterDim = {2, 1, 1}};
    assert_fails(cuLaunchKernelEx(&config, step, parameters, NULL), INVALID_CLUSTER_SIZE);
    attributes[2] = (CUlaunchAttribute){.id = (CUlaunchAttributeID)60};
    assert_fails(cuLaunchKernelEx(&config, step, parameters, NULL), INVALID_VALUE);
    assert_int_equal(read_cell(cell), 4);
}

/* ---- Capture into a graph ---- */

static void test_a_stream_is_captured_into_a_graph_that_is_there(void **state) {
    (void)state;
    CUgraph graph = new_graph(), ended;
    CUgraphNode first = add_step(graph, NULL, cell, 1),
                foreign = add_step(new_graph(), NULL, cell, 1);
    uint32_t add = 2;
    void *parameters[] = {&cell, &add};
    assert_fails(cuStreamBeginCaptureToGraph(stream, graph, &foreign, NULL, 1,
                                             CU_STREAM_CAPTURE_MODE_GLOBAL),
                 INVALID_VALUE);
    add_step(graph, NULL, counter, 5); /* an unrelated node, which need not be joined */
    assert_cuda(
        cuStreamBeginCaptureToGraph(stream, graph, &first, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    assert_cuda(cuStreamEndCapture(stream, &ended));
    assert_ptr_equal(ended, graph);
    assert_cuda(cuGraphLaunch(instantiate(graph), stream));
    assert_int_equal(read_cell(cell), (1 * 3 + 1) * 3 + 2);
    assert_int_equal(read_cell(counter), 5);
    /* the graph pointer is optional here */
    assert_cuda(
        cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuStreamEndCapture(stream, NULL));
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_fails(cuStreamEndCapture(stream, NULL), INVALID_VALUE);
    assert_cuda(cuStreamEndCapture(stream, &ended));
    /* after an error the program still owns the graph */
    assert_cuda(
        cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_fails(cuStreamSynchronize(stream), STREAM_CAPTURE_UNSUPPORTED);
    assert_fails(cuStreamEndCapture(stream, &ended), STREAM_CAPTURE_INVALIDATED);
    assert_cuda(cuGraphDestroy(graph));
}

/* ---- User objects ---- */

static void count_call(void *calls) { ++*(int *)calls; }

static void test_a_user_object_ends_with_its_last_holder(void **state) {
    (void)state;
    int calls = 0;
    CUuserObject object;
    CUgraph graph = new_graph(), clone;
    assert_fails(cuUserObjectCreate(&object, &calls, count_call, 1, 0), INVALID_VALUE);
    assert_cuda(
        cuUserObjectCreate(&object, &calls, count_call, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    assert_cuda(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    assert_fails(cuUserObjectRelease(object, 3), INVALID_VALUE);
    assert_cuda(cuUserObjectRelease(object, 1));
    add_step(graph, NULL, cell, 1);
    assert_cuda(cuGraphClone(&clone, graph));
    CUgraphExec executable = instantiate(graph);
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuGraphDestroy(clone));
    assert_int_equal(calls, 0);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_int_equal(calls, 1);
    assert_fails(cuUserObjectRetain(object, 1), INVALID_VALUE);
}

/* ---- DOT ---- */

static void test_a_graph_is_written_as_dot(void **state) {
    (void)state;
    char path[] = "/tmp/tyto_graph_XXXXXX", text[4096] = "";
    CUgraph graph = new_graph();
    CUgraphNode node = add_step(graph, NULL, cell, 1);
    CUgraph body =
        add_condition(graph, &node, new_condition(graph, 0), CU_GRAPH_COND_TYPE_IF, 1)[0];
    add_step(body, NULL, cell, 2);
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_cuda(cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
    assert_true(read(file, text, sizeof text - 1) > 0);
    close(file);
    unlink(path);
    assert_non_null(strstr(text, "digraph dot {"));
    assert_non_null(strstr(text, "label=\"0: KERNEL\\nstep\\n<<<(1,1,1),(1,1,1),0>>>\""));
    assert_non_null(strstr(text, "graph_1_node_0 -> graph_1_node_1;"));
    assert_non_null(strstr(text, "CONDITIONAL\\nIF of 1"));
    assert_non_null(strstr(text, "subgraph cluster_2 {"));
    assert_fails(cuGraphDebugDotPrint(graph, "/nowhere/at/all.dot", 0), OPERATING_SYSTEM);
}

/* ---- Earlier forms ---- */

static void *form(const char *name, int version) {
    void *function = NULL;
    assert_cuda(cuGetProcAddress(name, &function, version, 0, NULL));
    return function;
}

static void test_programs_of_cuda_12_find_the_forms_that_they_know(void **state) {
    (void)state;
    typedef CUresult Instantiate(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t);
    typedef CUresult Dependencies(CUgraphNode, CUgraphNode *, size_t *);
    typedef CUresult GetKernel(CUgraphNode, void *);
    Instantiate *make;
    Dependencies *dependencies;
    GetKernel *get_kernel;
    void *found = form("cuGraphInstantiate", 11040);
    memcpy(&make, &found, sizeof found);
    found = form("cuGraphNodeGetDependencies", 12000);
    memcpy(&dependencies, &found, sizeof found);
    found = form("cuGraphKernelNodeGetParams", 11000);
    memcpy(&get_kernel, &found, sizeof found);
    CUgraph graph = new_graph();
    CUgraphNode a = add_step(graph, NULL, cell, 1), b = add_step(graph, a, cell, 2), seen[2];
    size_t count = 2;
    assert_cuda(dependencies(b, seen, &count));
    assert_true(count == 1 && seen[0] == a);
    struct {
        char old[offsetof(CUDA_KERNEL_NODE_PARAMS, kern)];
        char guard[16];
    } kernel;
    memset(&kernel, 0x5a, sizeof kernel);
    assert_cuda(get_kernel(a, &kernel));
    assert_int_equal(kernel.guard[0], 0x5a); /* nothing is written after the old structure */
    CUgraphExec executable;
    char log[8] = "x";
    assert_cuda(make(&executable, graph, seen, log, sizeof log));
    assert_string_equal(log, "");
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_int_equal(read_cell(cell), (1 * 3 + 1) * 3 + 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_while_node_runs_until_a_kernel_clears_its_condition),
        TEST(test_an_if_node_chooses_one_of_two_graphs),
        TEST(test_a_switch_node_does_the_graph_of_its_number_or_none),
        TEST(test_conditions_within_conditions_choose_by_themselves),
        TEST(test_wrong_conditions_are_refused),
        TEST(test_a_kernel_that_sets_no_condition_of_a_graph_fails),
        TEST(test_memory_of_a_graph_lives_from_its_node_to_its_end),
        TEST(test_memory_that_a_graph_leaves_is_the_programs_to_free),
        TEST(test_captured_allocations_are_nodes),
        TEST(test_nodes_of_any_type_are_made_and_changed_by_one_structure),
        TEST(test_attributes_of_kernel_nodes_stay_with_them),
        TEST(test_streams_keep_their_attributes),
        TEST(test_launches_take_their_attributes_and_record_their_events),
        TEST(test_a_stream_is_captured_into_a_graph_that_is_there),
        TEST(test_a_user_object_ends_with_its_last_holder),
        TEST(test_a_graph_is_written_as_dot),
        TEST(test_programs_of_cuda_12_find_the_forms_that_they_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
