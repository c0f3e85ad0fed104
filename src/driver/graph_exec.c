/* Executable graphs: a graph's nodes, and those of its child graphs, in the order in which a launch
 * does them: of the nodes whose dependencies are done, always the one that was created first. */
#include "driver/graph.h"

#include <stdlib.h>
#include <string.h>

/* Flags that change nothing here. */
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

/* Adds a node, whose dependencies have their steps in `places`. */
static bool add_node(Driver *driver, GraphExec *exec, const GraphNode *node, size_t *places) {
    size_t place = places[node->index] = exec->count;
    GraphStep *step = add_step(exec);
    step->node = node->handle;
    step->before_count = node->before.count;
    step->before = base_calloc(node->before.count + 1, sizeof *step->before);
    for (size_t i = 0; i < node->before.count; i++)
        step->before[i] = place - places[node->before.items[i]->index];
    if (node->work.type != CU_GRAPH_NODE_TYPE_GRAPH) {
        step->work = work_copy(driver, &node->work);
        return true;
    }
    step->work.type = CU_GRAPH_NODE_TYPE_GRAPH;
    bool is_right = add_steps(driver, exec, node->work.child);
    exec->steps[place].inside = exec->count - place - 1;
    return is_right;
}

/* Adds the steps of a graph; false when its dependencies have a cycle. */
static bool add_steps(Driver *driver, GraphExec *exec, const Graph *graph) {
    size_t count = graph->nodes.count, done = 0, next = 0;
    size_t *waits = base_calloc(count + 1, sizeof *waits); /* for dependencies; SIZE_MAX: done */
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
            size_t after = node->after.items[i]->index;
            if (--waits[after] == 0 && after < next) next = after;
        }
    }
    free(waits);
    free(places);
    return is_right && done == count;
}

static void free_steps(Driver *driver, GraphExec *exec) {
    for (size_t i = 0; i < exec->count; i++) {
        work_free(driver, &exec->steps[i].work);
        free(exec->steps[i].before);
    }
    free(exec->steps);
}

void graph_exec_free(Driver *driver, void *object) {
    free_steps(driver, object);
    free(object);
}

/* ---- Instances ---- */

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *executable, CUgraph handle,
                                    unsigned long long flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    if (!executable || !graph || capture_is_of(call.driver, handle) ||
        flags & ~(unsigned long long)GRAPH_FLAGS)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    GraphExec *exec = base_calloc(1, sizeof *exec);
    exec->context = call.context;
    exec->flags = flags;
    if (!add_steps(call.driver, exec, graph)) {
        driver_say("error: a graph cannot be instantiated: its dependencies have a cycle");
        graph_exec_free(call.driver, exec);
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    }
    *executable = driver_add(call.driver, HANDLE_GRAPH_EXEC, exec);
    return call_end(&call, CUDA_SUCCESS);
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

/* Calls a host function, for which the simulator is unlocked: it may do anything, even destroy the
 * graph. False when the launch cannot go on; *status says why. */
static bool call_host(Call *call, CUDA_HOST_NODE_PARAMS host, CUresult *status) {
    call_end(call, CUDA_SUCCESS);
    host.fn(host.userData);
    *status = call_begin(call);
    return *status == CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec executable, CUstream stream) {
    Call call;
    CUresult status = capture_refuse(stream, "cuGraphLaunch in a stream that is captured");
    if (status == CUDA_SUCCESS) status = call_begin(&call);
    if (status) return status;
    GraphExec *exec = CALL_GET(&call, HANDLE_GRAPH_EXEC, executable);
    if (!exec) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < exec->count && status == CUDA_SUCCESS; i++) {
        const GraphStep *step = &exec->steps[i];
        if (!step->is_enabled) continue;
        if (step->work.type != CU_GRAPH_NODE_TYPE_HOST) {
            status = work_run(&call, &step->work);
            continue;
        }
        if (!call_host(&call, step->work.host, &status)) return status;
        exec = CALL_GET(&call, HANDLE_GRAPH_EXEC, executable);
        if (!exec) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    }
    return call_end(&call, status);
}

/* There is nothing to prepare. */
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

/* The step of a node that is still there. */
static GraphStep *step_of(const Call *call, CUgraphExec executable, CUgraphNode node) {
    if (!CALL_GET(call, HANDLE_GRAPH_NODE, node)) return NULL;
    return find_step(CALL_GET(call, HANDLE_GRAPH_EXEC, executable), node);
}

CUresult graph_exec_set(CUgraphExec executable, CUgraphNode node, WorkGiven given) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    GraphStep *step = step_of(&call, executable, node);
    status = step ? work_replace(&call, &step->work, given) : CUDA_ERROR_INVALID_VALUE;
    return call_end(&call, status);
}

/* Kernels, copies and fillings can be left out of launches. */
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

/* Why step i of `to` cannot become that of `from`. */
static CUgraphExecUpdateResult compare(const GraphStep *to, const GraphStep *from) {
    if (to->work.type != from->work.type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (to->inside != from->inside || to->before_count != from->before_count ||
        memcmp(to->before, from->before, to->before_count * sizeof *to->before) != 0)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (to->work.is_cooperative != from->work.is_cooperative)
        return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Whether the `count` steps from `place` on can become those of `from`; says why not. */
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

/* Takes over what another graph of the same shape does; the handles of its nodes stay. */
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
    GraphExec *exec = CALL_GET(&call, HANDLE_GRAPH_EXEC, executable);
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
