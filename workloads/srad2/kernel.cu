/* Speckle-reducing anisotropic diffusion, second version: tiles of 16 x 16 pixels in shared memory,
 * with the rows and columns that border on them. Every thread loads its share of the borders, so
 * that a border is loaded once per row of the tile. All threads wait for one kind of border before
 * they load the next. As in Rodinia, some sums are in double precision, because of literals without
 * a suffix. */
#include "tyto_device.h"

enum { TILE = 16 };

/* The differences to the four neighbours, and from them the diffusion coefficient. */
extern "C" __global__ void srad2_coefficient(const float *image, float *to_north, float *to_south,
                                             float *to_west, float *to_east, float *coefficient,
                                             int rows, int columns, float noise) {
    __shared__ float tile[TILE][TILE], result[TILE][TILE];
    __shared__ float above[TILE][TILE], below[TILE][TILE], left[TILE][TILE], right[TILE][TILE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int top = (int)blockIdx.y * TILE, first = (int)blockIdx.x * TILE;
    int row = top + y, column = first + x, i = row * columns + column;
    above[y][x] = image[max(top - 1, 0) * columns + column];
    below[y][x] = image[min(top + TILE, rows - 1) * columns + column];
    __syncthreads();
    left[y][x] = image[row * columns + max(first - 1, 0)];
    right[y][x] = image[row * columns + min(first + TILE, columns - 1)];
    __syncthreads();
    tile[y][x] = image[i];
    __syncthreads();

    float here = tile[y][x];
    float n = (y > 0 ? tile[y - 1][x] : above[y][x]) - here;
    float s = (y < TILE - 1 ? tile[y + 1][x] : below[y][x]) - here;
    float w = (x > 0 ? tile[y][x - 1] : left[y][x]) - here;
    float e = (x < TILE - 1 ? tile[y][x + 1] : right[y][x]) - here;
    float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    float laplacian = (n + s + w + e) / here;
    float numerator = (float)(0.5 * gradient - (1.0 / 16.0) * (laplacian * laplacian));
    float scale = (float)(1 + 0.25 * laplacian);
    float variation = numerator / (scale * scale);
    float excess = (variation - noise) / (noise * (1 + noise));
    result[y][x] = __saturatef((float)(1.0 / (1.0 + excess)));
    __syncthreads();
    coefficient[i] = result[y][x];
    to_east[i] = e;
    to_west[i] = w;
    to_south[i] = s;
    to_north[i] = n;
}

extern "C" __global__ void srad2_diffuse(float *image, const float *to_north, const float *to_south,
                                         const float *to_west, const float *to_east,
                                         const float *coefficient, int rows, int columns,
                                         float rate) {
    __shared__ float before[TILE][TILE], tile[TILE][TILE], below[TILE][TILE], right[TILE][TILE];
    __shared__ float result[TILE][TILE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int top = (int)blockIdx.y * TILE, first = (int)blockIdx.x * TILE;
    int row = top + y, column = first + x, i = row * columns + column;
    before[y][x] = image[i];
    __syncthreads();
    below[y][x] = coefficient[min(top + TILE, rows - 1) * columns + column];
    __syncthreads();
    right[y][x] = coefficient[row * columns + min(first + TILE, columns - 1)];
    __syncthreads();
    tile[y][x] = coefficient[i];
    __syncthreads();

    float here = tile[y][x];
    float south = y < TILE - 1 ? tile[y + 1][x] : below[y][x];
    float east = x < TILE - 1 ? tile[y][x + 1] : right[y][x];
    float divergence =
        here * to_north[i] + south * to_south[i] + here * to_west[i] + east * to_east[i];
    result[y][x] = (float)(before[y][x] + 0.25 * rate * divergence);
    __syncthreads();
    image[i] = result[y][x];
}
