/* c = a + b over `size` floats. Sums of whole numbers below 1,000 are exact, and so compared. */
#include "common/workload.h"

#include <stdlib.h>

enum { THREADS = 256 };

static const WorkloadInfo INFO = {
    .name = "vecadd",
    .summary = "Adds two vectors, one element per thread.",
    .size_meaning = "elements",
    .default_size = 1048576,
    .largest_size = 1u << 28,
    .default_seed = 1,
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.size;
    size_t size_bytes = n * sizeof(float);
    float *a = workload_random_floats(&workload, n, 1000);
    float *b = workload_random_floats(&workload, n, 1000);
    float *got = workload_host_alloc(n, sizeof *got);
    float *expected = workload_host_alloc(n, sizeof *expected);
    for (size_t i = 0; i < n; i++)
        expected[i] = a[i] + b[i];

    CUdeviceptr device_a = workload_upload(a, size_bytes);
    CUdeviceptr device_b = workload_upload(b, size_bytes);
    CUdeviceptr device_c = workload_device_alloc(size_bytes);
    WorkloadShape shape = {workload_divide_up(n, THREADS), 1, THREADS, 1};
    workload_launch(&workload, shape, (void *[]){&device_a, &device_b, &device_c, &n});
    workload_copy_to_host(got, device_c, size_bytes);

    bool is_right = workload_compare_floats(&workload, got, expected, n, 0.0f);
    free(a);
    free(b);
    free(got);
    free(expected);
    return workload_finish(&workload, is_right, "sums", n);
}
