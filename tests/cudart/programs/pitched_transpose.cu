// Transposes a matrix that lies in pitched memory, through a padded shared tile.
#include "check.h"

const int TILE = 16, WIDTH = 70, HEIGHT = 45;

__global__ void transpose(float *out, size_t out_pitch, const float *in, size_t in_pitch) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < WIDTH && y < HEIGHT)
        tile[threadIdx.y][threadIdx.x] = ((const float *)((const char *)in + y * in_pitch))[x];
    __syncthreads();
    int to_x = blockIdx.y * TILE + threadIdx.x, to_y = blockIdx.x * TILE + threadIdx.y;
    if (to_x < HEIGHT && to_y < WIDTH)
        ((float *)((char *)out + to_y * out_pitch))[to_x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
    static float in[HEIGHT][WIDTH], out[WIDTH][HEIGHT];
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        in[i / WIDTH][i % WIDTH] = (float)i;
    float *d_in, *d_out;
    size_t in_pitch, out_pitch;
    CHECK(cudaMallocPitch(&d_in, &in_pitch, WIDTH * sizeof(float), HEIGHT));
    CHECK(cudaMallocPitch(&d_out, &out_pitch, HEIGHT * sizeof(float), WIDTH));
    EXPECT(in_pitch >= WIDTH * sizeof(float) && in_pitch % 32 == 0);
    CHECK(cudaMemset2D(d_out, out_pitch, 0xff, HEIGHT * sizeof(float), WIDTH));
    CHECK(cudaMemcpy2D(d_in, in_pitch, in, sizeof in[0], sizeof in[0], HEIGHT,
                       cudaMemcpyHostToDevice));
    dim3 grid((WIDTH + TILE - 1) / TILE, (HEIGHT + TILE - 1) / TILE);
    transpose<<<grid, dim3(TILE, TILE)>>>(d_out, out_pitch, d_in, in_pitch);
    CHECK(cudaMemcpy2D(out, sizeof out[0], d_out, out_pitch, sizeof out[0], WIDTH,
                       cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++)
            EXPECT(out[x][y] == in[y][x]);
    }
    return passed();
}
