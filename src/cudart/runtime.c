/* The frame of every function: the thread's context and last error. */
#include "cudart/runtime.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/map.h"

/* One runtime per process: no argument of the interface identifies a runtime. */
static struct {
    pthread_once_t once;
    CUresult status;   /* status of starting */
    CUcontext primary; /* primary context, retained as long as the process runs */
} process = {.once = PTHREAD_ONCE_INIT};

static _Thread_local struct {
    cudaError_t last; /* last error since the program asked for it */
    bool has_refused; /* refused launch since then (runtime_note_refusal) */
    CUresult failure; /* status of the last runtime_enter that failed */
} thread;

void runtime_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("tyto: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* ---- Contexts ---- */

static void start(void) {
    const int before = lock_forbid_cancel();
    process.status = cuInit(0);
    if (process.status == CUDA_SUCCESS)
        process.status = cuDevicePrimaryCtxRetain(&process.primary, 0);
    lock_allow_cancel(before);
}

bool runtime_enter(void) {
    CUcontext current = NULL;
    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current) return true;
    pthread_once(&process.once, start);
    thread.failure = process.status ? process.status : cuCtxSetCurrent(process.primary);
    return thread.failure == CUDA_SUCCESS;
}

CUresult runtime_failure(void) { return thread.failure; }

/* ---- Errors ---- */

cudaError_t runtime_leave(int status) {
    cudaError_t error = (cudaError_t)status; /* the driver's codes are also the runtime's */
    if (error != cudaSuccess && error != cudaErrorNotReady) thread.last = error;
    return error;
}

cudaError_t CUDARTAPI cudaPeekAtLastError(void) { return thread.last; }

cudaError_t CUDARTAPI cudaGetLastError(void) {
    cudaError_t error = thread.last;
    thread.last = cudaSuccess;
    thread.has_refused = false;
    return error;
}

void runtime_note_refusal(void) { thread.has_refused = true; }

int runtime_synchronized(int status) {
    return status == cudaSuccess && thread.has_refused ? cudaErrorNotSupported : status;
}

bool runtime_tells_first(const char *what) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static Map *told; /* names that were already reported */
    const int before = lock_take(&lock);
    if (!told) told = map_new();
    bool is_known = map_has(told, what, strlen(what));
    if (!is_known) map_put(told, what, strlen(what), NULL);
    lock_give(&lock, before);
    return !is_known;
}

int runtime_missing(const char *function, const char *why) {
    if (runtime_tells_first(function))
        runtime_say("error: %s is not supported: %s (docs/runtime-api.md)", function, why);
    return (int)runtime_leave(cudaErrorNotSupported);
}
