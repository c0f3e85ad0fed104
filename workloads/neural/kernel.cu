/* A convolutional network that reads handwritten digits, one kernel per layer. blockIdx.x is the
 * feature map or the neuron, blockIdx.y the image; the fully connected layers run one thread per
 * CTA. A neuron's first weight is its bias. Loops stay loops, and tables tell where a window's
 * elements are, as in the program that GPGPU-Sim's authors run, of 68 million instructions with
 * 28 digits (Bakhoda et al., ISPASS 2009, table 1). */
#include "tyto_device.h"

enum { WINDOW = 5 * 5, IMAGE_SIDE = 29 };
enum { MAPS_1 = 6, SIDE_1 = 13, MAPS_2 = 50, SIDE_2 = 5, NEURONS_3 = 100, DIGITS = 10 };

static __device__ float squash(float x) {
    return 1.7159f * (1.0f - 2.0f / (1.0f + expf(4.0f / 3.0f * x)));
}

/* Where the elements of a window lie behind its corner, in an image and in a map of layer 1. */
static __constant__ int image_window[WINDOW] = {0,  1,  2,   3,   4,   29,  30, 31, 32,
                                                33, 58, 59,  60,  61,  62,  87, 88, 89,
                                                90, 91, 116, 117, 118, 119, 120};
static __constant__ int map_window[WINDOW] = {0,  1,  2,  3,  4,  13, 14, 15, 16, 17, 26, 27, 28,
                                              29, 30, 39, 40, 41, 42, 43, 52, 53, 54, 55, 56};

static __device__ float connect(const float *inputs, const float *weights, int count) {
    float sum = weights[0];
#pragma unroll 1
    for (int i = 0; i < count; i++)
        sum += inputs[i] * weights[1 + i];
    return sum;
}

/* 13 x 13 threads: every second window of the image. */
extern "C" __global__ void neural_first(const float *images, const float *weights, float *out) {
    int map = (int)blockIdx.x, image = (int)blockIdx.y;
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const float *own = weights + map * (1 + WINDOW);
    const float *corner = images + (image * IMAGE_SIDE + 2 * y) * IMAGE_SIDE + 2 * x;
    float sum = own[0];
#pragma unroll 1
    for (int i = 0; i < WINDOW; i++)
        sum += corner[image_window[i]] * own[1 + i];
    out[((image * MAPS_1 + map) * SIDE_1 + y) * SIDE_1 + x] = squash(sum);
}

/* 5 x 5 threads: every second window of all six maps of the first layer, whose weights for an
 * element of the window lie side by side. */
extern "C" __global__ void neural_second(const float *in, const float *weights, float *out) {
    int map = (int)blockIdx.x, image = (int)blockIdx.y;
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const float *own = weights + map * (1 + MAPS_1 * WINDOW);
    const float *corner = in + (image * MAPS_1 * SIDE_1 + 2 * y) * SIDE_1 + 2 * x;
    float sum = own[0];
#pragma unroll 1
    for (int i = 0; i < WINDOW; i++)
#pragma unroll
        for (int before = 0; before < MAPS_1; before++)
            sum += corner[map_window[i] + before * SIDE_1 * SIDE_1] * own[1 + i * MAPS_1 + before];
    out[((image * MAPS_2 + map) * SIDE_2 + y) * SIDE_2 + x] = squash(sum);
}

extern "C" __global__ void neural_third(const float *in, const float *weights, float *out) {
    const int inputs = MAPS_2 * SIDE_2 * SIDE_2;
    int neuron = (int)blockIdx.x, image = (int)blockIdx.y;
    out[image * NEURONS_3 + neuron] =
        squash(connect(in + image * inputs, weights + neuron * (1 + inputs), inputs));
}

extern "C" __global__ void neural_fourth(const float *in, const float *weights, float *out) {
    int digit = (int)blockIdx.x, image = (int)blockIdx.y;
    out[image * DIGITS + digit] =
        squash(connect(in + image * NEURONS_3, weights + digit * (1 + NEURONS_3), NEURONS_3));
}
