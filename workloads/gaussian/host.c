/* Gaussian elimination of a random system with a dominant diagonal, which needs no pivoting. A
 * tolerance covers the device's fused multiplications and additions. */
#include "common/workload.h"

enum { THREADS = 512, TILE = 4 };

static const float TOLERANCE = 1e-4f;

enum { SIZE };

static const WorkloadInfo INFO = {
    .name = "gaussian",
    .summary = "Gaussian elimination, two launches per column.",
    .parameters =
        {
            [SIZE] = {"unknowns", "and equations", {30, 64, 156}, 4096, 2},
        },
};

static void eliminate(float *matrix, float *right_side, size_t size) {
    for (size_t column = 0; column + 1 < size; column++)
        for (size_t row = column + 1; row < size; row++) {
            float multiplier = matrix[row * size + column] / matrix[column * size + column];
            for (size_t x = column; x < size; x++)
                matrix[row * size + x] -= multiplier * matrix[column * size + x];
            right_side[row] -= multiplier * right_side[column];
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned size = workload.values[SIZE];
    size_t count = (size_t)size * size;
    float *matrix = workload_random_fractions(&workload, count, -1.0f, 1.0f);
    float *right_side = workload_random_fractions(&workload, size, -1.0f, 1.0f);
    for (size_t i = 0; i < size; i++)
        matrix[i * size + i] += (float)size;

    CUdeviceptr device_matrix = workload_upload(matrix, count * sizeof *matrix);
    CUdeviceptr device_right_side = workload_upload(right_side, size * sizeof *right_side);
    CUdeviceptr multipliers = workload_upload_zeros(count * sizeof(float));
    unsigned tiles = workload_divide_up(size, TILE);
    for (unsigned column = 0; column + 1 < size; column++) {
        workload_launch(&workload, "gaussian_multipliers", workload_cover(size, THREADS),
                        (void *[]){&device_matrix, &multipliers, &size, &column});
        workload_launch(
            &workload, "gaussian_eliminate", (WorkloadShape){tiles, tiles, TILE, TILE},
            (void *[]){&device_matrix, &device_right_side, &multipliers, &size, &column});
    }

    eliminate(matrix, right_side, size);
    bool is_right =
        workload_verify_floats(&workload, device_matrix, matrix, count, TOLERANCE) &&
        workload_verify_floats(&workload, device_right_side, right_side, size, TOLERANCE);
    return workload_finish(&workload, is_right, "coefficients", count);
}
