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
            [RANDOM_SETS] = {"random-sets", "next to the data", {3, 16, 50}, 1000, 0},
        },
};

/* Coordinates of points, an array of each. */
typedef struct Points {
    float *x, *y, *z;
} Points;

static Points generate_points(Workload *workload, size_t count) {
    Points points = {
        .x = workload_host_alloc(workload, count, sizeof(float)),
        .y = workload_host_alloc(workload, count, sizeof(float)),
        .z = workload_host_alloc(workload, count, sizeof(float)),
    };
    for (size_t i = 0; i < count; i++) {
        double z = (double)workload_random(workload, 2001) / 1000.0 - 1.0;
        double angle = 2.0 * M_PI * (double)workload_random(workload, 1000000) / 1e6;
        double radius = sqrt(1.0 - z * z);
        points.x[i] = (float)(rint(1024.0 * radius * cos(angle)) / 1024.0);
        points.y[i] = (float)(rint(1024.0 * radius * sin(angle)) / 1024.0);
        points.z[i] = (float)(rint(1024.0 * z) / 1024.0);
    }
    return points;
}

/* Five bins for each factor of ten in the angle, from one minute of arc. */
static void fill_bounds(float *bounds) {
    for (int i = 0; i <= BINS; i++)
        bounds[i] = (float)cos(M_PI / 180.0 / 60.0 * pow(10.0, i / 5.0));
}

/* Counts the pairs of a point of set `a` and a point of set `b`; within one set each pair counts
 * once. Angles beyond the bounds are not in any bin. */
static void count_pairs(const float *bounds, Points points, size_t a, size_t b, size_t set_points,
                        uint32_t *histogram) {
    for (size_t i = 0; i < set_points; i++)
        for (size_t j = 0; j < (a == b ? i : set_points); j++) {
            size_t p = a * set_points + i, q = b * set_points + j;
            float cosine =
                points.x[p] * points.x[q] + points.y[p] * points.y[q] + points.z[p] * points.z[q];
            for (size_t bin = 0; bin < BINS; bin++)
                if (cosine < bounds[bin] && cosine >= bounds[bin + 1]) histogram[bin]++;
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned points = workload.values[POINTS], random_sets = workload.values[RANDOM_SETS];
    unsigned pairs = 2 * random_sets + 1;
    size_t count = (size_t)points * (random_sets + 1);
    Points sets = generate_points(&workload, count);
    float bounds[BINS + 1];
    fill_bounds(bounds);

    workload_set_variable(&workload, "bounds", bounds, sizeof bounds);
    CUdeviceptr x = workload_upload(sets.x, count * sizeof(float));
    CUdeviceptr y = workload_upload(sets.y, count * sizeof(float));
    CUdeviceptr z = workload_upload(sets.z, count * sizeof(float));
    CUdeviceptr histograms = workload_device_alloc(pairs * BINS * sizeof(uint32_t));
    workload_launch(&workload, "tpacf", (WorkloadShape){pairs, 1, THREADS, 1},
                    (void *[]){&x, &y, &z, &histograms, &points, &random_sets});

    uint32_t *expected = workload_host_alloc(&workload, pairs * BINS, sizeof *expected);
    for (size_t set = 0; set <= random_sets; set++)
        count_pairs(bounds, sets, set, set, points, expected + set * BINS);
    for (size_t set = 1; set <= random_sets; set++)
        count_pairs(bounds, sets, 0, set, points, expected + (random_sets + set) * BINS);
    bool is_right = workload_verify_words(&workload, histograms, expected, pairs * BINS);
    return workload_finish(&workload, is_right, "counts", pairs * BINS);
}
