/* What txq and suq answer, and the tables that machine code reads instead (see the header). */
#include "isa/exec/texture_query.h"

#include <string.h>

#include "memory/memory.h"

static uint32_t channel_type(const MemTexture *texture) {
    const uint32_t wide = texture->channel_bits == 8 ? 0 : texture->channel_bits == 16 ? 1 : 2;
    const bool is_signed = texture->type == MEM_TEXEL_SIGNED;
    if (texture->type == MEM_TEXEL_FLOAT) return texture->channel_bits == 16 ? 0x10dd : 0x10de;
    if (texture->reads_normalised) return (is_signed ? 0x10d0u : 0x10d2u) + wide;
    return (is_signed ? 0x10d7u : 0x10dau) + wide;
}

static uint32_t mode_number(MemAddressMode mode) {
    static const uint8_t numbers[] = {[MEM_ADDRESS_WRAP] = 0,
                                      [MEM_ADDRESS_MIRROR] = 1,
                                      [MEM_ADDRESS_CLAMP] = 3,
                                      [MEM_ADDRESS_BORDER] = 4};
    return numbers[mode];
}

/* The values that an H100 returns for an axis that a texture or surface lacks. The axis after the
 * last one gives the number of layers, or of slices for a surface. A one-dimensional CUDA array
 * that is a texture gives 1. Everything else gives 0, including a single cube. */
static uint32_t height_of(const MemTexture *texture, const MemLevel *level) {
    if (texture->dimensions > 1) return (uint32_t)level->height;
    if (texture->geometry == MEM_LAYERS) return (uint32_t)level->depth;
    return !texture->is_linear_memory && !texture->is_surface;
}
static uint32_t depth_of(const MemTexture *texture, const MemLevel *level) {
    const bool has_slices = texture->dimensions > 2 || texture->is_surface;
    const uint32_t layers = (uint32_t)mem_layers(texture);
    if (texture->dimensions < 2 || (texture->geometry == MEM_PLAIN && texture->dimensions < 3))
        return 0;
    if (has_slices) return (uint32_t)level->depth;
    return texture->geometry == MEM_LAYERS || layers > 1 ? layers : 0;
}

uint32_t texture_answer(const MemTexture *texture, PtxSub query, uint32_t level) {
    if (level >= texture->levels) return 0;
    const MemLevel *at = &texture->level[level];
    switch (query) {
    case PTX_SUB_TXQ_WIDTH: return (uint32_t)at->width;
    case PTX_SUB_TXQ_HEIGHT: return height_of(texture, at);
    case PTX_SUB_TXQ_DEPTH: return depth_of(texture, at);
    case PTX_SUB_TXQ_CHANNEL_TYPE: return channel_type(texture);
    case PTX_SUB_TXQ_CHANNEL_ORDER:
        return texture->channels == 1 ? 0x10b0 : texture->channels == 2 ? 0x10b2 : 0x10b5;
    case PTX_SUB_TXQ_NORMALISED: return texture->sampler.is_normalised;
    case PTX_SUB_TXQ_LAYERS: return (uint32_t)mem_layers(texture);
    case PTX_SUB_TXQ_LEVELS: return texture->levels;
    case PTX_SUB_TXQ_SAMPLES: return 1;
    case PTX_SUB_TXQ_FILTER: return texture->sampler.is_linear_filter;
    case PTX_SUB_TXQ_MODE_0: return mode_number(texture->sampler.mode[0]);
    case PTX_SUB_TXQ_MODE_1: return mode_number(texture->sampler.mode[1]);
    case PTX_SUB_TXQ_MODE_2: return mode_number(texture->sampler.mode[2]);
    default: return 1; /* memory layout: 1 is linear; here arrays are linear too */
    }
}

/* ---- Tables ---- */

/* Where machine code of ptxas 11.8 and 13.0 looks for an answer, in bytes from the start of an
 * entry. The vendor's drivers fill in more. */
typedef struct QueryPlace {
    uint8_t at;
    uint16_t query; /* PtxSub */
} QueryPlace;

static const QueryPlace texture_places[] = {
    {0x0c, PTX_SUB_TXQ_MODE_0},        {0x10, PTX_SUB_TXQ_MODE_1},
    {0x14, PTX_SUB_TXQ_MODE_2},        {0x18, PTX_SUB_TXQ_FILTER},
    {0x1c, PTX_SUB_TXQ_NORMALISED},    {0x20, PTX_SUB_TXQ_CHANNEL_TYPE},
    {0x24, PTX_SUB_TXQ_CHANNEL_ORDER}, {0x28, PTX_SUB_TXQ_LAYERS},
    {0x2c, PTX_SUB_TXQ_LEVELS},        {0x30, PTX_SUB_TXQ_SAMPLES},
};
static const QueryPlace surface_places[] = {
    {0x0c, PTX_SUB_TXQ_CHANNEL_TYPE},
    {0x10, PTX_SUB_TXQ_CHANNEL_ORDER},
    {0x14, PTX_SUB_TXQ_LAYOUT},
    {0x1c, PTX_SUB_TXQ_LAYERS},
};

static void describe(const MemTexture *texture, uint8_t *entry) {
    const size_t surface_count = sizeof surface_places / sizeof surface_places[0];
    const size_t texture_count = sizeof texture_places / sizeof texture_places[0];
    const QueryPlace *place = texture->is_surface ? surface_places : texture_places;
    const QueryPlace *end = place + (texture->is_surface ? surface_count : texture_count);
    for (; place < end; ++place) {
        const uint32_t word = texture_answer(texture, (PtxSub)place->query, 0);
        memcpy(entry + place->at, &word, sizeof word);
    }
}

void isa_describe_textures(struct DeviceMemory *memory, uint64_t table, uint32_t entries) {
    for (uint32_t handle = 0; handle < entries; ++handle) {
        uint8_t entry[ISA_TEXTURE_ENTRY_BYTES] = {0};
        const MemTexture *texture = mem_texture(memory, handle);
        if (texture) describe(texture, entry);
        mem_write(memory, table + (uint64_t)handle * sizeof entry, entry, sizeof entry);
    }
}
