/* A picture of random spheres above a floor. The CPU takes the same steps with the same roundings,
 * so that the comparison is exact even at the edges of spheres. */
#include "common/workload.h"

#include <math.h>

enum { THREADS_X = 16, THREADS_Y = 8, MOST_SPHERES = 64, REFLECTIONS = 5 };
enum { NOTHING = -2, FLOOR = -1 }; /* what a ray hits, or else the number of a sphere */

/* As far as one sees. */
static const float HORIZON = 1000.0f;

enum { WIDTH, HEIGHT, SPHERES };

static const WorkloadInfo INFO = {
    .name = "ray",
    .summary = "Traces rays through a scene of spheres, one pixel per thread.",
    .parameters =
        {
            [WIDTH] = {"width", "of the picture", {50, 128, 256}, 8192, 0},
            [HEIGHT] = {"height", "of the picture", {30, 64, 256}, 8192, 0},
            [SPHERES] = {"spheres", "in the scene", {10, 10, 10}, MOST_SPHERES, 0},
        },
};

typedef struct Vector {
    float x, y, z;
} Vector;

/* As the kernel has it. */
typedef struct Sphere {
    Vector centre;
    float radius;
    Vector colour;
    float mirror; /* the part of the light that it reflects */
} Sphere;

typedef struct Scene {
    Sphere spheres[MOST_SPHERES];
    int count; /* of spheres */
    Vector light;
} Scene;

typedef struct Hit {
    int what;
    float distance;
} Hit;

static Scene generate_scene(Workload *workload, int count) {
    Scene scene = {.count = count, .light = {-10.0f, 20.0f, -10.0f}};
    float *random = workload_random_fractions(workload, 8 * (size_t)count, 0.0f, 1.0f);
    for (int i = 0; i < count; i++, random += 8)
        scene.spheres[i] = (Sphere){
            .centre = {12.0f * random[0] - 6.0f, 1.0f + 5.0f * random[1], 12.0f * random[2] - 4.0f},
            .radius = 0.5f + 1.5f * random[3],
            .colour = {random[4], random[5], random[6]},
            .mirror = 0.2f + 0.6f * random[7]};
    return scene;
}

static Vector add_scaled(Vector v, float scale, Vector w) {
    return (Vector){fmaf(scale, w.x, v.x), fmaf(scale, w.y, v.y), fmaf(scale, w.z, v.z)};
}

static float dot(Vector v, Vector w) { return fmaf(v.x, w.x, fmaf(v.y, w.y, v.z * w.z)); }

static Vector normalize(Vector v) {
    float scale = 1.0f / sqrtf(dot(v, v));
    return (Vector){scale * v.x, scale * v.y, scale * v.z};
}

static float meet_sphere(const Sphere *sphere, Vector origin, Vector direction) {
    Vector from = add_scaled(origin, -1.0f, sphere->centre);
    float along = dot(from, direction);
    float outside = fmaf(-sphere->radius, sphere->radius, dot(from, from));
    float discriminant = fmaf(along, along, -outside);
    return discriminant < 0.0f ? -1.0f : -along - sqrtf(discriminant);
}

static Hit find_nearest(const Scene *scene, Vector origin, Vector direction) {
    Hit hit = {NOTHING, HORIZON};
    float ground = -origin.y / direction.y;
    if (ground > 0.0f && ground < HORIZON) hit = (Hit){FLOOR, ground};
    for (int i = 0; i < scene->count; i++) {
        float distance = meet_sphere(&scene->spheres[i], origin, direction);
        if (distance > 0.0f && distance < hit.distance) hit = (Hit){i, distance};
    }
    return hit;
}

static bool is_in_shadow(const Scene *scene, Vector point, Vector direction) {
    for (int i = 0; i < scene->count; i++)
        if (meet_sphere(&scene->spheres[i], point, direction) > 0.0f) return true;
    return false;
}

/* What is at `point`: its colour and mirror as of a sphere, and the surface's normal. */
static Sphere look_at(const Scene *scene, int what, Vector point, Vector *normal) {
    if (what != FLOOR) {
        *normal = normalize(add_scaled(point, -1.0f, scene->spheres[what].centre));
        return scene->spheres[what];
    }
    *normal = (Vector){0.0f, 1.0f, 0.0f};
    bool is_dark = ((int)floorf(point.x) + (int)floorf(point.z)) & 1;
    float shade = is_dark ? 0.2f : 0.9f;
    return (Sphere){.colour = {shade, shade, shade}, .mirror = 0.1f};
}

static Vector trace(const Scene *scene, Vector origin, Vector direction) {
    Vector colour = {0.0f, 0.0f, 0.0f};
    float weight = 1.0f;
    for (int i = 0; i <= REFLECTIONS; i++) {
        Hit hit = find_nearest(scene, origin, direction);
        if (hit.what == NOTHING)
            return add_scaled(colour, weight * fmaf(0.5f, direction.y, 0.5f),
                              (Vector){0.5f, 0.7f, 1.0f});
        Vector point = add_scaled(origin, hit.distance, direction), normal;
        Sphere surface = look_at(scene, hit.what, point, &normal);
        origin = add_scaled(point, 0.001f, normal);
        Vector to_light = normalize(add_scaled(scene->light, -1.0f, origin));
        float brightness = 0.1f, facing = dot(normal, to_light);
        if (facing > 0.0f && !is_in_shadow(scene, origin, to_light))
            brightness = fmaf(0.9f, facing, brightness);
        colour = add_scaled(colour, weight * (1.0f - surface.mirror) * brightness, surface.colour);
        weight *= surface.mirror;
        direction = normalize(add_scaled(direction, -2.0f * dot(direction, normal), normal));
    }
    return colour;
}

static uint32_t quantize(float intensity) {
    return intensity >= 1.0f ? 255 : (uint32_t)(255.0f * intensity);
}

static uint32_t render_pixel(const Scene *scene, float x, float y) {
    Vector camera = {0.0f, 3.0f, -12.0f}, direction = {x - 0.5f, 0.5f - y, 1.0f};
    Vector colour = trace(scene, camera, normalize(direction));
    return quantize(colour.x) | quantize(colour.y) << 8 | quantize(colour.z) << 16;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned width = workload.values[WIDTH], height = workload.values[HEIGHT];
    size_t count = (size_t)width * height;
    Scene scene = generate_scene(&workload, (int)workload.values[SPHERES]);

    workload_set_variable(&workload, "spheres", scene.spheres, sizeof scene.spheres);
    workload_set_variable(&workload, "light", &scene.light, sizeof scene.light);
    CUdeviceptr pixels = workload_device_alloc(count * sizeof(uint32_t));
    WorkloadShape shape = {workload_divide_up(width, THREADS_X),
                           workload_divide_up(height, THREADS_Y), THREADS_X, THREADS_Y};
    workload_launch(&workload, "ray", shape, (void *[]){&pixels, &width, &height, &scene.count});

    uint32_t *expected = workload_host_alloc(&workload, count, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        expected[i] = render_pixel(&scene, ((float)(i % width) + 0.5f) / (float)width,
                                   ((float)(i / width) + 0.5f) / (float)height);
    bool is_right = workload_verify_words(&workload, pixels, expected, count);
    return workload_finish(&workload, is_right, "pixels", count);
}
