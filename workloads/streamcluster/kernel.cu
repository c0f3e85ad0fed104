/* Computes the savings from opening a new centre, one point per thread. This step takes almost all
 * the time of streaming clustering. Coordinates are stored by dimension, so neighbouring threads
 * read neighbouring words; the other data of a point are a record of 32 bytes. As in Rodinia, one
 * thread copies the candidate's coordinates to shared memory, and all others wait for it. */
#include "tyto_device.h"

enum { MOST_DIMENSIONS = 256 };

/* The same layout as on the host; its pointer to the coordinates is not used here. */
struct Point {
    float weight;
    unsigned long long coordinates;
    long long centre; /* the point that is its centre */
    float cost;       /* weighted squared distance to that centre */
};

/* savings has a row of `centres` + 1 words per point: the gain of each open centre from this point,
 * and in the last word the candidate's gain. */
extern "C" __global__ void streamcluster(const float *coordinates, const Point *records,
                                         const unsigned *centre_indices, float *savings,
                                         unsigned char *is_switching, unsigned points,
                                         unsigned dimensions, unsigned candidate,
                                         unsigned centres) {
    __shared__ float target[MOST_DIMENSIONS];
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (unsigned i = 0; i < dimensions; i++)
            target[i] = coordinates[i * points + candidate];
    }
    __syncthreads();
    unsigned point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;

    float distance = 0.0f;
    for (unsigned i = 0; i < dimensions; i++) {
        float difference = coordinates[i * points + point] - target[i];
        distance += difference * difference;
    }
    float new_cost = distance * records[point].weight, cost = records[point].cost;
    float *own = savings + point * (centres + 1);
    if (new_cost < cost) {
        is_switching[point] = 1;
        own[centres] += new_cost - cost;
    } else {
        own[centre_indices[records[point].centre]] += cost - new_cost;
    }
}
