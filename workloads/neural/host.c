/* Forward pass of a convolutional network for handwritten digits, with random images and weights:
 * 29 x 29 pixels, 6 maps of 13 x 13, 50 maps of 5 x 5, 100 neurons, 10 digits. A tolerance covers
 * the device's own hyperbolic tangent and order of additions. */
#include "common/workload.h"

#include <math.h>

enum { WINDOW = 5, LAYERS = 4 };

static const float TOLERANCE = 1e-4f;

enum { IMAGES };

static const WorkloadInfo INFO = {
    .name = "neural",
    .summary = "Recognises digits by a convolutional neural network, one launch per layer.",
    .parameters =
        {
            [IMAGES] = {"images", "to read", {2, 3, 28}, 10000, 0},
        },
};

/* A layer's maps, each of side x side neurons; a neuron reads a window of each map of the previous
 * layer. */
typedef struct Layer {
    const char *kernel;
    unsigned maps_before, side_before; /* of its input */
    unsigned maps, side;               /* of its output: CTAs and threads of the launch */
    unsigned window, stride;           /* of a neuron's view */
    unsigned map_step, element_step;   /* between its weights for maps, and elements of a window */
    unsigned unused;                   /* unused weights at the end of each map */
} Layer;

static const Layer LAYER[LAYERS] = {
    {"neural_first", 1, 29, 6, 13, WINDOW, 2, 0, 1, 0},
    {"neural_second", 6, 13, 50, 5, WINDOW, 2, 1, 6, 5},
    {"neural_third", 50, 5, 100, 1, 5, 1, 25, 1, 0},
    {"neural_fourth", 100, 1, 10, 1, 1, 1, 1, 0, 0},
};

static size_t weights_per_map(const Layer *layer) {
    return 1 + (size_t)layer->maps_before * layer->window * layer->window + layer->unused;
}

static size_t neurons(const Layer *layer) {
    return (size_t)layer->maps * layer->side * layer->side;
}

/* The neuron at (row, column) of one map, of one image. */
static float compute_neuron(const Layer *layer, const float *in, const float *weights, size_t row,
                            size_t column) {
    size_t side = layer->side_before;
    float sum = *weights++;
    for (size_t map = 0; map < layer->maps_before; map++)
        for (size_t y = 0; y < layer->window; y++)
            for (size_t x = 0; x < layer->window; x++)
                sum +=
                    weights[map * layer->map_step + (y * layer->window + x) * layer->element_step] *
                    in[(map * side + row * layer->stride + y) * side + column * layer->stride + x];
    return (float)(1.7159 * (double)tanhf((float)(0.66666667 * (double)sum)));
}

static void compute_layer(const Layer *layer, const float *in, const float *weights, float *out,
                          size_t images) {
    size_t inputs = (size_t)layer->maps_before * layer->side_before * layer->side_before;
    for (size_t image = 0; image < images; image++, in += inputs)
        for (size_t map = 0; map < layer->maps; map++)
            for (size_t row = 0; row < layer->side; row++)
                for (size_t column = 0; column < layer->side; column++)
                    *out++ = compute_neuron(layer, in, weights + map * weights_per_map(layer), row,
                                            column);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned images = workload.values[IMAGES];
    size_t pixels = (size_t)images * LAYER[0].side_before * LAYER[0].side_before;
    float *expected = workload_random_fractions(&workload, pixels, -1.0f, 1.0f);
    CUdeviceptr got = workload_upload(expected, pixels * sizeof *expected);
    for (int i = 0; i < LAYERS; i++) {
        const Layer *layer = &LAYER[i];
        size_t weight_count = layer->maps * weights_per_map(layer);
        float *weights = workload_random_fractions(&workload, weight_count, -0.1f, 0.1f);
        CUdeviceptr device_weights = workload_upload(weights, weight_count * sizeof *weights);
        CUdeviceptr device_out = workload_device_alloc(images * neurons(layer) * sizeof(float));
        workload_launch(&workload, layer->kernel,
                        (WorkloadShape){layer->maps, images, layer->side, layer->side},
                        (void *[]){&got, &device_weights, &device_out});
        float *out = workload_host_alloc(&workload, images * neurons(layer), sizeof *out);
        compute_layer(layer, expected, weights, out, images);
        expected = out;
        got = device_out;
    }

    size_t count = images * neurons(&LAYER[LAYERS - 1]);
    bool is_right = workload_verify_floats(&workload, got, expected, count, TOLERANCE);
    return workload_finish(&workload, is_right, "digit scores", count);
}
