/* Memory: allocations of the device, the host and both; pools; pointers; filling.
 *
 * A pool is a name with settings: its memory is the device's, given back when it is freed. */
#include "cudart/runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* ---- Of the device ---- */

/* An allocation of no bytes is a null pointer. */
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
    int status = (int)cuMemAllocManaged(&address, size, flags);
    if (status == 0) *pointer = pointer_of(address);
    return status;
}

cudaError_t CUDARTAPI cudaMallocManaged(void **pointer, size_t size, unsigned int flags) {
    return RUNTIME_CALL(allocate_managed(pointer, size, flags));
}

cudaError_t CUDARTAPI cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    return RUNTIME_CALL(cuMemGetInfo(free_bytes, total_bytes));
}

/* ---- Of the host ---- */

cudaError_t CUDARTAPI cudaHostAlloc(void **pointer, size_t size, unsigned int flags) {
    return RUNTIME_CALL(cuMemHostAlloc(pointer, size, flags));
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

typedef struct Pool Pool;
struct Pool {
    unsigned long long release_threshold; /* bytes; kept for the program, without effect */
    int reuse[3];                         /* of the three reuse attributes, likewise */
    Pool *next;                           /* of all that were created */
};

static struct {
    pthread_mutex_t lock;
    Pool standard; /* the device's own */
    Pool *current; /* that of cudaMallocAsync, NULL: the device's own */
    Pool *first;
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER, .standard = {.reuse = {1, 1, 1}}};

/* The pool of a handle, NULL when it is none. The caller holds the lock. */
static Pool *find_pool(cudaMemPool_t handle) {
    if (handle == (cudaMemPool_t)&pools.standard) return &pools.standard;
    Pool *pool = pools.first;
    while (pool && pool != (Pool *)handle)
        pool = pool->next;
    return pool;
}

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    if (!pool || device != 0)
        return runtime_leave(pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *pool = (cudaMemPool_t)&pools.standard;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    cudaError_t status = cudaDeviceGetDefaultMemPool(pool, device);
    if (status) return status;
    pthread_mutex_lock(&pools.lock);
    if (pools.current) *pool = (cudaMemPool_t)pools.current;
    pthread_mutex_unlock(&pools.lock);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
    if (device != 0) return runtime_leave(cudaErrorInvalidDevice);
    pthread_mutex_lock(&pools.lock);
    Pool *pool = find_pool(handle);
    if (pool) pools.current = pool;
    pthread_mutex_unlock(&pools.lock);
    return runtime_leave(pool ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t *handle,
                                        const struct cudaMemPoolProps *properties) {
    if (!handle || !properties || properties->location.type != cudaMemLocationTypeDevice ||
        properties->location.id != 0)
        return runtime_leave(cudaErrorInvalidValue);
    Pool *pool = base_calloc(1, sizeof *pool);
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    pthread_mutex_lock(&pools.lock);
    pool->next = pools.first;
    pools.first = pool;
    pthread_mutex_unlock(&pools.lock);
    *handle = (cudaMemPool_t)pool;
    return cudaSuccess;
}

/* Memory that came from the pool stays until it is freed. */
cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t handle) {
    pthread_mutex_lock(&pools.lock);
    Pool **link = &pools.first;
    while (*link && *link != (Pool *)handle)
        link = &(*link)->next;
    Pool *pool = *link;
    if (pool) *link = pool->next;
    if (pools.current == pool) pools.current = NULL;
    pthread_mutex_unlock(&pools.lock);
    free(pool);
    return runtime_leave(pool ? cudaSuccess : cudaErrorInvalidValue);
}

static bool is_pool(cudaMemPool_t handle) {
    pthread_mutex_lock(&pools.lock);
    bool is_known = find_pool(handle) != NULL;
    pthread_mutex_unlock(&pools.lock);
    return is_known;
}

cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep) {
    (void)bytes_to_keep; /* no pool keeps any */
    return runtime_leave(is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue);
}

/* Where a pool keeps an attribute, its size in *size; NULL: it keeps no such attribute. */
static void *pool_setting(Pool *pool, enum cudaMemPoolAttr attribute, size_t *size) {
    *size = sizeof(int);
    switch ((int)attribute) {
    case cudaMemPoolReuseFollowEventDependencies: return &pool->reuse[0];
    case cudaMemPoolReuseAllowOpportunistic: return &pool->reuse[1];
    case cudaMemPoolReuseAllowInternalDependencies: return &pool->reuse[2];
    case cudaMemPoolAttrReleaseThreshold:
        *size = sizeof pool->release_threshold;
        return &pool->release_threshold;
    default: return NULL;
    }
}

static cudaError_t pool_exchange(cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value,
                                 bool is_set, const char *name) {
    size_t size = 0;
    pthread_mutex_lock(&pools.lock);
    Pool *pool = value ? find_pool(handle) : NULL;
    void *setting = pool ? pool_setting(pool, attribute, &size) : NULL;
    if (setting) memcpy(is_set ? setting : value, is_set ? value : setting, size);
    pthread_mutex_unlock(&pools.lock);
    if (!pool) return runtime_leave(cudaErrorInvalidValue);
    return setting ? cudaSuccess : (cudaError_t)runtime_missing(name);
}

cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                              void *value) {
    return pool_exchange(pool, attribute, value, true, "cudaMemPoolSetAttribute of memory in use");
}

cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                              void *value) {
    return pool_exchange(pool, attribute, value, false, "cudaMemPoolGetAttribute of memory in use");
}

static int allocate_in(void **pointer, size_t size, cudaStream_t stream) {
    int status = (int)cuStreamQuery(stream);
    return status ? status : allocate(pointer, size);
}

cudaError_t CUDARTAPI cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream) {
    return RUNTIME_CALL(allocate_in(pointer, size, stream));
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t pool,
                                              cudaStream_t stream) {
    return RUNTIME_CALL(is_pool(pool) ? allocate_in(pointer, size, stream)
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
    return cudaMemsetAsync(pointer, value, count, NULL);
}

cudaError_t CUDARTAPI cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width,
                                        size_t height, cudaStream_t stream) {
    return RUNTIME_CALL(
        cuMemsetD2D8Async(address_of(pointer), pitch, (unsigned char)value, width, height, stream));
}

cudaError_t CUDARTAPI cudaMemset2D(void *pointer, size_t pitch, int value, size_t width,
                                   size_t height) {
    return cudaMemset2DAsync(pointer, pitch, value, width, height, NULL);
}

cudaError_t CUDARTAPI cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value,
                                        struct cudaExtent extent, cudaStream_t stream) {
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
    return cudaMemset3DAsync(pointer, value, extent, NULL);
}
