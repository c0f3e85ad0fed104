/* CPU references for the floating-point kernels: conversions, roundings, special values, the
 * mathematical functions, half precision. */
#include "kernel_test.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The bits of x; all NaNs have the same bits. */
static uint32_t plain_bits(float x) { return isnan(x) ? 1 : bits_of(x); }

/* An integer or infinity, limited to [low, high]; NaN becomes 0. */
static int64_t clamp_whole(double x, double low, double high) {
    if (isnan(x)) return 0;
    return (int64_t)fmin(fmax(x, low), high);
}
static uint32_t to_int(double x) { return (uint32_t)clamp_whole(x, -0x1p31, 0x1p31 - 1); }
static uint32_t to_uint(double x) { return (uint32_t)clamp_whole(x, 0, 0x1p32 - 1); }

/* To a 64-bit integer, towards zero; NaN becomes the most negative one (PTX ISA, cvt). */
static int64_t to_long(float x) {
    if (isnan(x) || x < -0x1p63f) return INT64_MIN;
    return x >= 0x1p63f ? INT64_MAX : (int64_t)x;
}

/* Operations in a given rounding mode. Operands and result pass through memory, so that nothing is
 * computed in another mode. */
typedef enum Operation { ADD, MULTIPLY, DIVIDE, FUSED, ROOT, NARROW } Operation;

static double round_as(int mode, Operation operation, double a_value, double b_value,
                       double c_value, bool is_single) {
    volatile double a = a_value, b = b_value, c = c_value, result = 0.0;
    volatile float fa = (float)a_value, fb = (float)b_value, fc = (float)c_value, single = 0.0f;
    fesetround(mode);
    switch (operation) {
    case ADD: single = fa + fb, result = a + b; break;
    case MULTIPLY: single = fa * fb, result = a * b; break;
    case DIVIDE: single = fa / fb, result = a / b; break;
    case FUSED: single = fmaf(fa, fb, fc), result = fma(a, b, c); break;
    case ROOT: single = sqrtf(fa), result = sqrt(a); break;
    case NARROW: single = (float)a; break;
    }
    fesetround(FE_TONEAREST);
    return is_single ? (double)single : result;
}

static float single_as(int mode, Operation operation, float a, float b, float c) {
    return (float)round_as(mode, operation, (double)a, (double)b, (double)c, true);
}

static void conversions(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        float x = in.floats[i];
        double wide = (double)x * 3.0;
        uint32_t bits = bits_of(x), *row = out.words + 16 * i;
        int32_t as_int = (int32_t)bits;
        row[0] = to_int((double)rintf(x));
        row[1] = to_int((double)truncf(x));
        row[2] = to_int((double)ceilf(x));
        row[3] = to_int((double)floorf(x));
        row[4] = to_uint((double)rintf(x));
        row[5] = to_uint((double)floorf(x));
        row[6] = (uint32_t)(to_long(x) >> 8);
        row[7] = isnan(x) ? 0x80000000u : to_int(rint(wide));
        row[8] = isnan(x) ? 1 : bits_of((float)round_as(FE_TOWARDZERO, NARROW, wide, 0, 0, true));
        row[9] = isnan(x) ? 1 : bits_of((float)round_as(FE_UPWARD, NARROW, wide, 0, 0, true));
        row[10] = bits_of((float)round_as(FE_TOWARDZERO, NARROW, (double)as_int, 0, 0, true));
        row[11] = bits_of((float)round_as(FE_UPWARD, NARROW, (double)bits, 0, 0, true));
        row[12] = (uint32_t)clamp_whole((double)rintf(x), -128, 127);
        row[13] = (uint32_t)clamp_whole((double)(int32_t)row[1], 0, 65535);
        row[14] = isnan(x) || x <= 0.0f ? 0 : bits_of(x > 1.0f ? 1.0f : x);
        uint32_t rounded = bits_of(rintf(x)) * 3 + bits_of(floorf(x)) * 5 + bits_of(ceilf(x)) * 7 +
                           bits_of(truncf(x)) * 11;
        row[15] = isnan(x) ? 1 : rounded;
    }
}

static void rounding(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        float x = in.floats[i], y = in.floats[(i + 1) % n], z = in.floats[(i + 2) % n];
        float *row = out.floats + 16 * i, product = x * 2e-38f;
        row[0] = single_as(FE_TONEAREST, ADD, x, y, 0);
        row[1] = single_as(FE_TOWARDZERO, ADD, x, y, 0);
        row[2] = single_as(FE_UPWARD, ADD, x, y, 0);
        row[3] = single_as(FE_DOWNWARD, ADD, x, y, 0);
        row[4] = single_as(FE_TOWARDZERO, MULTIPLY, x, y, 0);
        row[5] = single_as(FE_UPWARD, MULTIPLY, x, y, 0);
        row[6] = single_as(FE_DOWNWARD, DIVIDE, x, y, 0);
        row[7] = single_as(FE_UPWARD, DIVIDE, x, y, 0);
        row[8] = single_as(FE_TOWARDZERO, FUSED, x, y, z);
        row[9] = single_as(FE_UPWARD, FUSED, x, y, z);
        row[10] = single_as(FE_DOWNWARD, FUSED, x, y, z);
        row[11] = single_as(FE_UPWARD, ROOT, fabsf(x), 0, 0);
        row[12] = single_as(FE_TOWARDZERO, DIVIDE, 1.0f, y, 0);
        row[13] = (float)(round_as(FE_UPWARD, ADD, (double)x, 1e20, 0, false) - 1e20);
        row[14] = (float)round_as(FE_DOWNWARD, MULTIPLY, (double)x, 1.0 / 3.0, 0, false);
        row[15] = fabsf(product) < 0x1p-126f ? copysignf(0.0f, product) : product;
    }
}

static void float_specials(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n * n; i++) {
        float a = in.floats[i % n], b = in.floats[i / n];
        uint32_t *row = out.words + 6 * i;
        bool is_unordered = isnan(a) || isnan(b), is_less = a < b, is_equal = a == b;
        bool is_greater = !is_unordered && !is_less && !is_equal;
        row[0] = (uint32_t)is_less | (uint32_t)(is_less || is_equal) << 1 |
                 (uint32_t)is_greater << 2 | (uint32_t)(is_greater || is_equal) << 3 |
                 (uint32_t)is_equal << 4 | (uint32_t)!is_equal << 5 | (uint32_t)!is_less << 6 |
                 (uint32_t)!(is_greater || is_equal) << 7 | (isnan(a) ? 256u : 0u) |
                 (isinf(b) ? 512u : 0u);
        float smaller = isnan(a) ? b : isnan(b) ? a : is_less ? a : b;
        float larger = isnan(a) ? b : isnan(b) ? a : is_less ? b : a;
        row[1] = plain_bits(smaller + 0.0f);
        row[2] = plain_bits(larger + 0.0f);
        row[3] = (bits_of(a) & 0x7f800000u) | (bits_of(b) & 0x80000000u);
        row[4] = plain_bits(a * b);
        row[5] = plain_bits(a + b);
    }
}

static void float_math(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        float x = in.floats[i], size = fabsf(x) + 0.01f, *row = out.floats + 12 * i;
        row[0] = (float)exp((double)x);
        row[1] = (float)log((double)size);
        row[2] = (float)sin((double)x);
        row[3] = (float)cos((double)(x * 100.0f));
        row[4] = (float)pow((double)size, (double)x);
        row[5] = (float)sqrt((double)size);
        row[6] = (float)(1.0 / sqrt((double)size));
        row[7] = (float)exp2((double)x);
        row[8] = (float)log2((double)(size * 1e6f));
        row[9] = (float)tan((double)(x * 0.1f));
        row[10] = (float)log10((double)(size * 1e-6f));
        row[11] = roundf(x) + x / size;
    }
}

static void double_math(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        double x = in.doubles[i], size = fabs(x) + 0.01, *row = out.doubles + 10 * i;
        row[0] = exp(x * 20.0);
        row[1] = log(size);
        row[2] = sin(x * 1000.0);
        row[3] = cos(x);
        row[4] = pow(size, x);
        row[5] = sqrt(size) + 1.0 / sqrt(size);
        row[6] = fma(x, size, 1.0 / size);
        row[7] = floor(x) + ceil(x) * 3.0 + trunc(x) * 5.0 + rint(x) * 7.0;
        row[8] = fmin(x, 0.5) + fmax(x, -0.5);
        row[9] = log2(size) + log10(size);
    }
}

static void fast_math(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        float x = in.floats[i], size = fabsf(x) + 1.5f, *row = out.floats + 8 * i;
        row[0] = (float)exp((double)x);
        row[1] = (float)log((double)size);
        row[2] = (float)(sin((double)x) + 2.0);
        row[3] = (float)(cos((double)x) + 2.0);
        row[4] = (float)pow((double)size, (double)x);
        row[5] = x / size;
        row[6] = (float)(tanh((double)x) + 2.0);
        row[7] = 1.0f / size;
    }
}

/* The nearest half, ties to even, as a double: 11 significant bits, no bits below 2^-24. */
static double to_half(double x) {
    int exponent;
    frexp(x, &exponent);
    double unit = ldexp(1.0, exponent - 11 < -24 ? -24 : exponent - 11);
    double rounded = rint(x / unit) * unit;
    return fabs(rounded) > 65504.0 ? copysign(INFINITY, x) : rounded;
}

static void half_ops(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        float x = in.floats[i], *row = out.floats + 8 * i;
        double a = to_half((double)x), b = to_half((double)in.floats[(i + 1) % n]);
        row[0] = (float)a;
        row[1] = (float)to_half(a + b);
        row[2] = (float)to_half(a * b);
        row[3] = (float)to_half(fma(a, b, to_half(a - b)));
        row[4] = a < b ? 3.0f : 2.0f;
        row[5] = (float)-b;
        row[6] = (float)to_half((double)(x * 10000.0f));
        /* Below 2^-14 a half has units of 2^-24. */
        row[7] = (float)fabs(to_half((double)(x * 1e-6f))) * 0x1p24f + (x < 0.0f ? 32768.0f : 0.0f);
    }
}

static void half2_ops(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n / 2; i++) {
        double x = to_half((double)in.floats[2 * i]), y = to_half((double)in.floats[2 * i + 1]);
        double sum = to_half(x + y), product = to_half(x * y);
        float *row = out.floats + 6 * i;
        row[0] = row[1] = (float)sum;
        row[2] = row[3] = (float)product;
        row[4] = (float)to_half(fma(x, sum, product));
        row[5] = (float)to_half(fma(y, sum, product));
    }
}

const KernelTest FLOATING_TESTS[] = {
    {.name = "conversions",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_MIXED_FLOATS, 256},
     .out = {KIND_WORDS, 256 * 16},
     .reference = conversions},
    {.name = "rounding",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_FLOATS, 256},
     .out = {KIND_FLOATS, 256 * 16},
     .reference = rounding},
    {.name = "float_specials",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_SPECIAL_FLOATS, 16},
     .out = {KIND_WORDS, 256 * 6},
     .reference = float_specials},
    {.name = "float_math",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_FLOATS, 256},
     .out = {KIND_FLOATS, 256 * 12},
     .tolerance = 1e-6,
     .reference = float_math},
    {.name = "double_math",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_DOUBLES, 256},
     .out = {KIND_DOUBLES, 256 * 10},
     .tolerance = 1e-12,
     .reference = double_math},
    {.name = "fast_math",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_FLOATS, 256},
     .out = {KIND_FLOATS, 256 * 8},
     .tolerance = 1e-5,
     .reference = fast_math},
    {.name = "half_ops",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_FLOATS, 256},
     .out = {KIND_FLOATS, 256 * 8},
     .reference = half_ops},
    {.name = "half2_ops",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_FLOATS, 256},
     .out = {KIND_FLOATS, 128 * 6},
     .reference = half2_ops},
    {0},
};
