/* The part of the old SDK's cutil that benchmark suites use: checked calls and timers. The text is
 * our own; only the names are the SDK's. */
#ifndef TYTO_CUTIL_H
#define TYTO_CUTIL_H

#include "helper_cuda.h"

#define CUDA_SAFE_CALL(call)           checkCudaErrors(call)
#define CUDA_SAFE_CALL_NO_SYNC(call)   checkCudaErrors(call)
#define cutilSafeCall(call)            checkCudaErrors(call)
#define cutilCheckMsg(message)         getLastCudaError(message)
#define cutilSafeThreadSync()          checkCudaErrors(cudaDeviceSynchronize())
#define CUT_SAFE_CALL(call)            ((void)(call))
#define CUT_CHECK_ERROR(message)       getLastCudaError(message)
#define CUT_DEVICE_INIT(argc, argv)    checkCudaErrors(cudaSetDevice(0))
#define CUT_EXIT(argc, argv)           std::exit(EXIT_SUCCESS)
#define CUT_BANK_CHECKER(array, index) (array[index])
#define cutilCheckError(call)          ((void)(call))
#define cutilDeviceSynchronize()       cudaDeviceSynchronize()
#define cutilDeviceInit(argc, argv)    checkCudaErrors(cudaSetDevice(0))
#define cutilExit(argc, argv)          std::exit(EXIT_SUCCESS)
#define CUTBoolean                     int
#define CUTTrue                        1
#define CUTFalse                       0

static inline int cutGetMaxGflopsDeviceId() { return 0; }
static inline int cutCheckCmdLineFlag(int count, const char **words, const char *name) {
    return checkCmdLineFlag(count, words, name);
}
static inline int cutGetCmdLineArgumenti(int count, const char **words, const char *name,
                                         int *value) {
    bool is_there = checkCmdLineFlag(count, words, name);
    if (is_there) *value = getCmdLineArgumentInt(count, words, name);
    return is_there;
}
static inline int cutGetCmdLineArgumentf(int count, const char **words, const char *name,
                                         float *value) {
    bool is_there = checkCmdLineFlag(count, words, name);
    if (is_there) *value = getCmdLineArgumentFloat(count, words, name);
    return is_there;
}
static inline int cutGetCmdLineArgumentstr(int count, const char **words, const char *name,
                                           char **value) {
    return getCmdLineArgumentString(count, words, name, value);
}
static inline int cutCompareL2fe(const float *expected, const float *got, unsigned count,
                                 float bound) {
    return sdkCompareL2fe(expected, got, count, bound);
}

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
static inline int cutDeleteTimer(unsigned) { return 1; }

#endif
