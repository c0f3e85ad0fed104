/* Tracks points through frames of a shifting pattern: every point must follow the shift. Pixels are
 * whole numbers, so the convolution is exact. A tolerance for scores covers the device's
 * approximate square root. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 256, SPACING = 48, ACROSS = 10, MOST_SHIFT = 3 };

static const float TOLERANCE = 1e-4f;

enum { POINTS, FRAMES, TEMPLATE, WINDOW, OUTPUTS };

static const WorkloadInfo INFO = {
    .name = "heartwall",
    .summary = "Tracks points through ultrasound frames by correlation.",
    .parameters =
        {
            [POINTS] = {"points", "to follow", {3, 11, 51}, 5000, 0},
            [FRAMES] = {"frames", "after the first", {2, 1, 1}, 10, 0},
            [TEMPLATE] =
                {"template", "pixels from a template's centre to its edge", {5, 8, 25}, 25, 0},
            [WINDOW] = {"window", "pixels from a window's centre to its edge", {9, 13, 40}, 100, 0},
            [OUTPUTS] = {"outputs",
                         "computed of each convolution, without later steps; 0: everything",
                         {0, 0, 3930},
                         1u << 16,
                         0},
        },
};

typedef struct Point {
    int32_t row, column; /* of the centre */
} Point;

/* Sides of each point's arrays, in pixels. */
typedef struct Sizes {
    int side, window; /* of a template, of a window */
    int across;       /* sums of the convolution in a row */
    int places;       /* of a template in a window, in a row */
} Sizes;

/* Noise of 6 bits. All frames are parts of it, each shifted relative to the previous one. */
typedef struct Scene {
    int width, height;
    float *pixels;
} Scene;

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

/* The first `outputs` sums of the convolution of a window with a template that is rotated by half a
 * turn. */
static void convolve(const float *corner, int width, const float *pattern, Sizes s, int outputs,
                     float *sums) {
    for (int i = 0; i < outputs; i++) {
        int y = i / s.across, x = i % s.across;
        float sum = 0.0f;
        for (int row = most(y - s.window + 1, 0); row <= least(y, s.side - 1); row++)
            for (int column = most(x - s.window + 1, 0); column <= least(x, s.side - 1); column++)
                sum += pattern[(s.side - 1 - row) * s.side + s.side - 1 - column] *
                       corner[(y - row) * width + x - column];
        sums[i] = sum;
    }
}

static float score_place(const float *patch, int width, const float *pattern, int side) {
    int64_t product = 0, sum = 0, squares = 0, pattern_sum = 0, pattern_squares = 0;
    for (int i = 0; i < side * side; i++) {
        int pixel = (int)patch[i / side * width + i % side], wanted = (int)pattern[i];
        product += pixel * wanted;
        sum += pixel;
        squares += pixel * pixel;
        pattern_sum += wanted;
        pattern_squares += wanted * wanted;
    }
    double pixels = side * side, spread = (double)squares - (double)(sum * sum) / pixels;
    double pattern_spread = (double)pattern_squares - (double)(pattern_sum * pattern_sum) / pixels;
    double covariance = (double)product - (double)(sum * pattern_sum) / pixels;
    return (float)(covariance / sqrt(fmax(spread * pattern_spread, 1.0)));
}

/* The scores of all positions in a point's window, and the new position of the point. */
static Point follow(const float *corner, int width, const float *pattern, Sizes s, Point point,
                    float *scores) {
    int best = 0, reach = s.window / 2 - s.side / 2;
    for (int i = 0; i < s.places * s.places; i++) {
        const float *patch = corner + i / s.places * width + i % s.places;
        scores[i] = score_place(patch, width, pattern, s.side);
        if (scores[i] > scores[best]) best = i;
    }
    return (Point){point.row + best / s.places - reach, point.column + best % s.places - reach};
}

static int margin_of(Sizes s, int frames) { return s.window / 2 + MOST_SHIFT * frames; }

static Scene generate_scene(Workload *workload, Sizes s) {
    int rows = (int)workload_divide_up(workload->values[POINTS], ACROSS);
    int slack = 2 * margin_of(s, (int)workload->values[FRAMES]);
    Scene scene = {.width = ACROSS * SPACING + slack, .height = rows * SPACING + slack};
    scene.pixels = workload_random_floats(workload, (size_t)scene.width * (size_t)scene.height, 64);
    return scene;
}

static const float *corner_of(const float *view, int width, Point point, int side) {
    return view + (point.row - side / 2) * width + point.column - side / 2;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Sizes s = {.side = 2 * (int)workload.values[TEMPLATE] + 1,
               .window = 2 * (int)workload.values[WINDOW] + 1};
    if (s.window < s.side) workload_fail(INFO.name, "a template is larger than a window");
    s.across = s.side + s.window - 1;
    s.places = s.window - s.side + 1;
    int all = s.across * s.across, outputs = (int)workload.values[OUTPUTS];
    bool is_partial = outputs > 0 && outputs < all;
    if (!is_partial) outputs = all;
    unsigned count = workload.values[POINTS];
    size_t template_pixels = (size_t)(s.side * s.side),
           window_pixels = (size_t)(s.window * s.window);
    size_t score_count = (size_t)(s.places * s.places);
    Scene scene = generate_scene(&workload, s);
    int margin = margin_of(s, (int)workload.values[FRAMES]);
    size_t pixels = (size_t)scene.width * (size_t)scene.height;
    Point *points = workload_host_alloc(&workload, count, sizeof *points);
    float *templates = workload_host_alloc(&workload, count, template_pixels * sizeof(float));
    float *scores = workload_host_alloc(&workload, count, score_count * sizeof *scores);
    float *sums = workload_host_alloc(&workload, count, (size_t)all * sizeof *sums);
    for (unsigned i = 0; i < count; i++) {
        points[i] = (Point){margin + (int32_t)(i / ACROSS * SPACING),
                            margin + (int32_t)(i % ACROSS * SPACING)};
        const float *corner = corner_of(scene.pixels, scene.width, points[i], s.side);
        for (int j = 0; j < s.side * s.side; j++)
            templates[i * template_pixels + (size_t)j] =
                corner[j / s.side * scene.width + j % s.side];
    }

    CUdeviceptr device_points = workload_upload(points, count * sizeof *points);
    CUdeviceptr device_templates =
        workload_upload(templates, count * template_pixels * sizeof(float));
    CUdeviceptr windows = workload_device_alloc(count * window_pixels * sizeof(float));
    CUdeviceptr device_sums = workload_upload_zeros(count * (size_t)all * sizeof(float));
    CUdeviceptr device_scores = 0; /* 0 unless points are tracked */
    if (!is_partial) device_scores = workload_device_alloc(count * score_count * sizeof *scores);
    CUdeviceptr device_frame = workload_device_alloc(pixels * sizeof(float));
    WorkloadShape shape = {count, 1, THREADS, 1};
    bool is_right = true;
    size_t shift = 0; /* of the frame in the scene, in pixels from its start */
    for (unsigned frame = 0; frame < workload.values[FRAMES]; frame++) {
        shift += workload_random(&workload, MOST_SHIFT) * (size_t)scene.width +
                 workload_random(&workload, MOST_SHIFT);
        const float *view = scene.pixels + shift;
        workload_copy_to_device(device_frame, view, (pixels - shift) * sizeof *view);
        workload_launch(&workload, "heartwall_convolve", shape,
                        (void *[]){&device_frame, &device_templates, &device_points, &windows,
                                   &device_sums, &scene.width, &s.side, &s.window, &outputs});
        for (unsigned i = 0; i < count; i++)
            convolve(corner_of(view, scene.width, points[i], s.window), scene.width,
                     templates + i * template_pixels, s, outputs, sums + i * (size_t)all);
        is_right &= workload_verify_floats(&workload, device_sums, sums, count * (size_t)all, 0.0f);
        if (is_partial) continue;
        workload_launch(&workload, "heartwall_follow", shape,
                        (void *[]){&device_templates, &device_points, &windows, &device_sums,
                                   &device_scores, &s.side, &s.window});
        for (unsigned i = 0; i < count; i++)
            points[i] =
                follow(corner_of(view, scene.width, points[i], s.window), scene.width,
                       templates + i * template_pixels, s, points[i], scores + i * score_count);
        is_right &= workload_verify_floats(&workload, device_scores, scores, count * score_count,
                                           TOLERANCE) &&
                    workload_verify_words(&workload, device_points, (uint32_t *)points, 2 * count);
    }
    return workload_finish(&workload, is_right, "sums", count * (size_t)outputs);
}
