/* Hints on managed memory (cuMemAdvise, cuMemPrefetchAsync), stored for queries
 * (cuMemRangeGetAttribute). Host and device share one memory, so the hints have no other effect. */
#include "driver/driver.h"

/* The hints for a range of addresses. */
typedef struct Hint {
    Range range;
    bool is_read_mostly;
    bool is_accessed_by[2];   /* accessed by the device; by the host */
    CUmemLocation preferred;  /* type CU_MEM_LOCATION_TYPE_INVALID: none */
    CUmemLocation prefetched; /* of the last prefetch; likewise */
} Hint;

/* Values without any hint. */
static const Hint unsaid = {.preferred = {CU_MEM_LOCATION_TYPE_INVALID, 0},
                            .prefetched = {CU_MEM_LOCATION_TYPE_INVALID, 0}};

/* ---- Storing ---- */

/* Splits the range that contains `address`, if any, so that a range begins there. */
static void split(Ranges *hints, uint64_t address) {
    Hint *hint = ranges_find(hints, address);
    if (!hint || hint->range.start == address) return;
    Hint first = *hint, second = *hint;
    first.range.end = second.range.start = address;
    ranges_remove(hints, hint);
    ranges_add(hints, &first);
    ranges_add(hints, &second);
}

/* Fills gaps in `range` with ranges without hints, and splits ranges at its ends. */
static void cover(const Call *call, Range range) {
    if (!call->driver->hints) call->driver->hints = ranges_new(sizeof(Hint), 0, UINT64_MAX, 1);
    Ranges *hints = call->driver->hints;
    split(hints, range.start);
    split(hints, range.end);
    for (uint64_t at = range.start; at < range.end;) {
        const Hint *next = ranges_at_or_after(hints, at, NULL);
        Hint fresh = unsaid;
        fresh.range =
            (Range){at, next && next->range.start < range.end ? next->range.start : range.end};
        if (fresh.range.end > at) ranges_add(hints, &fresh);
        at = ((const Hint *)ranges_find(hints, at))->range.end;
    }
}

static void set(Hint *hint, CUmem_advise advice, CUmemLocation location) {
    bool *accessed = &hint->is_accessed_by[location.type != CU_MEM_LOCATION_TYPE_DEVICE];
    switch ((int)advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: hint->is_read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: hint->is_read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: hint->preferred = location; break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: hint->preferred = unsaid.preferred; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY: *accessed = true; break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: *accessed = false; break;
    }
}

static bool is_managed(const Call *call, uint64_t address) {
    const Region *region = ranges_find(call->driver->allocations, address);
    return region && region->is_managed;
}

CUresult hint_advise(const Call *call, Range range, CUmem_advise advice, CUmemLocation location) {
    const bool needs_place = advice >= CU_MEM_ADVISE_SET_PREFERRED_LOCATION &&
                             advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return CUDA_ERROR_INVALID_VALUE;
    if (needs_place && location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    if (needs_place && (location.type < CU_MEM_LOCATION_TYPE_DEVICE ||
                        location.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT))
        return CUDA_ERROR_INVALID_VALUE;
    if (range.end <= range.start || !is_managed(call, range.start)) return CUDA_SUCCESS;
    cover(call, range);
    for (uint64_t at = range.start; at < range.end;) {
        Hint *hint = ranges_find(call->driver->hints, at);
        set(hint, advice, location);
        at = hint->range.end;
    }
    return CUDA_SUCCESS;
}

void hint_prefetch(const Call *call, Range range, CUmemLocation location) {
    if (range.end <= range.start || !is_managed(call, range.start)) return;
    cover(call, range);
    for (uint64_t at = range.start; at < range.end;) {
        Hint *hint = ranges_find(call->driver->hints, at);
        hint->prefetched = location;
        at = hint->range.end;
    }
}

/* Forgets the hints on memory that is freed. */
void hints_forget(Driver *driver, Range range) {
    for (Hint *hint; driver->hints &&
                     (hint = ranges_at_or_after(driver->hints, range.start, NULL)) != NULL &&
                     hint->range.start < range.end;)
        ranges_remove(driver->hints, hint);
}

/* ---- Queries ---- */

/* The hint for the range that contains `address`, and its end in *end. */
static Hint hint_at(const Call *call, uint64_t address, uint64_t *end) {
    const Hint *hint =
        call->driver->hints ? ranges_at_or_after(call->driver->hints, address, NULL) : NULL;
    if (hint && hint->range.start <= address) {
        *end = hint->range.end;
        return *hint;
    }
    *end = hint ? hint->range.start : UINT64_MAX;
    return unsaid;
}

static bool is_same(CUmemLocation a, CUmemLocation b) { return a.type == b.type && a.id == b.id; }

/* The hints that hold for all of a range: where its parts differ, there is none. */
static Hint common_hint(const Call *call, Range range) {
    uint64_t at;
    Hint common = hint_at(call, range.start, &at);
    while (at < range.end) {
        const Hint hint = hint_at(call, at, &at);
        common.is_read_mostly &= hint.is_read_mostly;
        common.is_accessed_by[0] &= hint.is_accessed_by[0];
        common.is_accessed_by[1] &= hint.is_accessed_by[1];
        if (!is_same(common.preferred, hint.preferred)) common.preferred = unsaid.preferred;
        if (!is_same(common.prefetched, hint.prefetched)) common.prefetched = unsaid.prefetched;
    }
    return common;
}

/* A location as the number of a device. */
static int device_of(CUmemLocation location) {
    if (location.type == CU_MEM_LOCATION_TYPE_INVALID) return CU_DEVICE_INVALID;
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
}

/* The devices with hints, then CU_DEVICE_INVALID. */
static void list_devices(const Hint *hint, int *list, size_t count) {
    size_t next = 0;
    if (hint->is_accessed_by[0]) list[next++] = 0;
    if (hint->is_accessed_by[1] && next < count) list[next++] = CU_DEVICE_CPU;
    while (next < count)
        list[next++] = CU_DEVICE_INVALID;
}

static CUresult attribute(const Hint *hint, int *value, size_t bytes, CUmem_range_attribute which) {
    if (which == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        if (!bytes || bytes % sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
        list_devices(hint, value, bytes / sizeof(int));
        return CUDA_SUCCESS;
    }
    if (bytes != sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
    switch ((int)which) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *value = hint->is_read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: *value = device_of(hint->preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: *value = device_of(hint->prefetched); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *value = (int)hint->preferred.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *value = hint->preferred.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *value = (int)hint->prefetched.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: *value = hint->prefetched.id; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemRangeGetAttributes(void **values, size_t *sizes, CUmem_range_attribute *list,
                                         size_t count, CUdeviceptr address, size_t size) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!values || !sizes || !list || !count || !size || !is_managed(&call, address) ||
        !mem_is_valid(call.memory, address, size))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    const Hint hint = common_hint(&call, (Range){address, address + size});
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++)
        status =
            values[i] ? attribute(&hint, values[i], sizes[i], list[i]) : CUDA_ERROR_INVALID_VALUE;
    return call_end(&call, status);
}

CUresult CUDAAPI cuMemRangeGetAttribute(void *value, size_t value_bytes,
                                        CUmem_range_attribute which, CUdeviceptr address,
                                        size_t size) {
    return cuMemRangeGetAttributes(&value, &value_bytes, &which, 1, address, size);
}
