/* Electrostatic potential of point charges on a plane of grid points, summed directly. A CTA of 16
 * x 8 threads; each thread owns two points of a row, 16 apart, so that an atom read once from
 * constant memory serves both and the stores coalesce. Indices are 24-bit products, as in the
 * original program, whose compiler made a reciprocal square root of 1 / sqrt. */
#include "tyto_device.h"

enum { THREADS_X = 16, POINTS = 2, MOST_ATOMS = 4000 };

/* Position in x and y, squared distance from the plane, charge. */
__constant__ float4 atoms[MOST_ATOMS];

extern "C" __global__ void coulomb(int atom_count, float spacing, float *potential) {
    unsigned column = __umul24(blockIdx.x, blockDim.x) * POINTS + threadIdx.x;
    unsigned row = __umul24(blockIdx.y, blockDim.y) + threadIdx.y;
    unsigned point = __umul24(gridDim.x, blockDim.x) * POINTS * row + column;
    float y = spacing * (float)row, x = spacing * (float)column;
    float first = 0.0f, second = 0.0f, step = spacing * THREADS_X;
    for (int i = 0; i < atom_count; i++) {
        float4 atom = atoms[i];
        float dy = y - atom.y, rest = dy * dy + atom.z;
        float dx = x - atom.x, next_dx = dx + step;
        first += atom.w * rsqrtf(dx * dx + rest);
        second += atom.w * rsqrtf(next_dx * next_dx + rest);
    }
    potential[point] += first;
    potential[point + THREADS_X] += second;
}
