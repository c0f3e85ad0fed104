/* Nodes of any type, described by one struct. */
#include "driver/graph/graph.h"

/* The work that a struct describes. What is not supported is reported as a missing part of
 * `function`. */
static CUresult read(const char *function, CUgraphNodeParams *from, WorkGiven *given) {
    *given = (WorkGiven){from ? from->type : CU_GRAPH_NODE_TYPE_EMPTY, NULL, NULL};
    if (!from || from->reserved0[0] || from->reserved0[1] || from->reserved0[2] || from->reserved2)
        return CUDA_ERROR_INVALID_VALUE;
    switch ((int)from->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: given->parameters = &from->kernel; break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        given->parameters = &from->memcpy.copyParams;
        if (from->memcpy.flags || from->memcpy.reserved) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET: given->parameters = &from->memset; break; /* same beginning */
    case CU_GRAPH_NODE_TYPE_HOST: given->parameters = &from->host; break;
    case CU_GRAPH_NODE_TYPE_GRAPH: given->parameters = from->graph.graph; break;
    case CU_GRAPH_NODE_TYPE_EMPTY: break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: given->parameters = from->eventWait.event; break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: given->parameters = from->eventRecord.event; break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: given->parameters = &from->alloc; break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: given->parameters = (void *)(uintptr_t)from->free.dptr; break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: given->parameters = &from->conditional; break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: given->parameters = &from->memOp; break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: {
        Text name = {0};
        text_printf(&name, "%s of external semaphores", function);
        CUresult status = driver_missing(text_string(&name));
        text_free(&name);
        return status;
    }
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* A graph that becomes part of the node. */
static CUresult move_child(Call *call, const CUDA_CHILD_GRAPH_NODE_PARAMS *given, Graph *parent,
                           GraphWork *work) {
    Graph *graph = CALL_GET(call, HANDLE_GRAPH, given->graph);
    if (!graph || graph == parent || graph->is_child || capture_is_of(call->driver, given->graph))
        return CUDA_ERROR_INVALID_VALUE;
    *work = (GraphWork){.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = graph};
    graph->is_child = true;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphAddNode(CUgraphNode *node, CUgraph handle, const CUgraphNode *dependencies,
                                const CUgraphEdgeData *edges, size_t count,
                                CUgraphNodeParams *parameters) {
    WorkGiven given;
    GraphWork work;
    Call call;
    CUresult status = read("cuGraphAddNode", parameters, &given);
    if (status == CUDA_SUCCESS) status = call_begin(&call);
    if (status) return status;
    Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!node || !graph) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    bool is_moved = given.type == CU_GRAPH_NODE_TYPE_GRAPH &&
                    parameters->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (is_moved && !graph_are_dependencies(&call, graph, dependencies, edges, count, given.type))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE); /* the program keeps the child */
    status = is_moved ? move_child(&call, &parameters->graph, graph, &work)
                      : work_make(&call, given, &work);
    if (status == CUDA_SUCCESS)
        status = graph_add(&call, graph, dependencies, edges, count, &work, node);
    if (status == CUDA_SUCCESS && given.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        const GraphNode *made = CALL_GET(&call, HANDLE_GRAPH_NODE, *node);
        parameters->conditional.phGraph_out = made->work.branch.handles;
    }
    return call_end(&call, status);
}

CUresult CUDAAPI cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams *parameters) {
    WorkGiven given;
    Call call;
    CUresult status = read("cuGraphNodeSetParams", parameters, &given);
    if (status == CUDA_SUCCESS) status = call_begin(&call);
    if (status) return status;
    GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, handle);
    status = node ? work_replace(&call, &node->work, given) : CUDA_ERROR_INVALID_VALUE;
    return call_end(&call, status);
}

CUresult CUDAAPI cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                          CUgraphNodeParams *parameters) {
    WorkGiven given;
    CUresult status = read("cuGraphExecNodeSetParams", parameters, &given);
    if (status) return status;
    if (given.type == CU_GRAPH_NODE_TYPE_GRAPH)
        return cuGraphExecChildGraphNodeSetParams(executable, node, parameters->graph.graph);
    return graph_exec_set(executable, node, given);
}
