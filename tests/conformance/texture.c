/* tex, tld4 and txq by texture object: geometries, levels, formats, addressing, filtering.
 *
 * Texels are chosen so that a filtered value, a sum of texels with weights of 8 bits each, is exact
 * in double. The CUDA Programming Guide gives the formulas ("Texture Fetching"); that weights are
 * rounded to nearest, and how gradients become a level, it leaves open. */
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "memory/texture.h"

#include "values.h"

enum {
    TEXTURES = 24,
    BYTES = 1 << 16, /* size of a texture, all levels */
    PITCH = 256,
    FETCHES = TRIAL_THREADS,
    INPUT_AT = 64, /* first word of the threads' inputs */
    INPUT_WORDS = 8
};

#define CLAMP     {MEM_ADDRESS_CLAMP, MEM_ADDRESS_CLAMP, MEM_ADDRESS_CLAMP}
#define WRAP      {MEM_ADDRESS_WRAP, MEM_ADDRESS_MIRROR, MEM_ADDRESS_WRAP}
#define BORDER    {MEM_ADDRESS_BORDER, MEM_ADDRESS_BORDER, MEM_ADDRESS_BORDER}
#define UNSIGNED_ MEM_TEXEL_UNSIGNED
#define SIGNED_   MEM_TEXEL_SIGNED
#define FLOAT_    MEM_TEXEL_FLOAT

/* A texture under test. Sizes are powers of two, so that coordinates in [0, 1) are exact. */
typedef struct Sample {
    MemGeometry geometry;
    uint8_t dimensions;
    uint16_t width, height, depth; /* depth: slices */
    uint8_t levels, channels, bits;
    MemTexelType type;
    bool is_linear_memory, reads_normalised;
    MemSampler sampler;
} Sample;

static const Sample samples[TEXTURES] = {
    {MEM_PLAIN, 2, 8, 4, 1, 1, 4, 8, UNSIGNED_, .sampler = {.mode = CLAMP}},
    {MEM_PLAIN, 2, 8, 8, 1, 1, 1, 32, FLOAT_, .sampler = {true, true, .mode = WRAP}},
    {MEM_PLAIN, 2, 4, 8, 1, 1, 2, 16, SIGNED_, false, true, {true, .mode = WRAP}},
    {MEM_PLAIN, 2, 8, 4, 1, 1, 4, 16, FLOAT_, .sampler = {false, true, .mode = CLAMP}},
    {MEM_PLAIN,
     2,
     4,
     4,
     1,
     1,
     2,
     8,
     UNSIGNED_,
     false,
     true,
     {false, true, .mode = BORDER, .border = {0.5f, 0.25f, 2, 3}}},
    {MEM_PLAIN, 1, 32, 1, 1, 1, 4, 32, FLOAT_, .is_linear_memory = true,
     .sampler = {.mode = CLAMP}},
    {MEM_PLAIN, 2, 8, 1, 1, 1, 1, 32, SIGNED_,
     .sampler = {.mode = BORDER, .border = {7, 8, 9, 10}}},
    {MEM_PLAIN, 1, 16, 1, 1, 1, 2, 32, FLOAT_, .sampler = {true, true, .mode = CLAMP}},
    {MEM_PLAIN, 3, 8, 4, 4, 1, 1, 32, FLOAT_, .sampler = {false, true, .mode = CLAMP}},
    {MEM_PLAIN, 3, 4, 4, 8, 1, 4, 8, UNSIGNED_, false, true, {true, true, .mode = WRAP}},
    {MEM_PLAIN, 3, 4, 2, 2, 1, 2, 16, SIGNED_, .sampler = {.mode = BORDER, .border = {1, 2, 3, 4}}},
    {MEM_LAYERS, 1, 16, 1, 3, 1, 1, 32, FLOAT_, .sampler = {false, true, .mode = CLAMP}},
    {MEM_LAYERS, 2, 8, 4, 3, 1, 4, 8, UNSIGNED_, .sampler = {.mode = CLAMP}},
    {MEM_LAYERS, 2, 8, 8, 2, 1, 2, 32, FLOAT_, .sampler = {true, true, .mode = WRAP}},
    {MEM_CUBES, 2, 8, 8, 6, 1, 1, 32, FLOAT_, .sampler = {true, true, .mode = WRAP}},
    {MEM_CUBES, 2, 4, 4, 12, 1, 4, 16, UNSIGNED_, .sampler = {true, .mode = CLAMP}},
    {MEM_PLAIN, 2, 16, 8, 1, 5, 1, 32, FLOAT_,
     .sampler = {true, true, true, CLAMP, .highest_level = 9}},
    {MEM_PLAIN,
     2,
     16,
     16,
     1,
     5,
     4,
     8,
     UNSIGNED_,
     false,
     true,
     {true, false, false, WRAP, .level_bias = 1, .lowest_level = 0.75f, .highest_level = 3}},
    {MEM_PLAIN, 1, 32, 1, 1, 6, 1, 32, FLOAT_,
     .sampler = {true, true, true, WRAP, .highest_level = 4.25f}},
    {MEM_PLAIN, 3, 8, 8, 8, 4, 1, 32, FLOAT_,
     .sampler = {true, true, true, CLAMP, .level_bias = -0.5f, .highest_level = 9}},
    {MEM_CUBES, 2, 8, 8, 12, 4, 1, 32, FLOAT_,
     .sampler = {true, true, true, CLAMP, .highest_level = 9}},
    {MEM_LAYERS, 2, 8, 8, 3, 4, 1, 16, FLOAT_,
     .sampler = {true, true, true, WRAP, .highest_level = 9}},
    {MEM_LAYERS,
     1,
     16,
     1,
     2,
     5,
     2,
     16,
     SIGNED_,
     false,
     true,
     {true, false, false, WRAP, .highest_level = 9}},
    {MEM_CUBES, 2, 8, 8, 6, 1, 4, 8, UNSIGNED_, false, true, {true, true, .mode = CLAMP}},
};

/* The textures of each engine, over the same bytes. */
typedef struct Atlas {
    uint8_t bytes[TEXTURES][BYTES];
    uint64_t handles[HARNESS_MAX_ENGINES][TEXTURES];
} Atlas;

static int texel_bytes(const Sample *sample) { return sample->channels * sample->bits / 8; }

static int halved(int size, int level) { return size >> level ? size >> level : 1; }

/* Slices of a level: the numbers of layers and faces do not shrink. */
static int slices(const Sample *sample, int level) {
    return sample->geometry == MEM_PLAIN ? halved(sample->depth, level) : sample->depth;
}

/* Offset of a level; levels follow each other. */
static int level_at(const Sample *sample, int level) {
    int at = 0;
    for (int i = 0; i < level; i++)
        at += halved(sample->height, i) * slices(sample, i) * PITCH;
    return at;
}

static const uint8_t *texel_at(const Atlas *atlas, int number, int level, const int64_t *at,
                               int channel) {
    const Sample *sample = &samples[number];
    const int64_t row = at[2] * halved(sample->height, level) + at[1];
    return atlas->bytes[number] + level_at(sample, level) + row * PITCH +
           at[0] * texel_bytes(sample) + channel * sample->bits / 8;
}

/* Fills textures with small integers, as floats if the texture has floats. */
static void fill(Atlas *atlas) {
    uint64_t state = 9;
    for (int t = 0; t < TEXTURES; t++) {
        const Sample *sample = &samples[t];
        for (int at = 0; at < BYTES; at += sample->bits / 8) {
            uint64_t random = values_next(&state);
            uint32_t raw = (uint32_t)random;
            if (sample->type == MEM_TEXEL_FLOAT && sample->bits == 32) {
                float value = (float)(int)(random % 2048) - 1024;
                memcpy(&raw, &value, sizeof raw);
            } else if (sample->type == MEM_TEXEL_FLOAT) {
                raw = (uint32_t)(0x3c00 + random % 0x2000); /* from 1 up to 256 */
            }
            memcpy(atlas->bytes[t] + at, &raw, sample->bits / 8u);
        }
    }
}

static MemTexture describe(const Sample *sample, uint64_t address) {
    MemTexture texture = {.geometry = sample->geometry,
                          .dimensions = sample->dimensions,
                          .channels = sample->channels,
                          .channel_bits = sample->bits,
                          .levels = sample->levels,
                          .type = sample->type,
                          .is_linear_memory = sample->is_linear_memory,
                          .reads_normalised = sample->reads_normalised,
                          .sampler = sample->sampler};
    for (int i = 0; i < sample->levels; i++) {
        const uint64_t rows = (uint64_t)halved(sample->height, i);
        texture.level[i] = (MemLevel){address + (uint64_t)level_at(sample, i),
                                      (uint64_t)halved(sample->width, i),
                                      rows,
                                      (uint64_t)slices(sample, i),
                                      PITCH,
                                      PITCH * rows};
    }
    return texture;
}

/* ---- The reference ---- */

/* A channel as the instruction returns it: a float if `is_float`, else an integer's bits. */
typedef struct Channel {
    double value;
    uint32_t bits;
} Channel;

static bool gives_floats(const Sample *sample) {
    return sample->type == MEM_TEXEL_FLOAT || sample->reads_normalised;
}

static uint32_t float_bits(double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static Channel float_channel(double value) { return (Channel){value, float_bits(value)}; }

static double value_of(const Format *format, uint64_t bits) {
    Real real;
    real_set(&real, format, bits);
    return mpfr_get_d(real.value, MPFR_RNDN);
}

static Channel decode(const Sample *sample, const uint8_t *bytes) {
    uint32_t raw = 0;
    memcpy(&raw, bytes, sample->bits / 8u);
    if (sample->type == MEM_TEXEL_FLOAT)
        return float_channel(value_of(sample->bits == 16 ? &FORMAT_F16 : &FORMAT_F32, raw));
    const bool is_signed = sample->type == MEM_TEXEL_SIGNED;
    const Type type = {"", is_signed ? KIND_SIGNED : KIND_UNSIGNED, sample->bits, 1, NULL};
    int64_t integer = (int64_t)type_integer(&type, raw);
    if (!sample->reads_normalised) return (Channel){0, (uint32_t)integer};
    double most = ldexp(1, sample->bits - is_signed) - 1;
    double value = (double)integer / most;
    return float_channel((float)(value < -1 ? -1 : value));
}

/* Maps an index outside the texture; -1 is the border. */
static int64_t address(int64_t i, int64_t size, MemAddressMode mode) {
    if (mode == MEM_ADDRESS_BORDER) return i < 0 || i >= size ? -1 : i;
    if (mode == MEM_ADDRESS_CLAMP) return i < 0 ? 0 : i >= size ? size - 1 : i;
    int64_t period = mode == MEM_ADDRESS_WRAP ? size : 2 * size;
    while (i < 0)
        i += period;
    i %= period;
    return i < size ? i : period - 1 - i;
}

/* A place to sample, from a thread's input. */
typedef struct Place {
    int number; /* number of the texture */
    MemSampler sampler;
    uint32_t layer;
    int face;         /* -1: not a cube */
    float at[3];      /* position on the face, or in the texture */
    int32_t texel[3]; /* integer coordinates, used instead of `at` */
    int32_t offset[3];
    int axes;
    double level; /* limited to the existing levels */
} Place;

static int axis_size(const Place *place, int level, int axis) {
    const Sample *sample = &samples[place->number];
    return halved(axis == 0 ? sample->width : axis == 1 ? sample->height : sample->depth, level);
}

static Channel channel_at(const Atlas *atlas, const Place *place, int level, const int64_t *at,
                          int channel) {
    const Sample *sample = &samples[place->number];
    const bool is_float = gives_floats(sample);
    int64_t index[3] = {0};
    if (sample->is_linear_memory && (at[0] < 0 || at[0] >= sample->width)) return float_channel(0);
    for (int axis = 0; axis < place->axes; axis++) {
        const int size = axis_size(place, level, axis);
        index[axis] = address(at[axis], size, place->sampler.mode[axis]);
        if (index[axis] >= 0) continue;
        double value = (double)place->sampler.border[channel];
        if (channel >= sample->channels) return (Channel){0};
        if (sample->reads_normalised) { /* in steps of the channel, ties down */
            const double most = ldexp(1, sample->bits - (sample->type == SIGNED_)) - 1;
            value = ceil(fmin(value, 1) * most - 0.5) / most;
        }
        if (is_float) return float_channel(value);
        /* an integer channel gets the low bits of the float */
        const Type type = {"", sample->type == SIGNED_ ? KIND_SIGNED : KIND_UNSIGNED, sample->bits,
                           1, NULL};
        return (Channel){0, (uint32_t)type_integer(&type, float_bits(value))};
    }
    if (sample->geometry == MEM_LAYERS)
        index[2] = place->layer < sample->depth ? (int64_t)place->layer : sample->depth - 1;
    if (sample->geometry == MEM_CUBES) {
        const uint32_t cubes = sample->depth / 6u;
        index[2] = (place->layer < cubes ? place->layer : cubes - 1) * 6 + (uint32_t)place->face;
    }
    if (channel < sample->channels)
        return decode(sample, texel_at(atlas, place->number, level, index, channel));
    return (Channel){0}; /* a channel that the texture lacks */
}

static double in_texels(const Place *place, int level, int axis) {
    const bool is_scaled = place->face >= 0 || place->sampler.is_normalised;
    return (double)place->at[axis] * (is_scaled ? axis_size(place, level, axis) : 1);
}

static double weight_of(double fraction) { return floor(fraction * 256 + 0.5) / 256; }

/* Rounds to 8 bits, ties up: weights, and products of weights. */
static double product_of(const double *weight, int set, double level_weight) {
    double product = 1;
    for (int axis = 0; axis < 3; axis++)
        if (set >> axis & 1) product = weight_of(product * weight[axis]);
    return weight_of(product * level_weight);
}

/* The weight of a corner, as on an H100. The upper side of some axes gets the product of their
 * weights. A corner gets that product less the shares of the corners further up. Levels are an
 * axis, too; `level_weight` is the weight of the upper level. */
static double share_of(const double *weight, int corner, int axes, double level_weight,
                       bool is_upper_level) {
    double share = 0;
    for (int set = 0; set < 1 << axes; set++) {
        if ((set & corner) != corner) continue;
        const double upper = product_of(weight, set, level_weight);
        const double part = is_upper_level ? upper : product_of(weight, set, 1) - upper;
        share += __builtin_popcount((unsigned)(set ^ corner)) & 1 ? -part : part;
    }
    return share;
}

/* The weighted sum of the texels of one level. It is exact, so the order does not matter. */
static double sample_level(const Atlas *atlas, const Place *place, int level, int channel,
                           double level_weight, bool is_upper_level) {
    int64_t lower[3] = {0};
    double weight[3] = {0}, sum = 0;
    const bool filters = place->sampler.is_linear_filter;
    for (int axis = 0; axis < place->axes; axis++) {
        const double at = in_texels(place, level, axis) - (filters ? 0.5 : 0);
        lower[axis] = (int64_t)floor(at) + place->offset[axis];
        weight[axis] = filters ? weight_of(at - floor(at)) : 0;
    }
    for (int corner = 0; corner < 1 << place->axes; corner++) {
        int64_t here[3];
        for (int axis = 0; axis < 3; axis++)
            here[axis] = lower[axis] + (corner >> axis & 1);
        const double share = share_of(weight, corner, place->axes, level_weight, is_upper_level);
        if (share != 0) sum += share * channel_at(atlas, place, level, here, channel).value;
    }
    return sum;
}

/* A filtered value has the precision of a half, or of 16 bits in [0, 1], if the texels are as
 * narrow. */
static double as_filtered(const Sample *sample, double value) {
    if (sample->type == UNSIGNED_) return nearbyint(value * 65535) / 65535;
    if (sample->bits == 32 || sample->type == SIGNED_) return value;
    Real real;
    real_set(&real, &FORMAT_F32, float_bits(value));
    return value_of(&FORMAT_F16, real_round(&FORMAT_F16, real.value, MPFR_RNDN));
}

static Channel sample_all(const Atlas *atlas, const Place *place, int channel) {
    const Sample *sample = &samples[place->number];
    const bool blends = place->sampler.is_linear_mipmap && gives_floats(sample);
    const int lower = (int)floor(place->level + (blends ? 0 : 0.5));
    if (!gives_floats(sample) || (!blends && !place->sampler.is_linear_filter)) {
        int64_t at[3] = {0};
        for (int axis = 0; axis < place->axes; axis++)
            at[axis] = (int64_t)floor(in_texels(place, lower, axis)) + place->offset[axis];
        return channel_at(atlas, place, lower, at, channel);
    }
    const double weight = blends ? weight_of(place->level - lower) : 0;
    double value = sample_level(atlas, place, lower, channel, weight, false);
    if (weight > 0) value += sample_level(atlas, place, lower + 1, channel, weight, true);
    return float_channel(as_filtered(sample, value));
}

static Channel gather(const Atlas *atlas, const Place *place, int channel, int result) {
    static const int right[] = {0, 1, 1, 0}, down[] = {1, 1, 0, 0};
    const int64_t i = (int64_t)floor(in_texels(place, 0, 0) - 0.5) + place->offset[0];
    const int64_t j = (int64_t)floor(in_texels(place, 0, 1) - 0.5) + place->offset[1];
    return channel_at(atlas, place, 0, (int64_t[3]){i + right[result], j + down[result], 0},
                      channel);
}

/* ---- Inputs ---- */

/* A thread's input, in words. */
enum {
    WORD_LAYER,
    WORD_AT,                        /* three words: coordinates, floats or integers */
    WORD_LEVEL = WORD_AT + 3,       /* a float or an integer */
    WORD_GRADIENT,                  /* two times three words */
    WORD_OFFSET = WORD_GRADIENT + 6 /* three words */
};

typedef struct Input {
    uint32_t word[2 * INPUT_WORDS];
} Input;

static float input_float(const Input *input, int word) {
    float value;
    memcpy(&value, &input->word[word], sizeof value);
    return value;
}

/* Axes of the largest coordinate, of s and of t, and their signs: CUDA C++ Programming Guide,
 * "Cubemap Textures". */
static const struct {
    int m, s, t, m_sign, s_sign, t_sign;
} faces[6] = {{0, 2, 1, 1, -1, -1}, {0, 2, 1, -1, 1, -1}, {1, 0, 2, 1, 1, 1},
              {1, 0, 2, -1, 1, -1}, {2, 0, 1, 1, 1, -1},  {2, 0, 1, -1, -1, -1}};

/* Chooses a direction to a place on a face; x and y are chosen as in choose_input. */
static void choose_direction(uint64_t *state, int size, Input *input) {
    const int face = (int)(values_next(state) % 6);
    const int inside = size * 64 - 2;
    float direction[3];
    const float length = (float)(1 << values_next(state) % 3);
    direction[faces[face].m] = length * (float)faces[face].m_sign;
    for (int axis = 0; axis < 2; axis++) {
        const int step = 1 + (int)(values_next(state) % (unsigned)inside);
        const float at = (float)(16 * step + 1) / (float)(size * 1024);
        const int to = axis ? faces[face].t : faces[face].s;
        const int sign = axis ? faces[face].t_sign : faces[face].s_sign;
        direction[to] = (2 * at - 1) * length * (float)sign;
    }
    for (int axis = 0; axis < 3; axis++)
        input->word[WORD_AT + axis] = float_bits((double)direction[axis]);
}

/* Chooses coordinates inside and around the texture, in odd steps of 1/1024 texel, and levels in
 * odd steps of 1/16. Thus no weight is a tie at any level, and no two levels are equally near. */
static void choose_input(uint64_t *state, const Sample *sample, bool are_integers, Input *input) {
    memset(input, 0, sizeof *input);
    input->word[WORD_LAYER] = (uint32_t)(values_next(state) % 5);
    const int sizes[3] = {sample->width, sample->height,
                          sample->geometry == MEM_PLAIN ? sample->depth : 1};
    for (int axis = 0; axis < 3; axis++) {
        const int size = sizes[axis];
        const int step = (int)(values_next(state) % (unsigned)(size * 4 * 64)) - size * 96;
        float value = (float)(16 * step + 1) / 1024;
        if (sample->sampler.is_normalised) value /= (float)size;
        input->word[WORD_AT + axis] =
            are_integers ? (uint32_t)(step / 64) : float_bits((double)value);
        input->word[WORD_OFFSET + axis] = (uint32_t)((int)(values_next(state) % 16) - 8);
    }
    if (sample->geometry == MEM_CUBES) choose_direction(state, sample->width, input);
    const int level = (int)(values_next(state) % (unsigned)(16 * sample->levels + 32)) - 16;
    input->word[WORD_LEVEL] =
        are_integers ? (uint32_t)(level / 16) : float_bits((2 * (level / 2) + 1) / 16.0);
    for (int i = 0; i < 6; i++) {
        const double random = (double)(values_next(state) % 4096) / 4096 - 0.5;
        const double scale = ldexp(1, (int)(values_next(state) % 4)) / sizes[0];
        input->word[WORD_GRADIENT + i] =
            float_bits(random * scale * (sample->sampler.is_normalised ? 1 : sizes[0]));
    }
}

/* ---- What a form does with an input ---- */

typedef struct Case {
    const Form *form;
    int number; /* number of the texture */
    bool has_offsets, has_sampler, has_flag;
    bool are_integers, is_gather;
} Case;

/* The level: log2 of the longer gradient's length, in texels. */
static double level_of_gradients(const Case *c, const Input *input, int face, int axes) {
    const Sample *sample = &samples[c->number];
    double longest = 0;
    for (int g = 0; g < 2; g++) {
        double square = 0;
        for (int axis = 0; axis < (face < 0 ? axes : 2); axis++) {
            double step = (double)input_float(input, WORD_GRADIENT + 3 * g + axis);
            const int size = axis == 0 ? sample->width : axis == 1 ? sample->height : sample->depth;
            if (face >= 0) { /* the derivative of (s / m + 1) / 2 */
                const int from = axis ? faces[face].t : faces[face].s, m = faces[face].m;
                const double sign = axis ? faces[face].t_sign : faces[face].s_sign;
                const double s = sign * (double)input_float(input, WORD_AT + from);
                const double ds = sign * (double)input_float(input, WORD_GRADIENT + 3 * g + from);
                const double length = fabs((double)input_float(input, WORD_AT + m));
                const double dm =
                    faces[face].m_sign * (double)input_float(input, WORD_GRADIENT + 3 * g + m);
                step = (ds / length - s / length * (dm / length)) / 2;
            }
            if (face >= 0 || sample->sampler.is_normalised) step *= size;
            square += step * step;
        }
        if (square > longest) longest = square;
    }
    return longest > 0 ? log2(sqrt(longest)) : -1e9;
}

static int find_face(const Input *input) {
    int greatest = 2;
    for (int axis = 1; axis >= 0; axis--)
        if (fabsf(input_float(input, WORD_AT + axis)) >
            fabsf(input_float(input, WORD_AT + greatest)))
            greatest = axis;
    return 2 * greatest + (input_float(input, WORD_AT + greatest) < 0);
}

static double limit(double value, double lowest, double highest) {
    return fmin(fmax(value, lowest), highest);
}

static Place place_of(const Case *c, const Input *input) {
    const Sample *sample = &samples[c->number];
    const bool is_layered =
        form_has(c->form, "a1d") || form_has(c->form, "a2d") || form_has(c->form, "acube");
    Place place = {.number = c->number,
                   .sampler = sample->sampler,
                   .layer = is_layered ? input->word[WORD_LAYER] : 0,
                   .face = sample->geometry == MEM_CUBES ? find_face(input) : -1,
                   .axes = sample->dimensions};
    if (c->has_sampler) { /* the module's sampler: linear, border along x, wrap along y */
        place.sampler.is_linear_filter = true;
        place.sampler.mode[0] = MEM_ADDRESS_BORDER;
        place.sampler.mode[1] = MEM_ADDRESS_WRAP;
        place.sampler.mode[2] = MEM_ADDRESS_WRAP;
    }
    for (int axis = 0; axis < 3; axis++) {
        place.at[axis] = input_float(input, WORD_AT + axis);
        place.texel[axis] = (int32_t)input->word[WORD_AT + axis];
        if (c->has_offsets) place.offset[axis] = (int32_t)input->word[WORD_OFFSET + axis];
    }
    double level = 0;
    const bool has_base = form_has(c->form, "base") || c->is_gather || c->are_integers;
    if (form_has(c->form, "grad")) level = level_of_gradients(c, input, place.face, place.axes);
    if (form_has(c->form, "level")) level = (double)input_float(input, WORD_LEVEL);
    if (!has_base)
        level = limit(level + (double)sample->sampler.level_bias,
                      (double)sample->sampler.lowest_level, (double)sample->sampler.highest_level);
    if (c->are_integers && form_has(c->form, "level")) level = (int32_t)input->word[WORD_LEVEL];
    place.level = limit(level, 0, sample->levels - 1);
    if (place.face < 0) return place;
    const double m = fabs((double)place.at[faces[place.face].m]);
    const double s = (double)place.at[faces[place.face].s] * faces[place.face].s_sign;
    const double t = (double)place.at[faces[place.face].t] * faces[place.face].t_sign;
    place.at[0] = (float)((s / m + 1) / 2);
    place.at[1] = (float)((t / m + 1) / 2);
    return place;
}

static uint32_t expected_channel(const Atlas *atlas, const Case *c, const Input *input,
                                 int result) {
    static const char *const components[] = {"r", "g", "b", "a", NULL};
    const Place place = place_of(c, input);
    if (c->is_gather) return gather(atlas, &place, form_which(c->form, components), result).bits;
    if (!c->are_integers) return sample_all(atlas, &place, result).bits;
    const Sample *sample = &samples[c->number];
    const bool has_level = form_has(c->form, "level");
    const int32_t level = (int32_t)input->word[WORD_LEVEL];
    if (has_level && !sample->is_linear_memory && (level < 0 || level >= sample->levels)) return 0;
    if (!has_level && sample->geometry == MEM_LAYERS && place.layer >= sample->depth) return 0;
    int64_t at[3] = {0};
    for (int axis = 0; axis < place.axes; axis++) {
        const int64_t last = axis_size(&place, (int)place.level, axis) - 1;
        at[axis] = (int64_t)place.texel[axis] + (sample->is_linear_memory ? 0 : place.offset[axis]);
        const int64_t nearest = at[axis] < 0 ? 0 : at[axis] > last ? last : at[axis];
        if (!has_level && at[axis] != nearest) return 0;
        at[axis] = nearest;
    }
    return channel_at(atlas, &place, (int)place.level, at, result).bits;
}

static uint32_t half_of(uint32_t bits) {
    Real real;
    real_set(&real, &FORMAT_F32, bits);
    return (uint32_t)real_round(&FORMAT_F16, real.value, MPFR_RNDN);
}

/* The four words that a thread stores. */
static void expect(const Atlas *atlas, const Case *c, const Input *input, uint32_t *words) {
    uint32_t channel[4];
    for (int i = 0; i < 4; i++)
        channel[i] = expected_channel(atlas, c, input, i);
    const Type *type = c->form->types[0];
    const bool is_half = strncmp(type->name, "f16", 3) == 0;
    for (int i = 0; i < 4; i++)
        words[i] = is_half ? half_of(channel[i]) : channel[i];
    if (type->elements == 2) {
        words[0] |= words[1] << 16;
        words[1] = words[2] | words[3] << 16;
        words[2] = words[3] = 0;
    }
    if (c->has_flag) words[3] = 1;
}

/* ---- The trials ---- */

static void prepare(Trial *trial, Engine *engine) {
    const Atlas *atlas = trial->user;
    memcpy(trial->in, atlas->handles[engine - trial->harness->engines], sizeof *atlas->handles);
}

/* The coordinates, and after the brackets a level, gradients or offsets. */
static void add_operands(const Case *c, Text *ptx) {
    const Form *form = c->form;
    const char *layer = "w0", *x = c->are_integers ? "w1" : "f1",
               *y = c->are_integers ? "w2" : "f2";
    const char *z = c->are_integers ? "w3" : "f3";
    if (form_has(form, "1d")) text_printf(ptx, "{%s}]", x);
    else if (form_has(form, "2d")) text_printf(ptx, "{%s, %s}]", x, y);
    else if (form_has(form, "a1d")) text_printf(ptx, "{%s, %s}]", layer, x);
    else if (form_has(form, "a2d")) text_printf(ptx, "{%s, %s, %s, %s}]", layer, x, y, y);
    else if (form_has(form, "acube")) text_printf(ptx, "{%s, %s, %s, %s}]", layer, x, y, z);
    else text_printf(ptx, "{%s, %s, %s, %s}]", x, y, z, z);
    const int axes = form_has(form, "1d") || form_has(form, "a1d")   ? 1
                     : form_has(form, "2d") || form_has(form, "a2d") ? 2
                                                                     : 3;
    static const char *const gradients[] = {", {f5}, {f8}", ", {f5, f6}, {f8, f9}",
                                            ", {f5, f6, f7, f7}, {f8, f9, f10, f10}"};
    static const char *const offsets[] = {", {w11}", ", {w11, w12}", ", {w11, w12, w13, w13}"};
    if (form_has(form, "level")) text_printf(ptx, ", %s", c->are_integers ? "w4" : "f4");
    if (form_has(form, "grad")) text_add(ptx, gradients[axes - 1]);
    if (c->has_offsets) text_add(ptx, offsets[axes - 1]);
}

static void add_fetch(const Case *c, Text *ptx) {
    const Type *type = c->form->types[0];
    const bool is_pair = type->elements == 2, is_half = !is_pair && type->bits == 16;
    text_printf(ptx, "%s %s%s, [at, %s", c->form->text,
                is_pair   ? "{d0, d1}"
                : is_half ? "{h0, h1, h2, h3}"
                          : "{d0, d1, d2, d3}",
                c->has_flag ? "|guard" : "", c->has_sampler ? "how, " : "");
    add_operands(c, ptx);
    text_add(ptx, ";\n");
    for (int i = 0; i < 4 && is_half; i++)
        text_printf(ptx, "cvt.u32.u16 d%d, h%d;\n", i, i);
    if (c->has_flag) text_add(ptx, "selp.u32 d3, 1, 0, guard;\n");
}

static void run_case(Trial *trial, const Case *c) {
    const Atlas *atlas = trial->user;
    uint64_t state = 21 + (uint64_t)c->number;
    trial_begin(trial, c->form->text);
    trial->prepare = prepare;
    trial_begin_kernel(trial, c->has_sampler
                                  ? ".global .samplerref how = { filter_mode = linear, addr_mode_0 "
                                    "= clamp_to_border, addr_mode_1 = wrap, addr_mode_2 = wrap };\n"
                                  : "");
    text_printf(&trial->ptx,
                ".reg .b32 w<16>, d<4>;\n.reg .b16 h<4>;\n.reg .f32 f<16>;\n"
                "ld.global.u64 at, [in+%d];\nmad.wide.u32 in, tid, %d, in;\n"
                "mad.wide.u32 out, tid, 16, out;\nmov.b32 d2, 0;\nmov.b32 d3, 0;\n",
                c->number * 8, INPUT_WORDS * 8);
    for (int word = 0; word < WORD_OFFSET + 3; word++)
        text_printf(&trial->ptx, "ld.global.u32 w%d, [in+%d];\nmov.b32 f%d, w%d;\n", word,
                    INPUT_AT * 8 + word * 4, word, word);
    add_fetch(c, &trial->ptx);
    text_add(&trial->ptx, "st.global.v4.b32 [out], {d0, d1, d2, d3};\n");
    for (int i = 0; i < FETCHES; i++) {
        Input input;
        uint32_t words[4];
        choose_input(&state, &samples[c->number], c->are_integers, &input);
        memcpy(&trial->in[INPUT_AT + i * INPUT_WORDS], &input, sizeof input);
        expect(atlas, c, &input, words);
        for (int half = 0; half < 2; half++)
            trial->expected[i * 2 + half] = words[2 * half] | (uint64_t)words[2 * half + 1] << 32;
    }
    trial->slots = FETCHES * 2;
    trial_run(trial);
}

static bool suits(const Form *form, const Sample *sample, bool are_integers) {
    const bool has_layer =
        form_has(form, "a1d") || form_has(form, "a2d") || form_has(form, "acube");
    const bool is_cube = form_has(form, "cube") || form_has(form, "acube");
    const int dimensions = form_has(form, "1d") || form_has(form, "a1d") ? 1
                           : form_has(form, "3d")                        ? 3
                                                                         : 2;
    const bool is_half = strncmp(form->types[0]->name, "f16", 3) == 0;
    if (is_half && !gives_floats(sample)) return false;
    if (sample->is_linear_memory && !are_integers) return false;
    /* On a GPU, integer coordinates read zero from an array of one dimension. */
    if (are_integers && sample->geometry == MEM_PLAIN && sample->dimensions == 1 &&
        !sample->is_linear_memory)
        return false;
    if (sample->dimensions != dimensions) return false;
    if (is_cube) return sample->geometry == MEM_CUBES;
    return sample->geometry == (has_layer ? MEM_LAYERS : MEM_PLAIN);
}

/* Forms that read .f32 without .base run on every texture that fits; other forms run on one. */
static void visit_fetch(void *user, const char *spelling) {
    Trial *trial = user;
    Form form;
    form_parse(&form, spelling);
    const bool is_gather = strcmp(form_word(&form, 0), "tld4") == 0;
    const bool are_integers = form.types[form.type_count - 1]->kind == KIND_SIGNED;
    const bool is_main = strcmp(form.types[0]->name, "f32") == 0 && !form_has(&form, "base");
    const bool is_cube = form_has(&form, "cube") || form_has(&form, "acube");
    for (int t = 0, done = 0; t < TEXTURES; t++) {
        if (!suits(&form, &samples[t], are_integers) || (done++ && !is_main)) continue;
        Case c = {&form, t, .are_integers = are_integers, .is_gather = is_gather};
        run_case(trial, &c);
        c.has_flag = c.has_offsets = !is_cube;
        if (is_main && !is_cube) run_case(trial, &c);
        c.has_sampler = true;
        if (is_main && !is_cube && !samples[t].is_linear_memory) run_case(trial, &c);
    }
}

/* PTX ISA, tables of channel types, channel orders and modes. */
static uint32_t answer(const char *query, const Sample *sample, int level) {
    static const uint32_t modes[] = {[MEM_ADDRESS_WRAP] = 0,
                                     [MEM_ADDRESS_MIRROR] = 1,
                                     [MEM_ADDRESS_CLAMP] = 3,
                                     [MEM_ADDRESS_BORDER] = 4};
    const uint32_t size = sample->bits == 8 ? 0 : sample->bits == 16 ? 1 : 2;
    if (strstr(query, ".width")) return (uint32_t)halved(sample->width, level);
    /* On an H100, the layers follow the last axis. */
    const uint32_t cubes = sample->depth > 6 ? sample->depth / 6u : 0;
    const uint32_t layers = sample->geometry == MEM_LAYERS  ? sample->depth
                            : sample->geometry == MEM_CUBES ? cubes
                                                            : 0;
    if (strstr(query, ".height"))
        return sample->dimensions > 1 ? (uint32_t)halved(sample->height, level)
               : layers               ? layers
                                      : !sample->is_linear_memory;
    if (strstr(query, ".depth"))
        return sample->dimensions > 2   ? (uint32_t)halved(sample->depth, level)
               : sample->dimensions > 1 ? layers
                                        : 0;
    if (strstr(query, "data_type"))
        return sample->type == FLOAT_     ? 0x10dc + size
               : sample->reads_normalised ? (sample->type == SIGNED_ ? 0x10d0 : 0x10d2) + size
                                          : (sample->type == SIGNED_ ? 0x10d7 : 0x10da) + size;
    if (strstr(query, "channel_order"))
        return sample->channels == 1 ? 0x10b0 : sample->channels == 2 ? 0x10b2 : 0x10b5;
    if (strstr(query, "normalized")) return sample->sampler.is_normalised;
    if (strstr(query, "array_size"))
        return sample->geometry == MEM_PLAIN   ? 1
               : sample->geometry == MEM_CUBES ? sample->depth / 6u
                                               : sample->depth;
    if (strstr(query, "mipmap")) return sample->levels;
    if (strstr(query, "samples")) return 1;
    if (strstr(query, "filter")) return sample->sampler.is_linear_filter;
    return modes[sample->sampler.mode[query[strlen(query) - 5] - '0']];
}

static void visit_query(void *user, const char *spelling) {
    Trial *trial = user;
    const bool has_level = strstr(spelling, ".level") != NULL;
    trial_begin(trial, spelling);
    trial->prepare = prepare;
    trial_begin_kernel(trial, "");
    text_printf(&trial->ptx,
                "rem.u32 t, tid, %d;\nmad.wide.u32 in, t, 8, in;\nld.global.u64 at, [in];\n"
                "shr.u32 cta, tid, 5;\n"
                "%s t, [at]%s;\ncvt.u64.u32 at, t;\nmad.wide.u32 out, tid, 8, out;\n"
                "st.global.u64 [out], at;\n",
                TEXTURES, spelling, has_level ? ", cta" : "");
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        const Sample *sample = &samples[thread % TEXTURES];
        const int level = has_level ? thread / 32 : 0;
        trial->expected[thread] = level < sample->levels ? answer(spelling, sample, level) : 0;
    }
    trial->slots = TRIAL_THREADS;
    trial_run(trial);
}

/* istypep: a texture is neither a surface nor a sampler. */
static void visit_type(void *user, const char *spelling) {
    Trial *trial = user;
    trial_begin(trial, spelling);
    trial->prepare = prepare;
    trial_begin_kernel(trial, ".global .samplerref how = { filter_mode = nearest };\n");
    text_printf(&trial->ptx,
                "ld.global.u64 at, [in];\nsetp.lt.u32 guard, tid, 32;\n@guard mov.u64 at, how;\n"
                "%s guard, at;\nselp.u32 t, 1, 0, guard;\ncvt.u64.u32 at, t;\n"
                "mad.wide.u32 out, tid, 8, out;\nst.global.u64 [out], at;\n",
                spelling);
    for (int thread = 0; thread < TRIAL_THREADS; thread++)
        trial->expected[thread] =
            thread < 32 ? strstr(spelling, "sampler") != NULL : strstr(spelling, "tex") != NULL;
    trial->slots = TRIAL_THREADS;
    trial_run(trial);
}

#define PLACES "(.1d,.2d,.3d,.a1d,.a2d)"
#define TYPES  ".v4(.u32,.s32,.f16,.f32)"

void texture_run(Harness *harness) {
    static Atlas atlas;
    fill(&atlas);
    for (int e = 0; e < harness->engine_count; e++) {
        Engine *engine = &harness->engines[e];
        memcpy(engine_buffer(engine, 3), atlas.bytes, sizeof atlas.bytes);
        for (int t = 0; t < TEXTURES; t++) {
            const MemTexture texture =
                describe(&samples[t], engine->buffers[3] + (uint64_t)t * BYTES);
            atlas.handles[e][t] = engine_texture(engine, &texture);
        }
    }
    Trial *trial = trial_new(harness);
    trial->user = &atlas;
    form_expand("tex", "{.base,.level}" PLACES TYPES "(.s32,.f32)", visit_fetch, trial);
    form_expand("tex", "{.base,.level}(.cube,.acube)" TYPES ".f32", visit_fetch, trial);
    form_expand("tex", "{.base,.level}" PLACES ".v2.f16x2(.s32,.f32)", visit_fetch, trial);
    form_expand("tex", "{.base,.level}(.cube,.acube).v2.f16x2.f32", visit_fetch, trial);
    form_expand("tex", ".grad(.1d,.2d,.3d,.a1d,.a2d,.cube,.acube)" TYPES ".f32", visit_fetch,
                trial);
    form_expand("tex", ".grad(.1d,.2d,.3d,.a1d,.a2d,.cube,.acube).v2.f16x2.f32", visit_fetch,
                trial);
    form_expand("tld4", "(.r,.g,.b,.a)(.2d,.a2d,.cube,.acube).v4(.u32,.s32,.f32).f32", visit_fetch,
                trial);
    form_expand("txq",
                "(.width,.height,.depth,.channel_data_type,.channel_order,.normalized_coords,"
                ".array_size,.num_mipmap_levels,.num_samples,.filter_mode,.addr_mode_0,"
                ".addr_mode_1,.addr_mode_2).b32",
                visit_query, trial);
    form_expand("txq", ".level(.width,.height,.depth).b32", visit_query, trial);
    form_expand("istypep", "(.texref,.samplerref,.surfref)", visit_type, trial);
    trial_free(trial);
}
