/* The scores of aligning two random sequences of amino acids under random similarities. All are
 * whole numbers, so the comparison is exact. */
#include "common/workload.h"

enum { TILE = 16, ACIDS = 20, HIGHEST = 11, LOWEST = -4 };

enum { LENGTH, PENALTY };

static const WorkloadInfo INFO = {
    .name = "needle",
    .summary = "Aligns two sequences by dynamic programming, a launch per diagonal of tiles.",
    .parameters =
        {
            [LENGTH] = {"length", "of both sequences", {64, 256, 1024}, 8192, TILE},
            [PENALTY] = {"penalty", "for a gap", {10, 10, 10}, 1000, 0},
        },
};

/* The score of aligning residue `column` of one sequence with residue `row` of the other; row and
 * column 0 are before the sequences' start and unused. */
static int32_t *generate_similarities(Workload *workload, size_t columns) {
    uint32_t *table = workload_random_words(workload, ACIDS * ACIDS, HIGHEST - LOWEST + 1);
    uint8_t *across = workload_random_bytes(workload, columns, ACIDS);
    uint8_t *down = workload_random_bytes(workload, columns, ACIDS);
    int32_t *similarities = workload_host_alloc(workload, columns * columns, sizeof(int32_t));
    for (size_t i = 0; i < columns * columns; i++)
        similarities[i] = (int32_t)table[down[i / columns] * ACIDS + across[i % columns]] + LOWEST;
    return similarities;
}

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static void align_on_cpu(const int32_t *similarities, int32_t *scores, size_t columns,
                         int32_t penalty) {
    for (size_t row = 1; row < columns; row++)
        for (size_t column = 1; column < columns; column++) {
            size_t at = row * columns + column;
            int32_t with_gap = larger(scores[at - 1], scores[at - columns]) - penalty;
            scores[at] = larger(scores[at - columns - 1] + similarities[at], with_gap);
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    int32_t columns = (int32_t)workload.values[LENGTH] + 1;
    int32_t penalty = (int32_t)workload.values[PENALTY];
    size_t count = (size_t)columns * (size_t)columns;
    int32_t *similarities = generate_similarities(&workload, (size_t)columns);
    int32_t *scores = workload_host_alloc(&workload, count, sizeof *scores);
    for (int32_t i = 1; i < columns; i++)
        scores[i] = scores[i * columns] = -i * penalty;

    CUdeviceptr device_similarities = workload_upload(similarities, count * sizeof *similarities);
    CUdeviceptr device_scores = workload_upload(scores, count * sizeof *scores);
    int32_t tiles = columns / TILE, diagonal;
    void *arguments[] = {
        &device_similarities, &device_scores, &columns, &penalty, &diagonal, &tiles};
    for (diagonal = 0; diagonal < tiles; diagonal++)
        workload_launch(&workload, "needle_growing",
                        (WorkloadShape){(unsigned)diagonal + 1, 1, TILE, 1}, arguments);
    for (; diagonal < 2 * tiles - 1; diagonal++)
        workload_launch(&workload, "needle_shrinking",
                        (WorkloadShape){(unsigned)(2 * tiles - 1 - diagonal), 1, TILE, 1},
                        arguments);

    align_on_cpu(similarities, scores, (size_t)columns, penalty);
    bool is_right = workload_verify_words(&workload, device_scores, (uint32_t *)scores, count);
    return workload_finish(&workload, is_right, "scores", count);
}
