/* Heat on a chip, a few time steps per launch: a CTA loads a 16 x 16 tile with a halo as wide as
 * the steps are many, and each step leaves one ring of the tile behind, so that CTAs never talk. A
 * cell at the chip's edge takes itself for the neighbour that it lacks. */
#include "tyto_device.h"

enum { TILE = 16 };

extern "C" __global__ void hotspot(const float *power, const float *before, float *after, int n,
                                   int steps, float step_by_capacity, float conductance_x,
                                   float conductance_y, float conductance_z) {
    const float ambient = 80.0f;
    __shared__ float heat[TILE][TILE];
    __shared__ float source[TILE][TILE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int inner = TILE - 2 * steps;
    int column = (int)blockIdx.x * inner - steps + x, row = (int)blockIdx.y * inner - steps + y;
    bool is_on_chip = column >= 0 && column < n && row >= 0 && row < n;
    if (is_on_chip) {
        heat[y][x] = before[row * n + column];
        source[y][x] = power[row * n + column];
    }
    __syncthreads();

    int west = column > 0 ? x - 1 : x, east = column < n - 1 ? x + 1 : x;
    int north = row > 0 ? y - 1 : y, south = row < n - 1 ? y + 1 : y;
    int ring = min(min(x, y), TILE - 1 - max(x, y));
    for (int step = 0; step < steps; step++) {
        float next = 0.0f;
        bool is_valid = is_on_chip && ring > step;
        if (is_valid) {
            float here = heat[y][x];
            float flow_y = (heat[south][x] + heat[north][x] - 2.0f * here) * conductance_y;
            float flow_x = (heat[y][east] + heat[y][west] - 2.0f * here) * conductance_x;
            float flow_z = (ambient - here) * conductance_z;
            next = here + step_by_capacity * (source[y][x] + flow_y + flow_x + flow_z);
        }
        __syncthreads();
        if (is_valid) heat[y][x] = next;
        __syncthreads();
    }
    if (is_on_chip && ring >= steps) after[row * n + column] = heat[y][x];
}
