/* Product of two square matrices by 16 x 16 tiles in shared memory, one element of the result per
 * thread. n is a multiple of 16. */
#include "tyto_device.h"

enum { TILE = 16 };

extern "C" __global__ void matmul(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (unsigned first = 0; first < n; first += TILE) {
        tile_a[y][x] = a[row * n + first + x];
        tile_b[y][x] = b[(first + y) * n + column];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
