/* Matrix transpose by 32 x 32 tiles in shared memory, 8 rows of threads per tile: reads and writes
 * of global memory both go along rows, and the tile's padding column avoids bank conflicts. */
#include "tyto_device.h"

enum { TILE = 32, THREAD_ROWS = 8 };

extern "C" __global__ void transpose(const float *in, float *out, unsigned n) {
    __shared__ float tile[TILE][TILE + 1];
    unsigned column = blockIdx.x * TILE + threadIdx.x;
    unsigned row = blockIdx.y * TILE + threadIdx.y;
    for (unsigned i = 0; i < TILE; i += THREAD_ROWS)
        if (column < n && row + i < n)
            tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * n + column];
    __syncthreads();
    column = blockIdx.y * TILE + threadIdx.x;
    row = blockIdx.x * TILE + threadIdx.y;
    for (unsigned i = 0; i < TILE; i += THREAD_ROWS)
        if (column < n && row + i < n)
            out[(row + i) * n + column] = tile[threadIdx.x][threadIdx.y + i];
}
