/* Kernels: their attributes, and the occupancy calculator. */
#include "driver/driver.h"

#include <stdlib.h>
#include <string.h>

void function_free(Driver *driver, void *object) {
    (void)driver;
    free(object);
}

/* Begins a call about a function that writes to `out`. */
static CUresult begin(Call *call, CUfunction handle, const void *out, Function **function) {
    *function = NULL;
    CUresult status = call_begin(call);
    if (status) return status;
    *function = CALL_GET(call, HANDLE_FUNCTION, handle);
    if (!*function) return call_end(call, CUDA_ERROR_INVALID_HANDLE);
    return out ? CUDA_SUCCESS : call_end(call, CUDA_ERROR_INVALID_VALUE);
}

/* ---- Attributes ---- */

/* Threads of a CTA according to the kernel's launch bounds; 0 if it has none. */
static uint32_t bound_threads(const uint32_t bounds[3]) {
    uint32_t threads = bounds[0];
    for (int axis = 1; axis < 3; axis++)
        threads *= bounds[axis] ? bounds[axis] : 1;
    return threads;
}

static uint32_t constant_bytes(const PtxModule *module) {
    uint64_t bytes = 0;
    for (int i = 0; i < module->var_count; i++) {
        if (module->vars[i]->space == PTX_SPACE_CONST) bytes += module->vars[i]->size;
    }
    return (uint32_t)bytes;
}

FunctionFacts function_facts(const Gpu *gpu, const GpuModule *module, const IsaFunction *decoded) {
    const PtxModule *ptx = gpu_module_ptx(module);
    const GpuLimits limits = gpu_limits(gpu);
    uint32_t device = limits.max_threads_per_cta;
    uint32_t shared = limits.shared_per_cta < FUNCTION_SHARED_BYTES ? limits.shared_per_cta
                                                                    : FUNCTION_SHARED_BYTES;
    uint32_t required = bound_threads(decoded->ptx->required_threads);
    uint32_t most = required ? required : bound_threads(decoded->ptx->max_threads);
    return (FunctionFacts){.max_threads = most && most < device ? most : device,
                           .shared_bytes = decoded->shared_bytes,
                           .constant_bytes = constant_bytes(ptx),
                           .local_bytes = decoded->local_bytes,
                           .dynamic_shared_bytes =
                               decoded->shared_bytes < shared ? shared - decoded->shared_bytes : 0,
                           .registers = decoded->registers,
                           .target = ptx->target};
}

static FunctionFacts facts_of(const Call *call, const Function *function) {
    return function_facts(call->gpu, function->module->gpu, function->decoded);
}

CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, value, &function);
    if (status) return status;
    const FunctionFacts facts = facts_of(&call, function);
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)facts.max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)facts.shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)facts.constant_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)facts.local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)facts.registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = facts.target; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->dynamic_shared_limit;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = function->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = function->decoded->ptx->needs_cluster;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = (int)function->cluster[0]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = (int)function->cluster[1]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = (int)function->cluster[2]; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = function->has_large_clusters;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = function->cluster_policy;
        break;
    default:
        if (attribute >= CU_FUNC_ATTRIBUTE_MAX) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
        *value = 0; /* cache modes: none */
    }
    return call_end(&call, CUDA_SUCCESS);
}

enum { MOST_CLUSTER_POLICY = 2 }; /* CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING */

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, &value, &function);
    if (status) return status;
    int most = (int)gpu_limits(call.gpu).shared_per_cta - (int)function->decoded->shared_bytes;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > most) status = CUDA_ERROR_INVALID_VALUE;
        else function->dynamic_shared_limit = value;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100) status = CUDA_ERROR_INVALID_VALUE;
        else function->carveout = value;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (value < 0 || function->decoded->ptx->cluster[0]) status = CUDA_ERROR_INVALID_VALUE;
        else
            function->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] =
                (unsigned)value;
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->has_large_clusters = value != 0;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < 0 || value > MOST_CLUSTER_POLICY) status = CUDA_ERROR_INVALID_VALUE;
        else function->cluster_policy = value;
        break;
    default: status = CUDA_ERROR_INVALID_VALUE;
    }
    return call_end(&call, status);
}

/* The machine determines the split of on-chip memory; preferences are checked and ignored. */
CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, &config, &function);
    if (status) return status;
    bool is_valid = config <= CU_FUNC_CACHE_PREFER_EQUAL;
    return call_end(&call, is_valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, &config, &function);
    if (status) return status;
    bool is_valid = config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
    return call_end(&call, is_valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuFuncGetModule(CUmodule *module, CUfunction handle) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, module, &function);
    if (status) return status;
    *module = function->module_handle;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction handle) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, name, &function);
    if (status) return status;
    *name = function->decoded->ptx->name;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, offset, &function);
    if (status) return status;
    const PtxFunction *ptx = function->decoded->ptx;
    if (index >= ptx->parameter_count) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *offset = ptx->parameters[index].address;
    if (size) *size = ptx->parameters[index].size;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, state, &function);
    if (status) return status;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncLoad(CUfunction handle) {
    CUfunctionLoadingState state;
    return cuFuncIsLoaded(&state, handle);
}

/* ---- Occupancy ---- */

static uint32_t ctas_per_sm(const Call *call, const Function *function, int block_size,
                            size_t shared_bytes) {
    if (shared_bytes > UINT32_MAX) return 0;
    return gpu_occupancy(call->gpu, function->module->gpu, function->index, (uint32_t)block_size,
                         (uint32_t)shared_bytes);
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, CUfunction handle, int block_size, size_t shared_bytes, unsigned int flags) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, blocks, &function);
    if (status) return status;
    if (block_size <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *blocks = (int)ctas_per_sm(&call, function, block_size, shared_bytes);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                             int block_size, size_t shared_bytes) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                shared_bytes, 0);
}

/* Tries block sizes of whole warps, from the largest down, and keeps the first that gives the most
 * threads on an SM. */
CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *min_grid_size, int *block_size, CUfunction handle, CUoccupancyB2DSize shared_of_block_size,
    size_t shared_bytes, int block_size_limit, unsigned int flags) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, block_size, &function);
    if (status) return status;
    if (!min_grid_size || block_size_limit < 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    int most = (int)facts_of(&call, function).max_threads;
    if (block_size_limit > 0 && block_size_limit < most) most = block_size_limit;
    uint32_t best_threads = 0, best_ctas = 0;
    *block_size = 0;
    for (int size = most; size > 0; size = (size - 1) / ISA_LANES * ISA_LANES) {
        size_t shared = shared_of_block_size ? shared_of_block_size(size) : shared_bytes;
        uint32_t ctas = ctas_per_sm(&call, function, size, shared);
        if (ctas * (uint32_t)size <= best_threads) continue;
        best_threads = ctas * (uint32_t)size;
        best_ctas = ctas;
        *block_size = size;
    }
    *min_grid_size = (int)(best_ctas * gpu_limits(call.gpu).sms);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size,
                                                  CUfunction function,
                                                  CUoccupancyB2DSize shared_of_block_size,
                                                  size_t shared_bytes, int block_size_limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid_size, block_size, function,
                                                     shared_of_block_size, shared_bytes,
                                                     block_size_limit, 0);
}

/* Shared memory for each of `blocks` CTAs that share an SM. */
CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, CUfunction handle,
                                                         int blocks, int block_size) {
    Call call;
    Function *function;
    CUresult status = begin(&call, handle, shared_bytes, &function);
    if (status) return status;
    if (blocks <= 0 || block_size <= 0 ||
        (uint32_t)blocks > ctas_per_sm(&call, function, block_size, 0))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    uint32_t each = gpu_shared_of_each(call.gpu, (uint32_t)blocks);
    uint32_t fixed = function->decoded->shared_bytes;
    *shared_bytes = each > fixed ? each - fixed : 0;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Clusters ---- */

static uint32_t largest_cluster(const Call *call, const Function *function) {
    const uint32_t most = gpu_limits(call->gpu).max_cluster;
    return most > FUNCTION_PORTABLE_CLUSTER && !function->has_large_clusters
               ? FUNCTION_PORTABLE_CLUSTER
               : most;
}

/* A launch that represents a configuration; the attributes give the clusters. */
static CUresult shape_of(const CUlaunchConfig *config, const Function *function, CUfunction handle,
                         LaunchShape *shape) {
    if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
    *shape = (LaunchShape){.function = handle,
                           .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                           .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                           .shared_bytes = config->sharedMemBytes};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *given = &config->attrs[i];
        if (given->id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
        shape->cluster[0] = given->value.clusterDim.x;
        shape->cluster[1] = given->value.clusterDim.y;
        shape->cluster[2] = given->value.clusterDim.z;
    }
    GpuLaunch counted = {.module = function->module->gpu, .function = function->index};
    memcpy(counted.block, shape->block, sizeof counted.block);
    gpu_count_ctas(&counted); /* for its block */
    memcpy(shape->block, counted.block, sizeof shape->block);
    return CUDA_SUCCESS;
}

/* Clusters of `ctas` CTAs of the configuration that the device can hold. */
static uint32_t most_clusters(const Call *call, const Function *function, const LaunchShape *shape,
                              uint32_t ctas) {
    const uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
    if (!threads || threads > UINT32_MAX) return 0;
    return gpu_most_clusters(call->gpu, function->module->gpu, function->index, (uint32_t)threads,
                             shape->shared_bytes, ctas);
}

static uint64_t ctas_of_cluster(const Function *function, const LaunchShape *shape) {
    const unsigned *cluster = shape->cluster[0] ? shape->cluster : function->cluster;
    return cluster[0] ? (uint64_t)cluster[0] * cluster[1] * cluster[2] : 1;
}

CUresult CUDAAPI cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                              const CUlaunchConfig *config) {
    Call call;
    Function *function;
    LaunchShape shape;
    CUresult status = begin(&call, handle, clusters, &function);
    if (status) return status;
    status = shape_of(config, function, handle, &shape);
    if (status) return call_end(&call, status);
    const uint64_t ctas = ctas_of_cluster(function, &shape);
    const uint32_t largest = largest_cluster(&call, function);
    if (!ctas || ctas > largest) return call_end(&call, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    *clusters = (int)most_clusters(&call, function, &shape, (uint32_t)ctas);
    return call_end(&call, CUDA_SUCCESS);
}

/* The largest power of two of CTAs for which a cluster fits. */
CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int *ctas, CUfunction handle,
                                                    const CUlaunchConfig *config) {
    Call call;
    Function *function;
    LaunchShape shape;
    CUresult status = begin(&call, handle, ctas, &function);
    if (status) return status;
    status = shape_of(config, function, handle, &shape);
    if (status) return call_end(&call, status);
    uint32_t most = largest_cluster(&call, function);
    while (most > 1 && !most_clusters(&call, function, &shape, most))
        most /= 2;
    *ctas = (int)most;
    return call_end(&call, CUDA_SUCCESS);
}
