/* C = A B for square matrices, rounded up to whole tiles. Entries are whole numbers below 8, so
 * that sums are exact in a float, and so is the comparison. */
#include "common/workload.h"

enum { TILE = 16 };

enum { ROWS };

static const WorkloadInfo INFO = {
    .name = "matmul",
    .summary = "Multiplies two square matrices by 16 x 16 tiles in shared memory.",
    .parameters =
        {
            [ROWS] =
                {"rows", "and columns, rounded up to a multiple of 16", {50, 128, 256}, 8192, 0},
        },
};

static void multiply(const float *a, const float *b, float *c, size_t n) {
    for (size_t row = 0; row < n; row++)
        for (size_t k = 0; k < n; k++)
            for (size_t column = 0; column < n; column++)
                c[row * n + column] += a[row * n + k] * b[k * n + column];
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned tiles = workload_divide_up(workload.values[ROWS], TILE);
    unsigned n = tiles * TILE;
    size_t count = (size_t)n * n, size_bytes = count * sizeof(float);
    float *a = workload_random_floats(&workload, count, 8);
    float *b = workload_random_floats(&workload, count, 8);
    float *expected = workload_host_alloc(&workload, count, sizeof *expected);
    multiply(a, b, expected, n);

    CUdeviceptr device_a = workload_upload(a, size_bytes);
    CUdeviceptr device_b = workload_upload(b, size_bytes);
    CUdeviceptr device_c = workload_device_alloc(size_bytes);
    workload_launch(&workload, "matmul", (WorkloadShape){tiles, tiles, TILE, TILE},
                    (void *[]){&device_a, &device_b, &device_c, &n});

    bool is_right = workload_verify_floats(&workload, device_c, expected, count, 0.0f);
    return workload_finish(&workload, is_right, "products", count);
}
