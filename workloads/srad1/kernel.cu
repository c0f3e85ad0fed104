/* Speckle-reducing anisotropic diffusion, first version: no tiles, one pixel per thread, images
 * stored by columns, and the neighbours' indices read from memory. As in Rodinia, some sums are in
 * double precision, because of literals without a suffix. */
#include "tyto_device.h"

enum { THREADS = 512 };

static __device__ unsigned own_pixel() { return blockIdx.x * THREADS + threadIdx.x; }

/* From the stored scale of 0 to 255 to intensities, and back. */
extern "C" __global__ void srad1_extract(float *image, unsigned pixels) {
    unsigned i = own_pixel();
    if (i < pixels) image[i] = expf(image[i] / 255.0f);
}

extern "C" __global__ void srad1_compress(float *image, unsigned pixels) {
    unsigned i = own_pixel();
    if (i < pixels) image[i] = logf(image[i]) * 255.0f;
}

extern "C" __global__ void srad1_prepare(const float *image, float *sums, float *squares,
                                         unsigned pixels) {
    unsigned i = own_pixel();
    if (i >= pixels) return;
    sums[i] = image[i];
    squares[i] = image[i] * image[i];
}

/* Adds up 512 elements of each array, at distance `stride`, in the first of them. */
extern "C" __global__ void srad1_reduce(float *sums, float *squares, unsigned elements,
                                        unsigned stride) {
    __shared__ float sum[THREADS], square[THREADS];
    unsigned thread = threadIdx.x, i = own_pixel();
    sum[thread] = i < elements ? sums[i * stride] : 0.0f;
    square[thread] = i < elements ? squares[i * stride] : 0.0f;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread >= half) continue;
        sum[thread] += sum[thread + half];
        square[thread] += square[thread + half];
    }
    if (thread != 0) return;
    sums[i * stride] = sum[0];
    squares[i * stride] = square[0];
}

/* The differences to the four neighbours, and from them the diffusion coefficient. */
extern "C" __global__ void srad1_coefficient(const unsigned *north, const unsigned *south,
                                             const unsigned *west, const unsigned *east,
                                             const float *image, float *to_north, float *to_south,
                                             float *to_west, float *to_east, float *coefficient,
                                             float noise, unsigned rows, unsigned pixels) {
    unsigned i = own_pixel();
    if (i >= pixels) return;
    unsigned row = i % rows, column = i / rows;
    float here = image[i];
    float n = image[north[row] + rows * column] - here;
    float s = image[south[row] + rows * column] - here;
    float w = image[row + rows * west[column]] - here;
    float e = image[row + rows * east[column]] - here;
    float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    float laplacian = (n + s + w + e) / here;
    float numerator = (float)(0.5 * gradient - (1.0 / 16.0) * (laplacian * laplacian));
    float scale = (float)(1 + 0.25 * laplacian);
    float variation = numerator / (scale * scale);
    float excess = (variation - noise) / (noise * (1 + noise));
    to_north[i] = n;
    to_south[i] = s;
    to_west[i] = w;
    to_east[i] = e;
    coefficient[i] = __saturatef((float)(1.0 / (1.0 + excess)));
}

extern "C" __global__ void srad1_diffuse(const unsigned *south, const unsigned *east, float *image,
                                         const float *to_north, const float *to_south,
                                         const float *to_west, const float *to_east,
                                         const float *coefficient, float rate, unsigned rows,
                                         unsigned pixels) {
    unsigned i = own_pixel();
    if (i >= pixels) return;
    unsigned row = i % rows, column = i / rows;
    float here = coefficient[i];
    float below = coefficient[south[row] + rows * column];
    float right = coefficient[row + rows * east[column]];
    float divergence =
        here * to_north[i] + below * to_south[i] + here * to_west[i] + right * to_east[i];
    image[i] = (float)(image[i] + 0.25 * rate * divergence);
}
