/* Streams and events: passed to the driver. */
#include "cudart/runtime.h"

#include <stdlib.h>

cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags,
                                                   int priority) {
    return RUNTIME_CALL(cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    return RUNTIME_CALL(cuStreamCreate(stream, flags));
}

cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t *stream) {
    return RUNTIME_CALL(cuStreamCreate(stream, CU_STREAM_DEFAULT));
}

cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream) {
    return RUNTIME_CALL(cuStreamDestroy(stream));
}

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream) {
    return RUNTIME_CALL(cuStreamQuery(stream));
}

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream) {
    return RUNTIME_CALL(runtime_synchronized((int)cuStreamSynchronize(stream)));
}

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                          unsigned int flags) {
    return RUNTIME_CALL(cuStreamWaitEvent(stream, event, flags));
}

/* A callback as the runtime declares it: its status has another type than the driver's. */
typedef struct Callback {
    cudaStreamCallback_t function;
    void *user;
} Callback;

static void CUDA_CB call_back(CUstream stream, CUresult status, void *user) {
    const Callback callback = *(Callback *)user;
    free(user);
    callback.function(stream, (cudaError_t)status, callback.user);
}

static CUresult add_callback(CUstream stream, Callback given) {
    Callback *callback = malloc(sizeof *callback);
    if (!callback) return CUDA_ERROR_OUT_OF_MEMORY;
    *callback = given;
    const CUresult status = cuStreamAddCallback(stream, call_back, callback, 0);
    if (status) free(callback);
    return status;
}

cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                            void *user, unsigned int flags) {
    if (!callback || flags) return runtime_leave(cudaErrorInvalidValue);
    return RUNTIME_CALL(add_callback(stream, (Callback){callback, user}));
}

cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    return RUNTIME_CALL(cuStreamGetPriority(stream, priority));
}

cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags) {
    return RUNTIME_CALL(cuStreamGetFlags(stream, flags));
}

cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    return RUNTIME_CALL(cuStreamGetId(stream, id));
}

cudaError_t CUDARTAPI cudaStreamGetDevice(cudaStream_t stream, int *device) {
    return RUNTIME_CALL(cuStreamGetDevice(stream, device));
}

cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream,
                                            enum cudaStreamCaptureStatus *status) {
    return RUNTIME_CALL(cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status));
}

cudaError_t CUDARTAPI cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t size,
                                               unsigned int flags) {
    return RUNTIME_CALL(cuStreamAttachMemAsync(stream, address_of(pointer), size, flags));
}

/* ---- Events ---- */

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    return RUNTIME_CALL(cuEventCreate(event, flags));
}

cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t *event) {
    return RUNTIME_CALL(cuEventCreate(event, CU_EVENT_DEFAULT));
}

cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
    return RUNTIME_CALL(cuEventDestroy(event));
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                               unsigned int flags) {
    return RUNTIME_CALL(cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return RUNTIME_CALL(cuEventRecord(event, stream));
}

cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) {
    return RUNTIME_CALL(cuEventQuery(event));
}

cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
    return RUNTIME_CALL(runtime_synchronized((int)cuEventSynchronize(event)));
}

cudaError_t CUDARTAPI cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                           cudaEvent_t end) {
    return RUNTIME_CALL(cuEventElapsedTime(milliseconds, start, end));
}

cudaError_t CUDARTAPI cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                             cudaStreamAttrValue *value) {
    return RUNTIME_CALL(
        cuStreamGetAttribute(stream, (CUstreamAttrID)attribute, (CUstreamAttrValue *)value));
}

cudaError_t CUDARTAPI cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                             const cudaStreamAttrValue *value) {
    return RUNTIME_CALL(
        cuStreamSetAttribute(stream, (CUstreamAttrID)attribute, (const CUstreamAttrValue *)value));
}

cudaError_t CUDARTAPI cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return RUNTIME_CALL(cuStreamCopyAttributes(to, from));
}
