/* Electrostatic potential on a lattice from the charges within a cutoff distance. Atoms lie in bins
 * of eight; a CTA of 128 threads owns a cube of 8 x 8 x 8 lattice points, four per thread, and
 * walks through the bins around its cube, whose offsets are in constant memory, staging the atoms
 * of each in shared memory. */
#include "tyto_device.h"

enum { THREADS = 128, POINTS = 4, CUBE = 8, BIN_ATOMS = 8, MOST_NEIGHBOURS = 125 };

struct Offset {
    int x, y, z;
};

__constant__ Offset neighbours[MOST_NEIGHBOURS];

/* bins: an atom is x, y, z and charge; a bin covers as much space as a cube. The grid of bins has a
 * margin of `margin` bins on every side of the lattice. */
extern "C" __global__ void cutcp(const float4 *bins, float *potential, int cubes_x, int cubes_y,
                                 int margin, int bins_x, int bins_y, int neighbour_count,
                                 float spacing, float cutoff) {
    __shared__ float4 atoms[BIN_ATOMS];
    int thread = (int)threadIdx.x;
    int cube_x = (int)blockIdx.x % cubes_x, cube_y = (int)blockIdx.x / cubes_x % cubes_y;
    int cube_z = (int)blockIdx.x / cubes_x / cubes_y;
    int local_x = thread % CUBE, local_y = thread / CUBE % CUBE, local_z = thread / (CUBE * CUBE);
    float x = spacing * (float)(cube_x * CUBE + local_x);
    float y = spacing * (float)(cube_y * CUBE + local_y);
    float z = spacing * (float)(cube_z * CUBE + local_z);
    float step = spacing * (THREADS / (CUBE * CUBE));
    float cutoff_squared = cutoff * cutoff, inverse = 1.0f / cutoff_squared;

    float sum[POINTS] = {};
    for (int i = 0; i < neighbour_count; i++) {
        Offset at = neighbours[i];
        int bin = ((cube_z + at.z + margin) * bins_y + cube_y + at.y + margin) * bins_x + cube_x +
                  at.x + margin;
        __syncthreads();
        if (thread < BIN_ATOMS) atoms[thread] = bins[bin * BIN_ATOMS + thread];
        __syncthreads();
        for (int j = 0; j < BIN_ATOMS; j++) {
            float4 atom = atoms[j];
            if (atom.w == 0.0f) break; /* the rest of the bin is empty */
            float dx = atom.x - x, dy = atom.y - y, dz = atom.z - z;
            float in_plane = dx * dx + dy * dy;
#pragma unroll
            for (int point = 0; point < POINTS; point++, dz -= step) {
                float squared = in_plane + dz * dz;
                if (squared < cutoff_squared) {
                    float fade = 1.0f - squared * inverse;
                    sum[point] += atom.w * rsqrtf(squared) * fade * fade;
                }
            }
        }
    }
    float *own = potential + blockIdx.x * (CUBE * CUBE * CUBE) + thread;
#pragma unroll
    for (int point = 0; point < POINTS; point++)
        own[point * THREADS] = sum[point];
}
