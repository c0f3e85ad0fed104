/* Scores an image of bright discs and noise for cells. A tolerance covers the different rounding of
 * sums. */
#include "common/workload.h"

#include <math.h>

enum { CIRCLES = 7, POINTS = 150, LEAST_RADIUS = 8, RADIUS_STEP = 2, MARGIN = 22 };
enum { DISC_RADIUS = 12, DISC_SIDE = 2 * DISC_RADIUS + 1, DILATE_THREADS = 176 };

static const float TOLERANCE = 1e-3f;

enum { WIDTH, HEIGHT, CELLS, PHASES };
enum { SCORES_ALONE = 1, ALL };

static const WorkloadInfo INFO = {
    .name = "leukocyte",
    .summary = "Finds cells in an image by gradients along circles.",
    .parameters =
        {
            [WIDTH] = {"width", "of the image, at least 45", {47, 60, 76}, 4096, 0},
            [HEIGHT] = {"height", "of the image, 45 to 556", {50, 76, 219}, 556, 0},
            [CELLS] = {"cells", "in the image", {2, 4, 12}, 1000, 0},
            [PHASES] = {"phases", "1: only scores; 2: also dilates them", {2, 2, 1}, ALL, 0},
        },
};

/* The same layout as in the kernels' constant memory. */
typedef struct Tables {
    float cosines[POINTS], sines[POINTS];
    int32_t offsets_x[CIRCLES][POINTS], offsets_y[CIRCLES][POINTS]; /* in pixels, rounded to 0 */
    float disc[DISC_SIDE][DISC_SIDE];
} Tables;

static void fill_tables(Tables *tables) {
    for (int i = 0; i < POINTS; i++) {
        double angle = 2.0 * M_PI * i / POINTS;
        tables->cosines[i] = (float)cos(angle);
        tables->sines[i] = (float)sin(angle);
        for (int circle = 0; circle < CIRCLES; circle++) {
            double radius = LEAST_RADIUS + RADIUS_STEP * circle;
            tables->offsets_x[circle][i] = (int32_t)(radius * cos(angle));
            tables->offsets_y[circle][i] = (int32_t)(radius * sin(angle));
        }
    }
    for (int i = 0; i < DISC_SIDE * DISC_SIDE; i++) {
        int x = i % DISC_SIDE - DISC_RADIUS, y = i / DISC_SIDE - DISC_RADIUS;
        bool is_inside = x * x + y * y <= DISC_RADIUS * DISC_RADIUS;
        tables->disc[i / DISC_SIDE][i % DISC_SIDE] = is_inside ? 1.0f : 0.0f;
    }
}

/* Noise from 0 to 1, plus 2 inside each cell. Columns are stored one after another. */
static float *generate_image(Workload *workload, int width, int height) {
    float *image = workload_random_fractions(workload, (size_t)(width * height), 0.0f, 1.0f);
    for (uint32_t cell = 0; cell < workload->values[CELLS]; cell++) {
        int x = (int)workload_random(workload, (uint32_t)width);
        int y = (int)workload_random(workload, (uint32_t)height);
        int radius = LEAST_RADIUS + (int)workload_random(workload, RADIUS_STEP * CIRCLES);
        for (int i = 0; i < width * height; i++) {
            int dx = i / height - x, dy = i % height - y;
            if (dx * dx + dy * dy <= radius * radius) image[i] += 2.0f;
        }
    }
    return image;
}

/* Half the difference of the pixels `step` after and before, 0 if one is missing. */
static float *compute_gradient(Workload *workload, const float *image, int count, int step) {
    float *gradient = workload_host_alloc(workload, (size_t)count, sizeof *gradient);
    for (int i = step; i < count - step; i++)
        gradient[i] = 0.5f * (image[i + step] - image[i - step]);
    return gradient;
}

static float score_pixel(const Tables *tables, const float *gradient_x, const float *gradient_y,
                         int height, int pixel) {
    float best = 0.0f;
    for (int circle = 0; circle < CIRCLES; circle++) {
        float sum = 0.0f, mean = 0.0f, squares = 0.0f;
        for (int i = 0; i < POINTS; i++) {
            int at = pixel + tables->offsets_x[circle][i] * height + tables->offsets_y[circle][i];
            float outwards =
                gradient_x[at] * tables->cosines[i] + gradient_y[at] * tables->sines[i];
            float difference = outwards - mean;
            sum += outwards;
            mean += difference / (float)(i + 1);
            squares += difference * (outwards - mean);
        }
        float whole_mean = sum / POINTS, variance = squares / (POINTS - 1);
        float score = whole_mean * whole_mean / variance;
        if (score > best) best = score;
    }
    return best;
}

static float dilate_pixel(const Tables *tables, const float *scores, int width, int height, int row,
                          int column) {
    float best = 0.0f;
    for (int i = 0; i < DISC_SIDE * DISC_SIDE; i++) {
        int other_row = row + i / DISC_SIDE - DISC_RADIUS;
        int other_column = column + i % DISC_SIDE - DISC_RADIUS;
        bool is_there = other_row >= 0 && other_row < height && other_column >= 0 &&
                        other_column < width && tables->disc[i / DISC_SIDE][i % DISC_SIDE] > 0.0f;
        if (is_there) best = fmaxf(best, scores[other_column * height + other_row]);
    }
    return best;
}

/* Dilates the scores on the device and on the host, and compares. */
static bool dilate(Workload *workload, const Tables *tables, CUdeviceptr scores,
                   const float *expected_scores, int width, int height) {
    int side = DISC_SIDE;
    size_t count = (size_t)(width * height);
    CUtexObject texture = workload_bind_texture(scores, count);
    CUdeviceptr dilated = workload_device_alloc(count * sizeof(float));
    workload_launch(workload, "leukocyte_dilate", workload_cover((unsigned)count, DILATE_THREADS),
                    (void *[]){&texture, &dilated, &width, &height, &side});

    float *expected = workload_host_alloc(workload, count, sizeof *expected);
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++)
            expected[row * width + column] =
                dilate_pixel(tables, expected_scores, width, height, row, column);
    return workload_verify_floats(workload, dilated, expected, count, TOLERANCE);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    int width = (int)workload.values[WIDTH], height = (int)workload.values[HEIGHT];
    if (width <= 2 * MARGIN) width = 2 * MARGIN + 1;
    if (height <= 2 * MARGIN) height = 2 * MARGIN + 1;
    size_t count = (size_t)(width * height), size_bytes = count * sizeof(float);
    Tables tables;
    fill_tables(&tables);
    float *image = generate_image(&workload, width, height);
    float *gradient_x = compute_gradient(&workload, image, (int)count, height);
    float *gradient_y = compute_gradient(&workload, image, (int)count, 1);

    workload_set_variable(&workload, "cosines", tables.cosines, sizeof tables.cosines);
    workload_set_variable(&workload, "sines", tables.sines, sizeof tables.sines);
    workload_set_variable(&workload, "offsets_x", tables.offsets_x, sizeof tables.offsets_x);
    workload_set_variable(&workload, "offsets_y", tables.offsets_y, sizeof tables.offsets_y);
    workload_set_variable(&workload, "disc", tables.disc, sizeof tables.disc);
    CUtexObject texture_x = workload_bind_texture(workload_upload(gradient_x, size_bytes), count);
    CUtexObject texture_y = workload_bind_texture(workload_upload(gradient_y, size_bytes), count);
    CUdeviceptr scores = workload_upload_zeros(size_bytes);
    unsigned rows = (unsigned)(height - 2 * MARGIN), columns = (unsigned)(width - 2 * MARGIN);
    workload_launch(&workload, "leukocyte_score", (WorkloadShape){columns, 1, rows, 1},
                    (void *[]){&texture_x, &texture_y, &scores, &height});

    float *expected = workload_host_alloc(&workload, count, sizeof *expected);
    for (int column = MARGIN; column < width - MARGIN; column++)
        for (int row = MARGIN; row < height - MARGIN; row++) {
            int pixel = column * height + row;
            expected[pixel] = score_pixel(&tables, gradient_x, gradient_y, height, pixel);
        }
    bool is_right = workload_verify_floats(&workload, scores, expected, count, TOLERANCE) &&
                    (workload.values[PHASES] == SCORES_ALONE ||
                     dilate(&workload, &tables, scores, expected, width, height));
    return workload_finish(&workload, is_right, "scores", count);
}
