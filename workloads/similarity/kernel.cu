/* How alike documents are: the cosine between the vectors of every two of them, one pair per
 * thread, as a map phase without reduction. Vectors are rows, and neighbouring threads read
 * neighbouring rows. */
#include "tyto_device.h"

extern "C" __global__ void similarity_norm(const float *vectors, float *norms, unsigned documents,
                                           unsigned features) {
    unsigned document = blockIdx.x * blockDim.x + threadIdx.x;
    if (document >= documents) return;
    float sum = 0.0f;
    for (unsigned i = 0; i < features; i++) {
        float value = vectors[document * features + i];
        sum += value * value;
    }
    norms[document] = sqrtf(sum);
}

extern "C" __global__ void similarity_map(const float *vectors, const float *norms, float *scores,
                                          unsigned documents, unsigned features) {
    unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= documents * documents) return;
    unsigned a = pair / documents, b = pair % documents;
    float sum = 0.0f;
    for (unsigned i = 0; i < features; i++)
        sum += vectors[a * features + i] * vectors[b * features + i];
    scores[pair] = sum / (norms[a] * norms[b]);
}
