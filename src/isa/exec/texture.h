/* Texture fetches: one texel or filtered sample as four 32-bit values.
 *
 * Filtering follows the CUDA Programming Guide, appendix Texture Fetching: linear weights are in
 * 9-bit fixed point with 8 bits of fraction. The face that a direction selects is the guide's, too.
 * The guide leaves the following open, and the choices are ours. Weights are rounded to nearest,
 * also those between levels. Among faces at the same angle, z is preferred to y, and y to x.
 * Gradients give the level of the longer one (as in OpenGL 4.6, section 8.14). Left out:
 * anisotropy, depth comparison, filtering across the edges of a cube. */
#ifndef TYTO_ISA_EXEC_TEXTURE_H
#define TYTO_ISA_EXEC_TEXTURE_H

#include "memory/texture.h"

/* A texel's channels as 32-bit words: floats, or integers of the texture's type. Channels that the
 * texture lacks are 0. */
typedef struct Texel {
    uint32_t channel[4];
    bool is_missing; /* some of its bytes are not in a live allocation; the channels are 0 */
} Texel;

typedef enum FetchLevel {
    FETCH_IMPLICIT, /* no level is named: level 0, with the sampler's bias and bounds */
    FETCH_BASE,     /* the first level */
    FETCH_LEVEL,    /* the named level */
    FETCH_GRADIENTS /* the level that the gradients give */
} FetchLevel;

/* The coordinates and the level of a fetch. */
typedef struct Fetch {
    float at[3];          /* coordinates; for a cube the direction */
    int32_t texel[3];     /* used instead of `at` if has_texel */
    bool has_texel;       /* integer coordinates: no filter, no normalisation */
    uint32_t layer;       /* clamped to the existing layers */
    FetchLevel chooses;   /* how the level is chosen */
    float level;          /* FETCH_LEVEL; with has_texel an integer */
    float gradient[2][3]; /* d at / dx and d at / dy */
    int32_t offset[3];    /* texels, added before addressing */
} Fetch;

/* *address receives the device address of the texel that was read, for checks and timing; for a
 * filtered sample that of the texel with the lowest coordinates. `block_bytes`: the address is that
 * of the texel in an array whose texels are in blocks (IsaContext.texel_block_bytes). A missing
 * texel's address is not changed. */
Texel texture_fetch(const DeviceMemory *memory, const MemTexture *texture,
                    const MemSampler *sampler, const Fetch *fetch, uint32_t block_bytes,
                    uint64_t *address);
/* Component `component` of the four texels that a linear filter at that place would use in the
 * first level, in the order of tld4: (0,1), (1,1), (1,0), (0,0). */
Texel texture_gather(const DeviceMemory *memory, const MemTexture *texture,
                     const MemSampler *sampler, const Fetch *fetch, int component,
                     uint32_t block_bytes, uint64_t *address);

/* The channels of the texel at `bytes`, as a fetch returns them. */
Texel texture_decode(const MemTexture *texture, const uint8_t *bytes);
/* The reverse: converts 32-bit words, floats where a fetch returns floats, to a texel's bytes. */
void texture_encode(const MemTexture *texture, const uint32_t *words, uint8_t *bytes);

#endif
