/* Texture fetches: one texel or filtered sample as four 32-bit values.
 *
 * Filtering as the CUDA Programming Guide, appendix Texture Fetching, has it: linear weights are
 * held in 9-bit fixed point with 8 bits of fraction. The face that a direction leads to is the
 * guide's, too. The guide leaves open, and these are ours: weights are rounded to nearest, those
 * between levels as well; of faces at the same angle that of z goes before that of y and that of x;
 * gradients give the level of the longer one (as OpenGL 4.6, section 8.14, has it). Left out:
 * anisotropy, depth comparison, filtering across the edges of a cube. */
#ifndef TYTO_ISA_EXEC_TEXTURE_H
#define TYTO_ISA_EXEC_TEXTURE_H

#include "memory/texture.h"

/* A texel's channels as 32-bit words: floats, or integers as the texture's type has them. Channels
 * that the texture lacks are 0. */
typedef struct Texel {
    uint32_t channel[4];
    bool is_missing; /* some of its bytes are in no live allocation: the channels are 0 */
} Texel;

typedef enum FetchLevel {
    FETCH_IMPLICIT, /* none is named: 0, and the sampler's bias and bounds count */
    FETCH_BASE,     /* the first level */
    FETCH_LEVEL,    /* the one that is named */
    FETCH_GRADIENTS /* the one that the gradients lead to */
} FetchLevel;

/* Where a lane looks. */
typedef struct Fetch {
    float at[3];          /* coordinates; of a cube the direction */
    int32_t texel[3];     /* instead of them, has_texel */
    bool has_texel;       /* integer coordinates: no filter, no normalisation */
    uint32_t layer;       /* clamped to those that there are */
    FetchLevel chooses;   /* the level */
    float level;          /* FETCH_LEVEL, or with has_texel a whole number */
    float gradient[2][3]; /* d at / dx, d at / dy */
    int32_t offset[3];    /* texels, added before addressing */
} Fetch;

/* *address receives the device address of the texel read, of a filtered sample the one that has the
 * lowest coordinates, for checks and timing. `block_bytes`: that of the texel in an array whose
 * texels lie in blocks (IsaContext.texel_block_bytes), but of one that is not there. */
Texel texture_fetch(const DeviceMemory *memory, const MemTexture *texture,
                    const MemSampler *sampler, const Fetch *fetch, uint32_t block_bytes,
                    uint64_t *address);
/* Component `component` of the four texels that a linear filter at the place would use in the first
 * level, in tld4's order: (0,1), (1,1), (1,0), (0,0). */
Texel texture_gather(const DeviceMemory *memory, const MemTexture *texture,
                     const MemSampler *sampler, const Fetch *fetch, int component,
                     uint32_t block_bytes, uint64_t *address);

/* The channels of the texel that begins at `bytes`, as a fetch gives them. */
Texel texture_decode(const MemTexture *texture, const uint8_t *bytes);
/* The opposite: 32-bit words, floats where a fetch gives floats, become a texel's bytes. */
void texture_encode(const MemTexture *texture, const uint32_t *words, uint8_t *bytes);

#endif
