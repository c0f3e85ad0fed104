/* The pixels that a copy with an im2col map takes, in order: the positions of a filter in a
 * bounding box, W first, then H, D and N. Semantics: PTX ISA 9.0, section 5.5.4. */
#ifndef TYTO_ISA_PIXELS_H
#define TYTO_ISA_PIXELS_H

#include <stdbool.h>
#include <stdint.h>

enum { ISA_PIXEL_DIMENSIONS = 4 }; /* maximum: W, H, D, N */

typedef struct IsaPixels {
    uint64_t stride[ISA_PIXEL_DIMENSIONS];  /* bytes between pixels of a dimension */
    int64_t at[ISA_PIXEL_DIMENSIONS];       /* coordinates of the next pixel in the tensor */
    int64_t high[ISA_PIXEL_DIMENSIONS - 1]; /* last coordinate of the box; the next one is ... */
    int32_t low[ISA_PIXEL_DIMENSIONS - 1];  /* ... the first, one step further in the next one */
    uint32_t last[ISA_PIXEL_DIMENSIONS];    /* last coordinate of the tensor */
    uint8_t step[ISA_PIXEL_DIMENSIONS];     /* from one pixel to the next */
    uint8_t dimensions;                     /* 0: no pixels */
} IsaPixels;

/* Whether the next pixel is inside the tensor. */
static inline bool isa_pixels_are_inside(const IsaPixels *pixels) {
    for (int i = 0; i < pixels->dimensions; i++)
        if (pixels->at[i] < 0 || pixels->at[i] > pixels->last[i]) return false;
    return true;
}

/* Bytes from the tensor's first pixel to the next one, which must be inside the tensor. */
static inline uint64_t isa_pixels_offset(const IsaPixels *pixels) {
    uint64_t offset = 0;
    for (int i = 0; i < pixels->dimensions; i++)
        offset += (uint64_t)pixels->at[i] * pixels->stride[i];
    return offset;
}

static inline void isa_pixels_advance(IsaPixels *pixels) {
    const int outermost = pixels->dimensions - 1; /* images (N) have no box */
    for (int i = 0; i < outermost; i++) {
        pixels->at[i] += pixels->step[i];
        if (pixels->at[i] <= pixels->high[i]) return;
        pixels->at[i] = pixels->low[i];
    }
    pixels->at[outermost]++;
}

#endif
