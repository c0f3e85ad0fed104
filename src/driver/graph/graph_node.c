/* Nodes of each type: adding them, and reading and changing their work. */
#include "driver/graph/graph.h"

/* ---- Shared by all types ---- */

static CUresult add(CUgraphNode *node, CUgraph handle, const CUgraphNode *dependencies,
                    size_t count, WorkGiven given) {
    Call call;
    GraphWork work;
    CUresult status = call_begin(&call);
    if (status) return status;
    Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    status = node && graph ? work_make(&call, given, &work) : CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS)
        status = graph_add(&call, graph, dependencies, NULL, count, &work, node);
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

/* Begins a call that reads the work of a node of this type into `out`. */
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
               (WorkGiven){CU_GRAPH_NODE_TYPE_KERNEL, parameters, NULL});
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
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_KERNEL, parameters, NULL});
}

CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS *parameters) {
    return graph_exec_set(executable, node,
                          (WorkGiven){CU_GRAPH_NODE_TYPE_KERNEL, parameters, NULL});
}

/* The kernel node of a handle; NULL if there is none. */
static GraphNode *kernel_node(const Call *call, CUgraphNode handle) {
    GraphNode *node = CALL_GET(call, HANDLE_GRAPH_NODE, handle);
    return node && node->work.type == CU_GRAPH_NODE_TYPE_KERNEL ? node : NULL;
}

CUresult CUDAAPI cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                               CUkernelNodeAttrValue *value) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, handle, CU_GRAPH_NODE_TYPE_KERNEL, value, &work);
    if (status) return status;
    if (!attribute_is_of(id, ATTRIBUTE_OF_NODE)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *value = attributes_get(&work->attributes, id);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                               const CUkernelNodeAttrValue *value) {
    Call call;
    CUresult status =
        value ? attribute_check(id, value, ATTRIBUTE_OF_NODE, "cuGraphKernelNodeSetAttribute")
              : CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS) status = call_begin(&call);
    if (status) return status;
    GraphNode *node = kernel_node(&call, handle);
    if (node) attributes_set(&node->work.attributes, id, value);
    return call_end(&call, node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    GraphNode *target = kernel_node(&call, to);
    const GraphNode *source = kernel_node(&call, from);
    if (!target || !source) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (target != source) {
        attributes_free(&target->work.attributes);
        target->work.attributes = attributes_copy(&source->work.attributes);
    }
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Copies ---- */

CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      const CUDA_MEMCPY3D *copy, CUcontext context) {
    (void)context; /* all contexts are on one device */
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_MEMCPY, copy, NULL});
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
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_MEMCPY, parameters, NULL});
}

CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                const CUDA_MEMCPY3D *copy, CUcontext context) {
    (void)context; /* all contexts are on one device */
    return graph_exec_set(executable, node, (WorkGiven){CU_GRAPH_NODE_TYPE_MEMCPY, copy, NULL});
}

/* ---- Filling ---- */

CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      const CUDA_MEMSET_NODE_PARAMS *parameters,
                                      CUcontext context) {
    (void)context; /* all contexts are on one device */
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_MEMSET, parameters, NULL});
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
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_MEMSET, parameters, NULL});
}

CUresult CUDAAPI cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                const CUDA_MEMSET_NODE_PARAMS *parameters,
                                                CUcontext context) {
    (void)context; /* all contexts are on one device */
    return graph_exec_set(executable, node,
                          (WorkGiven){CU_GRAPH_NODE_TYPE_MEMSET, parameters, NULL});
}

/* ---- Functions of the host ---- */

CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode *node, CUgraph graph,
                                    const CUgraphNode *dependencies, size_t count,
                                    const CUDA_HOST_NODE_PARAMS *parameters) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_HOST, parameters, NULL});
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
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_HOST, parameters, NULL});
}

CUresult CUDAAPI cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                              const CUDA_HOST_NODE_PARAMS *parameters) {
    return graph_exec_set(executable, node, (WorkGiven){CU_GRAPH_NODE_TYPE_HOST, parameters, NULL});
}

/* ---- Events ---- */

static CUresult get_event(CUgraphNode node, CUgraphNodeType type, CUevent *event) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, node, type, event, &work);
    if (status) return status;
    *event = work->event;
    return call_end(&call, CUDA_SUCCESS);
}

/* The four functions of nodes with an event, and one for their executable form. */
#define EVENT_NODE(name, type)                                                                     \
    CUresult CUDAAPI cuGraphAdd##name##Node(CUgraphNode *node, CUgraph graph,                      \
                                            const CUgraphNode *dependencies, size_t count,         \
                                            CUevent event) {                                       \
        return add(node, graph, dependencies, count, (WorkGiven){type, event, NULL});              \
    }                                                                                              \
    CUresult CUDAAPI cuGraph##name##NodeGetEvent(CUgraphNode node, CUevent *event) {               \
        return get_event(node, type, event);                                                       \
    }                                                                                              \
    CUresult CUDAAPI cuGraph##name##NodeSetEvent(CUgraphNode node, CUevent event) {                \
        return set(node, (WorkGiven){type, event, NULL});                                          \
    }                                                                                              \
    CUresult CUDAAPI cuGraphExec##name##NodeSetEvent(CUgraphExec executable, CUgraphNode node,     \
                                                     CUevent event) {                              \
        return graph_exec_set(executable, node, (WorkGiven){type, event, NULL});                   \
    }
EVENT_NODE(EventRecord, CU_GRAPH_NODE_TYPE_EVENT_RECORD)
EVENT_NODE(EventWait, CU_GRAPH_NODE_TYPE_WAIT_EVENT)

/* ---- Memory ---- */

CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph,
                                        const CUgraphNode *dependencies, size_t count,
                                        CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_MEM_ALLOC, parameters, NULL});
}

CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       CUdeviceptr address) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_MEM_FREE, (void *)(uintptr_t)address, NULL});
}

/* ---- Child graphs, and nothing ---- */

CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph,
                                          const CUgraphNode *dependencies, size_t count,
                                          CUgraph child) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_GRAPH, child, NULL});
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
    return add(node, graph, dependencies, count, (WorkGiven){CU_GRAPH_NODE_TYPE_EMPTY, NULL, NULL});
}

/* ---- Operations on memory ---- */

CUresult CUDAAPI cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph,
                                          const CUgraphNode *dependencies, size_t count,
                                          const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters) {
    return add(node, graph, dependencies, count,
               (WorkGiven){CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, parameters, NULL});
}

CUresult CUDAAPI cuGraphBatchMemOpNodeGetParams(CUgraphNode node,
                                                CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters) {
    Call call;
    const GraphWork *work;
    CUresult status = get(&call, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, parameters, &work);
    if (status) return status;
    *parameters = work->operations;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                                const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters) {
    return set(node, (WorkGiven){CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, parameters, NULL});
}

CUresult CUDAAPI cuGraphExecBatchMemOpNodeSetParams(
    CUgraphExec executable, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters) {
    return graph_exec_set(executable, node,
                          (WorkGiven){CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, parameters, NULL});
}
