/* Counts the ways to complete boards with the first queens placed, one board per thread, by
 * backtracking over bit masks. A CTA of 96 threads keeps its stacks in shared memory, a column of
 * words per thread, and adds up its counts by a tree. */
#include "tyto_device.h"

enum { THREADS = 96, MOST_ROWS = 10 };

/* Columns and diagonals that the first queens attack in the next row. */
struct Board {
    unsigned columns, left, right;
};

extern "C" __global__ void nqueens(const Board *boards, unsigned *counts, unsigned board_count,
                                   unsigned queens, unsigned rows_left) {
    __shared__ unsigned columns[MOST_ROWS][THREADS], left[MOST_ROWS][THREADS];
    __shared__ unsigned right[MOST_ROWS][THREADS], free_places[MOST_ROWS][THREADS];
    __shared__ unsigned count[THREADS];
    unsigned thread = threadIdx.x, board = blockIdx.x * THREADS + thread;
    unsigned all = (1u << queens) - 1, solutions = 0;
    if (board < board_count) {
        int row = 0, last = (int)rows_left - 1;
        columns[0][thread] = boards[board].columns;
        left[0][thread] = boards[board].left;
        right[0][thread] = boards[board].right;
        free_places[0][thread] = all & ~(columns[0][thread] | left[0][thread] | right[0][thread]);
        while (row >= 0) {
            unsigned place = free_places[row][thread];
            if (place == 0) {
                row--;
                continue;
            }
            place &= 0u - place;
            free_places[row][thread] ^= place;
            if (row == last) {
                solutions++;
                continue;
            }
            unsigned c = columns[row][thread] | place;
            unsigned l = (left[row][thread] | place) << 1, r = (right[row][thread] | place) >> 1;
            row++;
            columns[row][thread] = c;
            left[row][thread] = l;
            right[row][thread] = r;
            free_places[row][thread] = all & ~(c | l | r);
        }
    }
    count[thread] = solutions;
    for (unsigned half = THREADS / 2; half >= 3; half /= 2) {
        __syncthreads();
        if (thread < half) count[thread] += count[thread + half];
    }
    __syncthreads();
    if (thread == 0) counts[blockIdx.x] = count[0] + count[1] + count[2];
}
