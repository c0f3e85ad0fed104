/* The work of graph nodes: made from the program's parameters, copied, executed. */
#include "driver/graph/graph.h"

#include <stdlib.h>
#include <string.h>

bool work_is_cooperative(const GraphWork *work) {
    return attributes_get(&work->attributes, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative != 0;
}

LaunchShape work_shape(const GraphWork *work) {
    const CUDA_KERNEL_NODE_PARAMS *kernel = &work->kernel;
    const CUlaunchAttributeValue window =
        attributes_get(&work->attributes, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
    LaunchShape shape = {.function = kernel->func,
                         .grid = {kernel->gridDimX, kernel->gridDimY, kernel->gridDimZ},
                         .block = {kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ},
                         .shared_bytes = kernel->sharedMemBytes,
                         .is_cooperative = work_is_cooperative(work),
                         .window = window.accessPolicyWindow};
    attributes_cluster(&work->attributes, shape.cluster);
    return shape;
}

/* ---- Making ---- */

static CUresult make_kernel(const Call *call, const CUDA_KERNEL_NODE_PARAMS *given,
                            GraphWork *work) {
    const Function *function = CALL_GET(call, HANDLE_FUNCTION, given->func);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    const PtxFunction *ptx = function->decoded->ptx;
    size_t count = (size_t)ptx->parameter_count;
    work->area_bytes = ptx->parameter_bytes;
    work->area = base_calloc(work->area_bytes + 1, 1);
    work->pointers = base_calloc(count + 1, sizeof(void *));
    for (size_t i = 0; i < count; i++)
        work->pointers[i] = work->area + ptx->parameters[i].address;
    work->kernel = *given;
    work->kernel.kernelParams = work->pointers;
    work->kernel.extra = NULL;
    const LaunchShape shape = work_shape(work);
    CUresult status = launch_gather(function, given->kernelParams, given->extra, work->area);
    return status ? status : launch_check(call, function, &shape);
}

static CUresult make_fill(const CUDA_MEMSET_NODE_PARAMS *given, GraphWork *work) {
    work->fill = *given;
    return fill_is_possible(given) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult make_child(const Call *call, const void *handle, GraphWork *work) {
    const Graph *graph = CALL_GET(call, HANDLE_GRAPH, handle);
    if (!graph || capture_is_of(call->driver, graph->handle)) return CUDA_ERROR_INVALID_VALUE;
    if (!graph_is_plain(graph)) {
        driver_say("error: a graph with conditional nodes, or one that allocates or frees memory, "
                   "cannot be copied into a node");
        return CUDA_ERROR_INVALID_VALUE;
    }
    work->child = graph_clone(call->driver, graph);
    work->child->is_child = true;
    return CUDA_SUCCESS;
}

static CUresult make_operations(const CUDA_BATCH_MEM_OP_NODE_PARAMS *given, GraphWork *work) {
    if (!operations_are_right(given)) return CUDA_ERROR_INVALID_VALUE;
    work->area_bytes = given->count * sizeof *given->paramArray;
    work->area = base_malloc(work->area_bytes);
    memcpy(work->area, given->paramArray, work->area_bytes);
    work->operations = *given;
    work->operations.paramArray = (CUstreamBatchMemOpParams *)(void *)work->area;
    return CUDA_SUCCESS;
}

/* The address is returned to the program, whose struct is not const. */
static CUresult make_allocation(Call *call, const void *given, GraphWork *work) {
    CUresult status;
    work->memory = graph_memory_new(call, (CUDA_MEM_ALLOC_NODE_PARAMS *)(uintptr_t)given, &status);
    return status;
}

static CUresult make(Call *call, WorkGiven given, GraphWork *work) {
    CUresult status;
    switch ((int)given.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (given.attributes) work->attributes = attributes_copy(given.attributes);
        return make_kernel(call, given.parameters, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        work->copy = *(const CUDA_MEMCPY3D *)given.parameters;
        return copy_is_possible(call, &work->copy) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_MEMSET: return make_fill(given.parameters, work);
    case CU_GRAPH_NODE_TYPE_HOST:
        work->host = *(const CUDA_HOST_NODE_PARAMS *)given.parameters;
        return work->host.fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_GRAPH: return make_child(call, given.parameters, work);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        work->event = (CUevent)(uintptr_t)given.parameters;
        return CALL_GET(call, HANDLE_EVENT, work->event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return make_allocation(call, given.parameters, work);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        work->memory = graph_memory_find(call, (uintptr_t)given.parameters, &status);
        return status;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return make_operations(given.parameters, work);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return branch_make(call, given.parameters, &work->branch);
    default: return CUDA_SUCCESS;
    }
}

CUresult work_make(Call *call, WorkGiven given, GraphWork *work) {
    *work = (GraphWork){.type = given.type};
    if (!given.parameters && given.type != CU_GRAPH_NODE_TYPE_EMPTY)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = make(call, given, work);
    if (status) work_free(call->driver, work);
    return status;
}

/* Memory and conditional nodes cannot be changed. */
static bool is_fixed(CUgraphNodeType type) {
    return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
           type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult work_replace(Call *call, GraphWork *work, WorkGiven given) {
    GraphWork made;
    if (work->type != given.type || is_fixed(given.type)) return CUDA_ERROR_INVALID_VALUE;
    given.attributes = &work->attributes;
    CUresult status = work_make(call, given, &made);
    if (status) return status;
    work_free(call->driver, work);
    *work = made;
    return CUDA_SUCCESS;
}

/* ---- Copies ---- */

/* It shares memory with other nodes and steps. */
static bool is_memory(const GraphWork *work) {
    return (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
            work->type == CU_GRAPH_NODE_TYPE_MEM_FREE) &&
           work->memory;
}

static void copy_parameters(const GraphWork *from, GraphWork *to) {
    size_t count = 0;
    while (from->pointers[count])
        count++;
    to->area = base_malloc(from->area_bytes + 1);
    memcpy(to->area, from->area, from->area_bytes);
    to->pointers = base_calloc(count + 1, sizeof(void *));
    for (size_t i = 0; i < count; i++)
        to->pointers[i] = to->area + ((char *)from->pointers[i] - from->area);
    to->kernel.kernelParams = to->pointers;
}

GraphWork work_copy(Driver *driver, const GraphWork *work) {
    GraphWork copy = *work;
    copy.attributes = attributes_copy(&work->attributes);
    if (work->type == CU_GRAPH_NODE_TYPE_KERNEL) copy_parameters(work, &copy);
    if (work->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        copy.area = base_malloc(work->area_bytes);
        memcpy(copy.area, work->area, work->area_bytes);
        copy.operations.paramArray = (CUstreamBatchMemOpParams *)(void *)copy.area;
    }
    if (is_memory(work)) graph_memory_use(work->memory);
    if (work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        copy.branch.graphs = NULL, copy.branch.handles = NULL;
    if (work->type == CU_GRAPH_NODE_TYPE_GRAPH && work->child) {
        copy.child = graph_clone(driver, work->child);
        copy.child->is_child = true;
    }
    return copy;
}

void work_free(Driver *driver, GraphWork *work) {
    free(work->area);
    free(work->pointers);
    attributes_free(&work->attributes);
    if (is_memory(work)) graph_memory_drop(driver, work->memory);
    if (work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) branch_free(driver, &work->branch);
    if (work->type == CU_GRAPH_NODE_TYPE_GRAPH && work->child) graph_free(driver, work->child);
    *work = (GraphWork){.type = CU_GRAPH_NODE_TYPE_EMPTY};
}

/* ---- Execution ---- */

static CUresult run_kernel(Call *call, const GraphWork *work) {
    const LaunchShape shape = work_shape(work);
    return launch_now(call, &shape, work->area);
}

CUresult work_call_host(Call *call, CUDA_HOST_NODE_PARAMS host) {
    const CUcontext context = call->context->handle;
    call_end(call, CUDA_SUCCESS);
    host.fn(host.userData);
    CUresult status = call_begin_driver(call);
    if (status) abort(); /* the driver exists as long as the process */
    call->context = CALL_GET(call, HANDLE_CONTEXT, context);
    if (!call->context) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return call->context->error;
}

CUresult work_run(Call *call, const GraphWork *work, unsigned *done) {
    switch ((int)work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return run_kernel(call, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_now(call, &work->copy);
    case CU_GRAPH_NODE_TYPE_MEMSET: return fill_now(call, &work->fill);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return graph_memory_allocate(call, work->memory);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return graph_memory_free(call, work->memory);
    case CU_GRAPH_NODE_TYPE_HOST: return work_call_host(call, work->host);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return operations_run(call, &work->operations, done);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: {
        Event *event = CALL_GET(call, HANDLE_EVENT, work->event);
        if (event) event_record(call, event);
        return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    default: return CUDA_SUCCESS; /* nothing to wait for */
    }
}
