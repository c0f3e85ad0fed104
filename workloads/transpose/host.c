/* The transpose of a square matrix of `size` rows: nothing is computed, all is compared exactly. */
#include "common/workload.h"

#include <stdlib.h>

enum { TILE = 32, THREAD_ROWS = 8 };

static const WorkloadInfo INFO = {
    .name = "transpose",
    .summary = "Transposes a square matrix by padded 32 x 32 tiles in shared memory.",
    .size_meaning = "rows and columns",
    .default_size = 512,
    .largest_size = 8192,
    .default_seed = 7,
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.size;
    size_t count = (size_t)n * n, size_bytes = count * sizeof(float);
    float *matrix = workload_random_floats(&workload, count, 1u << 24);
    float *got = workload_host_alloc(count, sizeof *got);
    float *expected = workload_host_alloc(count, sizeof *expected);
    for (size_t row = 0; row < n; row++)
        for (size_t column = 0; column < n; column++)
            expected[column * n + row] = matrix[row * n + column];

    CUdeviceptr device_in = workload_upload(matrix, size_bytes);
    CUdeviceptr device_out = workload_device_alloc(size_bytes);
    unsigned tiles = workload_divide_up(n, TILE);
    WorkloadShape shape = {tiles, tiles, TILE, THREAD_ROWS};
    workload_launch(&workload, shape, (void *[]){&device_in, &device_out, &n});
    workload_copy_to_host(got, device_out, size_bytes);

    bool is_right = workload_compare_floats(&workload, got, expected, count, 0.0f);
    free(matrix);
    free(got);
    free(expected);
    return workload_finish(&workload, is_right, "elements", count);
}
