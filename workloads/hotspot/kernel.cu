/* Heat on a chip, a few time steps per launch: a CTA loads a 16 x 16 tile with a halo as wide as
 * the number of steps. Each step drops one ring of the tile, so that CTAs never communicate. A cell
 * at the chip's edge replaces its missing neighbour. As in Rodinia, sums are in double precision,
 * because of a literal without a suffix, and a step's results go to a third tile. */
#include "tyto_device.h"

enum { TILE = 16 };

extern "C" __global__ void hotspot(const float *power, const float *before, float *after, int n,
                                   int steps, float step_length, float capacity, float resistance_x,
                                   float resistance_y, float resistance_z) {
    const float ambient = 80.0f;
    __shared__ float heat[TILE][TILE], source[TILE][TILE], next[TILE][TILE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int inner = TILE - 2 * steps;
    int left = (int)blockIdx.x * inner - steps, top = (int)blockIdx.y * inner - steps;
    int column = left + x, row = top + y;
    float step_by_capacity = step_length / capacity;
    float conductance_x = 1 / resistance_x, conductance_y = 1 / resistance_y;
    float conductance_z = 1 / resistance_z;
    if (column >= 0 && column < n && row >= 0 && row < n) {
        heat[y][x] = before[row * n + column];
        source[y][x] = power[row * n + column];
    }
    __syncthreads();

    int first_x = max(-left, 0), last_x = min(TILE - 1, n - 1 - left);
    int first_y = max(-top, 0), last_y = min(TILE - 1, n - 1 - top);
    int west = max(x - 1, first_x), east = min(x + 1, last_x);
    int north = max(y - 1, first_y), south = min(y + 1, last_y);
    bool is_valid = false;
    for (int step = 0; step < steps; step++) {
        is_valid = x > step && x < TILE - 1 - step && y > step && y < TILE - 1 - step &&
                   x >= first_x && x <= last_x && y >= first_y && y <= last_y;
        if (is_valid)
            next[y][x] =
                (float)(heat[y][x] +
                        step_by_capacity *
                            (source[y][x] +
                             (heat[south][x] + heat[north][x] - 2.0 * heat[y][x]) * conductance_y +
                             (heat[y][east] + heat[y][west] - 2.0 * heat[y][x]) * conductance_x +
                             (ambient - heat[y][x]) * conductance_z));
        __syncthreads();
        if (step == steps - 1) break;
        if (is_valid) heat[y][x] = next[y][x];
        __syncthreads();
    }
    if (is_valid) after[row * n + column] = next[y][x];
}
