/* A picture of mirroring spheres above a floor by ray tracing, one pixel per thread: a ray is
 * followed for up to five reflections, each with a shadow ray to the light and a highlight. The
 * five are code of their own, so that what each adds waits in registers until the last is known;
 * that is more code than an instruction cache holds. The objects lie in constant memory; warps
 * diverge by what their rays hit.
 *
 * Products that are added are fused by hand, so that no compiler chooses which: the picture is the
 * CPU's to the bit. */
#include "tyto_device.h"

enum { MOST_OBJECTS = 64, DEPTH = 5, SHININESS = 50 };

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
};

const float HORIZON = 10000.0f, NEAR = 0.0001f; /* as far as one sees; off a surface */

__constant__ Object objects[MOST_OBJECTS];
__constant__ Vector light;

static __device__ Vector add_scaled(Vector v, float scale, Vector w) {
    return {fmaf(scale, w.x, v.x), fmaf(scale, w.y, v.y), fmaf(scale, w.z, v.z)};
}

static __device__ Colour add_colour(Colour a, float scale, Colour b) {
    return {fmaf(scale, b.red, a.red), fmaf(scale, b.green, a.green), fmaf(scale, b.blue, a.blue),
            fmaf(scale, b.alpha, a.alpha)};
}

static __device__ float dot(Vector v, Vector w) {
    return fmaf(v.x, w.x, fmaf(v.y, w.y, v.z * w.z));
}

static __device__ Vector normalize(Vector v) {
    float scale = 1.0f / sqrtf(dot(v, v));
    return {scale * v.x, scale * v.y, scale * v.z};
}

/* How far along the ray the object is, or 0: nowhere. From within a sphere its far side is met. */
static __device__ float meet(const Object *object, Vector origin, Vector direction) {
    if (object->is_floor) {
        if (fabsf(direction.y) < NEAR) return 0.0f;
        float distance = (object->centre.y - origin.y) / direction.y;
        return distance > 0.0f ? distance : 0.0f;
    }
    Vector to = add_scaled(object->centre, -1.0f, origin);
    float along = dot(to, direction), far_2 = dot(to, to);
    float radius_2 = object->radius * object->radius;
    if (along < 0.0f && far_2 > radius_2) return 0.0f;
    float beside_2 = fmaf(-along, along, far_2);
    if (beside_2 > radius_2) return 0.0f;
    float half = sqrtf(radius_2 - beside_2);
    return far_2 > radius_2 ? along - half : along + half;
}

static __device__ bool is_lit(Vector point, Vector direction, int count) {
    Vector origin = add_scaled(point, NEAR, direction), to = add_scaled(light, -1.0f, point);
    float far_2 = dot(to, to), distance = 0.0f;
#pragma unroll 1
    for (int i = 0; i < count && distance == 0.0f; i++) {
        distance = meet(&objects[i], origin, direction);
        if (distance > 0.0f && distance * distance > far_2) distance = 0.0f;
    }
    return distance == 0.0f;
}

static __device__ float power(float x) {
    float product = x;
#pragma unroll
    for (int i = 1; i < SHININESS; i++)
        product *= x;
    return product;
}

/* The colour of a surface there, seen along `back` to where the ray came from. */
static __device__ Colour shade(Colour colour, Vector point, Vector normal, Vector back, int count) {
    Colour seen = add_colour({0.0f, 0.0f, 0.0f, 0.0f}, 0.05f, colour);
    Vector to_light = normalize(add_scaled(light, -1.0f, point));
    if (dot(back, normal) < 0.0f) normal = {-normal.x, -normal.y, -normal.z};
    float facing = dot(normal, to_light);
    if (!(facing > 0.0f && is_lit(point, to_light, count))) return seen;
    seen = add_colour(seen, 0.3f * fminf(1.0f, facing), colour);
    Vector between = normalize(add_scaled(to_light, 1.0f, back));
    float highlight = 0.8f * power(fmaxf(0.0f, fminf(1.0f, dot(normal, between))));
    return {seen.red + highlight, seen.green + highlight, seen.blue + highlight, seen.alpha};
}

static __device__ unsigned quantize(float intensity) {
    return (unsigned)(fminf(1.0f, fmaxf(0.0f, intensity)) * 255.0f);
}

static __device__ Colour trace(Vector origin, Vector direction, int count) {
    Colour stack[DEPTH];
#pragma unroll
    for (int i = 0; i < DEPTH; i++)
        stack[i] = {0.0f, 0.0f, 0.0f, 1.0f};
    int hits = 0;
#pragma unroll
    for (int i = 0; i < DEPTH && hits == i; i++) {
        float nearest = HORIZON;
        int what = 0;
#pragma unroll 1
        for (int j = 0; j < count; j++) {
            float distance = meet(&objects[j], origin, direction);
            if (distance > 0.0f && distance < nearest) {
                nearest = distance;
                what = j;
            }
        }
        if (nearest == HORIZON) continue;
        hits++;
        Vector point = add_scaled(origin, nearest, direction);
        Vector back = normalize(add_scaled(origin, -1.0f, point));
        Vector normal = {0.0f, 1.0f, 0.0f};
        if (!objects[what].is_floor)
            normal = normalize(add_scaled(point, -1.0f, objects[what].centre));
        stack[i] = shade(objects[what].colour, point, normal, back, count);
        float twice = 2.0f * dot(normal, back);
        direction = normalize({fmaf(twice, normal.x, -back.x), fmaf(twice, normal.y, -back.y),
                               fmaf(twice, normal.z, -back.z)});
        origin = add_scaled(point, NEAR, direction);
    }
#pragma unroll
    for (int i = DEPTH - 1; i > 0; i--)
        if (i < hits) stack[i - 1] = add_colour(stack[i - 1], 0.8f, stack[i]);
    return stack[0];
}

/* A pixel is red in its low byte, then green, blue and alpha. The camera looks along z. */
extern "C" __global__ void ray(unsigned *pixels, int width, int height, int count) {
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    bool is_inside = x < width && y < height;
    if (is_inside) pixels[y * width + x] = 0;
    Vector camera = {0.0f, 3.0f, -12.0f};
    Vector direction = {((float)x + 0.5f) / (float)width - 0.5f,
                        0.5f - ((float)y + 0.5f) / (float)height, 1.0f};
    __syncthreads();
    if (!is_inside) return;
    Colour colour = trace(camera, normalize(direction), count);
    pixels[y * width + x] += quantize(colour.red) | quantize(colour.green) << 8 |
                             quantize(colour.blue) << 16 | quantize(colour.alpha) << 24;
}
