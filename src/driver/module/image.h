/* Images: what programs pass to the driver as a module. An image is a PTX text that ends with a
 * NUL, a fat binary, or the result of cuLinkComplete for several texts. */
#ifndef TYTO_DRIVER_MODULE_IMAGE_H
#define TYTO_DRIVER_MODULE_IMAGE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "engine/launch/gpu.h"
#include "tyto/cuda.h"

#define IMAGE_UNBOUNDED SIZE_MAX

/* The target of the selection. */
typedef struct ImageTarget {
    uint32_t architecture; /* compute capability of the device, 75 for sm_75 */
    bool prefers_machine;  /* prefer machine code for the device to PTX */
} ImageTarget;

/* Returns the PTX texts of an image, or its cubin, and their number in *count. They are allocated
 * in `arena`; what is not compressed stays in the image. `size` is the size of the file, which a
 * NUL must follow; nothing past it is read. The size of an image in a program's memory is unknown
 * (IMAGE_UNBOUNDED); then the sizes in the image itself are used, within limits. From a fat binary,
 * what suits the target is selected (fatbin_open). Errors come with a message; `name` is used in
 * messages. */
CUresult image_open(const void *image, size_t size, const char *name, const ImageTarget *target,
                    Arena *arena, GpuImage **texts, int *count, Diag *diag);

/* Writes texts as one image that image_open can read; a single text is written as it is. */
void image_write(const GpuImage *texts, int count, Text *out);

#endif
