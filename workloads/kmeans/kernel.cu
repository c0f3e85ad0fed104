/* k-means clustering, one point per thread. The points come as rows of features; transposed once,
 * neighbouring threads then read neighbouring words. All data lie in global memory. */
#include "tyto_device.h"

extern "C" __global__ void kmeans_transpose(const float *rows, float *columns, unsigned points,
                                            unsigned features) {
    unsigned point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;
    for (unsigned i = 0; i < features; i++)
        columns[i * points + point] = rows[point * features + i];
}

/* Writes the index of the centre nearest to each point. */
extern "C" __global__ void kmeans_assign(const float *columns, const float *centres,
                                         unsigned *membership, unsigned points, unsigned features,
                                         unsigned clusters) {
    unsigned point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;
    unsigned nearest = 0;
    float least = 3.0e38f;
    for (unsigned cluster = 0; cluster < clusters; cluster++) {
        float distance = 0.0f;
        for (unsigned i = 0; i < features; i++) {
            float difference = columns[i * points + point] - centres[cluster * features + i];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    membership[point] = nearest;
}
