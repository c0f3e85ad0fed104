/* C = A B for matrices of whole tiles. Entries are whole numbers below 8, so that sums are exact in
 * a float, and so is the comparison. */
#include "common/workload.h"

enum { TILE_ROWS = 128, TILE_COLUMNS = 16, TILE_DEPTH = 8 };

enum { ROWS, COLUMNS, DEPTH };

static const WorkloadInfo INFO = {
    .name = "sgemm",
    .summary = "Multiplies two matrices by tiles in registers.",
    .parameters =
        {
            [ROWS] = {"rows", "of the product", {128, 512, 1024}, 8192, TILE_ROWS},
            [COLUMNS] = {"columns", "of the product", {48, 112, 560}, 8192, TILE_COLUMNS},
            [DEPTH] = {"depth", "columns of A and rows of B", {24, 96, 248}, 8192, TILE_DEPTH},
        },
};

/* A and C by columns, B by rows, as in the kernel. */
static void multiply(const float *a, const float *b, float *c, const uint32_t sizes[]) {
    size_t rows = sizes[ROWS], columns = sizes[COLUMNS];
    for (size_t column = 0; column < columns; column++)
        for (size_t k = 0; k < sizes[DEPTH]; k++)
            for (size_t row = 0; row < rows; row++)
                c[column * rows + row] += a[k * rows + row] * b[k * columns + column];
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t *sizes = workload.values;
    size_t count_a = (size_t)sizes[ROWS] * sizes[DEPTH];
    size_t count_b = (size_t)sizes[DEPTH] * sizes[COLUMNS];
    size_t count_c = (size_t)sizes[ROWS] * sizes[COLUMNS];
    float *a = workload_random_floats(&workload, count_a, 8);
    float *b = workload_random_floats(&workload, count_b, 8);
    float *expected = workload_host_alloc(&workload, count_c, sizeof *expected);
    multiply(a, b, expected, sizes);

    CUdeviceptr device_a = workload_upload(a, count_a * sizeof *a);
    CUdeviceptr device_b = workload_upload(b, count_b * sizeof *b);
    CUdeviceptr device_c = workload_upload_zeros(count_c * sizeof(float));
    float alpha = 1.0f, beta = 0.0f;
    WorkloadShape shape = {sizes[ROWS] / TILE_ROWS, sizes[COLUMNS] / TILE_COLUMNS, TILE_COLUMNS,
                           TILE_DEPTH};
    workload_launch(&workload, "sgemm", shape,
                    (void *[]){&device_a, &device_b, &device_c, &sizes[ROWS], &sizes[COLUMNS],
                               &sizes[DEPTH], &alpha, &beta});

    bool is_right = workload_verify_floats(&workload, device_c, expected, count_c, 0.0f);
    return workload_finish(&workload, is_right, "products", count_c);
}
