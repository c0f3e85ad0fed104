/* Texture fetches: addressing, filtering, and decoding of texels. */
#include "isa/texture.h"

#include <math.h>
#include <string.h>

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

static uint32_t channel_bytes(const MemTexture *texture) { return texture->channel_bits / 8u; }

/* Half to float; exact. */
static float half_value(uint16_t half) {
    int exponent = half >> 10 & 31;
    float mantissa = (float)(half & 1023);
    float value = exponent == 0    ? ldexpf(mantissa, -24)
                  : exponent == 31 ? (half & 1023 ? NAN : INFINITY)
                                   : ldexpf(1024.0f + mantissa, exponent - 25);
    return half >> 15 ? -value : value;
}

static uint32_t decode_channel(const MemTexture *texture, const uint8_t *bytes) {
    uint32_t raw = 0;
    memcpy(&raw, bytes, channel_bytes(texture));
    if (texture->type == MEM_TEXEL_FLOAT)
        return texture->channel_bits == 16 ? bits_of(half_value((uint16_t)raw)) : raw;
    uint32_t sign = 1u << (texture->channel_bits - 1);
    bool is_signed = texture->type == MEM_TEXEL_SIGNED;
    if (is_signed && texture->channel_bits < 32) raw = (raw ^ sign) - sign;
    if (!texture->reads_normalised || texture->channel_bits == 32) return raw;
    float scale = is_signed ? (float)(sign - 1) : (float)(2 * (sign - 1) + 1);
    float value = (is_signed ? (float)(int32_t)raw : (float)raw) / scale;
    return bits_of(value < -1.0f ? -1.0f : value);
}

static bool gives_float(const MemTexture *texture) {
    return texture->type == MEM_TEXEL_FLOAT ||
           (texture->reads_normalised && texture->channel_bits < 32);
}

static Texel border(const MemTexture *texture) {
    Texel texel = {.is_missing = false};
    for (int c = 0; c < 4; c++)
        texel.channel[c] =
            gives_float(texture) ? bits_of(texture->border[c]) : (uint32_t)texture->border[c];
    return texel;
}

/* The texel at (x, y) after addressing. */
static Texel texel_at(const DeviceMemory *memory, const MemTexture *texture, int64_t x, int64_t y,
                      uint64_t *address) {
    bool is_outside = texture->is_linear_memory && (x < 0 || x >= (int64_t)texture->width);
    x = wrap(x, (int64_t)texture->width, texture->mode[0]);
    y = texture->height > 1 ? wrap(y, (int64_t)texture->height, texture->mode[1]) : 0;
    if (is_outside) return (Texel){0}; /* CUDA: fetches outside linear memory return zero */
    if (x < 0 || y < 0) return border(texture);
    uint32_t texel_bytes = channel_bytes(texture) * texture->channels;
    *address = texture->address + (uint64_t)y * texture->pitch_bytes + (uint64_t)x * texel_bytes;
    if (!mem_is_valid(memory, *address, texel_bytes)) return (Texel){.is_missing = true};
    Texel texel = {.channel = {0, 0, 0, gives_float(texture) ? bits_of(1.0f) : 1}};
    const uint8_t *bytes = mem_host(memory, *address);
    for (uint32_t c = 0; c < texture->channels; c++)
        texel.channel[c] = decode_channel(texture, bytes + c * channel_bytes(texture));
    return texel;
}

/* A coordinate in texels; NaN reads texel 0. */
static double coordinate(const MemTexture *texture, float value, uint64_t size) {
    double c = texture->is_normalised ? (double)value * (double)size : (double)value;
    if (!(c > -1e15)) return c != c ? 0 : -1e15;
    return c < 1e15 ? c : 1e15;
}

/* Lower texel and weight of the upper one along an axis. */
static int64_t filter_axis(double c, double *weight) {
    double lower = floor(c - 0.5);
    *weight = floor((c - 0.5 - lower) * 256.0 + 0.5) / 256.0;
    return (int64_t)lower;
}

Texel texture_sample(const DeviceMemory *memory, const MemTexture *texture, float x, float y,
                     uint64_t *address) {
    double u = coordinate(texture, x, texture->width), v = coordinate(texture, y, texture->height);
    if (!texture->is_linear_filter || !gives_float(texture))
        return texel_at(memory, texture, (int64_t)floor(u), (int64_t)floor(v), address);
    double a, b = 0;
    int64_t i = filter_axis(u, &a), j = texture->height > 1 ? filter_axis(v, &b) : 0;
    uint64_t at[4] = {*address}; /* of t00, t10, t01, t11; a border has none */
    Texel t01 = texel_at(memory, texture, i, j + 1, &at[2]);
    Texel t11 = texel_at(memory, texture, i + 1, j + 1, &at[3]);
    Texel t10 = texel_at(memory, texture, i + 1, j, &at[1]);
    Texel t00 = texel_at(memory, texture, i, j, &at[0]), result;
    const Texel *all[4] = {&t00, &t10, &t01, &t11};
    *address = at[0];
    for (int k = 0; k < 4; k++) {
        if (!all[k]->is_missing) continue;
        *address = at[k];
        return *all[k];
    }
    result.is_missing = false;
    for (int c = 0; c < 4; c++) {
        double top =
            (1 - a) * (double)float_of(t00.channel[c]) + a * (double)float_of(t10.channel[c]);
        double bottom =
            (1 - a) * (double)float_of(t01.channel[c]) + a * (double)float_of(t11.channel[c]);
        double value = b == 0 ? top : (1 - b) * top + b * bottom;
        result.channel[c] = bits_of((float)value);
    }
    return result;
}

Texel texture_fetch(const DeviceMemory *memory, const MemTexture *texture, int32_t x, int32_t y,
                    uint64_t *address) {
    return texel_at(memory, texture, x, y, address);
}

Texel texture_gather(const DeviceMemory *memory, const MemTexture *texture, float x, float y,
                     int component, uint64_t *address) {
    double u = coordinate(texture, x, texture->width), v = coordinate(texture, y, texture->height);
    int64_t i = (int64_t)floor(u - 0.5), j = (int64_t)floor(v - 0.5);
    static const int offsets[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    Texel result = {.is_missing = false};
    for (int k = 0; k < 4; k++) {
        Texel texel = texel_at(memory, texture, i + offsets[k][0], j + offsets[k][1], address);
        if (texel.is_missing) return texel;
        result.channel[k] = texel.channel[component];
    }
    return result;
}
