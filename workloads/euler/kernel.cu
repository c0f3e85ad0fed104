/* The isothermal Euler equations on an unstructured mesh: a sweep over the nodes, one per thread, sums
 * what flows through the faces between a node and those that it shares an edge with, and advances
 * it. A node's state is its velocity in x, y and z and its density in w. */
#include "tyto_device.h"

enum : unsigned { EDGES_OF_NODE = 14 };

struct Vector {
    float x, y, z;
};

/* Central differences: the mean of what the two states carry along the face's normal, which points
 * away from the node. The pressure is the density. */
extern "C" __global__ void euler(const unsigned *neighbours, const Vector *normals,
                                 const float4 *states, float4 *next, float step, unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    float4 a = states[node], flux = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 1
    for (unsigned i = 0; i < EDGES_OF_NODE; i++) {
        Vector normal = normals[i * nodes + node];
        float4 b = states[neighbours[i * nodes + node]];
        float mass_a = 0.5f * a.w * (a.x * normal.x + a.y * normal.y + a.z * normal.z);
        float mass_b = 0.5f * b.w * (b.x * normal.x + b.y * normal.y + b.z * normal.z);
        float pressure = 0.5f * (a.w + b.w);
        flux.x += mass_a * a.x + mass_b * b.x + pressure * normal.x;
        flux.y += mass_a * a.y + mass_b * b.y + pressure * normal.y;
        flux.z += mass_a * a.z + mass_b * b.z + pressure * normal.z;
        flux.w += mass_a + mass_b;
    }
    float density = a.w - step * flux.w;
    next[node] = make_float4((a.w * a.x - step * flux.x) / density,
                             (a.w * a.y - step * flux.y) / density,
                             (a.w * a.z - step * flux.z) / density, density);
}
