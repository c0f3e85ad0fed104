/* What opening a new centre would save, one point per thread: the step of streaming clustering that
 * takes all the time. Coordinates are stored by dimension, so neighbouring threads read
 * neighbouring words; those of the candidate are staged in shared memory. */
#include "tyto_device.h"

enum { MOST_DIMENSIONS = 256 };

/* savings has a row of `centres` + 1 words per point: what each open centre, and the candidate in
 * the last word, gains from this point. */
extern "C" __global__ void streamcluster(const float *coordinates, const float *weights,
                                         const float *costs, const unsigned *assignments,
                                         const unsigned *centre_indices, float *savings,
                                         unsigned char *is_switching, unsigned points,
                                         unsigned dimensions, unsigned candidate,
                                         unsigned centres) {
    __shared__ float target[MOST_DIMENSIONS];
    for (unsigned i = threadIdx.x; i < dimensions; i += blockDim.x)
        target[i] = coordinates[i * points + candidate];
    __syncthreads();
    unsigned point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;

    float distance = 0.0f;
    for (unsigned i = 0; i < dimensions; i++) {
        float difference = coordinates[i * points + point] - target[i];
        distance += difference * difference;
    }
    float new_cost = distance * weights[point], cost = costs[point];
    float *own = savings + point * (centres + 1);
    if (new_cost < cost) {
        is_switching[point] = 1;
        own[centres] += new_cost - cost;
    } else {
        own[centre_indices[assignments[point]]] += cost - new_cost;
    }
}
