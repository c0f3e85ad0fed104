/* Finds cells in a microscope image, whose columns are stored one after another. The first kernel
 * scores every pixel as the centre of a circle: the gradient along the circle should point outwards
 * and vary little; it tries seven radii, a CTA per column. The second takes the best score within a
 * disc around every pixel. Both read images through linear textures. */
#include "../common/texture.cuh"

enum { CIRCLES = 7, POINTS = 150, MARGIN = 22, DISC_SIDE = 25 };

__constant__ float cosines[POINTS], sines[POINTS];
__constant__ int offsets_x[CIRCLES * POINTS], offsets_y[CIRCLES * POINTS];
__constant__ float disc[DISC_SIDE * DISC_SIDE]; /* 1 inside, 0 outside */

/* Rows and columns nearer to the edge than MARGIN, the largest radius and 2, get no score. */
extern "C" __global__ void leukocyte_score(Texture gradient_x, Texture gradient_y, float *scores,
                                           int height) {
    int column = (int)blockIdx.x + MARGIN, row = (int)threadIdx.x + MARGIN;
    float best = 0.0f;
    for (int circle = 0; circle < CIRCLES; circle++) {
        float sum = 0.0f, mean = 0.0f, squares = 0.0f; /* the running mean */
        for (int i = 0; i < POINTS; i++) {
            int point = circle * POINTS + i;
            int at = (column + offsets_x[point]) * height + row + offsets_y[point];
            float outwards = texture_float(gradient_x, at) * cosines[i] +
                             texture_float(gradient_y, at) * sines[i];
            float difference = outwards - mean;
            sum += outwards;
            mean += difference / (float)(i + 1);
            squares += difference * (outwards - mean);
        }
        float whole_mean = sum / POINTS, variance = squares / (POINTS - 1);
        float score = whole_mean * whole_mean / variance;
        if (score > best) best = score;
    }
    scores[column * height + row] = best;
}

/* The disc's side is an argument; the rows of the result are stored one after another. */
extern "C" __global__ void leukocyte_dilate(Texture scores, float *dilated, int width, int height,
                                            int side) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= width * height) return;
    int row = i % height, column = i / height;
    float best = 0.0f;
    for (int y = 0; y < side; y++) {
        int other_row = row + y - side / 2;
        if (other_row < 0 || other_row >= height) continue;
        for (int x = 0; x < side; x++) {
            int other_column = column + x - side / 2;
            if (other_column < 0 || other_column >= width || disc[y * side + x] == 0.0f) continue;
            float score = texture_float(scores, other_column * height + other_row);
            if (score > best) best = score;
        }
    }
    dilated[row * width + column] = best;
}
