/* Embedding tables with random rows, and bags of indices whose popularity has Zipf's distribution.
 * As in the authors' program, which draws its own random data (dlrm_data_pytorch.py in
 * facebookresearch/dlrm), each length of a bag up to the largest is equally likely. The default
 * exponent and dimension are those of FBGEMM's benchmark of embedding tables
 * (split_table_batched_embeddings_benchmark.py: 1.15 for training, 1.09 for inference; 128), and so
 * is the mean length of a bag at paper, about 20. As there, popular rows are scattered over a
 * table. Numbers are whole and below 8, so that sums are exact, and so is the comparison. */
#include "common/workload.h"
#include "common/zipf.h"

#include <stdio.h>

enum { WARP = 32, WARPS = 8 }; /* threads of a warp, warps of a CTA */

enum { SAMPLES, TABLES, ROWS, DIMENSION, INDICES, EXPONENT };

static const WorkloadInfo INFO = {
    .name = "embedding",
    .summary = "Adds up rows of embedding tables, one bag of indices per warp.",
    .parameters =
        {
            [SAMPLES] =
                {"samples", "of a batch, each with a bag per table", {45, 512, 2048}, 1u << 16, 0},
            [TABLES] = {"tables", "in the model", {3, 8, 8}, 32, 0},
            [ROWS] = {"rows", "of a table", {200, 8192, 32768}, 1u << 20, 0},
            [DIMENSION] = {"dimension", "of a row: 32, 64 or 128", {64, 128, 128}, 128, 32},
            [INDICES] = {"indices", "at most in a bag", {40, 40, 40}, 1u << 10, 0},
            [EXPONENT] = {"exponent",
                          "of the distribution of indices, in hundredths",
                          {115, 115, 115},
                          1000,
                          0},
        },
};

/* Bags of indices: those of table 0 for all samples, then those of table 1, and so on. */
typedef struct Bags {
    uint32_t count;
    uint32_t *starts;  /* first index of each bag, and the count of indices at the end */
    uint32_t *indices; /* rows of the bag's table */
} Bags;

static Bags draw_bags(Workload *workload) {
    const uint32_t *values = workload->values;
    Bags bags = {.count = values[TABLES] * values[SAMPLES]};
    bags.starts = workload_host_alloc(workload, (size_t)bags.count + 1, sizeof(uint32_t));
    for (uint32_t bag = 0; bag < bags.count; bag++)
        bags.starts[bag + 1] = bags.starts[bag] + 1 + workload_random(workload, values[INDICES]);
    uint32_t count = bags.starts[bags.count];
    bags.indices = workload_host_alloc(workload, count, sizeof(uint32_t));
    Zipf zipf = zipf_new(workload, values[ROWS], values[EXPONENT]);
    for (uint32_t i = 0; i < count; i++)
        bags.indices[i] = zipf_scatter(zipf_draw(workload, &zipf), values[ROWS]);
    return bags;
}

/* Adds the rows of a bag to `sum`. */
static void add_rows(const Workload *workload, const Bags *bags, uint32_t bag, const float *table,
                     float *sum) {
    uint32_t dimension = workload->values[DIMENSION];
    for (uint32_t i = bags->starts[bag]; i < bags->starts[bag + 1]; i++) {
        const float *row = table + (size_t)bags->indices[i] * dimension;
        for (uint32_t column = 0; column < dimension; column++)
            sum[column] += row[column];
    }
}

/* The rows of each sample's bags, added up. */
static float *pool(Workload *workload, const Bags *bags, const float *tables) {
    const uint32_t *values = workload->values;
    size_t dimension = values[DIMENSION], table_size = values[ROWS] * dimension;
    float *pooled = workload_host_alloc(workload, bags->count * dimension, sizeof *pooled);
    for (uint32_t table = 0; table < values[TABLES]; table++)
        for (uint32_t sample = 0; sample < values[SAMPLES]; sample++) {
            size_t place = (size_t)sample * values[TABLES] + table;
            add_rows(workload, bags, table * values[SAMPLES] + sample, tables + table * table_size,
                     pooled + place * dimension);
        }
    return pooled;
}

static void launch(const Workload *workload, CUdeviceptr tables, const Bags *bags,
                   CUdeviceptr pooled) {
    uint32_t rows = workload->values[ROWS], samples = workload->values[SAMPLES];
    CUdeviceptr starts =
        workload_upload(bags->starts, ((size_t)bags->count + 1) * sizeof(uint32_t));
    CUdeviceptr indices =
        workload_upload(bags->indices, bags->starts[bags->count] * sizeof(uint32_t));
    WorkloadShape shape = {workload_divide_up(samples, WARPS), workload->values[TABLES], WARP,
                           WARPS};
    char kernel[32];
    snprintf(kernel, sizeof kernel, "embedding_%u", workload->values[DIMENSION]);
    workload_launch(workload, kernel, shape,
                    (void *[]){&tables, &starts, &indices, &pooled, &rows, &samples});
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t dimension = workload.values[DIMENSION];
    if (dimension == 96) workload_fail(INFO.name, "--dimension: needs 32, 64 or 128");
    Bags bags = draw_bags(&workload);
    size_t size = (size_t)workload.values[TABLES] * workload.values[ROWS] * dimension;
    float *tables = workload_random_floats(&workload, size, 8);
    float *expected = pool(&workload, &bags, tables);

    size_t pooled_size = (size_t)bags.count * dimension;
    CUdeviceptr device_tables = workload_upload(tables, size * sizeof *tables);
    CUdeviceptr pooled = workload_device_alloc(pooled_size * sizeof(float));
    launch(&workload, device_tables, &bags, pooled);
    bool is_right = workload_verify_floats(&workload, pooled, expected, pooled_size, 0.0f);
    return workload_finish(&workload, is_right, "sums", pooled_size);
}
