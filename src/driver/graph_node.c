/* The nodes of each kind: adding them, reading and changing what they do. */
#include "driver/graph.h"

/* ---- What all kinds share ---- */

static CUresult add(CUgraphNode *node, CUgraph handle, const CUgraphNode *dependencies,
                    size_t count, WorkGiven given) {
    Call call;
    GraphWork work;
    CUresult status = call_begin(&call);
    if (status) return status;
    Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    status = node && graph ? work_make(&call, given, &work) : CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS) status = graph_add(&call, graph, dependencies, count, &work, node);
    return call_end(&call, status);
}

static CUresult set(CUgraphNode handle, WorkGiven given) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, handle);
    status = node ? work_replace(&call, &node->work, given) : CUDA_ERROR_INVALID_VALUE;
    return call_end(&call, status);
}

/* Begins a call that reads the work of a node of this type; `out`: where it writes to. */
static CUresult get(Call *call, CUgraphNode handle, CUgraphNodeType type, const void *out,
                    const GraphWork **work) {
    *work = NULL;
    CUresult status = call_begin(call);
    if (status) return status;
    const GraphNode *node = CALL_GET(call, HANDLE_GRAPH_NODE, handle);
    if (!node || node->work.type != type || !out) return call_end(call, CUDA_ERROR_INVALID_VALUE);
    *work = &node->work;
    return CUDA_SUCCESS;
}

/* ---- Kernels ---- */

CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      const CUDA_KERNEL_NODE_PARAMS *parameters) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_KERNEL, parameters, false});
}

CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, node, CU_GRAPH_NODE_TYPE_KERNEL, parameters, &work);
    if (status) return status;
    *parameters = work->kernel;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS *parameters) {
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_KERNEL, parameters, false});
}

CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS *parameters) {
    return graph_exec_set(executable, node,
                          (WorkGiven){CU_GRAPH_NODE_TYPE_KERNEL, parameters, false});
}

/* ---- Copies ---- */

CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      const CUDA_MEMCPY3D *copy, CUcontext context) {
    (void)context; /* all contexts are on one device */
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_MEMCPY, copy, false});
}

CUresult CUDAAPI cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *parameters) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, node, CU_GRAPH_NODE_TYPE_MEMCPY, parameters, &work);
    if (status) return status;
    *parameters = work->copy;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *parameters) {
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_MEMCPY, parameters, false});
}

CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                const CUDA_MEMCPY3D *copy, CUcontext context) {
    (void)context; /* all contexts are on one device */
    return graph_exec_set(executable, node, (WorkGiven){CU_GRAPH_NODE_TYPE_MEMCPY, copy, false});
}

/* ---- Filling ---- */

CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      const CUDA_MEMSET_NODE_PARAMS *parameters,
                                      CUcontext context) {
    (void)context; /* all contexts are on one device */
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_MEMSET, parameters, false});
}

CUresult CUDAAPI cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *parameters) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, node, CU_GRAPH_NODE_TYPE_MEMSET, parameters, &work);
    if (status) return status;
    *parameters = work->fill;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphMemsetNodeSetParams(CUgraphNode node,
                                            const CUDA_MEMSET_NODE_PARAMS *parameters) {
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_MEMSET, parameters, false});
}

CUresult CUDAAPI cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                const CUDA_MEMSET_NODE_PARAMS *parameters,
                                                CUcontext context) {
    (void)context; /* all contexts are on one device */
    return graph_exec_set(executable, node,
                          (WorkGiven){CU_GRAPH_NODE_TYPE_MEMSET, parameters, false});
}

/* ---- Functions of the host ---- */

CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode *node, CUgraph graph,
                                    const CUgraphNode *dependencies, size_t count,
                                    const CUDA_HOST_NODE_PARAMS *parameters) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_HOST, parameters, false});
}

CUresult CUDAAPI cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *parameters) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, node, CU_GRAPH_NODE_TYPE_HOST, parameters, &work);
    if (status) return status;
    *parameters = work->host;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphHostNodeSetParams(CUgraphNode node,
                                          const CUDA_HOST_NODE_PARAMS *parameters) {
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_HOST, parameters, false});
}

CUresult CUDAAPI cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                              const CUDA_HOST_NODE_PARAMS *parameters) {
    return graph_exec_set(executable, node,
                          (WorkGiven){CU_GRAPH_NODE_TYPE_HOST, parameters, false});
}

/* ---- Events ---- */

CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                           const CUgraphNode *dependencies, size_t count,
                                           CUevent event) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, false});
}

CUresult CUDAAPI cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, &work);
    if (status) return status;
    *event = work->event;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, false});
}

CUresult CUDAAPI cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node,
                                                    CUevent event) {
    return graph_exec_set(executable, node,
                          (WorkGiven){CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, false});
}

CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         CUevent event) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, false});
}

CUresult CUDAAPI cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, &work);
    if (status) return status;
    *event = work->event;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, false});
}

CUresult CUDAAPI cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node,
                                                  CUevent event) {
    return graph_exec_set(executable, node,
                          (WorkGiven){CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, false});
}

/* ---- Child graphs, and nothing ---- */

CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph,
                                          const CUgraphNode *dependencies, size_t count,
                                          CUgraph child) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_GRAPH, child, false});
}

CUresult CUDAAPI cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, node, CU_GRAPH_NODE_TYPE_GRAPH, graph, &work);
    if (status) return status;
    *graph = work->child->handle;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph,
                                     const CUgraphNode *dependencies, size_t count) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_EMPTY, NULL, false});
}
