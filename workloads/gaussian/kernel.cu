/* Gaussian elimination without pivoting, two launches per column: the multipliers of the rows below
 * the diagonal, then the rows minus their multiples of the pivot's row. Neighbouring threads of the
 * first kernel read down a column; CTAs of the second kernel have 4 x 4 threads. */
#include "tyto_device.h"

extern "C" __global__ void gaussian_multipliers(const float *matrix, float *multipliers,
                                                unsigned size, unsigned column) {
    unsigned row = column + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= size) return;
    multipliers[row * size + column] = matrix[row * size + column] / matrix[column * size + column];
}

extern "C" __global__ void gaussian_eliminate(float *matrix, float *right_side,
                                              const float *multipliers, unsigned size,
                                              unsigned column) {
    unsigned row = column + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = column + blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size || x >= size) return;
    float multiplier = multipliers[row * size + column];
    matrix[row * size + x] -= multiplier * matrix[column * size + x];
    if (x == column) right_side[row] -= multiplier * right_side[column];
}
