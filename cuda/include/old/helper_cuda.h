/* The part of the CUDA samples' helpers that programs lean on: checked calls, the choice of a
 * device, timers. Words of our own; only the names are the samples'. */
#ifndef TYTO_HELPER_CUDA_H
#define TYTO_HELPER_CUDA_H

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#include "helper_string.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#define DEVICE_RESET cudaDeviceReset();

static inline void tyto_check(cudaError_t status, const char *what, const char *file, int line) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, what, cudaGetErrorString(status),
                 cudaGetErrorName(status));
    std::exit(EXIT_FAILURE);
}
#define checkCudaErrors(call)     tyto_check((cudaError_t)(call), #call, __FILE__, __LINE__)
#define getLastCudaError(message) tyto_check(cudaGetLastError(), message, __FILE__, __LINE__)

static inline int gpuGetMaxGflopsDeviceId() { return 0; }
static inline int gpuDeviceInit(int device) {
    checkCudaErrors(cudaSetDevice(device));
    return device;
}
/* Single-precision lanes of an SM: 128 from compute capability 8.6 on, 64 of 7.0 to 8.0 (CUDA C++
 * Programming Guide, throughput of native arithmetic instructions). */
static inline int _ConvertSMVer2Cores(int major, int minor) {
    return major * 10 + minor >= 86 ? 128 : 64;
}
static inline int findCudaDevice(int, const char **) {
    checkCudaErrors(cudaSetDevice(0));
    return 0;
}
static inline int findCudaDevice(int, char **) {
    checkCudaErrors(cudaSetDevice(0));
    return 0;
}

/* Whether the Euclidean distance of two vectors is below `bound` of the first one's length. */
static inline bool sdkCompareL2fe(const float *expected, const float *got, unsigned count,
                                  float bound) {
    double distance = 0, length = 0;
    for (unsigned i = 0; i < count; i++) {
        distance += (double)(got[i] - expected[i]) * (got[i] - expected[i]);
        length += (double)expected[i] * expected[i];
    }
    return std::sqrt(distance) < bound * std::sqrt(length);
}

/* A stop watch of the host's time, in milliseconds. */
struct StopWatchInterface {
    std::chrono::steady_clock::time_point start;
    double milliseconds;
    bool is_running;
};

static inline double tyto_lap(const StopWatchInterface *timer) {
    if (!timer->is_running) return 0;
    std::chrono::duration<double, std::milli> lap = std::chrono::steady_clock::now() - timer->start;
    return lap.count();
}
static inline bool sdkCreateTimer(StopWatchInterface **timer) {
    *timer = new StopWatchInterface();
    return true;
}
static inline bool sdkDeleteTimer(StopWatchInterface **timer) {
    delete *timer;
    *timer = nullptr;
    return true;
}
static inline bool sdkStartTimer(StopWatchInterface **timer) {
    (*timer)->start = std::chrono::steady_clock::now();
    (*timer)->is_running = true;
    return true;
}
static inline bool sdkStopTimer(StopWatchInterface **timer) {
    (*timer)->milliseconds += tyto_lap(*timer);
    (*timer)->is_running = false;
    return true;
}
static inline bool sdkResetTimer(StopWatchInterface **timer) {
    (*timer)->milliseconds = 0;
    (*timer)->start = std::chrono::steady_clock::now();
    return true;
}
static inline float sdkGetTimerValue(StopWatchInterface **timer) {
    return (float)((*timer)->milliseconds + tyto_lap(*timer));
}

#endif
