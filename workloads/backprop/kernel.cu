/* The two device steps of training a layer by back-propagation. A CTA of 16 x 16 threads owns 16
 * input units (rows) and all 16 hidden units (columns). Row and column 0 of the weights belong to
 * the bias unit, so a row has 17 weights. As in Rodinia, the tree of sums computes its width as the
 * exponential of a logarithm and chooses the adding threads by a remainder, and the sums overwrite
 * the weights. */
#include "tyto_device.h"

enum { TILE = 16, ROW_WEIGHTS = TILE + 1 };

constexpr double RATE = 0.3, MOMENTUM = 0.3;

/* Adds up the CTA's share of every hidden unit's input. */
extern "C" __global__ void backprop_forward(const float *inputs, float *weights,
                                            float *partial_sums) {
    __shared__ float input[TILE];
    __shared__ float product[TILE][TILE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int unit = (int)blockIdx.y * TILE + y + 1, index = unit * ROW_WEIGHTS + x + 1;
    if (x == 0) input[y] = inputs[unit];
    __syncthreads();
    product[y][x] = weights[index];
    __syncthreads();
    product[y][x] *= input[y];
    __syncthreads();
#pragma unroll 1
    for (int step = 1; (float)step <= __log2f(TILE); step++) {
        int width = (int)__powf(2.0f, (float)step);
        if (y % width == 0) product[y][x] += product[y + width / 2][x];
        __syncthreads();
    }
    weights[index] = product[y][x];
    __syncthreads();
    if (x == 0) partial_sums[blockIdx.y * TILE + (unsigned)y] = product[0][y];
}

/* Moves every weight along its gradient, with momentum from the change before. As in Rodinia, rates
 * are doubles, like literals without a suffix. The change is computed for the weight and computed
 * again to be stored, because the weight could alias its operands. */
static __device__ double change_of(const float *inputs, const float *deltas, const float *changes,
                                   unsigned unit, unsigned hidden, unsigned index) {
    return RATE * deltas[hidden] * inputs[unit] + MOMENTUM * changes[index];
}

extern "C" __global__ void backprop_adjust(const float *inputs, const float *deltas, float *weights,
                                           float *changes) {
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned unit = blockIdx.y * TILE + y + 1, hidden = x + 1;
    unsigned index = unit * ROW_WEIGHTS + hidden;
    weights[index] =
        (float)(weights[index] + change_of(inputs, deltas, changes, unit, hidden, index));
    changes[index] = (float)change_of(inputs, deltas, changes, unit, hidden, index);
    __syncthreads();
    if (y == 0 && blockIdx.y == 0) {
        weights[hidden] =
            (float)(weights[hidden] + (RATE * deltas[hidden] + MOMENTUM * changes[hidden]));
        changes[hidden] = (float)(RATE * deltas[hidden] + MOMENTUM * changes[hidden]);
    }
}
