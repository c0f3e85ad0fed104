/* A picture of mirroring spheres above a chequered floor by ray tracing, one pixel per thread: up
 * to five reflections, each with a shadow ray to the light. The spheres lie in constant memory, and
 * warps diverge by what their rays hit.
 *
 * Products that are added are fused by hand, so that no compiler chooses which: the picture is the
 * CPU's to the bit. */
#include "tyto_device.h"

enum { MOST_SPHERES = 64, REFLECTIONS = 5 };
enum { NOTHING = -2, FLOOR = -1 }; /* what a ray hits, or else the number of a sphere */

struct Vector {
    float x, y, z;
};

struct Sphere {
    Vector centre;
    float radius;
    Vector colour;
    float mirror; /* the part of the light that it reflects */
};

const float HORIZON = 1000.0f; /* as far as one sees */

struct Hit {
    int what;
    float distance;
};

__constant__ Sphere spheres[MOST_SPHERES];
__constant__ Vector light;

static __device__ Vector add_scaled(Vector v, float scale, Vector w) {
    return {fmaf(scale, w.x, v.x), fmaf(scale, w.y, v.y), fmaf(scale, w.z, v.z)};
}

static __device__ float dot(Vector v, Vector w) {
    return fmaf(v.x, w.x, fmaf(v.y, w.y, v.z * w.z));
}

static __device__ Vector normalize(Vector v) {
    float scale = 1.0f / sqrtf(dot(v, v));
    return {scale * v.x, scale * v.y, scale * v.z};
}

/* How far along the ray the sphere is, or a negative distance. */
static __device__ float meet_sphere(const Sphere *sphere, Vector origin, Vector direction) {
    Vector from = add_scaled(origin, -1.0f, sphere->centre);
    float along = dot(from, direction);
    float outside = fmaf(-sphere->radius, sphere->radius, dot(from, from));
    float discriminant = fmaf(along, along, -outside);
    return discriminant < 0.0f ? -1.0f : -along - sqrtf(discriminant);
}

static __device__ Hit find_nearest(Vector origin, Vector direction, int count) {
    Hit hit = {NOTHING, HORIZON};
    float ground = -origin.y / direction.y;
    if (ground > 0.0f && ground < HORIZON) hit = {FLOOR, ground};
    for (int i = 0; i < count; i++) {
        float distance = meet_sphere(&spheres[i], origin, direction);
        if (distance > 0.0f && distance < hit.distance) hit = {i, distance};
    }
    return hit;
}

static __device__ bool is_in_shadow(Vector point, Vector direction, int count) {
    for (int i = 0; i < count; i++)
        if (meet_sphere(&spheres[i], point, direction) > 0.0f) return true;
    return false;
}

static __device__ Vector trace(Vector origin, Vector direction, int count) {
    Vector colour = {0.0f, 0.0f, 0.0f};
    float weight = 1.0f;
    for (int i = 0; i <= REFLECTIONS; i++) {
        Hit hit = find_nearest(origin, direction, count);
        if (hit.what == NOTHING)
            return add_scaled(colour, weight * fmaf(0.5f, direction.y, 0.5f), {0.5f, 0.7f, 1.0f});
        Vector point = add_scaled(origin, hit.distance, direction);
        Vector normal = {0.0f, 1.0f, 0.0f}, surface = {0.9f, 0.9f, 0.9f};
        float mirror = 0.1f;
        if (hit.what == FLOOR) {
            int field = (int)floorf(point.x) + (int)floorf(point.z);
            if (field & 1) surface = {0.2f, 0.2f, 0.2f};
        } else {
            normal = normalize(add_scaled(point, -1.0f, spheres[hit.what].centre));
            surface = spheres[hit.what].colour;
            mirror = spheres[hit.what].mirror;
        }
        origin = add_scaled(point, 0.001f, normal); /* off the surface, lest the ray hit it again */
        Vector to_light = normalize(add_scaled(light, -1.0f, origin));
        float brightness = 0.1f, facing = dot(normal, to_light);
        if (facing > 0.0f && !is_in_shadow(origin, to_light, count))
            brightness = fmaf(0.9f, facing, brightness);
        colour = add_scaled(colour, weight * (1.0f - mirror) * brightness, surface);
        weight *= mirror;
        direction = normalize(add_scaled(direction, -2.0f * dot(direction, normal), normal));
    }
    return colour;
}

static __device__ unsigned quantize(float intensity) {
    return (unsigned)min(255, (int)(255.0f * intensity));
}

/* A pixel is red in its low byte, then green and blue. The camera looks along z. */
extern "C" __global__ void ray(unsigned *pixels, int width, int height, int count) {
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) return;
    Vector camera = {0.0f, 3.0f, -12.0f};
    Vector direction = {((float)x + 0.5f) / (float)width - 0.5f,
                        0.5f - ((float)y + 0.5f) / (float)height, 1.0f};
    Vector colour = trace(camera, normalize(direction), count);
    pixels[y * width + x] = quantize(colour.x) | quantize(colour.y) << 8 | quantize(colour.z) << 16;
}
