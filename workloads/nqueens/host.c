/* The number of ways to place queens on a board so that none attacks another: the host fills the
 * first rows in every possible way, and the device counts the completions of each. */
#include "common/workload.h"

enum { THREADS = 96, MOST_ROWS = 10 };

enum { QUEENS, FIRST_ROWS };

static const WorkloadInfo INFO = {
    .name = "nqueens",
    .summary = "Counts the solutions of the queens' puzzle by backtracking.",
    .parameters =
        {
            [QUEENS] = {"queens", "and rows of the board", {8, 10, 12}, 14, 0},
            [FIRST_ROWS] = {"first-rows", "placed by the host", {3, 4, 4}, 6, 0},
        },
};

/* The same layout as in the kernel. */
typedef struct Board {
    uint32_t columns, left, right; /* attacked in the next row, a bit per column */
} Board;

/* The board with one more queen, at the lowest set bit of `places`. */
static Board place_queen(Board board, uint32_t places) {
    uint32_t place = places & (0u - places);
    return (Board){board.columns | place, (board.left | place) << 1, (board.right | place) >> 1};
}

/* All boards with `rows` more rows placed: counts them, and stores them unless `boards` is NULL. */
static uint32_t list_boards(Board board, uint32_t queens, uint32_t rows, Board *boards) {
    if (rows == 0) {
        if (boards) *boards = board;
        return 1;
    }
    uint32_t count = 0, all = (1u << queens) - 1;
    uint32_t places = all & ~(board.columns | board.left | board.right);
    for (; places; places &= places - 1)
        count += list_boards(place_queen(board, places), queens, rows - 1,
                             boards ? boards + count : NULL);
    return count;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t queens = workload.values[QUEENS], first_rows = workload.values[FIRST_ROWS];
    if (first_rows + MOST_ROWS < queens) first_rows = queens - MOST_ROWS;
    if (first_rows >= queens) first_rows = queens - 1;
    uint32_t rows_left = queens - first_rows;
    uint32_t board_count = list_boards((Board){0}, queens, first_rows, NULL);
    Board *boards = workload_host_alloc(&workload, board_count, sizeof *boards);
    list_boards((Board){0}, queens, first_rows, boards);

    WorkloadShape shape = workload_cover(board_count, THREADS);
    CUdeviceptr device_boards = workload_upload(boards, board_count * sizeof *boards);
    CUdeviceptr device_counts = workload_device_alloc(shape.grid_x * sizeof(uint32_t));
    workload_launch(&workload, "nqueens", shape,
                    (void *[]){&device_boards, &device_counts, &board_count, &queens, &rows_left});

    uint32_t *counts = workload_host_alloc(&workload, shape.grid_x, sizeof *counts);
    workload_copy_to_host(counts, device_counts, shape.grid_x * sizeof *counts);
    uint32_t got = 0, expected = list_boards((Board){0}, queens, queens, NULL);
    for (unsigned i = 0; i < shape.grid_x; i++)
        got += counts[i];
    bool is_right = workload_compare_words(&workload, &got, &expected, 1);
    return workload_finish(&workload, is_right, "solutions", expected);
}
