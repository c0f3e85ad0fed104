/* A convolutional network that reads handwritten digits, one kernel per layer. blockIdx.x is the
 * feature map or the neuron, blockIdx.y the image; the fully connected layers run one thread per
 * CTA. A neuron's first weight is its bias. */
#include "tyto_device.h"

enum { WINDOW = 5, IMAGE_SIDE = 29 };
enum { MAPS_1 = 6, SIDE_1 = 13, MAPS_2 = 50, SIDE_2 = 5, NEURONS_3 = 100, DIGITS = 10 };

static __device__ float squash(float x) {
    return 1.7159f * (1.0f - 2.0f / (1.0f + expf(4.0f / 3.0f * x)));
}

/* The weighted sum of `maps` windows of 5 x 5 that start at `corner` of each map. */
static __device__ float filter(const float *corner, const float *weights, int maps, int side) {
    float sum = 0.0f;
    for (int map = 0; map < maps; map++)
        for (int y = 0; y < WINDOW; y++)
            for (int x = 0; x < WINDOW; x++)
                sum += corner[(map * side + y) * side + x] * *weights++;
    return sum;
}

static __device__ float connect(const float *inputs, const float *weights, int count) {
    float sum = weights[0];
    for (int i = 0; i < count; i++)
        sum += inputs[i] * weights[1 + i];
    return sum;
}

/* 13 x 13 threads: every second window of the image. */
extern "C" __global__ void neural_first(const float *images, const float *weights, float *out) {
    int map = (int)blockIdx.x, image = (int)blockIdx.y;
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const float *own = weights + map * (1 + WINDOW * WINDOW);
    const float *corner = images + (image * IMAGE_SIDE + 2 * y) * IMAGE_SIDE + 2 * x;
    out[((image * MAPS_1 + map) * SIDE_1 + y) * SIDE_1 + x] =
        squash(own[0] + filter(corner, own + 1, 1, IMAGE_SIDE));
}

/* 5 x 5 threads: every second window of all six maps of the first layer. */
extern "C" __global__ void neural_second(const float *in, const float *weights, float *out) {
    int map = (int)blockIdx.x, image = (int)blockIdx.y;
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const float *own = weights + map * (1 + MAPS_1 * WINDOW * WINDOW);
    const float *corner = in + (image * MAPS_1 * SIDE_1 + 2 * y) * SIDE_1 + 2 * x;
    out[((image * MAPS_2 + map) * SIDE_2 + y) * SIDE_2 + x] =
        squash(own[0] + filter(corner, own + 1, MAPS_1, SIDE_1));
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
