/* Counts of each of the 256 values among random bytes. */
#include "common/workload.h"

enum { BINS = 256, MOST_CTAS = 120, BYTES_PER_THREAD = 16 };

enum { BYTES };

static const WorkloadInfo INFO = {
    .name = "histogram",
    .summary = "Counts byte values with atomics in shared memory.",
    .parameters =
        {
            [BYTES] = {"bytes", "to count", {9999, 1048576, 4194304}, 1u << 28, 0},
        },
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[BYTES];
    uint8_t *values = workload_random_bytes(&workload, n, BINS);
    uint32_t expected[BINS] = {0};
    for (size_t i = 0; i < n; i++)
        expected[values[i]]++;

    CUdeviceptr device_values = workload_upload(values, n);
    CUdeviceptr device_bins = workload_upload_zeros(sizeof expected);
    unsigned ctas = workload_divide_up(n, BINS * BYTES_PER_THREAD);
    if (ctas > MOST_CTAS) ctas = MOST_CTAS;
    workload_launch(&workload, "histogram", (WorkloadShape){ctas, 1, BINS, 1},
                    (void *[]){&device_values, &device_bins, &n});

    bool is_right = workload_verify_words(&workload, device_bins, expected, BINS);
    return workload_finish(&workload, is_right, "bytes counted and", n);
}
