/* y = A x for a random sparse matrix of `size` rows and columns with 0 to 32 entries a row. Entries
 * and vector are whole numbers below 8, so that sums are exact and the comparison can be. */
#include "common/workload.h"

#include <stdlib.h>

enum { THREADS = 256, MOST_ENTRIES_PER_ROW = 32 };

static const WorkloadInfo INFO = {
    .name = "spmv",
    .summary = "Multiplies a sparse matrix in CSR form by a vector, one row per thread.",
    .size_meaning = "rows and columns (16 entries a row on average)",
    .default_size = 32768,
    .largest_size = 1u << 24,
    .default_seed = 5,
};

/* A square sparse matrix in CSR form. */
typedef struct Matrix {
    uint32_t rows;         /* count; as many columns */
    uint32_t entries;      /* count */
    uint32_t *row_offsets; /* first entry of each row, and the count of entries at the end */
    uint32_t *columns;     /* of each entry */
    float *values;         /* of each entry */
} Matrix;

static Matrix generate_matrix(Workload *workload) {
    uint32_t rows = workload->size;
    Matrix matrix = {.rows = rows,
                     .row_offsets = workload_host_alloc((size_t)rows + 1, sizeof(uint32_t))};
    for (uint32_t row = 0; row < rows; row++)
        matrix.row_offsets[row + 1] =
            matrix.row_offsets[row] + workload_random(workload, MOST_ENTRIES_PER_ROW + 1);
    matrix.entries = matrix.row_offsets[rows];
    matrix.columns = workload_host_alloc(matrix.entries, sizeof(uint32_t));
    for (uint32_t i = 0; i < matrix.entries; i++)
        matrix.columns[i] = workload_random(workload, rows);
    matrix.values = workload_random_floats(workload, matrix.entries, 8);
    return matrix;
}

static void multiply_on_cpu(const Matrix *matrix, const float *x, float *y) {
    for (uint32_t row = 0; row < matrix->rows; row++)
        for (uint32_t i = matrix->row_offsets[row]; i < matrix->row_offsets[row + 1]; i++)
            y[row] += matrix->values[i] * x[matrix->columns[i]];
}

static void multiply_on_device(const Workload *workload, const Matrix *matrix, const float *x,
                               float *y) {
    uint32_t rows = matrix->rows;
    size_t vector_bytes = rows * sizeof(float);
    /* One word more than there are entries: an empty matrix needs buffers too. */
    size_t entry_bytes = ((size_t)matrix->entries + 1) * sizeof(uint32_t);
    CUdeviceptr row_offsets =
        workload_upload(matrix->row_offsets, ((size_t)rows + 1) * sizeof(uint32_t));
    CUdeviceptr columns = workload_device_alloc(entry_bytes);
    CUdeviceptr values = workload_device_alloc(entry_bytes);
    workload_copy_to_device(columns, matrix->columns, matrix->entries * sizeof(uint32_t));
    workload_copy_to_device(values, matrix->values, matrix->entries * sizeof(float));
    CUdeviceptr device_x = workload_upload(x, vector_bytes);
    CUdeviceptr device_y = workload_device_alloc(vector_bytes);
    WorkloadShape shape = {workload_divide_up(rows, THREADS), 1, THREADS, 1};
    workload_launch(workload, shape,
                    (void *[]){&row_offsets, &columns, &values, &device_x, &device_y, &rows});
    workload_copy_to_host(y, device_y, vector_bytes);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Matrix matrix = generate_matrix(&workload);
    float *x = workload_random_floats(&workload, matrix.rows, 8);
    float *expected = workload_host_alloc(matrix.rows, sizeof *expected);
    float *got = workload_host_alloc(matrix.rows, sizeof *got);
    multiply_on_cpu(&matrix, x, expected);
    multiply_on_device(&workload, &matrix, x, got);

    bool is_right = workload_compare_floats(&workload, got, expected, matrix.rows, 0.0f);
    free(matrix.row_offsets);
    free(matrix.columns);
    free(matrix.values);
    free(x);
    free(expected);
    free(got);
    return workload_finish(&workload, is_right, "rows", matrix.rows);
}
