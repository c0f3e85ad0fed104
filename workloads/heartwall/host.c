/* Follows points through frames that shift a pattern: every point must follow the shift. Scores are
 * compared with a tolerance, which covers the device's approximate square root; the pixels are
 * whole numbers, so that the sums behind them are exact. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 256, TEMPLATE = 25, WINDOW = 41, PLACES = WINDOW - TEMPLATE + 1 };
enum { TEMPLATE_PIXELS = TEMPLATE * TEMPLATE, SCORES = PLACES * PLACES };
enum { SPACING = 48, MARGIN = 40, ACROSS = 10, MOST_SHIFT = 3 };

static const float TOLERANCE = 1e-4f;

enum { POINTS, FRAMES };

static const WorkloadInfo INFO = {
    .name = "heartwall",
    .summary = "Follows points through ultrasound frames by correlation.",
    .parameters =
        {
            [POINTS] = {"points", "to follow", {3, 11, 51}, 5000, 0},
            [FRAMES] = {"frames", "after the first", {2, 1, 1}, 10, 0},
        },
};

typedef struct Point {
    int32_t row, column; /* of the centre */
} Point;

/* Noise of 6 bits. All frames are stretches of it, each shifted against the one before. */
typedef struct Scene {
    int width, height;
    uint8_t *pixels;
} Scene;

static float score_place(const uint8_t *patch, size_t stride, const uint8_t *pattern) {
    int64_t product = 0, sum = 0, squares = 0, pattern_sum = 0, pattern_squares = 0;
    for (size_t i = 0; i < TEMPLATE_PIXELS; i++) {
        int pixel = patch[i / TEMPLATE * stride + i % TEMPLATE];
        product += pixel * pattern[i];
        sum += pixel;
        squares += pixel * pixel;
        pattern_sum += pattern[i];
        pattern_squares += pattern[i] * pattern[i];
    }
    double spread = (double)squares - (double)(sum * sum) / TEMPLATE_PIXELS;
    double pattern_spread =
        (double)pattern_squares - (double)(pattern_sum * pattern_sum) / TEMPLATE_PIXELS;
    double covariance = (double)product - (double)(sum * pattern_sum) / TEMPLATE_PIXELS;
    return (float)(covariance / sqrt(fmax(spread * pattern_spread, 1.0)));
}

/* The scores of all places around a point, and where it moves. */
static Point follow(const uint8_t *frame, size_t width, const uint8_t *pattern, Point point,
                    float *scores) {
    Point corner = {point.row - WINDOW / 2, point.column - WINDOW / 2};
    int best = 0;
    for (int i = 0; i < SCORES; i++) {
        size_t row = (size_t)(corner.row + i / PLACES),
               column = (size_t)(corner.column + i % PLACES);
        scores[i] = score_place(frame + row * width + column, width, pattern);
        if (scores[i] > scores[best]) best = i;
    }
    return (Point){corner.row + best / PLACES + TEMPLATE / 2,
                   corner.column + best % PLACES + TEMPLATE / 2};
}

static Scene generate_scene(Workload *workload) {
    int rows = (int)workload_divide_up(workload->values[POINTS], ACROSS);
    int slack = 2 * MARGIN + MOST_SHIFT * (int)workload->values[FRAMES];
    Scene scene = {.width = ACROSS * SPACING + slack, .height = rows * SPACING + slack};
    scene.pixels = workload_random_bytes(workload, (size_t)scene.width * (size_t)scene.height, 64);
    return scene;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned count = workload.values[POINTS];
    Scene scene = generate_scene(&workload);
    size_t width = (size_t)scene.width, pixels = width * (size_t)scene.height;
    Point *points = workload_host_alloc(&workload, count, sizeof *points);
    uint8_t *templates = workload_host_alloc(&workload, count, TEMPLATE_PIXELS);
    float *scores = workload_host_alloc(&workload, count, SCORES * sizeof *scores);
    for (unsigned i = 0; i < count; i++) {
        points[i] = (Point){(int32_t)(MARGIN + i / ACROSS * SPACING),
                            (int32_t)(MARGIN + i % ACROSS * SPACING)};
        const uint8_t *corner = scene.pixels + (size_t)(points[i].row - TEMPLATE / 2) * width +
                                (size_t)(points[i].column - TEMPLATE / 2);
        for (size_t j = 0; j < TEMPLATE_PIXELS; j++)
            templates[i * TEMPLATE_PIXELS + j] = corner[j / TEMPLATE * width + j % TEMPLATE];
    }

    CUdeviceptr device_points = workload_upload(points, count * sizeof *points);
    CUdeviceptr device_templates = workload_upload(templates, (size_t)count * TEMPLATE_PIXELS);
    CUdeviceptr device_scores = workload_device_alloc((size_t)count * SCORES * sizeof *scores);
    CUdeviceptr device_frame = workload_device_alloc(pixels);
    bool is_right = true;
    size_t shift = 0; /* of the frame in the scene, in pixels from its start */
    for (unsigned frame = 0; frame < workload.values[FRAMES]; frame++) {
        shift +=
            workload_random(&workload, MOST_SHIFT) * width + workload_random(&workload, MOST_SHIFT);
        const uint8_t *view = scene.pixels + shift;
        workload_copy_to_device(device_frame, view, pixels - shift);
        workload_launch(&workload, "heartwall", (WorkloadShape){count, 1, THREADS, 1},
                        (void *[]){&device_frame, &device_templates, &device_points, &device_scores,
                                   &scene.width});
        for (unsigned i = 0; i < count; i++)
            points[i] = follow(view, width, templates + i * TEMPLATE_PIXELS, points[i],
                               scores + (size_t)i * SCORES);
        is_right &= workload_verify_floats(&workload, device_scores, scores, (size_t)count * SCORES,
                                           TOLERANCE) &&
                    workload_verify_words(&workload, device_points, (uint32_t *)points, 2 * count);
    }
    return workload_finish(&workload, is_right, "scores", (size_t)count * SCORES);
}
