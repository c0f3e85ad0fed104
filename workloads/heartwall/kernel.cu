/* Follows points of a heart's wall from one ultrasound frame to the next, a CTA of 256 threads per
 * point: the normalised correlation of the point's template with every place of a window around it.
 * Sums over the window's patches come from running sums along columns, then rows. */
#include "tyto_device.h"

enum { THREADS = 256, TEMPLATE = 25, WINDOW = 41, PLACES = WINDOW - TEMPLATE + 1 };
enum { TEMPLATE_PIXELS = TEMPLATE * TEMPLATE, SUMS = WINDOW + 1 };

struct Point {
    int row, column; /* of the centre */
};

/* Turns values into sums of all values above and to the left, by one thread per line. */
static __device__ void run_sums(float (*sums)[SUMS], unsigned thread) {
    __syncthreads();
    if (thread < SUMS)
        for (int row = 1; row < SUMS; row++)
            sums[row][thread] += sums[row - 1][thread];
    __syncthreads();
    if (thread < SUMS)
        for (int column = 1; column < SUMS; column++)
            sums[thread][column] += sums[thread][column - 1];
    __syncthreads();
}

static __device__ float patch_sum(const float (*sums)[SUMS], int row, int column) {
    return sums[row + TEMPLATE][column + TEMPLATE] - sums[row][column + TEMPLATE] -
           sums[row + TEMPLATE][column] + sums[row][column];
}

/* scores: PLACES x PLACES of each point; the point moves to the best. */
extern "C" __global__ void heartwall(const unsigned char *frame, const unsigned char *templates,
                                     Point *points, float *scores, int width) {
    __shared__ float window[WINDOW][WINDOW], sums[SUMS][SUMS], squares[SUMS][SUMS];
    __shared__ float pattern[TEMPLATE_PIXELS];
    __shared__ float best_score[THREADS];
    __shared__ int best_place[THREADS];
    unsigned thread = threadIdx.x;
    Point centre = points[blockIdx.x];
    int top = centre.row - WINDOW / 2, left = centre.column - WINDOW / 2;
    for (unsigned i = thread; i < TEMPLATE_PIXELS; i += THREADS)
        pattern[i] = (float)templates[blockIdx.x * TEMPLATE_PIXELS + i];
    for (unsigned i = thread; i < SUMS * SUMS; i += THREADS) {
        int row = (int)(i / SUMS) - 1, column = (int)(i % SUMS) - 1;
        bool is_edge = row < 0 || column < 0;
        float pixel = is_edge ? 0.0f : (float)frame[(top + row) * width + left + column];
        if (!is_edge) window[row][column] = pixel;
        sums[row + 1][column + 1] = pixel;
        squares[row + 1][column + 1] = pixel * pixel;
    }
    run_sums(sums, thread);
    run_sums(squares, thread);

    float pattern_sum = 0.0f, pattern_squares = 0.0f;
    for (int i = 0; i < TEMPLATE_PIXELS; i++) {
        pattern_sum += pattern[i];
        pattern_squares += pattern[i] * pattern[i];
    }
    float pattern_spread = pattern_squares - pattern_sum * pattern_sum / TEMPLATE_PIXELS;
    best_score[thread] = -2.0f;
    best_place[thread] = 0;
    for (int place = (int)thread; place < PLACES * PLACES; place += THREADS) {
        int row = place / PLACES, column = place % PLACES;
        float product = 0.0f;
        for (int y = 0; y < TEMPLATE; y++)
            for (int x = 0; x < TEMPLATE; x++)
                product += window[row + y][column + x] * pattern[y * TEMPLATE + x];
        float sum = patch_sum(sums, row, column);
        float spread = patch_sum(squares, row, column) - sum * sum / TEMPLATE_PIXELS;
        float score = (product - sum * pattern_sum / TEMPLATE_PIXELS) *
                      rsqrtf(fmaxf(spread * pattern_spread, 1.0f));
        scores[blockIdx.x * (PLACES * PLACES) + place] = score;
        if (score > best_score[thread]) {
            best_score[thread] = score;
            best_place[thread] = place;
        }
    }
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half && best_score[thread + half] > best_score[thread]) {
            best_score[thread] = best_score[thread + half];
            best_place[thread] = best_place[thread + half];
        }
    }
    if (thread == 0)
        points[blockIdx.x] = {top + best_place[0] / PLACES + TEMPLATE / 2,
                              left + best_place[0] % PLACES + TEMPLATE / 2};
}
