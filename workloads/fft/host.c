/* Discrete Fourier transforms of random complex sequences. The reference is a recursive transform
 * in double; the tolerance covers single precision and the device's approximate sines. */
#include "common/workload.h"

#include <complex.h>
#include <math.h>

enum { MOST_THREADS = 128 };

static const float TOLERANCE = 1e-4f;

enum { TRANSFORMS, LOG2_POINTS, LOCAL };

static const WorkloadInfo INFO = {
    .name = "fft",
    .summary = "Many fast Fourier transforms, one launch per radix-2 step.",
    .parameters =
        {
            [TRANSFORMS] = {"transforms", "at once", {9, 128, 512}, 4096, 0},
            [LOG2_POINTS] = {"log2-points", "of a transform", {6, 8, 8}, 16, 0},
            [LOCAL] = {"local",
                       "1: a thread's values in local memory, as compiled in 2011",
                       {0, 0, 0},
                       1,
                       0},
        },
};

/* Transforms `points` values with distance `stride`. */
static void transform(const double complex *in, double complex *out, size_t points, size_t stride) {
    if (points == 1) {
        out[0] = in[0];
        return;
    }
    size_t half = points / 2;
    transform(in, out, half, 2 * stride);
    transform(in + stride, out + half, half, 2 * stride);
    for (size_t i = 0; i < half; i++) {
        double complex a = out[i];
        double complex b = out[half + i] * cexp(-2.0 * M_PI * I * (double)i / (double)points);
        out[i] = a + b;
        out[half + i] = a - b;
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned transforms = workload.values[TRANSFORMS], points = 1u << workload.values[LOG2_POINTS];
    size_t count = (size_t)transforms * points;
    float *values = workload_random_fractions(&workload, 2 * count, -1.0f, 1.0f);

    CUdeviceptr in = workload_upload(values, 2 * count * sizeof(float));
    CUdeviceptr out = workload_device_alloc(2 * count * sizeof(float));
    unsigned threads = points / 2 < MOST_THREADS ? points / 2 : MOST_THREADS;
    WorkloadShape shape = {transforms, points / 2 / threads, threads, 1};
    for (unsigned span = 1; span < points; span *= 2) {
        workload_launch(&workload, workload.values[LOCAL] ? "fft_local" : "fft", shape,
                        (void *[]){&in, &out, &points, &span});
        CUdeviceptr swap = in;
        in = out;
        out = swap;
    }

    double complex *before = workload_host_alloc(&workload, count, sizeof *before);
    double complex *after = workload_host_alloc(&workload, count, sizeof *after);
    for (size_t i = 0; i < count; i++)
        before[i] = (double)values[2 * i] + (double)values[2 * i + 1] * I;
    for (size_t i = 0; i < count; i += points)
        transform(before + i, after + i, points, 1);
    for (size_t i = 0; i < count; i++) {
        values[2 * i] = (float)creal(after[i]);
        values[2 * i + 1] = (float)cimag(after[i]);
    }
    bool is_right = workload_verify_floats(&workload, in, values, 2 * count, TOLERANCE);
    return workload_finish(&workload, is_right, "numbers", 2 * count);
}
