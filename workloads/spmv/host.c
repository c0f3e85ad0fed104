/* y = A x for a random square sparse matrix with 0 to 32 entries a row. Entries and vector are
 * whole numbers below 8, so that sums are exact and the comparison can be. */
#include "common/workload.h"

enum { THREADS = 256, MOST_ENTRIES_PER_ROW = 32 };

enum { ROWS };

static const WorkloadInfo INFO = {
    .name = "spmv",
    .summary = "Multiplies a sparse matrix in CSR form by a vector, one row per thread.",
    .parameters =
        {
            [ROWS] = {"rows", "and columns, 16 entries a row", {500, 16384, 65536}, 1u << 24, 0},
        },
};

/* A square sparse matrix in CSR form. */
typedef struct Matrix {
    uint32_t rows;         /* count; as many columns */
    uint32_t entries;      /* count */
    uint32_t *row_offsets; /* first entry of each row, and the count of entries at the end */
    uint32_t *columns;     /* of each entry */
    float *values;         /* of each entry */
} Matrix;

static Matrix generate_matrix(Workload *workload, uint32_t rows) {
    Matrix matrix = {
        .rows = rows,
        .row_offsets = workload_host_alloc(workload, (size_t)rows + 1, sizeof(uint32_t)),
    };
    for (uint32_t row = 0; row < rows; row++)
        matrix.row_offsets[row + 1] =
            matrix.row_offsets[row] + workload_random(workload, MOST_ENTRIES_PER_ROW + 1);
    matrix.entries = matrix.row_offsets[rows];
    matrix.columns = workload_random_words(workload, matrix.entries, rows);
    matrix.values = workload_random_floats(workload, matrix.entries, 8);
    return matrix;
}

static void multiply(const Matrix *matrix, const float *x, float *y) {
    for (uint32_t row = 0; row < matrix->rows; row++)
        for (uint32_t i = matrix->row_offsets[row]; i < matrix->row_offsets[row + 1]; i++)
            y[row] += matrix->values[i] * x[matrix->columns[i]];
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Matrix matrix = generate_matrix(&workload, workload.values[ROWS]);
    float *x = workload_random_floats(&workload, matrix.rows, 8);
    float *expected = workload_host_alloc(&workload, matrix.rows, sizeof *expected);
    multiply(&matrix, x, expected);

    CUdeviceptr row_offsets =
        workload_upload(matrix.row_offsets, ((size_t)matrix.rows + 1) * sizeof(uint32_t));
    CUdeviceptr columns = workload_upload(matrix.columns, matrix.entries * sizeof(uint32_t));
    CUdeviceptr values = workload_upload(matrix.values, matrix.entries * sizeof(float));
    CUdeviceptr device_x = workload_upload(x, matrix.rows * sizeof(float));
    CUdeviceptr device_y = workload_device_alloc(matrix.rows * sizeof(float));
    workload_launch(
        &workload, "spmv", workload_cover(matrix.rows, THREADS),
        (void *[]){&row_offsets, &columns, &values, &device_x, &device_y, &matrix.rows});

    bool is_right = workload_verify_floats(&workload, device_y, expected, matrix.rows, 0.0f);
    return workload_finish(&workload, is_right, "rows", matrix.rows);
}
