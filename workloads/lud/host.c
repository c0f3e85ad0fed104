/* LU decomposition of a square matrix with a dominant diagonal, which needs no pivoting. A
 * tolerance covers the different order of additions in the reference. */
#include "common/workload.h"

enum { TILE = 16 };

static const float TOLERANCE = 1e-4f;

enum { ROWS };

static const WorkloadInfo INFO = {
    .name = "lud",
    .summary = "LU decomposition by 16 x 16 tiles, three launches per step down the diagonal.",
    .parameters =
        {
            [ROWS] = {"rows", "and columns", {64, 128, 256}, 8192, TILE},
        },
};

static void decompose(float *matrix, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t row = i + 1; row < n; row++) {
            float factor = matrix[row * n + i] /= matrix[i * n + i];
            for (size_t column = i + 1; column < n; column++)
                matrix[row * n + column] -= factor * matrix[i * n + column];
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[ROWS];
    size_t count = (size_t)n * n;
    float *matrix = workload_random_fractions(&workload, count, 0.0f, 1.0f);
    for (size_t i = 0; i < n; i++)
        matrix[i * n + i] += (float)n;

    CUdeviceptr device_matrix = workload_upload(matrix, count * sizeof *matrix);
    for (unsigned first = 0; first < n; first += TILE) {
        void *arguments[] = {&device_matrix, &n, &first};
        unsigned tiles = (n - first) / TILE - 1;
        workload_launch(&workload, "lud_diagonal", (WorkloadShape){1, 1, TILE, 1}, arguments);
        if (tiles == 0) break;
        workload_launch(&workload, "lud_perimeter", (WorkloadShape){tiles, 1, 2 * TILE, 1},
                        arguments);
        workload_launch(&workload, "lud_internal", (WorkloadShape){tiles, tiles, TILE, TILE},
                        arguments);
    }

    decompose(matrix, n);
    bool is_right = workload_verify_floats(&workload, device_matrix, matrix, count, TOLERANCE);
    return workload_finish(&workload, is_right, "factors", count);
}
