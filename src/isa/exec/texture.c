/* Texture fetches: addressing, filtering, and decoding of texels. */
#include "isa/exec/texture.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "isa/exec/approx.h"
#include "isa/exec/srgb.h"

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

/* The greatest integer of a channel; normalised reads return it as 1. */
static float channel_scale(const MemTexture *texture) {
    const uint32_t sign = 1u << (texture->channel_bits - 1);
    return texture->type == MEM_TEXEL_SIGNED ? (float)(sign - 1) : (float)(2 * (sign - 1) + 1);
}

/* Whether a channel that is read as a float is sRGB. */
static bool is_colour(const MemTexture *texture, uint32_t channel) {
    return texture->is_srgb && channel < 3 && texture->type == MEM_TEXEL_UNSIGNED &&
           texture->channel_bits == 8;
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
    if (is_colour(texture, channel)) return bits_of(isa_srgb_linear[raw]);
    float value = (is_signed ? (float)(int32_t)raw : (float)raw) / channel_scale(texture);
    return bits_of(value < -1.0f ? -1.0f : value);
}

static bool gives_float(const MemTexture *texture) {
    return texture->type == MEM_TEXEL_FLOAT ||
           (texture->reads_normalised && texture->channel_bits < 32);
}

Texel texture_decode(const MemTexture *texture, const uint8_t *bytes) {
    Texel texel = {0}; /* missing channels are 0, including the fourth */
    for (uint32_t c = 0; c < texture->channels; c++)
        texel.channel[c] = decode_channel(texture, bytes, c);
    return texel;
}

/* Clamps an integer to the range of its channel. */
static uint32_t encode_channel(const MemTexture *texture, uint32_t word) {
    const int bits = texture->channel_bits;
    if (texture->type == MEM_TEXEL_FLOAT)
        return bits == 16 ? f16_of_f64((double)float_of(word), ISA_ROUND_ZERO) : word;
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

/* Index of a texel along one axis after the addressing mode is applied; -1: the border. */
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

/* The border's colour in the format of the texture's channels. Integer channels take the low bits
 * of the float; others take the nearest value (the lower one on a tie, as measured). */
static uint32_t border_channel(const MemTexture *texture, float value) {
    if (texture->type == MEM_TEXEL_FLOAT) return bits_of(value);
    if (!gives_float(texture)) {
        const uint32_t shift = 32u - texture->channel_bits, bits = bits_of(value) << shift;
        return texture->type == MEM_TEXEL_SIGNED ? (uint32_t)((int32_t)bits >> shift)
                                                 : bits >> shift;
    }
    const float scale = channel_scale(texture);
    const float least = texture->type == MEM_TEXEL_SIGNED ? -1.0f : 0.0f;
    const float within = value > least ? value < 1.0f ? value : 1.0f : least;
    return bits_of(ceilf(within * scale - 0.5f) / scale);
}

static Texel border(const MemTexture *texture, const MemSampler *sampler) {
    Texel texel = {0};
    for (int c = 0; c < texture->channels; c++)
        texel.channel[c] = border_channel(texture, sampler->border[c]);
    return texel;
}

/* The part of a texture that a fetch reads: one level, and one slice of it. */
typedef struct View {
    const DeviceMemory *memory;
    const MemTexture *texture;
    const MemSampler *sampler;
    const MemLevel *level;
    uint64_t slice;       /* layer or face */
    int axes;             /* axes that are filtered and wrapped */
    bool is_in_cube;      /* faces end at their edges */
    uint32_t block_bytes; /* size of a block of texels; 0: texels are in rows */
    int64_t size[3];      /* of the level, per axis */
} View;

static void view_set_level(View *view, int level) {
    view->level = &view->texture->level[level];
    view->size[0] = (int64_t)view->level->width;
    view->size[1] = (int64_t)view->level->height;
    view->size[2] = view->texture->geometry == MEM_PLAIN ? (int64_t)view->level->depth : 1;
}

/* Bytes from the start of a slice to a texel. A block is as wide as high, or twice as wide. Blocks
 * follow one another in rows of blocks, as in GPGPU-Sim. The order that real GPUs use is not
 * known. */
static uint64_t texel_offset(const View *view, uint64_t x, uint64_t y) {
    const uint64_t bytes = mem_texel_bytes(view->texture), pitch = view->level->pitch_bytes;
    const int log_texels = bits_highest32((uint32_t)(view->block_bytes / bytes));
    const int log_height = log_texels / 2, log_width = log_texels - log_height;
    const uint64_t row_bytes = bytes << log_width;
    const uint64_t blocks = (pitch + row_bytes - 1) / row_bytes; /* per row of blocks */
    return ((y >> log_height) * blocks + (x >> log_width)) * view->block_bytes +
           (y & ((1u << log_height) - 1)) * row_bytes + (x & ((1u << log_width) - 1)) * bytes;
}

/* The texel at an index, after the addressing mode is applied. */
static Texel texel_at(const View *view, const int64_t *at, uint64_t *address) {
    const MemTexture *texture = view->texture;
    const MemLevel *level = view->level;
    const bool is_outside = at[0] < 0 || at[0] >= view->size[0];
    if (texture->is_linear_memory && is_outside)
        return (Texel){0}; /* CUDA: fetches outside linear memory return zero */
    int64_t index[3] = {0};
    for (int axis = 0; axis < view->axes; axis++) {
        index[axis] = wrap(at[axis], view->size[axis], view->sampler->mode[axis]);
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

/* A coordinate in texels; NaN gives texel 0. */
static double coordinate(bool is_normalised, float value, int64_t size) {
    double c = is_normalised ? (double)value * (double)size : (double)value;
    if (!(c > -1e15)) return c != c ? 0 : -1e15;
    return c < 1e15 ? c : 1e15;
}

/* Weights and their products are in 256ths, rounded to nearest, ties up. */
enum { WHOLE = 256, CORNERS = 8 };
static int32_t fixed_weight(double weight) { return (int32_t)floor(weight * WHOLE + 0.5); }
static int32_t weight_product(int32_t a, int32_t b) { return (a * b + WHOLE / 2) / WHOLE; }

/* The shares of a level's corners in a sample. The share of everything on the upper side of a set
 * of axes is the product of these axes' weights. A corner's share is the part of it that is not on
 * the upper side of further axes. The upper one of two levels is treated like the upper side of
 * another axis. As measured on an H100; with three axes a few samples there differ by one 256th. */
static void find_shares(const int32_t *weight, int32_t upper_level, bool is_upper_level,
                        int32_t *share) {
    share[0] = WHOLE;
    for (int set = 1; set < CORNERS; set++) {
        const int last = set >= 4 ? 2 : set >= 2 ? 1 : 0;
        share[set] = weight_product(share[set - (1 << last)], weight[last]);
    }
    for (int set = 0; set < CORNERS; set++) {
        const int32_t upper = weight_product(share[set], upper_level);
        share[set] = is_upper_level ? upper : share[set] - upper;
    }
    for (int axis = 0; axis < 3; axis++)
        for (int set = 0; set < CORNERS; set++)
            if (!(set >> axis & 1)) share[set] -= share[set | 1 << axis];
}

/* A sum of weighted texels, with its address. */
typedef struct Sum {
    double channel[4];
    uint64_t address; /* of the first texel, or of a missing one */
    bool is_missing;
} Sum;

/* Adds the texels of a level around `at`, in texels; without filtering only the texel at that
 * place. A texel whose share is 0 has no influence, even if it is infinite. */
static void add_level(View *view, int level, const Fetch *fetch, const float *at,
                      int32_t upper_level, bool is_upper_level, Sum *sum) {
    int64_t lower[3] = {0};
    int32_t weight[3] = {0}, share[CORNERS];
    const bool filters = view->sampler->is_linear_filter;
    view_set_level(view, level);
    for (int axis = 0; axis < view->axes; axis++) {
        const bool is_normalised = view->is_in_cube || view->sampler->is_normalised;
        const double place =
            coordinate(is_normalised, at[axis], view->size[axis]) - (filters ? 0.5 : 0);
        lower[axis] = (int64_t)floor(place) + fetch->offset[axis];
        weight[axis] = filters ? fixed_weight(place - floor(place)) : 0;
    }
    find_shares(weight, upper_level, is_upper_level, share);
    for (int corner = 0; corner < 1 << view->axes; corner++) {
        const int64_t here[3] = {lower[0] + (corner & 1), lower[1] + (corner >> 1 & 1),
                                 lower[2] + (corner >> 2)};
        uint64_t place = view->level->address;
        const Texel texel = texel_at(view, here, &place);
        if (!sum->is_missing && (texel.is_missing || (corner == 0 && !is_upper_level)))
            sum->address = place;
        sum->is_missing |= texel.is_missing;
        for (int c = 0; c < 4 && share[corner]; c++)
            sum->channel[c] += share[corner] * (double)float_of(texel.channel[c]);
    }
}

/* A number in [0, 1] as a half, ties up. An H200 returned this for 768 samples between sRGB
 * texels. */
static float as_half_up(double value) {
    int exponent;
    frexp(value, &exponent); /* 2^(exponent - 1) <= value < 2^exponent */
    const int last = (exponent > -13 ? exponent : -13) - 11; /* exponent of the last of 11 bits */
    return (float)ldexp(floor(ldexp(value, -last) + 0.5), last);
}

/* Filtered results have the precision of the texels: that of a half, or of 16 bits in [0, 1]. */
static float as_filtered(const MemTexture *texture, uint32_t channel, double value) {
    if (texture->reads_normalised && is_colour(texture, channel)) return as_half_up(value);
    if (texture->type == MEM_TEXEL_FLOAT && texture->channel_bits == 16)
        return (float)f64_of_f16(f16_of_f64((double)(float)value, ISA_ROUND_NEAREST));
    if (texture->type == MEM_TEXEL_UNSIGNED) return (float)(floor(value * 65535 + 0.5) / 65535);
    return (float)value;
}

static Texel finish(const MemTexture *texture, const Sum *sum) {
    Texel result = {.is_missing = sum->is_missing};
    for (uint32_t c = 0; c < 4 && !sum->is_missing; c++)
        result.channel[c] = bits_of(as_filtered(texture, c, sum->channel[c] / WHOLE));
    return result;
}

/* The nearest texel to the place, in one level. */
static Texel nearest_texel(View *view, int level, const Fetch *fetch, const float *at,
                           uint64_t *address) {
    view_set_level(view, level);
    *address = view->level->address;
    int64_t index[3];
    for (int axis = 0; axis < 3; axis++) {
        const bool is_normalised = view->is_in_cube || view->sampler->is_normalised;
        const double place = coordinate(is_normalised, at[axis], view->size[axis]);
        index[axis] = (int64_t)floor(place) + fetch->offset[axis];
    }
    return texel_at(view, index, address);
}

/* ---- Cubes ---- */

/* CUDA Programming Guide, table of cubemap fetches: which of x, y, z is the greatest, with its sign
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

/* The place on a face, in [0, 1]. A direction of length 0 gives the middle. */
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

/* The level for gradients: the logarithm of the longer one, measured in texels of the first
 * level. */
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
    const double level = fetch->chooses == FETCH_GRADIENTS ? level_of_gradients(view, fetch, face)
                                                           : (double)fetch->level;
    const double lowest = (double)sampler->lowest_level, highest = (double)sampler->highest_level;
    return limit(limit(level + (double)sampler->level_bias, lowest, highest), 0, last);
}

/* The texture's first level, and in *face the cube face that the fetch uses (NULL: none). */
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

/* Fetches with integer coordinates are neither filtered nor wrapped. With a level, coordinates are
 * clamped to the edges, and a level that does not exist gives zero. Without a level, everything
 * outside is zero. Linear memory has no levels and ignores offsets. As measured on an H100, except
 * that a one-dimensional CUDA array gives zero everywhere there, and its texels here. */
static Texel fetch_by_integers(const DeviceMemory *memory, const MemTexture *texture,
                               const MemSampler *sampler, const Fetch *fetch, uint32_t block_bytes,
                               uint64_t *address) {
    const Face *face;
    View view = view_of(memory, texture, sampler, fetch, block_bytes, &face);
    const bool has_level = fetch->chooses == FETCH_LEVEL;
    const bool has_levels = has_level && !texture->is_linear_memory;
    *address = view.level->address;
    if (has_levels && !(fetch->level >= 0 && fetch->level < (float)texture->levels))
        return (Texel){0};
    if (has_levels) view_set_level(&view, (int)fetch->level);
    if (!has_level && fetch->layer >= mem_layers(texture)) return (Texel){0};
    int64_t index[3] = {0};
    for (int axis = 0; axis < view.axes; axis++) {
        const int64_t last = view.size[axis] - 1;
        const int64_t at =
            (int64_t)fetch->texel[axis] + (texture->is_linear_memory ? 0 : fetch->offset[axis]);
        index[axis] = at < 0 ? 0 : at > last ? last : at;
        if (!has_level && index[axis] != at) return (Texel){0};
    }
    return texel_at(&view, index, address);
}

Texel texture_fetch(const DeviceMemory *memory, const MemTexture *texture,
                    const MemSampler *sampler, const Fetch *fetch, uint32_t block_bytes,
                    uint64_t *address) {
    if (fetch->has_texel)
        return fetch_by_integers(memory, texture, sampler, fetch, block_bytes, address);
    const Face *face;
    View view = view_of(memory, texture, sampler, fetch, block_bytes, &face);
    const double level = level_of(&view, fetch, face);
    float at[3] = {fetch->at[0], fetch->at[1], fetch->at[2]};
    if (face) place_on_face(face, fetch->at, at);
    const bool blends = sampler->is_linear_mipmap && gives_float(texture);
    if (!blends && (!sampler->is_linear_filter || !gives_float(texture)))
        return nearest_texel(&view, (int)floor(level + 0.5), fetch, at, address);
    const double lower = floor(level + (blends ? 0 : 0.5));
    const int32_t weight = blends ? fixed_weight(level - lower) : 0;
    Sum sum = {.address = view.level->address};
    add_level(&view, (int)lower, fetch, at, weight, false, &sum);
    if (weight) add_level(&view, (int)lower + 1, fetch, at, weight, true, &sum);
    *address = sum.address;
    return finish(texture, &sum);
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
