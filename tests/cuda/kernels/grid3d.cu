/* A grid and CTAs of three dimensions: every thread finds its cell and its neighbour's. */
#include "kernel.h"

extern "C" __global__ void grid3d(const unsigned *in, unsigned *out, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    unsigned cell = (z * height + y) * width + x;
    out[cell] = in[(cell + n - width) % n] + x + 100 * y + 10000 * z;
}
