/* Fluid dynamics on an unstructured mesh: a sweep over the nodes, one per thread, smooths the
 * velocity of each node with those of its neighbours. Velocities, neighbours and weights are arrays
 * over the nodes. */
#include "tyto_device.h"

enum : unsigned { EDGES_OF_NODE = 24 };

extern "C" __global__ void unstructured(const unsigned *neighbours, const float *weights,
                                        const float *x, const float *y, const float *z,
                                        float *next_x, float *next_y, float *next_z, float step,
                                        unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    float own_x = x[node], own_y = y[node], own_z = z[node];
    float force_x = 0.0f, force_y = 0.0f, force_z = 0.0f;
#pragma unroll 1
    for (unsigned i = 0; i < EDGES_OF_NODE; i++) {
        unsigned other = neighbours[i * nodes + node];
        float weight = weights[i * nodes + node];
        force_x += weight * (x[other] - own_x);
        force_y += weight * (y[other] - own_y);
        force_z += weight * (z[other] - own_z);
    }
    next_x[node] = own_x + step * force_x;
    next_y[node] = own_y + step * force_y;
    next_z[node] = own_z + step * force_z;
}
