/* Fat binaries: what nvcc and clang embed in a program, one entry for each architecture that the
 * program was compiled for, as PTX or as machine code, possibly compressed. */
#ifndef TYTO_DRIVER_MODULE_FATBIN_H
#define TYTO_DRIVER_MODULE_FATBIN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "engine/launch/gpu.h"
#include "tyto/cuda.h"

/* Whether `image` begins as a fat binary, or as the wrapper that names one, does. */
bool fatbin_is(const void *image);

/* The PTX texts of a fat binary of `size` bytes (image_open says what sizes mean), in `arena`,
 * their number in *count: one, or one of each object of a program that was linked with -rdc=true.
 * Of several architectures the one nearest below the device's (`architecture`, 75 for sm_75) is
 * taken, else the lowest. Returns
 * CUDA_ERROR_NO_BINARY_FOR_GPU when there is no PTX, CUDA_ERROR_INVALID_IMAGE when the binary is
 * damaged; both with a message. */
CUresult fatbin_open(const void *image, size_t size, const char *name, uint32_t architecture,
                     Arena *arena, GpuImage **texts, int *count, Diag *diag);

#endif
