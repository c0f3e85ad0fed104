/* The cheapest way through a grid of costs, row by row, stepping straight or diagonally: dynamic
 * programming, several rows per launch. A CTA of 256 threads loads a row of totals with a halo of
 * `halo` columns on either side, and each row that it adds leaves one column of each behind. */
#include "tyto_device.h"

enum { THREADS = 256 };

extern "C" __global__ void pathfinder(const int *costs, const int *before, int *after, int columns,
                                      int first_row, int rows, int halo) {
    __shared__ int total[THREADS];
    int x = (int)threadIdx.x;
    int column = (int)blockIdx.x * (THREADS - 2 * halo) - halo + x;
    bool is_in_grid = column >= 0 && column < columns;
    if (is_in_grid) total[x] = before[column];
    __syncthreads();

    int west = column > 0 ? x - 1 : x, east = column < columns - 1 ? x + 1 : x;
    int ring = min(x, THREADS - 1 - x);
    for (int row = 0; row < rows; row++) {
        int next = 0;
        bool is_valid = is_in_grid && ring > row;
        if (is_valid)
            next = min(total[x], min(total[west], total[east])) +
                   costs[(first_row + row) * columns + column];
        __syncthreads();
        if (is_valid) total[x] = next;
        __syncthreads();
    }
    if (is_in_grid && ring >= halo) after[column] = total[x];
}
