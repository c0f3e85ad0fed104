/* Memory of the host program that it registers. Kernels and copies access it in place, by the
 * program's own addresses. The driver makes sure that the memory exists: if the program unmaps
 * registered memory, it is removed from the kernels' reach before the next launch.
 *
 * Not supported: memory of other devices (CU_MEMHOSTREGISTER_IOMEMORY). */
#include "driver/stream/stream_queue.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    KNOWN_FLAGS = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                  CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY
};

/* A part of the process's memory. */
typedef struct Mapping {
    uint64_t start, end;
    char reads, writes, runs, shares; /* permission letters of proc(5), '-': none */
} Mapping;

/* Finds the mapping that contains an address; returns false if there is none. */
static bool find_mapping(FILE *maps, uint64_t address, Mapping *found) {
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %c%c%c%c", &found->start, &found->end,
                   &found->reads, &found->writes, &found->runs, &found->shares) != 6)
            continue; /* the rest of a long line */
        if (found->start <= address && address < found->end) return true;
    }
    return false;
}

/* Whether the program may read the whole range, and write it unless `is_read_only`. */
static bool is_mapped(Range range, bool is_read_only) {
    FILE *maps = fopen("/proc/self/maps", "re");
    Mapping found;
    while (range.start < range.end && find_mapping(maps, range.start, &found) &&
           found.reads == 'r' && (found.writes == 'w' || is_read_only))
        range.start = found.end;
    if (maps) fclose(maps);
    return range.start >= range.end;
}

bool registered_is_shared(uint64_t pointer) {
    FILE *maps = fopen("/proc/self/maps", "re");
    Mapping found;
    const bool is_shared = find_mapping(maps, pointer, &found) && found.shares == 's';
    if (maps) fclose(maps);
    return is_shared;
}

CUresult CUDAAPI cuMemHostRegister(void *pointer, size_t size, unsigned int flags) {
    const bool is_read_only = flags & CU_MEMHOSTREGISTER_READ_ONLY;
    Range range = {(uintptr_t)pointer, 0};
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!pointer || !size || flags & ~(unsigned)KNOWN_FLAGS ||
        __builtin_add_overflow(range.start, size, &range.end))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY) {
        call_end(&call, CUDA_SUCCESS);
        return driver_missing_because("cuMemHostRegister of another device's memory",
                                      "there is no other device");
    }
    if (!is_mapped(range, is_read_only)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Region *region =
        mem_has_host_range(call.memory, range)
            ? NULL
            : ranges_add(call.driver->registered,
                         &(Region){.range = range, .context = call.context, .flags = flags});
    if (!region) return call_end(&call, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    region->device_start = mem_register(call.memory, range, is_read_only);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemHostUnregister(void *pointer) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Region *region = ranges_find(call.driver->registered, (uintptr_t)pointer);
    if (!pointer || (region && region->range.start != (uintptr_t)pointer))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!region) return call_end(&call, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    status = stream_queue_wait_all(&call);
    if (status == CUDA_SUCCESS) registered_end(call.driver, region);
    return call_end(&call, status);
}

void registered_end(Driver *driver, Region *region) {
    if (region->device_start)
        mem_release(simulator_memory(driver->simulator), region->device_start);
    ranges_remove(driver->registered, region);
}

void registered_clear(Driver *driver, const Context *context) {
    uint64_t at = 0;
    for (Region *region; (region = ranges_at_or_after(driver->registered, at, NULL)) != NULL;) {
        at = region->range.end;
        if (region->context == context) registered_end(driver, region);
    }
}

/* msync(2) with MS_ASYNC has no effect but reports whether the pages are mapped. */
void registered_check(const Call *call) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t at = 0;
    for (Region *region; (region = ranges_at_or_after(call->driver->registered, at, NULL)) != NULL;
         at = region->range.end) {
        const uint64_t first = region->range.start - region->range.start % page;
        if (!region->device_start ||
            msync((void *)(uintptr_t)first, region->range.end - first, MS_ASYNC) == 0 ||
            errno != ENOMEM)
            continue;
        driver_say("error: the %" PRIu64 " bytes of host memory at 0x%" PRIx64
                   " are registered, but the program has unmapped them: kernels can no longer "
                   "reach them",
                   region->range.end - region->range.start, region->range.start);
        mem_release(call->memory, region->device_start);
        region->device_start = 0;
    }
}
