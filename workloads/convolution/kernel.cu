/* A separable filter of radius 8, first along the rows, then along the columns. A CTA stages eight
 * tiles and a halo tile on either side in shared memory; each thread filters one pixel of each
 * tile. Beyond the image all is zero. */
#include "tyto_device.h"

enum { RADIUS = 8, TAPS = 2 * RADIUS + 1, TILES = 8, STAGED_TILES = TILES + 2 };

/* Threads of a CTA, across and down, and so the size of a tile. */
enum { ROWS_X = 16, ROWS_Y = 4, COLUMNS_X = 16, COLUMNS_Y = 8 };

__constant__ float taps[TAPS];

extern "C" __global__ void convolution_rows(const float *in, float *out, int width) {
    __shared__ float staged[ROWS_Y][STAGED_TILES * ROWS_X];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int left = ((int)blockIdx.x * TILES - 1) * ROWS_X + x;
    int row = ((int)blockIdx.y * ROWS_Y + y) * width;
#pragma unroll
    for (int tile = 0; tile < STAGED_TILES; tile++) {
        int column = left + tile * ROWS_X;
        staged[y][x + tile * ROWS_X] = column >= 0 && column < width ? in[row + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int tile = 1; tile <= TILES; tile++) {
        float sum = 0.0f;
#pragma unroll
        for (int tap = -RADIUS; tap <= RADIUS; tap++)
            sum += taps[RADIUS - tap] * staged[y][x + tile * ROWS_X + tap];
        out[row + left + tile * ROWS_X] = sum;
    }
}

extern "C" __global__ void convolution_columns(const float *in, float *out, int width, int height) {
    /* A column of the image is a row here; one more element keeps the banks free of conflicts. */
    __shared__ float staged[COLUMNS_X][STAGED_TILES * COLUMNS_Y + 1];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int top = ((int)blockIdx.y * TILES - 1) * COLUMNS_Y + y;
    int column = (int)blockIdx.x * COLUMNS_X + x;
#pragma unroll
    for (int tile = 0; tile < STAGED_TILES; tile++) {
        int row = top + tile * COLUMNS_Y;
        staged[x][y + tile * COLUMNS_Y] =
            row >= 0 && row < height ? in[row * width + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int tile = 1; tile <= TILES; tile++) {
        float sum = 0.0f;
#pragma unroll
        for (int tap = -RADIUS; tap <= RADIUS; tap++)
            sum += taps[RADIUS - tap] * staged[x][y + tile * COLUMNS_Y + tap];
        out[(top + tile * COLUMNS_Y) * width + column] = sum;
    }
}
