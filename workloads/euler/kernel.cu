/* The isothermal Euler equations on an unstructured mesh: a sweep over the nodes, one per thread,
 * sums the flow through the faces between a node and its neighbours, and advances the node. A state
 * is velocity in x, y and z and density. States, neighbours and normals are arrays over the nodes:
 * `states` and `next` hold four values for a node, `normals` three for each edge of a node. */
#include "tyto_device.h"

enum : unsigned { EDGES_OF_NODE = 24 };

/* Central differences: the mean of the two states' flows along the face's normal, which points away
 * from the node. The pressure is the density. */
extern "C" __global__ void euler(const unsigned *neighbours, const float *normals,
                                 const float *states, float *next, float step, unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x, edges = EDGES_OF_NODE * nodes;
    if (node >= nodes) return;
    const float *x = states, *y = x + nodes, *z = y + nodes, *density = z + nodes;
    float ax = x[node], ay = y[node], az = z[node], aw = density[node];
    float flux_x = 0.0f, flux_y = 0.0f, flux_z = 0.0f, flux_w = 0.0f;
#pragma unroll 1
    for (unsigned i = node; i < edges; i += nodes) {
        float nx = normals[i], ny = normals[edges + i], nz = normals[2 * edges + i];
        unsigned other = neighbours[i];
        float bx = x[other], by = y[other], bz = z[other], bw = density[other];
        float mass_a = 0.5f * aw * (ax * nx + ay * ny + az * nz);
        float mass_b = 0.5f * bw * (bx * nx + by * ny + bz * nz);
        float pressure = 0.5f * (aw + bw);
        flux_x += mass_a * ax + mass_b * bx + pressure * nx;
        flux_y += mass_a * ay + mass_b * by + pressure * ny;
        flux_z += mass_a * az + mass_b * bz + pressure * nz;
        flux_w += mass_a + mass_b;
    }
    float advanced = aw - step * flux_w;
    next[node] = (aw * ax - step * flux_x) / advanced;
    next[nodes + node] = (aw * ay - step * flux_y) / advanced;
    next[2 * nodes + node] = (aw * az - step * flux_z) / advanced;
    next[3 * nodes + node] = advanced;
}
