/* Memory pools: objects with settings and a count of the memory allocated from them. The memory is
 * the device's and is returned to it when freed, so a pool holds only what is in use. Thresholds
 * and ways of reuse are stored for the program, without effect. A pool that was made shareable can
 * be opened by other processes, which can then open memory that was allocated from it (ipc.c); they
 * cannot allocate from it. Not supported: pools of the host and of managed memory. */
#include "driver/graph/graph.h"

#include <stdlib.h>
#include <unistd.h>

struct Pool {
    Context *context; /* unused: a pool, unlike other objects, belongs to the device */
    CUmemoryPool handle;
    uint64_t release_threshold; /* bytes, without effect */
    int reuse[3];               /* values of the three reuse attributes, without effect */
    uint64_t limit;             /* most bytes that may be in use; 0: no limit */
    uint64_t used, used_high;   /* bytes in use; the most since the mark was last reset */
    uint64_t reserved_high;     /* the same for bytes held, which are those in use */
    bool is_destroyed;          /* is deleted with the last of its memory */
    uint64_t number;            /* number by which other processes know it; 0: not shareable */
    bool is_shared;             /* has been exported, so pointers may be exported too */
    int file;                   /* of another process's pool: its memory; else -1 */
    PoolKey origin;             /* likewise */
};

static Pool *pool_new(Driver *driver) {
    Pool *pool = base_calloc(1, sizeof *pool);
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    pool->file = -1;
    pool->handle = driver_add(driver, HANDLE_POOL, pool);
    return pool;
}

/* The device's own pool, made at its first use. */
static Pool *standard_pool(Driver *driver) {
    if (!driver->standard_pool) driver->standard_pool = pool_new(driver);
    return driver->standard_pool;
}

static Pool *current_pool(Driver *driver) {
    return driver->current_pool ? driver->current_pool : standard_pool(driver);
}

/* Begins a call about a pool that also requires `argument`. */
static CUresult begin(Call *call, CUmemoryPool handle, const void *argument, Pool **pool) {
    *pool = NULL;
    CUresult status = call_begin_driver(call);
    if (status) return status;
    *pool = CALL_GET(call, HANDLE_POOL, handle);
    return *pool && argument ? CUDA_SUCCESS : call_end(call, CUDA_ERROR_INVALID_VALUE);
}

/* ---- The device's pools ---- */

static CUresult get_pool(CUmemoryPool *out, CUdevice device, Pool *(*which)(Driver *)) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    if (!out) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    *out = which(call.driver)->handle;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    return get_pool(pool, device, standard_pool);
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    return get_pool(pool, device, current_pool);
}

CUresult CUDAAPI cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
    Call call;
    Pool *pool;
    CUresult status = begin(&call, handle, &call, &pool);
    if (status) return status;
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    if (pool->file >= 0) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    call.driver->current_pool = pool;
    return call_end(&call, CUDA_SUCCESS);
}

/* Only device memory has pools. */
static CUresult check_place(const CUmemLocation *location, CUmemAllocationType type) {
    if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    return location->id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult CUDAAPI cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                        CUmemAllocationType type) {
    CUresult status = check_place(location, type);
    return status ? status : cuDeviceGetDefaultMemPool(pool, 0);
}

CUresult CUDAAPI cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                 CUmemAllocationType type) {
    CUresult status = check_place(location, type);
    return status ? status : cuDeviceGetMemPool(pool, 0);
}

CUresult CUDAAPI cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                                 CUmemoryPool pool) {
    CUresult status = check_place(location, type);
    return status ? status : cuDeviceSetMemPool(0, pool);
}

/* ---- Pools of programs ---- */

CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *handle, const CUmemPoolProps *properties) {
    const CUmemAllocationHandleType types =
        properties ? properties->handleTypes : CU_MEM_HANDLE_TYPE_NONE;
    if (types != CU_MEM_HANDLE_TYPE_NONE && types != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return driver_missing_because("cuMemPoolCreate with such handleTypes",
                                      "pools are shared through file descriptors only");
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    if (!handle || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties->location.id != 0)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Pool *pool = pool_new(call.driver);
    pool->limit = properties->maxSize;
    if (types) pool->number = ++call.driver->last_pool;
    *handle = pool->handle;
    return call_end(&call, CUDA_SUCCESS);
}

static void end_when_empty(Pool *pool) {
    if (!pool->is_destroyed || pool->used) return;
    if (pool->file >= 0) close(pool->file);
    free(pool);
}

/* Memory allocated from the pool exists until it is freed. */
CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool handle) {
    Call call;
    Pool *pool;
    CUresult status = begin(&call, handle, &call, &pool);
    if (status) return status;
    if (pool == call.driver->standard_pool) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (pool == call.driver->current_pool) call.driver->current_pool = NULL;
    handles_remove(&call.driver->handles, HANDLE_POOL, (uint64_t)(uintptr_t)handle);
    pool->is_destroyed = true;
    end_when_empty(pool);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool handle, size_t bytes_to_keep) {
    (void)bytes_to_keep; /* no memory is held that is not in use */
    Call call;
    Pool *pool;
    CUresult status = begin(&call, handle, &call, &pool);
    return status ? status : call_end(&call, CUDA_SUCCESS);
}

/* ---- Attributes ---- */

/* Where a pool stores an attribute: as an int, or else as 64 bits. */
static int *int_attribute(Pool *pool, CUmemPool_attribute attribute) {
    if (attribute < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attribute > CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        return NULL;
    return &pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
}

static uint64_t *wide_attribute(Pool *pool, CUmemPool_attribute attribute) {
    switch ((int)attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return &pool->release_threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return &pool->used;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return &pool->reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return &pool->used_high;
    default: return NULL;
    }
}

CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                       void *value) {
    Call call;
    Pool *pool;
    CUresult status = begin(&call, handle, value, &pool);
    if (status) return status;
    const int *number = int_attribute(pool, attribute);
    const uint64_t *wide = wide_attribute(pool, attribute);
    if (number) *(int *)value = *number;
    else if (wide) *(cuuint64_t *)value = *wide;
    else status = CUDA_ERROR_INVALID_VALUE;
    return call_end(&call, status);
}

/* High marks can only be set to 0, which sets them to what is in use. That value itself cannot be
 * set. */
CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                       void *value) {
    Call call;
    Pool *pool;
    CUresult status = begin(&call, handle, value, &pool);
    if (status) return status;
    int *number = int_attribute(pool, attribute);
    uint64_t *wide = wide_attribute(pool, attribute);
    if (number) *number = *(int *)value;
    else if (wide == &pool->release_threshold) *wide = *(cuuint64_t *)value;
    else if (wide && wide != &pool->used && *(cuuint64_t *)value == 0) *wide = pool->used;
    else status = CUDA_ERROR_INVALID_VALUE;
    return call_end(&call, status);
}

/* The device can always access its own pools, and there is no other device. */
CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *list,
                                    size_t count) {
    Call call;
    Pool *pool;
    CUresult status = begin(&call, handle, count ? (const void *)list : &call, &pool);
    if (status) return status;
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++) {
        if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            status = CUDA_ERROR_INVALID_VALUE;
        else if (list[i].location.id != 0) status = CUDA_ERROR_INVALID_DEVICE;
    }
    return call_end(&call, status);
}

CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle,
                                    CUmemLocation *location) {
    Call call;
    Pool *pool;
    CUresult status = begin(&call, handle, flags, &pool);
    if (status) return status;
    if (!location || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (location->id != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Memory ---- */

bool pool_take(Pool *pool, uint64_t bytes) {
    if (pool->limit && (bytes > pool->limit || pool->used > pool->limit - bytes)) return false;
    pool->used += bytes;
    if (pool->used > pool->used_high) pool->used_high = pool->used;
    if (pool->used > pool->reserved_high) pool->reserved_high = pool->used;
    return true;
}

void pool_give_back(Pool *pool, uint64_t bytes) {
    pool->used -= bytes;
    end_when_empty(pool);
}

/* Immediately, or captured. */
static CUresult allocate_in(CUdeviceptr *address, size_t size, CUmemoryPool handle, bool has_pool,
                            CUstream stream) {
    Call call;
    bool is_taken;
    CUDA_MEM_ALLOC_NODE_PARAMS given = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                        .bytesize = size};
    if (!address || !size) return CUDA_ERROR_INVALID_VALUE;
    CUresult status =
        capture_take(stream, (WorkGiven){CU_GRAPH_NODE_TYPE_MEM_ALLOC, &given, NULL}, &is_taken);
    if (status == CUDA_SUCCESS && is_taken) *address = given.dptr;
    if (status || is_taken) return status;
    status = call_begin(&call);
    if (status) return status;
    Pool *pool = has_pool ? CALL_GET(&call, HANDLE_POOL, handle) : current_pool(call.driver);
    if (!pool || pool->file >= 0) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *address = memory_allocate_from(&call, pool, size);
    return call_end(&call, *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream) {
    return allocate_in(address, size, NULL, false, stream);
}

CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool,
                                         CUstream stream) {
    return allocate_in(address, size, pool, true, stream);
}

/* ---- Other processes ---- */

CUresult CUDAAPI cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool given,
                                                  CUmemAllocationHandleType type,
                                                  unsigned long long flags) {
    Call call;
    Pool *pool;
    CUresult status = begin(&call, given, handle, &pool);
    if (status) return status;
    if (!pool->number || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    int file = ipc_export_pool(&call, pool->number);
    if (file >= 0) {
        *(int *)handle = file;
        pool->is_shared = true;
    }
    return call_end(&call, file >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM);
}

CUresult CUDAAPI cuMemPoolImportFromShareableHandle(CUmemoryPool *out, void *handle,
                                                    CUmemAllocationHandleType type,
                                                    unsigned long long flags) {
    Call call;
    PoolKey origin;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    if (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    int file = ipc_import_pool((int)(intptr_t)handle, &origin);
    if (file < 0) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Pool *pool = pool_new(call.driver);
    pool->file = file;
    pool->origin = origin;
    *out = pool->handle;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Region *region = ranges_find(call.driver->allocations, address);
    if (!data || !region || region->range.start != address || !region->pool ||
        !region->pool->is_shared)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, ipc_export_pointer(&call, region->pool->number, region->range, data));
}

CUresult CUDAAPI cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool handle,
                                        CUmemPoolPtrExportData *data) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Pool *pool = CALL_GET(&call, HANDLE_POOL, handle);
    if (!address || !data || !pool || pool->file < 0)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, ipc_import_pointer(&call, pool->file, &pool->origin, data, address));
}
