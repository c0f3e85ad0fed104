/* What the libraries on top of the driver API share: their kernels on the device, memory to work
 * in, and one message for each function that they do not have. */
#ifndef TYTO_LIBRARY_DEVICE_H
#define TYTO_LIBRARY_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tyto/cuda.h"

/* A library's kernels in the context that was current when it was made. */
typedef struct Device {
    CUmodule module;
    CUstream stream;
    CUdeviceptr scratch; /* for results and copies; grows */
    size_t scratch_bytes;
} Device;

/* Loads the PTX text into the current context; where there is none, that of device 0 becomes
 * current. False when the driver cannot. */
bool device_open(Device *device, const char *ptx);
void device_close(Device *device);

/* Starts a kernel named PREFIX_SUFFIX (PREFIX alone where suffix is NULL) in the device's stream.
 */
CUresult device_launch(const Device *device, const char *prefix, const char *suffix,
                       const uint32_t grid[3], uint32_t block, void *parameters);
/* Device memory of at least `bytes`, the device's until the next call; 0: there is none. */
CUdeviceptr device_scratch(Device *device, size_t bytes);

/* Says once that a library's function is not there. */
void device_say_missing(const char *function);

static inline CUdeviceptr device_address(const void *pointer) {
    return (CUdeviceptr)(uintptr_t)pointer;
}

#endif
