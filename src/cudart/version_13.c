/* Differences of libcudart.so.13 from its predecessors. */
#include "cudart/runtime.h"

/* As measured (docs/real-gpu.md). */
const VersionErrors version_errors = {.impossible_launch = cudaErrorInvalidValue,
                                      .unknown_function = cudaErrorInvalidResourceHandle};

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *version) {
    if (!version) return runtime_leave(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    return RUNTIME_CALL(properties_read(properties, device));
}

/* The runtime's location is the driver's. */
static CUmemLocation location_of(struct cudaMemLocation location) {
    return (CUmemLocation){(CUmemLocationType)location.type, location.id};
}

cudaError_t CUDARTAPI cudaMemAdvise(const void *pointer, size_t size, enum cudaMemoryAdvise advice,
                                    struct cudaMemLocation location) {
    return RUNTIME_CALL(
        cuMemAdvise(address_of(pointer), size, (CUmem_advise)advice, location_of(location)));
}

cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void *pointer, size_t size,
                                           struct cudaMemLocation location, unsigned int flags,
                                           cudaStream_t stream) {
    return RUNTIME_CALL(
        cuMemPrefetchAsync(address_of(pointer), size, location_of(location), flags, stream));
}

/* ---- Graphs, with edge data ---- */

cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                        cudaGraphNode_t *to, cudaGraphEdgeData *edges,
                                        size_t *count) {
    return RUNTIME_CALL(cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)edges, count));
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                   cudaGraphNode_t *dependencies,
                                                   cudaGraphEdgeData *edges, size_t *count) {
    return RUNTIME_CALL(
        cuGraphNodeGetDependencies(node, dependencies, (CUgraphEdgeData *)edges, count));
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                     cudaGraphNode_t *dependents,
                                                     cudaGraphEdgeData *edges, size_t *count) {
    return RUNTIME_CALL(
        cuGraphNodeGetDependentNodes(node, dependents, (CUgraphEdgeData *)edges, count));
}

cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to,
                                               const cudaGraphEdgeData *edges, size_t count) {
    return RUNTIME_CALL(
        cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edges, count));
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                  const cudaGraphNode_t *to,
                                                  const cudaGraphEdgeData *edges, size_t count) {
    return RUNTIME_CALL(
        cuGraphRemoveDependencies(graph, from, to, (const CUgraphEdgeData *)edges, count));
}

cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies,
                                       const cudaGraphEdgeData *edges, size_t count,
                                       struct cudaGraphNodeParams *parameters) {
    return RUNTIME_CALL(graph_add_node(node, graph, dependencies, edges, count, parameters));
}

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                           unsigned long long flags) {
    return RUNTIME_CALL(cuGraphInstantiate(executable, graph, flags));
}

cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                          cudaGraphExecUpdateResultInfo *result) {
    return RUNTIME_CALL(
        cuGraphExecUpdate(executable, graph, (CUgraphExecUpdateResultInfo *)result));
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t stream,
                                               enum cudaStreamCaptureStatus *status,
                                               unsigned long long *id, cudaGraph_t *graph,
                                               const cudaGraphNode_t **dependencies,
                                               const cudaGraphEdgeData **edges, size_t *count) {
    return RUNTIME_CALL(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status,
                                               (cuuint64_t *)id, graph, dependencies,
                                               (const CUgraphEdgeData **)edges, count));
}

cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                          cudaGraphNode_t *dependencies,
                                                          const cudaGraphEdgeData *edges,
                                                          size_t count, unsigned int flags) {
    return RUNTIME_CALL(cuStreamUpdateCaptureDependencies(
        stream, dependencies, (const CUgraphEdgeData *)edges, count, flags));
}
