/* Writes a graph as Graphviz DOT: a node for each node with its type and work, an edge for each
 * dependency. The graphs of child and conditional nodes are in boxes of their own. */
#include "driver/graph/graph.h"

#include <stdio.h>

#include "base/text.h"

static const char *const type_names[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = "KERNEL",
    [CU_GRAPH_NODE_TYPE_MEMCPY] = "MEMCPY",
    [CU_GRAPH_NODE_TYPE_MEMSET] = "MEMSET",
    [CU_GRAPH_NODE_TYPE_HOST] = "HOST",
    [CU_GRAPH_NODE_TYPE_GRAPH] = "GRAPH",
    [CU_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "EVENT_WAIT",
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT_RECORD",
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "MEM_ALLOC",
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = "MEM_FREE",
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "BATCH_MEM_OP",
    [CU_GRAPH_NODE_TYPE_CONDITIONAL] = "CONDITIONAL",
};

/* The flag that requests the parameters of nodes of a type. */
static const unsigned type_flags[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS,
    [CU_GRAPH_NODE_TYPE_MEMCPY] = CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS,
    [CU_GRAPH_NODE_TYPE_MEMSET] = CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS,
    [CU_GRAPH_NODE_TYPE_HOST] = CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS,
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS,
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS,
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS,
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS,
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS,
    [CU_GRAPH_NODE_TYPE_CONDITIONAL] = CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS,
};

typedef struct Dot {
    const Call *call;
    Text *out;
    unsigned flags;
    int graphs; /* graphs written so far; numbers graphs in node names */
} Dot;

static void add_kernel(const Dot *dot, const GraphWork *work) {
    const CUDA_KERNEL_NODE_PARAMS *kernel = &work->kernel;
    const Function *function = CALL_GET(dot->call, HANDLE_FUNCTION, kernel->func);
    text_printf(dot->out, "\\n%s\\n<<<(%u,%u,%u),(%u,%u,%u),%u>>>",
                function ? function->decoded->ptx->name : "?", kernel->gridDimX, kernel->gridDimY,
                kernel->gridDimZ, kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ,
                kernel->sharedMemBytes);
}

static void add_parameters(const Dot *dot, const GraphWork *work) {
    static const char *const branches[] = {"IF", "WHILE", "SWITCH"};
    Text *out = dot->out;
    if (!(dot->flags & (type_flags[work->type] | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE))) return;
    switch ((int)work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: add_kernel(dot, work); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        text_printf(out, "\\n%zu x %zu x %zu bytes", work->copy.WidthInBytes, work->copy.Height,
                    work->copy.Depth);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        text_printf(out, "\\n0x%llx, %zu x %zu of %u bytes, 0x%x", work->fill.dst, work->fill.width,
                    work->fill.height, work->fill.elementSize, work->fill.value);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        text_printf(out, "\\n0x%llx", (unsigned long long)graph_memory_address(work->memory));
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        text_printf(out, "\\n%u operations", work->operations.count);
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        text_printf(out, "\\n%s of %u", branches[work->branch.type], work->branch.count);
        break;
    default: break;
    }
}

/* Writes the data of a dependency that is not an ordinary one. */
static void add_edge_data(Text *out, CUgraphEdgeData edge) {
    static const char *const ports[] = {"end", "trigger", "launch order"};
    if (edge_is_ordinary(edge)) return;
    text_printf(out, " [style=dashed, label=\"%s%s\"]", ports[edge.from_port],
                edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ? ", programmatic" : "");
}

static void add_graph(Dot *dot, const Graph *graph, int depth);

/* Writes the graphs inside a node. */
static void add_inside(Dot *dot, const GraphWork *work, int depth) {
    if (work->type == CU_GRAPH_NODE_TYPE_GRAPH) add_graph(dot, work->child, depth);
    if (work->type != CU_GRAPH_NODE_TYPE_CONDITIONAL) return;
    for (uint32_t i = 0; i < work->branch.count; i++)
        add_graph(dot, work->branch.graphs[i], depth);
}

static void add_graph(Dot *dot, const Graph *graph, int depth) {
    int number = ++dot->graphs;
    text_printf(dot->out, "%*ssubgraph cluster_%d {\n%*slabel=\"graph %d\";\n", 2 * depth, "",
                number, 2 * depth + 2, "", number);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const GraphNode *node = graph->nodes.items[i];
        text_printf(dot->out, "%*sgraph_%d_node_%zu [shape=box, label=\"%zu: %s", 2 * depth + 2, "",
                    number, i, i, type_names[node->work.type]);
        add_parameters(dot, &node->work);
        text_add(dot->out, "\"];\n");
        for (size_t j = 0; j < node->after.count; j++) {
            const GraphEdge *edge = &node->after.items[j];
            text_printf(dot->out, "%*sgraph_%d_node_%zu -> graph_%d_node_%zu", 2 * depth + 2, "",
                        number, i, number, edge->node->index);
            add_edge_data(dot->out, edge->data);
            text_add(dot->out, ";\n");
        }
        add_inside(dot, &node->work, depth + 1);
    }
    text_printf(dot->out, "%*s}\n", 2 * depth, "");
}

static CUresult write_file(const char *path, const Text *out) {
    FILE *file = fopen(path, "w");
    bool is_written = file && fwrite(out->bytes, 1, out->length, file) == out->length;
    if (file && fclose(file)) is_written = false;
    if (!is_written) driver_say("error: cannot write %s: %m", path);
    return is_written ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult CUDAAPI cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!graph || !path) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Text out = {0};
    Dot dot = {&call, &out, flags, 0};
    text_add(&out, "digraph dot {\n");
    add_graph(&dot, graph, 1);
    text_add(&out, "}\n");
    status = write_file(path, &out);
    text_free(&out);
    return call_end(&call, status);
}
