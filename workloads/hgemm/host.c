/* C = A B of halves, summed in floats and stored as halves, by the asynchronous operations of
 * compute capability 9.0; see kernel.cu.
 *
 * Entries of A and B are whole numbers from -2 to 2. Sums of 8,192 such products have a standard
 * deviation of 181, far below 2,048, up to which halves hold every whole number. The check is exact
 * too, and covers every element: each row of C times a vector of random whole numbers must equal
 * the same row of A times the product of B and the vector. An error of any size escapes with a
 * chance of at most 1 in 32,768 (Freivalds' check). Only a row that differs is computed by
 * elements, to name the first wrong one. */
#include "common/tensor.h"

enum { ROWS, COLUMNS, DEPTH, CLUSTER };
enum {
    TILE_ROWS = 128,
    TILE_COLUMNS = 256,
    STORE_ROWS = 64,                        /* of copies of C */
    THREADS = 3 * 128,                      /* a warpgroup of the producer, two of consumers */
    STAGES = 4,                             /* ... of 64 columns of A and B */
    BARRIER_BYTES = 256,                    /* more than two for each stage */
    PLACE_BYTES = 2 * 2 * STORE_ROWS * 128, /* where two consumers write C */
    SHARED_BYTES = STAGES * (TILE_ROWS + TILE_COLUMNS) * 128 + PLACE_BYTES + BARRIER_BYTES,
    WEIGHTS = 32768 /* values of the vector's elements */
};

static const WorkloadInfo INFO = {
    .name = "hgemm",
    .summary = "Multiplies matrices of halves by wgmma; another warpgroup copies tiles by tensor "
               "maps.",
    .parameters =
        {
            [ROWS] = {"rows", "of A and C", {128, 512, 2048}, 8192, 128},
            [COLUMNS] = {"columns", "of B and C", {512, 512, 2048}, 8192, 256},
            [DEPTH] = {"depth", "columns of A, rows of B", {320, 1024, 2048}, 8192, 64},
            [CLUSTER] = {"cluster",
                         "CTAs of a cluster, 1, 2 or 4: they copy halves of tiles for each other",
                         {1, 1, 4},
                         4,
                         1},
        },
};

/* Whole numbers from -2 to 2. */
static uint16_t *random_halves(Workload *workload, size_t count) {
    uint16_t *halves = workload_host_alloc(workload, count, sizeof *halves);
    for (size_t i = 0; i < count; i++)
        halves[i] = tensor_half((float)workload_random(workload, 5) - 2);
    return halves;
}

/* The whole numbers of a row of halves, times those of `by`. */
static int64_t multiply(const uint16_t *row, const int64_t *by, size_t count) {
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (int64_t)tensor_float(row[i]) * by[i];
    return sum;
}

/* Compares a row of C with its elements one by one. */
static bool verify_row(Workload *workload, const uint16_t *a, const uint16_t *b,
                       const uint16_t *c) {
    size_t columns = workload->values[COLUMNS], depth = workload->values[DEPTH];
    float *got = workload_host_alloc(workload, columns, sizeof *got);
    float *expected = workload_host_alloc(workload, columns, sizeof *expected);
    for (size_t column = 0; column < columns; column++) {
        got[column] = tensor_float(c[column]);
        for (size_t k = 0; k < depth; k++)
            expected[column] += tensor_float(a[k]) * tensor_float(b[column * depth + k]);
    }
    return workload_compare_floats(workload, got, expected, columns, 0);
}

static bool verify(Workload *workload, const uint16_t *a, const uint16_t *b, const uint16_t *c) {
    size_t rows = workload->values[ROWS], columns = workload->values[COLUMNS];
    size_t depth = workload->values[DEPTH];
    int64_t *weights = workload_host_alloc(workload, columns, sizeof *weights);
    int64_t *weighted = workload_host_alloc(workload, depth, sizeof *weighted);
    for (size_t column = 0; column < columns; column++) {
        weights[column] = workload_random(workload, WEIGHTS);
        for (size_t k = 0; k < depth; k++)
            weighted[k] += (int64_t)tensor_float(b[column * depth + k]) * weights[column];
    }
    for (size_t row = 0; row < rows; row++) {
        const uint16_t *of_a = a + row * depth, *of_c = c + row * columns;
        if (multiply(of_c, weights, columns) != multiply(of_a, weighted, depth))
            return verify_row(workload, of_a, b, of_c);
    }
    return true;
}

/* Uploads the maps of A, B and C. */
static CUdeviceptr upload_maps(const Workload *workload, CUdeviceptr a, CUdeviceptr b,
                               CUdeviceptr c) {
    unsigned rows = workload->values[ROWS], columns = workload->values[COLUMNS];
    unsigned depth = workload->values[DEPTH];
    CUtensorMap maps[] = {tensor_map(a, rows, depth, TILE_ROWS / 2),
                          tensor_map(b, columns, depth, TILE_COLUMNS / 2),
                          tensor_map(c, rows, columns, STORE_ROWS)};
    return workload_upload(maps, sizeof maps);
}

/* A cluster of two has two rows of tiles, one of four also two columns. */
static void check_cluster(unsigned rows, unsigned columns, unsigned cluster) {
    if (cluster == 3) workload_fail(INFO.name, "--cluster must be 1, 2 or 4");
    if (cluster > 1 && rows % (2 * TILE_ROWS))
        workload_fail(INFO.name, "with --cluster %u, --rows must be a multiple of 256", cluster);
    if (cluster > 2 && columns % (2 * TILE_COLUMNS))
        workload_fail(INFO.name, "with --cluster 4, --columns must be a multiple of 512");
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned rows = workload.values[ROWS], columns = workload.values[COLUMNS];
    unsigned depth = workload.values[DEPTH], cluster = workload.values[CLUSTER];
    tensor_ask_room(&INFO, SHARED_BYTES, "h100");
    check_cluster(rows, columns, cluster);
    size_t a_count = (size_t)rows * depth, b_count = (size_t)columns * depth;
    size_t c_count = (size_t)rows * columns;
    uint16_t *a = random_halves(&workload, a_count), *b = random_halves(&workload, b_count);
    uint16_t *c = workload_host_alloc(&workload, c_count, sizeof *c);
    CUdeviceptr device_c = workload_device_alloc(c_count * sizeof *c);
    CUdeviceptr maps = upload_maps(&workload, workload_upload(a, a_count * sizeof *a),
                                   workload_upload(b, b_count * sizeof *b), device_c);
    unsigned tile_rows = rows / TILE_ROWS, tile_columns = columns / TILE_COLUMNS;
    TensorLaunch launch = {.kernel = "gemm",
                           .grid_x = tile_rows * tile_columns,
                           .grid_y = 1,
                           .threads = THREADS,
                           .cluster = cluster,
                           .shared_bytes = SHARED_BYTES,
                           .arguments = (void *[]){&maps, &tile_rows, &tile_columns, &depth}};
    unsigned room = tensor_ctas_at_once(&workload, &launch); /* each stays for several tiles */
    if (launch.grid_x > room) launch.grid_x = room;
    double cycles = tensor_time(&workload, &launch);
    tensor_print_share((double)rows * columns * depth, cycles, launch.grid_x);
    workload_copy_to_host(c, device_c, c_count * sizeof *c);
    return workload_finish(&workload, verify(&workload, a, b, c), "products", c_count);
}
