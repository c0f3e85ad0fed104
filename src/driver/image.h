/* Images: what programs hand to the driver as a module. PTX text ended by a NUL, or what
 * cuLinkComplete made of several texts. */
#ifndef TYTO_DRIVER_IMAGE_H
#define TYTO_DRIVER_IMAGE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "gpu/gpu.h"

/* The PTX texts of an image, allocated in `arena` (the texts stay where they are); their number in
 * *count. NULL, with a message, when the image is not PTX. `name` is for messages. */
GpuImage *image_open(const void *image, const char *name, Arena *arena, int *count, Diag *diag);

/* Writes texts as one image that image_open reads back: the text itself when there is just one. */
void image_write(const GpuImage *texts, int count, Text *out);

#endif
