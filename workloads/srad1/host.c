/* Speckle-reducing anisotropic diffusion of an image stored by columns. The noise is measured on
 * the whole image, by a tree of sums in several launches. A tolerance covers the order of the sums,
 * fused multiply-adds, and the device's own exponential and logarithm. */
#include "common/srad.h"

#include <math.h>

enum { THREADS = 512 };

static const float TOLERANCE = 1e-3f, RATE = 0.5f;

enum { ROWS, COLUMNS, ITERATIONS };

static const WorkloadInfo INFO = {
    .name = "srad1",
    .summary = "Speckle-reducing anisotropic diffusion, one pixel per thread, without tiles.",
    .parameters =
        {
            [ROWS] = {"rows", "of the image", {50, 200, 502}, 8192, 0},
            [COLUMNS] = {"columns", "of the image", {43, 180, 458}, 8192, 0},
            [ITERATIONS] = {"iterations", "", {2, 1, 1}, 1000, 0},
        },
};

/* The index before or after each of `count`; the ends replace their missing neighbours. */
static CUdeviceptr upload_neighbours(Workload *workload, unsigned count, int step) {
    uint32_t *indices = workload_host_alloc(workload, count, sizeof *indices);
    for (unsigned i = 0; i < count; i++) {
        bool is_end = step < 0 ? i == 0 : i == count - 1;
        indices[i] = is_end ? i : i + (unsigned)step;
    }
    return workload_upload(indices, count * sizeof *indices);
}

/* Sums of the image's values and of their squares, by launches of the tree. */
static float measure_noise(const Workload *workload, CUdeviceptr image, CUdeviceptr sums,
                           CUdeviceptr squares, unsigned pixels) {
    workload_launch(workload, "srad1_prepare", workload_cover(pixels, THREADS),
                    (void *[]){&image, &sums, &squares, &pixels});
    for (unsigned left = pixels, stride = 1; left > 1; stride *= THREADS) {
        workload_launch(workload, "srad1_reduce", workload_cover(left, THREADS),
                        (void *[]){&sums, &squares, &left, &stride});
        left = workload_divide_up(left, THREADS);
    }
    float sum, square;
    workload_copy_to_host(&sum, sums, sizeof sum);
    workload_copy_to_host(&square, squares, sizeof square);
    return srad_noise((double)sum, (double)square, (double)pixels);
}

static void diffuse_on_device(Workload *workload, CUdeviceptr image, unsigned rows,
                              unsigned columns) {
    unsigned pixels = rows * columns;
    size_t size_bytes = pixels * sizeof(float);
    CUdeviceptr north = upload_neighbours(workload, rows, -1);
    CUdeviceptr south = upload_neighbours(workload, rows, 1);
    CUdeviceptr west = upload_neighbours(workload, columns, -1);
    CUdeviceptr east = upload_neighbours(workload, columns, 1);
    CUdeviceptr buffers[7]; /* sums, squares, differences in four directions, coefficients */
    for (int i = 0; i < 7; i++)
        buffers[i] = workload_device_alloc(size_bytes);
    CUdeviceptr *to = buffers + 2, *coefficients = buffers + 6;

    WorkloadShape shape = workload_cover(pixels, THREADS);
    float rate = RATE;
    workload_launch(workload, "srad1_extract", shape, (void *[]){&image, &pixels});
    for (unsigned i = 0; i < workload->values[ITERATIONS]; i++) {
        float noise = measure_noise(workload, image, buffers[0], buffers[1], pixels);
        workload_launch(workload, "srad1_coefficient", shape,
                        (void *[]){&north, &south, &west, &east, &image, &to[0], &to[1], &to[2],
                                   &to[3], coefficients, &noise, &rows, &pixels});
        workload_launch(workload, "srad1_diffuse", shape,
                        (void *[]){&south, &east, &image, &to[0], &to[1], &to[2], &to[3],
                                   coefficients, &rate, &rows, &pixels});
    }
    workload_launch(workload, "srad1_compress", shape, (void *[]){&image, &pixels});
}

static void diffuse_on_cpu(Workload *workload, float *image, size_t rows, size_t columns) {
    size_t pixels = rows * columns;
    for (size_t i = 0; i < pixels; i++)
        image[i] = expf(image[i] / 255.0f);
    for (unsigned iteration = 0; iteration < workload->values[ITERATIONS]; iteration++) {
        double sum = 0.0, square = 0.0;
        for (size_t i = 0; i < pixels; i++) {
            sum += (double)image[i];
            square += (double)image[i] * (double)image[i];
        }
        /* Stored by columns, so the image is transposed for the reference. */
        srad_step(workload, image, columns, rows, srad_noise(sum, square, (double)pixels), RATE);
    }
    for (size_t i = 0; i < pixels; i++)
        image[i] = logf(image[i]) * 255.0f;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned rows = workload.values[ROWS], columns = workload.values[COLUMNS];
    size_t pixels = (size_t)rows * columns;
    float *image = workload_random_fractions(&workload, pixels, 0.0f, 255.0f);
    CUdeviceptr device_image = workload_upload(image, pixels * sizeof *image);
    diffuse_on_device(&workload, device_image, rows, columns);
    diffuse_on_cpu(&workload, image, rows, columns);
    bool is_right = workload_verify_floats(&workload, device_image, image, pixels, TOLERANCE);
    return workload_finish(&workload, is_right, "pixels", pixels);
}
