/* LU decomposition in place, without pivots, by 16 x 16 tiles: the tile on the diagonal, then the
 * tiles to its right and below it, then all others, and then the next tile on the diagonal. `first`
 * is the row of the diagonal tile. */
#include "tyto_device.h"

enum { TILE = 16 };

/* One CTA of 16 threads. */
extern "C" __global__ void lud_diagonal(float *matrix, unsigned n, unsigned first) {
    __shared__ float tile[TILE][TILE];
    unsigned thread = threadIdx.x;
    float *corner = matrix + first * n + first;
    for (unsigned row = 0; row < TILE; row++)
        tile[row][thread] = corner[row * n + thread];
    __syncthreads();
    for (unsigned i = 0; i < TILE - 1; i++) {
        if (thread > i) {
            for (unsigned k = 0; k < i; k++)
                tile[thread][i] -= tile[thread][k] * tile[k][i];
            tile[thread][i] /= tile[i][i];
        }
        __syncthreads();
        if (thread > i)
            for (unsigned k = 0; k <= i; k++)
                tile[i + 1][thread] -= tile[i + 1][k] * tile[k][thread];
        __syncthreads();
    }
    for (unsigned row = 1; row < TILE; row++)
        corner[row * n + thread] = tile[row][thread];
}

/* A CTA of 32 threads per tile distance: half of them solve the tile to the right, a column each,
 * half the tile below, a row each. */
extern "C" __global__ void lud_perimeter(float *matrix, unsigned n, unsigned first) {
    __shared__ float diagonal[TILE][TILE];
    __shared__ float right[TILE][TILE];
    __shared__ float below[TILE][TILE];
    unsigned distance = (blockIdx.x + 1) * TILE, thread = threadIdx.x % TILE;
    bool is_right = threadIdx.x < TILE;
    float *corner = matrix + first * n + first;
    float *own = is_right ? corner + distance : corner + distance * n;
    float(*tile)[TILE] = is_right ? right : below;
    unsigned half = is_right ? 0 : TILE / 2;
    for (unsigned row = half; row < half + TILE / 2; row++)
        diagonal[row][thread] = corner[row * n + thread];
    for (unsigned row = 0; row < TILE; row++)
        tile[row][thread] = own[row * n + thread];
    __syncthreads();
    if (is_right) {
        for (unsigned i = 1; i < TILE; i++)
            for (unsigned k = 0; k < i; k++)
                right[i][thread] -= diagonal[i][k] * right[k][thread];
    } else {
        for (unsigned i = 0; i < TILE; i++) {
            for (unsigned k = 0; k < i; k++)
                below[thread][i] -= below[thread][k] * diagonal[k][i];
            below[thread][i] /= diagonal[i][i];
        }
    }
    __syncthreads();
    for (unsigned row = 0; row < TILE; row++)
        own[row * n + thread] = tile[row][thread];
}

/* A CTA of 16 x 16 threads per tile. */
extern "C" __global__ void lud_internal(float *matrix, unsigned n, unsigned first) {
    __shared__ float left[TILE][TILE];
    __shared__ float above[TILE][TILE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned row = first + (blockIdx.y + 1) * TILE + y;
    unsigned column = first + (blockIdx.x + 1) * TILE + x;
    above[y][x] = matrix[(first + y) * n + column];
    left[y][x] = matrix[row * n + first + x];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (unsigned k = 0; k < TILE; k++)
        sum += left[y][k] * above[k][x];
    matrix[row * n + column] -= sum;
}
