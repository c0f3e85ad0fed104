/* Features before CUDA 12 that later toolkits have removed, implemented with their replacements:
 * texture and surface references (tyto_references.h), cudaThreadSynchronize and similar names,
 * members of cudaDeviceProp, warp functions without a mask. `tyto cc --old` includes it first in
 * every file; with nvcc: -include tyto_old.h. */
#ifndef TYTO_OLD_H
#define TYTO_OLD_H

#include <cuda_runtime.h>

#ifdef __cplusplus

/* ---- Names that were replaced ---- */

static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}
static inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}

/* ---- Device properties ---- */

struct TytoOldDeviceProp : cudaDeviceProp {
    int clockRate;       /* kHz */
    int memoryClockRate; /* kHz */
    int deviceOverlap;
    int computeMode;
    int kernelExecTimeoutEnabled;
};

static inline cudaError_t tyto_old_properties(TytoOldDeviceProp *properties, int device) {
    cudaError_t status = cudaGetDeviceProperties((cudaDeviceProp *)properties, device);
    if (status != cudaSuccess) return status;
    cudaDeviceGetAttribute(&properties->clockRate, cudaDevAttrClockRate, device);
    cudaDeviceGetAttribute(&properties->memoryClockRate, cudaDevAttrMemoryClockRate, device);
    cudaDeviceGetAttribute(&properties->deviceOverlap, cudaDevAttrGpuOverlap, device);
    cudaDeviceGetAttribute(&properties->computeMode, cudaDevAttrComputeMode, device);
    return cudaDeviceGetAttribute(&properties->kernelExecTimeoutEnabled,
                                  cudaDevAttrKernelExecTimeout, device);
}
#define cudaDeviceProp          TytoOldDeviceProp
#define cudaGetDeviceProperties tyto_old_properties

#include "tyto_references.h"

#ifdef __CUDACC__
/* ---- Warp functions without a mask ---- */

template <class T> static __device__ __forceinline__ T __shfl(T value, int lane, int width = 32) {
    return __shfl_sync(0xffffffffu, value, lane, width);
}
template <class T>
static __device__ __forceinline__ T __shfl_up(T value, unsigned by, int width = 32) {
    return __shfl_up_sync(0xffffffffu, value, by, width);
}
template <class T>
static __device__ __forceinline__ T __shfl_down(T value, unsigned by, int width = 32) {
    return __shfl_down_sync(0xffffffffu, value, by, width);
}
template <class T>
static __device__ __forceinline__ T __shfl_xor(T value, int mask, int width = 32) {
    return __shfl_xor_sync(0xffffffffu, value, mask, width);
}
/* CUB includes a header of libcu++ that uses the name __any, so it must be included before. */
#if defined(__NVCC__) && __cplusplus >= 201703L && defined(__has_include)
#if __has_include(<cuda/std/__functional/invoke.h>)
#include <cuda/std/__functional/invoke.h>
#endif
#endif
#define __ballot(predicate) __ballot_sync(0xffffffffu, predicate)
#define __any(predicate)    __any_sync(0xffffffffu, predicate)
#define __all(predicate)    __all_sync(0xffffffffu, predicate)

#endif

/* This must be last, because the word occurs above. With nvcc, a reference at file scope is a
 * device variable. A function that returns a reference may be the host's; there __host__ applies,
 * which is ignored for a variable or a parameter. */
#ifdef __NVCC__
#pragma nv_diag_suppress 1835 /* "attribute does not apply here" */
#define texture __host__ __device__ TytoOldTexture
#endif

#endif
#endif
