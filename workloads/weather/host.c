/* Time steps of cloud physics over an area, from a warm moist atmosphere with random clouds and
 * rain. The reference uses the kernel's formulas with the C library's functions; a tolerance covers
 * the device's approximate functions. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 8, LEVELS = 28 };

static const float TOLERANCE = 2e-6f, SECONDS = 10.0f, LAYER_METRES = 400.0f;

enum { WIDTH, HEIGHT, STEPS };

static const WorkloadInfo INFO = {
    .name = "weather",
    .summary = "Cloud physics of a weather model, one column of 28 levels per thread.",
    .parameters =
        {
            [WIDTH] = {"width", "columns from west to east", {20, 40, 72}, 1024, 0},
            [HEIGHT] = {"height", "columns from south to north", {13, 32, 64}, 1024, 0},
            [STEPS] = {"steps", "of ten seconds", {2, 1, 10}, 1000, 0},
        },
};

/* The fields, each width x levels x height, in the order of the kernel's parameters. */
enum { TEMPERATURE, VAPOUR, CLOUD, RAIN, PRESSURE, DENSITY, FIELDS };

static void generate_fields(Workload *workload, float *fields[FIELDS], size_t count, size_t width) {
    for (int i = 0; i < FIELDS; i++)
        fields[i] = workload_random_fractions(workload, count, 0.0f, 1.0f);
    for (size_t i = 0; i < count; i++) {
        float level = (float)(i / width % LEVELS);
        float temperature = 300.0f - 2.4f * level;
        fields[PRESSURE][i] = 1e5f * expf(-LAYER_METRES / 8000.0f * level);
        fields[DENSITY][i] = fields[PRESSURE][i] / (287.0f * temperature);
        fields[TEMPERATURE][i] = temperature + 2.0f * fields[TEMPERATURE][i];
        fields[VAPOUR][i] *= 0.02f * expf(-0.15f * level);
        fields[CLOUD][i] *= 0.003f;
        fields[RAIN][i] *= 0.002f;
    }
}

static float saturation(float temperature, float pressure) {
    return 380.0f / pressure * expf(17.27f * (temperature - 273.0f) / (temperature - 36.0f));
}

static float fall_speed(float density, float rain, float ground_density) {
    return 36.34f * powf(fmaxf(0.001f * density * rain, 1e-12f), 0.1364f) *
           sqrtf(ground_density / density);
}

/* One column, with cells at distance `stride` from `first` on. Returns the rain that reaches the
 * ground. */
static float step_column(float *const fields[FIELDS], size_t first, size_t stride) {
    float fluxes[LEVELS + 1] = {0}; /* of rain, out of each level: kg/m2/s */
    for (size_t k = 0; k < LEVELS; k++) {
        size_t i = first + k * stride;
        float density = fields[DENSITY][i], rain = fields[RAIN][i];
        fluxes[k] = density * rain * fall_speed(density, rain, fields[DENSITY][first]);
    }
    for (size_t k = 0; k < LEVELS; k++) {
        size_t i = first + k * stride;
        float *t = &fields[TEMPERATURE][i], *v = &fields[VAPOUR][i];
        float *c = &fields[CLOUD][i], *r = &fields[RAIN][i];
        float pressure = fields[PRESSURE][i], density = fields[DENSITY][i];
        float arriving = (fluxes[k + 1] - fluxes[k]) * SECONDS / (LAYER_METRES * density);

        float conversion = fmaxf(0.001f * (*c - 0.001f), 0.0f) * SECONDS;
        float collection = 2.2f * *c * powf(fmaxf(*r, 1e-12f), 0.875f) * SECONDS;
        float grown = fminf(conversion + collection, *c);
        *c -= grown;
        *r = fmaxf(*r + grown + arriving, 0.0f);

        float holds = saturation(*t, pressure);
        float slope = 1.0f + 4093.0f * 2.5e6f / 1005.0f * holds / ((*t - 36.0f) * (*t - 36.0f));
        float condensed = fmaxf((*v - holds) / slope, -*c);
        float wet = fmaxf(0.001f * density * *r, 1e-12f);
        float deficit = fmaxf(1.0f - *v / holds, 0.0f);
        float rate = deficit * (1.6f + 124.9f * powf(wet, 0.2046f)) * powf(wet, 0.525f) /
                     (0.001f * density * (5.4e5f + 2.55e6f / (0.01f * pressure * holds)));
        float evaporated = fminf(rate * SECONDS, *r);
        *v += evaporated - condensed;
        *c += condensed;
        *r -= evaporated;
        *t += 2.5e6f / 1005.0f * (condensed - evaporated);
    }
    return fluxes[0] * SECONDS;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned width = workload.values[WIDTH], height = workload.values[HEIGHT];
    size_t columns = (size_t)width * height, count = columns * LEVELS;
    float *fields[FIELDS];
    generate_fields(&workload, fields, count, width);

    CUdeviceptr buffers[FIELDS];
    for (int i = 0; i < FIELDS; i++)
        buffers[i] = workload_upload(fields[i], count * sizeof(float));
    CUdeviceptr rainfall = workload_upload_zeros(columns * sizeof(float));
    float seconds = SECONDS, layer_metres = LAYER_METRES;
    WorkloadShape shape = {workload_divide_up(width, THREADS), workload_divide_up(height, THREADS),
                           THREADS, THREADS};
    float *expected = workload_host_alloc(&workload, columns, sizeof *expected);
    for (unsigned step = 0; step < workload.values[STEPS]; step++) {
        workload_launch(&workload, "weather", shape,
                        (void *[]){&buffers[0], &buffers[1], &buffers[2], &buffers[3], &buffers[4],
                                   &buffers[5], &rainfall, &width, &height, &seconds,
                                   &layer_metres});
        for (size_t i = 0; i < columns; i++)
            expected[i] += step_column(fields, i / width * LEVELS * width + i % width, width);
    }
    bool is_right = workload_verify_floats(&workload, rainfall, expected, columns, TOLERANCE);
    for (int i = TEMPERATURE; i <= RAIN; i++)
        is_right &= workload_verify_floats(&workload, buffers[i], fields[i], count, TOLERANCE);
    return workload_finish(&workload, is_right, "cells", count);
}
