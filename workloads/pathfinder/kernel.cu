/* The cheapest way through a grid of costs, row by row, stepping straight or diagonally: dynamic
 * programming, several rows per launch. A CTA of 256 threads loads a row of totals with a halo of
 * `halo` columns on either side, and each row that it adds drops one column on either side. A
 * launch of fewer rows than `halo`, such as the last one, computes more columns per CTA. A row's
 * sums go to a second shared array first. Those of the last row go from there to global memory, and
 * are not copied back. At the grid's sides the neighbour is clamped. */
#include "tyto_device.h"

enum { THREADS = 256 };

static __device__ bool is_between(int value, int low, int high) {
    return low <= value && value <= high;
}

extern "C" __global__ void pathfinder(int rows, const int *costs, const int *before, int *after,
                                      int columns, int first_row, int halo) {
    __shared__ int total[THREADS];
    __shared__ int sum[THREADS];
    int x = (int)threadIdx.x;
    int start = (int)blockIdx.x * (THREADS - 2 * rows) - halo, end = start + THREADS - 1;
    int column = start + x;
    int low = start < 0 ? -start : 0;
    int high = end > columns - 1 ? THREADS - 1 - (end - (columns - 1)) : THREADS - 1;
    int west = x - 1 < low ? low : x - 1, east = x + 1 > high ? high : x + 1;
    bool is_in_grid = is_between(x, low, high);
    if (is_between(column, 0, columns - 1)) total[x] = before[column];
    __syncthreads();

    bool has_sum;
    for (int row = 0; row < rows; row++) {
        has_sum = false;
        if (is_between(x, row + 1, THREADS - 2 - row) && is_in_grid) {
            has_sum = true;
            int least = min(min(total[west], total[x]), total[east]);
            sum[x] = least + costs[(first_row + row) * columns + column];
        }
        __syncthreads();
        if (row == rows - 1) break;
        if (has_sum) total[x] = sum[x];
        __syncthreads();
    }
    if (has_sum) after[column] = sum[x];
}
