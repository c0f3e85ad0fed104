/* Contexts: each thread's stack of current contexts, the primary context of the device, limits. */
#include "simulator/checks.h"
#include "driver/stream/stream_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

enum { STACK_DEPTH = 64 }; /* most contexts pushed and not popped in one thread */

/* The current context is per thread, as the API defines it. */
static _Thread_local struct {
    CUcontext contexts[STACK_DEPTH];
    int depth;
} current;

CUcontext context_current(void) {
    return current.depth ? current.contexts[current.depth - 1] : NULL;
}

/* ---- Creation and destruction ---- */

/* Whether all flags are known, and at most one of them selects how a thread waits. */
static bool are_flags(unsigned flags) {
    const unsigned waiting = flags & CU_CTX_SCHED_MASK;
    return flags <= CU_CTX_FLAGS_MASK && (waiting & (waiting - 1)) == 0;
}

static Context *context_new(Driver *driver, unsigned flags) {
    Context *context = base_calloc(1, sizeof *context);
    context->flags = flags;
    context->printf_bytes = PRINTF_BYTES;
    context->stack_bytes = STACK_TOLD_BYTES;
    context->fetch_bytes = FETCH_BYTES;
    context->pending = PENDING_LAUNCHES;
    context->id = driver->next_id++;
    context->handle = driver_add(driver, HANDLE_CONTEXT, context);
    return context;
}

/* Removes the context's regions and frees their memory (NULL: there is none to free). */
static void clear_allocations(Driver *driver, const Context *context) {
    uint64_t end = 0;
    for (Region *region; (region = ranges_at_or_after(driver->allocations, end, NULL)) != NULL;) {
        end = region->range.end;
        if (region->context != context) continue;
        checks_releasing(driver->simulator, region->range.start, true);
        mem_release(simulator_memory(driver->simulator), region->range.start);
        if (region->graph_memory) graph_memory_end(driver, region->graph_memory);
        if (region->pool) pool_give_back(region->pool, region->range.end - region->range.start);
        ranges_remove(driver->allocations, region);
    }
}

/* Graphs refer to these objects and release them when they are destroyed. */
static bool is_of_graphs(HandleKind kind) {
    return kind == HANDLE_CONDITIONAL || kind == HANDLE_USER_OBJECT;
}

/* Destroys the context's objects: those that graphs refer to, or all others. */
static void clear_objects(Driver *driver, const Context *context, bool ends_those_of_graphs) {
    static void (*const ends[HANDLE_KIND_COUNT])(Driver *, void *) = {
        [HANDLE_FUNCTION] = function_free,
        [HANDLE_MODULE] = module_free,
        [HANDLE_STREAM] = stream_free,
        [HANDLE_EVENT] = event_free,
        [HANDLE_ARRAY] = array_free,
        [HANDLE_LINK] = link_free,
        [HANDLE_GRAPH] = graph_free,
        [HANDLE_GRAPH_EXEC] = graph_exec_free,
        [HANDLE_CONDITIONAL] = conditional_free,
        [HANDLE_USER_OBJECT] = user_object_free,
        [HANDLE_MIPMAP] = mipmap_free,
        [HANDLE_REFERENCE] = reference_free,
    };
    for (uint32_t i = 0; i < driver->handles.count; i++) {
        HandleSlot slot = driver->handles.slots[i];
        if (!ends[slot.kind] || *(Context **)slot.object != context) continue;
        if (is_of_graphs(slot.kind) != ends_those_of_graphs) continue;
        if (slot.kind == HANDLE_GRAPH && ((Graph *)slot.object)->is_child)
            continue; /* of its node */
        handles_remove(&driver->handles, slot.kind, handles_at(&driver->handles, i));
        if (slot.kind == HANDLE_ARRAY)
            checks_releasing(driver->simulator, ((Array *)slot.object)->address, true);
        ends[slot.kind](driver, slot.object);
    }
}

void context_clear(Driver *driver, Context *context) {
    captures_clear(driver, context);
    stream_queue_end_context(driver, context);
    clear_objects(driver, context, false);
    clear_objects(driver, context, true);
    textures_clear(driver, context);
    clear_allocations(driver, context);
    registered_clear(driver, context);
    imports_clear(driver, context);
}

static void context_end(Driver *driver, Context *context) {
    context_clear(driver, context);
    handles_remove(&driver->handles, HANDLE_CONTEXT, (uint64_t)(uintptr_t)context->handle);
    if (driver->primary == context) driver->primary = NULL;
    free(context);
}

static CUresult push(CUcontext context) {
    if (current.depth == STACK_DEPTH) return CUDA_ERROR_OUT_OF_MEMORY;
    current.contexts[current.depth++] = context;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    if (!context || !are_flags(flags)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    Context *made = context_new(call.driver, flags);
    status = push(made->handle);
    if (status) context_end(call.driver, made);
    else *context = made->handle;
    return call_end(&call, status);
}

CUresult CUDAAPI cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *parameters, int count,
                                unsigned int flags, CUdevice device) {
    if (parameters || count) return driver_missing("cuCtxCreate with execAffinityParams");
    return cuCtxCreate_v2(context, flags, device);
}

CUresult CUDAAPI cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters,
                                unsigned int flags, CUdevice device) {
    if (parameters && (parameters->execAffinityParams || parameters->numExecAffinityParams))
        return driver_missing("cuCtxCreate with execAffinityParams");
    if (parameters && parameters->cigParams) return driver_missing("cuCtxCreate with cigParams");
    return cuCtxCreate_v2(context, flags, device);
}

CUresult CUDAAPI cuCtxDestroy(CUcontext handle) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    Context *context = CALL_GET(&call, HANDLE_CONTEXT, handle);
    if (!context || context == call.driver->primary)
        return call_end(&call, CUDA_ERROR_INVALID_CONTEXT);
    if (context_current() == handle) current.depth--;
    context_end(call.driver, context);
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- The primary context ---- */

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    Driver *driver = call.driver;
    if (!context) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    if (!driver->primary) driver->primary = context_new(driver, driver->primary_flags);
    driver->primary_users++;
    *context = driver->primary->handle;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    Driver *driver = call.driver;
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    if (!driver->primary_users) return call_end(&call, CUDA_ERROR_INVALID_CONTEXT);
    if (--driver->primary_users == 0) context_end(driver, driver->primary);
    return call_end(&call, CUDA_SUCCESS);
}

/* The handle stays valid, so that other holders of the context can continue with an empty one. */
CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice device) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    Context *primary = call.driver->primary;
    if (primary) {
        context_clear(call.driver, primary);
        primary->error = CUDA_SUCCESS;
    }
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    if (!are_flags(flags)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    call.driver->primary_flags = flags;
    if (call.driver->primary) call.driver->primary->flags = flags;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    if (!flags || !active) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *flags = call.driver->primary_flags;
    *active = call.driver->primary != NULL;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- The current context ---- */

/* CUDA_SUCCESS if `handle` is a live context. */
static CUresult check_context(CUcontext handle) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    bool is_live = CALL_GET(&call, HANDLE_CONTEXT, handle) != NULL;
    return call_end(&call, is_live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {
    CUresult status = context ? check_context(context) : CUDA_ERROR_INVALID_VALUE;
    return status ? status : push(context);
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext *context) {
    CUcontext top = context_current();
    CUresult status = check_context(top);
    if (status) return status;
    current.depth--;
    if (context) *context = top;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
    CUresult status = context ? check_context(context) : CUDA_SUCCESS;
    if (status) return status;
    if (current.depth) current.depth--;
    return context ? push(context) : CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    if (!context) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *context = context_current();
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device) {
    CUresult status = check_context(context_current());
    if (status) return status;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSynchronize(void) {
    Call call;
    CUresult status = call_begin_all(&call);
    return status ? status : call_end(&call, stream_queue_wait_all(&call));
}

/* ---- Properties ---- */

CUresult CUDAAPI cuCtxGetFlags(unsigned int *flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!flags) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *flags = call.context->flags;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSetFlags(unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!are_flags(flags)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    call.context->flags = flags;
    return call_end(&call, CUDA_SUCCESS);
}

/* The context of a handle; the current one for NULL. A fault of the context is no error here. */
static Context *named_context(Call *call, CUcontext handle) {
    return CALL_GET(call, HANDLE_CONTEXT, handle ? handle : context_current());
}

CUresult CUDAAPI cuCtxGetId(CUcontext handle, unsigned long long *id) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    Context *context = named_context(&call, handle);
    if (!context) return call_end(&call, CUDA_ERROR_INVALID_CONTEXT);
    if (!id) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *id = context->id;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext handle, unsigned int *version) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    if (!named_context(&call, handle)) return call_end(&call, CUDA_ERROR_INVALID_CONTEXT);
    if (!version) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *version = DRIVER_VERSION;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Limits ---- */

/* As measured (docs/real-gpu.md), if a program asked for less or for something in between. */
enum {
    STACK_GRAIN = 16,
    PRINTF_LEAST_BYTES = 512 << 10,
    HEAP_LEAST_BYTES = 4 << 20,
    FETCH_MOST_BYTES = 128
};

/* From compute capability 8.0 on. If L2 ignores hints, nothing can be set aside. */
static bool has_persisting_limit(const Gpu *gpu) { return gpu_limits(gpu).capability_major >= 8; }

/* The error for an unsupported limit: whether CUDA has it or not. */
static CUresult unknown_limit(CUlimit limit) {
    return (unsigned)limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_ERROR_INVALID_VALUE;
}

static uint64_t at_least(uint64_t value, uint64_t least) { return value < least ? least : value; }

/* A GPU's compiler knows the stack size of most kernels, and the driver provides it whatever the
 * limit. Here, a limit can only increase what was available at the start (--stack). */
static CUresult set_stack(const Call *call, uint64_t value) {
    if (value > UINT32_MAX - STACK_GRAIN) return CUDA_ERROR_INVALID_VALUE;
    const uint32_t bytes = (uint32_t)bits_align_up(value, STACK_GRAIN);
    call->context->stack_bytes = bytes;
    gpu_options(call->gpu)->stack_bytes = (uint32_t)at_least(bytes, call->driver->stack_bytes);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value) {
    Call call;
    CUresult status = call_begin_idle(&call);
    if (status) return status;
    GpuOptions *options = gpu_options(call.gpu);
    const uint64_t most = gpu_limits(call.gpu).persisting_bytes;
    switch ((int)limit) {
    case CU_LIMIT_STACK_SIZE: status = set_stack(&call, value); break;
    case CU_LIMIT_MALLOC_HEAP_SIZE: options->heap_bytes = at_least(value, HEAP_LEAST_BYTES); break;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
        call.context->printf_bytes = at_least(value, PRINTF_LEAST_BYTES);
        break;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: call.context->pending = value; break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        if (value > FETCH_MOST_BYTES) status = CUDA_ERROR_INVALID_VALUE;
        else call.context->fetch_bytes = (uint32_t)value;
        break;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        if (!has_persisting_limit(call.gpu)) status = CUDA_ERROR_UNSUPPORTED_LIMIT;
        else options->persisting_bytes = value < most ? value : most;
        break;
    default: status = unknown_limit(limit);
    }
    return call_end(&call, status);
}

CUresult context_limit(Gpu *gpu, const Context *context, CUlimit limit, uint64_t *value) {
    const GpuOptions *options = gpu_options(gpu);
    switch ((int)limit) {
    case CU_LIMIT_STACK_SIZE: *value = context->stack_bytes; break;
    case CU_LIMIT_MALLOC_HEAP_SIZE: *value = options->heap_bytes; break;
    case CU_LIMIT_PRINTF_FIFO_SIZE: *value = context->printf_bytes; break;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: *value = context->pending; break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: *value = context->fetch_bytes; break;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        if (!has_persisting_limit(gpu)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
        *value = options->persisting_bytes;
        break;
    default: return unknown_limit(limit);
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetLimit(size_t *value, CUlimit limit) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!value) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    uint64_t bytes;
    status = context_limit(call.gpu, call.context, limit, &bytes);
    if (status == CUDA_SUCCESS) *value = bytes;
    return call_end(&call, status);
}

CUresult CUDAAPI cuCtxGetCacheConfig(CUfunc_cache *config) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!config) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *config = call.context->cache;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (config > CU_FUNC_CACHE_PREFER_EQUAL) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    call.context->cache = config;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!config) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *config = call.context->bank_size;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSetSharedMemConfig(CUsharedconfig config) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    call.context->bank_size = config;
    return call_end(&call, CUDA_SUCCESS);
}

/* All streams run in order: a priority is stored, without effect. */
CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxResetPersistingL2Cache(void) {
    Call call;
    CUresult status = call_begin_idle(&call);
    if (status) return status;
    gpu_forget_persisting(call.gpu);
    return call_end(&call, CUDA_SUCCESS);
}

/* There is only one device, so there are no peers. */
static CUresult refuse_peer(CUresult refusal) {
    Call call;
    CUresult status = call_begin(&call);
    return status ? status : call_end(&call, refusal);
}

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    (void)peer, (void)flags;
    return refuse_peer(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peer) {
    (void)peer;
    return refuse_peer(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}
