/* One training step of a fully connected layer with 16 hidden units: the device computes the
 * forward sums and the change of the weights, the host the steps in between. The rounding of sums
 * of fractions depends on the order of addition, so there is a tolerance. */
#include "common/workload.h"

#include <math.h>

enum { TILE = 16, ROW_WEIGHTS = TILE + 1 };

static const float TOLERANCE = 1e-4f, RATE = 0.3f, MOMENTUM = 0.3f, TARGET = 0.1f;

enum { INPUTS };

static const WorkloadInfo INFO = {
    .name = "backprop",
    .summary = "One training step of a neural network's layer with 16 hidden units.",
    .parameters =
        {
            [INPUTS] = {"inputs", "units of the input layer", {208, 8192, 65536}, 1u << 20, TILE},
        },
};

static float squash(float x) { return 1.0f / (1.0f + expf(-x)); }

/* The error term of every hidden unit, for one output unit that all of them drive. */
static void compute_deltas(const float *hidden, const float *output_weights, float *deltas) {
    float sum = 0.0f;
    for (int i = 0; i <= TILE; i++)
        sum += output_weights[i] * hidden[i];
    float output = squash(sum);
    float output_delta = output * (1.0f - output) * (TARGET - output);
    for (int i = 1; i <= TILE; i++)
        deltas[i] = hidden[i] * (1.0f - hidden[i]) * output_delta * output_weights[i];
}

/* The weighted inputs of every hidden unit; unit 0 is the bias. */
static void sum_inputs(const float *inputs, const float *weights, size_t units, float *sums) {
    for (size_t unit = 0; unit < units; unit++)
        for (size_t i = 1; i <= TILE; i++)
            sums[i] += inputs[unit] * weights[unit * ROW_WEIGHTS + i];
}

static void adjust(const float *inputs, const float *deltas, float *weights, float *changes,
                   size_t units) {
    for (size_t unit = 0; unit < units; unit++)
        for (size_t i = 1; i <= TILE; i++) {
            size_t index = unit * ROW_WEIGHTS + i;
            changes[index] = RATE * deltas[i] * inputs[unit] + MOMENTUM * changes[index];
            weights[index] += changes[index];
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    size_t units = workload.values[INPUTS] + 1;
    size_t count = units * ROW_WEIGHTS, weight_bytes = count * sizeof(float);
    unsigned ctas = workload.values[INPUTS] / TILE;
    float *inputs = workload_random_fractions(&workload, units, 0.0f, 1.0f);
    float *weights = workload_random_fractions(&workload, count, -0.05f, 0.05f);
    float *changes = workload_random_fractions(&workload, count, -0.01f, 0.01f);
    float *output_weights = workload_random_fractions(&workload, ROW_WEIGHTS, -1.0f, 1.0f);
    float *partial_sums = workload_host_alloc(&workload, (size_t)ctas * TILE, sizeof(float));
    inputs[0] = 1.0f;

    CUdeviceptr device_inputs = workload_upload(inputs, units * sizeof(float));
    CUdeviceptr device_weights = workload_upload(weights, weight_bytes);
    CUdeviceptr device_partial_sums = workload_device_alloc(ctas * TILE * sizeof(float));
    WorkloadShape shape = {1, ctas, TILE, TILE};
    workload_launch(&workload, "backprop_forward", shape,
                    (void *[]){&device_inputs, &device_weights, &device_partial_sums});
    workload_copy_to_host(partial_sums, device_partial_sums, ctas * TILE * sizeof(float));

    float sums[ROW_WEIGHTS] = {0}, expected_sums[ROW_WEIGHTS] = {0};
    sum_inputs(inputs, weights, 1, sums);
    for (unsigned i = 0; i < ctas * TILE; i++)
        sums[i % TILE + 1] += partial_sums[i];
    sum_inputs(inputs, weights, units, expected_sums);
    bool is_right = workload_compare_floats(&workload, sums, expected_sums, ROW_WEIGHTS, TOLERANCE);

    float hidden[ROW_WEIGHTS] = {1.0f}, deltas[ROW_WEIGHTS] = {0};
    for (int i = 1; i <= TILE; i++)
        hidden[i] = squash(sums[i]);
    compute_deltas(hidden, output_weights, deltas);
    CUdeviceptr device_deltas = workload_upload(deltas, sizeof deltas);
    CUdeviceptr device_changes = workload_upload(changes, weight_bytes);
    workload_copy_to_device(device_weights, weights, weight_bytes);
    workload_launch(&workload, "backprop_adjust", shape,
                    (void *[]){&device_inputs, &device_deltas, &device_weights, &device_changes});

    adjust(inputs, deltas, weights, changes, units);
    is_right &= workload_verify_floats(&workload, device_weights, weights, count, TOLERANCE);
    is_right &= workload_verify_floats(&workload, device_changes, changes, count, TOLERANCE);
    return workload_finish(&workload, is_right, "weights", count);
}
