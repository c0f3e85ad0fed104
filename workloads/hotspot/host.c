/* Transient heat simulation of a square chip of 16 mm. A tolerance covers the fused multiply-adds
 * of the device, which round less often than the reference. */
#include "common/workload.h"

enum { TILE = 16 };

static const float TOLERANCE = 1e-5f, AMBIENT = 80.0f;

enum { ROWS, STEPS, STEPS_PER_LAUNCH };

static const WorkloadInfo INFO = {
    .name = "hotspot",
    .summary = "Simulates the temperature of a chip, a few time steps per launch.",
    .parameters =
        {
            [ROWS] = {"rows", "and columns of the grid", {50, 192, 512}, 8192, 0},
            [STEPS] = {"steps", "of time", {5, 4, 2}, 10000, 0},
            [STEPS_PER_LAUNCH] = {"steps-per-launch", "width of a tile's halo", {2, 2, 2}, 7, 0},
        },
};

/* The parameters of a cell's heat flow, in SI units except for the scaled time step. */
typedef struct Model {
    float step, capacity; /* time step, and a cell's heat capacity */
    float x, y, z;        /* thermal resistances to the neighbours and to the ambient */
} Model;

/* Chip thickness 0.5 mm, silicon's conductivity and specific heat, the largest power density. */
static Model model_of_grid(unsigned n) {
    float thickness = 0.0005f, side = 0.016f / (float)n;
    float conductivity = 100.0f, heat_per_volume = 1.75e6f, power_density = 3.0e6f;
    float capacity = 0.5f * heat_per_volume * thickness * side * side;
    float largest_slope = power_density / (0.5f * thickness * heat_per_volume);
    return (Model){
        .step = 0.001f / largest_slope,
        .capacity = capacity,
        .x = 1.0f / (2.0f * conductivity * thickness),
        .y = 1.0f / (2.0f * conductivity * thickness),
        .z = thickness / (conductivity * side * side),
    };
}

static void step_on_cpu(const Model *model, const float *power, const float *before, float *after,
                        unsigned n) {
    for (size_t row = 0; row < n; row++)
        for (size_t column = 0; column < n; column++) {
            size_t i = row * n + column;
            float here = before[i];
            float north = before[row > 0 ? i - n : i], south = before[row < n - 1 ? i + n : i];
            float west = before[column > 0 ? i - 1 : i], east = before[column < n - 1 ? i + 1 : i];
            after[i] =
                here + model->step / model->capacity *
                           (power[i] + (north + south - 2.0f * here) / model->y +
                            (east + west - 2.0f * here) / model->x + (AMBIENT - here) / model->z);
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[ROWS], steps = workload.values[STEPS];
    size_t count = (size_t)n * n;
    float *power = workload_random_fractions(&workload, count, 0.0f, 0.0005f);
    float *heat[2] = {workload_random_fractions(&workload, count, 320.0f, 340.0f),
                      workload_host_alloc(&workload, count, sizeof(float))};
    Model model = model_of_grid(n);

    CUdeviceptr device_power = workload_upload(power, count * sizeof(float));
    CUdeviceptr before = workload_upload(heat[0], count * sizeof(float));
    CUdeviceptr after = workload_device_alloc(count * sizeof(float));
    for (unsigned done = 0, now; done < steps; done += now) {
        unsigned left = steps - done, most = workload.values[STEPS_PER_LAUNCH];
        now = left < most ? left : most;
        unsigned ctas = workload_divide_up(n, TILE - 2 * now);
        workload_launch(&workload, "hotspot", (WorkloadShape){ctas, ctas, TILE, TILE},
                        (void *[]){&device_power, &before, &after, &n, &now, &model.step,
                                   &model.capacity, &model.x, &model.y, &model.z});
        CUdeviceptr swap = before;
        before = after;
        after = swap;
    }

    for (unsigned step = 0; step < steps; step++)
        step_on_cpu(&model, power, heat[step % 2], heat[(step + 1) % 2], n);
    bool is_right = workload_verify_floats(&workload, before, heat[steps % 2], count, TOLERANCE);
    return workload_finish(&workload, is_right, "temperatures", count);
}
