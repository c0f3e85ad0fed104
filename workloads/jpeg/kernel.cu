/* Decodes JPEG images after the entropy decoder. The inverse cosine transform makes samples from
 * coefficients, with a CTA of 8 x 8 threads per block; then each thread makes one pixel from a
 * sample of brightness and the colours of its 2 x 2 pixels. All numbers are whole, scaled by 2^12.
 */
#include "tyto_device.h"

enum { SIDE = 8, SCALE_BITS = 12, HALF = 1 << (SCALE_BITS - 1) };

__constant__ int cosines[SIDE][SIDE]; /* [frequency][place] */

static __device__ int clamp_sample(int value) {
    return min(max(value, 0), 255);
}

/* One plane: `coefficients` holds its blocks one after the other, row by row. */
extern "C" __global__ void jpeg_inverse(const short *coefficients, const unsigned short *quantiser,
                                        unsigned char *plane) {
    __shared__ int frequencies[SIDE][SIDE], rows[SIDE][SIDE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y, at = y * SIDE + x;
    int block = (int)(blockIdx.y * gridDim.x + blockIdx.x);
    frequencies[y][x] = coefficients[block * SIDE * SIDE + at] * quantiser[at];
    __syncthreads();
    int sum = HALF;
#pragma unroll
    for (int k = 0; k < SIDE; k++)
        sum += frequencies[y][k] * cosines[k][x];
    rows[y][x] = sum >> SCALE_BITS;
    __syncthreads();
    sum = HALF;
#pragma unroll
    for (int k = 0; k < SIDE; k++)
        sum += rows[k][x] * cosines[k][y];
    int row = (int)blockIdx.y * SIDE + y, column = (int)blockIdx.x * SIDE + x;
    plane[row * (int)gridDim.x * SIDE + column] =
        (unsigned char)clamp_sample((sum >> SCALE_BITS) + 128);
}

/* Packed RGB of every pixel; the factors are those of JFIF, scaled. */
extern "C" __global__ void jpeg_colour(const unsigned char *brightness, const unsigned char *blues,
                                       const unsigned char *reds, unsigned *pixels, int width,
                                       int count) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    int shared = i / width / 2 * (width / 2) + i % width / 2;
    int y = (brightness[i] << SCALE_BITS) + HALF, b = blues[shared] - 128, r = reds[shared] - 128;
    int red = clamp_sample((y + 5743 * r) >> SCALE_BITS);
    int green = clamp_sample((y - 1410 * b - 2925 * r) >> SCALE_BITS);
    int blue = clamp_sample((y + 7258 * b) >> SCALE_BITS);
    pixels[i] = (unsigned)(red | green << 8 | blue << 16);
}
