/* Memory that graph nodes allocate and free. An allocation has its address, and its place in device
 * memory, from the creation of its node until it is free and no graph or executable graph needs it.
 * In between, launches determine whether it is in use. Not supported: memory that other processes
 * could open; allocations that are never in use together do not share a place. */
#include "driver/stream/stream_queue.h"

#include <stdlib.h>

struct GraphMemory {
    uint64_t address, bytes;
    CUDA_MEM_ALLOC_NODE_PARAMS given; /* accessDescs no longer points to the program's array */
    CUgraph freed_by;                 /* a graph that has a node to free it */
    const Graph *owner;               /* graph whose node allocates it; only for comparison */
    uint32_t users;                   /* references by nodes and steps */
    bool is_live;                     /* allocated and not freed yet */
};

static void count(uint64_t *now, uint64_t *high, int64_t bytes) {
    *now += (uint64_t)bytes;
    if (*now > *high) *high = *now;
}

static void set_live(Driver *driver, GraphMemory *memory, bool is_live) {
    if (memory->is_live == is_live) return;
    memory->is_live = is_live;
    int64_t bytes = (int64_t)memory->bytes;
    count(&driver->graph_bytes.used, &driver->graph_bytes.used_high, is_live ? bytes : -bytes);
}

/* ---- Allocations ---- */

GraphMemory *graph_memory_new(Call *call, CUDA_MEM_ALLOC_NODE_PARAMS *given, CUresult *status) {
    const CUmemPoolProps *pool = &given->poolProps;
    *status = CUDA_ERROR_INVALID_VALUE;
    if (!given->bytesize || pool->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || pool->handleTypes ||
        pool->location.type != CU_MEM_LOCATION_TYPE_DEVICE || pool->location.id != 0 ||
        (given->accessDescCount && !given->accessDescs))
        return NULL;
    for (size_t i = 0; i < given->accessDescCount; i++) {
        if (given->accessDescs[i].location.id != 0) return NULL;
    }
    *status = CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t address = memory_allocate(call, given->bytesize);
    if (!address) return NULL;
    GraphMemory *memory = base_calloc(1, sizeof *memory);
    given->dptr = address;
    *memory = (GraphMemory){.address = address, .bytes = given->bytesize, .given = *given};
    memory->given.accessDescs = NULL;
    memory->given.accessDescCount = 0;
    memory->users = 1;
    Region *region = ranges_find(call->driver->allocations, address);
    region->graph_memory = memory;
    GraphBytes *bytes = &call->driver->graph_bytes;
    count(&bytes->reserved, &bytes->reserved_high, (int64_t)memory->bytes);
    *status = CUDA_SUCCESS;
    return memory;
}

GraphMemory *graph_memory_find(const Call *call, CUdeviceptr address, CUresult *status) {
    Region *region = ranges_find(call->driver->allocations, address);
    bool is_right = region && region->range.start == address && region->graph_memory;
    *status = is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (!is_right) {
        driver_say("error: a graph cannot free 0x%llx: no node of a graph allocates it",
                   (unsigned long long)address);
        return NULL;
    }
    graph_memory_use(region->graph_memory);
    return region->graph_memory;
}

void graph_memory_own(GraphMemory *memory, const Graph *graph) { memory->owner = graph; }

CUresult graph_memory_add_free(const Call *call, const Graph *graph, GraphMemory *memory) {
    const Graph *before = CALL_GET(call, HANDLE_GRAPH, memory->freed_by);
    bool is_twice =
        before && (before == graph || before == memory->owner || graph == memory->owner);
    if (is_twice) {
        driver_say("error: a graph cannot free 0x%llx: it is freed by another node",
                   (unsigned long long)memory->address);
        return CUDA_ERROR_INVALID_VALUE;
    }
    memory->freed_by = graph->handle;
    return CUDA_SUCCESS;
}

void graph_memory_use(GraphMemory *memory) { memory->users++; }

void graph_memory_end(Driver *driver, GraphMemory *memory) {
    set_live(driver, memory, false);
    GraphBytes *bytes = &driver->graph_bytes;
    count(&bytes->reserved, &bytes->reserved_high, -(int64_t)memory->bytes);
    free(memory);
}

void graph_memory_drop(Driver *driver, GraphMemory *memory) {
    memory->users--;
    if (!memory->users && !memory->is_live) memory_release(driver, memory->address);
}

/* ---- Launches ---- */

bool graph_memory_is_live(const GraphMemory *memory) { return memory->is_live; }
uint64_t graph_memory_address(const GraphMemory *memory) { return memory->address; }

CUresult graph_memory_allocate(Call *call, GraphMemory *memory) {
    set_live(call->driver, memory, true);
    return CUDA_SUCCESS;
}

CUresult graph_memory_free(Call *call, GraphMemory *memory) {
    if (!memory->is_live) {
        driver_say("error: 0x%llx, which a node of a graph allocates, cannot be freed: it is not "
                   "allocated now",
                   (unsigned long long)memory->address);
        return CUDA_ERROR_INVALID_VALUE;
    }
    set_live(call->driver, memory, false);
    if (!memory->users) memory_release(call->driver, memory->address);
    return CUDA_SUCCESS;
}

/* ---- Queries ---- */

CUresult CUDAAPI cuGraphMemAllocNodeGetParams(CUgraphNode handle,
                                              CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, handle);
    if (!node || node->work.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC || !parameters)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *parameters = node->work.memory->given;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *address) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, handle);
    if (!node || node->work.type != CU_GRAPH_NODE_TYPE_MEM_FREE || !address)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *address = node->work.memory->address;
    return call_end(&call, CUDA_SUCCESS);
}

/* Nothing is held beyond what graphs need. */
CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice device) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    return call_end(&call, device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

/* Begins a call about an attribute; *value points to where it is stored. */
static CUresult begin(Call *call, CUdevice device, CUgraphMem_attribute attribute, const void *out,
                      uint64_t **value) {
    *value = NULL;
    CUresult status = call_begin_driver(call);
    if (status) return status;
    stream_queue_drain(call);
    if (device != 0) return call_end(call, CUDA_ERROR_INVALID_DEVICE);
    GraphBytes *bytes = &call->driver->graph_bytes;
    uint64_t *const values[] = {
        [CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] = &bytes->used,
        [CU_GRAPH_MEM_ATTR_USED_MEM_HIGH] = &bytes->used_high,
        [CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] = &bytes->reserved,
        [CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH] = &bytes->reserved_high,
    };
    if (!out || (unsigned)attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return call_end(call, CUDA_ERROR_INVALID_VALUE);
    *value = values[attribute];
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                              void *value) {
    Call call;
    uint64_t *kept;
    CUresult status = begin(&call, device, attribute, value, &kept);
    if (status) return status;
    *(cuuint64_t *)value = *kept;
    return call_end(&call, CUDA_SUCCESS);
}

/* High marks can only be set to 0, which sets them to the present value. */
CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                              void *value) {
    Call call;
    uint64_t *kept;
    CUresult status = begin(&call, device, attribute, value, &kept);
    if (status) return status;
    GraphBytes *bytes = &call.driver->graph_bytes;
    bool is_high = kept == &bytes->used_high || kept == &bytes->reserved_high;
    if (!is_high || *(cuuint64_t *)value) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *kept = kept == &bytes->used_high ? bytes->used : bytes->reserved;
    return call_end(&call, CUDA_SUCCESS);
}
