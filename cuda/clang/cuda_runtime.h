/* CUDA C++ for clang without a CUDA toolkit: the device side of the language, the runtime API, and
 * its C++ forms, which take typed pointers, variables and kernels. `tyto cc` includes it first in
 * every file, as nvcc does with its own header.
 *
 * In a file that is not CUDA, only the API and the vector types are defined. Not supported: kernels
 * that launch kernels, and the features that the headers under tyto_device/ exclude. */
#ifndef TYTO_CUDA_RUNTIME_H
#define TYTO_CUDA_RUNTIME_H

#ifndef __cplusplus
#include "tyto/cuda_runtime_api.h"
#else

#ifdef __CUDA__
#include "tyto_device/language.h"
#include <__clang_cuda_math_forward_declares.h> /* before <cmath>, see math_overloads.h */
#endif

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __CUDA__
#define __CUDACC__ /* by which programs distinguish CUDA C++ from plain C++ */
#include <cmath>
#include <cstdlib>

#include "tyto_device.h"
#include "tyto_device/math_overloads.h"
#include <cstring> /* after the device's memcpy, so that std:: gets it with the host's */
#include "tyto_device/surface.h"
#include "tyto_device/texture.h"

/* Managed variables, which clang does not have: the host's shadow of a device variable, in a
 * section that the device maps at the same addresses. Each object passes the section's place to the
 * runtime, before the compiler's code registers the variables. */
#ifdef __CUDA_ARCH__
#define __managed__ __attribute__((device))
#else
#define __managed__ __attribute__((device, section("tyto_managed")))
extern "C" {
extern char __start_tyto_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_tyto_managed[] __attribute__((weak, visibility("hidden")));
void __cudaRegisterManagedSection(const void *start, const void *stop);
}
__attribute__((constructor(101))) static void tyto_register_managed() {
    if (__start_tyto_managed != __stop_tyto_managed)
        __cudaRegisterManagedSection(__start_tyto_managed, __stop_tyto_managed);
}
#ifdef __CLANG_RDC__
/* For -rdc=true, the linker replaces the separate registration function of each of clang's objects
 * by this one (src/cli/toolchain/device_link.c). */
extern "C" {
void __cudaRegisterLinkedBinary(void (*add)(void **), void *wrapper);
__attribute__((weak, used, visibility("hidden"))) void
tyto_register_linked(void (*add)(void **), void *wrapper, void *, void *) {
    __cudaRegisterLinkedBinary(add, wrapper);
}
}
#endif
#endif

#include <new> /* after the qualifiers, because clang's own <new> adds the device's operators */
#else
#define __host__
#define __device__
#define __forceinline__  inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define TYTO_DEVICE_LANGUAGE_H
#include "tyto_device/vector.h"
#endif

#include "tyto/cuda_runtime_api.h"

/* ---- Positions and sizes ---- */

static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    return {width, height, depth};
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
static inline cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t x_size,
                                                 size_t y_size) {
    return {pointer, pitch, x_size, y_size};
}

/* ---- Formats by type ---- */

template <class T> static inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    return {0, 0, 0, 0, cudaChannelFormatKindNone};
}
#define TYTO_FORMATS(T, name, bits, kind)                                                          \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() {                          \
        return {bits, 0, 0, 0, cudaChannelFormatKind##kind};                                       \
    }                                                                                              \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<name##1>() {                    \
        return {bits, 0, 0, 0, cudaChannelFormatKind##kind};                                       \
    }                                                                                              \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<name##2>() {                    \
        return {bits, bits, 0, 0, cudaChannelFormatKind##kind};                                    \
    }                                                                                              \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<name##4>() {                    \
        return {bits, bits, bits, bits, cudaChannelFormatKind##kind};                              \
    }
TYTO_FORMATS(signed char, char, 8, Signed)
TYTO_FORMATS(unsigned char, uchar, 8, Unsigned)
TYTO_FORMATS(short, short, 16, Signed)
TYTO_FORMATS(unsigned short, ushort, 16, Unsigned)
TYTO_FORMATS(int, int, 32, Signed)
TYTO_FORMATS(unsigned, uint, 32, Unsigned)
TYTO_FORMATS(float, float, 32, Float)
#undef TYTO_FORMATS

/* ---- Typed pointers ---- */

template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t size) {
    return cudaMalloc((void **)pointer, size);
}
template <class T> static inline cudaError_t cudaMallocHost(T **pointer, size_t size) {
    return cudaMallocHost((void **)pointer, size);
}
template <class T>
static inline cudaError_t cudaHostAlloc(T **pointer, size_t size, unsigned flags) {
    return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T **out, void *pointer, unsigned flags) {
    return cudaHostGetDevicePointer((void **)out, pointer, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **pointer, size_t size,
                                            unsigned flags = cudaMemAttachGlobal) {
    return cudaMallocManaged((void **)pointer, size, flags);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaStream_t stream) {
    return cudaMallocAsync((void **)pointer, size, stream);
}
template <class T>
static inline cudaError_t cudaMallocFromPoolAsync(T **pointer, size_t size, cudaMemPool_t pool,
                                                  cudaStream_t stream) {
    return cudaMallocFromPoolAsync((void **)pointer, size, pool, stream);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaMemPool_t pool,
                                          cudaStream_t stream) {
    return cudaMallocFromPoolAsync((void **)pointer, size, pool, stream);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}

/* ---- Variables ---- */

template <class T> static inline cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) {
    return cudaGetSymbolAddress(pointer, (const void *)&symbol);
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) {
    return cudaGetSymbolSize(size, (const void *)&symbol);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *source, size_t size,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbol((const void *)&symbol, source, size, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *source, size_t size,
                                                  size_t offset, cudaMemcpyKind kind,
                                                  cudaStream_t stream = 0) {
    return cudaMemcpyToSymbolAsync((const void *)&symbol, source, size, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *destination, const T &symbol, size_t size,
                                               size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbol(destination, (const void *)&symbol, size, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *destination, const T &symbol, size_t size,
                                                    size_t offset, cudaMemcpyKind kind,
                                                    cudaStream_t stream = 0) {
    return cudaMemcpyFromSymbolAsync(destination, (const void *)&symbol, size, offset, kind,
                                     stream);
}

template <class T>
static inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                         const cudaGraphNode_t *dependencies,
                                                         size_t count, const T &symbol,
                                                         const void *source, size_t size,
                                                         size_t offset, cudaMemcpyKind kind) {
    return cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, count, (const void *)&symbol,
                                          source, size, offset, kind);
}
template <class T>
static inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                           const cudaGraphNode_t *dependencies,
                                                           size_t count, void *destination,
                                                           const T &symbol, size_t size,
                                                           size_t offset, cudaMemcpyKind kind) {
    return cudaGraphAddMemcpyNodeFromSymbol(node, graph, dependencies, count, destination,
                                            (const void *)&symbol, size, offset, kind);
}
template <class T>
static inline cudaError_t
cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T &symbol, const void *source,
                                     size_t size, size_t offset, cudaMemcpyKind kind) {
    return cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void *)&symbol, source, size, offset,
                                                kind);
}
template <class T>
static inline cudaError_t
cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *destination, const T &symbol,
                                       size_t size, size_t offset, cudaMemcpyKind kind) {
    return cudaGraphMemcpyNodeSetParamsFromSymbol(node, destination, (const void *)&symbol, size,
                                                  offset, kind);
}
template <class T>
static inline cudaError_t
cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                         const T &symbol, const void *source, size_t size,
                                         size_t offset, cudaMemcpyKind kind) {
    return cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, node, (const void *)&symbol, source,
                                                    size, offset, kind);
}
template <class T>
static inline cudaError_t
cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           void *destination, const T &symbol, size_t size,
                                           size_t offset, cudaMemcpyKind kind) {
    return cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable, node, destination,
                                                      (const void *)&symbol, size, offset, kind);
}

/* ---- Kernels ---- */

template <class T>
static inline cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                           size_t shared_bytes = 0, cudaStream_t stream = 0) {
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared_bytes, stream);
}
/* Arguments become what the kernel's parameters are. */
template <class... Parameters, class... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                             void (*kernel)(Parameters...),
                                             Arguments &&...arguments) {
    return [&](Parameters... converted) {
        void *addresses[] = {(void *)&converted..., nullptr};
        return cudaLaunchKernelExC(config, (const void *)kernel, addresses);
    }(static_cast<Arguments &&>(arguments)...);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block,
                                                      void **arguments, size_t shared_bytes = 0,
                                                      cudaStream_t stream = 0) {
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, shared_bytes,
                                       stream);
}
template <class T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class T>
static inline cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T>
static inline cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config) {
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel,
                                                                        int block_size,
                                                                        size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block_size,
                                                         shared_bytes);
}

/* The block size with the most threads on an SM, and the grid that fills the device with such
 * blocks. */
template <class T, class SharedOfBlock>
static inline cudaError_t
cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid_size, int *block_size, T *kernel,
                                               SharedOfBlock shared_of_block, int limit = 0) {
    cudaFuncAttributes attributes;
    cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
    int sms = 0, best = 0;
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    int most = attributes.maxThreadsPerBlock;
    if (limit > 0 && limit < most) most = limit;
    for (int size = most; size > 0 && status == cudaSuccess; size = (size - 1) / 32 * 32) {
        int blocks;
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, size,
                                                               shared_of_block(size));
        if (status != cudaSuccess || blocks * size <= best) continue;
        best = blocks * size;
        *block_size = size;
        *grid_size = blocks * sms;
    }
    return status;
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size,
                                                             T *kernel, size_t shared_bytes = 0,
                                                             int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid_size, block_size, kernel, [=](int) { return shared_bytes; }, limit);
}

#endif
#endif
