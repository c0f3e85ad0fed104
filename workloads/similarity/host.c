/* The similarity of all pairs of documents. Features are whole numbers below 16, so sums are exact;
 * the tolerance covers a square root and a division. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 256 };

static const float TOLERANCE = 1e-6f;

enum { DOCUMENTS, FEATURES };

static const WorkloadInfo INFO = {
    .name = "similarity",
    .summary = "Scores the similarity of all pairs of documents.",
    .parameters =
        {
            [DOCUMENTS] = {"documents", "", {50, 128, 256}, 8192, 0},
            [FEATURES] = {"features", "of a document, below 16 each", {30, 64, 64}, 65536, 0},
        },
};

static float dot(const float *a, const float *b, size_t count) {
    float sum = 0.0f;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned documents = workload.values[DOCUMENTS], features = workload.values[FEATURES];
    size_t count = (size_t)documents * features, pairs = (size_t)documents * documents;
    float *vectors = workload_random_floats(&workload, count, 16);

    CUdeviceptr device_vectors = workload_upload(vectors, count * sizeof *vectors);
    CUdeviceptr norms = workload_device_alloc(documents * sizeof(float));
    CUdeviceptr scores = workload_device_alloc(pairs * sizeof(float));
    workload_launch(&workload, "similarity_norm", workload_cover(documents, THREADS),
                    (void *[]){&device_vectors, &norms, &documents, &features});
    workload_launch(&workload, "similarity_map", workload_cover(documents * documents, THREADS),
                    (void *[]){&device_vectors, &norms, &scores, &documents, &features});

    float *expected = workload_host_alloc(&workload, pairs, sizeof *expected);
    for (size_t i = 0; i < pairs; i++) {
        const float *a = vectors + i / documents * features,
                    *b = vectors + i % documents * features;
        expected[i] =
            dot(a, b, features) / (sqrtf(dot(a, a, features)) * sqrtf(dot(b, b, features)));
    }
    bool is_right = workload_verify_floats(&workload, scores, expected, pairs, TOLERANCE);
    return workload_finish(&workload, is_right, "pairs", pairs);
}
