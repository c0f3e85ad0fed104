/* A picture of mirroring spheres above a floor by ray tracing, one pixel per thread: a ray has up
 * to five reflections, each with a shadow ray to the light and a highlight, which is a power of 50
 * computed by the general routine. The five reflections are unrolled, so that their contributions
 * stay in registers until the last is known. This is more code than an instruction cache of those
 * years holds. The objects and the camera are in constant memory; warps diverge when their rays hit
 * different objects.
 *
 * Multiplications and additions are fused explicitly, not by the compiler's choice. So the picture
 * equals the CPU's to the bit if reciprocal roots are rounded to nearest. */
#include "tyto_device.h"

enum { MOST_OBJECTS = 64, DEPTH = 5 };

struct Vector {
    float x, y, z;
};

struct Colour {
    float red, green, blue, alpha;
};

struct Object {
    Vector centre;
    float radius;
    Colour colour;
    unsigned is_floor; /* through its centre, level */
    unsigned unused;
};

/* Axes of the picture, and the position of the viewer. */
struct Camera {
    Vector ahead;
    float x;
    Vector up;
    float y;
    Vector right;
    float z;
};

const float HORIZON = 10000.0f, NEAR = 0.0001f; /* the largest visible distance; the distance from a surface */

__constant__ Object objects[MOST_OBJECTS];
__constant__ Camera camera;

static __device__ Vector subtract(Vector v, Vector w) { return {v.x - w.x, v.y - w.y, v.z - w.z}; }

static __device__ Vector scale(float factor, Vector v) {
    return {factor * v.x, factor * v.y, factor * v.z};
}

static __device__ Vector add_scaled(Vector v, float factor, Vector w) {
    return {fmaf(factor, w.x, v.x), fmaf(factor, w.y, v.y), fmaf(factor, w.z, v.z)};
}

static __device__ float dot(Vector v, Vector w) {
    return fmaf(v.z, w.z, fmaf(v.y, w.y, v.x * w.x));
}

static __device__ Vector normalize(Vector v) { return scale(rsqrtf(dot(v, v)), v); }

static __device__ Colour dim(float factor, Colour c) {
    return {factor * c.red, factor * c.green, factor * c.blue, factor * c.alpha};
}

static __device__ Colour add_dimmed(Colour a, float factor, Colour b) {
    return {fmaf(factor, b.red, a.red), fmaf(factor, b.green, a.green),
            fmaf(factor, b.blue, a.blue), fmaf(factor, b.alpha, a.alpha)};
}

/* x^y for a non-negative x: the exponential of y times the logarithm, which has two parts. */
static __device__ float power(float x, float y) {
    if (x == 1.0f) return 1.0f;
    if (x == 0.0f) return 0.0f;
    if (!(x < 0x1p127f)) return x + y;
    float scaled = x < 0x1p-126f ? x * 0x1p24f : x;
    int bits = __float_as_int(scaled), exponent = (bits >> 23) - (x < 0x1p-126f ? 151 : 127);
    float mantissa = __int_as_float((bits & 0x7fffff) | 0x3f800000);
    if (mantissa > 1.4142135f) {
        mantissa *= 0.5f;
        exponent++;
    }
    /* The logarithm: twice the series of artanh((m - 1) / (m + 1)), and the exponent's part. */
    float inverse = 1.0f / (mantissa + 1.0f), less = mantissa - 1.0f;
    float ratio = less * inverse, twice = 2.0f * ratio, square = ratio * ratio;
    float rest = fmaf(-twice, mantissa, 2.0f * less - twice) * inverse;
    float series = fmaf(square, 0.2222222f, 0.2857143f);
    series = fmaf(square, series, 0.4f);
    series = fmaf(square, series, 0.6666667f) * square;
    float whole = (float)exponent * 0.693145752f; /* exact: few bits */
    float high = whole + twice, low = whole - high + twice;
    low += fmaf(series, ratio, fmaf((float)exponent, 1.42860677e-6f, rest));
    float product = y * high, error = fmaf(y, high, -product);
    error = fmaf(y, low, error);
    if (product < -104.0f) return 0.0f;
    if (product > 89.0f) return __int_as_float(0x7f800000);

    float times = rintf(product * 1.442695f);
    float left = fmaf(-times, 1.42860677e-6f, fmaf(-times, 0.693145752f, product)) + error;
    float sum = fmaf(left, 0.0013888889f, 0.008333334f);
    sum = fmaf(left, sum, 0.041666668f);
    sum = fmaf(left, sum, 0.16666667f);
    sum = fmaf(left, sum, 0.5f);
    sum = fmaf(left, sum, 1.0f);
    sum = fmaf(left, sum, 1.0f);
    int half = (int)times / 2;
    return sum * __int_as_float((half + 127) << 23) *
           __int_as_float(((int)times - half + 127) << 23);
}

/* The distance to the floor along the ray; 0: it does not hit the floor. */
static __device__ float meet_floor(Vector centre, Vector origin, Vector direction) {
    Vector normal = {0.0f, 1.0f, 0.0f};
    float slope = dot(normal, direction);
    if (fabsf(slope) < NEAR) return 0.0f;
    float distance = -dot(normal, subtract(origin, centre)) / slope;
    return distance > 0.0f ? distance : 0.0f;
}

/* The same for a sphere; a ray from inside hits its far side. */
static __device__ float meet_sphere(Vector centre, float radius, Vector origin, Vector direction) {
    Vector to = subtract(centre, origin);
    float along = dot(to, direction), far_2 = dot(to, to), radius_2 = radius * radius;
    if (along < 0.0f && far_2 > radius_2) return 0.0f;
    float beside_2 = fmaf(-along, along, far_2);
    if (beside_2 > radius_2) return 0.0f;
    float half = sqrtf(fmaf(radius, radius, -beside_2));
    return far_2 > radius_2 ? along - half : along + half;
}

/* The position of an object that is moved by `shift` along x. */
static __device__ float meet(const Object *object, float shift, Vector origin, Vector direction) {
    Vector centre = object->centre;
    centre.x += shift;
    return object->is_floor ? meet_floor(centre, origin, direction)
                            : meet_sphere(centre, object->radius, origin, direction);
}

/* Whether no object hides the light. As in the original program, objects farther from the middle of
 * the scene than the point is from the light do not count. */
static __device__ bool is_lit(Vector point, Vector direction, float shift, int count) {
    Vector light = {10.0f, 10.0f, 10.0f}, to = subtract(light, point);
    Vector origin = add_scaled(point, NEAR, direction);
    float far_2 = dot(to, to), distance = 0.0f;
#pragma unroll 1
    for (int i = 0; i < count && distance == 0.0f; i++) {
        distance = meet(&objects[i], shift, origin, direction);
        Vector there = add_scaled(point, distance, direction);
        if (distance > 0.0f && dot(there, there) > far_2) distance = 0.0f;
    }
    return distance == 0.0f;
}

static __device__ unsigned quantize(float intensity) {
    return (unsigned)(__saturatef(intensity) * 255.0f);
}

/* A pixel is red in its low byte, then green, blue and alpha. */
extern "C" __global__ void ray(unsigned *pixels, unsigned width, unsigned height, float shift,
                               float focus, int count) {
    unsigned x = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
    unsigned y = __umul24(blockIdx.y, blockDim.y) + threadIdx.y;
    unsigned id = x + y * width;
    Colour seen[DEPTH];
#pragma unroll
    for (int i = 0; i < DEPTH; i++)
        seen[i] = {0.0f, 0.0f, 0.0f, 1.0f};
    if (x >= width || y >= height) return;

    pixels[id] = 0;
    float pixel = 2.0f / (float)min(width, height);
    float right = fmaf((float)width, -0.5f, (float)x), up = fmaf((float)height, -0.5f, (float)y);
    Vector origin = {camera.x, camera.y, camera.z};
    Vector direction = scale(focus, camera.ahead);
    direction = add_scaled(direction, pixel, scale(right, camera.right));
    direction = normalize(add_scaled(direction, pixel, scale(up, camera.up)));
    __syncthreads();

    int hits = 0;
#pragma unroll
    for (int i = 0; i < DEPTH && hits == i; i++) {
        float nearest = HORIZON;
        int what = 0;
#pragma unroll 1
        for (int j = 0; j < count; j++) {
            float distance = meet(&objects[j], shift, origin, direction);
            if (distance > 0.0f && distance < nearest) {
                nearest = distance;
                what = j;
            }
        }
        if (!(nearest < HORIZON)) continue;
        hits++;
        const Object *object = &objects[what];
        Vector centre = object->centre, point = add_scaled(origin, nearest, direction);
        centre.x += shift;
        Vector to_light = normalize(subtract({10.0f, 10.0f, 10.0f}, point));
        Vector back = normalize(subtract(origin, point)), normal = {0.0f, 1.0f, 0.0f};
        if (!object->is_floor) normal = normalize(subtract(point, centre));
        Vector facing = dot(back, normal) < 0.0f ? scale(-1.0f, normal) : normal;
        seen[i] = dim(0.05f, object->colour);
        if (dot(facing, to_light) > 0.0f && is_lit(point, to_light, shift, count)) {
            Vector between = normalize(add_scaled(to_light, 1.0f, back));
            seen[i] =
                add_dimmed(seen[i], fminf(1.0f, dot(facing, to_light)), dim(0.3f, object->colour));
            float highlight = power(fmaxf(0.0f, fminf(1.0f, dot(facing, between))), 50.0f);
            seen[i].red = fmaf(0.8f, highlight, seen[i].red);
            seen[i].green = fmaf(0.8f, highlight, seen[i].green);
            seen[i].blue = fmaf(0.8f, highlight, seen[i].blue);
        }
        float along = dot(normal, back);
        direction = normalize(add_scaled(scale(-1.0f, back), along, scale(2.0f, normal)));
        origin = add_scaled(point, NEAR, direction);
    }
#pragma unroll
    for (int i = DEPTH - 1; i > 0; i--)
        if (i < hits) seen[i - 1] = add_dimmed(seen[i - 1], 0.8f, seen[i]);
    pixels[id] += quantize(seen[0].red) | quantize(seen[0].green) << 8 |
                  quantize(seen[0].blue) << 16 | quantize(seen[0].alpha) << 24;
}
