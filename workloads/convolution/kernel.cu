/* A separable filter of radius 8, first along the rows, then along the columns. A CTA stages eight
 * tiles and a halo tile on either side in shared memory; each thread filters one pixel of each
 * tile. Pixels beyond the image are zero. */
#include "tyto_device.h"

enum { RADIUS = 8, TAPS = 2 * RADIUS + 1, TILES = 8, STAGED_TILES = TILES + 2 };

/* Threads of a CTA, across and down, and so the size of a tile. */
enum { ROWS_X = 16, ROWS_Y = 4, COLUMNS_X = 16, COLUMNS_Y = 8 };

__constant__ float taps[TAPS];

/* ---- As compiled by a current compiler: weights stay in registers ---- */

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
    /* A column of the image is a row here; an additional element avoids bank conflicts. */
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

/* ---- As compiled by NVIDIA's compiler of 2010 ----
 *
 * Each pixel is stored in shared memory before the next is read, and each tap reads its weight from
 * constant memory and its pixel again. The image consists of whole tiles, so that only pixels of
 * the halo may be outside it. */

/* The weight, in a load that the compiler cannot move. */
static __device__ float read_tap(const float *first, int tap) {
    float weight;
    asm volatile("ld.const.f32 %0, [%1+%2];" : "=f"(weight) : "l"(first), "i"(tap * 4) : "memory");
    return weight;
}

/* The address of the taps in constant memory. */
static __device__ const float *constant_taps() {
    const float *first;
    asm("cvta.to.const.u64 %0, %1;" : "=l"(first) : "l"(taps));
    return first;
}

/* The compiler moves no loads or stores across this point. */
static __device__ void in_turn() { asm volatile("" ::: "memory"); }

static __device__ float filter_in_turn(const float *first, const float *centre) {
    float sum = 0.0f;
#pragma unroll
    for (int tap = -RADIUS; tap <= RADIUS; tap++)
        sum += read_tap(first, RADIUS - tap) * centre[tap];
    return sum;
}

extern "C" __global__ void convolution_rows_in_turn(const float *in, float *out, int width) {
    __shared__ float staged[ROWS_Y][STAGED_TILES * ROWS_X];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int column = (int)blockIdx.x * TILES * ROWS_X + x;
    int at = ((int)blockIdx.y * ROWS_Y + y) * width + column;
    float *own = &staged[y][ROWS_X + x];
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        own[tile * ROWS_X] = in[at + tile * ROWS_X];
        in_turn();
    }
    own[-ROWS_X] = column >= ROWS_X ? in[at - ROWS_X] : 0.0f;
    in_turn();
    own[TILES * ROWS_X] = width - column > TILES * ROWS_X ? in[at + TILES * ROWS_X] : 0.0f;
    __syncthreads();
    const float *first = constant_taps();
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        out[at + tile * ROWS_X] = filter_in_turn(first, own + tile * ROWS_X);
        in_turn();
    }
}

extern "C" __global__ void convolution_columns_in_turn(const float *in, float *out, int width,
                                                       int height) {
    __shared__ float staged[COLUMNS_X][STAGED_TILES * COLUMNS_Y + 1];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int row = (int)blockIdx.y * TILES * COLUMNS_Y + y;
    int at = row * width + (int)blockIdx.x * COLUMNS_X + x;
    float *own = &staged[x][COLUMNS_Y + y];
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        own[tile * COLUMNS_Y] = in[at + tile * COLUMNS_Y * width];
        in_turn();
    }
    own[-COLUMNS_Y] = row >= COLUMNS_Y ? in[at - COLUMNS_Y * width] : 0.0f;
    in_turn();
    own[TILES * COLUMNS_Y] =
        height - row > TILES * COLUMNS_Y ? in[at + TILES * COLUMNS_Y * width] : 0.0f;
    __syncthreads();
    const float *first = constant_taps();
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        out[at + tile * COLUMNS_Y * width] = filter_in_turn(first, own + tile * COLUMNS_Y);
        in_turn();
    }
}
