/* Calls of the device runtime, as CUDA's device code makes them. Streams and events of a kernel are
 * only names. The requests of a grid are executed in the order of the calls after the grid has
 * ended; every stream allows this order. Tail launches come after all other requests. A kernel that
 * waits for its children (cudaDeviceSynchronize, of older CUDA versions) has its requests executed
 * immediately, if the run supports it. Queries about the device are in device_queries.c. Left out:
 * limits on pending launches, copies of arrays. Source: CUDA C++ Programming Guide, "CUDA Dynamic
 * Parallelism". */
#include "isa/runtime/device_runtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "isa/runtime/builtin.h"

enum { STREAM_TAIL = 3 };

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

/* ---- Common to all calls ---- */

static DeviceRuntime *runtime_of(const BuiltinCall *call) { return call->context->launch->runtime; }

void device_runtime_finish(const BuiltinCall *call, uint32_t error) {
    if (error) runtime_of(call)->last_error = error;
    builtin_set_result(call, error);
}

void device_runtime_give(const BuiltinCall *call, const void *value, uint32_t size) {
    if (isa_generic_write(call->context, call->warp, call->lane, builtin_argument(call, 0), value,
                          size))
        device_runtime_finish(call, CUDA_SUCCEEDED);
}

bool device_runtime_find(const BuiltinCall *call, uint64_t handle, uint32_t *function) {
    const IsaProgram *program = call->context->program;
    uint64_t index = (handle - ISA_CODE_WINDOW) / 16;
    if (index >= program->function_count || isa_function_handle((uint32_t)index) != handle ||
        !program->functions[index].ptx->is_kernel)
        return false;
    *function = (uint32_t)index;
    return true;
}

static void give_handle(const BuiltinCall *call) {
    enum { FIRST_HANDLE = 16 }; /* above the handles with a special meaning */
    uint64_t handle = FIRST_HANDLE + runtime_of(call)->handles++;
    device_runtime_give(call, &handle, sizeof handle);
}

/* ---- Launches ---- */

static uint64_t new_buffer(const BuiltinCall *call, Deferred *deferred, uint64_t size) {
    deferred->parameters = mem_alloc(call->context->memory, size ? size : 1, MEM_ALLOC_ALIGN,
                                     MEM_KIND_BUFFER, "a child's parameters");
    if (deferred->parameters) deferred_add(&runtime_of(call)->buffers, deferred);
    else runtime_of(call)->last_error = CUDA_OUT_OF_MEMORY;
    return deferred->parameters;
}

/* Sets the kernel of a handle and its launch configuration. Returns an error if it cannot be
 * launched. */
static uint32_t set_kernel(const BuiltinCall *call, Deferred *deferred, uint64_t handle,
                           uint32_t grid_at, uint32_t shared_bytes) {
    if (!device_runtime_find(call, handle, &deferred->function)) return CUDA_INVALID_FUNCTION;
    builtin_structure(call, grid_at, deferred->grid, sizeof deferred->grid);
    builtin_structure(call, grid_at + 1, deferred->block, sizeof deferred->block);
    deferred->shared_bytes = shared_bytes;
    for (int axis = 0; axis < 3; axis++) {
        if (!deferred->grid[axis] || !deferred->block[axis]) return CUDA_INVALID_CONFIGURATION;
    }
    return CUDA_SUCCEEDED;
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

/* Removes the pending buffer at an address from the list. Returns false if there is none. */
static bool take_buffer(DeviceRuntime *runtime, uint64_t address, Deferred *deferred) {
    DeferredList *buffers = &runtime->buffers;
    for (uint32_t i = buffers->count; i-- > 0;) {
        if (buffers->items[i].parameters != address) continue;
        *deferred = buffers->items[i];
        buffers->items[i] = buffers->items[--buffers->count];
        return true;
    }
    return false;
}

static void launch(const BuiltinCall *call, Deferred *deferred, uint64_t stream) {
    DeviceRuntime *runtime = runtime_of(call);
    deferred->is_tail = stream == STREAM_TAIL;
    bool is_deep = !deferred->is_tail && runtime->depth + 1 >= DEVICE_DEPTH_MAX;
    if (is_deep) mem_release(call->context->memory, deferred->parameters);
    else deferred_add(&runtime->asked, deferred);
    device_runtime_finish(call, is_deep ? CUDA_TOO_DEEP : CUDA_SUCCEEDED);
}

/* cudaError_t (void *function, void *buffer, dim3 grid, dim3 block, unsigned shared, stream) */
static void launch_device(const BuiltinCall *call) {
    Deferred deferred, shape = {.kind = DEFERRED_KERNEL};
    if (!take_buffer(runtime_of(call), builtin_argument(call, 1), &deferred)) {
        device_runtime_finish(call, CUDA_INVALID_VALUE);
        return;
    }
    shape.parameters = deferred.parameters;
    uint32_t error =
        set_kernel(call, &shape, builtin_argument(call, 0), 2, (uint32_t)builtin_argument(call, 4));
    if (error) {
        mem_release(call->context->memory, shape.parameters);
        device_runtime_finish(call, error);
        return;
    }
    launch(call, &shape, builtin_argument(call, 5));
}

/* cudaError_t (void *buffer, stream) */
static void launch_device_v2(const BuiltinCall *call) {
    Deferred deferred;
    if (take_buffer(runtime_of(call), builtin_argument(call, 0), &deferred))
        launch(call, &deferred, builtin_argument(call, 1));
    else device_runtime_finish(call, CUDA_INVALID_VALUE);
}

/* The kernel's CTA continues when its requests are done. */
static void synchronize(const BuiltinCall *call) {
    DeviceRuntime *runtime = runtime_of(call);
    if (!runtime->asked.count) {
        device_runtime_finish(call, CUDA_SUCCEEDED);
    } else if (!runtime->wait) {
        isa_fault(call->context, call->warp, call->lane, ISA_FAULT_CALL,
                  "a kernel that waits for its children (cudaDeviceSynchronize) cannot run under "
                  "--check or --on-fault report");
    } else {
        char text[ISA_FAULT_TEXT];
        int code;
        uint64_t clock = call->context->cycle + runtime->clock_ahead;
        if (runtime->wait(runtime->user, clock, text, sizeof text, &code))
            device_runtime_finish(call, CUDA_SUCCEEDED);
        else
            isa_fault(call->context, call->warp, call->lane, (IsaFaultCode)code,
                      "a child that the kernel waits for failed: %s", text);
    }
}

/* ---- Memory ---- */

/* Whether the whole box is in one allocation. */
static bool is_box(const BuiltinCall *call, const DeferredBox *box, const Deferred *shape) {
    enum { SIZE_BITS = 48 }; /* more than any memory has; products fit in 128 bits */
    if (!shape->bytes || !shape->rows || !shape->slices) return true;
    if ((shape->bytes | shape->rows | shape->slices | box->pitch | box->slice_pitch) >> SIZE_BITS)
        return false;
    unsigned __int128 end = (unsigned __int128)(shape->rows - 1) * box->pitch + shape->bytes +
                            (unsigned __int128)(shape->slices - 1) * box->slice_pitch;
    return end <= UINT64_MAX && mem_is_valid(call->context->memory, box->address, (uint64_t)end);
}

/* Requests a copy or a fill, or ends the call with the error. */
static void ask(const BuiltinCall *call, Deferred *deferred, uint64_t stream) {
    bool is_copy = deferred->kind == DEFERRED_COPY;
    uint32_t error = CUDA_SUCCEEDED;
    if ((deferred->rows > 1 && deferred->to.pitch < deferred->bytes) ||
        (is_copy && deferred->rows > 1 && deferred->from.pitch < deferred->bytes))
        error = CUDA_INVALID_PITCH;
    else if (!is_box(call, &deferred->to, deferred) ||
             (is_copy && !is_box(call, &deferred->from, deferred)))
        error = CUDA_INVALID_VALUE;
    deferred->is_tail = stream == STREAM_TAIL;
    if (!error && deferred->bytes && deferred->rows && deferred->slices)
        deferred_add(&runtime_of(call)->asked, deferred);
    device_runtime_finish(call, error);
}

/* cudaError_t (void *to, const void *from, size_t bytes, kind, stream) */
static void copy(const BuiltinCall *call) {
    Deferred deferred = {.kind = DEFERRED_COPY,
                         .to = {.address = builtin_argument(call, 0)},
                         .from = {.address = builtin_argument(call, 1)},
                         .bytes = builtin_argument(call, 2),
                         .rows = 1,
                         .slices = 1};
    ask(call, &deferred, builtin_argument(call, 4));
}

/* cudaError_t (void *to, pitch, const void *from, pitch, width, height, kind, stream) */
static void copy_2d(const BuiltinCall *call) {
    Deferred deferred = {.kind = DEFERRED_COPY,
                         .to = {builtin_argument(call, 0), builtin_argument(call, 1), 0},
                         .from = {builtin_argument(call, 2), builtin_argument(call, 3), 0},
                         .bytes = builtin_argument(call, 4),
                         .rows = builtin_argument(call, 5),
                         .slices = 1};
    ask(call, &deferred, builtin_argument(call, 7));
}

/* Members of cudaPitchedPtr, cudaPos and cudaMemcpy3DParms (without its kind). */
typedef struct PitchedPointer {
    uint64_t address, pitch, width, rows;
} PitchedPointer;

typedef struct BoxEnd {
    uint64_t array, x, y, z;
    PitchedPointer pointer;
} BoxEnd;

typedef struct BoxCopy {
    BoxEnd from, to;
    uint64_t width, rows, slices;
} BoxCopy;

static DeferredBox box_of(const BoxEnd *end) {
    const PitchedPointer *p = &end->pointer;
    uint64_t slice = p->pitch * p->rows;
    return (DeferredBox){p->address + end->x + end->y * p->pitch + end->z * slice, p->pitch, slice};
}

/* cudaError_t (const cudaMemcpy3DParms *, stream) */
static void copy_3d(const BuiltinCall *call) {
    BoxCopy box;
    if (!isa_generic_read(call->context, call->warp, call->lane, builtin_argument(call, 0), &box,
                          sizeof box))
        return;
    if (box.from.array || box.to.array) {
        isa_fault(call->context, call->warp, call->lane, ISA_FAULT_CALL,
                  "cudaMemcpy3DAsync of an array in a kernel is not supported");
        return;
    }
    Deferred deferred = {.kind = DEFERRED_COPY,
                         .to = box_of(&box.to),
                         .from = box_of(&box.from),
                         .bytes = box.width,
                         .rows = box.rows,
                         .slices = box.slices};
    ask(call, &deferred, builtin_argument(call, 1));
}

/* cudaError_t (void *at, int value, size_t bytes, stream) */
static void fill(const BuiltinCall *call) {
    Deferred deferred = {.kind = DEFERRED_FILL,
                         .to = {.address = builtin_argument(call, 0)},
                         .value = (uint8_t)builtin_argument(call, 1),
                         .bytes = builtin_argument(call, 2),
                         .rows = 1,
                         .slices = 1};
    ask(call, &deferred, builtin_argument(call, 3));
}

/* cudaError_t (void *at, size_t pitch, int value, size_t width, size_t height, stream) */
static void fill_2d(const BuiltinCall *call) {
    Deferred deferred = {.kind = DEFERRED_FILL,
                         .to = {builtin_argument(call, 0), builtin_argument(call, 1), 0},
                         .value = (uint8_t)builtin_argument(call, 2),
                         .bytes = builtin_argument(call, 3),
                         .rows = builtin_argument(call, 4),
                         .slices = 1};
    ask(call, &deferred, builtin_argument(call, 5));
}

/* cudaError_t (cudaPitchedPtr, int value, cudaExtent, stream) */
static void fill_3d(const BuiltinCall *call) {
    BoxEnd end = {0};
    uint64_t extent[3];
    builtin_structure(call, 0, &end.pointer, sizeof end.pointer);
    builtin_structure(call, 2, extent, sizeof extent);
    Deferred deferred = {.kind = DEFERRED_FILL,
                         .to = box_of(&end),
                         .value = (uint8_t)builtin_argument(call, 1),
                         .bytes = extent[0],
                         .rows = extent[1],
                         .slices = extent[2]};
    ask(call, &deferred, builtin_argument(call, 3));
}

/* cudaError_t (void **pointer, size_t bytes) */
static void allocate(const BuiltinCall *call) {
    uint64_t address = builtin_allocate(call, builtin_argument(call, 1));
    if (address) device_runtime_give(call, &address, sizeof address);
    else device_runtime_finish(call, CUDA_OUT_OF_MEMORY);
}

static void release(const BuiltinCall *call) {
    builtin_free(call);
    if (!call->context->fault.is_set) device_runtime_finish(call, CUDA_SUCCEEDED);
}

/* ---- The table ---- */

static void succeed(const BuiltinCall *call) { device_runtime_finish(call, CUDA_SUCCEEDED); }

static void get_last_error(const BuiltinCall *call) {
    builtin_set_result(call, runtime_of(call)->last_error);
    runtime_of(call)->last_error = CUDA_SUCCEEDED;
}

static void peek_at_last_error(const BuiltinCall *call) {
    builtin_set_result(call, runtime_of(call)->last_error);
}

static void get_device(const BuiltinCall *call) {
    device_runtime_give(call, &(int32_t){0}, sizeof(int32_t));
}
static void get_device_count(const BuiltinCall *call) {
    device_runtime_give(call, &(int32_t){1}, sizeof(int32_t));
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
        [PTX_BUILTIN_MEMCPY_2D_ASYNC] = copy_2d,
        [PTX_BUILTIN_MEMCPY_3D_ASYNC] = copy_3d,
        [PTX_BUILTIN_MEMSET_ASYNC] = fill,
        [PTX_BUILTIN_MEMSET_2D_ASYNC] = fill_2d,
        [PTX_BUILTIN_MEMSET_3D_ASYNC] = fill_3d,
        [PTX_BUILTIN_RUNTIME_MALLOC] = allocate,
        [PTX_BUILTIN_RUNTIME_FREE] = release,
        [PTX_BUILTIN_GET_LAST_ERROR] = get_last_error,
        [PTX_BUILTIN_PEEK_AT_LAST_ERROR] = peek_at_last_error,
        [PTX_BUILTIN_GET_DEVICE] = get_device,
        [PTX_BUILTIN_GET_DEVICE_COUNT] = get_device_count,
    };
    if (!call->context->launch->runtime)
        isa_fault(call->context, call->warp, call->lane, ISA_FAULT_CALL,
                  "a call of the device runtime, which this launch does not have");
    else if (functions[which]) functions[which](call);
    else device_runtime_answer(call, which);
}
