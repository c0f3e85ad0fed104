/* Capture: work in a stream becomes nodes of a graph instead of being executed.
 *
 * A captured stream keeps its tail, the nodes that its next node depends on. An event that is
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

static void tail_set(Tail *tail, const CUgraphNode *nodes, size_t count) {
    CUgraphNode *items = base_malloc((count + 1) * sizeof *items);
    if (count) memcpy(items, nodes, count * sizeof *items);
    free(tail->nodes);
    *tail = (Tail){items, count};
}

static void tail_add(Tail *tail, CUgraphNode node) {
    for (size_t i = 0; i < tail->count; i++) {
        if (tail->nodes[i] == node) return;
    }
    tail->nodes = base_realloc(tail->nodes, (tail->count + 1) * sizeof *tail->nodes);
    tail->nodes[tail->count++] = node;
}

/* Removes nodes that the program has destroyed. */
static void tail_refresh(const Call *call, Tail *tail) {
    size_t count = 0;
    for (size_t i = 0; i < tail->count; i++) {
        if (CALL_GET(call, HANDLE_GRAPH_NODE, tail->nodes[i]))
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
    free(stream->tail.nodes);
    stream->tail = (Tail){NULL, 0};
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
    free(((Event *)object)->tail.nodes);
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

/* Adds a node after everything that the stream has captured. */
static CUresult take(Call *call, Stream *stream, WorkGiven given) {
    GraphWork work;
    CUgraphNode node;
    Capture *capture = stream->capture;
    if (capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    Graph *graph = CALL_GET(call, HANDLE_GRAPH, capture->graph);
    CUresult status = work_make(call, given, &work);
    if (status) return invalidate(capture, status);
    tail_refresh(call, &stream->tail);
    status = graph_add(call, graph, stream->tail.nodes, stream->tail.count, &work, &node);
    if (status == CUDA_SUCCESS) tail_set(&stream->tail, &node, 1);
    return status;
}

CUresult capture_take(CUstream handle, WorkGiven given, bool *is_taken) {
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
    return call_end(&call, take(&call, stream, given));
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
        return take(call, stream, (WorkGiven){CU_GRAPH_NODE_TYPE_EVENT_RECORD, handle, NULL});
    tail_refresh(call, &stream->tail);
    event->capture_id = stream->capture->id;
    tail_set(&event->tail, stream->tail.nodes, stream->tail.count);
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
        tail_add(&stream->tail, event->tail.nodes[i]);
    return CUDA_SUCCESS;
}

CUresult capture_wait(Call *call, CUstream in, Event *event, CUevent handle, unsigned flags) {
    Stream *stream = CALL_GET(call, HANDLE_STREAM, in);
    Capture *capture = event->capture_id ? find(call->driver, event->capture_id) : NULL;
    if (stream && stream->capture && flags)
        return take(call, stream, (WorkGiven){CU_GRAPH_NODE_TYPE_WAIT_EVENT, handle, NULL});
    if (capture && !stream) return invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    if (capture) return join(call, stream, event, capture);
    if (event->capture_id) return CUDA_ERROR_CAPTURED_EVENT; /* the event's capture is over */
    if (stream && stream->capture)
        return invalidate(stream->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    stream_queue_advance(call);
    if (stream_queue_has(call->driver, event->point))
        stream_queue_add(call, in,
                         (StreamQueueItem){.kind = STREAM_QUEUE_EVENT, .awaited = event->point});
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
    tail_set(&stream->tail, NULL, 0);
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
        !graph_are_dependencies(&call, graph, dependencies, count) ||
        (edges && !graph_edges_are_ordinary(edges, count)))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Capture *capture = capture_new(&call, stream, graph);
    capture->mode = mode;
    capture->origin = handle;
    capture->is_borrowed = true;
    tail_set(&stream->tail, dependencies, count);
    return call_end(&call, CUDA_SUCCESS);
}

/* Whether everything captured precedes the stream's tail. */
static bool is_joined(const Graph *graph, size_t first, const Stream *stream) {
    for (size_t i = first; i < graph->nodes.count; i++) {
        const GraphNode *node = graph->nodes.items[i];
        bool is_in = node->after.count > 0;
        for (size_t j = 0; j < stream->tail.count && !is_in; j++)
            is_in = stream->tail.nodes[j] == node->handle;
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
    else if (!is_joined(made, capture->first, stream)) status = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
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
    if (!capture_status) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Stream *stream = CALL_GET(&call, HANDLE_STREAM, handle);
    if (!stream && handle != CU_STREAM_PER_THREAD) status = check_legacy(&call);
    const Capture *capture = stream ? stream->capture : NULL;
    *capture_status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!capture) return call_end(&call, status);
    *capture_status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    if (capture->is_invalid) return call_end(&call, CUDA_SUCCESS);
    *capture_status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    tail_refresh(&call, &stream->tail);
    if (id) *id = capture->id;
    if (graph) *graph = capture->graph;
    if (dependencies) *dependencies = stream->tail.nodes;
    if (edges) *edges = NULL; /* all edges are ordinary */
    if (count) *count = stream->tail.count;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    return cuStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL, NULL);
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
    if ((count && !dependencies) || edges || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        const GraphNode *node = CALL_GET(&call, HANDLE_GRAPH_NODE, dependencies[i]);
        if (!node || node->graph->handle != stream->capture->graph)
            return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    }
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->tail.count = 0;
    for (size_t i = 0; i < count; i++)
        tail_add(&stream->tail, dependencies[i]);
    return call_end(&call, CUDA_SUCCESS);
}
