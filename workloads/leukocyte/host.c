/* Scores an image of bright discs and noise for cells. Sums in another rounding call for the
 * tolerance. */
#include "common/workload.h"

#include <math.h>

enum { CIRCLES = 7, POINTS = 150, LEAST_RADIUS = 8, RADIUS_STEP = 2, MARGIN = 22 };
enum { DISC_RADIUS = 12, DISC_SIDE = 2 * DISC_RADIUS + 1, DILATE_THREADS = 176 };

static const float TOLERANCE = 1e-3f;

enum { WIDTH, HEIGHT, CELLS };

static const WorkloadInfo INFO = {
    .name = "leukocyte",
    .summary = "Finds cells in an image by gradients along circles.",
    .parameters =
        {
            [WIDTH] = {"width", "of the image, 45 to 556", {50, 76, 140}, 556, 0},
            [HEIGHT] = {"height", "of the image, at least 45", {47, 60, 76}, 4096, 0},
            [CELLS] = {"cells", "in the image", {2, 4, 12}, 1000, 0},
        },
};

/* As the kernel's constant memory has them. */
typedef struct Tables {
    float cosines[POINTS], sines[POINTS];
    int32_t offsets_x[CIRCLES][POINTS], offsets_y[CIRCLES][POINTS];
    uint8_t disc[DISC_SIDE][DISC_SIDE];
} Tables;

static void fill_tables(Tables *tables) {
    for (int i = 0; i < POINTS; i++) {
        double angle = 2.0 * M_PI * i / POINTS;
        tables->cosines[i] = (float)cos(angle);
        tables->sines[i] = (float)sin(angle);
        for (int circle = 0; circle < CIRCLES; circle++) {
            double radius = LEAST_RADIUS + RADIUS_STEP * circle;
            tables->offsets_x[circle][i] = (int32_t)lrint(radius * cos(angle));
            tables->offsets_y[circle][i] = (int32_t)lrint(radius * sin(angle));
        }
    }
    for (int i = 0; i < DISC_SIDE * DISC_SIDE; i++) {
        int x = i % DISC_SIDE - DISC_RADIUS, y = i / DISC_SIDE - DISC_RADIUS;
        tables->disc[i / DISC_SIDE][i % DISC_SIDE] = x * x + y * y <= DISC_RADIUS * DISC_RADIUS;
    }
}

/* Noise from 0 to 1, and 2 more inside of each cell. */
static float *generate_image(Workload *workload, int width, int height) {
    float *image = workload_random_fractions(workload, (size_t)(width * height), 0.0f, 1.0f);
    for (uint32_t cell = 0; cell < workload->values[CELLS]; cell++) {
        int x = (int)workload_random(workload, (uint32_t)width);
        int y = (int)workload_random(workload, (uint32_t)height);
        int radius = LEAST_RADIUS + (int)workload_random(workload, RADIUS_STEP * CIRCLES);
        for (int i = 0; i < width * height; i++) {
            int dx = i % width - x, dy = i / width - y;
            if (dx * dx + dy * dy <= radius * radius) image[i] += 2.0f;
        }
    }
    return image;
}

/* Half the difference of the pixels `step` before and after, 0 where there is none. */
static float *compute_gradient(Workload *workload, const float *image, int count, int step) {
    float *gradient = workload_host_alloc(workload, (size_t)count, sizeof *gradient);
    for (int i = step; i < count - step; i++)
        gradient[i] = 0.5f * (image[i + step] - image[i - step]);
    return gradient;
}

static float score_pixel(const Tables *tables, const float *gradient_x, const float *gradient_y,
                         int width, int pixel) {
    float best = 0.0f;
    for (int circle = 0; circle < CIRCLES; circle++) {
        float mean = 0.0f, squares = 0.0f;
        for (int i = 0; i < POINTS; i++) {
            int at = pixel + tables->offsets_y[circle][i] * width + tables->offsets_x[circle][i];
            float outwards =
                gradient_x[at] * tables->cosines[i] + gradient_y[at] * tables->sines[i];
            float difference = outwards - mean;
            mean += difference / (float)(i + 1);
            squares += difference * (outwards - mean);
        }
        best = fmaxf(best, mean * mean / (squares / (POINTS - 1)));
    }
    return best;
}

static float dilate_pixel(const Tables *tables, const float *scores, int width, int height,
                          int pixel) {
    float best = 0.0f;
    for (int i = 0; i < DISC_SIDE * DISC_SIDE; i++) {
        int row = pixel / width + i / DISC_SIDE - DISC_RADIUS;
        int column = pixel % width + i % DISC_SIDE - DISC_RADIUS;
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
        if (tables->disc[i / DISC_SIDE][i % DISC_SIDE])
            best = fmaxf(best, scores[row * width + column]);
    }
    return best;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    int width = (int)workload.values[WIDTH], height = (int)workload.values[HEIGHT];
    if (width <= 2 * MARGIN) width = 2 * MARGIN + 1;
    if (height <= 2 * MARGIN) height = 2 * MARGIN + 1;
    int count = width * height, margin = MARGIN;
    size_t size_bytes = (size_t)count * sizeof(float);
    Tables tables;
    fill_tables(&tables);
    float *image = generate_image(&workload, width, height);
    float *gradient_x = compute_gradient(&workload, image, count, 1);
    float *gradient_y = compute_gradient(&workload, image, count, width);

    workload_set_variable(&workload, "cosines", tables.cosines, sizeof tables.cosines);
    workload_set_variable(&workload, "sines", tables.sines, sizeof tables.sines);
    workload_set_variable(&workload, "offsets_x", tables.offsets_x, sizeof tables.offsets_x);
    workload_set_variable(&workload, "offsets_y", tables.offsets_y, sizeof tables.offsets_y);
    workload_set_variable(&workload, "disc", tables.disc, sizeof tables.disc);
    CUdeviceptr device_x = workload_upload(gradient_x, size_bytes);
    CUdeviceptr device_y = workload_upload(gradient_y, size_bytes);
    CUdeviceptr scores = workload_upload_zeros(size_bytes);
    CUdeviceptr dilated = workload_device_alloc(size_bytes);
    unsigned rows = (unsigned)(height - 2 * MARGIN), columns = (unsigned)(width - 2 * MARGIN);
    workload_launch(&workload, "leukocyte_score", (WorkloadShape){rows, 1, columns, 1},
                    (void *[]){&device_x, &device_y, &scores, &width, &margin});
    workload_launch(&workload, "leukocyte_dilate", workload_cover((unsigned)count, DILATE_THREADS),
                    (void *[]){&scores, &dilated, &width, &height});

    float *expected_scores = workload_host_alloc(&workload, (size_t)count, sizeof(float));
    float *expected = workload_host_alloc(&workload, (size_t)count, sizeof(float));
    for (int i = 0; i < count; i++) {
        int row = i / width, column = i % width;
        bool is_scored =
            row >= MARGIN && row < height - MARGIN && column >= MARGIN && column < width - MARGIN;
        if (is_scored) expected_scores[i] = score_pixel(&tables, gradient_x, gradient_y, width, i);
    }
    for (int i = 0; i < count; i++)
        expected[i] = dilate_pixel(&tables, expected_scores, width, height, i);
    bool is_right =
        workload_verify_floats(&workload, scores, expected_scores, (size_t)count, TOLERANCE) &&
        workload_verify_floats(&workload, dilated, expected, (size_t)count, TOLERANCE);
    return workload_finish(&workload, is_right, "scores", (size_t)count);
}
