/* Product of two matrices by tiles in registers: C = alpha A B + beta C. A thread computes 16
 * columns of a row of C; the CTA's part of B goes through shared memory, and reads of A are
 * contiguous. A and C are stored by columns, B by rows. */
#include "tyto_device.h"

enum { COLUMNS = 16, DEPTH = 8, ROWS = COLUMNS * DEPTH };

/* Rows, columns and depth are multiples of ROWS, COLUMNS and DEPTH. */
extern "C" __global__ void sgemm(const float *a, const float *b, float *c, unsigned rows,
                                 unsigned columns, unsigned depth, float alpha, float beta) {
    __shared__ float tile[DEPTH][COLUMNS];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned row = blockIdx.x * ROWS + y * COLUMNS + x, first = blockIdx.y * COLUMNS;
    float sums[COLUMNS] = {0};
    for (unsigned k = 0; k < depth; k += DEPTH) {
        tile[y][x] = b[(k + y) * columns + first + x];
        __syncthreads();
        for (unsigned i = 0; i < DEPTH; i++) {
            float of_a = a[(k + i) * rows + row];
#pragma unroll
            for (unsigned column = 0; column < COLUMNS; column++)
                sums[column] += of_a * tile[i][column];
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned column = 0; column < COLUMNS; column++) {
        float *to = c + (first + column) * rows + row;
        *to = *to * beta + alpha * sums[column];
    }
}
