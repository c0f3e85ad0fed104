/* A convolutional network that reads handwritten digits, one kernel per layer. blockIdx.x is the
 * feature map or the neuron, blockIdx.y the image; the fully connected layers run one thread per
 * CTA. A neuron's first weight is its bias. Loops are not unrolled, and tables have the places of a
 * window's elements, as in the program of GPGPU-Sim's authors, which has 68 million instructions
 * with 28 digits (Bakhoda et al., ISPASS 2009, table 1). As there, an index that depends on the
 * image is unsigned and may wrap, so each address is computed separately. A neuron's sum is scaled
 * in double precision before and after its hyperbolic tangent. */
#include "tyto_device.h"

enum { WINDOW = 5 * 5, IMAGE_SIDE = 29, IMAGE = IMAGE_SIDE * IMAGE_SIDE };
enum { MAPS_1 = 6, SIDE_1 = 13, MAP_1 = SIDE_1 * SIDE_1, LAYER_1 = MAPS_1 * MAP_1 };
enum { MAPS_2 = 50, SIDE_2 = 5, MAP_2 = SIDE_2 * SIDE_2, LAYER_2 = MAPS_2 * MAP_2 };
enum { NEURONS_3 = 100, DIGITS = 10 };

/* Below 0.55 an odd polynomial, a least-squares fit of the relative error, which is below 2^-24. */
static __device__ float tangent(float x) {
    float size = fabsf(x), square = x * x;
    if (size >= 0.55f) return copysignf(1.0f - 2.0f / (expf(2.0f * size) + 1.0f), x);
    float sum = fmaf(square, 0.016432008f, -0.052668027f);
    sum = fmaf(square, sum, 0.13320643f);
    sum = fmaf(square, sum, -0.33332942f);
    return fmaf(sum * square, x, x);
}

static __device__ float squash(float sum) {
    return (float)(1.7159 * tangent((float)(0.66666667 * sum)));
}

/* Offsets of the elements of a window from its corner, in an image and in a map of layer 1. */
static __constant__ int image_window[WINDOW] = {0,  1,  2,   3,   4,   29,  30, 31, 32,
                                                33, 58, 59,  60,  61,  62,  87, 88, 89,
                                                90, 91, 116, 117, 118, 119, 120};
static __constant__ int map_window[WINDOW] = {0,  1,  2,  3,  4,  13, 14, 15, 16, 17, 26, 27, 28,
                                              29, 30, 39, 40, 41, 42, 43, 52, 53, 54, 55, 56};

/* The sum of neuron blockIdx.x, over all `count` inputs of image blockIdx.y. */
static __device__ float connect(const float *inputs, const float *weights, int count) {
    int weight = (int)blockIdx.x * (count + 1);
    float sum = 0.0f;
    sum += weights[weight];
    weight++;
#pragma unroll 1
    for (int i = 0; i < count; i++)
        sum += inputs[i + (unsigned)count * blockIdx.y] * weights[weight + i];
    return sum;
}

/* 13 x 13 threads: every second window of the image. */
extern "C" __global__ void neural_first(const float *images, const float *weights, float *out) {
    int map = (int)blockIdx.x, x = (int)threadIdx.x, y = (int)threadIdx.y;
    int weight = map * (1 + WINDOW), left = x * 2, top = y * 2;
    float sum = 0.0f;
    sum += weights[weight];
    weight++;
#pragma unroll 1
    for (int i = 0; i < WINDOW; i++)
        sum += images[top * IMAGE_SIDE + left + image_window[i] + IMAGE * blockIdx.y] *
               weights[weight + i];
    out[MAP_1 * map + y * SIDE_1 + x + LAYER_1 * blockIdx.y] = squash(sum);
}

/* 5 x 5 threads: every second window of all six maps of the first layer. The weights for an element
 * of the window are contiguous. Five unused ones follow them. */
extern "C" __global__ void neural_second(const float *in, const float *weights, float *out) {
    int map = (int)blockIdx.x, x = (int)threadIdx.x, y = (int)threadIdx.y;
    int weight = map * (1 + WINDOW) * MAPS_1, left = x * 2, top = y * 2;
    float sum = 0.0f;
    sum += weights[weight];
    weight++;
#pragma unroll 1
    for (int i = 0; i < WINDOW; i++)
#pragma unroll
        for (int before = 0; before < MAPS_1; before++)
            sum += in[MAP_1 * before + left + SIDE_1 * top + map_window[i] + LAYER_1 * blockIdx.y] *
                   weights[weight + i * MAPS_1 + before];
    out[MAP_2 * map + y * SIDE_2 + x + LAYER_2 * blockIdx.y] = squash(sum);
}

extern "C" __global__ void neural_third(const float *in, const float *weights, float *out) {
    float sum = connect(in, weights, LAYER_2);
    out[(int)blockIdx.x + NEURONS_3 * blockIdx.y] = squash(sum);
}

extern "C" __global__ void neural_fourth(const float *in, const float *weights, float *out) {
    float sum = connect(in, weights, NEURONS_3);
    out[(int)blockIdx.x + DIGITS * blockIdx.y] = squash(sum);
}
