/* Sparse matrix times vector, the matrix in CSR form, one row per thread: rows of unequal length
 * make warps diverge, and neighbouring threads read far apart. */
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
