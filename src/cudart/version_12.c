/* Differences of libcudart.so.12 and libcudart.so.11.0 from their successor: functions with another
 * signature under the same name, names that were dropped, CUDA 12's device properties.
 *
 * RUNTIME_VERSION is the version that this object is compiled for. Assembler names give each
 * function its name in the library, because tyto/cuda_runtime_api.h declares the successors. */
#include "cudart/runtime.h"

#include "base/export.h"
#include "cudart/api.h"

enum {
    PROPERTIES_11_BYTES = 712, /* bytes of cudaDeviceProp in CUDA 11 */
    PROPERTIES_12_BYTES = 1032,
};

/* According to the manuals of these releases: CUDA Runtime API, "Data types used by CUDA
 * Runtime". */
const VersionErrors version_errors = {.impossible_launch = cudaErrorInvalidConfiguration,
                                      .unknown_function = cudaErrorInvalidDeviceFunction};

#define NAMED(name) __asm__(name) EXPORT

cudaError_t version_read(int *version) NAMED("cudaRuntimeGetVersion");
cudaError_t version_read(int *version) {
    if (!version) return runtime_leave(cudaErrorInvalidValue);
    *version = RUNTIME_VERSION;
    return cudaSuccess;
}

cudaError_t version_properties(void *properties, int device) NAMED("cudaGetDeviceProperties");
cudaError_t version_properties(void *properties, int device) {
    return RUNTIME_CALL(properties_read_12(properties, PROPERTIES_11_BYTES, device));
}

cudaError_t version_properties_v2(void *properties, int device) NAMED("cudaGetDeviceProperties_v2");
cudaError_t version_properties_v2(void *properties, int device) {
    return RUNTIME_CALL(properties_read_12(properties, PROPERTIES_12_BYTES, device));
}

static CUmemLocation location_of(int device) {
    return (CUmemLocation){device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
                           device < 0 ? 0 : device};
}

cudaError_t version_advise(const void *pointer, size_t size, enum cudaMemoryAdvise advice,
                           int device) NAMED("cudaMemAdvise");
cudaError_t version_advise(const void *pointer, size_t size, enum cudaMemoryAdvise advice,
                           int device) {
    return RUNTIME_CALL(
        cuMemAdvise(address_of(pointer), size, (CUmem_advise)advice, location_of(device)));
}

cudaError_t version_prefetch(const void *pointer, size_t size, int device, cudaStream_t stream)
    NAMED("cudaMemPrefetchAsync");
cudaError_t version_prefetch(const void *pointer, size_t size, int device, cudaStream_t stream) {
    return RUNTIME_CALL(
        cuMemPrefetchAsync(address_of(pointer), size, location_of(device), 0, stream));
}

/* Graphs, without edge data. */

cudaError_t version_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                          size_t *count) NAMED("cudaGraphGetEdges");
cudaError_t version_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                          size_t *count) {
    return RUNTIME_CALL(cuGraphGetEdges(graph, from, to, NULL, count));
}

cudaError_t version_dependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
    NAMED("cudaGraphNodeGetDependencies");
cudaError_t version_dependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return RUNTIME_CALL(cuGraphNodeGetDependencies(node, nodes, NULL, count));
}

cudaError_t version_dependents(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
    NAMED("cudaGraphNodeGetDependentNodes");
cudaError_t version_dependents(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return RUNTIME_CALL(cuGraphNodeGetDependentNodes(node, nodes, NULL, count));
}

cudaError_t version_connect(cudaGraph_t graph, const cudaGraphNode_t *from,
                            const cudaGraphNode_t *to, size_t count)
    NAMED("cudaGraphAddDependencies");
cudaError_t version_connect(cudaGraph_t graph, const cudaGraphNode_t *from,
                            const cudaGraphNode_t *to, size_t count) {
    return RUNTIME_CALL(cuGraphAddDependencies(graph, from, to, NULL, count));
}

cudaError_t version_disconnect(cudaGraph_t graph, const cudaGraphNode_t *from,
                               const cudaGraphNode_t *to, size_t count)
    NAMED("cudaGraphRemoveDependencies");
cudaError_t version_disconnect(cudaGraph_t graph, const cudaGraphNode_t *from,
                               const cudaGraphNode_t *to, size_t count) {
    return RUNTIME_CALL(cuGraphRemoveDependencies(graph, from, to, NULL, count));
}

cudaError_t version_capture(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                            unsigned long long *id) NAMED("cudaStreamGetCaptureInfo");
cudaError_t version_capture(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                            unsigned long long *id) {
    return RUNTIME_CALL(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status,
                                               (cuuint64_t *)id, NULL, NULL, NULL, NULL));
}

cudaError_t version_update(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count,
                           unsigned int flags) NAMED("cudaStreamUpdateCaptureDependencies");
cudaError_t version_update(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count,
                           unsigned int flags) {
    return RUNTIME_CALL(cuStreamUpdateCaptureDependencies(stream, nodes, NULL, count, flags));
}

cudaError_t version_add_node(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *dependencies, size_t count,
                             struct cudaGraphNodeParams *parameters) NAMED("cudaGraphAddNode");
cudaError_t version_add_node(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *dependencies, size_t count,
                             struct cudaGraphNodeParams *parameters) {
    return RUNTIME_CALL(graph_add_node(node, graph, dependencies, NULL, count, parameters));
}

/* CUDA 12 dropped the arguments that receive what is wrong with a graph. */
#if RUNTIME_VERSION < 12000
cudaError_t version_instantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                cudaGraphNode_t *node, char *log, size_t log_bytes)
    NAMED("cudaGraphInstantiate");
cudaError_t version_instantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                cudaGraphNode_t *node, char *log, size_t log_bytes) {
    if (node) *node = NULL;
    if (log && log_bytes) *log = 0; /* errors are reported on stderr */
    return RUNTIME_CALL(cuGraphInstantiate(executable, graph, 0));
}

cudaError_t version_exec_update(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphNode_t *node, enum cudaGraphExecUpdateResult *result)
    NAMED("cudaGraphExecUpdate");
cudaError_t version_exec_update(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphNode_t *node, enum cudaGraphExecUpdateResult *result) {
    CUgraphExecUpdateResultInfo info = {CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL};
    cudaError_t status = RUNTIME_CALL(cuGraphExecUpdate(executable, graph, &info));
    if (node) *node = info.errorNode;
    if (result) *result = (enum cudaGraphExecUpdateResult)info.result;
    return status;
}
#else
cudaError_t version_instantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                unsigned long long flags) NAMED("cudaGraphInstantiate");
cudaError_t version_instantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                unsigned long long flags) {
    return RUNTIME_CALL(cuGraphInstantiate(executable, graph, flags));
}

cudaError_t version_exec_update(cudaGraphExec_t executable, cudaGraph_t graph,
                                CUgraphExecUpdateResultInfo *result) NAMED("cudaGraphExecUpdate");
cudaError_t version_exec_update(cudaGraphExec_t executable, cudaGraph_t graph,
                                CUgraphExecUpdateResultInfo *result) {
    return RUNTIME_CALL(cuGraphExecUpdate(executable, graph, result));
}
#endif

/* The names under which CUDA 12's own headers call the forms with more arguments. */
cudaError_t version_capture_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                               unsigned long long *id, cudaGraph_t *graph,
                               const cudaGraphNode_t **dependencies, size_t *count)
    NAMED("cudaStreamGetCaptureInfo_v2");
cudaError_t version_capture_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                               unsigned long long *id, cudaGraph_t *graph,
                               const cudaGraphNode_t **dependencies, size_t *count) {
    return RUNTIME_CALL(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status,
                                               (cuuint64_t *)id, graph, dependencies, NULL, count));
}

cudaError_t version_capture_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                               unsigned long long *id, cudaGraph_t *graph,
                               const cudaGraphNode_t **dependencies, const CUgraphEdgeData **edges,
                               size_t *count) NAMED("cudaStreamGetCaptureInfo_v3");
cudaError_t version_capture_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                               unsigned long long *id, cudaGraph_t *graph,
                               const cudaGraphNode_t **dependencies, const CUgraphEdgeData **edges,
                               size_t *count) {
    return RUNTIME_CALL(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status,
                                               (cuuint64_t *)id, graph, dependencies, edges,
                                               count));
}

cudaError_t version_add_node_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
                                size_t count, struct cudaGraphNodeParams *parameters)
    NAMED("cudaGraphAddNode_v2");
cudaError_t version_add_node_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
                                size_t count, struct cudaGraphNodeParams *parameters) {
    return RUNTIME_CALL(graph_add_node(node, graph, dependencies, edges, count, parameters));
}

cudaError_t version_update_v2(cudaStream_t stream, cudaGraphNode_t *nodes,
                              const CUgraphEdgeData *edges, size_t count, unsigned int flags)
    NAMED("cudaStreamUpdateCaptureDependencies_v2");
cudaError_t version_update_v2(cudaStream_t stream, cudaGraphNode_t *nodes,
                              const CUgraphEdgeData *edges, size_t count, unsigned int flags) {
    return RUNTIME_CALL(cuStreamUpdateCaptureDependencies(stream, nodes, edges, count, flags));
}

cudaError_t version_edges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                             CUgraphEdgeData *edges, size_t *count) NAMED("cudaGraphGetEdges_v2");
cudaError_t version_edges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                             CUgraphEdgeData *edges, size_t *count) {
    return RUNTIME_CALL(cuGraphGetEdges(graph, from, to, edges, count));
}

cudaError_t version_dependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                    CUgraphEdgeData *edges, size_t *count)
    NAMED("cudaGraphNodeGetDependencies_v2");
cudaError_t version_dependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                    CUgraphEdgeData *edges, size_t *count) {
    return RUNTIME_CALL(cuGraphNodeGetDependencies(node, nodes, edges, count));
}

cudaError_t version_dependents_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                  CUgraphEdgeData *edges, size_t *count)
    NAMED("cudaGraphNodeGetDependentNodes_v2");
cudaError_t version_dependents_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                  CUgraphEdgeData *edges, size_t *count) {
    return RUNTIME_CALL(cuGraphNodeGetDependentNodes(node, nodes, edges, count));
}

cudaError_t version_connect_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                               const cudaGraphNode_t *to, const CUgraphEdgeData *edges,
                               size_t count) NAMED("cudaGraphAddDependencies_v2");
cudaError_t version_connect_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                               const cudaGraphNode_t *to, const CUgraphEdgeData *edges,
                               size_t count) {
    return RUNTIME_CALL(cuGraphAddDependencies(graph, from, to, edges, count));
}

cudaError_t version_disconnect_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                  const cudaGraphNode_t *to, const CUgraphEdgeData *edges,
                                  size_t count) NAMED("cudaGraphRemoveDependencies_v2");
cudaError_t version_disconnect_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                  const cudaGraphNode_t *to, const CUgraphEdgeData *edges,
                                  size_t count) {
    return RUNTIME_CALL(cuGraphRemoveDependencies(graph, from, to, edges, count));
}

/* Names that were dropped because another function does the same. */
EXPORT_ALIAS(cudaThreadSynchronize, cudaDeviceSynchronize)
EXPORT_ALIAS(cudaThreadExit, cudaDeviceReset)
EXPORT_ALIAS(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig)
EXPORT_ALIAS(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig)
EXPORT_ALIAS(cudaThreadGetLimit, cudaDeviceGetLimit)
EXPORT_ALIAS(cudaThreadSetLimit, cudaDeviceSetLimit)
EXPORT_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime)
EXPORT_ALIAS(cudaCreateTextureObject_v2, cudaCreateTextureObject)
EXPORT_ALIAS(cudaGetTextureObjectTextureDesc_v2, cudaGetTextureObjectTextureDesc)

/* For programs with a default stream per thread. */
EXPORT_ALIAS(cudaStreamGetCaptureInfo_v2_ptsz, cudaStreamGetCaptureInfo_v2)
EXPORT_ALIAS(cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamGetCaptureInfo_v3)
EXPORT_ALIAS(cudaStreamUpdateCaptureDependencies_v2_ptsz, cudaStreamUpdateCaptureDependencies_v2)

#define CAUSE(cause, text) extern const char cudart_cause_##cause[]; /* defined in api.c */
CUDART_CAUSES(CAUSE)
#define MISSING(symbol, cause) EXPORT_MISSING(symbol, runtime_missing, cudart_cause_##cause)
CUDART_OLD_MISSING(MISSING)
