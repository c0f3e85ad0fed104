/* The product of a square sparse matrix, whose row lengths follow a power law, and a dense matrix.
 * Entries are whole numbers below 8, so that sums are exact in any order, and so is the comparison:
 * a sum of 128 products is below 2^13. */
#include "common/powerlaw.h"

/* A CTA is 8 warps, 256 threads as in GE-SpMM's sources. */
enum { WARP = 32, WARPS = 8 };

/* The most entries of a row (ours). It bounds the time of the longest warp. */
enum { LONGEST = 128 };

enum { ROWS, COLUMNS, ENTRIES, SPLIT };

static const WorkloadInfo INFO = {
    .name = "spmm",
    .summary = "Multiplies a sparse matrix by a dense one, one row per warp.",
    .parameters =
        {
            [ROWS] = {"rows", "and columns of the sparse matrix", {301, 8192, 24000}, 1u << 22, 0},
            [COLUMNS] = {"columns", "of the dense matrix", {32, 64, 128}, 512, WARP},
            [ENTRIES] =
                {"entries", "of the shortest row; twice as many in the mean", {4, 8, 8}, 256, 0},
            [SPLIT] = {"split", "1: 32 entries per warp; 0: a row per warp", {0, 0, 0}, 1, 0},
        },
};

static void multiply(const Graph *matrix, const float *values, const float *dense, float *product,
                     size_t width) {
    for (size_t row = 0; row < matrix->nodes; row++)
        for (uint32_t i = matrix->row_offsets[row]; i < matrix->row_offsets[row + 1]; i++)
            for (size_t column = 0; column < width; column++)
                product[row * width + column] +=
                    values[i] * dense[matrix->neighbours[i] * width + column];
}

/* Multiplies on the device; returns the product's address there. A lane has two columns if the
 * width allows it. */
static CUdeviceptr launch(const Workload *workload, const Graph *matrix, const float *host_values,
                          const float *host_dense) {
    static const char *const KERNELS[2][2] = {{"spmm", "spmm_merged"},
                                              {"spmm_split", "spmm_split_merged"}};
    uint32_t rows = matrix->nodes, width = workload->values[COLUMNS];
    bool is_split = workload->values[SPLIT], is_merged = width % (2 * WARP) == 0;
    size_t elements = (size_t)rows * width;
    CUdeviceptr row_offsets =
        workload_upload(matrix->row_offsets, ((size_t)rows + 1) * sizeof(uint32_t));
    CUdeviceptr columns = workload_upload(matrix->neighbours, matrix->edges * sizeof(uint32_t));
    CUdeviceptr values = workload_upload(host_values, matrix->edges * sizeof(float));
    CUdeviceptr dense = workload_upload(host_dense, elements * sizeof(float));
    CUdeviceptr product = is_split ? workload_upload_zeros(elements * sizeof(float))
                                   : workload_device_alloc(elements * sizeof(float));
    unsigned warps = is_split ? workload_divide_up(matrix->edges, WARP) : rows;
    WorkloadShape shape = {workload_divide_up(warps, WARPS), width / (is_merged ? 2 * WARP : WARP),
                           WARP, WARPS};
    workload_launch(workload, KERNELS[is_split][is_merged], shape,
                    (void *[]){&row_offsets, &columns, &values, &dense, &product, &rows, &width});
    return product;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    size_t width = workload.values[COLUMNS], elements = workload.values[ROWS] * width;
    Graph matrix =
        powerlaw_generate(&workload, workload.values[ROWS], workload.values[ENTRIES], LONGEST);
    float *values = workload_random_floats(&workload, matrix.edges, 8);
    float *dense = workload_random_floats(&workload, elements, 8);
    float *expected = workload_host_alloc(&workload, elements, sizeof *expected);
    multiply(&matrix, values, dense, expected, width);

    CUdeviceptr product = launch(&workload, &matrix, values, dense);
    bool is_right = workload_verify_floats(&workload, product, expected, elements, 0.0f);
    return workload_finish(&workload, is_right, "elements", elements);
}
