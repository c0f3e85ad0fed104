/* The sum of `size` floats in two launches: many CTAs to one partial sum each, then one CTA over
 * those. The reference adds up in double; the tolerance covers the kernel's roundings. */
#include "common/workload.h"

#include <stdlib.h>

enum { THREADS = 256, MOST_CTAS = 256, ELEMENTS_PER_THREAD = 4 };

static const float TOLERANCE = 1e-5f;

static const WorkloadInfo INFO = {
    .name = "reduction",
    .summary = "Sums an array by a tree in shared memory, in two launches.",
    .size_meaning = "elements",
    .default_size = 1048576,
    .largest_size = 1u << 28,
    .default_seed = 3,
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.size;
    float *values = workload_random_floats(&workload, n, 1000);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (double)values[i];

    unsigned ctas = workload_divide_up(n, THREADS * ELEMENTS_PER_THREAD);
    if (ctas > MOST_CTAS) ctas = MOST_CTAS;
    CUdeviceptr device_values = workload_upload(values, n * sizeof(float));
    CUdeviceptr device_sums = workload_device_alloc(ctas * sizeof(float));
    CUdeviceptr device_sum = workload_device_alloc(sizeof(float));
    workload_launch(&workload, (WorkloadShape){ctas, 1, THREADS, 1},
                    (void *[]){&device_values, &device_sums, &n});
    workload_launch(&workload, (WorkloadShape){1, 1, THREADS, 1},
                    (void *[]){&device_sums, &device_sum, &ctas});

    float got = 0.0f, expected = (float)sum;
    workload_copy_to_host(&got, device_sum, sizeof got);
    bool is_right = workload_compare_floats(&workload, &got, &expected, 1, TOLERANCE);
    free(values);
    return workload_finish(&workload, is_right, "elements summed and", n);
}
