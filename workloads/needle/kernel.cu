/* Needleman-Wunsch: the best global alignment of two sequences by dynamic programming over a square
 * of scores. There is a launch for each diagonal of tiles of 16 x 16, and a CTA of 16 threads for
 * each tile, which it computes diagonal by diagonal in shared memory. Row and column 0 have only
 * gaps. */
#include "tyto_device.h"

enum { TILE = 16 };

static __device__ void align_tile(const int *similarities, int *scores, int columns, int penalty,
                                  int tile_x, int tile_y) {
    __shared__ int score[TILE + 1][TILE + 1];
    __shared__ int similarity[TILE][TILE];
    int thread = (int)threadIdx.x;
    int corner = TILE * (tile_y * columns + tile_x);
    int inside = corner + columns + 1 + thread;
    if (thread == 0) score[0][0] = scores[corner];
    score[0][thread + 1] = scores[corner + 1 + thread];
    score[thread + 1][0] = scores[corner + (thread + 1) * columns];
    for (int row = 0; row < TILE; row++)
        similarity[row][thread] = similarities[inside + row * columns];
    __syncthreads();

    for (int diagonal = 0; diagonal < 2 * TILE - 1; diagonal++) {
        int x = thread, y = diagonal - thread;
        if (y >= 0 && y < TILE)
            score[y + 1][x + 1] = max(score[y][x] + similarity[y][x],
                                      max(score[y + 1][x], score[y][x + 1]) - penalty);
        __syncthreads();
    }
    for (int row = 0; row < TILE; row++)
        scores[inside + row * columns] = score[row + 1][thread + 1];
}

/* The tiles of a diagonal up to the longest, from the left edge. */
extern "C" __global__ void needle_growing(const int *similarities, int *scores, int columns,
                                          int penalty, int diagonal) {
    int x = (int)blockIdx.x;
    align_tile(similarities, scores, columns, penalty, x, diagonal - x);
}

/* The tiles of a diagonal after the longest, from the lower edge of `tiles` rows. */
extern "C" __global__ void needle_shrinking(const int *similarities, int *scores, int columns,
                                            int penalty, int diagonal, int tiles) {
    int y = tiles - 1 - (int)blockIdx.x;
    align_tile(similarities, scores, columns, penalty, diagonal - y, y);
}
