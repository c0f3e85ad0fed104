/* Fluid dynamics on an unstructured mesh: a sweep over the nodes, one per thread, smooths each one's
 * velocity by those of the nodes that it shares an edge with. */
#include "tyto_device.h"

enum : unsigned { EDGES_OF_NODE = 14 };

struct Vector {
    float x, y, z;
};

extern "C" __global__ void unstructured(const unsigned *neighbours, const float *weights,
                                        const Vector *velocities, Vector *next, float step,
                                        unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    Vector own = velocities[node], force = {0.0f, 0.0f, 0.0f};
#pragma unroll 1
    for (unsigned i = 0; i < EDGES_OF_NODE; i++) {
        Vector other = velocities[neighbours[i * nodes + node]];
        float weight = weights[i * nodes + node];
        force.x += weight * (other.x - own.x);
        force.y += weight * (other.y - own.y);
        force.z += weight * (other.z - own.z);
    }
    next[node] = {own.x + step * force.x, own.y + step * force.y, own.z + step * force.z};
}
