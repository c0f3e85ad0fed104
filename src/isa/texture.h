/* Texture fetches by texture object: one texel or filtered sample as four 32-bit values.
 *
 * Filtering as the CUDA Programming Guide, appendix Texture Fetching, has it: linear weights are
 * held in 9-bit fixed point with 8 bits of fraction. Left out: mip levels, 3D, cube and layered
 * textures. */
#ifndef TYTO_ISA_TEXTURE_H
#define TYTO_ISA_TEXTURE_H

#include "memory/memory.h"

/* A texel's channels as 32-bit words: floats, or integers as the texture's type has them. Channels
 * that the texture lacks are 0, and 1 (1.0f) for the fourth. */
typedef struct Texel {
    uint32_t channel[4];
    bool is_missing; /* some of its bytes are in no live allocation: the channels are 0 */
} Texel;

/* Sample at (x, y) in texels (or [0,1) when normalised); y is ignored by 1D textures (height 1).
 * *address receives the device address of the (top left) texel read, for checks and timing. */
Texel texture_sample(const DeviceMemory *memory, const MemTexture *texture, float x, float y,
                     uint64_t *address);
/* The texel at integer coordinates (tex with .s32 coordinates). */
Texel texture_fetch(const DeviceMemory *memory, const MemTexture *texture, int32_t x, int32_t y,
                    uint64_t *address);
/* Component `component` of the four texels that a linear filter at (x, y) would use, in tld4's
 * order: (0,1), (1,1), (1,0), (0,0). */
Texel texture_gather(const DeviceMemory *memory, const MemTexture *texture, float x, float y,
                     int component, uint64_t *address);

#endif
