/* Earlier forms of functions of graphs and stream capture, for programs built before CUDA 13, which
 * changed their signatures. This file uses the symbol names, because the header maps the bare names
 * to the current forms. */
#include "driver/driver.h"

#include <string.h>

#undef cuGraphInstantiate
#undef cuGraphExecUpdate
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
#undef cuGraphAddNode
#undef cuGraphAddKernelNode
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
#undef cuStreamGetCaptureInfo
#undef cuStreamUpdateCaptureDependencies

#include "base/export.h"

/* A kernel's parameters without the fields that CUDA 12 added. */
enum { OLD_KERNEL_BYTES = offsetof(CUDA_KERNEL_NODE_PARAMS, kern) };

static const CUDA_KERNEL_NODE_PARAMS *renew(const void *old, CUDA_KERNEL_NODE_PARAMS *kernel) {
    if (!old) return NULL;
    *kernel = (CUDA_KERNEL_NODE_PARAMS){0};
    memcpy(kernel, old, OLD_KERNEL_BYTES);
    return kernel;
}

EXPORT CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph,
                                             const CUgraphNode *dependencies, size_t count,
                                             const void *parameters);
CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      const void *parameters) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    return cuGraphAddKernelNode_v2(node, graph, dependencies, count, renew(parameters, &kernel));
}

EXPORT CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode node, void *parameters);
CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode node, void *parameters) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    if (!parameters) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = cuGraphKernelNodeGetParams_v2(node, &kernel);
    if (status == CUDA_SUCCESS) memcpy(parameters, &kernel, OLD_KERNEL_BYTES);
    return status;
}

EXPORT CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode node, const void *parameters);
CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode node, const void *parameters) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    return cuGraphKernelNodeSetParams_v2(node, renew(parameters, &kernel));
}

EXPORT CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                       const void *parameters);
CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                const void *parameters) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    return cuGraphExecKernelNodeSetParams_v2(executable, node, renew(parameters, &kernel));
}

EXPORT CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *executable, CUgraph graph,
                                           CUgraphNode *error_node, char *log, size_t log_bytes);
CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *executable, CUgraph graph, CUgraphNode *error_node,
                                    char *log, size_t log_bytes) {
    if (error_node) *error_node = NULL;
    if (log && log_bytes) *log = 0; /* errors are reported on stderr */
    return cuGraphInstantiateWithFlags(executable, graph, 0);
}

EXPORT CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode *node,
                                          CUgraphExecUpdateResult *result);
CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode *node,
                                   CUgraphExecUpdateResult *result) {
    CUgraphExecUpdateResultInfo info = {CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL};
    CUresult status = cuGraphExecUpdate_v2(executable, graph, &info);
    if (node) *node = info.errorNode;
    if (result) *result = info.result;
    return status;
}

EXPORT CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                        size_t *count);
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

EXPORT CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *dependencies,
                                                   size_t *count);
CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *dependencies,
                                            size_t *count) {
    return cuGraphNodeGetDependencies_v2(node, dependencies, NULL, count);
}

EXPORT CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *dependents,
                                                     size_t *count);
CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *dependents,
                                              size_t *count) {
    return cuGraphNodeGetDependentNodes_v2(node, dependents, NULL, count);
}

EXPORT CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                               const CUgraphNode *to, size_t count);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                        const CUgraphNode *to, size_t count) {
    return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

EXPORT CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                                  const CUgraphNode *to, size_t count);
CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                           const CUgraphNode *to, size_t count) {
    return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

EXPORT CUresult CUDAAPI cuGraphAddNode(CUgraphNode *node, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       CUgraphNodeParams *parameters);
CUresult CUDAAPI cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count, CUgraphNodeParams *parameters) {
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, parameters);
}

EXPORT CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
                                               cuuint64_t *id);
CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
                                        cuuint64_t *id) {
    return cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

EXPORT CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                                                  cuuint64_t *id, CUgraph *graph,
                                                  const CUgraphNode **dependencies, size_t *count);
CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                                           cuuint64_t *id, CUgraph *graph,
                                           const CUgraphNode **dependencies, size_t *count) {
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, count);
}

EXPORT CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream stream,
                                                          CUgraphNode *dependencies, size_t count,
                                                          unsigned int flags);
CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies,
                                                   size_t count, unsigned int flags) {
    return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, NULL, count, flags);
}
