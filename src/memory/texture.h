/* Textures and surfaces: where texels are, how they are stored, and how a texture instruction reads
 * them. The descriptions say what CUDA's arrays and texture objects are; nothing here reads a
 * texel.
 *
 * A texture reference of a module is a variable of 8 bytes that holds the handle of the texture
 * that it is bound to, 0 when it is bound to nothing; a sampler of a module (.samplerref) is one
 * that holds a MemSampler's settings, packed by mem_sampler_pack. */
#ifndef TYTO_MEMORY_TEXTURE_H
#define TYTO_MEMORY_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/memory.h"

enum { MEM_MAX_LEVELS = 18 }; /* of a mipmapped array 131,072 texels wide */

typedef enum MemTexelType { MEM_TEXEL_UNSIGNED, MEM_TEXEL_SIGNED, MEM_TEXEL_FLOAT } MemTexelType;
typedef enum MemAddressMode {
    MEM_ADDRESS_WRAP,
    MEM_ADDRESS_CLAMP,
    MEM_ADDRESS_MIRROR,
    MEM_ADDRESS_BORDER
} MemAddressMode;

/* What the axes of an array mean. A layer, a face of a cube is a slice. */
typedef enum MemGeometry {
    MEM_PLAIN,  /* one to three dimensions, which are all filtered */
    MEM_LAYERS, /* layers of one or two dimensions */
    MEM_CUBES   /* six faces; layer after layer of them */
} MemGeometry;

/* A texture of one resolution. */
typedef struct MemLevel {
    uint64_t address;              /* device address of the first texel */
    uint64_t width, height, depth; /* texels; depth: slices; 1 where there is no such axis */
    uint64_t pitch_bytes;          /* from row to row */
    uint64_t slice_bytes;          /* from slice to slice */
} MemLevel;

/* How coordinates become texels. */
typedef struct MemSampler {
    bool is_normalised;     /* coordinates in [0, 1) */
    bool is_linear_filter;  /* else nearest texel */
    bool is_linear_mipmap;  /* between levels, else the nearest one */
    MemAddressMode mode[3]; /* x, y, z */
    float border[4];
    float level_bias, lowest_level, highest_level;
} MemSampler;

typedef struct MemTexture {
    MemGeometry geometry;
    uint8_t dimensions;   /* 1, 2 or 3, layers not counted */
    uint8_t channels;     /* 1, 2 or 4 */
    uint8_t channel_bits; /* 8, 16 or 32 */
    uint8_t levels;       /* at least 1 */
    MemTexelType type;
    bool is_surface; /* suld, sust and sured may use it, else the others */
    bool is_array; /* a program cannot know where its texels lie: timing may have them in blocks */
    bool is_linear_memory; /* 1D over a buffer: integer coordinates, no filtering, width bounds only
                            */
    bool reads_normalised; /* 8- and 16-bit integer texels are read as floats in [0,1] or [-1,1] */
    bool is_srgb; /* of 8-bit channels that are read as floats in [0,1] all but the fourth are sRGB
                   */
    MemSampler sampler;
    MemLevel level[MEM_MAX_LEVELS];
} MemTexture;

static inline uint32_t mem_texel_bytes(const MemTexture *texture) {
    return texture->channels * texture->channel_bits / 8u;
}

/* The layers of a level; 1 of a texture without. */
static inline uint64_t mem_layers(const MemTexture *texture) {
    return texture->geometry == MEM_LAYERS  ? texture->level[0].depth
           : texture->geometry == MEM_CUBES ? texture->level[0].depth / 6
                                            : 1;
}

/* A sampler of the PTX text as the value of its variable. Its coordinates are normalised where the
 * texture's are, unless `is_forced_off`. Never 0. */
enum { MEM_SAMPLER_IS_LINEAR = 1, MEM_SAMPLER_IS_FORCED_OFF = 2 };
uint64_t mem_sampler_pack(unsigned flags, const MemAddressMode mode[3]);
/* Replaces what a sampler variable says about in a texture's own sampler. */
void mem_sampler_apply(uint64_t packed, MemSampler *sampler);

#endif
