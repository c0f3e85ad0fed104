/* The part of the CUDA samples' helpers that programs use: checked calls, the choice of a device,
 * timers. The text is our own; only the names are the samples'. */
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
/* The same, but the program continues. */
#define printLastCudaError(message)                                                                \
    do {                                                                                           \
        cudaError_t tyto_last = cudaGetLastError();                                                \
        if (tyto_last != cudaSuccess)                                                              \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, message,                   \
                         cudaGetErrorString(tyto_last));                                           \
    } while (0)

static inline const char *_cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }
/* To the nearest whole number. */
static inline int ftoi(float value) {
    return value >= 0 ? (int)(value + 0.5f) : (int)(value - 0.5f);
}
static inline int gpuGetMaxGflopsDeviceId() { return 0; }
static inline int findIntegratedGPU() { return -1; } /* the device has its own memory */
static inline int gpuDeviceInit(int device) {
    checkCudaErrors(cudaSetDevice(device));
    return device;
}
/* Single-precision lanes of an SM: 128 from compute capability 8.6 on, 64 of 7.0 to 8.0 (CUDA C++
 * Programming Guide, throughput of native arithmetic instructions). */
static inline int _ConvertSMVer2Cores(int major, int minor) {
    return major * 10 + minor >= 86 ? 128 : 64;
}
static inline const char *_ConvertSMVer2ArchName(int major, int minor) {
    int number = major * 10 + minor;
    return number >= 90   ? "Hopper"
           : number == 89 ? "Ada"
           : number >= 80 ? "Ampere"
           : number == 75 ? "Turing"
                          : "Volta";
}
static inline bool checkCudaCapabilities(int major, int minor) {
    int have_major, have_minor, device;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaDeviceGetAttribute(&have_major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&have_minor, cudaDevAttrComputeCapabilityMinor, device));
    bool is_enough = have_major > major || (have_major == major && have_minor >= minor);
    if (!is_enough) std::printf("compute capability %d.%d is needed\n", major, minor);
    return is_enough;
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

/* A stop watch for the host's time, in milliseconds. */
struct StopWatchInterface {
    std::chrono::steady_clock::time_point start;
    double milliseconds;
    bool is_running;
    int laps; /* finished laps */
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
    (*timer)->laps++;
    return true;
}
static inline bool sdkResetTimer(StopWatchInterface **timer) {
    (*timer)->milliseconds = 0;
    (*timer)->laps = 0;
    (*timer)->start = std::chrono::steady_clock::now();
    return true;
}
/* Mean milliseconds of a lap. */
static inline float sdkGetAverageTimerValue(StopWatchInterface **timer) {
    return (*timer)->laps ? (float)((*timer)->milliseconds / (*timer)->laps) : 0.0f;
}
static inline float sdkGetTimerValue(StopWatchInterface **timer) {
    return (float)((*timer)->milliseconds + tyto_lap(*timer));
}

#endif
