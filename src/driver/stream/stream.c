/* Streams: identity, flags and priority. Their work waits in queues (stream_queue.h). */
#include "driver/stream/stream_queue.h"

#include <stdlib.h>

/* The streams that always exist: 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD. */
static bool is_default(CUstream stream) { return (uintptr_t)stream <= 2; }

/* Number of the calling thread's default stream; 0: not used yet. */
static _Thread_local uint32_t thread_stream;

GpuStreamInfo stream_info(const Call *call, CUstream handle) {
    const Stream *stream = CALL_GET(call, HANDLE_STREAM, handle);
    if (stream) return (GpuStreamInfo){stream->number, -stream->priority};
    if (handle != CU_STREAM_PER_THREAD) return (GpuStreamInfo){0, 0};
    if (!thread_stream) thread_stream = ++call->driver->last_stream;
    return (GpuStreamInfo){thread_stream, 0};
}

bool stream_is_valid(const Call *call, CUstream stream) {
    return is_default(stream) || CALL_GET(call, HANDLE_STREAM, stream);
}

CUresult stream_check(CUstream stream) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    bool is_valid = stream_is_valid(&call, stream);
    return call_end(&call, is_valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

int stream_priority(int priority) {
    if (priority > LEAST_PRIORITY) return LEAST_PRIORITY;
    return priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
}

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!stream || flags > CU_STREAM_NON_BLOCKING) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Stream *made = base_calloc(1, sizeof *made);
    made->context = call.context;
    made->flags = flags;
    made->priority = stream_priority(priority);
    made->id = call.driver->next_id++;
    made->number = ++call.driver->last_stream;
    *stream = driver_add(call.driver, HANDLE_STREAM, made);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned int flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult CUDAAPI cuStreamDestroy(CUstream handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Stream *stream =
        handles_remove(&call.driver->handles, HANDLE_STREAM, (uint64_t)(uintptr_t)handle);
    if (stream) stream_free(call.driver, stream);
    return call_end(&call, stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

CUresult CUDAAPI cuStreamQuery(CUstream stream) {
    Call call;
    CUresult status = capture_refuse(stream, NULL);
    if (status == CUDA_SUCCESS) status = call_begin(&call);
    if (status) return status;
    return call_end(&call, stream_queue_ask(&call, stream));
}

CUresult CUDAAPI cuStreamSynchronize(CUstream stream) {
    Call call;
    CUresult status = capture_refuse(stream, NULL);
    if (status == CUDA_SUCCESS) status = call_begin(&call);
    return status ? status : call_end(&call, stream_queue_wait(&call, stream));
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (flags > 1) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Event *found = CALL_GET(&call, HANDLE_EVENT, event);
    if (!found || !stream_is_valid(&call, stream))
        return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    return call_end(&call, capture_wait(&call, stream, found, event, flags));
}

CUresult CUDAAPI cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *user,
                                     unsigned int flags) {
    Call call;
    CUresult status = capture_refuse(stream, NULL);
    if (status) return status;
    if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
    status = call_begin(&call);
    if (status) return status;
    stream_queue_advance(&call);
    const bool holds = stream_queue_holds(&call, stream);
    if (holds) {
        const StreamQueueItem item = {.kind = STREAM_QUEUE_CALLBACK,
                                      .callback = {callback, stream, user}};
        stream_queue_settle(&call, stream_queue_add(&call, stream, item));
    }
    call_end(&call, CUDA_SUCCESS);
    if (holds) return CUDA_SUCCESS;
    callback(stream, CUDA_SUCCESS, user);
    return CUDA_SUCCESS;
}

/* ---- Properties ---- */

/* Begins a call about a stream that writes to `out`; *stream is NULL for a default stream. */
static CUresult begin(Call *call, CUstream handle, const void *out, const Stream **stream) {
    *stream = NULL;
    CUresult status = call_begin(call);
    if (status) return status;
    if (!stream_is_valid(call, handle)) return call_end(call, CUDA_ERROR_INVALID_HANDLE);
    *stream = CALL_GET(call, HANDLE_STREAM, handle);
    return out ? CUDA_SUCCESS : call_end(call, CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuStreamGetPriority(CUstream handle, int *priority) {
    Call call;
    const Stream *stream;
    CUresult status = begin(&call, handle, priority, &stream);
    if (status) return status;
    *priority = stream ? stream->priority : 0;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamGetFlags(CUstream handle, unsigned int *flags) {
    Call call;
    const Stream *stream;
    CUresult status = begin(&call, handle, flags, &stream);
    if (status) return status;
    *flags = stream ? stream->flags : CU_STREAM_DEFAULT;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamGetId(CUstream handle, unsigned long long *id) {
    Call call;
    const Stream *stream;
    CUresult status = begin(&call, handle, id, &stream);
    if (status) return status;
    *id = stream ? stream->id : 0;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamGetCtx(CUstream handle, CUcontext *context) {
    Call call;
    const Stream *stream;
    CUresult status = begin(&call, handle, context, &stream);
    if (status) return status;
    *context = stream ? stream->context->handle : call.context->handle;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamGetDevice(CUstream handle, CUdevice *device) {
    Call call;
    const Stream *stream;
    CUresult status = begin(&call, handle, device, &stream);
    if (status) return status;
    *device = 0;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Attributes ---- */

/* Begins a call about the attributes of a stream. */
static CUresult begin_attributes(Call *call, CUstream handle, Attributes **attributes) {
    *attributes = NULL;
    CUresult status = call_begin(call);
    if (status) return status;
    if (!stream_is_valid(call, handle)) return call_end(call, CUDA_ERROR_INVALID_HANDLE);
    Stream *stream = CALL_GET(call, HANDLE_STREAM, handle);
    *attributes =
        stream ? &stream->attributes : &call->driver->stream_attributes[(uintptr_t)handle];
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamGetAttribute(CUstream handle, CUstreamAttrID id,
                                      CUstreamAttrValue *value) {
    Call call;
    Attributes *attributes;
    CUresult status = begin_attributes(&call, handle, &attributes);
    if (status) return status;
    if (!value || !attribute_is_of(id, ATTRIBUTE_OF_STREAM))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *value = attributes_get(attributes, id);
    const Stream *stream = CALL_GET(&call, HANDLE_STREAM, handle);
    if (stream && id == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = stream->priority;
    return call_end(&call, CUDA_SUCCESS);
}

CUaccessPolicyWindow stream_window(CUstream handle) {
    Call call;
    Attributes *attributes;
    CUaccessPolicyWindow window = {0};
    CUresult status = begin_attributes(&call, handle, &attributes);
    if (status) return window;
    window =
        attributes_get(attributes, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow;
    call_end(&call, CUDA_SUCCESS);
    return window;
}

CUresult CUDAAPI cuStreamSetAttribute(CUstream handle, CUstreamAttrID id,
                                      const CUstreamAttrValue *value) {
    Call call;
    Attributes *attributes;
    CUresult status = value
                          ? attribute_check(id, value, ATTRIBUTE_OF_STREAM, "cuStreamSetAttribute")
                          : CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS) status = begin_attributes(&call, handle, &attributes);
    if (status) return status;
    attributes_set(attributes, id, value);
    Stream *stream = CALL_GET(&call, HANDLE_STREAM, handle);
    if (stream && id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        stream->priority = stream_priority(value->priority);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamCopyAttributes(CUstream to, CUstream from) {
    Call call;
    Attributes *source;
    CUresult status = begin_attributes(&call, from, &source);
    if (status) return status;
    if (!stream_is_valid(&call, to)) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    Stream *stream = CALL_GET(&call, HANDLE_STREAM, to);
    const Stream *model = CALL_GET(&call, HANDLE_STREAM, from);
    Attributes *target =
        stream ? &stream->attributes : &call.driver->stream_attributes[(uintptr_t)to];
    if (target != source) {
        attributes_free(target);
        *target = attributes_copy(source);
    }
    if (stream && model) stream->priority = model->priority;
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Managed memory ---- */

/* Host and device take turns regardless of the stream that memory belongs to, so the hint is
 * checked and ignored. It applies to whole allocations and variables. */
CUresult CUDAAPI cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t length,
                                        unsigned int flags) {
    Call call;
    CUresult status = stream_check(stream);
    if (status == CUDA_SUCCESS) status = call_begin(&call);
    if (status) return status;
    Range range;
    bool is_right = memory_is_managed(&call, address, &range) && flags <= CU_MEM_ATTACH_SINGLE &&
                    (flags & (flags - 1)) == 0 && flags && range.start == address &&
                    (!length || length == range.end - range.start);
    return call_end(&call, is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
