/* Removes noise from an image of packed RGBA pixels: every pixel becomes a mean over a window of
 * 7 x 7, weighted by nearness in place and in colour, and is mixed with its old value according to
 * how much of the window resembles it. CTAs of 8 x 8 threads, no shared memory. */
#include "tyto_device.h"

enum { RADIUS = 3, SIDE = 2 * RADIUS + 1 };
/* Exponents are whole numbers, so that the comparison with the limit is exact. */
enum { COLOUR_WEIGHT = 1, PLACE_WEIGHT = 200, LIMIT = 6000 };

static __device__ int channel(unsigned pixel, int index) {
    return (int)(pixel >> (8 * index) & 0xff);
}

extern "C" __global__ void denoise(const unsigned *in, unsigned *out, int width, int height) {
    const float decay = 1.0f / 3000.0f, mostly = 0.79f, keep = 0.8f;
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) return;
    unsigned own = in[y * width + x];
    float sum[3] = {}, weights = 0.0f;
    int similar = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int row = min(max(y + dy, 0), height - 1), column = min(max(x + dx, 0), width - 1);
            unsigned pixel = in[row * width + column];
            int exponent = PLACE_WEIGHT * (dx * dx + dy * dy);
            for (int i = 0; i < 3; i++) {
                int difference = channel(pixel, i) - channel(own, i);
                exponent += COLOUR_WEIGHT * difference * difference;
            }
            float weight = __expf(-decay * (float)exponent);
            for (int i = 0; i < 3; i++)
                sum[i] += weight * (float)channel(pixel, i);
            weights += weight;
            similar += exponent < LIMIT;
        }
    float share = (float)similar / (SIDE * SIDE) > mostly ? keep : 1.0f - keep;
    unsigned mixed = 0;
    for (int i = 0; i < 3; i++) {
        float mean = sum[i] / weights;
        float value = mean + (1.0f - share) * ((float)channel(own, i) - mean);
        mixed |= (unsigned)(value + 0.5f) << (8 * i);
    }
    out[y * width + x] = mixed;
}
