/* Conditional nodes of graphs: if, while and switch over a condition that kernels set. Each node
 * has its own graphs, which are empty at first and which the program fills. */
#include "driver/graph/graph.h"

#include <stdlib.h>

void conditional_free(Driver *driver, void *object) {
    (void)driver;
    free(object);
}

CUresult CUDAAPI cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                                CUcontext context, unsigned int first,
                                                unsigned int flags) {
    (void)context; /* all contexts are on one device */
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!handle || flags > CU_GRAPH_COND_ASSIGN_DEFAULT || !CALL_GET(&call, HANDLE_GRAPH, graph))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Conditional *made = base_calloc(1, sizeof *made);
    *made = (Conditional){.context = call.context,
                          .graph = graph,
                          .first = first,
                          .has_first = flags == CU_GRAPH_COND_ASSIGN_DEFAULT};
    *handle = (uintptr_t)driver_add(call.driver, HANDLE_CONDITIONAL, made);
    return call_end(&call, CUDA_SUCCESS);
}

/* A kernel's cudaGraphSetConditional; returns false if there is no such condition. */
bool conditional_set(void *driver, uint64_t handle, uint32_t value) {
    Conditional *conditional =
        handles_get(&((Driver *)driver)->handles, HANDLE_CONDITIONAL, handle);
    if (conditional) conditional->value = value;
    return conditional != NULL;
}

bool conditionals_have_nodes(const Call *call, const Graph *graph) {
    for (uint32_t i = 0; i < call->driver->handles.count; i++) {
        const HandleSlot *slot = &call->driver->handles.slots[i];
        if (slot->kind != HANDLE_CONDITIONAL) continue;
        const Conditional *conditional = slot->object;
        if (conditional->graph == graph->handle && !conditional->has_node) {
            driver_say("error: a graph cannot be instantiated: it has a conditional handle that no "
                       "node uses");
            return false;
        }
    }
    return true;
}

static bool is_right(const CUDA_CONDITIONAL_NODE_PARAMS *given) {
    switch ((int)given->type) {
    case CU_GRAPH_COND_TYPE_IF: return given->size == 1 || given->size == 2;
    case CU_GRAPH_COND_TYPE_WHILE: return given->size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH: return given->size >= 1;
    default: return false;
    }
}

CUresult branch_make(const Call *call, const CUDA_CONDITIONAL_NODE_PARAMS *given, Branch *branch) {
    Conditional *conditional = CALL_GET(call, HANDLE_CONDITIONAL, given->handle);
    if (!conditional || conditional->has_node || !is_right(given)) return CUDA_ERROR_INVALID_VALUE;
    conditional->has_node = true;
    *branch = (Branch){.conditional = conditional, .type = given->type, .count = given->size};
    branch->graphs = base_calloc(given->size, sizeof *branch->graphs);
    branch->handles = base_calloc(given->size, sizeof *branch->handles);
    for (uint32_t i = 0; i < given->size; i++) {
        branch->graphs[i] = graph_new(call->driver, call->context);
        branch->graphs[i]->is_child = branch->graphs[i]->is_branch = true;
        branch->handles[i] = branch->graphs[i]->handle;
    }
    return CUDA_SUCCESS;
}

void branch_free(Driver *driver, Branch *branch) {
    if (branch->graphs) branch->conditional->has_node = false;
    for (uint32_t i = 0; branch->graphs && i < branch->count; i++)
        graph_free(driver, branch->graphs[i]);
    free(branch->graphs);
    free(branch->handles);
}

uint32_t branch_choice(const Branch *branch) {
    uint32_t value = branch->conditional->value;
    uint32_t choice = branch->type == CU_GRAPH_COND_TYPE_SWITCH ? value : value ? 0 : 1;
    return choice < branch->count ? choice : branch->count;
}
