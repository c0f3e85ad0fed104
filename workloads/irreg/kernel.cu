/* The kernel of a solver of partial differential equations on an unstructured mesh: a sweep over
 * the edges, one per thread, sums differences at both ends by atomics; a sweep over the nodes adds
 * them. */
#include "tyto_device.h"

extern "C" __global__ void irreg_edges(const uint2 *edges, const float *values, float *sums,
                                       unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint2 edge = edges[i];
    float difference = 0.5f * (values[edge.y] - values[edge.x]);
    atomicAdd(&sums[edge.x], difference);
    atomicAdd(&sums[edge.y], -difference);
}

extern "C" __global__ void irreg_nodes(float *values, float *sums, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    values[i] += sums[i];
    sums[i] = 0.0f;
}
