/* What libcudart.so.12 and libcudart.so.11.0 have otherwise than their successor: functions of
 * another signature under the same name, names that are gone, CUDA 12's device properties.
 *
 * RUNTIME_VERSION is the version that this object is for. Assembler names give each function its
 * name in the library, as tyto/cuda_runtime_api.h declares the successors. */
#include "cudart/runtime.h"

#include "base/export.h"
#include "cudart/api.h"

enum {
    PROPERTIES_11_BYTES = 712, /* of cudaDeviceProp in CUDA 11 */
    PROPERTIES_12_BYTES = 1032,
};

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

/* Graphs, without data of dependencies. */

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

/* Names that were dropped because another function does the same. */
EXPORT_ALIAS(cudaThreadSynchronize, cudaDeviceSynchronize)
EXPORT_ALIAS(cudaThreadExit, cudaDeviceReset)
EXPORT_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime)
EXPORT_ALIAS(cudaCreateTextureObject_v2, cudaCreateTextureObject)
EXPORT_ALIAS(cudaGetTextureObjectTextureDesc_v2, cudaGetTextureObjectTextureDesc)

#define MISSING(symbol) EXPORT_MISSING(symbol, runtime_missing)
CUDART_OLD_MISSING(MISSING)
