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

/* The PTX texts of an image, allocated in `arena` (texts that are not compressed stay where they
 * are), their number in *count. `size` is that of the file, which a NUL follows, and nothing past
 * it is read; of what a program hands over it is not known (IMAGE_UNBOUNDED), and what the image
 * itself says is believed, within limits. Of a fat
 * binary's texts those for the device's `architecture` (75 for sm_75) are taken. Errors come with a
 * message; `name` is for messages. */
CUresult image_open(const void *image, size_t size, const char *name, uint32_t architecture,
                    Arena *arena, GpuImage **texts, int *count, Diag *diag);

/* Writes texts as one image that image_open reads back: the text itself when there is just one. */
void image_write(const GpuImage *texts, int count, Text *out);

#endif
