/* Events: points in simulated time, which every launch advances. */
#include "driver/stream/stream_queue.h"

#include <stdlib.h>

enum {
    EVENT_FLAGS = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS,
    RECORD_FLAGS = 1 /* external: only for graphs */
};

CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    bool is_timed = !(flags & CU_EVENT_DISABLE_TIMING);
    if (!event || flags & ~(unsigned)EVENT_FLAGS || (flags & CU_EVENT_INTERPROCESS && is_timed))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Event *made = base_calloc(1, sizeof *made);
    made->context = call.context;
    made->flags = flags;
    *event = driver_add(call.driver, HANDLE_EVENT, made);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventDestroy(CUevent handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Event *event = handles_remove(&call.driver->handles, HANDLE_EVENT, (uint64_t)(uintptr_t)handle);
    if (event) event_free(call.driver, event);
    return call_end(&call, event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

void event_record(const Call *call, Event *event) {
    event->is_recorded = true;
    event->time_ps = gpu_time_ps(call->gpu);
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned int flags) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Event *event = CALL_GET(&call, HANDLE_EVENT, handle);
    if (!event || !stream_is_valid(&call, stream))
        return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (flags > RECORD_FLAGS) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, capture_record(&call, event, handle, stream, flags));
}

/* Waits until all work of the context is done. */
CUresult CUDAAPI cuCtxRecordEvent(CUcontext context, CUevent handle) {
    Call call;
    CUresult status = call_begin_unsafe(&call);
    if (status) return status;
    Event *event = CALL_GET(&call, HANDLE_EVENT, handle);
    Context *of = CALL_GET(&call, HANDLE_CONTEXT, context);
    if (!of) return call_end(&call, CUDA_ERROR_INVALID_CONTEXT);
    if (!event || event->context != of) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    event->capture_id = 0;
    event->point.item = 0;
    status = stream_queue_wait_all(&call);
    if (status == CUDA_SUCCESS) event_record(&call, event);
    return call_end(&call, status);
}

CUresult CUDAAPI cuCtxWaitEvent(CUcontext context, CUevent handle) {
    Call call;
    CUresult status = call_begin_unsafe(&call);
    if (status) return status;
    const Event *event = CALL_GET(&call, HANDLE_EVENT, handle);
    if (!CALL_GET(&call, HANDLE_CONTEXT, context))
        return call_end(&call, CUDA_ERROR_INVALID_CONTEXT);
    if (!event) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    status = capture_check_event(&call, event);
    if (status == CUDA_SUCCESS) status = stream_queue_wait_point(&call, event->point);
    return call_end(&call, status);
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
    return cuEventRecordWithFlags(event, stream, 0);
}

/* Begins a call that asks whether an event is complete. As on a GPU, an event that was never
 * recorded is complete. */
static CUresult begin_question(Call *call, CUevent event, Event **found) {
    *found = NULL;
    CUresult status = call_begin(call);
    if (status) return status;
    *found = CALL_GET(call, HANDLE_EVENT, event);
    if (!*found) return call_end(call, CUDA_ERROR_INVALID_HANDLE);
    status = capture_check_event(call, *found);
    return status ? call_end(call, status) : CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventQuery(CUevent event) {
    Call call;
    Event *found;
    CUresult status = begin_question(&call, event, &found);
    if (status) return status;
    return call_end(&call, stream_queue_ask_point(&call, found->point));
}

CUresult CUDAAPI cuEventSynchronize(CUevent event) {
    Call call;
    Event *found;
    CUresult status = begin_question(&call, event, &found);
    return status ? status : call_end(&call, stream_queue_wait_point(&call, found->point));
}

static bool is_timed(const Event *event) {
    return event && event->is_recorded && !(event->flags & CU_EVENT_DISABLE_TIMING);
}

CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!milliseconds) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    const Event *first = CALL_GET(&call, HANDLE_EVENT, start);
    const Event *last = CALL_GET(&call, HANDLE_EVENT, end);
    if ((first && first->capture_id) || (last && last->capture_id))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (first) status = stream_queue_ask_point(&call, first->point);
    if (last && status == CUDA_SUCCESS) status = stream_queue_ask_point(&call, last->point);
    if (status) return call_end(&call, status);
    if (!is_timed(first) || !is_timed(last)) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    *milliseconds = (float)(((double)last->time_ps - (double)first->time_ps) / 1e9);
    return call_end(&call, CUDA_SUCCESS);
}
