/* Memory: device and host allocations, their addresses and attributes, and fills.
 *
 * Page-locked host memory is a piece of device memory that the host can also access, so kernels may
 * use it by its device address. */
#include "driver/stream/stream_queue.h"
#include "simulator/checks.h"

#include <string.h>

/* Rows of cuMemAllocPitch start at multiples of this many bytes, as on compute capability 7.5. */
enum { PITCH_ALIGN = 512 };

/* Reports once which call asked for too much memory; programs that look for the most they can get
 * call often. */
static void say_full(Call *call, uint64_t size) {
    if (call->driver->is_full_told) return;
    call->driver->is_full_told = true;
    Text why = {0};
    simulator_say_full(call->memory, size, &why);
    driver_say("error: %s", text_string(&why));
    text_free(&why);
}

/* Allocates for the call's context. Returns the device address, or 0 if there is no room. */
static uint64_t allocate(Call *call, uint64_t size, MemKind kind, unsigned flags, bool is_managed) {
    uint64_t address = mem_alloc(call->memory, size, MEM_ALLOC_ALIGN, kind, NULL);
    if (address)
        ranges_add(call->driver->allocations, &(Region){.range = {address, address + size},
                                                        .context = call->context,
                                                        .flags = flags,
                                                        .is_managed = is_managed});
    else say_full(call, size);
    checks_allocated(call->driver->simulator, address);
    return address;
}

uint64_t memory_allocate_from(Call *call, Pool *pool, uint64_t size) {
    if (!pool_take(pool, size)) return 0;
    uint64_t address = allocate(call, size, MEM_KIND_BUFFER, 0, false);
    if (!address) {
        pool_give_back(pool, size);
        return 0;
    }
    Region *region = ranges_find(call->driver->allocations, address);
    region->pool = pool;
    return address;
}

uint64_t memory_allocate(Call *call, uint64_t size) {
    return allocate(call, size, MEM_KIND_BUFFER, 0, false);
}

void memory_release(Driver *driver, uint64_t address) {
    Region *region = ranges_find(driver->allocations, address);
    if (region->pool) pool_give_back(region->pool, region->range.end - region->range.start);
    if (region->graph_memory) graph_memory_end(driver, region->graph_memory);
    if (region->is_managed) hints_forget(driver, region->range);
    ranges_remove(driver->allocations, region);
    checks_releasing(driver->simulator, address, false);
    mem_release(simulator_memory(driver->simulator), address);
}

static bool is_of_host(const MemBlock *block) {
    return block->kind == MEM_KIND_HOST || block->kind == MEM_KIND_REGISTERED;
}

/* Whether an allocation is page-locked memory and not managed memory. */
static bool is_page_locked(const Call *call, const Region *region) {
    return !region->is_managed && is_of_host(mem_find(call->memory, region->range.start));
}

bool memory_is_managed(const Call *call, uint64_t address, Range *range) {
    const MemBlock *block = mem_find(call->memory, address);
    const Region *region = ranges_find(call->driver->allocations, address);
    if (!block) return false;
    *range = region ? region->range : (Range){block->start, block->end};
    return region ? region->is_managed : block->kind == MEM_KIND_GLOBAL;
}

/* Frees the allocation that starts at `address`, if it is page-locked or not as required. Returns
 * false if there is none. */
static bool release(Call *call, uint64_t address, bool of_host) {
    const Region *region = ranges_find(call->driver->allocations, address);
    if (!region || region->range.start != address) return false;
    if (region->graph_memory ? of_host : is_page_locked(call, region) != of_host) return false;
    if (region->graph_memory) return graph_memory_free(call, region->graph_memory) == CUDA_SUCCESS;
    memory_release(call->driver, address);
    return true;
}

/* The device address of a byte of page-locked host memory; 0 if `pointer` does not point to any. */
static uint64_t address_of_host(const Call *call, uint64_t pointer) {
    uint64_t address = pointer - mem_host_bias(call->memory);
    const MemBlock *block = mem_find(call->memory, address);
    return block && is_of_host(block) ? address : 0;
}

uint64_t memory_device_address(const Call *call, uint64_t pointer) {
    return mem_find(call->memory, pointer) ? pointer : address_of_host(call, pointer);
}

/* ---- Device memory ---- */

static CUresult allocate_plain(Call *call, CUdeviceptr *address, size_t size) {
    if (!address || !size) return CUDA_ERROR_INVALID_VALUE;
    *address = allocate(call, size, MEM_KIND_BUFFER, 0, false);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t size) {
    Call call;
    CUresult status = call_begin_unsafe(&call);
    return status ? status : call_end(&call, allocate_plain(&call, address, size));
}

CUresult CUDAAPI cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width_bytes,
                                 size_t height, unsigned int element_bytes) {
    const bool is_element = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (!pitch || !width_bytes || !height || !is_element) return CUDA_ERROR_INVALID_VALUE;
    size_t aligned, size;
    if (__builtin_add_overflow(width_bytes, PITCH_ALIGN - 1, &aligned))
        return CUDA_ERROR_OUT_OF_MEMORY;
    aligned = aligned / PITCH_ALIGN * PITCH_ALIGN;
    if (__builtin_mul_overflow(aligned, height, &size)) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult status = cuMemAlloc(address, size);
    if (status == CUDA_SUCCESS) *pitch = aligned;
    return status;
}

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned int flags) {
    Call call;
    CUresult status = call_begin_unsafe(&call);
    if (status) return status;
    if (!address || !size || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (mem_host_bias(call.memory) != 0) {
        call_end(&call, CUDA_SUCCESS);
        return driver_missing("cuMemAllocManaged in this address space");
    }
    *address = allocate(&call, size, MEM_KIND_HOST, flags, true);
    return call_end(&call, *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

static void say_not_allocated(const Call *call, uint64_t address) {
    Text where = {0};
    const Region *region = ranges_find(call->driver->allocations, address);
    const bool begins = region && region->range.start == address;
    mem_describe(call->memory, address, &where);
    driver_say("error: cannot free 0x%llx, %s: %s", (unsigned long long)address,
               begins ? "which is page-locked memory of the host" : "where no allocation begins",
               text_string(&where));
    text_free(&where);
}

CUresult memory_free_address(Call *call, uint64_t address) {
    if (address == 0 || release(call, address, false) || ipc_free_pointer(call, address))
        return CUDA_SUCCESS;
    const Region *region = ranges_find(call->driver->allocations, address);
    if (!region || !region->graph_memory) say_not_allocated(call, address);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
    Call call;
    CUresult status = call_begin_unsafe(&call);
    if (status) return status;
    status = stream_queue_wait_all(&call);
    return call_end(&call, status ? status : memory_free_address(&call, address));
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    bool is_taken;
    WorkGiven work = {CU_GRAPH_NODE_TYPE_MEM_FREE, (void *)(uintptr_t)address, NULL};
    CUresult status = capture_take(stream, work, &is_taken);
    if (status || is_taken) return status;
    Call call;
    status = call_begin(&call);
    return status ? status : call_end(&call, memory_free_address(&call, address));
}

CUresult CUDAAPI cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const uint64_t capacity = mem_capacity(call.memory);
    if (total_bytes) *total_bytes = capacity;
    if (free_bytes) *free_bytes = capacity - mem_used(call.memory);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const MemBlock *block = mem_find(call.memory, address);
    if (!block) return call_end(&call, CUDA_ERROR_NOT_FOUND);
    if (base) *base = block->start;
    if (size) *size = block->end - block->start;
    return call_end(&call, CUDA_SUCCESS);
}

/* All memory is accessible to every processor: hints are stored for queries, without effect. */
CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice,
                             CUmemLocation location) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!size || !mem_is_valid(call.memory, address, size))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, hint_advise(&call, (Range){address, address + size}, advice, location));
}

CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUmemLocation location,
                                    unsigned int flags, CUstream stream) {
    (void)stream;
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (flags || !mem_is_valid(call.memory, address, size))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id != 0)
        return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    hint_prefetch(&call, (Range){address, address + size}, location);
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Host memory ---- */

CUresult CUDAAPI cuMemHostAlloc(void **pointer, size_t size, unsigned int flags) {
    Call call;
    CUresult status = call_begin_unsafe(&call);
    if (status) return status;
    if (!pointer || !size || flags > 7) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    uint64_t address = allocate(&call, size, MEM_KIND_HOST, flags, false);
    if (!address) return call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
    *pointer = mem_host(call.memory, address);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemAllocHost(void **pointer, size_t size) {
    return cuMemHostAlloc(pointer, size, 0);
}

CUresult CUDAAPI cuMemFreeHost(void *pointer) {
    Call call;
    CUresult status = call_begin_unsafe(&call);
    if (status) return status;
    uint64_t address = address_of_host(&call, (uintptr_t)pointer);
    status = stream_queue_wait_all(&call);
    if (status) return call_end(&call, status);
    bool is_right = !pointer || (address && release(&call, address, true));
    return call_end(&call, is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr *address, void *pointer,
                                           unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!address || flags) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *address = address_of_host(&call, (uintptr_t)pointer);
    if (!*address && ranges_find(call.driver->registered, (uintptr_t)pointer) &&
        driver_tells_first("cuMemHostGetDevicePointer"))
        driver_say("error: kernels cannot reach the registered memory at %p, since shared, local "
                   "and parameter memory have such addresses; linked with -pie, the program has "
                   "its memory elsewhere",
                   pointer);
    return call_end(&call, *address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuMemHostGetFlags(unsigned int *flags, void *pointer) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    uint64_t address = address_of_host(&call, (uintptr_t)pointer);
    const Region *region = ranges_find(call.driver->registered, (uintptr_t)pointer);
    if (!region && address) region = ranges_find(call.driver->allocations, address);
    if (!flags || !region) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *flags = region->flags | CU_MEMHOSTALLOC_DEVICEMAP; /* all memory is mapped */
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Attributes of pointers ---- */

static CUresult pointer_attribute(const Call *call, void *value, CUpointer_attribute attribute,
                                  uint64_t pointer) {
    uint64_t address = memory_device_address(call, pointer);
    if (!address) return CUDA_ERROR_INVALID_VALUE;
    const MemBlock *block = mem_find(call->memory, address);
    const bool is_host = is_of_host(block);
    const Region *region = ranges_find(call->driver->allocations, address);
    if (block->kind == MEM_KIND_REGISTERED)
        region = ranges_find(call->driver->registered, (uintptr_t)mem_host(call->memory, address));
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)value = region ? region->context->handle : NULL;
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)value = address; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!is_host) return CUDA_ERROR_INVALID_VALUE;
        *(void **)value = mem_host(call->memory, address);
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)value = block->start / MEM_ALLOC_ALIGN;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: /* (below: a variable in the program's own memory) */
        *(bool *)value = region ? region->is_managed : block->start < MEM_GLOBAL_BASE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = 0; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(bool *)value = true; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)value = block->start; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)value = block->end - block->start; break;
    default:
        return attribute >= CU_POINTER_ATTRIBUTE_CONTEXT &&
                       attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE
                   ? CUDA_ERROR_NOT_SUPPORTED
                   : CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuPointerGetAttribute(void *value, CUpointer_attribute attribute,
                                       CUdeviceptr address) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!value) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, pointer_attribute(&call, value, attribute, address));
}

/* Sizes of the attributes' values, to set those of unknown pointers to zero. */
static size_t attribute_bytes(CUpointer_attribute attribute) {
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return sizeof(int);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED: return sizeof(bool);
    default: return sizeof(void *);
    }
}

/* Unlike in the single form, unknown pointers are no error here: their values are zero. */
CUresult CUDAAPI cuPointerGetAttributes(unsigned int count, CUpointer_attribute *list,
                                        void **values, CUdeviceptr address) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!count || !list || !values) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; i++) {
        if (pointer_attribute(&call, values[i], list[i], address) != CUDA_SUCCESS)
            memset(values[i], 0, attribute_bytes(list[i]));
    }
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                       CUdeviceptr address) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    /* the only attribute that can be set requests synchronous copies, and all copies are
     * synchronous */
    bool is_right = value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                    memory_device_address(&call, address);
    return call_end(&call, is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* ---- Filling ---- */

bool fill_is_possible(const CUDA_MEMSET_NODE_PARAMS *fill) {
    const size_t element = fill->elementSize;
    if ((element != 1 && element != 2 && element != 4) || fill->dst % element) return false;
    return fill->height <= 1 ||
           (fill->pitch % element == 0 && fill->width <= fill->pitch / element);
}

CUresult fill_now(const Call *call, const CUDA_MEMSET_NODE_PARAMS *fill) {
    if (!fill_is_possible(fill)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t row = 0; row < fill->height; row++) {
        if (!mem_fill(call->memory, fill->dst + row * fill->pitch, fill->value,
                      (int)fill->elementSize, fill->width))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult fill(CUdeviceptr address, size_t pitch, unsigned value, unsigned element_bytes,
                     size_t width, size_t height) {
    Call call;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    CUDA_MEMSET_NODE_PARAMS given = {address, pitch, value, element_bytes, width, height};
    return call_end(&call, fill_now(&call, &given));
}

/* Immediately, or captured. */
static CUresult fill_in(CUstream stream, CUdeviceptr address, size_t pitch, unsigned value,
                        unsigned element_bytes, size_t width, size_t height) {
    Call call;
    bool is_taken;
    CUDA_MEMSET_NODE_PARAMS given = {address, pitch, value, element_bytes, width, height};
    WorkGiven work = {CU_GRAPH_NODE_TYPE_MEMSET, &given, NULL};
    CUresult status = capture_take(stream, work, &is_taken);
    if (status || is_taken) return status;
    status = call_begin(&call);
    return status ? status : call_end(&call, fill_now(&call, &given));
}

CUresult CUDAAPI cuMemsetD8(CUdeviceptr address, unsigned char value, size_t count) {
    return fill(address, 0, value, 1, count, 1);
}

CUresult CUDAAPI cuMemsetD16(CUdeviceptr address, unsigned short value, size_t count) {
    return fill(address, 0, value, 2, count, 1);
}

CUresult CUDAAPI cuMemsetD32(CUdeviceptr address, unsigned int value, size_t count) {
    return fill(address, 0, value, 4, count, 1);
}

CUresult CUDAAPI cuMemsetD2D8(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
                              size_t height) {
    return fill(address, pitch, value, 1, width, height);
}

CUresult CUDAAPI cuMemsetD2D16(CUdeviceptr address, size_t pitch, unsigned short value,
                               size_t width, size_t height) {
    return fill(address, pitch, value, 2, width, height);
}

CUresult CUDAAPI cuMemsetD2D32(CUdeviceptr address, size_t pitch, unsigned int value, size_t width,
                               size_t height) {
    return fill(address, pitch, value, 4, width, height);
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count,
                                 CUstream stream) {
    return fill_in(stream, address, 0, value, 1, count, 1);
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr address, unsigned short value, size_t count,
                                  CUstream stream) {
    return fill_in(stream, address, 0, value, 2, count, 1);
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr address, unsigned int value, size_t count,
                                  CUstream stream) {
    return fill_in(stream, address, 0, value, 4, count, 1);
}

CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr address, size_t pitch, unsigned char value,
                                   size_t width, size_t height, CUstream stream) {
    return fill_in(stream, address, pitch, value, 1, width, height);
}

CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr address, size_t pitch, unsigned short value,
                                    size_t width, size_t height, CUstream stream) {
    return fill_in(stream, address, pitch, value, 2, width, height);
}

CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr address, size_t pitch, unsigned int value,
                                    size_t width, size_t height, CUstream stream) {
    return fill_in(stream, address, pitch, value, 4, width, height);
}
