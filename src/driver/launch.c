/* Launches: the three ways to pass parameters to a kernel, and the handling of a kernel's fault. */
#include "driver/stream/stream_queue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/backtrace.h"
#include "base/demangle.h"

/* CUDA's error codes for the ways in which a kernel can fail. */
static const CUresult fault_codes[] = {
    [ISA_FAULT_NONE] = CUDA_ERROR_LAUNCH_FAILED,
    [ISA_FAULT_ADDRESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
    [ISA_FAULT_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
    [ISA_FAULT_SPACE] = CUDA_ERROR_INVALID_ADDRESS_SPACE,
    [ISA_FAULT_TRAP] = CUDA_ERROR_LAUNCH_FAILED,
    [ISA_FAULT_ASSERT] = CUDA_ERROR_ASSERT,
    [ISA_FAULT_STACK] = CUDA_ERROR_HARDWARE_STACK_ERROR,
    [ISA_FAULT_CALL] = CUDA_ERROR_INVALID_PC,
    [ISA_FAULT_BARRIER] = CUDA_ERROR_LAUNCH_FAILED,
    [ISA_FAULT_LIMIT] = CUDA_ERROR_LAUNCH_TIMEOUT,
    [ISA_FAULT_DEADLOCK] = CUDA_ERROR_LAUNCH_TIMEOUT,
    [ISA_FAULT_MEMORY] = CUDA_ERROR_LAUNCH_FAILED,
    [ISA_FAULT_POLICY] = CUDA_ERROR_LAUNCH_FAILED,
};
_Static_assert(sizeof fault_codes / sizeof fault_codes[0] == ISA_FAULT_CODES, "a code for each");

enum { LOCAL_PARAMETER_BYTES = 4352 }; /* a kernel may take 32764 (PTX ISA, .param) */

/* ---- Parameters ---- */

/* Reads the buffer and its size from an `extra` list; returns false if the list is invalid. */
static bool read_extra(void **extra, const void **buffer, size_t *size) {
    const size_t *size_given = NULL;
    *buffer = NULL;
    while (*extra != CU_LAUNCH_PARAM_END) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) *buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) size_given = extra[1];
        else return false;
        extra += 2;
    }
    *size = size_given ? *size_given : 0;
    return *buffer && size_given;
}

CUresult launch_gather(const Function *function, void **parameters, void **extra, char *area) {
    const PtxFunction *ptx = function->decoded->ptx;
    if (extra && *extra == CU_LAUNCH_PARAM_END) extra = NULL; /* as if there were no parameters */
    if (parameters && extra) return CUDA_ERROR_INVALID_VALUE;
    if (!ptx->parameter_count) return CUDA_SUCCESS;
    if (extra) {
        const void *buffer;
        size_t size;
        if (!read_extra(extra, &buffer, &size)) return CUDA_ERROR_INVALID_VALUE;
        if (size < ptx->parameter_bytes) {
            driver_say("error: kernel %s takes %u bytes of parameters, %zu are given", ptx->name,
                       ptx->parameter_bytes, size);
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(area, buffer, ptx->parameter_bytes);
        return CUDA_SUCCESS;
    }
    for (int i = 0; i < ptx->parameter_count; i++) {
        const PtxVar *parameter = &ptx->parameters[i];
        if (!parameters || !parameters[i]) {
            driver_say("error: kernel %s: parameter %d (%s, %llu bytes) is not given", ptx->name,
                       i + 1, parameter->name, (unsigned long long)parameter->size);
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(area + parameter->address, parameters[i], parameter->size);
    }
    return CUDA_SUCCESS;
}

/* ---- Running ---- */

/* The error code for a launch that the device does not support. A special code applies if each CTA
 * could run, but not in such clusters, or not all CTAs of a cooperative launch at once. */
static CUresult code_of_refusal(const Call *call, const GpuLaunch *launch) {
    GpuLaunch alone = *launch;
    GpuResult result = {0};
    alone.is_cooperative = false;
    if (gpu_check_launch(call->gpu, launch, &result)) return CUDA_ERROR_INVALID_VALUE;
    if (gpu_check_ctas(call->gpu, launch, &result)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return gpu_check_launch(call->gpu, &alone, &result) ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                                                        : CUDA_ERROR_INVALID_VALUE;
}

/* Whether execution continues after the fault (--on-fault report). */
static bool is_bad_access(int fault_code) {
    return fault_code == ISA_FAULT_ADDRESS || fault_code == ISA_FAULT_MISALIGNED;
}

/* Returns the error of a launch that failed. It is reported, stays with the context, and may end
 * the process. The host's call stack is useful only if the program has just launched the kernel. */
static CUresult fail(Call *call, const GpuLaunch *launch, GpuStatus status, int fault_code,
                     const char *what, bool is_just_launched) {
    Driver *driver = call->driver;
    if (status == GPU_INTERRUPTED) {
        driver_say("%s", what);
        driver_obey_signal(driver);
        return call->context->error = CUDA_ERROR_LAUNCH_FAILED;
    }
    if (status == GPU_STOPPED) {
        if (!driver->simulator->options->is_quiet) driver_say("%s", what);
        driver_end(driver, 0);
    }
    Text message = {0};
    text_add(&message, what);
    if (status == GPU_FAULT && is_just_launched) backtrace_add(&message);
    else if (status == GPU_FAULT)
        text_add(&message, "\n    host: with --serial-kernels this says where it was launched");
    if (status == GPU_FAULT && is_bad_access(fault_code) && driver_tells_first("--on-fault"))
        text_add(&message,
                 "\n    --on-fault report skips such accesses, reports each, and goes on");
    driver_say("error: %s", text_string(&message));
    text_free(&message);
    if (status == GPU_REFUSED) {
        if (!driver->simulator->options->returns_unsupported) driver_end(driver, 1);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (status == GPU_BAD_LAUNCH) return code_of_refusal(call, launch);
    call->context->error = status == GPU_FAULT ? fault_codes[fault_code] : CUDA_ERROR_LAUNCH_FAILED;
    return call->context->error;
}

static CUresult run(Call *call, const GpuLaunch *launch) {
    Driver *driver = call->driver;
    GpuResult result;
    driver->simulator->asker.context = call->context;
    GpuStatus status = simulator_launch(driver->simulator, launch, &call->stream, &result);
    if (!driver->simulator->grids) driver->simulator->asker.context = NULL;
    return status ? fail(call, launch, status, result.fault_code, result.message, true)
                  : CUDA_SUCCESS;
}

/* Reports once for each kernel that its launch gets fewer registers than it needs. */
static void tell_of_spills(const Call *call, const Function *function, const GpuLaunch *launch) {
    const IsaFunction *kernel = function->decoded;
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    uint32_t registers = gpu_registers(call->gpu, kernel, threads);
    if (registers >= kernel->registers || !call->driver->simulator->timed ||
        call->driver->simulator->options->registers || !driver_tells_first(kernel->ptx->name))
        return;
    Text name = {0};
    demangle_short(kernel->ptx->name, &name);
    driver_say("warning: kernel %s: %u threads with %u registers each do not fit on an SM with %u: "
               "they get %u; the spills that a compiler would add take no time",
               text_string(&name), threads, kernel->registers,
               gpu_limits(call->gpu).registers_per_sm, registers);
    text_free(&name);
}

/* Converts a window to the machine's form. */
static PolicyWindow window_of(const CUaccessPolicyWindow *window) {
    static const uint8_t priorities[] = {[CU_ACCESS_PROPERTY_NORMAL] = PTX_EVICT_NORMAL,
                                         [CU_ACCESS_PROPERTY_STREAMING] = PTX_EVICT_FIRST,
                                         [CU_ACCESS_PROPERTY_PERSISTING] = PTX_EVICT_LAST};
    return (PolicyWindow){.address = (uint64_t)(uintptr_t)window->base_ptr,
                          .bytes = window->num_bytes,
                          .share = window->hitRatio,
                          .hit = priorities[window->hitProp],
                          .miss = priorities[window->missProp]};
}

static GpuLaunch describe(const Function *function, const LaunchShape *shape) {
    GpuLaunch launch = {.module = function->module->gpu,
                        .function = function->index,
                        .dynamic_shared_bytes = shape->shared_bytes,
                        .carve_out = (uint8_t)(function->carveout + 1),
                        .window = window_of(&shape->window),
                        .is_cooperative = shape->is_cooperative};
    memcpy(launch.grid, shape->grid, sizeof launch.grid);
    memcpy(launch.block, shape->block, sizeof launch.block);
    memcpy(launch.cluster, shape->cluster[0] ? shape->cluster : function->cluster,
           sizeof launch.cluster);
    gpu_count_ctas(&launch);
    return launch;
}

/* Whether the function may have this much dynamic shared memory; the device may have more. */
static bool check_shared(const Function *function, const LaunchShape *shape) {
    if (shape->shared_bytes <= (unsigned)function->dynamic_shared_limit) return true;
    Text name = {0};
    demangle_short(function->decoded->ptx->name, &name);
    driver_say("error: kernel %s: %u bytes of dynamic shared memory; it may have %d "
               "(cudaFuncAttributeMaxDynamicSharedMemorySize, "
               "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)",
               text_string(&name), shape->shared_bytes, function->dynamic_shared_limit);
    text_free(&name);
    return false;
}

/* Whether the function may have clusters of this size. */
static bool check_cluster(const Function *function, const GpuLaunch *launch) {
    const uint64_t ctas = (uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    if (ctas <= FUNCTION_PORTABLE_CLUSTER || function->has_large_clusters) return true;
    Text name = {0};
    demangle_short(function->decoded->ptx->name, &name);
    driver_say("error: kernel %s: clusters of %" PRIu64 " thread blocks; more than %d must be "
               "allowed (cudaFuncAttributeNonPortableClusterSizeAllowed, "
               "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)",
               text_string(&name), ctas, FUNCTION_PORTABLE_CLUSTER);
    text_free(&name);
    return false;
}

CUresult launch_check(const Call *call, const Function *function, const LaunchShape *shape) {
    const GpuLaunch launch = describe(function, shape);
    GpuResult result = {0};
    if (!check_shared(function, shape)) return CUDA_ERROR_INVALID_VALUE;
    if (!check_cluster(function, &launch)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (gpu_check_launch(call->gpu, &launch, &result)) return CUDA_SUCCESS;
    driver_say("error: %s", result.message);
    return code_of_refusal(call, &launch);
}

/* Fills in the launch of a function; reports errors of the program. */
static CUresult describe_launch(Call *call, const LaunchShape *shape, GpuLaunch *launch) {
    const Function *function = CALL_GET(call, HANDLE_FUNCTION, shape->function);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (!check_shared(function, shape)) return CUDA_ERROR_INVALID_VALUE;
    *launch = describe(function, shape);
    if (!check_cluster(function, launch)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    tell_of_spills(call, function, launch);
    return CUDA_SUCCESS;
}

CUresult launch_now(Call *call, const LaunchShape *shape, const char *area) {
    GpuLaunch made;
    CUresult status = describe_launch(call, shape, &made);
    if (status) return status;
    made.parameters = area;
    registered_check(call);
    return run(call, &made);
}

/* ---- Kernels on the device ---- */

CUresult kernel_describe(Call *call, const LaunchShape *shape, GpuLaunch *launch) {
    GpuResult result; /* large, and only filled in if the launch is refused */
    CUresult status = describe_launch(call, shape, launch);
    if (status) return status;
    const GpuStatus checked = gpu_check_kernel(call->gpu, launch, &result);
    return checked ? fail(call, launch, checked, 0, result.message, true) : CUDA_SUCCESS;
}

void kernel_begin(Call *call, KernelRun *kernel, const GpuPrerequisite *after, uint32_t count) {
    registered_check(call);
    kernel->is_begun = true;
    kernel->grid.context = call->context;
    kernel->grid.launch.after = after;
    kernel->grid.launch.after_count = count;
    simulator_begin(call->driver->simulator, &kernel->grid);
    kernel->grid.launch.after = NULL;
    kernel->grid.launch.after_count = 0;
}

CUresult kernel_end(Call *call, KernelRun *kernel) {
    SimulatorGrid *grid = &kernel->grid;
    CUresult status = CUDA_SUCCESS;
    if (grid->status)
        status = fail(call, &grid->launch, grid->status, grid->fault_code, grid->message, false);
    free(grid->message);
    grid->message = NULL;
    return status;
}

/* ---- Launches by programs ---- */

/* Where a launch goes, and with which priority. */
static GpuStreamInfo stream_of(const Call *call, CUstream stream, const Attributes *attributes) {
    GpuStreamInfo info = stream_info(call, stream);
    if (attributes && attributes_have(attributes, CU_LAUNCH_ATTRIBUTE_PRIORITY))
        info.priority =
            -stream_priority(attributes_get(attributes, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority);
    return info;
}

/* Records the events of a launch; `point` is its kernel in the stream's queue, or none if it has
 * run.
 */
static void record_events(const Call *call, const LaunchShape *shape, BacklogPoint point) {
    for (int i = 0; i < LAUNCH_EVENTS; i++) {
        Event *event = CALL_GET(call, HANDLE_EVENT, shape->events[i].event);
        if (!event) continue;
        event_record(call, event);
        event->capture_id = 0;
        event->point = point;
        event->edge = shape->events[i].edge;
    }
}

/* Appends a launch to a stream's queue. */
static CUresult queue(Call *call, const LaunchShape *shape, CUstream stream, void **parameters,
                      void **extra) {
    const Function *function = CALL_GET(call, HANDLE_FUNCTION, shape->function);
    QueuedKernel *kernel =
        base_calloc(1, sizeof *kernel + function->decoded->ptx->parameter_bytes + 1);
    CUresult status = launch_gather(function, parameters, extra, kernel->area);
    GpuLaunch *launch = &kernel->run.grid.launch;
    if (status == CUDA_SUCCESS) status = kernel_describe(call, shape, launch);
    if (status) {
        free(kernel);
        return status;
    }
    launch->parameters = kernel->area;
    kernel->run.grid.stream = call->stream;
    kernel->run.is_dependent = shape->is_dependent;
    record_events(call, shape, stream_queue_add_kernel(call, stream, kernel));
    return CUDA_SUCCESS;
}

static CUresult run_now(Call *call, const LaunchShape *shape, void **parameters, void **extra) {
    const Function *function = CALL_GET(call, HANDLE_FUNCTION, shape->function);
    uint32_t bytes = function->decoded->ptx->parameter_bytes;
    char local[LOCAL_PARAMETER_BYTES];
    char *area = bytes <= sizeof local ? local : base_malloc(bytes);
    memset(area, 0, bytes);
    CUresult status = launch_gather(function, parameters, extra, area);
    if (status == CUDA_SUCCESS) status = launch_now(call, shape, area);
    if (status == CUDA_SUCCESS) record_events(call, shape, (BacklogPoint){0});
    if (area != local) free(area);
    return status;
}

/* Whether a later launch may overlap with this one. */
static bool may_have_dependent(const Call *call, const LaunchShape *shape) {
    const Function *function = CALL_GET(call, HANDLE_FUNCTION, shape->function);
    return !call->driver->is_serial && call->driver->simulator->timed &&
           (gpu_module_has_triggers(function->module->gpu) || shape->events[0].event ||
            shape->events[1].event);
}

static CUresult give(const LaunchShape *shape, const Attributes *attributes, CUstream stream,
                     void **parameters, void **extra) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!CALL_GET(&call, HANDLE_FUNCTION, shape->function))
        return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    call.stream = stream_of(&call, stream, attributes);
    if (may_have_dependent(&call, shape) || stream_queue_keeps_kernels(&call, stream))
        status = queue(&call, shape, stream, parameters, extra);
    else status = run_now(&call, shape, parameters, extra);
    return call_end(&call, status);
}

/* Launches a kernel, or adds it to the graph that `stream` captures into. `attributes` contain
 * everything that applies to the launch, including the stream's window. */
static CUresult launch_with(LaunchShape *shape, const Attributes *attributes, CUstream stream,
                            void **parameters, void **extra) {
    bool is_taken;
    if (attributes) {
        shape->window =
            attributes_get(attributes, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow;
        attributes_cluster(attributes, shape->cluster);
    }
    CUDA_KERNEL_NODE_PARAMS given = {shape->function,
                                     shape->grid[0],
                                     shape->grid[1],
                                     shape->grid[2],
                                     shape->block[0],
                                     shape->block[1],
                                     shape->block[2],
                                     shape->shared_bytes,
                                     parameters,
                                     extra,
                                     NULL,
                                     NULL};
    WorkGiven work = {CU_GRAPH_NODE_TYPE_KERNEL, &given, attributes};
    CUresult status = capture_take_launch(stream, work, shape, &is_taken);
    return status || is_taken ? status : give(shape, attributes, stream, parameters, extra);
}

/* The same; the stream's window applies if the launch has none. */
static CUresult launch(LaunchShape *shape, const Attributes *attributes, CUstream stream,
                       void **parameters, void **extra) {
    const CUlaunchAttributeID id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
    CUlaunchAttributeValue value = {.pad = {0}};
    if (!attributes || !attributes_have(attributes, id))
        value.accessPolicyWindow = stream_window(stream);
    if (!value.accessPolicyWindow.num_bytes)
        return launch_with(shape, attributes, stream, parameters, extra);
    Attributes all = attributes ? attributes_copy(attributes) : (Attributes){NULL, 0};
    attributes_set(&all, id, &value);
    CUresult status = launch_with(shape, &all, stream, parameters, extra);
    attributes_free(&all);
    return status;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                void **parameters, void **extra) {
    LaunchShape shape = {.function = function,
                         .grid = {grid_x, grid_y, grid_z},
                         .block = {block_x, block_y, block_z},
                         .shared_bytes = shared_bytes};
    return launch(&shape, NULL, stream, parameters, extra);
}

CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
                                           unsigned int grid_y, unsigned int grid_z,
                                           unsigned int block_x, unsigned int block_y,
                                           unsigned int block_z, unsigned int shared_bytes,
                                           CUstream stream, void **parameters) {
    LaunchShape shape = {.function = function,
                         .grid = {grid_x, grid_y, grid_z},
                         .block = {block_x, block_y, block_z},
                         .shared_bytes = shared_bytes,
                         .is_cooperative = true};
    CUlaunchAttribute item = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    return launch(&shape, &(Attributes){&item, 1}, stream, parameters, NULL);
}

/* The error if a launch cannot record an event: it must not be timed or of several processes, and
 * no flags are possible (CUDA Driver API, CUlaunchAttributeID, CUlaunchAttributeValue). */
static CUresult check_event(CUevent handle, int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Event *event = CALL_GET(&call, HANDLE_EVENT, handle);
    if (!event) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    const bool is_right =
        event->flags & CU_EVENT_DISABLE_TIMING && !(event->flags & CU_EVENT_INTERPROCESS) && !flags;
    return call_end(&call, is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* Reads the attributes of a launch that say how it and other launches overlap. */
static CUresult read_overlap(const CUlaunchAttribute *given, LaunchShape *shape) {
    const CUlaunchAttributeValue *value = &given->value;
    const bool is_at_start = value->programmaticEvent.triggerAtBlockStart != 0;
    switch ((int)given->id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        shape->is_dependent = value->programmaticStreamSerializationAllowed != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        shape->events[0] =
            (LaunchEvent){value->programmaticEvent.event,
                          {.from_port = is_at_start ? CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
                                                    : CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                           .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC}};
        return check_event(value->programmaticEvent.event, value->programmaticEvent.flags);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        shape->events[1] = (LaunchEvent){value->launchCompletionEvent.event,
                                         {.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER}};
        return check_event(value->launchCompletionEvent.event, value->launchCompletionEvent.flags);
    default: return CUDA_SUCCESS;
    }
}

/* Reads the attributes of a launch: those that its node keeps if it is captured, and how it
 * overlaps with other launches. */
static CUresult read_attributes(const CUlaunchConfig *config, Attributes *attributes,
                                LaunchShape *shape) {
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *given = &config->attrs[i];
        CUresult status =
            attribute_check(given->id, &given->value, ATTRIBUTE_OF_LAUNCH, "cuLaunchKernelEx");
        if (status == CUDA_SUCCESS) status = read_overlap(given, shape);
        if (status) return status;
        if (attribute_is_of(given->id, ATTRIBUTE_OF_NODE))
            attributes_set(attributes, given->id, &given->value);
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                                  void **parameters, void **extra) {
    Attributes attributes = {NULL, 0};
    if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
    LaunchShape shape = {.function = function,
                         .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                         .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                         .shared_bytes = config->sharedMemBytes};
    CUresult status = read_attributes(config, &attributes, &shape);
    shape.is_cooperative =
        attributes_get(&attributes, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative != 0;
    if (status == CUDA_SUCCESS)
        status = launch(&shape, &attributes, config->hStream, parameters, extra);
    attributes_free(&attributes);
    return status;
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user) {
    bool is_taken;
    CUDA_HOST_NODE_PARAMS given = {function, user};
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    CUresult status =
        capture_take(stream, (WorkGiven){CU_GRAPH_NODE_TYPE_HOST, &given, NULL}, &is_taken);
    if (status || is_taken) return status;
    function(user);
    return CUDA_SUCCESS;
}
