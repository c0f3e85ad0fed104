/* Graph nodes of any type, their memory, conditions and attributes: passed to the driver. */
#include "cudart/runtime.h"

#include <string.h>

/* ---- Nodes of any type ---- */

/* Converts a node to the driver's form. Returns 0 or the error. */
static int read_node(const struct cudaGraphNodeParams *given, CUgraphNodeParams *out) {
    *out = (CUgraphNodeParams){0};
    if (!given) return cudaErrorInvalidValue;
    out->type = (CUgraphNodeType)given->type;
    memcpy(out->reserved0, given->reserved0, sizeof out->reserved0);
    out->reserved2 = given->reserved2;
    switch ((int)given->type) {
    case cudaGraphNodeTypeKernel: return graph_read_kernel(&given->kernel, &out->kernel);
    case cudaGraphNodeTypeMemcpy:
        out->memcpy.flags = given->memcpy.flags;
        for (int i = 0; i < 3; i++)
            out->memcpy.reserved |= given->memcpy.reserved[i];
        return copy_describe_box(&given->memcpy.copyParams, &out->memcpy.copyParams);
    case cudaGraphNodeTypeConditional:
        out->conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
            given->conditional.handle, (CUgraphConditionalNodeType)given->conditional.type,
            given->conditional.size, NULL, NULL};
        return cudaSuccess;
    default: /* with the same layout; the driver's have more fields at the end */
        memcpy(out->reserved1, given->reserved1, sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
        return cudaSuccess;
    }
}

/* Values that the program gets when a node is added. */
static void write_back(const CUgraphNodeParams *made, struct cudaGraphNodeParams *given) {
    if (made->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        given->conditional.phGraph_out = made->conditional.phGraph_out;
    if (made->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        given->alloc.dptr = pointer_of(made->alloc.dptr);
}

int graph_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                   const cudaGraphEdgeData *edges, size_t count,
                   struct cudaGraphNodeParams *given) {
    CUgraphNodeParams parameters;
    int status = read_node(given, &parameters);
    if (status) return status;
    status = (int)cuGraphAddNode(node, graph, dependencies, (const CUgraphEdgeData *)edges, count,
                                 &parameters);
    if (status == 0) write_back(&parameters, given);
    return status;
}

static int set_node(cudaGraphExec_t executable, cudaGraphNode_t node,
                    const struct cudaGraphNodeParams *given) {
    CUgraphNodeParams parameters;
    int status = read_node(given, &parameters);
    if (status) return status;
    return executable ? (int)cuGraphExecNodeSetParams(executable, node, &parameters)
                      : (int)cuGraphNodeSetParams(node, &parameters);
}

cudaError_t CUDARTAPI cudaGraphNodeSetParams(cudaGraphNode_t node,
                                             struct cudaGraphNodeParams *parameters) {
    return RUNTIME_CALL(set_node(NULL, node, parameters));
}

cudaError_t CUDARTAPI cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 struct cudaGraphNodeParams *parameters) {
    return RUNTIME_CALL(executable ? set_node(executable, node, parameters)
                                   : (int)cudaErrorInvalidValue);
}

/* ---- Memory ---- */

cudaError_t CUDARTAPI cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *dependencies, size_t count,
                                               struct cudaMemAllocNodeParams *parameters) {
    return RUNTIME_CALL(cuGraphAddMemAllocNode(node, graph, dependencies, count,
                                               (CUDA_MEM_ALLOC_NODE_PARAMS *)parameters));
}

cudaError_t CUDARTAPI cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                     struct cudaMemAllocNodeParams *parameters) {
    return RUNTIME_CALL(
        cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)parameters));
}

cudaError_t CUDARTAPI cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *dependencies, size_t count,
                                              void *pointer) {
    return RUNTIME_CALL(
        cuGraphAddMemFreeNode(node, graph, dependencies, count, address_of(pointer)));
}

cudaError_t CUDARTAPI cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer) {
    return RUNTIME_CALL(cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)pointer));
}

cudaError_t CUDARTAPI cudaDeviceGraphMemTrim(int device) {
    return RUNTIME_CALL(cuDeviceGraphMemTrim(device));
}

cudaError_t CUDARTAPI cudaDeviceGetGraphMemAttribute(int device,
                                                     enum cudaGraphMemAttributeType attribute,
                                                     void *value) {
    return RUNTIME_CALL(
        cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value));
}

cudaError_t CUDARTAPI cudaDeviceSetGraphMemAttribute(int device,
                                                     enum cudaGraphMemAttributeType attribute,
                                                     void *value) {
    return RUNTIME_CALL(
        cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value));
}

/* ---- Conditions, attributes, DOT ---- */

cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle,
                                                       cudaGraph_t graph, unsigned int first,
                                                       unsigned int flags) {
    return RUNTIME_CALL(cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)handle, graph,
                                                       NULL, first, flags));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node,
                                                      cudaKernelNodeAttrID attribute,
                                                      cudaKernelNodeAttrValue *value) {
    return RUNTIME_CALL(cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)attribute,
                                                      (CUkernelNodeAttrValue *)value));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node,
                                                      cudaKernelNodeAttrID attribute,
                                                      const cudaKernelNodeAttrValue *value) {
    return RUNTIME_CALL(cuGraphKernelNodeSetAttribute(node, (CUkernelNodeAttrID)attribute,
                                                      (const CUkernelNodeAttrValue *)value));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
    return RUNTIME_CALL(cuGraphKernelNodeCopyAttributes(to, from));
}

cudaError_t CUDARTAPI cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path,
                                             unsigned int flags) {
    return RUNTIME_CALL(cuGraphDebugDotPrint(graph, path, flags));
}

/* ---- User objects ---- */

cudaError_t CUDARTAPI cudaUserObjectCreate(cudaUserObject_t *object, void *pointer,
                                           cudaHostFn_t destroy, unsigned int count,
                                           unsigned int flags) {
    return RUNTIME_CALL(cuUserObjectCreate(object, pointer, destroy, count, flags));
}

cudaError_t CUDARTAPI cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
    return RUNTIME_CALL(cuUserObjectRetain(object, count));
}

cudaError_t CUDARTAPI cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
    return RUNTIME_CALL(cuUserObjectRelease(object, count));
}

cudaError_t CUDARTAPI cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                unsigned int count, unsigned int flags) {
    return RUNTIME_CALL(cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t CUDARTAPI cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                 unsigned int count) {
    return RUNTIME_CALL(cuGraphReleaseUserObject(graph, object, count));
}
