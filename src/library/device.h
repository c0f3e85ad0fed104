/* Shared by the libraries on top of the driver API: their kernels on the device, scratch memory,
 * and one message for each function that they lack. */
#ifndef TYTO_LIBRARY_DEVICE_H
#define TYTO_LIBRARY_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tyto/cuda.h"

/* A library's kernels in the context that was current when this was made. */
typedef struct Device {
    CUmodule module;
    CUstream stream;
    CUdeviceptr scratch; /* scratch memory for results and copies; grows */
    size_t scratch_bytes;
} Device;

/* Loads the PTX text into the current context; without one, that of device 0 becomes current.
 * Returns false after an error of the driver. */
bool device_open(Device *device, const char *ptx);
void device_close(Device *device);

/* Launches the kernel PREFIX_SUFFIX (PREFIX alone if suffix is NULL) in the device's stream. */
CUresult device_launch(const Device *device, const char *prefix, const char *suffix,
                       const uint32_t grid[3], uint32_t block, void *parameters);
/* Scratch memory of at least `bytes` on the device, valid until the next call; 0: no room. */
CUdeviceptr device_scratch(Device *device, size_t bytes);

/* Reports once that a library's function is not supported. */
void device_say_missing(const char *function);

static inline CUdeviceptr device_address(const void *pointer) {
    return (CUdeviceptr)(uintptr_t)pointer;
}

#endif
