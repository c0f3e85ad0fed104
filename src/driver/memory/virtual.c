/* Virtual memory management: addresses reserved by the program, memory without an address, and the
 * mapping of memory to addresses. Memory is a file that the host keeps in its memory, so that it
 * can be mapped twice, and other processes can open it by its descriptor. Not supported: memory of
 * the host, compression, mappings of arrays, multicast. */
#include "driver/driver.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/mapping.h"

/* Memory without an address. */
typedef struct Physical {
    uint64_t size;
    int file;
    uint32_t holders;  /* handles that the program holds */
    uint32_t mappings; /* mappings of it */
    uint64_t handle;   /* its handle, while it has holders */
    CUmemAllocationProp properties;
} Physical;

/* Memory at an address. */
typedef struct Mapping {
    Range range;
    Physical *physical;
    CUmemAccess_flags access;
} Mapping;

static bool is_whole(uint64_t bytes) { return bytes && bytes % MEM_MAPPING_GRAIN == 0; }

/* Addresses and mappings belong to the device; the sets are made at their first use. */
static void prepare(const Call *call) {
    Driver *driver = call->driver;
    if (driver->reservations) return;
    uint64_t start = mem_window_start(call->memory), end = mem_window_end(call->memory);
    driver->reservations = ranges_new(sizeof(Range), start, end, MEM_MAPPING_GRAIN);
    driver->mappings = ranges_new(sizeof(Mapping), start, end, MEM_MAPPING_GRAIN);
}

static CUresult begin(Call *call) {
    CUresult status = call_begin_idle(call);
    if (status == CUDA_SUCCESS) prepare(call);
    return status;
}

/* ---- Addresses ---- */

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment,
                                     CUdeviceptr wish, unsigned long long flags) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    uint64_t align = alignment > MEM_MAPPING_GRAIN ? alignment : MEM_MAPPING_GRAIN;
    if (!address || !is_whole(size) || flags || (alignment & (alignment - 1)))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Ranges *reservations = call.driver->reservations;
    uint64_t end = mem_window_end(call.memory);
    Range range = {wish, wish + size};
    bool is_there = wish >= mem_window_start(call.memory) && wish < end && size <= end - wish &&
                    wish % align == 0 && ranges_add(reservations, &range);
    if (!is_there) {
        if (!ranges_find_gap(reservations, size, align, &range.start))
            return call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
        range.end = range.start + size;
        ranges_add(reservations, &range);
    }
    *address = range.start;
    return call_end(&call, CUDA_SUCCESS);
}

uint64_t virtual_reserve(const Call *call, uint64_t size) {
    Range range;
    prepare(call);
    if (!ranges_find_gap(call->driver->reservations, size, MEM_MAPPING_GRAIN, &range.start))
        return 0;
    range.end = range.start + size;
    ranges_add(call->driver->reservations, &range);
    return range.start;
}

void virtual_release(Driver *driver, uint64_t address) {
    ranges_remove(driver->reservations, ranges_find(driver->reservations, address));
}

/* The first mapping in [start, end); NULL: none. */
static Mapping *first_mapping(const Call *call, uint64_t start, uint64_t end) {
    Mapping *mapping = ranges_at_or_after(call->driver->mappings, start, NULL);
    return mapping && mapping->range.start < end ? mapping : NULL;
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr address, size_t size) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    Range *range = ranges_find(call.driver->reservations, address);
    if (!range || range->start != address || range->end - range->start != size ||
        first_mapping(&call, range->start, range->end))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    ranges_remove(call.driver->reservations, range);
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Memory ---- */

/* Whether the properties that a program asks for are supported. */
static bool is_right(const CUmemAllocationProp *properties) {
    return properties && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
           properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
           properties->location.id == 0 &&
           (properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE ||
            properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

static uint64_t hold(Driver *driver, Physical *physical) {
    if (!physical->holders++)
        physical->handle = handles_add(&driver->handles, HANDLE_PHYSICAL, physical);
    return physical->handle;
}

/* Memory is freed with its last handle and its last mapping. */
static void drop(const Call *call, Physical *physical) {
    if (physical->holders || physical->mappings) return;
    close(physical->file);
    mem_give_back(call->memory, physical->size);
    free(physical);
}

static uint64_t physical_new(const Call *call, int file, uint64_t size,
                             const CUmemAllocationProp *properties) {
    Physical *physical = base_calloc(1, sizeof *physical);
    *physical = (Physical){.size = size, .file = file, .properties = *properties};
    return hold(call->driver, physical);
}

static int make_file(uint64_t size) {
    int file = memfd_create("tyto device memory", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)size) == 0) return file;
    if (file >= 0) close(file);
    return -1;
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                             const CUmemAllocationProp *properties, unsigned long long flags) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    if (!handle || !is_whole(size) || flags || !is_right(properties))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!mem_take(call.memory, size)) return call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
    int file = make_file(size);
    if (file < 0) {
        mem_give_back(call.memory, size);
        return call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
    }
    *handle = physical_new(&call, file, size, properties);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    Physical *physical = handles_get(&call.driver->handles, HANDLE_PHYSICAL, handle);
    if (!physical) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!--physical->holders) handles_remove(&call.driver->handles, HANDLE_PHYSICAL, handle);
    drop(&call, physical);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    const Mapping *mapping = ranges_find(call.driver->mappings, (uintptr_t)address);
    if (!handle || !mapping) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *handle = hold(call.driver, mapping->physical);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *properties,
                                               CUmemAllocationGranularity_flags option) {
    if (!bytes || !is_right(properties) || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = MEM_MAPPING_GRAIN;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                        CUmemGenericAllocationHandle handle) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    const Physical *physical = handles_get(&call.driver->handles, HANDLE_PHYSICAL, handle);
    if (!properties || !physical) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *properties = physical->properties;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Mappings ---- */

CUresult CUDAAPI cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long flags) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    Physical *physical = handles_get(&call.driver->handles, HANDLE_PHYSICAL, handle);
    const Range *reserved = ranges_find(call.driver->reservations, address);
    if (!physical || !reserved || !is_whole(size) || address % MEM_MAPPING_GRAIN ||
        size > reserved->end - address || offset || size > physical->size || flags ||
        first_mapping(&call, address, address + size))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!mem_map(call.memory, address, size, physical->file, offset))
        return call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
    physical->mappings++;
    ranges_add(call.driver->mappings,
               &(Mapping){{address, address + size}, physical, CU_MEM_ACCESS_FLAGS_PROT_NONE});
    return call_end(&call, CUDA_SUCCESS);
}

/* Whether [address, address + size) consists of whole mappings without gaps. */
static bool is_mapped(const Call *call, uint64_t address, uint64_t size) {
    uint64_t at = address, end;
    if (!size || __builtin_add_overflow(address, size, &end)) return false;
    while (at < end) {
        const Mapping *mapping = ranges_find(call->driver->mappings, at);
        if (!mapping || mapping->range.start != at) return false;
        at = mapping->range.end;
    }
    return at == end;
}

static void set_access(const Call *call, Mapping *mapping, CUmemAccess_flags access) {
    if (mapping->access == access) return;
    if (mapping->access) mem_hide(call->memory, mapping->range.start);
    mapping->access = access;
    if (access)
        mem_expose(call->memory, mapping->range.start, mapping->range.end - mapping->range.start,
                   access == CU_MEM_ACCESS_FLAGS_PROT_READ);
}

CUresult CUDAAPI cuMemUnmap(CUdeviceptr address, size_t size) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    if (!is_mapped(&call, address, size)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    for (Mapping *mapping; (mapping = first_mapping(&call, address, address + size)) != NULL;) {
        Physical *physical = mapping->physical;
        set_access(&call, mapping, CU_MEM_ACCESS_FLAGS_PROT_NONE);
        mem_unmap(call.memory, mapping->range.start, mapping->range.end - mapping->range.start);
        ranges_remove(call.driver->mappings, mapping);
        physical->mappings--;
        drop(&call, physical);
    }
    return call_end(&call, CUDA_SUCCESS);
}

static bool is_access(const CUmemAccessDesc *access) {
    return access->location.type == CU_MEM_LOCATION_TYPE_DEVICE && access->location.id == 0 &&
           (access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
            access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
            access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *list,
                                size_t count) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    bool is_good = list && count && is_mapped(&call, address, size);
    for (size_t i = 0; is_good && i < count; i++)
        is_good = is_access(&list[i]);
    if (!is_good) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    for (uint64_t at = address; at < address + size;) {
        Mapping *mapping = ranges_find(call.driver->mappings, at);
        set_access(&call, mapping, list[count - 1].flags);
        at = mapping->range.end;
    }
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                                CUdeviceptr address) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    const Mapping *mapping = ranges_find(call.driver->mappings, address);
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id != 0 ||
        !mapping)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *flags = (unsigned long long)mapping->access;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Other processes ---- */

CUresult CUDAAPI cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                              CUmemAllocationHandleType type,
                                              unsigned long long flags) {
    Call call;
    CUresult status = begin(&call);
    if (status) return status;
    const Physical *physical = handles_get(&call.driver->handles, HANDLE_PHYSICAL, handle);
    if (!shareable || !physical || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        physical->properties.requestedHandleTypes != type)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    int file = dup(physical->file);
    if (file >= 0) *(int *)shareable = file;
    return call_end(&call, file >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM);
}

CUresult CUDAAPI cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
                                                void *shareable, CUmemAllocationHandleType type) {
    static const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                   .requestedHandleTypes =
                                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                                   .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    Call call;
    struct stat found;
    CUresult status = begin(&call);
    if (status) return status;
    int given = (int)(intptr_t)shareable;
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || fstat(given, &found) ||
        !S_ISREG(found.st_mode) || !is_whole((uint64_t)found.st_size))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    uint64_t size = (uint64_t)found.st_size;
    if (!mem_take(call.memory, size)) return call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
    int file = dup(given);
    if (file < 0) {
        mem_give_back(call.memory, size);
        return call_end(&call, CUDA_ERROR_OPERATING_SYSTEM);
    }
    *handle = physical_new(&call, file, size, &properties);
    return call_end(&call, CUDA_SUCCESS);
}
