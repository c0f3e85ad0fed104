/* Scalar products of pairs of vectors. Elements are whole numbers below 8, so that sums are exact
 * in a float, and so is the comparison. */
#include "common/workload.h"

enum { THREADS = 256, MOST_CTAS = 128 };

enum { VECTORS, ELEMENTS, STEPPING };

static const WorkloadInfo INFO = {
    .name = "scalarprod",
    .summary = "Scalar products of many pairs of vectors, two per thread block.",
    .parameters =
        {
            [VECTORS] = {"vectors", "pairs of them", {7, 128, 256}, 4096, 0},
            [ELEMENTS] = {"elements", "of a vector", {1500, 2048, 4096}, 65536, 0},
            [STEPPING] =
                {"stepping", "1: advancing pointers, as compiled in 2010", {0, 0, 0}, 1, 0},
        },
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned vectors = workload.values[VECTORS], elements = workload.values[ELEMENTS];
    size_t count = (size_t)vectors * elements;
    float *a = workload_random_floats(&workload, count, 8);
    float *b = workload_random_floats(&workload, count, 8);
    float *expected = workload_host_alloc(&workload, vectors, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        expected[i / elements] += a[i] * b[i];

    CUdeviceptr device_a = workload_upload(a, count * sizeof *a);
    CUdeviceptr device_b = workload_upload(b, count * sizeof *b);
    CUdeviceptr products = workload_device_alloc(vectors * sizeof(float));
    unsigned ctas = vectors < MOST_CTAS ? vectors : MOST_CTAS;
    const char *kernel = workload.values[STEPPING] ? "scalarprod_stepping" : "scalarprod";
    workload_launch(&workload, kernel, (WorkloadShape){ctas, 1, THREADS, 1},
                    (void *[]){&device_a, &device_b, &products, &vectors, &elements});

    bool is_right = workload_verify_floats(&workload, products, expected, vectors, 0.0f);
    return workload_finish(&workload, is_right, "products", vectors);
}
