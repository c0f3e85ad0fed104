/* Attention over a long sequence with the sparse pattern of BigBird (Zaheer et al., NeurIPS 2020):
 * a query attends to a window of blocks around its own, to the first blocks, and to random blocks.
 * Without random blocks it is the pattern of Longformer (Beltagy et al., 2020) in blocks. The block
 * of 16 tokens, and a window of three, one global and one random block are the defaults of
 * DeepSpeed's BigBirdSparsityConfig. One part is left out: there, the queries of the global blocks
 * attend to all keys, which is a dense product; here they attend like the others. */
#include "common/workload.h"

#include <math.h>

/* The same values as in the kernel. */
enum { BLOCK = 16, HEAD = 64, THREADS = 128 };

enum { TOKENS, WINDOW, GLOBAL, RANDOM };

static const WorkloadInfo INFO = {
    .name = "sparseattention",
    .summary = "Attention with windows, global and random blocks, a block of queries per CTA.",
    .parameters =
        {
            [TOKENS] = {"tokens", "queries and keys", {208, 2048, 40000}, 1u << 20, BLOCK},
            [WINDOW] =
                {"window", "blocks around that of the query, an odd number", {3, 3, 3}, 63, 0},
            [GLOBAL] = {"global", "blocks, from the first", {1, 1, 1}, 64, 0},
            [RANDOM] = {"random", "blocks", {0, 1, 1}, 64, 0},
        },
};

/* The blocks of keys for each block of queries, in CSR form. */
typedef struct Pattern {
    uint32_t blocks;       /* of queries: count; as many of keys */
    uint32_t entries;      /* count */
    uint32_t *row_offsets; /* first entry of each block of queries, and `entries` at the end */
    uint32_t *columns;     /* block of keys of each entry */
} Pattern;

/* Adds a block of keys to the last block of queries, which begins at entry `first`, unless it is
 * there or out of range. */
static void add_block(Pattern *pattern, uint32_t first, uint32_t block) {
    if (block >= pattern->blocks) return;
    for (uint32_t i = first; i < pattern->entries; i++)
        if (pattern->columns[i] == block) return;
    pattern->columns[pattern->entries++] = block;
}

static Pattern generate_pattern(Workload *workload) {
    const uint32_t *counts = workload->values;
    uint32_t blocks = counts[TOKENS] / BLOCK, reach = counts[WINDOW] / 2;
    size_t most = counts[WINDOW] + counts[GLOBAL] + counts[RANDOM];
    Pattern pattern = {
        .blocks = blocks,
        .row_offsets = workload_host_alloc(workload, (size_t)blocks + 1, sizeof(uint32_t)),
        .columns = workload_host_alloc(workload, blocks * most, sizeof(uint32_t)),
    };
    for (uint32_t row = 0; row < blocks; row++) {
        uint32_t first = pattern.entries;
        for (uint32_t i = 0; i < counts[WINDOW]; i++)
            add_block(&pattern, first,
                      row + i - reach); /* wraps to out of range before the first */
        for (uint32_t i = 0; i < counts[GLOBAL]; i++)
            add_block(&pattern, first, i);
        for (uint32_t i = 0; i < counts[RANDOM]; i++)
            add_block(&pattern, first, workload_random(workload, blocks));
        pattern.row_offsets[row + 1] = pattern.entries;
    }
    return pattern;
}

/* Multiples of an eighth in [-1, 1), so that scores are exact in a float. */
static float *draw_eighths(Workload *workload, size_t count) {
    float *numbers = workload_random_floats(workload, count, 16);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (numbers[i] - 8) / 8;
    return numbers;
}

typedef struct Matrices {
    const float *queries, *keys, *values; /* a row of HEAD numbers per token */
} Matrices;

/* Adds a key's value to the sums by its weight; returns the weight. Scores are between -8 and 8, so
 * weights need no common factor in a double. */
static double add_key(const Matrices *matrices, size_t query, size_t key, double sums[HEAD]) {
    double score = 0;
    for (size_t i = 0; i < HEAD; i++)
        score += matrices->queries[query * HEAD + i] * matrices->keys[key * HEAD + i];
    double weight = exp(score / 8);
    for (size_t i = 0; i < HEAD; i++)
        sums[i] += weight * matrices->values[key * HEAD + i];
    return weight;
}

static void attend(const Pattern *pattern, const Matrices *matrices, float *output) {
    for (size_t query = 0; query < (size_t)pattern->blocks * BLOCK; query++) {
        double sums[HEAD] = {0}, total = 0;
        const uint32_t *row = &pattern->row_offsets[query / BLOCK];
        for (uint32_t i = row[0]; i < row[1]; i++)
            for (size_t key = 0; key < BLOCK; key++)
                total += add_key(matrices, query, (size_t)pattern->columns[i] * BLOCK + key, sums);
        for (size_t i = 0; i < HEAD; i++)
            output[query * HEAD + i] = (float)(sums[i] / total);
    }
}

/* The most that an output may differ from the host's, in relation to it. Scores and their
 * differences are exact. With u = 2^-24, half the distance of floats below 1, and B blocks of keys,
 * a weight is wrong by at most
 *   24 u       the product with log2(e), which is rounded as well (1.5 u), for differences of
 *              scores that add up to 16 or less;
 *   4 (B+1) u  the exponentials of the weight and of the later factors, 2^-22 each (ex2.approx);
 *   B u        the products with the factors.
 * The two sums over the 16 B keys, of weights and of weighted values, add 16 B u each. No term is
 * negative, so the quotient is wrong by at most twice all this and 4 u of its own. */
static float find_tolerance(uint32_t blocks) {
    float of_sum = 24 + 4 * (float)(blocks + 1) + (float)blocks + BLOCK * (float)blocks;
    return (2 * of_sum + 4) * 0x1p-24f;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    const uint32_t *counts = workload.values;
    if (counts[WINDOW] % 2 == 0)
        workload_fail(INFO.name, "the window of %u blocks is not odd", counts[WINDOW]);
    size_t elements = (size_t)counts[TOKENS] * HEAD, size_bytes = elements * sizeof(float);
    Pattern pattern = generate_pattern(&workload);
    Matrices matrices = {
        .queries = draw_eighths(&workload, elements),
        .keys = draw_eighths(&workload, elements),
        .values = workload_random_floats(&workload, elements, 8),
    };
    float *expected = workload_host_alloc(&workload, elements, sizeof *expected);
    attend(&pattern, &matrices, expected);

    CUdeviceptr queries = workload_upload(matrices.queries, size_bytes);
    CUdeviceptr keys = workload_upload(matrices.keys, size_bytes);
    CUdeviceptr values = workload_upload(matrices.values, size_bytes);
    CUdeviceptr row_offsets =
        workload_upload(pattern.row_offsets, ((size_t)pattern.blocks + 1) * sizeof(uint32_t));
    CUdeviceptr columns = workload_upload(pattern.columns, pattern.entries * sizeof(uint32_t));
    CUdeviceptr output = workload_device_alloc(size_bytes);
    workload_launch(&workload, "sparseattention", workload_cover(pattern.blocks * THREADS, THREADS),
                    (void *[]){&queries, &keys, &values, &row_offsets, &columns, &output});

    float tolerance = find_tolerance(counts[WINDOW] + counts[GLOBAL] + counts[RANDOM]);
    bool is_right = workload_verify_floats(&workload, output, expected, elements, tolerance);
    return workload_finish(&workload, is_right, "elements", elements);
}
