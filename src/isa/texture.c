/* Texture fetches: addressing, filtering, and decoding of texels. */
#include "isa/texture.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "isa/approx.h"
#include "isa/srgb.h"

/* ---- Texels ---- */

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t channel_bytes(const MemTexture *texture) { return texture->channel_bits / 8u; }

/* The greatest integer of a channel, which is read as 1. */
static float channel_scale(const MemTexture *texture) {
    const uint32_t sign = 1u << (texture->channel_bits - 1);
    return texture->type == MEM_TEXEL_SIGNED ? (float)(sign - 1) : (float)(2 * (sign - 1) + 1);
}

static uint32_t decode_channel(const MemTexture *texture, const uint8_t *bytes, uint32_t channel) {
    uint32_t raw = 0;
    memcpy(&raw, bytes + channel * channel_bytes(texture), channel_bytes(texture));
    if (texture->type == MEM_TEXEL_FLOAT)
        return texture->channel_bits == 16 ? bits_of((float)f64_of_f16(raw)) : raw;
    uint32_t sign = 1u << (texture->channel_bits - 1);
    bool is_signed = texture->type == MEM_TEXEL_SIGNED;
    if (is_signed && texture->channel_bits < 32) raw = (raw ^ sign) - sign;
    if (!texture->reads_normalised || texture->channel_bits == 32) return raw;
    if (texture->is_srgb && channel < 3 && !is_signed && texture->channel_bits == 8)
        return bits_of(isa_srgb_linear[raw]);
    float value = (is_signed ? (float)(int32_t)raw : (float)raw) / channel_scale(texture);
    return bits_of(value < -1.0f ? -1.0f : value);
}

static bool gives_float(const MemTexture *texture) {
    return texture->type == MEM_TEXEL_FLOAT ||
           (texture->reads_normalised && texture->channel_bits < 32);
}

Texel texture_decode(const MemTexture *texture, const uint8_t *bytes) {
    Texel texel = {.channel = {0, 0, 0, gives_float(texture) ? bits_of(1.0f) : 1}};
    for (uint32_t c = 0; c < texture->channels; c++)
        texel.channel[c] = decode_channel(texture, bytes, c);
    return texel;
}

/* An integer that does not fit its channel is cut to the nearest that does. */
static uint32_t encode_channel(const MemTexture *texture, uint32_t word) {
    const int bits = texture->channel_bits;
    if (texture->type == MEM_TEXEL_FLOAT)
        return bits == 16 ? f16_of_f64((double)float_of(word), ISA_ROUND_NEAREST) : word;
    if (bits == 32) return word;
    const bool is_signed = texture->type == MEM_TEXEL_SIGNED;
    const int64_t most = (INT64_C(1) << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    const int64_t value = is_signed ? (int32_t)word : (int64_t)word;
    return (uint32_t)(value > most ? most : value < least ? least : value);
}

void texture_encode(const MemTexture *texture, const uint32_t *words, uint8_t *bytes) {
    for (uint32_t c = 0; c < texture->channels; c++) {
        const uint32_t raw = encode_channel(texture, words[c]);
        memcpy(bytes + c * channel_bytes(texture), &raw, channel_bytes(texture));
    }
}

/* ---- Addressing ---- */

/* Index of a texel along one axis after the addressing mode; -1: the border. */
static int64_t wrap(int64_t i, int64_t size, MemAddressMode mode) {
    if (i >= 0 && i < size) return i;
    switch (mode) {
    case MEM_ADDRESS_WRAP: return ((i % size) + size) % size;
    case MEM_ADDRESS_MIRROR: {
        int64_t j = ((i % (2 * size)) + 2 * size) % (2 * size);
        return j < size ? j : 2 * size - 1 - j;
    }
    case MEM_ADDRESS_BORDER: return -1;
    case MEM_ADDRESS_CLAMP: break;
    }
    return i < 0 ? 0 : size - 1;
}

static Texel border(const MemTexture *texture, const MemSampler *sampler) {
    Texel texel = {.is_missing = false};
    for (int c = 0; c < 4; c++)
        texel.channel[c] =
            gives_float(texture) ? bits_of(sampler->border[c]) : (uint32_t)sampler->border[c];
    return texel;
}

/* What a fetch looks at: a level, and there a slice of what is filtered. */
typedef struct View {
    const DeviceMemory *memory;
    const MemTexture *texture;
    const MemSampler *sampler;
    const MemLevel *level;
    uint64_t slice;       /* layer or face */
    int axes;             /* that are filtered and wrapped */
    bool is_in_cube;      /* faces end at their edges */
    uint32_t block_bytes; /* texels lie in blocks; 0: in rows */
    int64_t size[3];      /* of the level along them */
} View;

static void view_set_level(View *view, int level) {
    view->level = &view->texture->level[level];
    view->size[0] = (int64_t)view->level->width;
    view->size[1] = (int64_t)view->level->height;
    view->size[2] = view->texture->geometry == MEM_PLAIN ? (int64_t)view->level->depth : 1;
}

/* Bytes from the start of a slice to a texel. A block is as wide as high, or twice as wide, and
 * blocks follow one another in rows of them, as GPGPU-Sim has it; no GPU's own order is known. */
static uint64_t texel_offset(const View *view, uint64_t x, uint64_t y) {
    const uint64_t bytes = mem_texel_bytes(view->texture), pitch = view->level->pitch_bytes;
    const int log_texels = bits_highest32((uint32_t)(view->block_bytes / bytes));
    const int log_height = log_texels / 2, log_width = log_texels - log_height;
    const uint64_t row_bytes = bytes << log_width;
    const uint64_t blocks = (pitch + row_bytes - 1) / row_bytes; /* in a row of them */
    return ((y >> log_height) * blocks + (x >> log_width)) * view->block_bytes +
           (y & ((1u << log_height) - 1)) * row_bytes + (x & ((1u << log_width) - 1)) * bytes;
}

/* The texel at an index after addressing. */
static Texel texel_at(const View *view, const int64_t *at, uint64_t *address) {
    const MemTexture *texture = view->texture;
    const MemLevel *level = view->level;
    const bool is_outside = at[0] < 0 || at[0] >= view->size[0];
    if (texture->is_linear_memory && is_outside)
        return (Texel){0}; /* CUDA: fetches outside linear memory return zero */
    int64_t index[3] = {0};
    for (int axis = 0; axis < view->axes; axis++) {
        const MemAddressMode mode =
            view->is_in_cube ? MEM_ADDRESS_CLAMP : view->sampler->mode[axis];
        index[axis] = wrap(at[axis], view->size[axis], mode);
        if (index[axis] < 0) return border(texture, view->sampler);
    }
    const uint64_t slice = texture->geometry == MEM_PLAIN ? (uint64_t)index[2] : view->slice;
    const uint32_t bytes = mem_texel_bytes(texture);
    const uint64_t start = level->address + slice * level->slice_bytes,
                   at_row = (uint64_t)index[1] * level->pitch_bytes + (uint64_t)index[0] * bytes;
    *address = start + at_row;
    if (!mem_is_valid(view->memory, *address, bytes)) return (Texel){.is_missing = true};
    if (view->block_bytes)
        *address = start + texel_offset(view, (uint64_t)index[0], (uint64_t)index[1]);
    return texture_decode(texture, mem_host(view->memory, start + at_row));
}

/* ---- Filtering ---- */

/* A coordinate in texels; NaN reads texel 0. */
static double coordinate(bool is_normalised, float value, int64_t size) {
    double c = is_normalised ? (double)value * (double)size : (double)value;
    if (!(c > -1e15)) return c != c ? 0 : -1e15;
    return c < 1e15 ? c : 1e15;
}

/* Rounds a weight to 8 fractional bits. */
static double fixed_weight(double weight) { return floor(weight * 256.0 + 0.5) / 256.0; }

/* Between two values; where the upper one has no weight, it has no influence, infinite or not. */
static double between(double lower, double upper, double weight) {
    return weight == 0 ? lower : (1 - weight) * lower + weight * upper;
}

/* The sample between 2, 4 or 8 texels around `at`, in texels. */
static Texel filter(const View *view, const double *at, const int32_t *offset, uint64_t *address) {
    int64_t lower[3] = {0};
    double weight[3] = {0};
    for (int axis = 0; axis < view->axes; axis++) {
        const double floor_at = floor(at[axis] - 0.5);
        lower[axis] = (int64_t)floor_at + offset[axis];
        weight[axis] = fixed_weight(at[axis] - 0.5 - floor_at);
    }
    const int corners = view->axes > 2 ? 8 : 4; /* 1D: the second row's weight is 0 */
    Texel texel[8];
    uint64_t place[8] = {*address};
    for (int corner = 0; corner < corners; corner++) {
        const int64_t here[3] = {lower[0] + (corner & 1), lower[1] + (corner >> 1 & 1),
                                 lower[2] + (corner >> 2)};
        texel[corner] = texel_at(view, here, &place[corner]);
    }
    *address = place[0];
    for (int corner = 0; corner < corners; corner++) {
        if (!texel[corner].is_missing) continue;
        *address = place[corner];
        return texel[corner];
    }
    Texel result = {.is_missing = false};
    for (int c = 0; c < 4; c++) {
        double value[8];
        for (int corner = 0; corner < corners; corner++)
            value[corner] = (double)float_of(texel[corner].channel[c]);
        for (int i = 0; i < corners / 2; i++)
            value[i] = (1 - weight[0]) * value[2 * i] + weight[0] * value[2 * i + 1];
        for (int i = 0; i < corners / 4; i++)
            value[i] = between(value[2 * i], value[2 * i + 1], weight[1]);
        if (corners == 8) value[0] = between(value[0], value[1], weight[2]);
        result.channel[c] = bits_of((float)value[0]);
    }
    return result;
}

static Texel sample_level(View *view, int level, const Fetch *fetch, const float *at,
                          uint64_t *address) {
    view_set_level(view, level);
    double place[3];
    for (int axis = 0; axis < 3; axis++)
        place[axis] = coordinate(view->is_in_cube || view->sampler->is_normalised, at[axis],
                                 view->size[axis]);
    *address = view->level->address;
    if (view->sampler->is_linear_filter && gives_float(view->texture))
        return filter(view, place, fetch->offset, address);
    int64_t index[3];
    for (int axis = 0; axis < 3; axis++)
        index[axis] = (int64_t)floor(place[axis]) + fetch->offset[axis];
    return texel_at(view, index, address);
}

/* ---- Cubes ---- */

/* CUDA Programming Guide, table of cubemap fetches: which of x, y, z (and a sign) is the greatest
 * (m), and which are the coordinates s and t of the face. */
typedef struct Face {
    int8_t m, s, t;                /* axes */
    int8_t m_sign, s_sign, t_sign; /* 1 or -1 */
} Face;

static const Face faces[6] = {
    {0, 2, 1, 1, -1, -1}, {0, 2, 1, -1, 1, -1}, {1, 0, 2, 1, 1, 1},
    {1, 0, 2, -1, 1, -1}, {2, 0, 1, 1, 1, -1},  {2, 0, 1, -1, -1, -1},
};

static int face_of(const float *direction) {
    const float x = fabsf(direction[0]), y = fabsf(direction[1]), z = fabsf(direction[2]);
    const int axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    return 2 * axis + (direction[axis] < 0);
}

/* The place on a face, in [0, 1]; a direction of length 0 leads to the middle. */
static void place_on_face(const Face *face, const float *direction, float *at) {
    const float m = direction[face->m] * (float)face->m_sign;
    const float s = direction[face->s] * (float)face->s_sign;
    const float t = direction[face->t] * (float)face->t_sign;
    at[0] = m == 0 ? 0.5f : (s / m + 1.0f) / 2.0f;
    at[1] = m == 0 ? 0.5f : (t / m + 1.0f) / 2.0f;
    at[2] = 0;
}

/* d (s / m) / 2 = (ds m - s dm) / (2 m^2) */
static void gradient_on_face(const Face *face, const float *direction, const float *gradient,
                             double *out) {
    const double m = (double)direction[face->m] * face->m_sign;
    const double dm = (double)gradient[face->m] * face->m_sign;
    const int axes[2] = {face->s, face->t}, signs[2] = {face->s_sign, face->t_sign};
    for (int i = 0; i < 2; i++) {
        const double s = (double)direction[axes[i]] * signs[i];
        const double ds = (double)gradient[axes[i]] * signs[i];
        out[i] = m == 0 ? 0 : (ds * m - s * dm) / (2 * m * m);
    }
    out[2] = 0;
}

/* ---- Levels ---- */

/* The level that gradients lead to: the logarithm of the longer one, in texels of the first level.
 */
static double level_of_gradients(const View *view, const Fetch *fetch, const Face *face) {
    double longest = 0;
    for (int i = 0; i < 2; i++) {
        double gradient[3], square = 0;
        for (int axis = 0; axis < 3; axis++)
            gradient[axis] = (double)fetch->gradient[i][axis];
        if (face) gradient_on_face(face, fetch->at, fetch->gradient[i], gradient);
        for (int axis = 0; axis < view->axes; axis++) {
            const bool is_scaled = face || view->sampler->is_normalised;
            const double texels = gradient[axis] * (is_scaled ? (double)view->size[axis] : 1);
            square += texels * texels;
        }
        if (square > longest) longest = square;
    }
    return longest > 0 ? 0.5 * logarithm_2(longest) : -1000;
}

static double limit(double value, double lowest, double highest) {
    return value > lowest ? value < highest ? value : highest : lowest; /* NaN: the lowest */
}

static double level_of(const View *view, const Fetch *fetch, const Face *face) {
    const MemSampler *sampler = view->sampler;
    const int last = view->texture->levels - 1;
    if (fetch->chooses == FETCH_BASE) return 0;
    if (fetch->has_texel) return limit((double)fetch->level, 0, last);
    const double level = fetch->chooses == FETCH_LEVEL ? (double)fetch->level
                                                       : level_of_gradients(view, fetch, face);
    const double lowest = (double)sampler->lowest_level, highest = (double)sampler->highest_level;
    return limit(limit(level + (double)sampler->level_bias, lowest, highest), 0, last);
}

static Texel blend_levels(const Texel *lower, const Texel *upper, double weight) {
    Texel result = *lower;
    for (int c = 0; c < 4; c++)
        result.channel[c] = bits_of((float)between((double)float_of(lower->channel[c]),
                                                   (double)float_of(upper->channel[c]), weight));
    return result;
}

/* The texture, at its first level, and the face of a cube that the fetch leads to (NULL: none). */
static View view_of(const DeviceMemory *memory, const MemTexture *texture,
                    const MemSampler *sampler, const Fetch *fetch, uint32_t block_bytes,
                    const Face **face) {
    View view = {.memory = memory, .texture = texture, .sampler = sampler};
    if (texture->is_array && texture->dimensions > 1 && mem_texel_bytes(texture) < block_bytes)
        view.block_bytes = block_bytes;
    const uint64_t last = mem_layers(texture) - 1;
    view.slice = fetch->layer < last ? fetch->layer : last;
    view.axes = texture->dimensions;
    view.is_in_cube = texture->geometry == MEM_CUBES;
    view_set_level(&view, 0);
    *face = NULL;
    if (view.is_in_cube && !fetch->has_texel) {
        const int number = face_of(fetch->at);
        *face = &faces[number];
        view.slice = view.slice * 6 + (uint64_t)number;
    }
    return view;
}

Texel texture_fetch(const DeviceMemory *memory, const MemTexture *texture,
                    const MemSampler *sampler, const Fetch *fetch, uint32_t block_bytes,
                    uint64_t *address) {
    const Face *face;
    View view = view_of(memory, texture, sampler, fetch, block_bytes, &face);
    const double level = level_of(&view, fetch, face);
    if (fetch->has_texel) {
        view_set_level(&view, (int)level);
        int64_t index[3];
        for (int axis = 0; axis < 3; axis++)
            index[axis] = (int64_t)fetch->texel[axis] + fetch->offset[axis];
        *address = view.level->address;
        return texel_at(&view, index, address);
    }
    float at[3] = {fetch->at[0], fetch->at[1], fetch->at[2]};
    if (face) place_on_face(face, fetch->at, at);
    if (!sampler->is_linear_mipmap || !gives_float(texture))
        return sample_level(&view, (int)floor(level + 0.5), fetch, at, address);
    const double lower = floor(level), weight = fixed_weight(level - lower);
    uint64_t ignored;
    Texel near = sample_level(&view, (int)lower, fetch, at, address);
    if (weight == 0 || near.is_missing) return near;
    Texel far = sample_level(&view, (int)lower + 1, fetch, at, &ignored);
    if (far.is_missing) *address = ignored;
    return far.is_missing ? far : blend_levels(&near, &far, weight);
}

Texel texture_gather(const DeviceMemory *memory, const MemTexture *texture,
                     const MemSampler *sampler, const Fetch *fetch, int component,
                     uint32_t block_bytes, uint64_t *address) {
    static const int offsets[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const Face *face;
    View view = view_of(memory, texture, sampler, fetch, block_bytes, &face);
    float at[3] = {fetch->at[0], fetch->at[1], fetch->at[2]};
    if (face) place_on_face(face, fetch->at, at);
    int64_t lower[2];
    for (int axis = 0; axis < 2; axis++) {
        const double place = coordinate(face || sampler->is_normalised, at[axis], view.size[axis]);
        lower[axis] = (int64_t)floor(place - 0.5) + fetch->offset[axis];
    }
    Texel result = {.is_missing = false};
    *address = view.level->address;
    for (int k = 0; k < 4; k++) {
        const int64_t index[3] = {lower[0] + offsets[k][0], lower[1] + offsets[k][1], 0};
        Texel texel = texel_at(&view, index, address);
        if (texel.is_missing) return texel;
        result.channel[k] = texel.channel[component];
    }
    return result;
}
