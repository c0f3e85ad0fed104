/* The part of the old SDK's cutil that benchmark suites lean on: checked calls and timers. Words of our
 * own; only the names are the SDK's. */
#ifndef TYTO_CUTIL_H
#define TYTO_CUTIL_H

#include "helper_cuda.h"

#define CUDA_SAFE_CALL(call)         checkCudaErrors(call)
#define CUDA_SAFE_CALL_NO_SYNC(call) checkCudaErrors(call)
#define cutilSafeCall(call)          checkCudaErrors(call)
#define cutilCheckMsg(message)       getLastCudaError(message)
#define cutilSafeThreadSync()        checkCudaErrors(cudaDeviceSynchronize())
#define CUT_SAFE_CALL(call)          ((void)(call))
#define CUT_CHECK_ERROR(message)     getLastCudaError(message)
#define CUT_DEVICE_INIT(argc, argv)  checkCudaErrors(cudaSetDevice(0))
#define CUT_EXIT(argc, argv)         std::exit(EXIT_SUCCESS)
#define CUT_BANK_CHECKER(array, index) (array[index])

/* Timers by number. */
static StopWatchInterface tyto_timers[64];
static unsigned tyto_timer_count;

static inline int cutCreateTimer(unsigned *number) {
    *number = tyto_timer_count++ % 64;
    tyto_timers[*number] = StopWatchInterface();
    return 1;
}
static inline int cutStartTimer(unsigned number) {
    StopWatchInterface *timer = &tyto_timers[number];
    return sdkStartTimer(&timer);
}
static inline int cutStopTimer(unsigned number) {
    StopWatchInterface *timer = &tyto_timers[number];
    return sdkStopTimer(&timer);
}
static inline int cutResetTimer(unsigned number) {
    StopWatchInterface *timer = &tyto_timers[number];
    return sdkResetTimer(&timer);
}
static inline float cutGetTimerValue(unsigned number) {
    StopWatchInterface *timer = &tyto_timers[number];
    return sdkGetTimerValue(&timer);
}
static inline int cutDeleteTimer(unsigned) {
    return 1;
}

#endif
