/* Kernels: attributes, preferences, occupancy. */
#include "cudart/runtime.h"

#include <string.h>

/* Members of cudaFuncAttributes and the driver's attributes. */
#define ATTRIBUTES(ROW)                                                                            \
    ROW(sharedSizeBytes, SHARED_SIZE_BYTES)                                                        \
    ROW(constSizeBytes, CONST_SIZE_BYTES)                                                          \
    ROW(localSizeBytes, LOCAL_SIZE_BYTES)                                                          \
    ROW(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)                                                 \
    ROW(numRegs, NUM_REGS)                                                                         \
    ROW(ptxVersion, PTX_VERSION)                                                                   \
    ROW(binaryVersion, BINARY_VERSION)                                                             \
    ROW(cacheModeCA, CACHE_MODE_CA)                                                                \
    ROW(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES)                                  \
    ROW(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT)                                  \
    ROW(clusterDimMustBeSet, CLUSTER_SIZE_MUST_BE_SET)                                             \
    ROW(requiredClusterWidth, REQUIRED_CLUSTER_WIDTH)                                              \
    ROW(requiredClusterHeight, REQUIRED_CLUSTER_HEIGHT)                                            \
    ROW(requiredClusterDepth, REQUIRED_CLUSTER_DEPTH)                                              \
    ROW(clusterSchedulingPolicyPreference, CLUSTER_SCHEDULING_POLICY_PREFERENCE)                   \
    ROW(nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED)

static int read_attributes(struct cudaFuncAttributes *attributes, const void *kernel) {
    CUfunction function;
    if (!attributes) return cudaErrorInvalidValue;
    int status = registry_function(kernel, &function), value = 0;
    if (status) return status;
    memset(attributes, 0, sizeof *attributes);
#define READ(member, attribute)                                                                    \
    if (status == 0)                                                                               \
        status = (int)cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_##attribute, function);         \
    attributes->member = (__typeof__(attributes->member))value;
    ATTRIBUTES(READ)
#undef READ
    return status;
}

cudaError_t CUDARTAPI cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                            const void *function) {
    return RUNTIME_CALL(read_attributes(attributes, function));
}

/* Evaluates and returns `work`, an expression with `function` in it, for a kernel. */
#define FUNCTION_CALL(kernel, work)                                                                \
    CUfunction function = NULL;                                                                    \
    int status =                                                                                   \
        runtime_enter() ? registry_function((kernel), &function) : (int)runtime_failure();         \
    if (status == 0) status = (int)(work);

cudaError_t CUDARTAPI cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute,
                                           int value) {
    FUNCTION_CALL(kernel, cuFuncSetAttribute(function, (CUfunction_attribute)attribute, value))
    return runtime_leave(status);
}

cudaError_t CUDARTAPI cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                      enum cudaFuncAttribute attribute, int value,
                                                      int device) {
    if (device != 0) return runtime_leave(cudaErrorInvalidDevice);
    return cudaFuncSetAttribute(kernel, attribute, value);
}

cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config) {
    FUNCTION_CALL(kernel, cuFuncSetCacheConfig(function, (CUfunc_cache)config))
    return runtime_leave(status);
}

cudaError_t CUDARTAPI cudaFuncSetSharedMemConfig(const void *kernel,
                                                 enum cudaSharedMemConfig config) {
    FUNCTION_CALL(kernel, cuFuncSetSharedMemConfig(function, (CUsharedconfig)config))
    return runtime_leave(status);
}

cudaError_t CUDARTAPI cudaFuncGetName(const char **name, const void *kernel) {
    FUNCTION_CALL(kernel, cuFuncGetName(name, function))
    return runtime_leave(status);
}

cudaError_t CUDARTAPI cudaFuncGetParamInfo(const void *kernel, size_t index, size_t *offset,
                                           size_t *size) {
    FUNCTION_CALL(kernel, cuFuncGetParamInfo(function, index, offset, size))
    return runtime_leave(status);
}

cudaError_t CUDARTAPI cudaGetFuncBySymbol(cudaFunction_t *out, const void *symbol) {
    FUNCTION_CALL(symbol, out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)
    if (status == 0) *out = function;
    return runtime_leave(status);
}

/* ---- Occupancy ---- */

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *kernel, int block_size, size_t shared_bytes, unsigned int flags) {
    FUNCTION_CALL(kernel, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                              blocks, function, block_size, shared_bytes, flags))
    return runtime_leave(status);
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                                    int block_size,
                                                                    size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, block_size,
                                                                  shared_bytes, 0);
}

cudaError_t CUDARTAPI cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes,
                                                                const void *kernel, int blocks,
                                                                int block_size) {
    FUNCTION_CALL(
        kernel, cuOccupancyAvailableDynamicSMemPerBlock(shared_bytes, function, blocks, block_size))
    return runtime_leave(status);
}

/* ---- Clusters ---- */

cudaError_t CUDARTAPI cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel,
                                                     const cudaLaunchConfig_t *config) {
    CUlaunchConfig driver_config;
    if (!launch_config(config, &driver_config)) return runtime_leave(cudaErrorInvalidValue);
    FUNCTION_CALL(kernel, cuOccupancyMaxActiveClusters(clusters, function, &driver_config))
    return runtime_leave(status);
}

cudaError_t CUDARTAPI cudaOccupancyMaxPotentialClusterSize(int *ctas, const void *kernel,
                                                           const cudaLaunchConfig_t *config) {
    CUlaunchConfig driver_config;
    if (!launch_config(config, &driver_config)) return runtime_leave(cudaErrorInvalidValue);
    FUNCTION_CALL(kernel, cuOccupancyMaxPotentialClusterSize(ctas, function, &driver_config))
    return runtime_leave(status);
}
