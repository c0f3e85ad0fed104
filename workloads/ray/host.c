/* A picture of random spheres above a floor. The CPU takes the same steps with the same roundings,
 * so that the comparison is exact even at the edges of spheres. */
#include "common/workload.h"

#include <math.h>

enum { THREADS_X = 16, THREADS_Y = 8, MOST_OBJECTS = 64, DEPTH = 5, SHININESS = 50 };

static const float HORIZON = 10000.0f, NEAR = 0.0001f; /* as far as one sees; off a surface */

enum { WIDTH, HEIGHT, OBJECTS };

static const WorkloadInfo INFO = {
    .name = "ray",
    .summary = "Traces rays through a scene of spheres above a floor, one pixel per thread.",
    .parameters =
        {
            [WIDTH] = {"width", "of the picture", {50, 128, 256}, 8192, 0},
            [HEIGHT] = {"height", "of the picture", {30, 64, 256}, 8192, 0},
            [OBJECTS] =
                {"objects", "in the scene, the floor one of them", {4, 4, 9}, MOST_OBJECTS, 0},
        },
};

typedef struct Vector {
    float x, y, z;
} Vector;

typedef struct Colour {
    float red, green, blue, alpha;
} Colour;

/* As the kernel has it. */
typedef struct Object {
    Vector centre;
    float radius;
    Colour colour;
    uint32_t is_floor; /* through its centre, level */
} Object;

typedef struct Scene {
    Object objects[MOST_OBJECTS];
    int count; /* of objects */
    Vector light;
} Scene;

static Scene generate_scene(Workload *workload, int count) {
    Scene scene = {.count = count, .light = {-10.0f, 20.0f, -10.0f}};
    float *random = workload_random_fractions(workload, 8 * (size_t)count, 0.0f, 1.0f);
    for (int i = 0; i < count; i++, random += 8)
        scene.objects[i] = (Object){
            .centre = {8.0f * random[0] - 4.0f, 1.0f + 4.0f * random[1], 8.0f * random[2] - 4.0f},
            .radius = 0.5f + 1.5f * random[3],
            .colour = {random[4], random[5], random[6], 1.0f}};
    scene.objects[0] = (Object){.colour = {0.9f, 0.9f, 0.9f, 1.0f}, .is_floor = 1};
    return scene;
}

static Vector add_scaled(Vector v, float scale, Vector w) {
    return (Vector){fmaf(scale, w.x, v.x), fmaf(scale, w.y, v.y), fmaf(scale, w.z, v.z)};
}

static Colour add_colour(Colour a, float scale, Colour b) {
    return (Colour){fmaf(scale, b.red, a.red), fmaf(scale, b.green, a.green),
                    fmaf(scale, b.blue, a.blue), fmaf(scale, b.alpha, a.alpha)};
}

static float dot(Vector v, Vector w) { return fmaf(v.x, w.x, fmaf(v.y, w.y, v.z * w.z)); }

static Vector normalize(Vector v) {
    float scale = 1.0f / sqrtf(dot(v, v));
    return (Vector){scale * v.x, scale * v.y, scale * v.z};
}

static float meet_floor(const Object *floor, Vector origin, Vector direction) {
    if (fabsf(direction.y) < NEAR) return 0.0f;
    float distance = (floor->centre.y - origin.y) / direction.y;
    return distance > 0.0f ? distance : 0.0f;
}

static float meet_sphere(const Object *sphere, Vector origin, Vector direction) {
    Vector to = add_scaled(sphere->centre, -1.0f, origin);
    float along = dot(to, direction), far_2 = dot(to, to);
    float radius_2 = sphere->radius * sphere->radius;
    float beside_2 = fmaf(-along, along, far_2);
    bool is_outside = far_2 > radius_2;
    if ((along < 0.0f && is_outside) || beside_2 > radius_2) return 0.0f;
    float half = sqrtf(radius_2 - beside_2);
    return is_outside ? along - half : along + half;
}

static float meet(const Object *object, Vector origin, Vector direction) {
    return object->is_floor ? meet_floor(object, origin, direction)
                            : meet_sphere(object, origin, direction);
}

/* Just off a sphere's surface the distance to it may be rounded to less than nothing: in its
 * shadow, as for the kernel. */
static bool is_lit(const Scene *scene, Vector point, Vector direction) {
    Vector origin = add_scaled(point, NEAR, direction);
    Vector to = add_scaled(scene->light, -1.0f, point);
    for (int i = 0; i < scene->count; i++) {
        float distance = meet(&scene->objects[i], origin, direction);
        bool is_behind = distance > 0.0f && distance * distance > dot(to, to);
        if (distance != 0.0f && !is_behind) return false;
    }
    return true;
}

static Colour shade(const Scene *scene, Colour colour, Vector point, Vector normal, Vector back) {
    Colour seen = add_colour((Colour){0}, 0.05f, colour);
    Vector to_light = normalize(add_scaled(scene->light, -1.0f, point));
    if (dot(back, normal) < 0.0f) normal = (Vector){-normal.x, -normal.y, -normal.z};
    float facing = dot(normal, to_light);
    if (!(facing > 0.0f && is_lit(scene, point, to_light))) return seen;
    seen = add_colour(seen, 0.3f * fminf(1.0f, facing), colour);
    Vector between = normalize(add_scaled(to_light, 1.0f, back));
    float near = fmaxf(0.0f, fminf(1.0f, dot(normal, between))), highlight = near;
    for (int i = 1; i < SHININESS; i++)
        highlight *= near;
    highlight *= 0.8f;
    return (Colour){seen.red + highlight, seen.green + highlight, seen.blue + highlight,
                    seen.alpha};
}

/* The nearest object that the ray meets, NULL: none. */
static const Object *find_nearest(const Scene *scene, Vector origin, Vector direction,
                                  float *distance) {
    const Object *nearest = NULL;
    *distance = HORIZON;
    for (int i = 0; i < scene->count; i++) {
        float there = meet(&scene->objects[i], origin, direction);
        if (!(there > 0.0f && there < *distance)) continue;
        *distance = there;
        nearest = &scene->objects[i];
    }
    return nearest;
}

static Colour trace(const Scene *scene, Vector origin, Vector direction) {
    Colour stack[DEPTH] = {{.alpha = 1.0f}};
    int hits = 0;
    while (hits < DEPTH) {
        float distance;
        const Object *object = find_nearest(scene, origin, direction, &distance);
        if (!object) break;
        Vector point = add_scaled(origin, distance, direction), normal = {0.0f, 1.0f, 0.0f};
        Vector back = normalize(add_scaled(origin, -1.0f, point));
        if (!object->is_floor) normal = normalize(add_scaled(point, -1.0f, object->centre));
        stack[hits++] = shade(scene, object->colour, point, normal, back);
        float twice = 2.0f * dot(normal, back);
        direction =
            normalize((Vector){fmaf(twice, normal.x, -back.x), fmaf(twice, normal.y, -back.y),
                               fmaf(twice, normal.z, -back.z)});
        origin = add_scaled(point, NEAR, direction);
    }
    for (int i = hits - 1; i > 0; i--)
        stack[i - 1] = add_colour(stack[i - 1], 0.8f, stack[i]);
    return stack[0];
}

static uint32_t quantize(float intensity) {
    return (uint32_t)(fminf(1.0f, fmaxf(0.0f, intensity)) * 255.0f);
}

static uint32_t render_pixel(const Scene *scene, float x, float y) {
    Vector camera = {0.0f, 3.0f, -12.0f}, direction = {x - 0.5f, 0.5f - y, 1.0f};
    Colour colour = trace(scene, camera, normalize(direction));
    return quantize(colour.red) | quantize(colour.green) << 8 | quantize(colour.blue) << 16 |
           quantize(colour.alpha) << 24;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned width = workload.values[WIDTH], height = workload.values[HEIGHT];
    size_t count = (size_t)width * height;
    Scene scene = generate_scene(&workload, (int)workload.values[OBJECTS]);

    workload_set_variable(&workload, "objects", scene.objects, sizeof scene.objects);
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
