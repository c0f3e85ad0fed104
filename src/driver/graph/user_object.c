/* User objects: reference-counted objects that a program passes to graphs, with a destructor. The
 * destructor is called after the driver is unlocked. */
#include "driver/graph/graph.h"

#include <stdlib.h>
#include <string.h>

typedef struct UserObject {
    Context *context;
    Doomed end;
    uint64_t count; /* reference count */
} UserObject;

void user_object_free(Driver *driver, void *object) {
    (void)driver;
    free(object);
}

/* Drops references; the object is destroyed with the last one. */
static void drop(Driver *driver, CUuserObject handle, uint32_t count) {
    UserObject *object =
        handles_get(&driver->handles, HANDLE_USER_OBJECT, (uint64_t)(uintptr_t)handle);
    if (!object || (object->count -= count)) return;
    Doomed *doomed = base_malloc(sizeof *doomed);
    *doomed = object->end;
    doomed->next = driver->doomed;
    driver->doomed = doomed;
    handles_remove(&driver->handles, HANDLE_USER_OBJECT, (uint64_t)(uintptr_t)handle);
    free(object);
}

CUresult CUDAAPI cuUserObjectCreate(CUuserObject *object, void *pointer, CUhostFn destroy,
                                    unsigned int count, unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!object || !destroy || !count || count > INT32_MAX ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    UserObject *made = base_calloc(1, sizeof *made);
    *made = (UserObject){call.context, {destroy, pointer, NULL}, count};
    *object = driver_add(call.driver, HANDLE_USER_OBJECT, made);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuUserObjectRetain(CUuserObject handle, unsigned int count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    UserObject *object = CALL_GET(&call, HANDLE_USER_OBJECT, handle);
    if (!object || !count || count > INT32_MAX) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    object->count += count;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuUserObjectRelease(CUuserObject handle, unsigned int count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const UserObject *object = CALL_GET(&call, HANDLE_USER_OBJECT, handle);
    if (!object || !count || count > object->count)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    drop(call.driver, handle, count);
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- References of a graph ---- */

static Held *find(const HeldList *held, CUuserObject object) {
    for (size_t i = 0; i < held->count; i++) {
        if (held->items[i].object == object) return &held->items[i];
    }
    return NULL;
}

static void add(HeldList *held, Held more) {
    Held *old = find(held, more.object);
    if (old) {
        old->count += more.count;
        return;
    }
    held->items = base_realloc(held->items, (held->count + 1) * sizeof *held->items);
    held->items[held->count++] = more;
}

HeldList held_copy(Driver *driver, const HeldList *held) {
    HeldList copy = {NULL, 0};
    for (size_t i = 0; i < held->count; i++) {
        UserObject *object = handles_get(&driver->handles, HANDLE_USER_OBJECT,
                                         (uint64_t)(uintptr_t)held->items[i].object);
        if (!object) continue;
        object->count += held->items[i].count;
        add(&copy, held->items[i]);
    }
    return copy;
}

void held_free(Driver *driver, HeldList *held) {
    for (size_t i = 0; i < held->count; i++)
        drop(driver, held->items[i].object, held->items[i].count);
    free(held->items);
    *held = (HeldList){NULL, 0};
}

CUresult CUDAAPI cuGraphRetainUserObject(CUgraph handle, CUuserObject object, unsigned int count,
                                         unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    UserObject *found = CALL_GET(&call, HANDLE_USER_OBJECT, object);
    bool is_moved = flags == CU_GRAPH_USER_OBJECT_MOVE;
    if (!graph || !found || !count || count > INT32_MAX || flags > CU_GRAPH_USER_OBJECT_MOVE ||
        (is_moved && count > found->count))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!is_moved) found->count += count;
    add(&graph->held, (Held){object, count});
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphReleaseUserObject(CUgraph handle, CUuserObject object, unsigned int count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, handle);
    Held *held = graph ? find(&graph->held, object) : NULL;
    if (!held || !count || count > held->count) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    held->count -= count;
    drop(call.driver, object, count);
    return call_end(&call, CUDA_SUCCESS);
}
