/* Programmatic events and dependencies of graphs that are not full ones: a kernel begins when all
 * CTAs of another one have triggered, or have begun. TYTO_OPTIONS determine whether the run is
 * timed; in other runs the kernels run one after another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tyto/cuda.h"

#define assert_cuda(call)         assert_int_equal((call), CUDA_SUCCESS)
#define assert_fails(call, error) assert_int_equal((call), CUDA_ERROR_##error)

enum { ROUNDS = 300, KERNELS = 4 };

/* Each kernel stores the time at which it begins, when its wait is over, and when it ends; `steps`
 * gets 3 steps + own. `dependent` triggers after its wait, `plain` does neither. Each spends
 * `before` rounds before the second stamp, and `behind` rounds after it. */
#define LOOP(label, rounds)                                                                        \
    "  ld.param.u32 %n, [" rounds "];\n" label ": setp.eq.u32 q, %n, 0; @q bra " label             \
    "X; sub.u32 %n, %n, 1; membar.cta; bra " label ";\n" label "X:\n"
#define KERNEL(name, middle)                                                                       \
    ".visible .entry " name "(.param .u64 stamps, .param .u64 steps, .param .u32 own,\n"           \
    "  .param .u32 before, .param .u32 behind) {\n"                                                \
    "  .reg .b64 %p, %s, %t; .reg .b32 %n, %x; .reg .pred q;\n"                                    \
    "  ld.param.u64 %p, [stamps]; ld.param.u64 %s, [steps];\n"                                     \
    "  mov.u64 %t, %globaltimer; st.global.u64 [%p], %t;\n" LOOP("A", "before") middle             \
        "  mov.u64 %t, %globaltimer; st.global.u64 [%p+8], %t;\n" LOOP(                            \
            "B", "behind") "  ld.global.u32 %x, [%s]; ld.param.u32 %n, [own]; mad.lo.u32 %x, %x, " \
                           "3, %n;\n"                                                              \
                           "  st.global.u32 [%s], %x; mov.u64 %t, %globaltimer; st.global.u64 "    \
                           "[%p+16], %t; ret;\n}\n"

static const char module_text[] = ".version 8.1\n.target sm_90\n.address_size 64\n" KERNEL(
    "dependent", "  griddepcontrol.wait; griddepcontrol.launch_dependents;\n") KERNEL("plain", "");

static const CUgraphEdgeData full,
    programmatic = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                    .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
    at_start = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
                .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
    after_launch = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER};

typedef struct Stamps {
    uint64_t begin, waited, end; /* ns */
} Stamps;

static CUcontext context;
static CUfunction dependent, plain;
static CUdeviceptr stamps, steps;
static CUstream streams[2];
static Stamps found[KERNELS];

static int set_up(void **state) {
    CUmodule module;
    (void)state;
    memset(found, 0, sizeof found);
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0)) return -1;
    return cuModuleLoadData(&module, module_text) ||
           cuModuleGetFunction(&dependent, module, "dependent") ||
           cuModuleGetFunction(&plain, module, "plain") || cuMemAlloc(&stamps, sizeof found) ||
           cuMemAlloc(&steps, 4) || cuMemsetD8(stamps, 0, sizeof found) ||
           cuMemsetD32(steps, 0, 1) || cuStreamCreate(&streams[0], CU_STREAM_NON_BLOCKING) ||
           cuStreamCreate(&streams[1], CU_STREAM_NON_BLOCKING);
}

static int tear_down(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

/* Whether stamps of different kernels can be compared in this run, and whether kernels can overlap.
 */
static bool is_timed(void) { return !strstr(getenv("TYTO_OPTIONS"), "--functional"); }
static bool can_overlap(void) {
    const char *options = getenv("TYTO_OPTIONS");
    return is_timed() && !strstr(options, "--serial") && !strstr(options, "--check");
}

static void assert_order(uint64_t first, uint64_t second) {
    if (is_timed()) assert_true(first <= second);
}

/* The parameters of a kernel: its number, and the rounds before and after its wait. */
typedef struct Given {
    CUdeviceptr stamps;
    uint32_t own, before, behind;
    void *pointers[5];
} Given;

static void give(Given *given, uint32_t own, uint32_t before, uint32_t behind) {
    *given = (Given){stamps + own * sizeof(Stamps), own, before, behind, {NULL}};
    void *pointers[] = {&given->stamps, &steps, &given->own, &given->before, &given->behind};
    memcpy(given->pointers, pointers, sizeof pointers);
}

static void launch(CUstream stream, CUfunction kernel, Given given, CUlaunchAttribute attribute) {
    const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, &attribute, 1};
    Given own;
    give(&own, given.own, given.before, given.behind);
    assert_cuda(cuLaunchKernelEx(&config, kernel, own.pointers, NULL));
}

static Given rounds(uint32_t own, uint32_t before, uint32_t behind) {
    return (Given){.own = own, .before = before, .behind = behind};
}

static CUlaunchAttribute is_dependent(int value) {
    return (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                               .value.programmaticStreamSerializationAllowed = value};
}

static CUgraphNode add(CUgraph graph, CUfunction kernel, const CUgraphNode *before,
                       const CUgraphEdgeData *edges, size_t count, Given given) {
    CUgraphNode node;
    Given own;
    give(&own, given.own, given.before, given.behind);
    CUgraphNodeParams parameters = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                                    .kernel = {.func = kernel,
                                               .gridDimX = 1,
                                               .gridDimY = 1,
                                               .gridDimZ = 1,
                                               .blockDimX = 1,
                                               .blockDimY = 1,
                                               .blockDimZ = 1,
                                               .kernelParams = own.pointers}};
    assert_cuda(cuGraphAddNode(&node, graph, before, edges, count, &parameters));
    return node;
}

static CUgraph new_graph(void) {
    CUgraph graph;
    assert_cuda(cuGraphCreate(&graph, 0));
    return graph;
}

/* Reads the stamps, and checks the order of the kernels in which they changed the word. */
static void read_stamps(int kernels) {
    uint32_t word, expected = 0;
    assert_cuda(cuMemcpyDtoH(found, stamps, sizeof found));
    assert_cuda(cuMemcpyDtoH(&word, steps, sizeof word));
    for (int i = 0; i < kernels; i++)
        expected = 3 * expected + (uint32_t)i;
    if (kernels) assert_int_equal(word, expected);
    assert_cuda(cuMemsetD32(steps, 0, 1));
}

/* Launches a graph and reads the stamps of its kernels. */
static void run(CUgraph graph, CUstream stream, int kernels) {
    CUgraphExec exec;
    assert_cuda(cuGraphInstantiate(&exec, graph, 0));
    assert_cuda(cuGraphLaunch(exec, stream));
    assert_cuda(cuStreamSynchronize(stream));
    read_stamps(kernels);
    assert_cuda(cuGraphExecDestroy(exec));
}

/* Checks that one kernel began while the other ran, and after its trigger (or its begin); without
 * overlap, that it began at the other's end. */
static void assert_overlap(const Stamps *first, const Stamps *second, bool is_after_trigger) {
    if (!can_overlap()) assert_order(first->end, second->begin);
    if (!can_overlap()) return;
    assert_in_range(second->begin, is_after_trigger ? first->waited : first->begin, first->end - 1);
}

/* ---- Graphs ---- */

static void a_kernel_begins_at_the_trigger_and_waits_for_the_end(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode node = add(graph, dependent, NULL, NULL, 0, rounds(0, ROUNDS, ROUNDS));
    for (uint32_t i = 1; i < 4; i++)
        node = add(graph, dependent, &node, &programmatic, 1, rounds(i, ROUNDS, ROUNDS));
    for (int way = 0; way < 2; way++) { /* also in the default stream */
        run(graph, way ? NULL : streams[0], 4);
        for (int i = 0; i < 3; i++) {
            assert_overlap(&found[i], &found[i + 1], true);
            assert_order(found[i].end, found[i + 1].waited);
        }
    }
}

static void kernels_take_less_time_together(void **state) {
    (void)state;
    uint64_t time[2];
    for (int way = 0; way < 2; way++) {
        const CUgraphEdgeData edge = way ? programmatic : full;
        CUgraph graph = new_graph();
        CUgraphNode node = add(graph, dependent, NULL, NULL, 0, rounds(0, ROUNDS, ROUNDS));
        for (uint32_t i = 1; i < 4; i++)
            node = add(graph, dependent, &node, &edge, 1, rounds(i, ROUNDS, ROUNDS));
        run(graph, streams[0], 4);
        time[way] = found[3].end - found[0].begin;
    }
    /* Four kernels of two equal parts each: five parts instead of eight, without the time of three
     * launches. */
    if (can_overlap()) assert_in_range(time[1] * 100 / time[0], 45, 62);
}

static void a_kernel_begins_with_the_launch_of_another(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode first = add(graph, plain, NULL, NULL, 0, rounds(0, ROUNDS, ROUNDS));
    add(graph, dependent, &first, &at_start, 1, rounds(1, 0, 0));
    run(graph, streams[0], 2);
    assert_overlap(&found[0], &found[1], false);
    assert_order(found[0].end, found[1].waited);
}

/* griddepcontrol.wait does not know a kernel that only had to begin. */
static void launch_order_alone_is_not_waited_for(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode first = add(graph, plain, NULL, NULL, 0, rounds(0, ROUNDS, ROUNDS));
    add(graph, dependent, &first, &after_launch, 1, rounds(1, 0, 0));
    run(graph, streams[0], 0);
    assert_overlap(&found[0], &found[1], false);
    if (can_overlap()) assert_true(found[1].end < found[0].end);
}

static void a_plain_kernel_has_triggered_at_its_end(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode first = add(graph, plain, NULL, NULL, 0, rounds(0, ROUNDS, 0));
    add(graph, dependent, &first, &programmatic, 1, rounds(1, 0, 0));
    run(graph, streams[0], 2);
    assert_order(found[0].end, found[1].begin);
}

static void a_kernel_waits_for_all_that_it_depends_on(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode before[] = {add(graph, dependent, NULL, NULL, 0, rounds(0, 0, 3 * ROUNDS)),
                            add(graph, dependent, NULL, NULL, 0, rounds(1, ROUNDS, ROUNDS)),
                            add(graph, plain, NULL, NULL, 0, rounds(2, 0, ROUNDS))};
    const CUgraphEdgeData edges[] = {programmatic, programmatic, full};
    add(graph, dependent, before, edges, 3, rounds(3, 0, 0));
    run(graph, streams[0], 0);
    assert_overlap(&found[0], &found[3], true);
    for (int i = 0; i < 3; i++)
        assert_order(found[i].end, found[3].waited);
    assert_order(found[2].end, found[3].begin);
}

/* A kernel that began early and does not wait ends first; what depends on it comes after both. */
static void what_follows_comes_after_all_before(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode node = add(graph, dependent, NULL, NULL, 0, rounds(0, 0, 2 * ROUNDS));
    node = add(graph, plain, &node, &programmatic, 1, rounds(1, 0, 0));
    add(graph, plain, &node, NULL, 1, rounds(2, 0, 0));
    run(graph, streams[0], 0);
    assert_overlap(&found[0], &found[1], true);
    assert_order(found[0].end, found[2].begin);
}

static void a_kernel_may_depend_on_more_than_the_machine_notes(void **state) {
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode before[12];
    CUgraphEdgeData edges[12];
    for (int i = 0; i < 12; i++) {
        before[i] = add(graph, dependent, NULL, NULL, 0, rounds(0, 0, 20 * (uint32_t)i));
        edges[i] = programmatic;
    }
    add(graph, dependent, before, edges, 12, rounds(1, 0, 0));
    run(graph, streams[0], 0);
    assert_order(found[0].end, found[1].waited);
}

static void a_disabled_kernel_is_skipped(void **state) {
    (void)state;
    CUgraphExec exec;
    CUgraph graph = new_graph();
    CUgraphNode first = add(graph, dependent, NULL, NULL, 0, rounds(0, 0, ROUNDS));
    CUgraphNode second = add(graph, dependent, &first, &programmatic, 1, rounds(1, 0, ROUNDS));
    add(graph, dependent, &second, &programmatic, 1, rounds(2, 0, 0));
    assert_cuda(cuGraphInstantiate(&exec, graph, 0));
    assert_cuda(cuGraphNodeSetEnabled(exec, second, 0));
    assert_cuda(cuGraphLaunch(exec, streams[0]));
    assert_cuda(cuStreamSynchronize(streams[0]));
    read_stamps(0);
    assert_int_equal(found[1].end, 0);
    assert_order(found[0].end, found[2].waited);
}

/* ---- Questions and changes ---- */

static void wrong_dependencies_are_refused(void **state) {
    (void)state;
    static const CUgraphEdgeData wrong[] = {
        {.from_port = 3},
        {.to_port = 1},
        {.type = 2},
        {.reserved = {0, 0, 0, 0, 1}},
        {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC},
        {.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
    };
    CUgraph graph = new_graph();
    CUgraphNode a = add(graph, plain, NULL, NULL, 0, rounds(0, 0, 0)),
                b = add(graph, plain, NULL, NULL, 0, rounds(1, 0, 0)), empty, node;
    CUgraphNodeParams nothing = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    assert_cuda(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(cuGraphAddDependencies(graph, &a, &b, &wrong[i], 1), INVALID_VALUE);
        assert_fails(cuStreamBeginCaptureToGraph(streams[0], graph, &a, &wrong[i], 1,
                                                 CU_STREAM_CAPTURE_MODE_GLOBAL),
                     INVALID_VALUE);
    }
    /* only kernels have ports, and only between kernels is a dependency programmatic */
    assert_fails(cuGraphAddDependencies(graph, &empty, &b, &after_launch, 1), INVALID_VALUE);
    assert_fails(cuGraphAddDependencies(graph, &empty, &b, &programmatic, 1), INVALID_VALUE);
    assert_fails(cuGraphAddDependencies(graph, &a, &empty, &at_start, 1), INVALID_VALUE);
    assert_fails(cuGraphAddNode(&node, graph, &a, &programmatic, 1, &nothing), INVALID_VALUE);
    assert_cuda(cuGraphAddNode(&node, graph, &a, &after_launch, 1, &nothing));
    /* two nodes have at most one edge, which is removed by its data */
    assert_cuda(cuGraphAddDependencies(graph, &a, &b, &programmatic, 1));
    assert_fails(cuGraphAddDependencies(graph, &a, &b, &at_start, 1), INVALID_VALUE);
    assert_fails(cuGraphRemoveDependencies(graph, &a, &b, NULL, 1), INVALID_VALUE);
    assert_fails(cuGraphRemoveDependencies(graph, &a, &b, &at_start, 1), INVALID_VALUE);
    assert_cuda(cuGraphRemoveDependencies(graph, &a, &b, &programmatic, 1));
    assert_cuda(cuGraphAddDependencies(graph, &a, &b, NULL, 1));
}

static void assert_edge(CUgraphEdgeData edge, CUgraphEdgeData expected) {
    assert_memory_equal(&edge, &expected, sizeof edge);
}

static void questions_tell_the_data_of_dependencies(void **state) {
    (void)state;
    CUgraph graph = new_graph(), clone;
    CUgraphNode a = add(graph, plain, NULL, NULL, 0, rounds(0, 0, 0)),
                b = add(graph, plain, &a, &programmatic, 1, rounds(1, 0, 0)), from[2], to[2];
    CUgraphEdgeData edges[2];
    add(graph, plain, &b, NULL, 1, rounds(2, 0, 0));
    assert_cuda(cuGraphClone(&clone, graph));
    for (int way = 0; way < 2; way++) {
        size_t count = 2;
        const CUgraph of = way ? clone : graph;
        assert_fails(cuGraphGetEdges(of, from, to, NULL, &count), LOSSY_QUERY);
        assert_fails(cuGraphGetEdges(of, NULL, NULL, edges, &count), INVALID_VALUE);
        assert_cuda(cuGraphGetEdges(of, NULL, NULL, NULL, &count));
        assert_int_equal(count, 2);
        assert_cuda(cuGraphGetEdges(of, from, to, edges, &count));
        assert_edge(edges[0], programmatic);
        assert_edge(edges[1], full);
        count = 1;
        assert_fails(cuGraphNodeGetDependencies(to[0], from, NULL, &count), LOSSY_QUERY);
        assert_cuda(cuGraphNodeGetDependencies(to[0], from, edges, &count));
        assert_edge(edges[0], programmatic);
        assert_fails(cuGraphNodeGetDependentNodes(from[0], to, NULL, &count), LOSSY_QUERY);
        assert_cuda(cuGraphNodeGetDependentNodes(from[0], to, edges, &count));
        assert_edge(edges[0], programmatic);
        assert_cuda(cuGraphNodeGetDependentNodes(to[0], from, NULL, &count));
    }
    run(clone, streams[0], 3);
}

static void a_drawing_has_the_data_of_dependencies(void **state) {
    (void)state;
    char path[] = "/tmp/tyto_edges_XXXXXX", text[2048];
    CUgraph graph = new_graph();
    CUgraphNode a = add(graph, plain, NULL, NULL, 0, rounds(0, 0, 0)),
                b = add(graph, plain, &a, &programmatic, 1, rounds(1, 0, 0)),
                c = add(graph, plain, &b, &after_launch, 1, rounds(2, 0, 0));
    add(graph, plain, &c, NULL, 1, rounds(3, 0, 0));
    assert_true(mkstemp(path) >= 0);
    assert_cuda(cuGraphDebugDotPrint(graph, path, 0));
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(path);
    assert_non_null(strstr(
        text, "node_0 -> graph_1_node_1 [style=dashed, label=\"trigger, programmatic\"];\n"));
    assert_non_null(
        strstr(text, "node_1 -> graph_1_node_2 [style=dashed, label=\"launch order\"]"));
    assert_non_null(strstr(text, "node_2 -> graph_1_node_3;\n"));
}

static void an_update_does_not_change_dependencies(void **state) {
    (void)state;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    CUgraph graphs[3];
    const CUgraphEdgeData edges[] = {programmatic, at_start, programmatic};
    CUgraphNode second[3];
    for (uint32_t i = 0; i < 3; i++) {
        graphs[i] = new_graph();
        CUgraphNode first = add(graphs[i], dependent, NULL, NULL, 0, rounds(0, 0, ROUNDS));
        second[i] = add(graphs[i], dependent, &first, &edges[i], 1, rounds(1, 0, i * ROUNDS));
    }
    assert_cuda(cuGraphInstantiate(&exec, graphs[0], 0));
    assert_fails(cuGraphExecUpdate(exec, graphs[1], &info), GRAPH_EXEC_UPDATE_FAILURE);
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    assert_ptr_equal(info.errorNode, second[1]);
    assert_cuda(cuGraphExecUpdate(exec, graphs[2], &info));
    assert_cuda(cuGraphLaunch(exec, streams[0]));
    assert_cuda(cuStreamSynchronize(streams[0]));
    read_stamps(2);
    assert_overlap(&found[0], &found[1], true);
    assert_order(found[1].waited + 1, found[1].end);
}

/* ---- Events of launches ---- */

/* The attribute that records an event: 0: at the trigger, 1: a trigger at the begin, 2: at the
 * launch's completion. */
static CUlaunchAttribute recording(CUevent event, int kind) {
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                   .value.programmaticEvent = {event, 0, kind == 1}};
    if (kind == 2)
        attribute = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                        .value.launchCompletionEvent = {event, 0}};
    return attribute;
}

static CUevent new_event(void) {
    CUevent event;
    assert_cuda(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static void another_stream_goes_on_at_an_event_of_a_launch(void **state) {
    (void)state;
    CUevent event = new_event();
    for (int kind = 0; kind < 3; kind++) {
        launch(streams[0], kind ? plain : dependent, rounds(0, ROUNDS, ROUNDS),
               recording(event, kind));
        assert_cuda(cuStreamWaitEvent(streams[1], event, 0));
        launch(streams[1], dependent, rounds(1, 0, 0), is_dependent(0));
        assert_cuda(cuStreamSynchronize(streams[1]));
        assert_cuda(cuStreamSynchronize(streams[0]));
        assert_cuda(cuEventQuery(event));
        read_stamps(kind < 2 ? 2 : 0);
        assert_overlap(&found[0], &found[1], kind == 0);
        if (kind < 2) assert_order(found[0].end, found[1].waited);
        else if (can_overlap()) assert_true(found[1].end < found[0].end);
    }
}

/* A kernel behind an event that waits for the end, and other work, are not early. */
static void other_work_waits_for_the_end(void **state) {
    (void)state;
    CUevent event = new_event(), last = new_event();
    launch(streams[0], dependent, rounds(0, 0, ROUNDS), recording(event, 0));
    assert_cuda(cuEventRecord(last, streams[0]));
    assert_cuda(cuStreamWaitEvent(streams[1], event, 0));
    assert_cuda(cuStreamWaitEvent(streams[1], last, 0));
    launch(streams[1], plain, rounds(1, 0, 0), is_dependent(0));
    assert_cuda(cuStreamSynchronize(streams[1]));
    read_stamps(2);
    assert_order(found[0].end, found[1].begin);
    launch(streams[0], plain, rounds(0, ROUNDS, 0), recording(event, 1));
    assert_cuda(cuStreamWaitEvent(streams[1], event, 0));
    assert_cuda(cuMemsetD32Async(steps, 7, 1, streams[1]));
    launch(streams[1], plain, rounds(1, 0, 0), is_dependent(0));
    assert_cuda(cuStreamSynchronize(streams[1]));
    read_stamps(0);
    assert_order(found[0].end, found[1].begin);
}

/* An event recorded again in the ordinary way is an ordinary one. */
static void an_event_can_be_recorded_again(void **state) {
    (void)state;
    CUevent event = new_event();
    launch(streams[0], dependent, rounds(0, 0, ROUNDS), recording(event, 0));
    assert_cuda(cuEventRecord(event, streams[0]));
    assert_cuda(cuStreamWaitEvent(streams[1], event, 0));
    launch(streams[1], dependent, rounds(1, 0, 0), is_dependent(0));
    assert_cuda(cuEventSynchronize(event));
    assert_cuda(cuStreamSynchronize(streams[1]));
    read_stamps(2);
    assert_order(found[0].end, found[1].begin);
}

static void events_of_launches_are_checked(void **state) {
    (void)state;
    CUevent timed;
    Given given;
    assert_cuda(cuEventCreate(&timed, CU_EVENT_DEFAULT));
    give(&given, 0, 0, 0);
    for (int kind = 0; kind < 3; kind++) {
        CUlaunchAttribute attribute = recording(timed, kind);
        const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, streams[0], &attribute, 1};
        assert_fails(cuLaunchKernelEx(&config, plain, given.pointers, NULL), INVALID_VALUE);
        attribute = recording(NULL, kind);
        assert_fails(cuLaunchKernelEx(&config, plain, given.pointers, NULL), INVALID_HANDLE);
        attribute = recording(new_event(), kind);
        if (kind < 2) attribute.value.programmaticEvent.flags = 1;
        else attribute.value.launchCompletionEvent.flags = 1;
        assert_fails(cuLaunchKernelEx(&config, plain, given.pointers, NULL), INVALID_VALUE);
    }
}

/* Work in the legacy default stream separates two launches of a stream that waits for it. */
static void the_default_stream_separates_dependent_launches(void **state) {
    (void)state;
    CUstream blocking;
    assert_cuda(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    launch(blocking, dependent, rounds(0, 0, ROUNDS), is_dependent(0));
    launch(NULL, plain, rounds(1, 0, 0), is_dependent(0));
    launch(blocking, dependent, rounds(2, 0, 0), is_dependent(1));
    assert_cuda(cuStreamSynchronize(blocking));
    read_stamps(3);
    assert_order(found[1].end, found[2].begin);
}

static void a_context_can_end_before_an_early_kernel(void **state) {
    (void)state;
    CUevent event = new_event();
    launch(streams[0], dependent, rounds(0, 0, ROUNDS), recording(event, 0));
    assert_cuda(cuStreamWaitEvent(streams[1], event, 0));
    launch(streams[1], dependent, rounds(1, ROUNDS, ROUNDS), is_dependent(0));
    assert_cuda(cuEventDestroy(event));
    assert_int_equal(tear_down(NULL), 0);
    assert_int_equal(set_up(NULL), 0);
}

/* ---- Capture ---- */

static CUgraph end_capture(CUgraphEdgeData *edges, size_t expected) {
    CUgraph graph;
    CUgraphNode from[4], to[4];
    size_t count = 4;
    assert_cuda(cuStreamEndCapture(streams[0], &graph));
    assert_cuda(cuGraphGetEdges(graph, from, to, edges, &count));
    assert_int_equal(count, expected);
    return graph;
}

static void begin_capture(void) {
    assert_cuda(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
}

static void dependent_launches_are_captured(void **state) {
    (void)state;
    CUgraphEdgeData edges[4];
    begin_capture();
    launch(streams[0], dependent, rounds(0, ROUNDS, ROUNDS), is_dependent(1));
    launch(streams[0], dependent, rounds(1, ROUNDS, ROUNDS), is_dependent(1));
    launch(streams[0], dependent, rounds(2, ROUNDS, ROUNDS), is_dependent(0));
    assert_cuda(cuMemsetD32Async(stamps + 3 * sizeof(Stamps), 1, 1, streams[0]));
    launch(streams[0], dependent, rounds(3, ROUNDS, ROUNDS), is_dependent(1));
    CUgraph graph = end_capture(edges, 4);
    assert_edge(edges[0], programmatic);
    for (int i = 1; i < 4; i++)
        assert_edge(edges[i], full);
    run(graph, streams[0], 4);
    assert_overlap(&found[0], &found[1], true);
    assert_order(found[1].end, found[2].begin);
    assert_order(found[2].end, found[3].begin);
}

static void events_of_launches_are_captured(void **state) {
    (void)state;
    const CUgraphEdgeData expected[] = {programmatic, at_start, after_launch};
    CUgraphEdgeData edges[4];
    CUevent event = new_event(), join = new_event();
    for (int kind = 0; kind < 3; kind++) {
        CUstreamCaptureStatus status;
        const CUgraphNode *nodes;
        const CUgraphEdgeData *tail;
        size_t count;
        begin_capture();
        launch(streams[0], dependent, rounds(0, ROUNDS, ROUNDS), recording(event, kind));
        assert_cuda(cuStreamWaitEvent(streams[1], event, 0));
        assert_fails(cuStreamGetCaptureInfo(streams[1], &status, NULL, NULL, &nodes, NULL, &count),
                     LOSSY_QUERY);
        assert_fails(cuStreamGetCaptureInfo(streams[1], &status, NULL, NULL, NULL, &tail, &count),
                     INVALID_VALUE);
        assert_cuda(cuStreamGetCaptureInfo(streams[1], &status, NULL, NULL, &nodes, &tail, &count));
        assert_int_equal(count, 1);
        assert_edge(tail[0], expected[kind]);
        launch(streams[1], dependent, rounds(1, 0, 0), is_dependent(0));
        assert_cuda(cuEventRecord(join, streams[1]));
        assert_cuda(cuStreamWaitEvent(streams[0], join, 0));
        CUgraph graph = end_capture(edges, 1);
        assert_edge(edges[0], expected[kind]);
        run(graph, streams[0], kind < 2 ? 2 : 0);
        assert_overlap(&found[0], &found[1], kind == 0);
    }
}

/* Work other than a kernel waits for the end of the kernel. */
static void other_work_is_captured_with_a_full_dependency(void **state) {
    (void)state;
    CUgraphEdgeData edges[4];
    CUevent event = new_event(), join = new_event();
    begin_capture();
    launch(streams[0], dependent, rounds(0, 0, ROUNDS), recording(event, 0));
    assert_cuda(cuStreamWaitEvent(streams[1], event, 0));
    assert_cuda(cuMemsetD32Async(steps, 7, 1, streams[1]));
    assert_cuda(cuEventRecord(join, streams[1]));
    assert_cuda(cuStreamWaitEvent(streams[0], join, 0));
    end_capture(edges, 1);
    assert_edge(edges[0], full);
}

/* A stream has rejoined only when the end of its work is waited for. */
static void an_early_event_does_not_join_a_capture(void **state) {
    (void)state;
    CUgraph graph;
    CUevent event = new_event(), fork = new_event();
    for (int way = 0; way < 2; way++) {
        begin_capture();
        assert_cuda(cuEventRecord(fork, streams[0]));
        assert_cuda(cuStreamWaitEvent(streams[1], fork, 0));
        launch(streams[1], dependent, rounds(0, 0, 0), recording(event, 0));
        assert_cuda(cuStreamWaitEvent(streams[0], event, 0));
        if (way) launch(streams[0], dependent, rounds(1, 0, 0), is_dependent(1));
        assert_fails(cuStreamEndCapture(streams[0], &graph), STREAM_CAPTURE_UNJOINED);
    }
}

static void a_capture_takes_the_data_of_given_dependencies(void **state) {
    (void)state;
    CUgraphNode nodes[2];
    CUgraphEdgeData edges[2];
    const CUgraphEdgeData wrong = {.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    size_t count = 2;
    CUgraph graph = new_graph();
    CUgraphNode first = add(graph, dependent, NULL, NULL, 0, rounds(0, 0, ROUNDS)), from[2], to[2];
    assert_cuda(cuStreamBeginCaptureToGraph(streams[0], graph, &first, &programmatic, 1,
                                            CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(streams[0], dependent, rounds(1, 0, ROUNDS), is_dependent(0));
    assert_cuda(cuGraphNodeGetDependentNodes(first, nodes, edges, &count));
    assert_fails(cuStreamUpdateCaptureDependencies(streams[0], nodes, &wrong, 1,
                                                   CU_STREAM_SET_CAPTURE_DEPENDENCIES),
                 INVALID_VALUE);
    assert_cuda(cuStreamUpdateCaptureDependencies(streams[0], nodes, &at_start, 1,
                                                  CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    launch(streams[0], dependent, rounds(2, 0, 0), is_dependent(0));
    assert_cuda(cuStreamEndCapture(streams[0], NULL));
    count = 2;
    assert_cuda(cuGraphGetEdges(graph, from, to, edges, &count));
    assert_edge(edges[0], programmatic);
    assert_edge(edges[1], at_start);
    run(graph, streams[0], 3);
    assert_overlap(&found[0], &found[1], true);
    assert_overlap(&found[1], &found[2], false);
}

/* Of two dependencies on one kernel, a captured node keeps the later one. */
static void a_full_dependency_prevails(void **state) {
    (void)state;
    CUgraphEdgeData edges[4];
    CUevent early = new_event(), started = new_event(), last = new_event(), join = new_event();
    for (int way = 0; way < 2; way++) {
        begin_capture();
        launch(streams[0], dependent, rounds(0, 0, 0), recording(way ? early : started, !way));
        assert_cuda(cuEventRecord(last, streams[0]));
        assert_cuda(cuStreamWaitEvent(streams[1], way ? early : last, 0));
        assert_cuda(cuStreamWaitEvent(streams[1], way ? last : started, 0));
        launch(streams[1], dependent, rounds(1, 0, 0), is_dependent(0));
        assert_cuda(cuEventRecord(join, streams[1]));
        assert_cuda(cuStreamWaitEvent(streams[0], join, 0));
        end_capture(edges, 1);
        assert_edge(edges[0], full);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_kernel_begins_at_the_trigger_and_waits_for_the_end),
        TEST(kernels_take_less_time_together),
        TEST(a_kernel_begins_with_the_launch_of_another),
        TEST(launch_order_alone_is_not_waited_for),
        TEST(a_plain_kernel_has_triggered_at_its_end),
        TEST(a_kernel_waits_for_all_that_it_depends_on),
        TEST(what_follows_comes_after_all_before),
        TEST(a_kernel_may_depend_on_more_than_the_machine_notes),
        TEST(a_disabled_kernel_is_skipped),
        TEST(wrong_dependencies_are_refused),
        TEST(questions_tell_the_data_of_dependencies),
        TEST(a_drawing_has_the_data_of_dependencies),
        TEST(an_update_does_not_change_dependencies),
        TEST(another_stream_goes_on_at_an_event_of_a_launch),
        TEST(other_work_waits_for_the_end),
        TEST(an_event_can_be_recorded_again),
        TEST(events_of_launches_are_checked),
        TEST(the_default_stream_separates_dependent_launches),
        TEST(a_context_can_end_before_an_early_kernel),
        TEST(dependent_launches_are_captured),
        TEST(events_of_launches_are_captured),
        TEST(other_work_is_captured_with_a_full_dependency),
        TEST(an_early_event_does_not_join_a_capture),
        TEST(a_capture_takes_the_data_of_given_dependencies),
        TEST(a_full_dependency_prevails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
