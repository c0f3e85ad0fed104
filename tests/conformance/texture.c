/* tex, tld4 and txq by texture object: formats, addressing, filtering.
 *
 * Texels are chosen so that a filtered value, a sum of texels with weights of 8 bits each, is exact
 * in double. The CUDA Programming Guide gives the formulas ("Texture Fetching"); that weights are
 * rounded to nearest, it leaves open. */
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "values.h"

enum { TEXTURES = 8, BYTES = 4096, FETCHES = TRIAL_THREADS, COORDINATE_AT = 64 };

#define CLAMP  {MEM_ADDRESS_CLAMP, MEM_ADDRESS_CLAMP}
#define WRAP   {MEM_ADDRESS_WRAP, MEM_ADDRESS_MIRROR}
#define BORDER {MEM_ADDRESS_BORDER, MEM_ADDRESS_BORDER}

/* Sizes are powers of two: coordinates in [0, 1) stay exact. A texture of height 1 has 1 dimension.
 */
static const MemTexture textures[TEXTURES] = {
    {.width = 8, .height = 4, .channels = 4, .channel_bits = 8, .mode = CLAMP},
    {.width = 8,
     .height = 8,
     .channels = 1,
     .channel_bits = 32,
     .type = MEM_TEXEL_FLOAT,
     .is_normalised = true,
     .is_linear_filter = true,
     .mode = WRAP},
    {.width = 4,
     .height = 8,
     .channels = 2,
     .channel_bits = 16,
     .type = MEM_TEXEL_SIGNED,
     .is_normalised = true,
     .reads_normalised = true,
     .mode = WRAP},
    {.width = 8,
     .height = 4,
     .channels = 4,
     .channel_bits = 16,
     .type = MEM_TEXEL_FLOAT,
     .is_linear_filter = true,
     .mode = CLAMP},
    {.width = 4,
     .height = 4,
     .channels = 2,
     .channel_bits = 8,
     .is_linear_filter = true,
     .reads_normalised = true,
     .mode = BORDER,
     .border = {0.5f, 0.25f, 2, 3}},
    {.width = 32,
     .height = 1,
     .channels = 4,
     .channel_bits = 32,
     .type = MEM_TEXEL_FLOAT,
     .is_linear_memory = true,
     .mode = CLAMP},
    {.width = 8,
     .height = 8,
     .channels = 1,
     .channel_bits = 32,
     .type = MEM_TEXEL_SIGNED,
     .mode = BORDER,
     .border = {7, 8, 9, 10}},
    {.width = 16,
     .height = 1,
     .channels = 2,
     .channel_bits = 32,
     .type = MEM_TEXEL_FLOAT,
     .is_normalised = true,
     .is_linear_filter = true,
     .mode = CLAMP},
};

/* The textures of each engine, over the same bytes. */
typedef struct Atlas {
    uint8_t bytes[TEXTURES][BYTES];
    uint64_t handles[HARNESS_MAX_ENGINES][TEXTURES];
} Atlas;

static int texel_bytes(const MemTexture *texture) {
    return texture->channels * texture->channel_bits / 8;
}

/* Rows are padded to 256 bytes. */
static const uint8_t *texel_at(const Atlas *atlas, int number, int64_t x, int64_t y, int channel) {
    const MemTexture *texture = &textures[number];
    return atlas->bytes[number] + y * 256 + x * texel_bytes(texture) +
           channel * texture->channel_bits / 8;
}

/* Small integers, as floats where the texture has floats. */
static void fill(Atlas *atlas) {
    uint64_t state = 9;
    for (int t = 0; t < TEXTURES; t++) {
        const MemTexture *texture = &textures[t];
        for (int at = 0; at < BYTES; at += texture->channel_bits / 8) {
            uint64_t random = values_next(&state);
            uint32_t raw = (uint32_t)random;
            if (texture->type == MEM_TEXEL_FLOAT && texture->channel_bits == 32) {
                float value = (float)(int)(random % 2048) - 1024;
                memcpy(&raw, &value, sizeof raw);
            } else if (texture->type == MEM_TEXEL_FLOAT) {
                raw = (uint32_t)(0x3c00 + random % 0x2000); /* from 1 up to 256 */
            }
            memcpy(atlas->bytes[t] + at, &raw, texture->channel_bits / 8u);
        }
    }
}

/* ---- The reference ---- */

/* A channel as the instruction gives it: a float where `is_float`, else an integer's bits. */
typedef struct Channel {
    double value;
    uint32_t bits;
} Channel;

static bool gives_floats(const MemTexture *texture) {
    return texture->type == MEM_TEXEL_FLOAT || texture->reads_normalised;
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

static Channel decode(const MemTexture *texture, const uint8_t *bytes) {
    uint32_t raw = 0;
    memcpy(&raw, bytes, texture->channel_bits / 8u);
    if (texture->type == MEM_TEXEL_FLOAT)
        return float_channel(
            value_of(texture->channel_bits == 16 ? &FORMAT_F16 : &FORMAT_F32, raw));
    const bool is_signed = texture->type == MEM_TEXEL_SIGNED;
    const Type type = {"", is_signed ? KIND_SIGNED : KIND_UNSIGNED, texture->channel_bits, 1, NULL};
    int64_t integer = (int64_t)type_integer(&type, raw);
    if (!texture->reads_normalised) return (Channel){0, (uint32_t)integer};
    double most = ldexp(1, texture->channel_bits - is_signed) - 1;
    double value = (double)integer / most;
    return float_channel((float)(value < -1 ? -1 : value));
}

/* Where an index outside leads; -1 is the border. */
static int64_t address(int64_t i, int64_t size, MemAddressMode mode) {
    if (mode == MEM_ADDRESS_BORDER) return i < 0 || i >= size ? -1 : i;
    if (mode == MEM_ADDRESS_CLAMP) return i < 0 ? 0 : i >= size ? size - 1 : i;
    int64_t period = mode == MEM_ADDRESS_WRAP ? size : 2 * size;
    while (i < 0)
        i += period;
    i %= period;
    return i < size ? i : period - 1 - i;
}

static Channel channel_at(const Atlas *atlas, int number, int64_t x, int64_t y, int channel) {
    const MemTexture *texture = &textures[number];
    const bool is_float = gives_floats(texture);
    if (texture->is_linear_memory && (x < 0 || x >= (int64_t)texture->width))
        return float_channel(0);
    x = address(x, (int64_t)texture->width, texture->mode[0]);
    y = texture->height == 1 ? 0 : address(y, (int64_t)texture->height, texture->mode[1]);
    if (x < 0 || y < 0) {
        double value = (double)texture->border[channel];
        return is_float ? float_channel(value) : (Channel){0, (uint32_t)value};
    }
    if (channel < texture->channels) return decode(texture, texel_at(atlas, number, x, y, channel));
    const int missing = channel == 3; /* channels that are not there: 0, 0, 0, 1 */
    return is_float ? float_channel(missing) : (Channel){0, (uint32_t)missing};
}

static double in_texels(const MemTexture *texture, double coordinate, uint64_t size) {
    return texture->is_normalised ? coordinate * (double)size : coordinate;
}

/* The lower of the two texels of a linear filter, and the weight of the upper one. */
static int64_t lower_texel(double coordinate, double *weight) {
    double lower = floor(coordinate - 0.5);
    *weight = nearbyint((coordinate - 0.5 - lower) * 256) / 256;
    return (int64_t)lower;
}

static uint32_t sample(const Atlas *atlas, int number, double x, double y, int channel) {
    const MemTexture *texture = &textures[number];
    x = in_texels(texture, x, texture->width);
    y = in_texels(texture, y, texture->height);
    if (!texture->is_linear_filter)
        return channel_at(atlas, number, (int64_t)floor(x), (int64_t)floor(y), channel).bits;
    double a, b = 0;
    int64_t i = lower_texel(x, &a), j = texture->height == 1 ? 0 : lower_texel(y, &b);
    double sum = 0;
    for (int corner = 0; corner < 4; corner++) {
        int right = corner & 1, down = corner >> 1;
        sum += (right ? a : 1 - a) * (down ? b : 1 - b) *
               channel_at(atlas, number, i + right, j + down, channel).value;
    }
    return float_bits(sum);
}

static uint32_t gather(const Atlas *atlas, int number, double x, double y, int channel,
                       int result) {
    static const int right[] = {0, 1, 1, 0}, down[] = {1, 1, 0, 0};
    const MemTexture *texture = &textures[number];
    double ignored;
    int64_t i = lower_texel(in_texels(texture, x, texture->width), &ignored);
    int64_t j = lower_texel(in_texels(texture, y, texture->height), &ignored);
    return channel_at(atlas, number, i + right[result], j + down[result], channel).bits;
}

/* ---- The trials ---- */

static void prepare(Trial *trial, const Engine *engine) {
    const Atlas *atlas = trial->user;
    memcpy(trial->in, atlas->handles[engine - trial->harness->engines], sizeof *atlas->handles);
}

/* Coordinates in and around the texture, in steps of 1/64 texel (no filter weight is a tie). */
static void choose_coordinates(const MemTexture *texture, bool are_integers, uint64_t *in) {
    uint64_t state = 21;
    for (int i = 0; i < FETCHES; i++) {
        uint32_t bits[2];
        for (int axis = 0; axis < 2; axis++) {
            int size = (int)(axis ? texture->height : texture->width);
            int step = (int)(values_next(&state) % (unsigned)(size * 4 * 64)) - size * 96;
            float value = (float)step / 64;
            if (texture->is_normalised) value /= (float)size;
            bits[axis] = are_integers ? (uint32_t)(step / 64) : float_bits((double)value);
        }
        in[i] = bits[0] | (uint64_t)bits[1] << 32;
    }
}

static uint32_t expected_word(const Trial *trial, const Form *form, int number, uint64_t in,
                              int result) {
    static const char *const components[] = {"r", "g", "b", "a", NULL};
    const Atlas *atlas = trial->user;
    const int component = form_which(form, components);
    const uint32_t x_bits = (uint32_t)in, y_bits = (uint32_t)(in >> 32);
    if (form->types[form->type_count - 1]->kind == KIND_SIGNED)
        return channel_at(atlas, number, (int32_t)x_bits, (int32_t)y_bits, result).bits;
    double x = value_of(&FORMAT_F32, x_bits), y = value_of(&FORMAT_F32, y_bits);
    if (component >= 0) return gather(atlas, number, x, y, component, result);
    return sample(atlas, number, x, y, result);
}

static void run_fetch(Trial *trial, const Form *form, int number) {
    const MemTexture *texture = &textures[number];
    const bool is_1d = form_has(form, "1d");
    const bool are_integers = form->types[form->type_count - 1]->kind == KIND_SIGNED;
    trial_begin(trial, form->text);
    trial->prepare = prepare;
    choose_coordinates(texture, are_integers, trial->in + COORDINATE_AT);
    trial_begin_kernel(trial, "");
    text_printf(&trial->ptx,
                ".reg .b32 x, y, d<4>;\nld.global.u64 at, [in+%d];\nmad.wide.u32 in, tid, 8, in;\n"
                "mad.wide.u32 out, tid, 16, out;\nld.global.v2.u32 {x, y}, [in+%d];\n"
                "%s {d0, d1, d2, d3}, [at, {%s}];\nst.global.v4.b32 [out], {d0, d1, d2, d3};\n",
                number * 8, COORDINATE_AT * 8, form->text, is_1d ? "x" : "x, y");
    for (int i = 0; i < FETCHES; i++)
        for (int half = 0; half < 2; half++) {
            uint64_t in = trial->in[COORDINATE_AT + i];
            uint64_t low = expected_word(trial, form, number, in, half * 2);
            uint64_t high = expected_word(trial, form, number, in, half * 2 + 1);
            trial->expected[i * 2 + half] = low | high << 32;
        }
    trial->slots = FETCHES * 2;
    trial_run(trial);
}

/* Each form on every texture that suits it. */
static void visit_fetch(void *user, const char *spelling) {
    Trial *trial = user;
    Form form;
    form_parse(&form, spelling);
    for (int t = 0; t < TEXTURES; t++) {
        const MemTexture *texture = &textures[t];
        const bool fits_shape = form_has(&form, "1d") == (texture->height == 1);
        const bool has_integers = form.types[form.type_count - 1]->kind == KIND_SIGNED;
        const bool fits_coordinates = has_integers || !texture->is_linear_memory;
        if (fits_shape && fits_coordinates) run_fetch(trial, &form, t);
    }
}

static void visit_query(void *user, const char *spelling) {
    Trial *trial = user;
    trial_begin(trial, spelling);
    trial->prepare = prepare;
    trial_begin_kernel(trial, "");
    text_printf(&trial->ptx,
                "rem.u32 t, tid, %d;\nmad.wide.u32 in, t, 8, in;\nld.global.u64 at, [in];\n"
                "%s t, [at];\ncvt.u64.u32 at, t;\nmad.wide.u32 out, tid, 8, out;\n"
                "st.global.u64 [out], at;\n",
                TEXTURES, spelling);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        const MemTexture *texture = &textures[thread % TEXTURES];
        trial->expected[thread] = strstr(spelling, "width") ? texture->width : texture->height;
    }
    trial->slots = TRIAL_THREADS;
    trial_run(trial);
}

void texture_run(Harness *harness) {
    static Atlas atlas;
    fill(&atlas);
    for (int e = 0; e < harness->engine_count; e++) {
        const Engine *engine = &harness->engines[e];
        memcpy(engine_buffer(engine, 3), atlas.bytes, sizeof atlas.bytes);
        for (int t = 0; t < TEXTURES; t++) {
            MemTexture texture = textures[t];
            texture.address = engine->buffers[3] + (uint64_t)t * BYTES;
            texture.pitch_bytes = 256;
            atlas.handles[e][t] = mem_texture_add(gpu_memory(engine->gpu), &texture);
        }
    }
    Trial *trial = trial_new(harness);
    trial->user = &atlas;
    form_expand("tex", "(.1d,.2d).v4(.u32,.s32,.f32)(.s32,.f32)", visit_fetch, trial);
    form_expand("tld4", "(.r,.g,.b,.a).2d.v4(.u32,.s32,.f32).f32", visit_fetch, trial);
    form_expand("txq", "(.width,.height).b32", visit_query, trial);
    trial_free(trial);
}
