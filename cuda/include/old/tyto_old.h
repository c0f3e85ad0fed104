/* What sources from before CUDA 12 use and later toolkits have removed, on top of what replaced it:
 * texture references, cudaThreadSynchronize and its kin, members of cudaDeviceProp, warp functions
 * without a mask. `tyto cc --old` includes it first in every file; with nvcc: -include tyto_old.h.
 *
 * A texture reference is a variable of the device that holds a texture object, made when it is
 * bound; the settings that the host writes to it stay in its shadow until then. Left out: mipmaps,
 * layers, surface references, symbols named by strings. */
#ifndef TYTO_OLD_H
#define TYTO_OLD_H

#include <cuda_runtime.h>
#ifndef __NVCC__
#include "tyto/cuda.h" /* before `texture`, its name of an argument, becomes something else */
#endif

#ifdef __cplusplus

#ifdef __NVCC__
#pragma nv_diag_suppress 20092 /* "cannot be directly written": the shadow of a reference is meant \
                                */
#endif

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

/* ---- Texture references ---- */

#ifndef cudaTextureType1D
#define cudaTextureType1D 1
#define cudaTextureType2D 2
#define cudaTextureType3D 3
#endif

struct textureReference {
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
    cudaTextureObject_t object; /* 0: not bound */
};

template <class T, int dimensions = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct TytoOldTexture : textureReference {};

/* On the host: makes the object and hands it to the device. */
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t tyto_old_bind(const TytoOldTexture<T, dimensions, mode> &reference,
                                        const cudaResourceDesc &resource) {
    cudaTextureDesc sampling = {};
    cudaTextureObject_t object;
    for (int axis = 0; axis < 3; axis++)
        sampling.addressMode[axis] = reference.addressMode[axis];
    sampling.filterMode = reference.filterMode;
    sampling.normalizedCoords = reference.normalized;
    sampling.readMode = mode;
    cudaError_t status = cudaCreateTextureObject(&object, &resource, &sampling, NULL);
    if (status != cudaSuccess) return status;
    return cudaMemcpyToSymbol((const void *)&reference, &object, sizeof object,
                              offsetof(textureReference, object), cudaMemcpyHostToDevice);
}

template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset,
                                          const TytoOldTexture<T, dimensions, mode> &reference,
                                          const void *pointer, const cudaChannelFormatDesc &format,
                                          size_t size = 0xffffffff) {
    cudaResourceDesc resource = {};
    cudaPointerAttributes attributes;
    size_t free_bytes, total_bytes;
    if (offset) *offset = 0;
    if (size == 0xffffffff) { /* to the end of the memory: at most all there is */
        cudaError_t status = cudaPointerGetAttributes(&attributes, pointer);
        if (status == cudaSuccess) status = cudaMemGetInfo(&free_bytes, &total_bytes);
        if (status != cudaSuccess) return status;
        size = total_bytes < (1u << 27) ? total_bytes : 1u << 27;
    }
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = (void *)pointer;
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = size;
    return tyto_old_bind(reference, resource);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset,
                                          const TytoOldTexture<T, dimensions, mode> &reference,
                                          const void *pointer, size_t size = 0xffffffff) {
    return cudaBindTexture(offset, reference, pointer, cudaCreateChannelDesc<T>(), size);
}

template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t
cudaBindTexture2D(size_t *offset, const TytoOldTexture<T, dimensions, mode> &reference,
                  const void *pointer, const cudaChannelFormatDesc &format, size_t width,
                  size_t height, size_t pitch) {
    cudaResourceDesc resource = {};
    if (offset) *offset = 0;
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = (void *)pointer;
    resource.res.pitch2D.desc = format;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return tyto_old_bind(reference, resource);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t
cudaBindTexture2D(size_t *offset, const TytoOldTexture<T, dimensions, mode> &reference,
                  const void *pointer, size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, reference, pointer, cudaCreateChannelDesc<T>(), width, height,
                             pitch);
}

template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t
cudaBindTextureToArray(const TytoOldTexture<T, dimensions, mode> &reference,
                       cudaArray_const_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = (cudaArray_t)array;
    return tyto_old_bind(reference, resource);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t
cudaBindTextureToArray(const TytoOldTexture<T, dimensions, mode> &reference,
                       cudaArray_const_t array, const cudaChannelFormatDesc &) {
    return cudaBindTextureToArray(reference, array);
}

template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(const TytoOldTexture<T, dimensions, mode> &reference) {
    cudaTextureObject_t object = 0;
    size_t place = offsetof(textureReference, object);
    cudaError_t status = cudaMemcpyFromSymbol(&object, (const void *)&reference, sizeof object,
                                              place, cudaMemcpyDeviceToHost);
    if (status != cudaSuccess || !object) return status;
    return cudaDestroyTextureObject(object);
}

/* What a fetch gives: the element, or floats in its place. */
template <class T, cudaTextureReadMode mode> struct TytoOldTexel {
    typedef T Type;
};
#define TYTO_OLD_FLOATS(T, name)                                                                   \
    template <> struct TytoOldTexel<T, cudaReadModeNormalizedFloat> {                              \
        typedef float Type;                                                                        \
    };                                                                                             \
    template <> struct TytoOldTexel<name##1, cudaReadModeNormalizedFloat> {                        \
        typedef float1 Type;                                                                       \
    };                                                                                             \
    template <> struct TytoOldTexel<name##2, cudaReadModeNormalizedFloat> {                        \
        typedef float2 Type;                                                                       \
    };                                                                                             \
    template <> struct TytoOldTexel<name##4, cudaReadModeNormalizedFloat> {                        \
        typedef float4 Type;                                                                       \
    };
TYTO_OLD_FLOATS(signed char, char)
TYTO_OLD_FLOATS(unsigned char, uchar)
TYTO_OLD_FLOATS(short, short)
TYTO_OLD_FLOATS(unsigned short, ushort)
#undef TYTO_OLD_FLOATS

#ifdef __CUDACC__
template <class T, cudaTextureReadMode mode>
static __device__ __forceinline__ typename TytoOldTexel<T, mode>::Type
tex1Dfetch(const TytoOldTexture<T, 1, mode> &reference, int x) {
    return tex1Dfetch<typename TytoOldTexel<T, mode>::Type>(reference.object, x);
}
template <class T, cudaTextureReadMode mode>
static __device__ __forceinline__ typename TytoOldTexel<T, mode>::Type
tex1D(const TytoOldTexture<T, 1, mode> &reference, float x) {
    return tex1D<typename TytoOldTexel<T, mode>::Type>(reference.object, x);
}
template <class T, cudaTextureReadMode mode>
static __device__ __forceinline__ typename TytoOldTexel<T, mode>::Type
tex2D(const TytoOldTexture<T, 2, mode> &reference, float x, float y) {
    return tex2D<typename TytoOldTexel<T, mode>::Type>(reference.object, x, y);
}

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
#define __ballot(predicate) __ballot_sync(0xffffffffu, predicate)
#define __any(predicate)    __any_sync(0xffffffffu, predicate)
#define __all(predicate)    __all_sync(0xffffffffu, predicate)

/* Last, as the word occurs above: a reference at file scope is a variable of the device. */
#define texture __device__ TytoOldTexture
#endif

#endif
#endif
