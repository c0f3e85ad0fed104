/* Capture: work in a stream becomes nodes of a graph instead of being executed.
 *
 * A captured stream keeps its tail, the nodes that its next node depends on, with the data of these
 * dependencies. An event that is
 * recorded in the stream takes the tail along, and a stream that waits for the event joins the
 * capture. An error invalidates a capture: nothing more is added to it, and its end returns no
 * graph. */
#include <stdlib.h>
#include <string.h>

#include "driver/stream/stream_queue.h"

struct Capture {
    Capture *next; /* in the driver */
    CUgraph graph;
    uint64_t id;
    CUstreamCaptureMode mode;
    CUstream origin;    /* stream where it began and must end */
    const void *thread; /* thread that began it */
    size_t first;       /* index of the first node that it adds; earlier nodes existed before */
    bool is_borrowed;   /* the graph belongs to the program */
    bool is_invalid;
};

/* Its address identifies a thread. */
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/* ---- Tails ---- */

static void tail_free(Tail *tail) {
    free(tail->nodes);
    free(tail->edges);
    *tail = (Tail){0};
}

/* `edges` may be NULL: ordinary dependencies. */
static void tail_set(Tail *tail, const CUgraphNode *nodes, const CUgraphEdgeData *edges,
                     size_t count) {
    const Tail made = {base_malloc((count + 1) * sizeof *nodes),
                       base_calloc(count + 1, sizeof *edges), count, NULL};
    if (count) memcpy(made.nodes, nodes, count * sizeof *nodes);
    if (count && edges) memcpy(made.edges, edges, count * sizeof *edges);
    tail_free(tail);
    *tail = made;
}

/* Of two dependencies on one kernel, the one that is fulfilled later; if both are at the same time,
 * the one that griddepcontrol.wait knows. */
static CUgraphEdgeData later(CUgraphEdgeData a, CUgraphEdgeData b) {
    static const int order[] = {[CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER] = 0,
                                [CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC] = 1,
                                [CU_GRAPH_KERNEL_NODE_PORT_DEFAULT] = 2};
    const int of_a = order[a.from_port], of_b = order[b.from_port];
    return of_a > of_b || (of_a == of_b && a.type >= b.type) ? a : b;
}

static void tail_add(Tail *tail, CUgraphNode node, CUgraphEdgeData edge) {
    for (size_t i = 0; i < tail->count; i++) {
        if (tail->nodes[i] != node) continue;
        tail->edges[i] = later(tail->edges[i], edge);
        return;
    }
    tail->nodes = base_realloc(tail->nodes, (tail->count + 1) * sizeof *tail->nodes);
    tail->edges = base_realloc(tail->edges, (tail->count + 1) * sizeof *tail->edges);
    tail->edges[tail->count] = edge;
    tail->nodes[tail->count++] = node;
}

static bool has_ordinary_edges(const Tail *tail) {
    for (size_t i = 0; i < tail->count; i++)
        if (!edge_is_ordinary(tail->edges[i])) return false;
    return true;
}

/* Removes nodes that the program has destroyed. */
static void tail_refresh(const Call *call, Tail *tail) {
    size_t count = 0;
    for (size_t i = 0; i < tail->count; i++) {
        if (!CALL_GET(call, HANDLE_GRAPH_NODE, tail->nodes[i])) continue;
        tail->edges[count] = tail->edges[i];
        tail->nodes[count++] = tail->nodes[i];
    }
    tail->count = count;
}

/* ---- Captures ---- */

static Capture *find(const Driver *driver, uint64_t id) {
    Capture *capture = driver->captures;
    while (capture && capture->id != id)
        capture = capture->next;
    return capture;
}

bool capture_is_of(const Driver *driver, CUgraph graph) {
    const Capture *capture = driver->captures;
    while (capture && capture->graph != graph)
        capture = capture->next;
    return capture != NULL;
}

static void leave(Stream *stream) {
    tail_free(&stream->tail);
    stream->capture = NULL;
}

/* Removes the capture from the driver and from all streams; the graph stays. */
static void end(Driver *driver, Capture *capture) {
    Capture **link = &driver->captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (uint32_t i = 0; i < driver->handles.count; i++) {
        const HandleSlot *slot = &driver->handles.slots[i];
        if (slot->kind != HANDLE_STREAM) continue;
        Stream *stream = slot->object;
        if (stream->capture == capture) leave(stream);
    }
    free(capture);
}

void captures_clear(Driver *driver, const Context *context) {
    Capture *next;
    for (Capture *capture = driver->captures; capture; capture = next) {
        next = capture->next;
        const Graph *graph =
            handles_get(&driver->handles, HANDLE_GRAPH, (uint64_t)(uintptr_t)capture->graph);
        if (graph->context == context) end(driver, capture);
    }
}

/* A capture continues if a stream that joined it is destroyed; its end checks whether the work
 * captured there precedes other work. It does not continue if the stream where it began is
 * destroyed. */
static bool has_origin(const Driver *driver, const Capture *capture) {
    return handles_get(&driver->handles, HANDLE_STREAM, (uint64_t)(uintptr_t)capture->origin);
}

void stream_free(Driver *driver, void *object) {
    Stream *stream = object;
    Capture *capture = stream->capture;
    if (capture && !has_origin(driver, capture)) capture->is_invalid = true;
    leave(stream);
    attributes_free(&stream->attributes);
    free(stream);
    if (!capture) return;
    for (uint32_t i = 0; i < driver->handles.count; i++) {
        const HandleSlot *slot = &driver->handles.slots[i];
        if (slot->kind == HANDLE_STREAM && ((Stream *)slot->object)->capture == capture) return;
    }
    void *graph = handles_get(&driver->handles, HANDLE_GRAPH, (uint64_t)(uintptr_t)capture->graph);
    bool is_ours = !capture->is_borrowed;
    end(driver, capture);
    if (is_ours) graph_free(driver, graph);
}

void event_free(Driver *driver, void *object) {
    (void)driver;
    tail_free(&((Event *)object)->tail);
    free(object);
}

static CUresult invalidate(Capture *capture, CUresult status) {
    capture->is_invalid = true;
    return status;
}

/* ---- Calls during a capture ---- */

/* Work in the legacy default stream waits for all blocking streams, and a captured stream does not
 * allow that. */
static CUresult check_legacy(const Call *call) {
    CUresult status = CUDA_SUCCESS;
    for (uint32_t i = 0; call->driver->captures && i < call->driver->handles.count; i++) {
        const HandleSlot *slot = &call->driver->handles.slots[i];
        if (slot->kind != HANDLE_STREAM) continue;
        const Stream *stream = slot->object;
        if (stream->capture && !(stream->flags & CU_STREAM_NON_BLOCKING))
            status = invalidate(stream->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    return status;
}

CUresult call_begin_legacy(Call *call) {
    CUresult status = call_begin(call);
    if (status) return status;
    status = check_legacy(call);
    if (status == CUDA_SUCCESS) status = stream_queue_wait_legacy(call);
    return status ? call_end(call, status) : CUDA_SUCCESS;
}

/* Whether a capture forbids the calling thread calls that could wait for a captured stream. */
static bool forbids_unsafe(const Capture *capture) {
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
        capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == &thread_mode) return true;
    return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult call_begin_unsafe(Call *call) {
    CUresult status = call_begin(call);
    if (status) return status;
    for (Capture *capture = call->driver->captures; capture; capture = capture->next) {
        if (forbids_unsafe(capture))
            status = invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    return status ? call_end(call, status) : CUDA_SUCCESS;
}

CUresult call_begin_all(Call *call) {
    CUresult status = call_begin(call);
    if (status) return status;
    for (Capture *capture = call->driver->captures; capture; capture = capture->next) {
        const Graph *graph = CALL_GET(call, HANDLE_GRAPH, capture->graph);
        if (graph->context == call->context)
            status = invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    return status ? call_end(call, status) : CUDA_SUCCESS;
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult capture_refuse(CUstream handle, const char *what) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!stream_is_valid(&call, handle)) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    const Stream *stream = CALL_GET(&call, HANDLE_STREAM, handle);
    if (!stream && handle != CU_STREAM_PER_THREAD) status = check_legacy(&call);
    if (!stream || !stream->capture) return call_end(&call, status);
    call_end(&call, invalidate(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
    if (what) return driver_missing(what);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- Capturing ---- */

/* Whether a launch's dependency on a node of the tail becomes programmatic: the node is the kernel
 * before it in its stream. */
static bool is_serial(const Call *call, const Tail *tail, size_t i, const LaunchShape *launch) {
    const GraphNode *node = CALL_GET(call, HANDLE_GRAPH_NODE, tail->nodes[i]);
    return launch && launch->is_dependent && tail->nodes[i] == tail->own &&
           node->work.type == CU_GRAPH_NODE_TYPE_KERNEL && edge_is_ordinary(tail->edges[i]);
}

/* The data of a node's dependency on a node of the tail. Only kernels have programmatic ones. */
static CUgraphEdgeData edge_to(const Call *call, const Tail *tail, size_t i, CUgraphNodeType type,
                               const LaunchShape *launch) {
    static const CUgraphEdgeData ordinary,
        programmatic = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                        .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    if (is_serial(call, tail, i, launch)) return programmatic;
    return type == CU_GRAPH_NODE_TYPE_KERNEL ? tail->edges[i] : ordinary;
}

/* Adds a node with dependencies on the tail. */
static CUresult add_after(Call *call, Graph *graph, const Tail *tail, const LaunchShape *launch,
                          GraphWork *work, CUgraphNode *node) {
    CUgraphEdgeData *edges = base_calloc(tail->count + 1, sizeof *edges);
    for (size_t i = 0; i < tail->count; i++)
        edges[i] = edge_to(call, tail, i, work->type, launch);
    CUresult status = graph_add(call, graph, tail->nodes, edges, tail->count, work, node);
    for (size_t i = 0; i < tail->count && status == CUDA_SUCCESS; i++)
        if (is_serial(call, tail, i, launch))
            edge_set_serial(CALL_GET(call, HANDLE_GRAPH_NODE, tail->nodes[i]),
                            CALL_GET(call, HANDLE_GRAPH_NODE, *node));
    free(edges);
    return status;
}

/* Records the events of a captured launch. */
static void record_launch(const Call *call, const Capture *capture, const LaunchShape *launch,
                          CUgraphNode node) {
    for (int i = 0; launch && i < LAUNCH_EVENTS; i++) {
        Event *event = CALL_GET(call, HANDLE_EVENT, launch->events[i].event);
        if (!event) continue;
        event->capture_id = capture->id;
        tail_set(&event->tail, &node, &launch->events[i].edge, 1);
    }
}

/* Adds a node after everything that the stream has captured. */
static CUresult take(Call *call, Stream *stream, WorkGiven given, const LaunchShape *launch) {
    GraphWork work;
    CUgraphNode node;
    Capture *capture = stream->capture;
    if (capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    Graph *graph = CALL_GET(call, HANDLE_GRAPH, capture->graph);
    CUresult status = work_make(call, given, &work);
    if (status) return invalidate(capture, status);
    tail_refresh(call, &stream->tail);
    status = add_after(call, graph, &stream->tail, launch, &work, &node);
    if (status) return status;
    tail_set(&stream->tail, &node, NULL, 1);
    stream->tail.own = node;
    record_launch(call, capture, launch, node);
    return CUDA_SUCCESS;
}

CUresult capture_take_launch(CUstream handle, WorkGiven given, const LaunchShape *launch,
                             bool *is_taken) {
    Call call;
    *is_taken = false;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!stream_is_valid(&call, handle)) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    Stream *stream = CALL_GET(&call, HANDLE_STREAM, handle);
    if (!stream && handle != CU_STREAM_PER_THREAD) status = check_legacy(&call);
    if (!stream || !stream->capture) {
        if (status == CUDA_SUCCESS && given.type != CU_GRAPH_NODE_TYPE_KERNEL)
            status = stream_queue_take(&call, handle, given, is_taken);
        return call_end(&call, status);
    }
    *is_taken = true;
    return call_end(&call, take(&call, stream, given, launch));
}

CUresult capture_take(CUstream stream, WorkGiven given, bool *is_taken) {
    return capture_take_launch(stream, given, NULL, is_taken);
}

CUresult capture_record(Call *call, Event *event, CUevent handle, CUstream in, unsigned flags) {
    Stream *stream = CALL_GET(call, HANDLE_STREAM, in);
    if (!stream && in != CU_STREAM_PER_THREAD) {
        CUresult status = check_legacy(call);
        if (status) return status;
    }
    if (!stream || !stream->capture) {
        event->capture_id = 0;
        return stream_queue_record(call, in, event, handle);
    }
    if (stream->capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (flags)
        return take(call, stream, (WorkGiven){CU_GRAPH_NODE_TYPE_EVENT_RECORD, handle, NULL}, NULL);
    tail_refresh(call, &stream->tail);
    event->capture_id = stream->capture->id;
    tail_set(&event->tail, stream->tail.nodes, stream->tail.edges, stream->tail.count);
    return CUDA_SUCCESS;
}

/* `stream` continues after the event, which belongs to `capture`. */
static CUresult join(Call *call, Stream *stream, Event *event, Capture *capture) {
    if (capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture && stream->capture != capture) {
        stream->capture->is_invalid = true;
        return invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    tail_refresh(call, &event->tail);
    stream->capture = capture;
    for (size_t i = 0; i < event->tail.count; i++)
        tail_add(&stream->tail, event->tail.nodes[i], event->tail.edges[i]);
    return CUDA_SUCCESS;
}

CUresult capture_wait(Call *call, CUstream in, Event *event, CUevent handle, unsigned flags) {
    Stream *stream = CALL_GET(call, HANDLE_STREAM, in);
    Capture *capture = event->capture_id ? find(call->driver, event->capture_id) : NULL;
    if (stream && stream->capture && flags)
        return take(call, stream, (WorkGiven){CU_GRAPH_NODE_TYPE_WAIT_EVENT, handle, NULL}, NULL);
    if (capture && !stream) return invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    if (capture) return join(call, stream, event, capture);
    if (event->capture_id) return CUDA_ERROR_CAPTURED_EVENT; /* the event's capture is over */
    if (stream && stream->capture)
        return invalidate(stream->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    stream_queue_advance(call);
    if (stream_queue_has(call->driver, event->point))
        stream_queue_add(call, in,
                         (StreamQueueItem){.kind = STREAM_QUEUE_EVENT,
                                           .awaited = event->point,
                                           .edge = event->edge});
    return CUDA_SUCCESS;
}

CUresult capture_check_event(const Call *call, const Event *event) {
    if (!event->capture_id) return CUDA_SUCCESS;
    Capture *capture = find(call->driver, event->capture_id);
    if (capture) capture->is_invalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

/* ---- Begin and end ---- */

/* Begins a call that starts a capture of *stream. */
static CUresult begin_capture(Call *call, CUstream handle, CUstreamCaptureMode mode,
                              Stream **stream) {
    *stream = NULL;
    if (handle == CU_STREAM_PER_THREAD)
        return driver_missing("cuStreamBeginCapture of the thread's default stream");
    CUresult status = call_begin(call);
    if (status) return status;
    if (!stream_is_valid(call, handle)) return call_end(call, CUDA_ERROR_INVALID_HANDLE);
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return call_end(call, CUDA_ERROR_INVALID_VALUE);
    *stream = CALL_GET(call, HANDLE_STREAM, handle);
    if (!*stream) return call_end(call, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return (*stream)->capture ? call_end(call, CUDA_ERROR_ILLEGAL_STATE) : CUDA_SUCCESS;
}

/* Starts a capture into a graph of the program's or a new one. */
static Capture *capture_new(const Call *call, Stream *stream, const Graph *graph) {
    Capture *capture = base_calloc(1, sizeof *capture);
    capture->next = call->driver->captures;
    capture->graph = graph->handle;
    capture->id = call->driver->next_id++;
    capture->thread = &thread_mode;
    capture->first = graph->nodes.count;
    call->driver->captures = capture;
    stream->capture = capture;
    return capture;
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
    Call call;
    Stream *stream;
    CUresult status = begin_capture(&call, handle, mode, &stream);
    if (status) return status;
    Capture *capture = capture_new(&call, stream, graph_new(call.driver, call.context));
    capture->mode = mode;
    capture->origin = handle;
    tail_set(&stream->tail, NULL, NULL, 0);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamBeginCaptureToGraph(CUstream handle, CUgraph into,
                                             const CUgraphNode *dependencies,
                                             const CUgraphEdgeData *edges, size_t count,
                                             CUstreamCaptureMode mode) {
    Call call;
    Stream *stream;
    CUresult status = begin_capture(&call, handle, mode, &stream);
    if (status) return status;
    const Graph *graph = CALL_GET(&call, HANDLE_GRAPH, into);
    if (!graph || capture_is_of(call.driver, into) ||
        !graph_are_dependencies(&call, graph, dependencies, edges, count,
                                CU_GRAPH_NODE_TYPE_KERNEL))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Capture *capture = capture_new(&call, stream, graph);
    capture->mode = mode;
    capture->origin = handle;
    capture->is_borrowed = true;
    tail_set(&stream->tail, dependencies, edges, count);
    return call_end(&call, CUDA_SUCCESS);
}

/* Whether a node ends before another node. A dependency that does not wait for its end does not
 * count, unless both are in one stream (CUDA Programming Guide, CUDA Graphs, Edge Data). */
static bool is_followed(const GraphNode *node) {
    for (size_t i = 0; i < node->after.count; i++) {
        const GraphEdge *edge = &node->after.items[i];
        if (edge->is_serial || edge_is_ordinary(edge->data)) return true;
    }
    return false;
}

/* Whether everything captured ends before the stream's tail. */
static bool is_joined(const Graph *graph, size_t first, const Tail *tail) {
    if (!has_ordinary_edges(tail)) return false;
    for (size_t i = first; i < graph->nodes.count; i++) {
        const GraphNode *node = graph->nodes.items[i];
        bool is_in = node->can_dangle || is_followed(node);
        for (size_t j = 0; j < tail->count && !is_in; j++)
            is_in = tail->nodes[j] == node->handle;
        if (!is_in) return false;
    }
    return true;
}

CUresult CUDAAPI cuStreamEndCapture(CUstream handle, CUgraph *graph) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Stream *stream = CALL_GET(&call, HANDLE_STREAM, handle);
    const bool is_own = stream && stream->capture && stream->capture->is_borrowed;
    if (!graph && !is_own) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (graph) *graph = NULL;
    if (!stream_is_valid(&call, handle)) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (!stream || !stream->capture) return call_end(&call, CUDA_ERROR_ILLEGAL_STATE);
    Capture *capture = stream->capture;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != &thread_mode)
        return call_end(&call, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    if (capture->origin != handle)
        return call_end(&call, invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
    Graph *made = CALL_GET(&call, HANDLE_GRAPH, capture->graph);
    tail_refresh(&call, &stream->tail);
    if (capture->is_invalid) status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!is_joined(made, capture->first, &stream->tail))
        status = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    bool is_ours = !capture->is_borrowed;
    end(call.driver, capture);
    if (status == CUDA_SUCCESS && graph) *graph = made->handle;
    if (status != CUDA_SUCCESS && is_ours) graph_free(call.driver, made);
    return call_end(&call, status);
}

/* ---- Queries ---- */

CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *capture_status,
                                        cuuint64_t *id, CUgraph *graph,
                                        const CUgraphNode **dependencies,
                                        const CUgraphEdgeData **edges, size_t *count) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!stream_is_valid(&call, handle)) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (!capture_status || (edges && !dependencies))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Stream *stream = CALL_GET(&call, HANDLE_STREAM, handle);
    if (!stream && handle != CU_STREAM_PER_THREAD) status = check_legacy(&call);
    const Capture *capture = stream ? stream->capture : NULL;
    *capture_status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!capture) return call_end(&call, status);
    *capture_status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    if (capture->is_invalid) return call_end(&call, CUDA_SUCCESS);
    *capture_status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    tail_refresh(&call, &stream->tail);
    if (dependencies && !edges && !has_ordinary_edges(&stream->tail))
        return call_end(&call, CUDA_ERROR_LOSSY_QUERY);
    if (id) *id = capture->id;
    if (graph) *graph = capture->graph;
    if (dependencies) *dependencies = stream->tail.nodes;
    if (edges) *edges = stream->tail.edges;
    if (count) *count = stream->tail.count;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    return cuStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL, NULL);
}

/* Nodes that a program takes out of a tail need not be joined at the end of the capture (CUDA
 * Driver API, cuStreamUpdateCaptureDependencies). */
static void release_tail(const Call *call, Tail *tail) {
    tail_refresh(call, tail);
    for (size_t i = 0; i < tail->count; i++)
        ((GraphNode *)CALL_GET(call, HANDLE_GRAPH_NODE, tail->nodes[i]))->can_dangle = true;
    tail->count = 0;
    tail->own = NULL;
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *dependencies,
                                                   const CUgraphEdgeData *edges, size_t count,
                                                   unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Stream *stream = CALL_GET(&call, HANDLE_STREAM, handle);
    if (!stream_is_valid(&call, handle)) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (!stream || !stream->capture) return call_end(&call, CUDA_ERROR_ILLEGAL_STATE);
    if (stream->capture->is_invalid) return call_end(&call, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if ((count && !dependencies) || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        const GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, dependencies[i]);
        if (!node || node->graph->handle != stream->capture->graph ||
            (edges && !edge_may_leave(edges[i], node->work.type)))
            return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    }
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) release_tail(&call, &stream->tail);
    for (size_t i = 0; i < count; i++)
        tail_add(&stream->tail, dependencies[i], edges ? edges[i] : (CUgraphEdgeData){0});
    return call_end(&call, CUDA_SUCCESS);
}
