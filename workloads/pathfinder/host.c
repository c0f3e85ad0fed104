/* The cheapest path from the first row of a grid to each cell of the last. Costs are whole numbers,
 * so the comparison is exact. */
#include "common/workload.h"

enum { THREADS = 256 };

enum { COLUMNS, ROWS, HALO };

static const WorkloadInfo INFO = {
    .name = "pathfinder",
    .summary = "Finds the cheapest paths through a grid by dynamic programming.",
    .parameters =
        {
            [COLUMNS] = {"columns", "of the grid", {1000, 20000, 100000}, 1u << 22, 0},
            [ROWS] = {"rows", "of the grid", {10, 21, 25}, 1000, 0},
            [HALO] = {"halo", "columns at a CTA's sides, and rows per launch", {4, 20, 20}, 100, 0},
        },
};

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void add_row(const uint32_t *costs, const uint32_t *before, uint32_t *after,
                    size_t columns) {
    for (size_t i = 0; i < columns; i++) {
        uint32_t west = before[i > 0 ? i - 1 : i], east = before[i < columns - 1 ? i + 1 : i];
        after[i] = smaller(before[i], smaller(west, east)) + costs[i];
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned columns = workload.values[COLUMNS], rows = workload.values[ROWS];
    unsigned halo = workload.values[HALO];
    uint32_t *costs = workload_random_words(&workload, (size_t)rows * columns, 10);

    CUdeviceptr device_costs =
        workload_upload(costs + columns, (size_t)(rows - 1) * columns * sizeof *costs);
    CUdeviceptr before = workload_upload(costs, columns * sizeof *costs);
    CUdeviceptr after = workload_device_alloc(columns * sizeof *costs);
    WorkloadShape shape = {workload_divide_up(columns, THREADS - 2 * halo), 1, THREADS, 1};
    for (unsigned row = 0, now; row < rows - 1; row += now) {
        now = smaller(rows - 1 - row, halo);
        workload_launch(&workload, "pathfinder", shape,
                        (void *[]){&now, &device_costs, &before, &after, &columns, &row, &halo});
        CUdeviceptr swap = before;
        before = after;
        after = swap;
    }

    uint32_t *expected[2] = {costs, workload_host_alloc(&workload, columns, sizeof *costs)};
    for (unsigned row = 1; row < rows; row++)
        add_row(costs + (size_t)row * columns, expected[(row + 1) % 2], expected[row % 2], columns);
    bool is_right = workload_verify_words(&workload, before, expected[(rows + 1) % 2], columns);
    return workload_finish(&workload, is_right, "path costs", columns);
}
