/* Calls of the device runtime, as CUDA's device code makes them. Streams and events of a kernel are
 * names: what it asks for is done in the order of the calls when its grid has ended, which is an
 * order that every stream allows; tail launches come after the rest. A kernel of old that waits for
 * its children (cudaDeviceSynchronize) gets them done at once where the run can do that. Left out:
 * limits on launches that wait, copies of boxes, attributes, the names of errors.
 * Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism". */
#include "isa/device_runtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "isa/builtin.h"

enum { STREAM_TAIL = 3, DEPTH_MAX = 24 }; /* of grids, the first one included */

/* cudaError_t */
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONFIGURATION = 9,
    TOO_DEEP = 65,
    INVALID_FUNCTION = 98
};

/* ---- Lists ---- */

void deferred_add(DeferredList *list, const Deferred *deferred) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = base_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = *deferred;
}

void deferred_clear(DeferredList *list) {
    free(list->items);
    *list = (DeferredList){NULL, 0, 0};
}

/* ---- What calls share ---- */

static DeviceRuntime *runtime_of(const BuiltinCall *call) { return call->context->launch->runtime; }

static void finish(const BuiltinCall *call, uint32_t error) {
    if (error) runtime_of(call)->last_error = error;
    builtin_set_result(call, error);
}

/* Writes to where the program's pointer, the first argument, leads. */
static void give(const BuiltinCall *call, const void *value, uint32_t size) {
    if (isa_generic_write(call->context, call->warp, call->lane, builtin_argument(call, 0), value,
                          size))
        finish(call, SUCCESS);
}

static void give_handle(const BuiltinCall *call) {
    enum { FIRST_HANDLE = 16 }; /* above those that have a meaning of their own */
    uint64_t handle = FIRST_HANDLE + runtime_of(call)->handles++;
    give(call, &handle, sizeof handle);
}

/* ---- Launches ---- */

static uint64_t new_buffer(const BuiltinCall *call, Deferred *deferred, uint64_t size) {
    deferred->address = mem_alloc(call->context->memory, size ? size : 1, MEM_ALLOC_ALIGN,
                                  MEM_KIND_BUFFER, "a child's parameters");
    if (deferred->address) deferred_add(&runtime_of(call)->buffers, deferred);
    else runtime_of(call)->last_error = OUT_OF_MEMORY;
    return deferred->address;
}

/* The kernel of a handle, and how it is to be launched; an error when that cannot be. */
static uint32_t set_kernel(const BuiltinCall *call, Deferred *deferred, uint64_t handle,
                           uint32_t grid_at, uint32_t shared_bytes) {
    const IsaProgram *program = call->context->program;
    uint64_t index = (handle - ISA_CODE_WINDOW) / 16;
    if (index >= program->function_count || isa_function_handle((uint32_t)index) != handle ||
        !program->functions[index].ptx->is_kernel)
        return INVALID_FUNCTION;
    builtin_structure(call, grid_at, deferred->grid, sizeof deferred->grid);
    builtin_structure(call, grid_at + 1, deferred->block, sizeof deferred->block);
    deferred->function = (uint32_t)index;
    deferred->shared_bytes = shared_bytes;
    for (int axis = 0; axis < 3; axis++) {
        if (!deferred->grid[axis] || !deferred->block[axis]) return INVALID_CONFIGURATION;
    }
    return SUCCESS;
}

/* void *(size_t alignment, size_t size) */
static void get_buffer(const BuiltinCall *call) {
    Deferred deferred = {.kind = DEFERRED_KERNEL};
    builtin_set_result(call, new_buffer(call, &deferred, builtin_argument(call, 1)));
}

/* void *(void *function, dim3 grid, dim3 block, unsigned shared_bytes) */
static void get_buffer_v2(const BuiltinCall *call) {
    Deferred deferred = {.kind = DEFERRED_KERNEL};
    uint32_t error = set_kernel(call, &deferred, builtin_argument(call, 0), 1,
                                (uint32_t)builtin_argument(call, 3));
    if (error) {
        runtime_of(call)->last_error = error;
        builtin_set_result(call, 0);
        return;
    }
    uint64_t size = call->context->program->functions[deferred.function].ptx->parameter_bytes;
    builtin_set_result(call, new_buffer(call, &deferred, size));
}

/* Takes the buffer at an address out of those that wait; false when there is none. */
static bool take_buffer(DeviceRuntime *runtime, uint64_t address, Deferred *deferred) {
    DeferredList *buffers = &runtime->buffers;
    for (uint32_t i = buffers->count; i-- > 0;) {
        if (buffers->items[i].address != address) continue;
        *deferred = buffers->items[i];
        buffers->items[i] = buffers->items[--buffers->count];
        return true;
    }
    return false;
}

static void launch(const BuiltinCall *call, Deferred *deferred, uint64_t stream) {
    DeviceRuntime *runtime = runtime_of(call);
    deferred->is_tail = stream == STREAM_TAIL;
    bool is_deep = !deferred->is_tail && runtime->depth + 1 >= DEPTH_MAX;
    if (is_deep) mem_release(call->context->memory, deferred->address);
    else deferred_add(&runtime->asked, deferred);
    finish(call, is_deep ? TOO_DEEP : SUCCESS);
}

/* cudaError_t (void *function, void *buffer, dim3 grid, dim3 block, unsigned shared, stream) */
static void launch_device(const BuiltinCall *call) {
    Deferred deferred, shape = {.kind = DEFERRED_KERNEL};
    if (!take_buffer(runtime_of(call), builtin_argument(call, 1), &deferred)) {
        finish(call, INVALID_VALUE);
        return;
    }
    shape.address = deferred.address;
    uint32_t error =
        set_kernel(call, &shape, builtin_argument(call, 0), 2, (uint32_t)builtin_argument(call, 4));
    if (error) {
        mem_release(call->context->memory, shape.address);
        finish(call, error);
        return;
    }
    launch(call, &shape, builtin_argument(call, 5));
}

/* cudaError_t (void *buffer, stream) */
static void launch_device_v2(const BuiltinCall *call) {
    Deferred deferred;
    if (take_buffer(runtime_of(call), builtin_argument(call, 0), &deferred))
        launch(call, &deferred, builtin_argument(call, 1));
    else finish(call, INVALID_VALUE);
}

/* The kernel's CTA goes on when what it asked for is done. */
static void synchronize(const BuiltinCall *call) {
    DeviceRuntime *runtime = runtime_of(call);
    if (!runtime->asked.count) {
        finish(call, SUCCESS);
    } else if (!runtime->wait) {
        isa_fault(call->context, call->warp, call->lane, ISA_FAULT_CALL,
                  "a kernel that waits for its children (cudaDeviceSynchronize) can run "
                  "functionally and without checks only (--functional)");
    } else {
        char text[ISA_FAULT_TEXT];
        int code;
        if (runtime->wait(runtime->user, text, sizeof text, &code)) finish(call, SUCCESS);
        else
            isa_fault(call->context, call->warp, call->lane, (IsaFaultCode)code,
                      "a child that the kernel waits for failed: %s", text);
    }
}

/* ---- Memory ---- */

/* cudaError_t (void *to, const void *from, size_t bytes, kind, stream) */
static void copy(const BuiltinCall *call) {
    Deferred deferred = {.kind = DEFERRED_COPY,
                         .address = builtin_argument(call, 0),
                         .source = builtin_argument(call, 1),
                         .bytes = builtin_argument(call, 2),
                         .is_tail = builtin_argument(call, 4) == STREAM_TAIL};
    const struct DeviceMemory *memory = call->context->memory;
    bool is_right = mem_is_valid(memory, deferred.address, deferred.bytes) &&
                    mem_is_valid(memory, deferred.source, deferred.bytes);
    if (is_right && deferred.bytes) deferred_add(&runtime_of(call)->asked, &deferred);
    finish(call, is_right ? SUCCESS : INVALID_VALUE);
}

/* cudaError_t (void *at, int value, size_t bytes, stream) */
static void fill(const BuiltinCall *call) {
    Deferred deferred = {.kind = DEFERRED_FILL,
                         .address = builtin_argument(call, 0),
                         .value = (uint8_t)builtin_argument(call, 1),
                         .bytes = builtin_argument(call, 2),
                         .is_tail = builtin_argument(call, 3) == STREAM_TAIL};
    bool is_right = mem_is_valid(call->context->memory, deferred.address, deferred.bytes);
    if (is_right && deferred.bytes) deferred_add(&runtime_of(call)->asked, &deferred);
    finish(call, is_right ? SUCCESS : INVALID_VALUE);
}

/* cudaError_t (void **pointer, size_t bytes) */
static void allocate(const BuiltinCall *call) {
    uint64_t address = builtin_allocate(call, builtin_argument(call, 1));
    if (address) give(call, &address, sizeof address);
    else finish(call, OUT_OF_MEMORY);
}

static void release(const BuiltinCall *call) {
    builtin_free(call);
    if (!call->context->fault.is_set) finish(call, SUCCESS);
}

/* ---- The table ---- */

static void succeed(const BuiltinCall *call) { finish(call, SUCCESS); }

static void get_last_error(const BuiltinCall *call) {
    builtin_set_result(call, runtime_of(call)->last_error);
    runtime_of(call)->last_error = SUCCESS;
}

static void peek_at_last_error(const BuiltinCall *call) {
    builtin_set_result(call, runtime_of(call)->last_error);
}

static void get_device(const BuiltinCall *call) { give(call, &(int32_t){0}, sizeof(int32_t)); }
static void get_device_count(const BuiltinCall *call) {
    give(call, &(int32_t){1}, sizeof(int32_t));
}

void device_runtime_call(const BuiltinCall *call, PtxBuiltin which) {
    static void (*const functions[PTX_BUILTIN_COUNT])(const BuiltinCall *) = {
        [PTX_BUILTIN_GET_PARAMETER_BUFFER] = get_buffer,
        [PTX_BUILTIN_GET_PARAMETER_BUFFER_V2] = get_buffer_v2,
        [PTX_BUILTIN_LAUNCH_DEVICE] = launch_device,
        [PTX_BUILTIN_LAUNCH_DEVICE_V2] = launch_device_v2,
        [PTX_BUILTIN_DEVICE_SYNCHRONIZE] = synchronize,
        [PTX_BUILTIN_DEVICE_SYNCHRONIZE_QUIET] = synchronize,
        [PTX_BUILTIN_STREAM_CREATE] = give_handle,
        [PTX_BUILTIN_STREAM_DESTROY] = succeed,
        [PTX_BUILTIN_STREAM_WAIT_EVENT] = succeed,
        [PTX_BUILTIN_EVENT_CREATE] = give_handle,
        [PTX_BUILTIN_EVENT_RECORD] = succeed,
        [PTX_BUILTIN_EVENT_RECORD_WITH_FLAGS] = succeed,
        [PTX_BUILTIN_EVENT_DESTROY] = succeed,
        [PTX_BUILTIN_MEMCPY_ASYNC] = copy,
        [PTX_BUILTIN_MEMSET_ASYNC] = fill,
        [PTX_BUILTIN_RUNTIME_MALLOC] = allocate,
        [PTX_BUILTIN_RUNTIME_FREE] = release,
        [PTX_BUILTIN_GET_LAST_ERROR] = get_last_error,
        [PTX_BUILTIN_PEEK_AT_LAST_ERROR] = peek_at_last_error,
        [PTX_BUILTIN_GET_DEVICE] = get_device,
        [PTX_BUILTIN_GET_DEVICE_COUNT] = get_device_count,
    };
    if (call->context->launch->runtime) functions[which](call);
    else
        isa_fault(call->context, call->warp, call->lane, ISA_FAULT_CALL,
                  "a call of the device runtime, which this launch does not have");
}
