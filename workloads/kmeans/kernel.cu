/* k-means clustering, one point per thread. The points are rows of features, which are transposed
 * once, so that neighbouring threads read neighbouring words. Data are in global memory, or the
 * transposed features in a linear texture and the centres in constant memory. */
#include "../common/texture.cuh"

enum { MOST_FIXED = 1088 }; /* features of all centres in constant memory */

__constant__ float fixed_centres[MOST_FIXED];

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

/* The same through the texture and constant caches. */
extern "C" __global__ void kmeans_assign_textures(Texture columns, unsigned *membership,
                                                  unsigned points, unsigned features,
                                                  unsigned clusters) {
    unsigned point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;
    unsigned nearest = 0;
    float least = 3.0e38f;
    for (unsigned cluster = 0; cluster < clusters; cluster++) {
        float distance = 0.0f;
        for (unsigned i = 0; i < features; i++) {
            float difference = texture_float(columns, (int)(i * points + point)) -
                               fixed_centres[cluster * features + i];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    membership[point] = nearest;
}
