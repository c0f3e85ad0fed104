/* Graphs: their nodes in order of creation, the dependencies between them, and copies of graphs. */
#include "driver/graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lists ---- */

/* A list doubles its capacity at each power of two. */
static void list_add(NodeList *list, GraphNode *node) {
    if ((list->count & (list->count - 1)) == 0) {
        size_t capacity = list->count ? 2 * list->count : 1;
        list->items = base_realloc(list->items, capacity * sizeof *list->items);
    }
    list->items[list->count++] = node;
}

static size_t list_find(const NodeList *list, const GraphNode *node) {
    size_t i = 0;
    while (i < list->count && list->items[i] != node)
        i++;
    return i;
}

static void list_remove(NodeList *list, const GraphNode *node) {
    size_t i = list_find(list, node);
    if (i == list->count) return;
    list->count--;
    memmove(&list->items[i], &list->items[i + 1], (list->count - i) * sizeof *list->items);
}

/* A list of dependencies grows in the same way. */
static void edges_add(EdgeList *list, GraphNode *node, CUgraphEdgeData data) {
    if ((list->count & (list->count - 1)) == 0) {
        size_t capacity = list->count ? 2 * list->count : 1;
        list->items = base_realloc(list->items, capacity * sizeof *list->items);
    }
    list->items[list->count++] = (GraphEdge){.node = node, .data = data};
}

static size_t edges_find(const EdgeList *list, const GraphNode *node) {
    size_t i = 0;
    while (i < list->count && list->items[i].node != node)
        i++;
    return i;
}

static void edges_remove(EdgeList *list, const GraphNode *node) {
    size_t i = edges_find(list, node);
    if (i == list->count) return;
    list->count--;
    memmove(&list->items[i], &list->items[i + 1], (list->count - i) * sizeof *list->items);
}

/* ---- Data of dependencies ---- */

static const CUgraphEdgeData ordinary;

static bool are_same(CUgraphEdgeData a, CUgraphEdgeData b) { return !memcmp(&a, &b, sizeof a); }

bool edge_is_ordinary(CUgraphEdgeData edge) { return are_same(edge, ordinary); }

/* Whether a dependency between nodes of these types may have these data (CUDA Driver API,
 * CUgraphEdgeData and CUgraphDependencyType). */
static bool is_right(CUgraphEdgeData edge, CUgraphNodeType from, CUgraphNodeType to) {
    const bool is_programmatic = edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    const CUgraphEdgeData known = {.from_port = edge.from_port, .type = edge.type};
    if (!are_same(edge, known) || edge.type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) return false;
    if (edge.from_port > CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER) return false;
    if (edge.from_port && from != CU_GRAPH_NODE_TYPE_KERNEL) return false;
    if (is_programmatic) return edge.from_port && to == CU_GRAPH_NODE_TYPE_KERNEL;
    return edge.from_port != CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
}

bool edge_may_leave(CUgraphEdgeData edge, CUgraphNodeType from) {
    return is_right(edge, from, CU_GRAPH_NODE_TYPE_KERNEL);
}

void edge_set_serial(const GraphNode *from, const GraphNode *to) {
    from->after.items[edges_find(&from->after, to)].is_serial = true;
}

GpuPrerequisite edge_prerequisite(CUgraphEdgeData edge, struct GpuGrid *grid) {
    return (GpuPrerequisite){.grid = grid,
                             .is_at_start =
                                 edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
                             .is_awaited = edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
}

/* ---- Nodes ---- */

static GraphNode *node_new(Driver *driver, Graph *graph, const GraphWork *work) {
    GraphNode *node = base_calloc(1, sizeof *node);
    node->graph = graph;
    node->handle = driver_add(driver, HANDLE_GRAPH_NODE, node);
    node->index = graph->nodes.count;
    node->work = *work;
    list_add(&graph->nodes, node);
    return node;
}

static void node_free(Driver *driver, GraphNode *node) {
    handles_remove(&driver->handles, HANDLE_GRAPH_NODE, (uint64_t)(uintptr_t)node->handle);
    work_free(driver, &node->work);
    free(node->before.items);
    free(node->after.items);
    free(node);
}

static void connect(GraphNode *from, GraphNode *to, CUgraphEdgeData data) {
    edges_add(&from->after, to, data);
    edges_add(&to->before, from, data);
}

/* The node if it belongs to the graph, else NULL. */
static GraphNode *find(const Call *call, const Graph *graph, CUgraphNode handle) {
    GraphNode *node = CALL_GET(call, HANDLE_GRAPH_NODE, handle);
    return node && node->graph == graph ? node : NULL;
}

bool graph_are_dependencies(const Call *call, const Graph *graph, const CUgraphNode *dependencies,
                            const CUgraphEdgeData *edges, size_t count, CUgraphNodeType to) {
    if (count && !dependencies) return false;
    for (size_t i = 0; i < count; i++) {
        const GraphNode *node = find(call, graph, dependencies[i]);
        if (!node || (edges && !is_right(edges[i], node->work.type, to))) return false;
        for (size_t j = 0; j < i; j++)
            if (dependencies[i] == dependencies[j]) return false;
    }
    return true;
}

/* Types of nodes that the graphs of a conditional node may contain: those that need neither the
 * host nor an allocation. */
static bool may_hold(const Graph *graph, CUgraphNodeType type) {
    return !graph->is_branch || type <= CU_GRAPH_NODE_TYPE_MEMSET ||
           type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_EMPTY ||
           type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

static CUresult check_add(const Call *call, const Graph *graph, const CUgraphNode *dependencies,
                          const CUgraphEdgeData *edges, size_t count, const GraphWork *work) {
    if (!graph_are_dependencies(call, graph, dependencies, edges, count, work->type))
        return CUDA_ERROR_INVALID_VALUE;
    if (!may_hold(graph, work->type)) {
        driver_say("error: a conditional node's graph can hold kernels, copies, fillings, child "
                   "graphs and conditional nodes only");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (work->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return graph_memory_add_free(call, graph, work->memory);
    return CUDA_SUCCESS;
}

CUresult graph_add(Call *call, Graph *graph, const CUgraphNode *dependencies,
                   const CUgraphEdgeData *edges, size_t count, GraphWork *work,
                   CUgraphNode *handle) {
    CUresult status = check_add(call, graph, dependencies, edges, count, work);
    if (status) {
        work_free(call->driver, work);
        return status;
    }
    if (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) graph_memory_own(work->memory, graph);
    GraphNode *node = node_new(call->driver, graph, work);
    for (size_t i = 0; i < count; i++)
        connect(find(call, graph, dependencies[i]), node, edges ? edges[i] : ordinary);
    *handle = node->handle;
    return CUDA_SUCCESS;
}

/* As in CUDA. */
static CUresult refuse_change(void) {
    driver_say("error: nodes and dependencies cannot be taken out of a graph that allocates or "
               "frees memory");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, handle);
    if (!node) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (graph_has_memory(node->graph)) return call_end(&call, refuse_change());
    for (size_t i = 0; i < node->before.count; i++)
        edges_remove(&node->before.items[i].node->after, node);
    for (size_t i = 0; i < node->after.count; i++)
        edges_remove(&node->after.items[i].node->before, node);
    NodeList *nodes = &node->graph->nodes;
    list_remove(nodes, node);
    for (size_t i = node->index; i < nodes->count; i++)
        nodes->items[i]->index = i;
    node_free(call.driver, node);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, handle);
    if (!node || !type) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *type = node->work.type;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Graphs ---- */

Graph *graph_new(Driver *driver, Context *context) {
    Graph *graph = base_calloc(1, sizeof *graph);
    graph->context = context;
    graph->handle = driver_add(driver, HANDLE_GRAPH, graph);
    return graph;
}

void graph_free(Driver *driver, void *object) {
    Graph *graph = object;
    handles_remove(&driver->handles, HANDLE_GRAPH, (uint64_t)(uintptr_t)graph->handle);
    for (size_t i = 0; i < graph->nodes.count; i++)
        node_free(driver, graph->nodes.items[i]);
    free(graph->nodes.items);
    held_free(driver, &graph->held);
    free(graph);
}

/* Whether the graph, or a graph inside it, has a node of one of two types. */
static bool has_node(const Graph *graph, CUgraphNodeType type, CUgraphNodeType other) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const GraphWork *work = &graph->nodes.items[i]->work;
        if (work->type == type || work->type == other) return true;
        if (work->type == CU_GRAPH_NODE_TYPE_GRAPH && has_node(work->child, type, other))
            return true;
    }
    return false;
}

bool graph_has_memory(const Graph *graph) {
    return has_node(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE);
}

bool graph_is_plain(const Graph *graph) {
    return !graph_has_memory(graph) &&
           !has_node(graph, CU_GRAPH_NODE_TYPE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);
}

Graph *graph_clone(Driver *driver, const Graph *graph) {
    Graph *clone = graph_new(driver, graph->context);
    clone->held = held_copy(driver, &graph->held);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        GraphWork work = work_copy(driver, &graph->nodes.items[i]->work);
        node_new(driver, clone, &work)->original = graph->nodes.items[i]->handle;
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const EdgeList *before = &graph->nodes.items[i]->before;
        for (size_t j = 0; j < before->count; j++)
            connect(clone->nodes.items[before->items[j].node->index], clone->nodes.items[i],
                    before->items[j].data);
    }
    return clone;
}

CUresult CUDAAPI cuGraphCreate(CUgraph *graph, unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!graph || flags) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *graph = graph_new(call.driver, call.context)->handle;
    return call_end(&call, CUDA_SUCCESS);
}

/* A child graph is destroyed with its node, a graph that is being captured with its capture. */
CUresult CUDAAPI cuGraphDestroy(CUgraph handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!graph || graph->is_child || capture_is_of(call.driver, handle))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    graph_free(call.driver, graph);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphClone(CUgraph *clone, CUgraph original) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, original);
    if (!clone || !graph) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!graph_is_plain(graph)) {
        driver_say("error: a graph with conditional nodes, or one that allocates or frees memory, "
                   "cannot be cloned");
        return call_end(&call, CUDA_ERROR_NOT_SUPPORTED);
    }
    *clone = graph_clone(call.driver, graph)->handle;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, clone);
    if (!node || !original || !graph) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        if (graph->nodes.items[i]->original != original) continue;
        *node = graph->nodes.items[i]->handle;
        return call_end(&call, CUDA_SUCCESS);
    }
    return call_end(&call, CUDA_ERROR_INVALID_VALUE);
}

/* ---- Contents of a graph ---- */

/* Answers a query for a list: stores its length if there is no array. Otherwise fills the array
 * with as much of the list as it can hold, and the rest with NULL. */
static CUresult give(const NodeList *list, CUgraphNode *nodes, size_t *count) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < list->count ? list->items[i]->handle : NULL;
    if (!nodes || *count > list->count) *count = list->count;
    return CUDA_SUCCESS;
}

/* The same for dependencies. Without an array for their data, all data must be 0. */
static CUresult give_edges(const EdgeList *list, CUgraphNode *nodes, CUgraphEdgeData *edges,
                           size_t *count) {
    if (!count || (edges && !nodes)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; nodes && !edges && i < list->count; i++)
        if (!edge_is_ordinary(list->items[i].data)) return CUDA_ERROR_LOSSY_QUERY;
    for (size_t i = 0; nodes && i < *count; i++) {
        nodes[i] = i < list->count ? list->items[i].node->handle : NULL;
        if (edges) edges[i] = i < list->count ? list->items[i].data : ordinary;
    }
    if (!nodes || *count > list->count) *count = list->count;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    return call_end(&call, graph ? give(&graph->nodes, nodes, count) : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuGraphGetRootNodes(CUgraph handle, CUgraphNode *nodes, size_t *count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!graph) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    NodeList roots = {0};
    for (size_t i = 0; i < graph->nodes.count; i++) {
        if (!graph->nodes.items[i]->before.count) list_add(&roots, graph->nodes.items[i]);
    }
    status = give(&roots, nodes, count);
    free(roots.items);
    return call_end(&call, status);
}

CUresult CUDAAPI cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                                 CUgraphEdgeData *edges, size_t *count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!graph || !count || !from != !to) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    NodeList sources = {0};
    EdgeList targets = {0};
    for (size_t i = 0; i < graph->nodes.count; i++) {
        GraphNode *node = graph->nodes.items[i];
        for (size_t j = 0; j < node->after.count; j++) {
            list_add(&sources, node);
            edges_add(&targets, node->after.items[j].node, node->after.items[j].data);
        }
    }
    size_t room = *count;
    status = give_edges(&targets, to, edges, count);
    if (status == CUDA_SUCCESS) status = give(&sources, from, &room);
    free(sources.items);
    free(targets.items);
    return call_end(&call, status);
}

CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode *dependencies,
                                            CUgraphEdgeData *edges, size_t *count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, handle);
    return call_end(&call, node ? give_edges(&node->before, dependencies, edges, count)
                                : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode *dependents,
                                              CUgraphEdgeData *edges, size_t *count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, handle);
    return call_end(&call, node ? give_edges(&node->after, dependents, edges, count)
                                : CUDA_ERROR_INVALID_VALUE);
}

/* ---- Dependencies ---- */

/* Whether an edge between two nodes exists with these data (is_there), or none exists and it may be
 * added. */
static bool fits(const GraphNode *from, const GraphNode *to, CUgraphEdgeData data, bool is_there) {
    const size_t i = edges_find(&from->after, to);
    if (i == from->after.count) return !is_there && is_right(data, from->work.type, to->work.type);
    return is_there && are_same(from->after.items[i].data, data);
}

/* Whether all edges connect nodes of the graph, and whether all of them exist (are_there) or can be
 * added. A cycle is found only when the graph is instantiated. */
static bool are_right(const Call *call, const Graph *graph, const CUgraphNode *from,
                      const CUgraphNode *to, const CUgraphEdgeData *edges, size_t count,
                      bool are_there) {
    if (!graph || (count && (!from || !to))) return false;
    for (size_t i = 0; i < count; i++) {
        const GraphNode *first = find(call, graph, from[i]), *second = find(call, graph, to[i]);
        if (!first || !second) return false;
        if (!fits(first, second, edges ? edges[i] : ordinary, are_there)) return false;
        for (size_t j = 0; j < i; j++) {
            if (from[i] == from[j] && to[i] == to[j]) return false;
        }
    }
    return true;
}

CUresult CUDAAPI cuGraphAddDependencies(CUgraph handle, const CUgraphNode *from,
                                        const CUgraphNode *to, const CUgraphEdgeData *edges,
                                        size_t count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!are_right(&call, graph, from, to, edges, count, false))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++)
        connect(find(&call, graph, from[i]), find(&call, graph, to[i]),
                edges ? edges[i] : ordinary);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode *from,
                                           const CUgraphNode *to, const CUgraphEdgeData *edges,
                                           size_t count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!are_right(&call, graph, from, to, edges, count, true))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (graph_has_memory(graph)) return call_end(&call, refuse_change());
    for (size_t i = 0; i < count; i++) {
        GraphNode *first = find(&call, graph, from[i]), *second = find(&call, graph, to[i]);
        edges_remove(&first->after, second);
        edges_remove(&second->before, first);
    }
    return call_end(&call, CUDA_SUCCESS);
}
