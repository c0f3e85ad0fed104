/* Textures and surfaces: where texels are, how they are stored, and how a texture instruction reads
 * them. These types describe CUDA's arrays and texture objects; nothing here reads a texel.
 *
 * A texture reference of a module is an 8-byte variable that holds the handle of the texture that
 * it is bound to, or 0. A sampler of a module (.samplerref) is an 8-byte variable that holds the
 * settings of a MemSampler, packed by mem_sampler_pack. */
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

/* The meaning of an array's axes. A layer or a face of a cube is a slice. */
typedef enum MemGeometry {
    MEM_PLAIN,  /* one to three dimensions, all of them filtered */
    MEM_LAYERS, /* layers of one or two dimensions */
    MEM_CUBES   /* six faces; layer after layer of them */
} MemGeometry;

/* One mip level of a texture. */
typedef struct MemLevel {
    uint64_t address;              /* device address of the first texel */
    uint64_t width, height, depth; /* texels; depth: slices; 1 if there is no such axis */
    uint64_t pitch_bytes;          /* distance of rows */
    uint64_t slice_bytes;          /* distance of slices */
} MemLevel;

/* How coordinates select texels. */
typedef struct MemSampler {
    bool is_normalised;     /* coordinates in [0, 1) */
    bool is_linear_filter;  /* otherwise the nearest texel */
    bool is_linear_mipmap;  /* between levels; otherwise the nearest level */
    MemAddressMode mode[3]; /* x, y, z */
    float border[4];
    float level_bias, lowest_level, highest_level;
} MemSampler;

typedef struct MemTexture {
    MemGeometry geometry;
    uint8_t dimensions;   /* 1, 2 or 3, without layers */
    uint8_t channels;     /* 1, 2 or 4 */
    uint8_t channel_bits; /* 8, 16 or 32 */
    uint8_t levels;       /* at least 1 */
    MemTexelType type;
    bool is_surface; /* for suld, sust and sured only; otherwise for the other instructions only */
    bool is_array;   /* its texel layout is opaque to programs: the timing model may use blocks */
    bool is_linear_memory; /* 1D over a buffer: integer coordinates, no filtering, only width
                            * bounds */
    bool reads_normalised; /* 8- and 16-bit integer texels are read as floats in [0,1] or [-1,1] */
    bool is_srgb; /* 8-bit channels that are read as floats in [0,1] are sRGB, except the fourth */
    MemSampler sampler;
    MemLevel level[MEM_MAX_LEVELS];
} MemTexture;

static inline uint32_t mem_texel_bytes(const MemTexture *texture) {
    return texture->channels * texture->channel_bits / 8u;
}

/* Number of layers of a level; 1 for a texture without layers. */
static inline uint64_t mem_layers(const MemTexture *texture) {
    return texture->geometry == MEM_LAYERS  ? texture->level[0].depth
           : texture->geometry == MEM_CUBES ? texture->level[0].depth / 6
                                            : 1;
}

/* Packs a sampler of the PTX text into the value of its variable. Its coordinates are normalised if
 * the texture's are, unless `is_forced_off`. Never 0. */
enum { MEM_SAMPLER_IS_LINEAR = 1, MEM_SAMPLER_IS_FORCED_OFF = 2 };
uint64_t mem_sampler_pack(unsigned flags, const MemAddressMode mode[3]);
/* Replaces the settings in a texture's own sampler that a sampler variable contains. */
void mem_sampler_apply(uint64_t packed, MemSampler *sampler);

#endif
