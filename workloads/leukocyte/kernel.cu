/* Finds cells in a microscope image. The first kernel scores every pixel as the centre of a circle:
 * the gradient along the circle should point outwards and vary little; it tries seven radii, a CTA
 * per row. The second takes the best score within a disc around every pixel. */
#include "tyto_device.h"

enum { CIRCLES = 7, POINTS = 150, DISC_RADIUS = 12, DISC_SIDE = 2 * DISC_RADIUS + 1 };

__constant__ float cosines[POINTS], sines[POINTS];
__constant__ int offsets_x[CIRCLES][POINTS], offsets_y[CIRCLES][POINTS];
__constant__ unsigned char disc[DISC_SIDE][DISC_SIDE];

/* Rows and columns nearer to the edge than `margin` get no score. */
extern "C" __global__ void leukocyte_score(const float *gradient_x, const float *gradient_y,
                                           float *scores, int width, int margin) {
    int row = (int)blockIdx.x + margin, column = (int)threadIdx.x + margin;
    float best = 0.0f;
    for (int circle = 0; circle < CIRCLES; circle++) {
        float mean = 0.0f, squares = 0.0f;
        for (int i = 0; i < POINTS; i++) {
            int at = (row + offsets_y[circle][i]) * width + column + offsets_x[circle][i];
            float outwards = gradient_x[at] * cosines[i] + gradient_y[at] * sines[i];
            float difference = outwards - mean;
            mean += difference / (float)(i + 1);
            squares += difference * (outwards - mean);
        }
        float variance = squares / (POINTS - 1);
        best = fmaxf(best, mean * mean / variance);
    }
    scores[row * width + column] = best;
}

extern "C" __global__ void leukocyte_dilate(const float *scores, float *dilated, int width,
                                            int height) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= width * height) return;
    int row = i / width, column = i % width;
    float best = 0.0f;
    for (int y = 0; y < DISC_SIDE; y++) {
        int other_row = row + y - DISC_RADIUS;
        if (other_row < 0 || other_row >= height) continue;
        for (int x = 0; x < DISC_SIDE; x++) {
            int other_column = column + x - DISC_RADIUS;
            if (other_column < 0 || other_column >= width || !disc[y][x]) continue;
            best = fmaxf(best, scores[other_row * width + other_column]);
        }
    }
    dilated[i] = best;
}
