/* Speckle-reducing anisotropic diffusion of an image stored by rows. The host measures the noise on
 * one corner of the image. A tolerance covers fused multiply-adds on the device. */
#include "common/srad.h"

enum { TILE = 16, BUFFERS = 5 };

static const float TOLERANCE = 1e-3f, RATE = 0.5f;

enum { ROWS, COLUMNS, ITERATIONS };

static const WorkloadInfo INFO = {
    .name = "srad2",
    .summary = "Speckle-reducing anisotropic diffusion by 16 x 16 tiles in shared memory.",
    .parameters =
        {
            [ROWS] = {"rows", "of the image", {64, 192, 512}, 8192, TILE},
            [COLUMNS] = {"columns", "of the image", {48, 192, 512}, 8192, TILE},
            [ITERATIONS] = {"iterations", "", {2, 1, 1}, 1000, 0},
        },
};

/* The noise in a quarter of the rows and columns. */
static float measure_noise(const float *image, size_t rows, size_t columns) {
    double sum = 0.0, square = 0.0;
    for (size_t row = 0; row < rows / 4; row++)
        for (size_t column = 0; column < columns / 4; column++) {
            double value = (double)image[row * columns + column];
            sum += value;
            square += value * value;
        }
    return srad_noise(sum, square, (double)(rows / 4 * (columns / 4)));
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned rows = workload.values[ROWS], columns = workload.values[COLUMNS];
    size_t pixels = (size_t)rows * columns, size_bytes = pixels * sizeof(float);
    float *expected = workload_random_fractions(&workload, pixels, 1.0f, 2.7f);
    float *got = workload_host_alloc(&workload, pixels, sizeof *got);
    float rate = RATE;

    CUdeviceptr image = workload_upload(expected, size_bytes);
    CUdeviceptr to[BUFFERS]; /* differences in four directions, coefficients */
    for (int i = 0; i < BUFFERS; i++)
        to[i] = workload_device_alloc(size_bytes);
    WorkloadShape shape = {columns / TILE, rows / TILE, TILE, TILE};
    for (unsigned i = 0; i < workload.values[ITERATIONS]; i++) {
        workload_copy_to_host(got, image, size_bytes);
        float noise = measure_noise(got, rows, columns);
        workload_launch(
            &workload, "srad2_coefficient", shape,
            (void *[]){&image, &to[0], &to[1], &to[2], &to[3], &to[4], &rows, &columns, &noise});
        workload_launch(
            &workload, "srad2_diffuse", shape,
            (void *[]){&image, &to[0], &to[1], &to[2], &to[3], &to[4], &rows, &columns, &rate});
        srad_step(&workload, expected, rows, columns, measure_noise(expected, rows, columns), RATE);
    }

    bool is_right = workload_verify_floats(&workload, image, expected, pixels, TOLERANCE);
    return workload_finish(&workload, is_right, "pixels", pixels);
}
