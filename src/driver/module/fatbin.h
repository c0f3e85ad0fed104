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

/* Whether `image` begins as a fat binary, or as the wrapper that names one, does. */
bool fatbin_is(const void *image);

/* The PTX texts of a fat binary, or its cubin, of `size` bytes (image_open says what sizes mean),
 * in `arena`, their number in *count: one, or one of each object of a program that was linked with
 * -rdc=true. Of the texts for several architectures the one nearest below the target's is taken,
 * else the lowest. A cubin suits an architecture of the same major version that is no lower; it is
 * taken where the target prefers machine code or there is no PTX. Returns
 * CUDA_ERROR_NO_BINARY_FOR_GPU when there is neither, CUDA_ERROR_INVALID_IMAGE when the binary is
 * damaged; both with a message. */
CUresult fatbin_open(const void *image, size_t size, const char *name, const ImageTarget *target,
                     Arena *arena, GpuImage **texts, int *count, Diag *diag);

#endif
