/* Executable graphs: a graph's nodes, and those of the graphs inside it, in the order in which a
 * launch executes them. Of the nodes whose dependencies are done, the one created first comes
 * next. */
#include "driver/stream/stream_queue.h"

#include <stdlib.h>
#include <string.h>

/* Flags without effect. */
enum {
    GRAPH_FLAGS = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                  CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
};

/* ---- The order ---- */

static GraphStep *add_step(GraphExec *exec) {
    if ((exec->count & (exec->count - 1)) == 0) {
        size_t capacity = exec->count ? 2 * exec->count : 1;
        exec->steps = base_realloc(exec->steps, capacity * sizeof *exec->steps);
    }
    exec->steps[exec->count] = (GraphStep){.is_enabled = true};
    return &exec->steps[exec->count++];
}

static bool add_steps(Driver *driver, GraphExec *exec, const Graph *graph);

/* Adds the steps of a conditional node's graphs; the step of the node is at `place`. */
static bool add_branches(Driver *driver, GraphExec *exec, size_t place, const Branch *branch) {
    size_t *counts = base_calloc(branch->count, sizeof *counts);
    bool is_right = true;
    exec->steps[place].branch_counts = counts;
    for (uint32_t i = 0; is_right && i < branch->count; i++) {
        size_t before = exec->count;
        is_right = add_steps(driver, exec, branch->graphs[i]);
        counts[i] = exec->count - before;
    }
    return is_right;
}

/* Adds a node; `places` has the steps of its dependencies. */
static bool add_node(Driver *driver, GraphExec *exec, const GraphNode *node, size_t *places) {
    size_t place = places[node->index] = exec->count;
    GraphStep *step = add_step(exec);
    step->node = node->handle;
    step->before_count = node->before.count;
    step->before = base_calloc(node->before.count + 1, sizeof *step->before);
    step->edges = base_calloc(node->before.count + 1, sizeof *step->edges);
    for (size_t i = 0; i < node->before.count; i++) {
        step->before[i] = place - places[node->before.items[i].node->index];
        step->edges[i] = node->before.items[i].data;
        exec->has_early |= !edge_is_ordinary(step->edges[i]);
    }
    bool is_right = true;
    if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
        step->work.type = CU_GRAPH_NODE_TYPE_GRAPH;
        is_right = add_steps(driver, exec, node->work.child);
    } else {
        step->work = work_copy(driver, &node->work);
        if (node->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            is_right = add_branches(driver, exec, place, &node->work.branch);
    }
    exec->steps[place].inside = exec->count - place - 1;
    if (node->work.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) exec->has_waits = true;
    if (node->work.type == CU_GRAPH_NODE_TYPE_HOST) exec->has_host = true;
    return is_right;
}

/* Reports a node that depends on itself. `waits` is SIZE_MAX for nodes that are on no cycle. */
static void say_cycle(const Graph *graph, const size_t *waits) {
    const GraphNode *node = NULL, *start;
    size_t count = graph->nodes.count, others = 0;
    for (size_t i = 0; i < count && !node; i++)
        if (waits[i] != SIZE_MAX) node = graph->nodes.items[i];
    for (size_t step = 0; step <= count; step++) { /* go backwards until certainly on a cycle */
        size_t i = 0;
        while (waits[node->before.items[i].node->index] == SIZE_MAX)
            i++;
        node = node->before.items[i].node;
    }
    start = node;
    do {
        size_t i = 0;
        while (waits[node->before.items[i].node->index] == SIZE_MAX)
            i++;
        node = node->before.items[i].node;
        others++;
    } while (node != start);
    driver_say(
        "error: a graph cannot be instantiated: its dependencies have a cycle: node %zu of %zu "
        "(as they were added) comes after itself, by way of %zu other%s",
        start->index + 1, count, others - 1, others == 2 ? "" : "s");
}

/* Adds the steps of a graph. Returns false, after a message, if its dependencies have a cycle. */
static bool add_steps(Driver *driver, GraphExec *exec, const Graph *graph) {
    size_t count = graph->nodes.count, done = 0, next = 0;
    size_t *waits = base_calloc(count + 1, sizeof *waits); /* open dependencies; SIZE_MAX: done */
    size_t *places = base_calloc(count + 1, sizeof *places);
    bool is_right = true;
    for (size_t i = 0; i < count; i++)
        waits[i] = graph->nodes.items[i]->before.count;
    while (is_right && done < count) {
        while (next < count && waits[next])
            next++;
        if (next == count) break;
        const GraphNode *node = graph->nodes.items[next];
        is_right = add_node(driver, exec, node, places);
        waits[next] = SIZE_MAX;
        done++;
        for (size_t i = 0; i < node->after.count; i++) {
            size_t after = node->after.items[i].node->index;
            if (--waits[after] == 0 && after < next) next = after;
        }
    }
    if (is_right && done < count) say_cycle(graph, waits);
    free(waits);
    free(places);
    return is_right && done == count;
}

static void free_steps(Driver *driver, GraphExec *exec) {
    for (size_t i = 0; i < exec->count; i++) {
        work_free(driver, &exec->steps[i].work);
        free(exec->steps[i].before);
        free(exec->steps[i].edges);
        free(exec->steps[i].branch_counts);
    }
    free(exec->steps);
}

void graph_exec_free(Driver *driver, void *object) {
    GraphExec *exec = object;
    exec->is_destroyed = true;
    if (exec->users) return; /* the last launch frees it */
    free_steps(driver, exec);
    held_free(driver, &exec->held);
    free(exec);
}

/* ---- Instances ---- */

/* The error if a graph cannot have an executable graph, before its nodes are checked. */
static CUresult check_instance(const Call *call, const Graph *graph) {
    if (!conditionals_have_nodes(call, graph)) return CUDA_ERROR_INVALID_VALUE;
    bool has_other = CALL_GET(call, HANDLE_GRAPH_EXEC, graph->instance) != NULL;
    if (!has_other || !graph_has_memory(graph)) return CUDA_SUCCESS;
    driver_say("error: a graph that allocates or frees memory can have one executable graph at a "
               "time");
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult instantiate(const Call *call, CUgraphExec *executable, Graph *graph,
                            cuuint64_t flags) {
    CUresult status = check_instance(call, graph);
    if (status) return status;
    GraphExec *exec = base_calloc(1, sizeof *exec);
    exec->context = call->context;
    exec->flags = flags;
    if (!add_steps(call->driver, exec, graph)) {
        graph_exec_free(call->driver, exec);
        return CUDA_ERROR_INVALID_VALUE;
    }
    exec->held = held_copy(call->driver, &graph->held);
    *executable = driver_add(call->driver, HANDLE_GRAPH_EXEC, exec);
    graph->instance = *executable;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *executable, CUgraph handle,
                                    unsigned long long flags) {
    Call call;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return driver_missing("cuGraphInstantiate for launches by kernels");
    CUresult status = call_begin(&call);
    if (status) return status;
    Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!executable || !graph || graph->is_child || capture_is_of(call.driver, handle) ||
        flags & ~(unsigned long long)GRAPH_FLAGS)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, instantiate(&call, executable, graph, flags));
}

CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec *executable, CUgraph graph,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
    if (!parameters) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = cuGraphInstantiate(executable, graph, parameters->flags);
    parameters->hErrNode_out = NULL;
    parameters->result_out = status == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                             : status == CUDA_ERROR_INVALID_VALUE
                                 ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                                 : CUDA_GRAPH_INSTANTIATE_ERROR;
    return status;
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec executable) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    GraphExec *exec =
        handles_remove(&call.driver->handles, HANDLE_GRAPH_EXEC, (uint64_t)(uintptr_t)executable);
    if (exec) graph_exec_free(call.driver, exec);
    return call_end(&call, exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t *flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const GraphExec *exec = CALL_GET(&call, HANDLE_GRAPH_EXEC, executable);
    if (!exec || !flags) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *flags = exec->flags;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Launches ---- */

static CUresult run_steps(Call *call, GraphLaunch *launch, size_t first, size_t end);

/* Whether a kernel is among the steps: only kernels change conditions. */
static bool has_kernel(const GraphExec *exec, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        if (exec->steps[i].work.type == CU_GRAPH_NODE_TYPE_KERNEL && exec->steps[i].is_enabled)
            return true;
    }
    return false;
}

/* Executes the graph that a condition chooses, repeatedly if it is a loop. Its steps do not
 * wait. */
static CUresult run_branch(Call *call, const GraphLaunch *launch, size_t place) {
    GraphLaunch inner = {.exec = launch->exec}; /* its kernels run one after another */
    const GraphStep *step = &launch->exec->steps[place];
    const Branch *branch = &step->work.branch;
    bool is_loop = branch->type == CU_GRAPH_COND_TYPE_WHILE;
    CUresult status = CUDA_SUCCESS;
    do {
        uint32_t choice = branch_choice(branch);
        if (choice == branch->count) break;
        size_t first = place + 1;
        for (uint32_t i = 0; i < choice; i++)
            first += step->branch_counts[i];
        size_t end = first + step->branch_counts[choice];
        if (is_loop && !has_kernel(launch->exec, first, end)) {
            driver_say("error: a while node of a graph never ends: no kernel in it can change its "
                       "condition");
            return CUDA_ERROR_LAUNCH_TIMEOUT;
        }
        status = run_steps(call, &inner, first, end);
    } while (is_loop && status == CUDA_SUCCESS);
    return status;
}

/* is_done: whether all of a step is done. is_ready: whether everything that it depends on is. For
 * launches in which some steps wait. */
static bool is_done(const GraphLaunch *launch, size_t i) {
    const GraphStep *step = &launch->exec->steps[i];
    if (step->work.type != CU_GRAPH_NODE_TYPE_GRAPH) return launch->progress[i] == GRAPH_STEP_DONE;
    for (size_t j = i + 1; j <= i + step->inside; j++) {
        if (!is_done(launch, j)) return false;
        j += launch->exec->steps[j].inside;
    }
    return true;
}

/* The kernel on the device that lets a step begin before the kernel ends, by the step's dependency
 * `j`; NULL: none. Other work waits for the end, and so does a disabled kernel. */
static struct GpuGrid *early_grid(const GraphLaunch *launch, size_t i, size_t j) {
    const GraphStep *step = &launch->exec->steps[i];
    const KernelRun *before = launch->kernels ? launch->kernels[i - step->before[j]] : NULL;
    if (step->work.type != CU_GRAPH_NODE_TYPE_KERNEL || !step->is_enabled ||
        edge_is_ordinary(step->edges[j]))
        return NULL;
    return before && kernel_is_on_device(before) ? before->grid.gpu : NULL;
}

static bool is_ready(const GraphLaunch *launch, size_t i) {
    const GraphStep *step = &launch->exec->steps[i];
    int early = 0;
    for (size_t j = 0; launch->progress && j < step->before_count; j++) {
        if (is_done(launch, i - step->before[j])) continue;
        if (!early_grid(launch, i, j) || ++early > GPU_MOST_PREREQUISITES) return false;
    }
    return true;
}

/* Whether everything that a step depends on has ended. */
static bool has_ended_before(const GraphLaunch *launch, size_t i) {
    const GraphStep *step = &launch->exec->steps[i];
    for (size_t j = 0; j < step->before_count; j++)
        if (!is_done(launch, i - step->before[j])) return false;
    return true;
}

/* Submits a step's kernel to the device. */
static CUresult begin_kernel(Call *call, GraphLaunch *launch, size_t i) {
    const GraphStep *step = &launch->exec->steps[i];
    GpuPrerequisite before[GPU_MOST_PREREQUISITES];
    uint32_t count = 0;
    const GraphWork *work = &launch->exec->steps[i].work;
    const CUlaunchAttributeID priority = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    const LaunchShape shape = work_shape(work);
    KernelRun *kernel = base_calloc(1, sizeof *kernel);
    CUresult status = kernel_describe(call, &shape, &kernel->grid.launch);
    if (status) {
        free(kernel);
        return status;
    }
    kernel->grid.launch.parameters = work->area;
    kernel->grid.stream = launch->stream;
    if (attributes_have(&work->attributes, priority))
        kernel->grid.stream.priority =
            -stream_priority(attributes_get(&work->attributes, priority).priority);
    for (size_t j = 0; j < step->before_count; j++) {
        struct GpuGrid *grid = early_grid(launch, i, j);
        if (grid) before[count++] = edge_prerequisite(step->edges[j], grid);
    }
    launch->kernels[i] = kernel;
    launch->kernel_count++;
    kernel_begin(call, kernel, before, count);
    return CUDA_ERROR_NOT_READY;
}

/* Begins a step's kernel, or collects its result. A kernel that began early is done when those that
 * it depends on are done, too: steps behind it rely on that. */
static CUresult run_kernel(Call *call, GraphLaunch *launch, size_t i) {
    KernelRun *kernel = launch->kernels[i];
    if (!kernel)
        return stream_queue_may_begin(call) ? begin_kernel(call, launch, i) : CUDA_ERROR_NOT_READY;
    if (kernel_is_on_device(kernel) || !has_ended_before(launch, i)) return CUDA_ERROR_NOT_READY;
    CUresult status = kernel_end(call, kernel);
    free(kernel);
    launch->kernels[i] = NULL;
    launch->kernel_count--;
    return status;
}

static CUresult run_work(Call *call, GraphLaunch *launch, size_t i, unsigned *done) {
    const GraphWork *work = &launch->exec->steps[i].work;
    if (launch->kernels && work->type == CU_GRAPH_NODE_TYPE_KERNEL)
        return run_kernel(call, launch, i);
    return work_run(call, work, done);
}

static CUresult run_step(Call *call, GraphLaunch *launch, size_t i) {
    const GraphStep *step = &launch->exec->steps[i];
    unsigned none = 0, *done = launch->progress ? &launch->progress[i] : &none;
    if (step->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
        return run_steps(call, launch, i + 1, i + 1 + step->inside);
    CUresult status = CUDA_SUCCESS;
    if (step->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) status = run_branch(call, launch, i);
    else if (step->is_enabled) status = run_work(call, launch, i, done);
    if (status == CUDA_SUCCESS) *done = GRAPH_STEP_DONE;
    return status;
}

/* Executes the steps that can run and are not done. Skips those that depend on a waiting step or a
 * kernel; then returns CUDA_ERROR_NOT_READY. Stops after MOST_WAITING steps that wait. */
static CUresult run_steps(Call *call, GraphLaunch *launch, size_t first, size_t end) {
    enum { MOST_WAITING = 128 }; /* grids on a GPU at once (CUDA Programming Guide, 9.0) */
    CUresult result = CUDA_SUCCESS;
    int waiting = 0;
    for (size_t i = first; i < end; i += launch->exec->steps[i].inside + 1) {
        if (launch->progress && is_done(launch, i)) continue;
        CUresult status = is_ready(launch, i) ? run_step(call, launch, i) : CUDA_ERROR_NOT_READY;
        if (status && status != CUDA_ERROR_NOT_READY) return status;
        if (status) result = status;
        if (status && launch->kernels && ++waiting == MOST_WAITING) break;
    }
    return result;
}

/* Sets conditions to their initial values, and checks for allocations that an earlier launch
 * left. */
static CUresult prepare(const GraphExec *exec) {
    for (size_t i = 0; i < exec->count; i++) {
        const GraphWork *work = &exec->steps[i].work;
        if (work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL && work->branch.conditional->has_first)
            work->branch.conditional->value = work->branch.conditional->first;
        if (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && graph_memory_is_live(work->memory) &&
            !(exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)) {
            driver_say("error: a graph cannot be launched again: its allocation at 0x%llx was not "
                       "freed",
                       (unsigned long long)graph_memory_address(work->memory));
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

/* Whether the steps can be copied into a node. */
static bool is_plain(const GraphExec *exec) {
    for (size_t i = 0; i < exec->count; i++) {
        const CUgraphNodeType type = exec->steps[i].work.type;
        if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL || type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
            type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            return false;
    }
    return true;
}

/* Creates a graph that executes the steps in the order of a launch. */
static CUresult chain(Call *call, const GraphExec *exec, CUgraph *handle) {
    Graph *graph = graph_new(call->driver, exec->context);
    CUgraphNode last = NULL;
    CUresult status = CUDA_SUCCESS;
    *handle = graph->handle;
    for (size_t i = 0; i < exec->count && status == CUDA_SUCCESS; i++) {
        const GraphStep *step = &exec->steps[i];
        if (step->work.type == CU_GRAPH_NODE_TYPE_GRAPH) continue; /* its own steps follow */
        GraphWork work = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
        if (step->is_enabled) work = work_copy(call->driver, &step->work);
        status = graph_add(call, graph, &last, NULL, last ? 1 : 0, &work, &last);
    }
    return status;
}

/* In a captured stream, a launch becomes a child graph. */
static CUresult capture_launch(CUgraphExec executable, CUstream stream) {
    Call call;
    CUgraph graph = NULL;
    bool is_taken;
    CUresult status = call_begin(&call);
    if (status) return status;
    const GraphExec *exec = CALL_GET(&call, HANDLE_GRAPH_EXEC, executable);
    if (!exec) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    bool can_copy = is_plain(exec);
    if (can_copy) status = chain(&call, exec, &graph);
    call_end(&call, CUDA_SUCCESS);
    if (!can_copy)
        return capture_refuse(stream, "cuGraphLaunch, in a stream that is captured, of a graph "
                                      "with conditional nodes or memory");
    if (status == CUDA_SUCCESS)
        status =
            capture_take(stream, (WorkGiven){CU_GRAPH_NODE_TYPE_GRAPH, graph, NULL}, &is_taken);
    cuGraphDestroy(graph);
    return status;
}

GraphLaunch *graph_launch_new(const Call *call, CUgraphExec executable) {
    GraphExec *exec = CALL_GET(call, HANDLE_GRAPH_EXEC, executable);
    if (!exec) return NULL;
    GraphLaunch *launch = base_calloc(1, sizeof *launch);
    launch->exec = exec;
    exec->users++;
    return launch;
}

bool graph_launch_is_on_device(const GraphLaunch *launch) {
    for (size_t i = 0; launch->kernel_count && i < launch->exec->count; i++)
        if (launch->kernels[i] && kernel_is_on_device(launch->kernels[i])) return true;
    return false;
}

static void free_kernels(const GraphLaunch *launch) {
    for (size_t i = 0; launch->kernel_count && i < launch->exec->count; i++) {
        if (launch->kernels[i]) free(launch->kernels[i]->grid.message);
        free(launch->kernels[i]);
    }
    free(launch->kernels);
}

void graph_launch_free(Driver *driver, GraphLaunch *launch) {
    GraphExec *exec = launch->exec;
    free_kernels(launch);
    if (exec->running == launch) exec->running = NULL;
    if (!--exec->users && exec->is_destroyed) graph_exec_free(driver, exec);
    free(launch->progress);
    free(launch);
}

static CUresult begin(GraphLaunch *launch) {
    GraphExec *exec = launch->exec;
    CUresult status = prepare(exec);
    if (status) return status;
    if (exec->has_waits || launch->overlaps)
        launch->progress = base_calloc(exec->count, sizeof *launch->progress);
    if (launch->overlaps) launch->kernels = base_calloc(exec->count, sizeof(KernelRun *));
    exec->running = launch;
    launch->is_begun = true;
    return CUDA_SUCCESS;
}

/* Iterates over the steps as long as one gets done, because it may end the wait of another. */
static CUresult run_all(Call *call, GraphLaunch *launch) {
    const GraphExec *exec = launch->exec;
    CUresult status = CUDA_ERROR_NOT_READY;
    for (size_t done = 0, before = SIZE_MAX; done != before;) {
        before = done;
        done = 0;
        status = run_steps(call, launch, launch->first, exec->count);
        if (status != CUDA_ERROR_NOT_READY) return status;
        while (is_done(launch, launch->first))
            launch->first += exec->steps[launch->first].inside + 1;
        for (size_t i = launch->first; i < exec->count; i++)
            done += launch->progress[i];
        done += launch->first;
    }
    return status;
}

/* After an error, the launch is over when its kernels have left the device. */
CUresult graph_launch_run(Call *call, GraphLaunch *launch) {
    const GraphExec *exec = launch->exec;
    if (!launch->is_begun && exec->running) return CUDA_ERROR_NOT_READY;
    const GpuStreamInfo before = call->stream;
    call->stream = launch->stream;
    if (!launch->is_begun) launch->error = begin(launch);
    if (!launch->error) {
        CUresult status = run_all(call, launch);
        if (status == CUDA_ERROR_NOT_READY || status == CUDA_SUCCESS) {
            call->stream = before;
            return status;
        }
        launch->error = status;
    }
    call->stream = before;
    return graph_launch_is_on_device(launch) ? CUDA_ERROR_NOT_READY : launch->error;
}

const GraphWork *graph_launch_wait(const GraphLaunch *launch, unsigned *done) {
    for (size_t i = 0; launch->progress && i < launch->exec->count; i++) {
        const GraphWork *work = &launch->exec->steps[i].work;
        *done = launch->progress[i];
        if (work->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && *done != GRAPH_STEP_DONE &&
            is_ready(launch, i))
            return work;
    }
    return NULL;
}

/* Whether kernels of the graph overlap even if the process has only the legacy default stream. */
static bool has_early(const Call *call, const GraphExec *exec) {
    return exec->has_early && !call->driver->is_serial && call->driver->simulator->timed;
}

static CUresult launch_in(Call *call, CUgraphExec executable, CUstream stream) {
    GraphLaunch *launch = graph_launch_new(call, executable);
    if (!launch) return CUDA_ERROR_INVALID_VALUE;
    const bool is_asked_for = launch->exec->has_waits || launch->exec->has_host;
    const bool is_simple = is_plain(launch->exec); /* else its launch reports the error */
    CUresult status = CUDA_ERROR_NOT_READY;
    launch->stream = stream_info(call, stream);
    launch->overlaps = is_simple && (stream_queue_overlaps(call) || has_early(call, launch->exec));
    if (!is_simple) stream_queue_drain(call);
    if (is_simple ? !launch->overlaps && !stream_queue_keeps_kernels(call, stream)
                  : !stream_queue_holds(call, stream))
        status = graph_launch_run(call, launch);
    if (status == CUDA_ERROR_NOT_READY) {
        const BacklogPoint point = stream_queue_add(
            call, stream, (StreamQueueItem){.kind = STREAM_QUEUE_LAUNCH, .launch = launch});
        if (is_asked_for) stream_queue_settle(call, point);
        return CUDA_SUCCESS;
    }
    graph_launch_free(call->driver, launch);
    return status;
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec executable, CUstream stream) {
    Call call;
    CUstreamCaptureStatus capturing;
    CUresult status = cuStreamIsCapturing(stream, &capturing);
    if (status == CUDA_SUCCESS && capturing == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return capture_launch(executable, stream);
    if (status == CUDA_SUCCESS) status = capture_refuse(stream, NULL);
    if (status == CUDA_SUCCESS) status = call_begin(&call);
    return status ? status : call_end(&call, launch_in(&call, executable, stream));
}

/* Nothing needs to be prepared. */
CUresult CUDAAPI cuGraphUpload(CUgraphExec executable, CUstream stream) {
    cuuint64_t flags;
    CUresult status = cuGraphExecGetFlags(executable, &flags);
    return status ? status : stream_check(stream);
}

/* ---- Changes ---- */

static GraphStep *find_step(GraphExec *exec, CUgraphNode node) {
    for (size_t i = 0; exec && i < exec->count; i++) {
        if (exec->steps[i].node == node) return &exec->steps[i];
    }
    return NULL;
}

/* An executable graph that can be changed, because no launch of it waits. */
static GraphExec *changeable(Call *call, CUgraphExec executable) {
    GraphExec *exec = CALL_GET(call, HANDLE_GRAPH_EXEC, executable);
    if (exec && exec->users) stream_queue_drain(call);
    if (!exec || !exec->users) return exec;
    driver_say("error: an executable graph cannot be changed while a launch of it waits for a word "
               "of memory");
    return NULL;
}

/* The step of a node that still exists. */
static GraphStep *step_of(Call *call, CUgraphExec executable, CUgraphNode node) {
    if (!CALL_GET(call, HANDLE_GRAPH_NODE, node)) return NULL;
    return find_step(changeable(call, executable), node);
}

CUresult graph_exec_set(CUgraphExec executable, CUgraphNode node, WorkGiven given) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    GraphStep *step = step_of(&call, executable, node);
    status = step ? work_replace(&call, &step->work, given) : CUDA_ERROR_INVALID_VALUE;
    return call_end(&call, status);
}

/* Kernels, copies and fills can be disabled in launches. */
static bool can_disable(const GraphStep *step) {
    return step && step->work.type <= CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node,
                                       unsigned int is_enabled) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    GraphStep *step = step_of(&call, executable, node);
    if (!can_disable(step)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    step->is_enabled = is_enabled != 0;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node,
                                       unsigned int *is_enabled) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const GraphStep *step = step_of(&call, executable, node);
    if (!can_disable(step) || !is_enabled) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *is_enabled = step->is_enabled;
    return call_end(&call, CUDA_SUCCESS);
}

static bool is_memory(CUgraphNodeType type) {
    return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

/* Whether two conditional steps have graphs of the same number of steps. */
static bool are_alike(const GraphStep *to, const GraphStep *from) {
    const Branch *a = &to->work.branch, *b = &from->work.branch;
    if (to->work.type != CU_GRAPH_NODE_TYPE_CONDITIONAL) return true;
    return a->type == b->type && a->count == b->count &&
           memcmp(to->branch_counts, from->branch_counts, a->count * sizeof *to->branch_counts) ==
               0;
}

/* Whether a step of an executable graph can be replaced by that of another:
 * CU_GRAPH_EXEC_UPDATE_SUCCESS, or the reason why not. */
static CUgraphExecUpdateResult compare(const GraphStep *to, const GraphStep *from) {
    if (to->work.type != from->work.type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (to->inside != from->inside || to->before_count != from->before_count ||
        memcmp(to->before, from->before, to->before_count * sizeof *to->before) != 0 ||
        memcmp(to->edges, from->edges, to->before_count * sizeof *to->edges) != 0 ||
        !are_alike(to, from))
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (is_memory(to->work.type) && to->work.memory != from->work.memory)
        return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    if (work_is_cooperative(&to->work) != work_is_cooperative(&from->work))
        return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Whether the `count` steps from `place` on can be replaced by those of `from`; if not, says
 * why. */
static bool is_same_shape(const GraphExec *to, size_t place, size_t count, const GraphExec *from,
                          CUgraphExecUpdateResultInfo *result) {
    *result =
        (CUgraphExecUpdateResultInfo){CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL};
    if (count != from->count) return false;
    result->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    for (size_t i = 0; i < count && result->result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++) {
        result->result = compare(&to->steps[place + i], &from->steps[i]);
        if (result->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) result->errorNode = from->steps[i].node;
    }
    return result->result == CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Takes over the work of another graph of the same shape; the handles of its nodes stay. */
static CUresult update(Call *call, GraphExec *exec, size_t place, size_t count, const Graph *graph,
                       CUgraphExecUpdateResultInfo *result) {
    GraphExec other = {0};
    bool is_right = add_steps(call->driver, &other, graph);
    *result = (CUgraphExecUpdateResultInfo){CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL};
    if (is_right) is_right = is_same_shape(exec, place, count, &other, result);
    for (size_t i = 0; is_right && i < count; i++) {
        GraphWork before = exec->steps[place + i].work;
        exec->steps[place + i].work = other.steps[i].work;
        other.steps[i].work = before;
    }
    free_steps(call->driver, &other);
    return is_right ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec executable, CUgraph handle,
                                   CUgraphExecUpdateResultInfo *result) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    GraphExec *exec = changeable(&call, executable);
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!exec || !graph || !result) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, update(&call, exec, 0, exec->count, graph, result));
}

CUresult CUDAAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                    CUgraph child) {
    Call call;
    CUgraphExecUpdateResultInfo result;
    CUresult status = call_begin(&call);
    if (status) return status;
    GraphExec *exec = CALL_GET(&call, HANDLE_GRAPH_EXEC, executable);
    const GraphStep *step = step_of(&call, executable, node);
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, child);
    if (!step || !graph || step->work.type != CU_GRAPH_NODE_TYPE_GRAPH)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    size_t place = (size_t)(step - exec->steps) + 1;
    return call_end(&call, update(&call, exec, place, step->inside, graph, &result));
}
