/* Exclusive prefix sums of a large array. */
#include "common/scan.h"

enum { ELEMENTS };

static const WorkloadInfo INFO = {
    .name = "scan",
    .summary = "Prefix sums of a large array by trees in shared memory.",
    .parameters =
        {
            [ELEMENTS] = {"elements", "of the array", {5000, 131072, 524288}, 1u << 28, 0},
        },
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[ELEMENTS];
    uint32_t *values = workload_random_words(&workload, n, 1u << 16);
    uint32_t *expected = workload_host_alloc(&workload, n, sizeof *expected);
    for (size_t i = 1; i < n; i++)
        expected[i] = expected[i - 1] + values[i - 1];

    CUdeviceptr in = workload_upload(values, n * sizeof *values);
    CUdeviceptr out = workload_device_alloc(n * sizeof *values);
    scan(&workload, in, out, n);
    bool is_right = workload_verify_words(&workload, out, expected, n);
    return workload_finish(&workload, is_right, "sums", n);
}
