/* Finds kernels by name at each launch, with a look-up in the driver's map. */
#include "library/device.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/map.h"

static bool enter_context(void) {
    CUcontext current = NULL;
    if (cuInit(0) != CUDA_SUCCESS) return false;
    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current) return true;
    return cuDevicePrimaryCtxRetain(&current, 0) == CUDA_SUCCESS &&
           cuCtxSetCurrent(current) == CUDA_SUCCESS;
}

bool device_open(Device *device, const char *ptx) {
    *device = (Device){0};
    return enter_context() && cuModuleLoadData(&device->module, ptx) == CUDA_SUCCESS;
}

void device_close(Device *device) {
    cuMemFree(device->scratch);
    cuModuleUnload(device->module);
}

CUresult device_launch(const Device *device, const char *prefix, const char *suffix,
                       const uint32_t grid[3], uint32_t block, void *parameters) {
    char name[64];
    CUfunction function;
    snprintf(name, sizeof name, "%s%s%s", prefix, suffix ? "_" : "", suffix ? suffix : "");
    CUresult result = cuModuleGetFunction(&function, device->module, name);
    if (result != CUDA_SUCCESS) return result;
    return cuLaunchKernel(function, grid[0], grid[1], grid[2], block, 1, 1, 0, device->stream,
                          (void *[]){parameters}, NULL);
}

CUdeviceptr device_scratch(Device *device, size_t bytes) {
    if (bytes <= device->scratch_bytes) return device->scratch;
    cuMemFree(device->scratch);
    device->scratch_bytes = 0;
    if (cuMemAlloc(&device->scratch, bytes) != CUDA_SUCCESS) return device->scratch = 0;
    device->scratch_bytes = bytes;
    return device->scratch;
}

void device_say_missing(const char *function) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static Map *told; /* names of the functions reported so far */
    const int before = lock_take(&lock);
    if (!told) told = map_new();
    bool is_known = map_has(told, function, strlen(function));
    if (!is_known) map_put(told, function, strlen(function), NULL);
    lock_give(&lock, before);
    if (!is_known)
        fprintf(stderr, "tyto: error: %s is not supported (docs/libraries.md)\n", function);
}
