/* Electrostatic potential on a lattice from the charges within a cutoff distance. Atoms are in bins
 * of eight. A CTA of 128 threads owns a cube of 8 x 8 x 8 lattice points, four per thread along y.
 * It goes through the bins around its cube, whose offsets are in constant memory, 32 at a time:
 * each half-warp stages the atoms of four bins. A launch covers the cubes of one plane. */
#include "tyto_device.h"

enum { POINTS = 4, CUBE = 8, BIN_ATOMS = 8, BIN_WORDS = 4 * BIN_ATOMS, MOST_NEIGHBOURS = 343 };
enum { HALF = 16, HALVES = 8, EACH = 4, STAGED = HALVES * EACH };

struct Offset {
    int x, y, z;
};

__constant__ Offset neighbours[MOST_NEIGHBOURS];

/* bins: an atom is x, y, z and charge; a bin covers as much space as a cube. The grid of bins has a
 * margin of `margin` bins on every side of the lattice. */
extern "C" __global__ void cutcp(const float *bins, float *potential, int cube_z, int margin,
                                 int bins_x, int bins_y, int neighbour_count, float spacing,
                                 float cutoff_squared, float inverse) {
    __shared__ float atoms[STAGED * BIN_WORDS];
    int cube_x = (int)blockIdx.x, cube_y = (int)blockIdx.y, thread = (int)threadIdx.x;
    int half = thread / HALF, lane = thread % HALF;
    float x = spacing * (float)(cube_x * CUBE + thread % CUBE);
    float y = spacing * (float)(cube_y * CUBE + thread / CUBE % 2);
    float z = spacing * (float)(cube_z * CUBE + half);

    float sum[POINTS] = {};
    for (int first = 0; first < neighbour_count; first += STAGED) {
        for (int i = half; i < STAGED && first + i < neighbour_count; i += HALVES) {
            Offset at = neighbours[first + i];
            int bin = ((cube_z + at.z + margin) * bins_y + cube_y + at.y + margin) * bins_x +
                      cube_x + at.x + margin;
            const float *from = bins + bin * BIN_WORDS;
            atoms[i * BIN_WORDS + lane] = from[lane];
            atoms[i * BIN_WORDS + HALF + lane] = from[HALF + lane];
        }
        __syncthreads();
        int staged = min(neighbour_count - first, (int)STAGED);
        for (int i = 0; i < staged; i++)
            for (int j = 0; j < BIN_ATOMS; j++) {
                const float *atom = atoms + i * BIN_WORDS + 4 * j;
                float charge = atom[3];
                if (charge == 0.0f) break; /* the rest of the bin is empty */
                float dx = atom[0] - x, dz = atom[2] - z, dy = atom[1] - y;
                float across = dx * dx + dz * dz;
#pragma unroll
                for (int point = 0; point < POINTS; point++, dy -= 2.0f * spacing) {
                    float squared = dy * dy + across;
                    if (squared < cutoff_squared) {
                        float fade = 1.0f - squared * inverse;
                        sum[point] += charge * rsqrtf(squared) * fade * fade;
                    }
                }
            }
        __syncthreads();
    }
    unsigned cube = ((unsigned)cube_z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    float *own = potential + cube * (CUBE * CUBE * CUBE) + (unsigned)(half * CUBE * CUBE + lane);
#pragma unroll
    for (int point = 0; point < POINTS; point++)
        own[point * HALF] = sum[point];
}
