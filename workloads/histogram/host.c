/* Counts of each of the 256 values among `size` random bytes. */
#include "common/workload.h"

#include <stdlib.h>

enum { BINS = 256, MOST_CTAS = 120, BYTES_PER_THREAD = 16 };

static const WorkloadInfo INFO = {
    .name = "histogram",
    .summary = "Counts byte values with atomics in shared memory.",
    .size_meaning = "bytes",
    .default_size = 1048576,
    .largest_size = 1u << 28,
    .default_seed = 6,
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.size;
    uint8_t *values = workload_host_alloc(n, sizeof *values);
    uint32_t expected[BINS] = {0}, got[BINS] = {0};
    for (size_t i = 0; i < n; i++) {
        values[i] = (uint8_t)workload_random(&workload, BINS);
        expected[values[i]]++;
    }

    CUdeviceptr device_values = workload_upload(values, n);
    CUdeviceptr device_bins = workload_upload(got, sizeof got);
    unsigned ctas = workload_divide_up(n, BINS * BYTES_PER_THREAD);
    if (ctas > MOST_CTAS) ctas = MOST_CTAS;
    workload_launch(&workload, (WorkloadShape){ctas, 1, BINS, 1},
                    (void *[]){&device_values, &device_bins, &n});
    workload_copy_to_host(got, device_bins, sizeof got);

    bool is_right = workload_compare_words(&workload, got, expected, BINS);
    free(values);
    return workload_finish(&workload, is_right, "bytes counted and", n);
}
