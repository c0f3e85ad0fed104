/* Memory: allocations of the device, the host and both; pools; pointers; fills. */
#include "cudart/runtime.h"

#include <assert.h>
#include <string.h>

/* ---- Device memory ---- */

/* An allocation of 0 bytes is a null pointer. */
static int allocate(void **pointer, size_t size) {
    CUdeviceptr address = 0;
    if (!pointer) return cudaErrorInvalidValue;
    int status = size ? (int)cuMemAlloc(&address, size) : cudaSuccess;
    if (status == 0) *pointer = pointer_of(address);
    return status;
}

cudaError_t CUDARTAPI cudaMalloc(void **pointer, size_t size) {
    return RUNTIME_CALL(allocate(pointer, size));
}

cudaError_t CUDARTAPI cudaFree(void *pointer) {
    return RUNTIME_CALL(cuMemFree(address_of(pointer)));
}

static int allocate_pitched(void **pointer, size_t *pitch, size_t width, size_t rows) {
    CUdeviceptr address = 0;
    if (!pointer || !pitch) return cudaErrorInvalidValue;
    *pitch = 0;
    int status =
        width && rows ? (int)cuMemAllocPitch(&address, pitch, width, rows, 4) : cudaSuccess;
    if (status == 0) *pointer = pointer_of(address);
    return status;
}

cudaError_t CUDARTAPI cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    return RUNTIME_CALL(allocate_pitched(pointer, pitch, width, height));
}

cudaError_t CUDARTAPI cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent) {
    size_t rows;
    if (!pointer || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return runtime_leave(cudaErrorInvalidValue);
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return RUNTIME_CALL(allocate_pitched(&pointer->ptr, &pointer->pitch, extent.width, rows));
}

static int allocate_managed(void **pointer, size_t size, unsigned flags) {
    CUdeviceptr address = 0;
    if (!pointer) return cudaErrorInvalidValue;
    int status = size ? (int)cuMemAllocManaged(&address, size, flags) : cudaSuccess;
    if (status == 0) *pointer = pointer_of(address);
    return status;
}

cudaError_t CUDARTAPI cudaMallocManaged(void **pointer, size_t size, unsigned int flags) {
    return RUNTIME_CALL(allocate_managed(pointer, size, flags));
}

cudaError_t CUDARTAPI cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    return RUNTIME_CALL(cuMemGetInfo(free_bytes, total_bytes));
}

/* ---- Host memory ---- */

cudaError_t CUDARTAPI cudaHostAlloc(void **pointer, size_t size, unsigned int flags) {
    if (pointer && !size) *pointer = NULL;
    return RUNTIME_CALL(pointer && !size ? CUDA_SUCCESS : cuMemHostAlloc(pointer, size, flags));
}

cudaError_t CUDARTAPI cudaMallocHost(void **pointer, size_t size) {
    return cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}

cudaError_t CUDARTAPI cudaFreeHost(void *pointer) { return RUNTIME_CALL(cuMemFreeHost(pointer)); }

static int device_pointer(void **out, void *pointer, unsigned flags) {
    CUdeviceptr address;
    if (!out) return cudaErrorInvalidValue;
    int status = (int)cuMemHostGetDevicePointer(&address, pointer, flags);
    if (status == 0) *out = pointer_of(address);
    return status;
}

cudaError_t CUDARTAPI cudaHostGetDevicePointer(void **out, void *pointer, unsigned int flags) {
    return RUNTIME_CALL(device_pointer(out, pointer, flags));
}

cudaError_t CUDARTAPI cudaHostGetFlags(unsigned int *flags, void *pointer) {
    return RUNTIME_CALL(cuMemHostGetFlags(flags, pointer));
}

cudaError_t CUDARTAPI cudaHostRegister(void *pointer, size_t size, unsigned int flags) {
    return RUNTIME_CALL(cuMemHostRegister(pointer, size, flags));
}

cudaError_t CUDARTAPI cudaHostUnregister(void *pointer) {
    return RUNTIME_CALL(cuMemHostUnregister(pointer));
}

/* ---- Pointers ---- */

static int pointer_attributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    if (!attributes) return cudaErrorInvalidValue;
    CUdeviceptr address = address_of(pointer);
    CUmemorytype type;
    _Bool is_managed = 0;
    memset(attributes, 0, sizeof *attributes);
    int status = (int)cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    if (status == CUDA_ERROR_INVALID_VALUE) { /* plain host memory */
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = cudaInvalidDeviceId;
        attributes->hostPointer = pointer_of(address);
        return cudaSuccess;
    }
    if (status) return status;
    cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    attributes->type = is_managed                   ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                    : cudaMemoryTypeDevice;
    cuPointerGetAttribute(&attributes->devicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address);
    if (type == CU_MEMORYTYPE_HOST)
        cuPointerGetAttribute(&attributes->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                               const void *pointer) {
    return RUNTIME_CALL(pointer_attributes(attributes, pointer));
}

/* ---- Pools ---- */

/* The runtime's pools and their structs are the driver's. */
static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "the same layout");
static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "the same layout");

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    return RUNTIME_CALL(cuDeviceGetDefaultMemPool(pool, device));
}

cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    return RUNTIME_CALL(cuDeviceGetMemPool(pool, device));
}

cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return RUNTIME_CALL(cuDeviceSetMemPool(device, pool));
}

cudaError_t CUDARTAPI cudaMemGetDefaultMemPool(cudaMemPool_t *pool,
                                               struct cudaMemLocation *location,
                                               enum cudaMemAllocationType type) {
    return RUNTIME_CALL(
        cuMemGetDefaultMemPool(pool, (CUmemLocation *)location, (CUmemAllocationType)type));
}

cudaError_t CUDARTAPI cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                        enum cudaMemAllocationType type) {
    return RUNTIME_CALL(
        cuMemGetMemPool(pool, (CUmemLocation *)location, (CUmemAllocationType)type));
}

cudaError_t CUDARTAPI cudaMemSetMemPool(struct cudaMemLocation *location,
                                        enum cudaMemAllocationType type, cudaMemPool_t pool) {
    return RUNTIME_CALL(
        cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type, pool));
}

cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t *pool,
                                        const struct cudaMemPoolProps *properties) {
    return RUNTIME_CALL(cuMemPoolCreate(pool, (const CUmemPoolProps *)properties));
}

cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t pool) {
    return RUNTIME_CALL(cuMemPoolDestroy(pool));
}

cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep) {
    return RUNTIME_CALL(cuMemPoolTrimTo(pool, bytes_to_keep));
}

cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                              void *value) {
    return RUNTIME_CALL(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                              void *value) {
    return RUNTIME_CALL(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list,
                                           size_t count) {
    return RUNTIME_CALL(cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)list, count));
}

cudaError_t CUDARTAPI cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                           struct cudaMemLocation *location) {
    return RUNTIME_CALL(
        cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool, (CUmemLocation *)location));
}

static_assert(sizeof(struct cudaMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData),
              "the same layout");

cudaError_t CUDARTAPI cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
                                                         enum cudaMemAllocationHandleType type,
                                                         unsigned int flags) {
    return RUNTIME_CALL(
        cuMemPoolExportToShareableHandle(handle, pool, (CUmemAllocationHandleType)type, flags));
}

cudaError_t CUDARTAPI cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
                                                           enum cudaMemAllocationHandleType type,
                                                           unsigned int flags) {
    return RUNTIME_CALL(
        cuMemPoolImportFromShareableHandle(pool, handle, (CUmemAllocationHandleType)type, flags));
}

cudaError_t CUDARTAPI cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *data,
                                               void *pointer) {
    return RUNTIME_CALL(
        cuMemPoolExportPointer((CUmemPoolPtrExportData *)data, (CUdeviceptr)(uintptr_t)pointer));
}

cudaError_t CUDARTAPI cudaMemPoolImportPointer(void **pointer, cudaMemPool_t pool,
                                               struct cudaMemPoolPtrExportData *data) {
    CUdeviceptr address = 0;
    const cudaError_t status =
        RUNTIME_CALL(cuMemPoolImportPointer(&address, pool, (CUmemPoolPtrExportData *)data));
    if (status == cudaSuccess) *pointer = (void *)(uintptr_t)address;
    return status;
}

/* As with cudaMalloc, an allocation of 0 bytes is a null pointer. */
static int allocate_in(void **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    CUdeviceptr address = 0;
    unsigned flags;
    int status = (int)cuStreamGetFlags(stream, &flags);
    if (status || !pointer) return status ? status : (int)cudaErrorInvalidValue;
    if (size && pool) status = (int)cuMemAllocFromPoolAsync(&address, size, pool, stream);
    else if (size) status = (int)cuMemAllocAsync(&address, size, stream);
    if (status == 0) *pointer = pointer_of(address);
    return status;
}

cudaError_t CUDARTAPI cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream) {
    return RUNTIME_CALL(allocate_in(pointer, size, NULL, stream));
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t pool,
                                              cudaStream_t stream) {
    return RUNTIME_CALL(pool ? allocate_in(pointer, size, pool, stream)
                             : (int)cudaErrorInvalidValue);
}

cudaError_t CUDARTAPI cudaFreeAsync(void *pointer, cudaStream_t stream) {
    return RUNTIME_CALL(cuMemFreeAsync(address_of(pointer), stream));
}

/* ---- Filling ---- */

cudaError_t CUDARTAPI cudaMemsetAsync(void *pointer, int value, size_t count, cudaStream_t stream) {
    return RUNTIME_CALL(
        count ? cuMemsetD8Async(address_of(pointer), (unsigned char)value, count, stream)
              : CUDA_SUCCESS);
}

cudaError_t CUDARTAPI cudaMemset(void *pointer, int value, size_t count) {
    return copy_finish(cudaMemsetAsync(pointer, value, count, NULL), pointer, NULL);
}

cudaError_t CUDARTAPI cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width,
                                        size_t height, cudaStream_t stream) {
    return RUNTIME_CALL(
        cuMemsetD2D8Async(address_of(pointer), pitch, (unsigned char)value, width, height, stream));
}

cudaError_t CUDARTAPI cudaMemset2D(void *pointer, size_t pitch, int value, size_t width,
                                   size_t height) {
    return copy_finish(cudaMemset2DAsync(pointer, pitch, value, width, height, NULL), pointer,
                       NULL);
}

cudaError_t CUDARTAPI cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value,
                                        struct cudaExtent extent, cudaStream_t stream) {
    if (pointer.ysize && extent.height > pointer.ysize && extent.depth)
        return runtime_leave(cudaErrorInvalidValue);
    cudaError_t status = cudaSuccess;
    for (size_t z = 0; z < extent.depth && status == cudaSuccess; z++) {
        char *slice = (char *)pointer.ptr + z * pointer.pitch * pointer.ysize;
        status =
            cudaMemset2DAsync(slice, pointer.pitch, value, extent.width, extent.height, stream);
    }
    return status;
}

cudaError_t CUDARTAPI cudaMemset3D(struct cudaPitchedPtr pointer, int value,
                                   struct cudaExtent extent) {
    return copy_finish(cudaMemset3DAsync(pointer, value, extent, NULL), pointer.ptr, NULL);
}
