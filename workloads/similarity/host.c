/* The similarity of all pairs of documents. Features are whole numbers below 16, so sums are exact;
 * a tolerance covers two square roots, a product and a division. */
#include "common/mapreduce.h"

#include <math.h>
#include <string.h>

static const float TOLERANCE = 1e-6f;

enum { DOCUMENTS, FEATURES, PAIRS, PHASES };

static const WorkloadInfo INFO = {
    .name = "similarity",
    .summary = "Scores the similarity of all pairs of documents with MapReduce.",
    .parameters =
        {
            [DOCUMENTS] = {"documents", "", {40, 128, 1024}, 4096, 0},
            [FEATURES] = {"features", "of a document, below 16 each", {28, 64, 256}, 4096, 4},
            [PAIRS] =
                {"pairs", "of documents, the first ones; 0: all", {0, 0, 114688}, 1u << 23, 0},
            [PHASES] = MAPREDUCE_PHASES(MAPREDUCE_MAP),
        },
};

/* The same layout as in the kernels. */
typedef struct Pair {
    int32_t a, b, features;
} Pair;

static float dot(const float *a, const float *b, size_t count) {
    float sum = 0.0f;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static int compare_scores(const void *a, const void *b, const uint8_t *texts) {
    (void)texts;
    float score_a, score_b;
    memcpy(&score_a, a, sizeof score_a);
    memcpy(&score_b, b, sizeof score_b);
    if (fabsf(score_a - score_b) < 1e-7f) return 0;
    return score_a < score_b ? 1 : -1;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t documents = workload.values[DOCUMENTS], features = workload.values[FEATURES];
    uint32_t all = documents * (documents - 1) / 2, phases = workload.values[PHASES];
    uint32_t count = workload.values[PAIRS] ? workload.values[PAIRS] : all;
    if (count > all || all == 0)
        workload_fail(INFO.name, "%u documents have %u pairs", documents, all);
    size_t values = (size_t)documents * features;
    float *vectors = workload_random_floats(&workload, values, 16);
    CUdeviceptr device_vectors = workload_upload(vectors, values * sizeof *vectors);

    RecordSet input = mapreduce_records(&workload, count, sizeof device_vectors, sizeof(Pair));
    float *expected = workload_host_alloc(&workload, count, sizeof *expected);
    int32_t *pairs = workload_host_alloc(&workload, count, 2 * sizeof *pairs);
    uint32_t at = 0;
    for (uint32_t a = 0; a < documents && at < count; a++)
        for (uint32_t b = a + 1; b < documents && at < count; b++, at++) {
            Pair pair = {(int32_t)a, (int32_t)b, (int32_t)features};
            const float *of_a = vectors + (size_t)a * features;
            const float *of_b = vectors + (size_t)b * features;
            memcpy(input.keys + at * sizeof device_vectors, &device_vectors, sizeof device_vectors);
            memcpy(input.values + at * sizeof pair, &pair, sizeof pair);
            memcpy(pairs + 2 * (size_t)at, &pair, 2 * sizeof *pairs);
            expected[at] = dot(of_a, of_b, features) /
                           (sqrtf(dot(of_a, of_a, features)) * sqrtf(dot(of_b, of_b, features)));
        }

    MapCounts counts = mapreduce_count(&workload, &input);
    DeviceRecords device = mapreduce_map(&workload, &counts);
    RecordSet emitted = mapreduce_fetch(&workload, &device, false);
    bool is_right =
        workload_compare_words(&workload, &emitted.count, &count, 1) &&
        workload_verify_floats(&workload, device.keys, expected, count, TOLERANCE) &&
        workload_compare_words(&workload, (uint32_t *)emitted.values, (uint32_t *)pairs, 2 * count);
    if (is_right && phases >= MAPREDUCE_RUNS)
        is_right = mapreduce_sort(&workload, &device, &emitted, mapreduce_runs(&device, phases, 0),
                                  compare_scores, NULL);
    return workload_finish(&workload, is_right, "pairs", count);
}
