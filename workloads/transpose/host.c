/* The transpose of a square matrix: there is no arithmetic, so the comparison is exact. */
#include "common/workload.h"

enum { TILE = 32, THREAD_ROWS = 8 };

enum { ROWS };

static const WorkloadInfo INFO = {
    .name = "transpose",
    .summary = "Transposes a square matrix by padded 32 x 32 tiles in shared memory.",
    .parameters =
        {
            [ROWS] = {"rows", "and columns", {45, 512, 1536}, 8192, 0},
        },
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[ROWS];
    size_t count = (size_t)n * n, size_bytes = count * sizeof(float);
    float *matrix = workload_random_floats(&workload, count, 1u << 24);
    float *expected = workload_host_alloc(&workload, count, sizeof *expected);
    for (size_t row = 0; row < n; row++)
        for (size_t column = 0; column < n; column++)
            expected[column * n + row] = matrix[row * n + column];

    CUdeviceptr device_in = workload_upload(matrix, size_bytes);
    CUdeviceptr device_out = workload_device_alloc(size_bytes);
    unsigned tiles = workload_divide_up(n, TILE);
    workload_launch(&workload, "transpose", (WorkloadShape){tiles, tiles, TILE, THREAD_ROWS},
                    (void *[]){&device_in, &device_out, &n});

    bool is_right = workload_verify_floats(&workload, device_out, expected, count, 0.0f);
    return workload_finish(&workload, is_right, "elements", count);
}
