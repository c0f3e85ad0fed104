/* Denoising by weighted means over windows. The device's approximate exponential may change how a
 * mean is rounded, so channels may differ by one step of 255. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 8, RADIUS = 3, SIDE = 2 * RADIUS + 1 };
enum { COLOUR_WEIGHT = 1, PLACE_WEIGHT = 200, LIMIT = 6000 };

static const float ONE_STEP = 1.0f / 254.0f;

enum { WIDTH, HEIGHT };

static const WorkloadInfo INFO = {
    .name = "denoise",
    .summary = "Removes noise from an image by weighted means over 7 x 7 windows.",
    .parameters =
        {
            [WIDTH] = {"width", "of the image", {45, 128, 256}, 8192, 0},
            [HEIGHT] = {"height", "of the image", {30, 96, 192}, 8192, 0},
        },
};

static int channel(uint32_t pixel, int index) { return (int)(pixel >> (8 * index) & 0xff); }

static int clamp(int value, int limit) {
    return value < 0 ? 0 : value >= limit ? limit - 1 : value;
}

/* A soft pattern with noise on it. */
static uint32_t *generate_image(Workload *workload, int width, int height) {
    uint32_t *image = workload_random_words(workload, (size_t)(width * height), 1u << 24);
    for (int i = 0; i < width * height; i++) {
        uint32_t noise = image[i] & 0x1f1f1f;
        uint32_t red = (uint32_t)(i % width) * 200 / (uint32_t)width;
        uint32_t green = (uint32_t)(i / width / 8 % 2) * 160;
        image[i] = noise + (red | green << 8 | (red ^ 0x7f) << 16);
    }
    return image;
}

/* The three channels of one pixel, each as a fraction of 255. */
static void filter_pixel(const uint32_t *in, int width, int height, int x, int y, float *out) {
    uint32_t own = in[y * width + x];
    float sum[3] = {0}, weights = 0.0f;
    int similar = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        int dx = i % SIDE - RADIUS, dy = i / SIDE - RADIUS;
        uint32_t pixel = in[clamp(y + dy, height) * width + clamp(x + dx, width)];
        int exponent = PLACE_WEIGHT * (dx * dx + dy * dy);
        for (int c = 0; c < 3; c++) {
            int difference = channel(pixel, c) - channel(own, c);
            exponent += COLOUR_WEIGHT * difference * difference;
        }
        float weight = expf((float)-exponent / 3000.0f);
        for (int c = 0; c < 3; c++)
            sum[c] += weight * (float)channel(pixel, c);
        weights += weight;
        similar += exponent < LIMIT;
    }
    float share = (float)similar / (SIDE * SIDE) > 0.79f ? 0.8f : 0.2f;
    for (int c = 0; c < 3; c++) {
        float mean = sum[c] / weights;
        out[c] = floorf(share * mean + (1.0f - share) * (float)channel(own, c) + 0.5f) / 255.0f;
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    int width = (int)workload.values[WIDTH], height = (int)workload.values[HEIGHT];
    size_t pixels = (size_t)width * (size_t)height;
    uint32_t *image = generate_image(&workload, width, height);

    CUtexObject in = workload_upload_texture(image, (size_t)width, (size_t)height,
                                             CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    CUdeviceptr out = workload_device_alloc(pixels * sizeof *image);
    WorkloadShape shape = {workload_divide_up(workload.values[WIDTH], THREADS),
                           workload_divide_up(workload.values[HEIGHT], THREADS), THREADS, THREADS};
    workload_launch(&workload, "denoise", shape, (void *[]){&in, &out, &width, &height});

    uint32_t *filtered = workload_host_alloc(&workload, pixels, sizeof *filtered);
    float *got = workload_host_alloc(&workload, 3 * pixels, sizeof *got);
    float *expected = workload_host_alloc(&workload, 3 * pixels, sizeof *expected);
    workload_copy_to_host(filtered, out, pixels * sizeof *filtered);
    for (int i = 0; i < width * height; i++) {
        filter_pixel(image, width, height, i % width, i / width, expected + 3 * i);
        for (int c = 0; c < 3; c++)
            got[3 * i + c] = (float)channel(filtered[i], c) / 255.0f;
    }
    bool is_right = workload_compare_floats(&workload, got, expected, 3 * pixels, ONE_STEP);
    return workload_finish(&workload, is_right, "pixels", pixels);
}
