/* Attention of heads of 128 halves per row; see kernel.cu.
 *
 * Entries of Q and K are whole numbers from -2 to 2, so that scores are exact. Entries of V are
 * eighths from -7/8 to 7/8. The kernel rounds a weight to a half, by at most 2^-11 of it, or by
 * 2^-25 if it is below 2^-14; a row's largest weight is 1, and its elements are averages of V. So
 * they are wrong by at most 2^-11 times 7/8, plus 2^-25 for each key. The rounding of floats (an
 * exponent of at most 65 is rounded by 2^-18, ex2.approx by 2^-22; sums of weights once per key by
 * 2^-24) adds less than 2^-14 for up to 512 keys of a thread. TOLERANCE, 2^-10, is more than the
 * sum for up to 8,192 keys.
 *
 * At size `test` all elements are compared. At larger sizes those of every 37th query are. */
#include "common/tensor.h"

#include <math.h>

enum { HEADS, LENGTH, CAUSAL };
enum {
    WIDTH = 128,         /* halves of a row */
    TILE = 128,          /* queries of a CTA, rows of copies */
    THREADS = 3 * 128,   /* a warpgroup of the producer, two of consumers */
    TILES = 5,           /* in shared memory: of Q, two of K and two of V */
    BARRIER_BYTES = 256, /* more than two for each tile */
    SHARED_BYTES = TILES * TILE * WIDTH * 2 + BARRIER_BYTES,
    ALL = 256, /* queries up to which all are compared */
    STEP = 37  /* between queries that are compared if there are more */
};

static const float TOLERANCE = 0x1p-10F;

static const WorkloadInfo INFO = {
    .name = "hattention",
    .summary = "Attention forward of heads of 128 halves by wgmma, with the softmax in registers.",
    .parameters =
        {
            [HEADS] = {"heads", "heads", {2, 2, 12}, 64, 1},
            [LENGTH] = {"length", "queries of a head, and keys", {256, 1024, 1408}, 8192, TILE},
            [CAUSAL] =
                {"causal", "1: a query sees the keys up to its own position", {0, 0, 0}, 1, 0},
        },
};

typedef struct Attention {
    size_t heads, length;
    bool is_causal;
    uint16_t *q, *k, *v;   /* halves, heads * length rows of WIDTH */
    CUdeviceptr out;       /* floats */
    float *got, *expected; /* WIDTH of a query */
    double *weights;       /* of a query, one per key */
} Attention;

/* `parts` in each whole number: values from -most / parts to most / parts. */
static uint16_t *random_halves(Workload *workload, size_t count, unsigned most, unsigned parts) {
    uint16_t *halves = workload_host_alloc(workload, count, sizeof *halves);
    for (size_t i = 0; i < count; i++)
        halves[i] = tensor_half(((float)workload_random(workload, 2 * most + 1) - (float)most) /
                                (float)parts);
    return halves;
}

/* The weights of the first `keys` keys of a head for a query; they add up to 1. */
static void weigh(double *weights, const uint16_t *query, const uint16_t *key, size_t keys) {
    double most = -INFINITY, total = 0;
    for (size_t i = 0; i < keys; i++) {
        double score = 0;
        for (size_t k = 0; k < WIDTH; k++)
            score += tensor_float(query[k]) * tensor_float(key[i * WIDTH + k]);
        weights[i] = score / sqrt(WIDTH);
        most = fmax(most, weights[i]);
    }
    for (size_t i = 0; i < keys; i++)
        total += weights[i] = exp(weights[i] - most);
    for (size_t i = 0; i < keys; i++)
        weights[i] /= total;
}

static bool verify_query(Workload *workload, const Attention *a, size_t head, size_t query) {
    size_t first = head * a->length, row = (first + query) * WIDTH;
    size_t keys = a->is_causal ? query + 1 : a->length;
    weigh(a->weights, a->q + row, a->k + first * WIDTH, keys);
    for (size_t column = 0; column < WIDTH; column++) {
        double sum = 0;
        for (size_t i = 0; i < keys; i++)
            sum += a->weights[i] * tensor_float(a->v[(first + i) * WIDTH + column]);
        a->expected[column] = (float)sum;
    }
    workload_copy_to_host(a->got, a->out + row * sizeof(float), WIDTH * sizeof(float));
    return workload_compare_floats(workload, a->got, a->expected, WIDTH, TOLERANCE);
}

/* Compares queries of all heads; returns how many elements, or 0 if one is wrong. */
static size_t verify(Workload *workload, const Attention *a) {
    size_t step = a->length > ALL ? STEP : 1, count = 0;
    for (size_t head = 0; head < a->heads; head++)
        for (size_t query = head % step; query < a->length; query += step, count += WIDTH)
            if (!verify_query(workload, a, head, query)) return 0;
    return count;
}

/* Uploads the maps of Q, K and V. */
static CUdeviceptr upload_maps(const Attention *a) {
    unsigned rows = (unsigned)(a->heads * a->length);
    size_t size_bytes = (size_t)rows * WIDTH * sizeof *a->q;
    CUtensorMap maps[] = {tensor_map(workload_upload(a->q, size_bytes), rows, WIDTH, TILE),
                          tensor_map(workload_upload(a->k, size_bytes), rows, WIDTH, TILE),
                          tensor_map(workload_upload(a->v, size_bytes), rows, WIDTH, TILE)};
    return workload_upload(maps, sizeof maps);
}

static Attention attention_of(Workload *workload) {
    Attention a = {.heads = workload->values[HEADS],
                   .length = workload->values[LENGTH],
                   .is_causal = workload->values[CAUSAL]};
    size_t count = a.heads * a.length * WIDTH;
    a.q = random_halves(workload, count, 2, 1);
    a.k = random_halves(workload, count, 2, 1);
    a.v = random_halves(workload, count, 7, 8);
    a.out = workload_device_alloc(count * sizeof(float));
    a.got = workload_host_alloc(workload, WIDTH, sizeof *a.got);
    a.expected = workload_host_alloc(workload, WIDTH, sizeof *a.expected);
    a.weights = workload_host_alloc(workload, a.length, sizeof *a.weights);
    return a;
}

/* Both products of a tile of queries with the tiles of keys that it sees. */
static double products_of(const Attention *a) {
    double tiles = (double)a->length / TILE;
    double pairs = a->is_causal ? tiles * (tiles + 1) / 2 : tiles * tiles;
    return (double)a->heads * pairs * TILE * TILE * WIDTH * 2;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned heads = workload.values[HEADS], length = workload.values[LENGTH];
    unsigned causal = workload.values[CAUSAL];
    tensor_ask_room(&INFO, SHARED_BYTES, "h100");
    Attention a = attention_of(&workload);
    CUdeviceptr maps = upload_maps(&a);
    unsigned tiles = heads * (length / TILE);
    TensorLaunch launch = {.kernel = "attention",
                           .grid_x = tiles,
                           .grid_y = 1,
                           .threads = THREADS,
                           .shared_bytes = SHARED_BYTES,
                           .arguments = (void *[]){&maps, &a.out, &heads, &length, &causal}};
    unsigned room = tensor_ctas_at_once(&workload, &launch); /* each stays for several tiles */
    if (launch.grid_x > room) launch.grid_x = room;
    double cycles = tensor_time(&workload, &launch);
    tensor_print_share(products_of(&a), cycles, launch.grid_x);
    size_t verified = verify(&workload, &a);
    return workload_finish(&workload, verified > 0, "elements", verified);
}
