/* The sum of an array in two launches: many CTAs compute a partial sum each, then one CTA adds
 * these. The reference adds in double precision; a tolerance covers the kernel's rounding. */
#include "common/workload.h"

enum { THREADS = 256, MOST_CTAS = 256, ELEMENTS_PER_THREAD = 4 };

static const float TOLERANCE = 1e-5f;

enum { ELEMENTS };

static const WorkloadInfo INFO = {
    .name = "reduction",
    .summary = "Sums an array by a tree in shared memory, in two launches.",
    .parameters =
        {
            [ELEMENTS] = {"elements", "of the array", {3001, 1048576, 4194304}, 1u << 28, 0},
        },
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[ELEMENTS];
    float *values = workload_random_floats(&workload, n, 1000);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (double)values[i];

    WorkloadShape shape = workload_cover(n, THREADS * ELEMENTS_PER_THREAD);
    unsigned ctas = shape.grid_x < MOST_CTAS ? shape.grid_x : MOST_CTAS;
    CUdeviceptr device_values = workload_upload(values, n * sizeof(float));
    CUdeviceptr device_sums = workload_device_alloc(ctas * sizeof(float));
    CUdeviceptr device_sum = workload_device_alloc(sizeof(float));
    workload_launch(&workload, "reduction", (WorkloadShape){ctas, 1, THREADS, 1},
                    (void *[]){&device_values, &device_sums, &n});
    workload_launch(&workload, "reduction", (WorkloadShape){1, 1, THREADS, 1},
                    (void *[]){&device_sums, &device_sum, &ctas});

    float expected = (float)sum;
    bool is_right = workload_verify_floats(&workload, device_sum, &expected, 1, TOLERANCE);
    return workload_finish(&workload, is_right, "elements summed and", n);
}
