/* c = a + b. Sums of whole numbers below 1,000 are exact, and so is the comparison. */
#include "common/workload.h"

enum { ELEMENTS, BLOCK };

static const WorkloadInfo INFO = {
    .name = "vecadd",
    .summary = "Adds two vectors, one element per thread.",
    .parameters =
        {
            [ELEMENTS] = {"elements", "of each vector", {1000, 262144, 2097152}, 1u << 28, 0},
            [BLOCK] = {"block", "threads in a CTA", {256, 256, 256}, 1024, 32},
        },
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[ELEMENTS];
    float *a = workload_random_floats(&workload, n, 1000);
    float *b = workload_random_floats(&workload, n, 1000);
    float *expected = workload_host_alloc(&workload, n, sizeof *expected);
    for (size_t i = 0; i < n; i++)
        expected[i] = a[i] + b[i];

    CUdeviceptr device_a = workload_upload(a, n * sizeof *a);
    CUdeviceptr device_b = workload_upload(b, n * sizeof *b);
    CUdeviceptr device_c = workload_device_alloc(n * sizeof(float));
    workload_launch(&workload, "vecadd", workload_cover(n, workload.values[BLOCK]),
                    (void *[]){&device_a, &device_b, &device_c, &n});

    bool is_right = workload_verify_floats(&workload, device_c, expected, n, 0.0f);
    return workload_finish(&workload, is_right, "sums", n);
}
