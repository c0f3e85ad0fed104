/* The records nearest to a place: the device computes all distances, the host picks the least.
 * Coordinates are small whole numbers and square roots are rounded to nearest on both sides, so the
 * comparison is exact. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 256 };

enum { RECORDS, NEIGHBOURS };

static const WorkloadInfo INFO = {
    .name = "nearest",
    .summary = "Finds the records nearest to a place.",
    .parameters =
        {
            [RECORDS] = {"records", "", {1000, 42764, 1048576}, 1u << 26, 0},
            [NEIGHBOURS] = {"neighbours", "to find", {10, 10, 10}, 100, 0},
        },
};

/* The indices of the `wanted` least distances, nearest first; earlier records win ties. */
static void pick(const float *distances, size_t count, uint32_t *nearest, size_t wanted) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = found;
        while (at > 0 && distances[i] < distances[nearest[at - 1]])
            at--;
        if (at == wanted) continue;
        if (found < wanted) found++;
        for (size_t j = found - 1; j > at; j--)
            nearest[j] = nearest[j - 1];
        nearest[at] = (uint32_t)i;
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[RECORDS];
    float *places = workload_random_floats(&workload, 2 * (size_t)n, 1024);
    float *expected = workload_host_alloc(&workload, n, sizeof *expected);
    float *got = workload_host_alloc(&workload, n, sizeof *got);
    float latitude = 300.0f, longitude = 900.0f;
    for (size_t i = 0; i < n; i++) {
        float dx = latitude - places[2 * i], dy = longitude - places[2 * i + 1];
        expected[i] = sqrtf(dx * dx + dy * dy);
    }

    CUdeviceptr device_places = workload_upload(places, 2 * (size_t)n * sizeof *places);
    CUdeviceptr distances = workload_device_alloc(n * sizeof(float));
    workload_launch(&workload, "nearest", workload_cover(n, THREADS),
                    (void *[]){&device_places, &distances, &latitude, &longitude, &n});
    workload_copy_to_host(got, distances, n * sizeof *got);

    size_t wanted = workload.values[NEIGHBOURS];
    uint32_t *nearest_got = workload_host_alloc(&workload, wanted, sizeof *nearest_got);
    uint32_t *nearest_expected = workload_host_alloc(&workload, wanted, sizeof *nearest_expected);
    pick(got, n, nearest_got, wanted);
    pick(expected, n, nearest_expected, wanted);
    bool is_right = workload_compare_floats(&workload, got, expected, n, 0.0f) &&
                    workload_compare_words(&workload, nearest_got, nearest_expected, wanted);
    return workload_finish(&workload, is_right, "distances", n);
}
