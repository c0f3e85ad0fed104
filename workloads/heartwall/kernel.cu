/* Tracks points of a heart's wall from one ultrasound frame to the next, with a CTA of 256 threads
 * per point. The point's template, rotated by half a turn, is convolved with a window around it.
 * The normalised correlation of the template with every position of the window is computed from
 * that. As in Rodinia, the window is copied to global memory, the template is in shared memory, and
 * the convolution includes positions that overlap by only one pixel. */
#include "tyto_device.h"

enum { THREADS = 256, MOST_TEMPLATE = 51 * 51 };

struct Point {
    int row, column; /* of the centre */
};

/* The first `outputs` sums of the convolution of each point's window, of `window` pixels a side,
 * with its template, of `side`. */
extern "C" __global__ void heartwall_convolve(const float *frame, const float *templates,
                                              const Point *points, float *windows, float *sums,
                                              int width, int side, int window, int outputs) {
    __shared__ float turned[MOST_TEMPLATE];
    int thread = (int)threadIdx.x, point = (int)blockIdx.x, across = side + window - 1;
    int top = points[point].row - window / 2, left = points[point].column - window / 2;
    float *own = windows + point * window * window;
    for (int i = thread; i < window * window; i += THREADS)
        own[i] = frame[(top + i / window) * width + left + i % window];
    __syncthreads();
    for (int i = thread; i < side * side; i += THREADS)
        turned[i] = templates[point * side * side + side * side - 1 - i];
    __syncthreads();

    for (int i = thread; i < outputs; i += THREADS) {
        int y = i / across, x = i % across;
        int first_y = max(y - window + 1, 0), last_y = min(y, side - 1);
        int first_x = max(x - window + 1, 0), last_x = min(x, side - 1);
        float sum = 0.0f;
        for (int row = first_y; row <= last_y; row++)
            for (int column = first_x; column <= last_x; column++)
                sum += turned[row * side + column] * own[(y - row) * window + x - column];
        sums[point * across * across + i] = sum;
    }
}

/* The scores of all positions of the template in the window; the point moves to the best one. */
extern "C" __global__ void heartwall_follow(const float *templates, Point *points,
                                            const float *windows, const float *sums, float *scores,
                                            int side, int window) {
    __shared__ float best_score[THREADS];
    __shared__ int best_place[THREADS];
    int thread = (int)threadIdx.x, point = (int)blockIdx.x, across = side + window - 1;
    int pixels = side * side, places = window - side + 1;
    const float *pattern = templates + point * pixels, *own = windows + point * window * window;
    float pattern_sum = 0.0f, pattern_squares = 0.0f;
    for (int i = 0; i < pixels; i++) {
        pattern_sum += pattern[i];
        pattern_squares += pattern[i] * pattern[i];
    }
    float pattern_spread = pattern_squares - pattern_sum * pattern_sum / (float)pixels;
    best_score[thread] = -2.0f;
    best_place[thread] = 0;
    for (int place = thread; place < places * places; place += THREADS) {
        int row = place / places, column = place % places;
        float sum = 0.0f, squares = 0.0f;
        for (int i = 0; i < pixels; i++) {
            float pixel = own[(row + i / side) * window + column + i % side];
            sum += pixel;
            squares += pixel * pixel;
        }
        float product = sums[(point * across + row + side - 1) * across + column + side - 1];
        float spread = squares - sum * sum / (float)pixels;
        float score = (product - sum * pattern_sum / (float)pixels) *
                      rsqrtf(fmaxf(spread * pattern_spread, 1.0f));
        scores[point * places * places + place] = score;
        if (score > best_score[thread]) {
            best_score[thread] = score;
            best_place[thread] = place;
        }
    }
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half && best_score[thread + half] > best_score[thread]) {
            best_score[thread] = best_score[thread + half];
            best_place[thread] = best_place[thread + half];
        }
    }
    if (thread > 0) return;
    int reach = window / 2 - side / 2;
    points[point].row += best_place[0] / places - reach;
    points[point].column += best_place[0] % places - reach;
}
