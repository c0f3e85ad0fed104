/* Images: what programs hand to the driver as a module. PTX text ended by a NUL, a fat
 * binary, or what cuLinkComplete made of several texts. */
#ifndef TYTO_DRIVER_MODULE_IMAGE_H
#define TYTO_DRIVER_MODULE_IMAGE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "engine/launch/gpu.h"
#include "tyto/cuda.h"

#define IMAGE_UNBOUNDED SIZE_MAX

/* What is to be run. */
typedef struct ImageTarget {
    uint32_t architecture; /* of the device, 75 for sm_75 */
    bool prefers_machine;  /* machine code for it, rather than PTX */
} ImageTarget;

/* The PTX texts of an image, or its cubin, allocated in `arena` (what is not compressed stays where
 * it is), their number in *count. `size` is that of the file, which a NUL follows, and nothing past
 * it is read; of what a program hands over it is not known (IMAGE_UNBOUNDED), and what the image
 * itself says is believed, within limits. Of a fat
 * binary what suits the target is taken (fatbin_open). Errors come with a message; `name` is for
 * messages. */
CUresult image_open(const void *image, size_t size, const char *name, const ImageTarget *target,
                    Arena *arena, GpuImage **texts, int *count, Diag *diag);

/* Writes texts as one image that image_open reads back: the text itself when there is just one. */
void image_write(const GpuImage *texts, int count, Text *out);

#endif
