/* Graphs: passed to the driver. Kernels are given by their host functions, and copies by the
 * runtime's struct. */
#include "cudart/runtime.h"

/* ---- Parameters ---- */

int graph_read_kernel(const struct cudaKernelNodeParams *given, CUDA_KERNEL_NODE_PARAMS *out) {
    CUfunction function;
    if (!given) return cudaErrorInvalidValue;
    int status = registry_function(given->func, &function);
    *out = (CUDA_KERNEL_NODE_PARAMS){status ? NULL : function,
                                     given->gridDim.x,
                                     given->gridDim.y,
                                     given->gridDim.z,
                                     given->blockDim.x,
                                     given->blockDim.y,
                                     given->blockDim.z,
                                     given->sharedMemBytes,
                                     given->kernelParams,
                                     given->extra,
                                     NULL,
                                     NULL};
    return status;
}

static const CUDA_HOST_NODE_PARAMS *host_of(const struct cudaHostNodeParams *given) {
    return (const CUDA_HOST_NODE_PARAMS *)given; /* with the same layout */
}

static const CUDA_MEMSET_NODE_PARAMS *fill_of(const struct cudaMemsetParams *given) {
    return (const CUDA_MEMSET_NODE_PARAMS *)given; /* likewise */
}

/* Where the parameters of a node go: to a new node of a graph, to a node, or to that node in an
 * executable graph. */
typedef struct Place {
    cudaGraphNode_t *added; /* NULL: not a new node */
    cudaGraph_t graph;
    const cudaGraphNode_t *dependencies;
    size_t count;
    cudaGraphExec_t executable; /* NULL: `node` itself */
    cudaGraphNode_t node;
    bool is_new;
} Place;

static Place new_node(cudaGraphNode_t *added, cudaGraph_t graph,
                      const cudaGraphNode_t *dependencies, size_t count) {
    return (Place){added, graph, dependencies, count, NULL, NULL, true};
}

static Place old_node(cudaGraphNode_t node) { return (Place){.node = node}; }

static Place step(cudaGraphExec_t executable, cudaGraphNode_t node) {
    return (Place){.node = node, .executable = executable};
}

static int put_kernel(Place place, const struct cudaKernelNodeParams *given) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    int status = graph_read_kernel(given, &kernel);
    if (status) return status;
    if (place.is_new)
        return (int)cuGraphAddKernelNode(place.added, place.graph, place.dependencies, place.count,
                                         &kernel);
    if (place.executable)
        return (int)cuGraphExecKernelNodeSetParams(place.executable, place.node, &kernel);
    return (int)cuGraphKernelNodeSetParams(place.node, &kernel);
}

/* `status`: the result of converting the copy. */
static int put_copy(Place place, int status, const CUDA_MEMCPY3D *copy) {
    if (status) return status;
    if (place.is_new)
        return (int)cuGraphAddMemcpyNode(place.added, place.graph, place.dependencies, place.count,
                                         copy, NULL);
    if (place.executable)
        return (int)cuGraphExecMemcpyNodeSetParams(place.executable, place.node, copy, NULL);
    return (int)cuGraphMemcpyNodeSetParams(place.node, copy);
}

static int put_box(Place place, const struct cudaMemcpy3DParms *given) {
    CUDA_MEMCPY3D copy;
    return put_copy(place, copy_describe_box(given, &copy), &copy);
}

static int put_bytes(Place place, void *destination, const void *source, size_t size,
                     enum cudaMemcpyKind kind) {
    CUDA_MEMCPY3D copy;
    return put_copy(place, copy_describe_bytes(destination, source, size, kind, &copy), &copy);
}

static int put_to_symbol(Place place, const void *symbol, const void *source, size_t size,
                         size_t offset, enum cudaMemcpyKind kind) {
    void *address;
    int status = copy_check_to_symbol(kind);
    if (status == 0) status = copy_place_in(symbol, size, offset, &address);
    return status ? status : put_bytes(place, address, source, size, kind);
}

static int put_from_symbol(Place place, void *destination, const void *symbol, size_t size,
                           size_t offset, enum cudaMemcpyKind kind) {
    void *address;
    int status = copy_check_from_symbol(kind);
    if (status == 0) status = copy_place_in(symbol, size, offset, &address);
    return status ? status : put_bytes(place, destination, address, size, kind);
}

static int get_kernel(cudaGraphNode_t node, struct cudaKernelNodeParams *out) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    if (!out) return cudaErrorInvalidValue;
    int status = (int)cuGraphKernelNodeGetParams(node, &kernel);
    if (status) return status;
    out->func = registry_host_function(kernel.func);
    out->gridDim = (dim3){kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ};
    out->blockDim = (dim3){kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ};
    out->sharedMemBytes = kernel.sharedMemBytes;
    out->kernelParams = kernel.kernelParams;
    out->extra = kernel.extra;
    return cudaSuccess;
}

static int get_copy(cudaGraphNode_t node, struct cudaMemcpy3DParms *out) {
    CUDA_MEMCPY3D copy;
    if (!out) return cudaErrorInvalidValue;
    int status = (int)cuGraphMemcpyNodeGetParams(node, &copy);
    return status ? status : copy_read_box(&copy, out);
}

static int launch(cudaGraphExec_t executable, cudaStream_t stream) {
    int status = launch_failure();
    return status ? status : launch_told((int)cuGraphLaunch(executable, stream));
}

/* ---- Functions ---- */

cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t *graph, unsigned int flags) {
    return RUNTIME_CALL(cuGraphCreate(graph, flags));
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
    return RUNTIME_CALL(cuGraphDestroy(graph));
}

cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t *clone, cudaGraph_t original) {
    return RUNTIME_CALL(cuGraphClone(clone, original));
}

cudaError_t CUDARTAPI cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                               cudaGraph_t clone) {
    return RUNTIME_CALL(cuGraphNodeFindInClone(node, original, clone));
}

cudaError_t CUDARTAPI cudaGraphDestroyNode(cudaGraphNode_t node) {
    return RUNTIME_CALL(cuGraphDestroyNode(node));
}

cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    return RUNTIME_CALL(cuGraphNodeGetType(node, (CUgraphNodeType *)type));
}

cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return RUNTIME_CALL(cuGraphGetNodes(graph, nodes, count));
}

cudaError_t CUDARTAPI cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                            size_t *count) {
    return RUNTIME_CALL(cuGraphGetRootNodes(graph, nodes, count));
}

cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, size_t count,
                                             const struct cudaKernelNodeParams *parameters) {
    return RUNTIME_CALL(put_kernel(new_node(node, graph, dependencies, count), parameters));
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, size_t count,
                                             const struct cudaMemcpy3DParms *parameters) {
    return RUNTIME_CALL(put_box(new_node(node, graph, dependencies, count), parameters));
}

cudaError_t CUDARTAPI cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, size_t count,
                                             const struct cudaMemsetParams *parameters) {
    return RUNTIME_CALL(
        cuGraphAddMemsetNode(node, graph, dependencies, count, fill_of(parameters), NULL));
}

cudaError_t CUDARTAPI cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count,
                                           const struct cudaHostNodeParams *parameters) {
    return RUNTIME_CALL(cuGraphAddHostNode(node, graph, dependencies, count, host_of(parameters)));
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *dependencies, size_t count,
                                               void *destination, const void *source, size_t size,
                                               enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(
        put_bytes(new_node(node, graph, dependencies, count), destination, source, size, kind));
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                     const cudaGraphNode_t *dependencies,
                                                     size_t count, const void *symbol,
                                                     const void *source, size_t size, size_t offset,
                                                     enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(put_to_symbol(new_node(node, graph, dependencies, count), symbol, source,
                                      size, offset, kind));
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                       const cudaGraphNode_t *dependencies,
                                                       size_t count, void *destination,
                                                       const void *symbol, size_t size,
                                                       size_t offset, enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(put_from_symbol(new_node(node, graph, dependencies, count), destination,
                                        symbol, size, offset, kind));
}

cudaError_t CUDARTAPI cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *dependencies, size_t count,
                                                 cudaGraph_t child) {
    return RUNTIME_CALL(cuGraphAddChildGraphNode(node, graph, dependencies, count, child));
}

cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                            const cudaGraphNode_t *dependencies, size_t count) {
    return RUNTIME_CALL(cuGraphAddEmptyNode(node, graph, dependencies, count));
}

cudaError_t CUDARTAPI cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *dependencies, size_t count,
                                                  cudaEvent_t event) {
    return RUNTIME_CALL(cuGraphAddEventRecordNode(node, graph, dependencies, count, event));
}

cudaError_t CUDARTAPI cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *dependencies, size_t count,
                                                cudaEvent_t event) {
    return RUNTIME_CALL(cuGraphAddEventWaitNode(node, graph, dependencies, count, event));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                   struct cudaKernelNodeParams *parameters) {
    return RUNTIME_CALL(get_kernel(node, parameters));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                   const struct cudaKernelNodeParams *parameters) {
    return RUNTIME_CALL(put_kernel(old_node(node), parameters));
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                   struct cudaMemcpy3DParms *parameters) {
    return RUNTIME_CALL(get_copy(node, parameters));
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                   const struct cudaMemcpy3DParms *parameters) {
    return RUNTIME_CALL(put_box(old_node(node), parameters));
}

cudaError_t CUDARTAPI cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                   struct cudaMemsetParams *parameters) {
    return RUNTIME_CALL(cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)parameters));
}

cudaError_t CUDARTAPI cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                   const struct cudaMemsetParams *parameters) {
    return RUNTIME_CALL(cuGraphMemsetNodeSetParams(node, fill_of(parameters)));
}

cudaError_t CUDARTAPI cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                 struct cudaHostNodeParams *parameters) {
    return RUNTIME_CALL(cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)parameters));
}

cudaError_t CUDARTAPI cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                 const struct cudaHostNodeParams *parameters) {
    return RUNTIME_CALL(cuGraphHostNodeSetParams(node, host_of(parameters)));
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *destination,
                                                     const void *source, size_t size,
                                                     enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(put_bytes(old_node(node), destination, source, size, kind));
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                           const void *source, size_t size,
                                                           size_t offset,
                                                           enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(put_to_symbol(old_node(node), symbol, source, size, offset, kind));
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node,
                                                             void *destination, const void *symbol,
                                                             size_t size, size_t offset,
                                                             enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(put_from_symbol(old_node(node), destination, symbol, size, offset, kind));
}

cudaError_t CUDARTAPI cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
    return RUNTIME_CALL(cuGraphChildGraphNodeGetGraph(node, graph));
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return RUNTIME_CALL(cuGraphEventRecordNodeGetEvent(node, event));
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return RUNTIME_CALL(cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return RUNTIME_CALL(cuGraphEventWaitNodeGetEvent(node, event));
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return RUNTIME_CALL(cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                                    unsigned long long flags) {
    return RUNTIME_CALL(cuGraphInstantiate(executable, graph, flags));
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithParams(cudaGraphExec_t *executable, cudaGraph_t graph,
                                                     cudaGraphInstantiateParams *parameters) {
    return RUNTIME_CALL(cuGraphInstantiateWithParams(executable, graph,
                                                     (CUDA_GRAPH_INSTANTIATE_PARAMS *)parameters));
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t executable) {
    return RUNTIME_CALL(cuGraphExecDestroy(executable));
}

cudaError_t CUDARTAPI cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long *flags) {
    return RUNTIME_CALL(cuGraphExecGetFlags(executable, (cuuint64_t *)flags));
}

cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
    return RUNTIME_CALL(cuGraphUpload(executable, stream));
}

cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    return RUNTIME_CALL(launch(executable, stream));
}

cudaError_t CUDARTAPI
cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                 const struct cudaKernelNodeParams *parameters) {
    return RUNTIME_CALL(put_kernel(step(executable, node), parameters));
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable,
                                                       cudaGraphNode_t node,
                                                       const struct cudaMemcpy3DParms *parameters) {
    return RUNTIME_CALL(put_box(step(executable, node), parameters));
}

cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable,
                                                       cudaGraphNode_t node,
                                                       const struct cudaMemsetParams *parameters) {
    return RUNTIME_CALL(
        cuGraphExecMemsetNodeSetParams(executable, node, fill_of(parameters), NULL));
}

cudaError_t CUDARTAPI cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable,
                                                     cudaGraphNode_t node,
                                                     const struct cudaHostNodeParams *parameters) {
    return RUNTIME_CALL(cuGraphExecHostNodeSetParams(executable, node, host_of(parameters)));
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable,
                                                         cudaGraphNode_t node, void *destination,
                                                         const void *source, size_t size,
                                                         enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(put_bytes(step(executable, node), destination, source, size, kind));
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t executable, cudaGraphNode_t node, const void *symbol, const void *source,
    size_t size, size_t offset, enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(put_to_symbol(step(executable, node), symbol, source, size, offset, kind));
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t executable, cudaGraphNode_t node, void *destination, const void *symbol,
    size_t size, size_t offset, enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(
        put_from_symbol(step(executable, node), destination, symbol, size, offset, kind));
}

cudaError_t CUDARTAPI cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable,
                                                           cudaGraphNode_t node,
                                                           cudaGraph_t child) {
    return RUNTIME_CALL(cuGraphExecChildGraphNodeSetParams(executable, node, child));
}

cudaError_t CUDARTAPI cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable,
                                                           cudaGraphNode_t node,
                                                           cudaEvent_t event) {
    return RUNTIME_CALL(cuGraphExecEventRecordNodeSetEvent(executable, node, event));
}

cudaError_t CUDARTAPI cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable,
                                                         cudaGraphNode_t node, cudaEvent_t event) {
    return RUNTIME_CALL(cuGraphExecEventWaitNodeSetEvent(executable, node, event));
}

cudaError_t CUDARTAPI cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                              unsigned int is_enabled) {
    return RUNTIME_CALL(cuGraphNodeSetEnabled(executable, node, is_enabled));
}

cudaError_t CUDARTAPI cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                              unsigned int *is_enabled) {
    return RUNTIME_CALL(cuGraphNodeGetEnabled(executable, node, is_enabled));
}

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    return RUNTIME_CALL(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    return RUNTIME_CALL(cuStreamEndCapture(stream, graph));
}

cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    return RUNTIME_CALL(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}

cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                    const cudaGraphNode_t *dependencies,
                                                    const cudaGraphEdgeData *edges, size_t count,
                                                    enum cudaStreamCaptureMode mode) {
    return RUNTIME_CALL(cuStreamBeginCaptureToGraph(stream, graph, dependencies,
                                                    (const CUgraphEdgeData *)edges, count,
                                                    (CUstreamCaptureMode)mode));
}
