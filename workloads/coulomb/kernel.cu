/* Electrostatic potential of point charges on a plane of grid points, summed directly. A CTA of
 * 16 x 8 threads; each thread owns two points of a row, 16 apart, so that an atom read once from
 * constant memory serves both and the stores coalesce. */
#include "tyto_device.h"

enum { POINTS = 2, MOST_ATOMS = 4000 };

/* Position in x and y, squared distance from the plane, charge. */
__constant__ float4 atoms[MOST_ATOMS];

extern "C" __global__ void coulomb(float *potential, float spacing, int atom_count) {
    unsigned column = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned width = gridDim.x * blockDim.x * POINTS;
    float x = spacing * (float)column, y = spacing * (float)row;
    float step = spacing * (float)blockDim.x;
    float sum[POINTS] = {};
    for (int i = 0; i < atom_count; i++) {
        float4 atom = atoms[i];
        float dx = x - atom.x, dy = y - atom.y;
        float rest = dy * dy + atom.z;
#pragma unroll
        for (int point = 0; point < POINTS; point++) {
            sum[point] += atom.w * rsqrtf(dx * dx + rest);
            dx += step;
        }
    }
#pragma unroll
    for (int point = 0; point < POINTS; point++)
        potential[row * width + column + point * blockDim.x] += sum[point];
}
