/* Fat binaries: what nvcc and clang embed in a program, one entry for each architecture that the
 * program was compiled for, as PTX or as machine code, possibly compressed. */
#ifndef TYTO_DRIVER_MODULE_FATBIN_H
#define TYTO_DRIVER_MODULE_FATBIN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "driver/module/image.h"
#include "engine/launch/gpu.h"
#include "tyto/cuda.h"

/* Whether `image` begins like a fat binary, or like the wrapper that points to one. */
bool fatbin_is(const void *image);

/* Selects the PTX texts of a fat binary, or its cubin, of `size` bytes (image_open describes
 * sizes). They are allocated in `arena`, and *count is their number: one, or one for each object of
 * a program linked with -rdc=true. If there are texts for several architectures, the one nearest
 * below the target's is used, else the lowest. A cubin suits devices of the same major version and
 * an equal or higher minor version. It is used if the target prefers machine code or if there is no
 * PTX, unless it calls functions of the driver that only PTX can call here (dynamic parallelism).
 * Returns CUDA_ERROR_NO_BINARY_FOR_GPU if there is neither, and CUDA_ERROR_INVALID_IMAGE if
 * the binary is damaged, both with a message. */
CUresult fatbin_open(const void *image, size_t size, const char *name, const ImageTarget *target,
                     Arena *arena, GpuImage **texts, int *count, Diag *diag);

#endif
