/* A picture of three spheres above a floor, as in the program of GPGPU-Sim's authors, or of more
 * spheres at random places. The CPU makes the same steps with the same rounding, so that with
 * `--exact 1` the comparison is exact even at the edges of spheres.
 *
 * A GPU's reciprocal roots have errors of up to two units in the last place. This can change
 * channels by one level, and move edges, where a pixel may get any colour. With random errors of up
 * to two in the roots below, at most 3, 4 and 73 pixels of the three sizes differed by one level,
 * and 1, 5 and 29 by more. So three in a thousand pixels may differ, and a third of these by more
 * than a level. An error throughout the picture is still found. */
#include "common/workload.h"

#include <math.h>
#include <string.h>

enum { TOLERATED = 3 }; /* pixels in 1000 that differ */
enum { THREADS_X = 16, THREADS_Y = 8, MOST_OBJECTS = 64, FIRST_OBJECTS = 4, DEPTH = 5 };

static const float HORIZON = 10000.0f,
                   NEAR = 0.0001f; /* the largest visible distance; the distance from a surface */

enum { WIDTH, HEIGHT, OBJECTS, EXACT };

static const WorkloadInfo INFO = {
    .name = "ray",
    .summary = "Traces rays through a scene of spheres above a floor, one pixel per thread.",
    .parameters =
        {
            [WIDTH] = {"width", "of the picture", {50, 128, 256}, 8192, 0},
            [HEIGHT] = {"height", "of the picture", {30, 64, 256}, 8192, 0},
            [OBJECTS] =
                {"objects", "in the scene, including the floor", {4, 4, 4}, MOST_OBJECTS, 0},
            [EXACT] = {"exact", "0: a few pixels may differ, 1: none", {0, 0, 0}, 1, 0},
        },
};

typedef struct Vector {
    float x, y, z;
} Vector;

typedef struct Colour {
    float red, green, blue, alpha;
} Colour;

/* The same layout as in the kernel. */
typedef struct Object {
    Vector centre;
    float radius;
    Colour colour;
    uint32_t is_floor; /* through its centre, level */
    uint32_t unused;
} Object;

/* The same layout as in the kernel: the axes of the picture, and the position of the viewer. */
typedef struct Camera {
    Vector ahead;
    float x;
    Vector up;
    float y;
    Vector right;
    float z;
} Camera;

typedef struct Scene {
    Object objects[MOST_OBJECTS];
    int count; /* of objects */
    Camera camera;
    float focus; /* distance of the picture from the camera; the picture's shorter side is 2 */
    float shift; /* of all objects along x */
} Scene;

static const Vector LIGHT = {10.0f, 10.0f, 10.0f};

static const Object FIRST[FIRST_OBJECTS] = {
    {.centre = {0.0f, -1.5f, 0.0f}, .colour = {0.0f, 1.0f, 1.0f, 1.0f}, .is_floor = 1},
    {.centre = {-1.0f, 0.0f, -1.0f}, .radius = 0.5f, .colour = {1.0f, 0.0f, 0.0f, 1.0f}},
    {.centre = {1.0f, 0.0f, -1.0f}, .radius = 0.5f, .colour = {0.0f, 0.0f, 1.0f, 1.0f}},
    {.centre = {0.0f, 0.0f, -2.0f}, .radius = 0.75f, .colour = {0.0f, 1.0f, 0.0f, 1.0f}},
};

static Vector subtract(Vector v, Vector w) { return (Vector){v.x - w.x, v.y - w.y, v.z - w.z}; }

static Vector scale(float factor, Vector v) {
    return (Vector){factor * v.x, factor * v.y, factor * v.z};
}

static Vector add_scaled(Vector v, float factor, Vector w) {
    return (Vector){fmaf(factor, w.x, v.x), fmaf(factor, w.y, v.y), fmaf(factor, w.z, v.z)};
}

static float dot(Vector v, Vector w) { return fmaf(v.z, w.z, fmaf(v.y, w.y, v.x * w.x)); }

static Vector normalize(Vector v) { return scale((float)(1.0 / sqrt((double)dot(v, v))), v); }

static Colour dim(float factor, Colour c) {
    return (Colour){factor * c.red, factor * c.green, factor * c.blue, factor * c.alpha};
}

static Colour add_dimmed(Colour a, float factor, Colour b) {
    return (Colour){fmaf(factor, b.red, a.red), fmaf(factor, b.green, a.green),
                    fmaf(factor, b.blue, a.blue), fmaf(factor, b.alpha, a.alpha)};
}

/* The camera is above the first row of spheres and points to the origin, with an angle of view of
 * 65 degrees. */
static Camera place_camera(void) {
    Vector place = {0.0f, 0.5f, 2.0f}, level = {0.0f, 1.0f, 0.0f};
    Vector ahead = normalize(scale(-1.0f, place));
    Vector up = normalize(add_scaled(level, -dot(ahead, level), ahead));
    Vector right = {ahead.y * up.z - ahead.z * up.y, ahead.z * up.x - ahead.x * up.z,
                    ahead.x * up.y - ahead.y * up.x};
    return (Camera){ahead, place.x, up, place.y, normalize(right), place.z};
}

static Scene generate_scene(Workload *workload, int count) {
    Scene scene = {.count = count,
                   .camera = place_camera(),
                   .focus = (float)(1.0 / tan(32.5 * 3.14159265358979 / 180.0))};
    float *random = workload_random_fractions(workload, 4 * (size_t)count, 0.0f, 1.0f);
    for (int i = 0; i < count; i++, random += 4) {
        Vector centre = {5.0f * random[0] - 2.5f, 5.0f * random[1] - 2.5f, -5.0f * random[2]};
        scene.objects[i] = i < FIRST_OBJECTS
                               ? FIRST[i]
                               : (Object){.centre = centre,
                                          .radius = random[3],
                                          .colour = {random[0], random[1], random[2], 1.0f}};
    }
    return scene;
}

static int bits_of(float x) {
    int bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float of_bits(int bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x^y for an x from 0 to 1, with the kernel's steps. */
static float power(float x, float y) {
    if (x == 0.0f || x == 1.0f) return x;
    float scaled = x < 0x1p-126f ? x * 0x1p24f : x;
    int bits = bits_of(scaled), exponent = (bits >> 23) - (x < 0x1p-126f ? 151 : 127);
    float mantissa = of_bits((bits & 0x7fffff) | 0x3f800000);
    if (mantissa > 1.4142135f) {
        mantissa *= 0.5f;
        exponent++;
    }
    float inverse = 1.0f / (mantissa + 1.0f), less = mantissa - 1.0f;
    float ratio = less * inverse, twice = 2.0f * ratio, square = ratio * ratio;
    float rest = fmaf(-twice, mantissa, 2.0f * less - twice) * inverse;
    float series = fmaf(square, 0.2222222f, 0.2857143f);
    series = fmaf(square, series, 0.4f);
    series = fmaf(square, series, 0.6666667f) * square;
    float whole = (float)exponent * 0.693145752f;
    float high = whole + twice, low = whole - high + twice;
    low += fmaf(series, ratio, fmaf((float)exponent, 1.42860677e-6f, rest));
    float product = y * high, error = fmaf(y, high, -product);
    error = fmaf(y, low, error);
    if (product < -104.0f) return 0.0f;

    float times = rintf(product * 1.442695f);
    float left = fmaf(-times, 1.42860677e-6f, fmaf(-times, 0.693145752f, product)) + error;
    float sum = fmaf(left, 0.0013888889f, 0.008333334f);
    sum = fmaf(left, sum, 0.041666668f);
    sum = fmaf(left, sum, 0.16666667f);
    sum = fmaf(left, sum, 0.5f);
    sum = fmaf(left, sum, 1.0f);
    sum = fmaf(left, sum, 1.0f);
    int half = (int)times / 2;
    return sum * of_bits((half + 127) << 23) * of_bits(((int)times - half + 127) << 23);
}

static float meet_floor(Vector centre, Vector origin, Vector direction) {
    Vector normal = {0.0f, 1.0f, 0.0f};
    float slope = dot(normal, direction);
    if (fabsf(slope) < NEAR) return 0.0f;
    float distance = -dot(normal, subtract(origin, centre)) / slope;
    return distance > 0.0f ? distance : 0.0f;
}

static float meet_sphere(Vector centre, float radius, Vector origin, Vector direction) {
    Vector to = subtract(centre, origin);
    float along = dot(to, direction), far_2 = dot(to, to), radius_2 = radius * radius;
    float beside_2 = fmaf(-along, along, far_2);
    bool is_outside = far_2 > radius_2;
    if ((along < 0.0f && is_outside) || beside_2 > radius_2) return 0.0f;
    float half = sqrtf(fmaf(radius, radius, -beside_2));
    return is_outside ? along - half : along + half;
}

static float meet(const Scene *scene, int object, Vector origin, Vector direction) {
    const Object *o = &scene->objects[object];
    Vector centre = {o->centre.x + scene->shift, o->centre.y, o->centre.z};
    return o->is_floor ? meet_floor(centre, origin, direction)
                       : meet_sphere(centre, o->radius, origin, direction);
}

/* Near a sphere's surface the distance may be rounded to less than 0; then the point is in its
 * shadow, as in the kernel. */
static bool is_lit(const Scene *scene, Vector point, Vector direction) {
    Vector origin = add_scaled(point, NEAR, direction), to = subtract(LIGHT, point);
    for (int i = 0; i < scene->count; i++) {
        float distance = meet(scene, i, origin, direction);
        Vector there = add_scaled(point, distance, direction);
        bool is_behind = distance > 0.0f && dot(there, there) > dot(to, to);
        if (distance != 0.0f && !is_behind) return false;
    }
    return true;
}

static Colour shade(const Scene *scene, Colour colour, Vector point, Vector normal, Vector back) {
    Colour seen = dim(0.05f, colour);
    Vector to_light = normalize(subtract(LIGHT, point));
    if (dot(back, normal) < 0.0f) normal = scale(-1.0f, normal);
    float facing = dot(normal, to_light);
    if (!(facing > 0.0f && is_lit(scene, point, to_light))) return seen;
    seen = add_dimmed(seen, fminf(1.0f, facing), dim(0.3f, colour));
    Vector between = normalize(add_scaled(to_light, 1.0f, back));
    float highlight = power(fmaxf(0.0f, fminf(1.0f, dot(normal, between))), 50.0f);
    return add_dimmed(seen, 0.8f, (Colour){highlight, highlight, highlight, 0.0f});
}

/* The nearest object that the ray meets; -1: none. */
static int find_nearest(const Scene *scene, Vector origin, Vector direction, float *distance) {
    int nearest = -1;
    *distance = HORIZON;
    for (int i = 0; i < scene->count; i++) {
        float there = meet(scene, i, origin, direction);
        if (!(there > 0.0f && there < *distance)) continue;
        *distance = there;
        nearest = i;
    }
    return nearest;
}

static Colour trace(const Scene *scene, Vector origin, Vector direction) {
    Colour stack[DEPTH] = {{.alpha = 1.0f}};
    int hits = 0;
    while (hits < DEPTH) {
        float distance;
        int what = find_nearest(scene, origin, direction, &distance);
        if (what < 0) break;
        const Object *object = &scene->objects[what];
        Vector point = add_scaled(origin, distance, direction), normal = {0.0f, 1.0f, 0.0f};
        Vector centre = {object->centre.x + scene->shift, object->centre.y, object->centre.z};
        Vector back = normalize(subtract(origin, point));
        if (!object->is_floor) normal = normalize(subtract(point, centre));
        stack[hits++] = shade(scene, object->colour, point, normal, back);
        direction =
            normalize(add_scaled(scale(-1.0f, back), dot(normal, back), scale(2.0f, normal)));
        origin = add_scaled(point, NEAR, direction);
    }
    for (int i = hits - 1; i > 0; i--)
        stack[i - 1] = add_dimmed(stack[i - 1], 0.8f, stack[i]);
    return stack[0];
}

static uint32_t quantize(float intensity) {
    return (uint32_t)(fminf(1.0f, fmaxf(0.0f, intensity)) * 255.0f);
}

static uint32_t render_pixel(const Scene *scene, unsigned x, unsigned y, unsigned width,
                             unsigned height) {
    const Camera *camera = &scene->camera;
    float pixel = 2.0f / (float)(width < height ? width : height);
    float right = fmaf((float)width, -0.5f, (float)x), up = fmaf((float)height, -0.5f, (float)y);
    Vector direction = scale(scene->focus, camera->ahead);
    direction = add_scaled(direction, pixel, scale(right, camera->right));
    direction = add_scaled(direction, pixel, scale(up, camera->up));
    Colour colour = trace(scene, (Vector){camera->x, camera->y, camera->z}, normalize(direction));
    return quantize(colour.red) | quantize(colour.green) << 8 | quantize(colour.blue) << 16 |
           quantize(colour.alpha) << 24;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned width = workload.values[WIDTH], height = workload.values[HEIGHT];
    size_t count = (size_t)width * height;
    Scene scene = generate_scene(&workload, (int)workload.values[OBJECTS]);

    workload_set_variable(&workload, "objects", scene.objects, sizeof scene.objects);
    workload_set_variable(&workload, "camera", &scene.camera, sizeof scene.camera);
    CUdeviceptr pixels = workload_device_alloc(count * sizeof(uint32_t));
    WorkloadShape shape = {workload_divide_up(width, THREADS_X),
                           workload_divide_up(height, THREADS_Y), THREADS_X, THREADS_Y};
    workload_launch(&workload, "ray", shape,
                    (void *[]){&pixels, &width, &height, &scene.shift, &scene.focus, &scene.count});

    uint32_t *expected = workload_host_alloc(&workload, count, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        expected[i] =
            render_pixel(&scene, (unsigned)(i % width), (unsigned)(i / width), width, height);
    uint32_t *got = workload_host_alloc(&workload, count, sizeof *got);
    workload_copy_to_host(got, pixels, count * sizeof *got);
    size_t most = workload.values[EXACT] ? 0 : count * TOLERATED / 1000;
    bool is_right = workload_compare_pixels(&workload, got, expected, count, most);
    return workload_finish(&workload, is_right, "pixels", count);
}
