/* Sparse matrix times vector, one row per thread. In CSR form rows of unequal length make warps
 * diverge, and neighbouring threads read far apart. In jagged form, as Parboil has it, neither: rows are
 * sorted by length, and entry k of all of them, the k-th diagonal, lies together. */
#include "tyto_device.h"

extern "C" __global__ void spmv(const unsigned *row_offsets, const unsigned *columns,
                                const float *values, const float *x, float *y, unsigned rows) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    unsigned end = row_offsets[row + 1];
    float sum = 0.0f;
    for (unsigned i = row_offsets[row]; i < end; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

/* `lengths`: of the rows of each warp, which are filled up to the longest. */
extern "C" __global__ void spmv_jagged(const unsigned *diagonals, const unsigned *lengths,
                                       const unsigned *columns, const float *values,
                                       const unsigned *sorted_rows, const float *x, float *y,
                                       unsigned rows) {
    unsigned rank = blockIdx.x * blockDim.x + threadIdx.x;
    if (rank >= rows) return;
    unsigned length = lengths[rank / 32];
    float sum = 0.0f;
    for (unsigned k = 0; k < length; k++) {
        unsigned entry = diagonals[k] + rank;
        sum += values[entry] * x[columns[entry]];
    }
    y[sorted_rows[rank]] = sum;
}
