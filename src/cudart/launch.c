/* Launches: configurations between `<<<` and the launch, and the functions that compilers' host
 * stubs call. */
#include "cudart/runtime.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIGURATIONS_MAX = 16 }; /* nested `<<<`: arguments can launch, too */

typedef struct Configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
} Configuration;

static _Thread_local struct {
    Configuration items[CONFIGURATIONS_MAX];
    int count;
} pending;

unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                               struct CUstream_st *stream) {
    if (pending.count == CONFIGURATIONS_MAX)
        return (unsigned)runtime_leave(cudaErrorLaunchOutOfResources);
    pending.items[pending.count++] = (Configuration){grid, block, shared_bytes, stream};
    return 0;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                                 void *stream) {
    if (!pending.count) return runtime_leave(cudaErrorMissingConfiguration);
    Configuration top = pending.items[--pending.count];
    *grid = top.grid;
    *block = top.block;
    *shared_bytes = top.shared_bytes;
    memcpy(stream, &top.stream, sizeof top.stream);
    return cudaSuccess;
}

/* ---- What a launch returns ---- */

/* On a GPU, a kernel faults long after the launch has returned, so the next call reports the fault.
 * With CUDA_LAUNCH_BLOCKING=1 the launch itself reports it. */
static bool is_told_later(CUresult status) {
    static const CUresult faults[] = {
        CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_ASSERT,
        CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_INVALID_ADDRESS_SPACE,
        CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED,
    };
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    if (blocking && strcmp(blocking, "0") != 0) return false;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if (status == faults[i]) return true;
    }
    return false;
}

/* Whether the device can never run a grid of this shape. */
static bool is_impossible(dim3 size, const CUdevice_attribute limits[3], int most_threads) {
    unsigned sizes[] = {size.x, size.y, size.z};
    uint64_t threads = 1;
    for (int axis = 0; axis < 3; axis++) {
        int limit = 0;
        cuDeviceGetAttribute(&limit, limits[axis], 0);
        if (!sizes[axis] || sizes[axis] > (unsigned)limit) return true;
        threads *= sizes[axis];
    }
    return most_threads && threads > (unsigned)most_threads;
}

/* The error code for impossible grids and blocks differs between releases. */
static int refine(CUresult status, dim3 grid, dim3 block) {
    static const CUdevice_attribute grid_limits[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                                     CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                                     CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
    static const CUdevice_attribute block_limits[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                                      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                                      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    if (status != CUDA_ERROR_INVALID_VALUE) return (int)status;
    if (version_errors.impossible_launch == cudaErrorInvalidValue) return cudaErrorInvalidValue;
    int most_threads = 0;
    cuDeviceGetAttribute(&most_threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0);
    bool is_bad =
        is_impossible(grid, grid_limits, 0) || is_impossible(block, block_limits, most_threads);
    return is_bad ? (int)version_errors.impossible_launch : (int)cudaErrorInvalidValue;
}

/* (cuCtxSynchronize would report it too, but cannot be called while a stream is captured.) */
int launch_failure(void) {
    CUfunc_cache preference;
    return (int)cuCtxGetCacheConfig(&preference);
}

int launch_told(int status) { return is_told_later((CUresult)status) ? cudaSuccess : status; }

static int launch(const void *kernel, CUlaunchConfig *config, void **arguments) {
    CUfunction function;
    int status = registry_function(kernel, &function);
    if (status) return status;
    CUresult launched = cuLaunchKernelEx(config, function, arguments, NULL);
    if (is_told_later(launched)) return 0;
    if (launched == CUDA_ERROR_NOT_SUPPORTED) runtime_note_refusal();
    return refine(launched, (dim3){config->gridDimX, config->gridDimY, config->gridDimZ},
                  (dim3){config->blockDimX, config->blockDimY, config->blockDimZ});
}

static int launch_plain(const void *kernel, dim3 grid, dim3 block, void **arguments,
                        size_t shared_bytes, cudaStream_t stream, bool is_cooperative) {
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                     .value.cooperative = is_cooperative};
    if (shared_bytes > UINT32_MAX) return cudaErrorInvalidValue;
    CUlaunchConfig config = {
        grid.x, grid.y,       grid.z, block.x, block.y, block.z, (unsigned)shared_bytes,
        stream, &cooperative, 1};
    return launch(kernel, &config, arguments);
}

cudaError_t CUDARTAPI cudaLaunchKernel(const void *function, dim3 grid, dim3 block,
                                       void **arguments, size_t shared_bytes, cudaStream_t stream) {
    return RUNTIME_CALL(
        launch_plain(function, grid, block, arguments, shared_bytes, stream, false));
}

cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                                  void **arguments, size_t shared_bytes,
                                                  cudaStream_t stream) {
    return RUNTIME_CALL(launch_plain(function, grid, block, arguments, shared_bytes, stream, true));
}

bool launch_config(const cudaLaunchConfig_t *config, CUlaunchConfig *out) {
    if (!config || config->dynamicSmemBytes > UINT32_MAX) return false;
    *out = (CUlaunchConfig){config->gridDim.x,
                            config->gridDim.y,
                            config->gridDim.z,
                            config->blockDim.x,
                            config->blockDim.y,
                            config->blockDim.z,
                            (unsigned)config->dynamicSmemBytes,
                            config->stream,
                            (CUlaunchAttribute *)config->attrs, /* with the same layout */
                            config->numAttrs};
    return true;
}

cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                          void **arguments) {
    CUlaunchConfig driver_config;
    if (!launch_config(config, &driver_config)) return runtime_leave(cudaErrorInvalidValue);
    return RUNTIME_CALL(launch(function, &driver_config, arguments));
}

cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user) {
    return RUNTIME_CALL(cuLaunchHostFunc(stream, function, user));
}

/* ---- CUDA 13's stubs: look up the kernel once, then launch by its handle ---- */

cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    Kernel *found = registry_kernel(function);
    if (!kernel) return runtime_leave(cudaErrorInvalidValue);
    *kernel = (cudaKernel_t)found;
    return runtime_leave(found ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    return cudaGetKernel(kernel, function);
}

cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                         void **arguments, size_t shared_bytes,
                                         cudaStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
