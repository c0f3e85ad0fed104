/* The two-point angular correlation of points on the sphere: histograms of the angles between data
 * and random points. Coordinates are multiples of 1/1024, so that cosines are exact in a float and
 * every pair falls into the same bin on both sides. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 256, BINS = 20 };

enum { POINTS, RANDOM_SETS };

static const WorkloadInfo INFO = {
    .name = "tpacf",
    .summary = "Histograms of the angles between points on the sphere.",
    .parameters =
        {
            [POINTS] = {"points", "of a set", {70, 150, 150}, 32768, 0},
            [RANDOM_SETS] = {"random-sets", "beside the data", {3, 16, 50}, 1000, 0},
        },
};

typedef struct Point {
    float x, y, z;
} Point;

static Point *generate_points(Workload *workload, size_t count) {
    Point *points = workload_host_alloc(workload, count, sizeof *points);
    for (size_t i = 0; i < count; i++) {
        double z = (double)workload_random(workload, 2001) / 1000.0 - 1.0;
        double angle = 2.0 * M_PI * (double)workload_random(workload, 1000000) / 1e6;
        double radius = sqrt(1.0 - z * z);
        points[i] = (Point){(float)(rint(1024.0 * radius * cos(angle)) / 1024.0),
                            (float)(rint(1024.0 * radius * sin(angle)) / 1024.0),
                            (float)(rint(1024.0 * z) / 1024.0)};
    }
    return points;
}

/* Bounds that make the bins equally wide in the logarithm of the angle, from 1 to 180 degrees. */
static void fill_bounds(float *bounds) {
    for (int i = 0; i <= BINS; i++)
        bounds[i] = (float)cos(M_PI / 180.0 * pow(180.0, (double)i / BINS));
}

static size_t find_bin(const float *bounds, float cosine) {
    size_t bin = 0;
    while (bin < BINS - 1 && cosine <= bounds[bin + 1])
        bin++;
    return bin;
}

/* Counts the pairs of two sets, or of one with itself, each pair once. */
static void count_pairs(const float *bounds, const Point *a, const Point *b, size_t count,
                        uint32_t *histogram) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < (a == b ? i : count); j++) {
            float cosine = a[i].x * b[j].x + a[i].y * b[j].y + a[i].z * b[j].z;
            histogram[find_bin(bounds, cosine)]++;
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned points = workload.values[POINTS], random_sets = workload.values[RANDOM_SETS];
    unsigned pairs = 2 * random_sets + 1;
    size_t count = (size_t)points * (random_sets + 1);
    Point *sets = generate_points(&workload, count);
    float bounds[BINS + 1];
    fill_bounds(bounds);

    workload_set_variable(&workload, "bounds", bounds, sizeof bounds);
    CUdeviceptr device_sets = workload_upload(sets, count * sizeof *sets);
    CUdeviceptr histograms = workload_device_alloc(pairs * BINS * sizeof(uint32_t));
    workload_launch(&workload, "tpacf", (WorkloadShape){pairs, 1, THREADS, 1},
                    (void *[]){&device_sets, &histograms, &points, &random_sets});

    uint32_t *expected = workload_host_alloc(&workload, pairs * BINS, sizeof *expected);
    for (size_t pair = 0; pair < random_sets; pair++) {
        const Point *random = sets + (pair + 1) * points;
        count_pairs(bounds, sets, random, points, expected + pair * BINS);
        count_pairs(bounds, random, random, points, expected + (random_sets + pair) * BINS);
    }
    count_pairs(bounds, sets, sets, points, expected + (pairs - 1) * BINS);
    bool is_right = workload_verify_words(&workload, histograms, expected, pairs * BINS);
    return workload_finish(&workload, is_right, "counts", pairs * BINS);
}
