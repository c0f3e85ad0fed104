/* Dyadic convolution, out[i] = sum over k of data[i xor k] kernel[k], by the fast Walsh transform
 * of both, their product, and the transform back. The reference sums directly; a tolerance covers
 * the rounding of three transforms. */
#include "common/workload.h"

enum { THREADS = 256, MODULATE_CTAS = 128, LOG2_LARGEST_PART = 11, KERNEL_ELEMENTS = 128 };

static const float TOLERANCE = 1e-3f;

enum { LOG2_ELEMENTS };

static const WorkloadInfo INFO = {
    .name = "walsh",
    .summary = "Dyadic convolution by the fast Walsh transform.",
    .parameters =
        {
            [LOG2_ELEMENTS] = {"log2-elements", "of the data, at least 7", {13, 15, 18}, 24, 0},
        },
};

static void transform(const Workload *workload, CUdeviceptr data, unsigned log2_elements) {
    unsigned log2_size = log2_elements;
    for (; log2_size > LOG2_LARGEST_PART; log2_size -= 2) {
        unsigned stride = 1u << (log2_size - 2);
        WorkloadShape shape = {stride / THREADS, 1u << (log2_elements - log2_size), THREADS, 1};
        workload_launch(workload, "walsh_global", shape, (void *[]){&data, &stride});
    }
    WorkloadShape shape = {1u << (log2_elements - log2_size), 1, 1u << (log2_size - 2), 1};
    workload_launch(workload, "walsh_shared", shape, (void *[]){&data, &log2_size});
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned log2_elements = workload.values[LOG2_ELEMENTS];
    if (log2_elements < 7) log2_elements = 7;
    unsigned n = 1u << log2_elements;
    float *data = workload_random_fractions(&workload, n, 0.0f, 1.0f);
    float *kernel = workload_random_fractions(&workload, KERNEL_ELEMENTS, 0.0f, 1.0f);

    CUdeviceptr device_data = workload_upload(data, n * sizeof *data);
    CUdeviceptr device_kernel = workload_upload_zeros(n * sizeof *kernel);
    workload_copy_to_device(device_kernel, kernel, KERNEL_ELEMENTS * sizeof *kernel);
    transform(&workload, device_kernel, log2_elements);
    transform(&workload, device_data, log2_elements);
    workload_launch(&workload, "walsh_modulate", (WorkloadShape){MODULATE_CTAS, 1, THREADS, 1},
                    (void *[]){&device_data, &device_kernel, &n});
    transform(&workload, device_data, log2_elements);

    float *expected = workload_host_alloc(&workload, n, sizeof *expected);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < KERNEL_ELEMENTS; k++)
            expected[i] += data[i ^ k] * kernel[k];
    bool is_right = workload_verify_floats(&workload, device_data, expected, n, TOLERANCE);
    return workload_finish(&workload, is_right, "elements", n);
}
