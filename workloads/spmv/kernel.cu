/* Sparse matrix times vector, one row per thread. In CSR form rows of unequal length make warps
 * diverge, and neighbouring threads read far apart. The jagged form, as in Parboil, avoids both:
 * rows are sorted by length, and entries k of all rows, the k-th diagonal, are contiguous. */
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

/* The most warps of rows (as in Parboil, whose largest matrix has 4,585) and the most diagonals. */
enum { MOST_WARPS = 5000, MOST_DIAGONALS = 64 };

/* The starts of the diagonals, and the length of the rows of each warp, which are padded to the
 * longest and have at least one entry. */
__constant__ unsigned diagonals[MOST_DIAGONALS];
__constant__ unsigned lengths[MOST_WARPS];

/* As in Parboil, a column is loaded one entry ahead, so that no product waits for a load of the
 * same iteration. */
extern "C" __global__ void spmv_jagged(const unsigned *columns, const float *values,
                                       const unsigned *sorted_rows, const float *x, float *y,
                                       unsigned rows) {
    unsigned rank = blockIdx.x * blockDim.x + threadIdx.x;
    if (rank >= rows) return;
    unsigned length = lengths[rank / 32], entry = diagonals[0] + rank, column = columns[entry];
    float sum = 0.0f, value = 0.0f, factor = 0.0f;
#pragma unroll 1
    for (unsigned k = 1; k < length; k++) {
        float next_value = values[entry], next_factor = x[column];
        entry = diagonals[k] + rank;
        column = columns[entry];
        sum += value * factor;
        value = next_value;
        factor = next_factor;
    }
    sum += value * factor;
    y[sorted_rows[rank]] = sum + values[entry] * x[column];
}
