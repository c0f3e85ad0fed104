/* A separable filter of 17 taps over an image. Pixels and taps are small whole numbers, so that
 * sums are exact in a float, and so is the comparison. */
#include "common/workload.h"

enum { RADIUS = 8, TAPS = 2 * RADIUS + 1, TILES = 8 };
enum { ROWS_X = 16, ROWS_Y = 4, COLUMNS_X = 16, COLUMNS_Y = 8 };

enum { WIDTH, HEIGHT, IN_TURN, RUNS };

static const WorkloadInfo INFO = {
    .name = "convolution",
    .summary = "Filters an image by a separable filter of radius 8, rows then columns.",
    .parameters =
        {
            [WIDTH] = {"width", "of the image", {128, 256, 1024}, 8192, ROWS_X *TILES},
            [HEIGHT] = {"height", "of the image", {64, 256, 768}, 8192, COLUMNS_Y *TILES},
            [IN_TURN] = {"in-turn",
                         "1: weights and pixels read when they are used, as compiled in 2010",
                         {0, 0, 0},
                         1,
                         0},
            [RUNS] = {"runs", "of both kernels", {1, 1, 1}, 100, 0},
        },
};

/* Filters along one direction: `count` pixels with distance `stride`, in each of `lines` lines with
 * distance `line_stride`. */
static void filter(const float *taps, const float *in, float *out, int count, int stride, int lines,
                   int line_stride) {
    for (int line = 0; line < lines; line++)
        for (int i = 0; i < count; i++) {
            float sum = 0.0f;
            for (int tap = -RADIUS; tap <= RADIUS; tap++)
                if (i + tap >= 0 && i + tap < count)
                    sum += taps[RADIUS - tap] * in[line * line_stride + (i + tap) * stride];
            out[line * line_stride + i * stride] = sum;
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned width = workload.values[WIDTH], height = workload.values[HEIGHT];
    size_t count = (size_t)width * height, size_bytes = count * sizeof(float);
    float *taps = workload_random_floats(&workload, TAPS, 8);
    float *image = workload_random_floats(&workload, count, 16);

    workload_set_variable(&workload, "taps", taps, TAPS * sizeof *taps);
    CUdeviceptr device_image = workload_upload(image, size_bytes);
    CUdeviceptr device_rows = workload_device_alloc(size_bytes);
    CUdeviceptr device_out = workload_device_alloc(size_bytes);
    WorkloadShape rows_shape = {width / (ROWS_X * TILES), height / ROWS_Y, ROWS_X, ROWS_Y};
    WorkloadShape columns_shape = {width / COLUMNS_X, height / (COLUMNS_Y * TILES), COLUMNS_X,
                                   COLUMNS_Y};
    bool in_turn = workload.values[IN_TURN];
    for (unsigned run = 0; run < workload.values[RUNS]; run++) {
        workload_launch(&workload, in_turn ? "convolution_rows_in_turn" : "convolution_rows",
                        rows_shape, (void *[]){&device_image, &device_rows, &width});
        workload_launch(&workload, in_turn ? "convolution_columns_in_turn" : "convolution_columns",
                        columns_shape, (void *[]){&device_rows, &device_out, &width, &height});
    }

    float *rows = workload_host_alloc(&workload, count, sizeof *rows);
    float *expected = workload_host_alloc(&workload, count, sizeof *expected);
    filter(taps, image, rows, (int)width, 1, (int)height, (int)width);
    filter(taps, rows, expected, (int)height, (int)width, (int)width, 1);
    bool is_right = workload_verify_floats(&workload, device_out, expected, count, 0.0f);
    return workload_finish(&workload, is_right, "pixels", count);
}
