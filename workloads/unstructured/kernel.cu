/* Fluid dynamics on an unstructured mesh: a sweep over its edges smooths the nodes' velocities, one
 * over the triangles of its surface adds the pressure on them, each with atomics at every node that
 * it touches, and one over the nodes advances them. One edge, triangle or node per thread. */
#include "tyto_device.h"

struct Vector {
    float x, y, z;
};

struct Triangle {
    unsigned nodes[3];
};

static __device__ void add(Vector *to, float factor, Vector v) {
    atomicAdd(&to->x, factor * v.x);
    atomicAdd(&to->y, factor * v.y);
    atomicAdd(&to->z, factor * v.z);
}

extern "C" __global__ void unstructured_edges(const uint2 *edges, const float *weights,
                                              const Vector *velocities, Vector *forces,
                                              unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint2 edge = edges[i];
    Vector a = velocities[edge.x], b = velocities[edge.y];
    Vector difference = {b.x - a.x, b.y - a.y, b.z - a.z};
    add(&forces[edge.x], weights[i], difference);
    add(&forces[edge.y], -weights[i], difference);
}

extern "C" __global__ void unstructured_faces(const Triangle *faces, const Vector *normals,
                                              const float *pressures, Vector *forces,
                                              unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Triangle face = faces[i];
    float pressure = pressures[face.nodes[0]] + pressures[face.nodes[1]] + pressures[face.nodes[2]];
    for (int corner = 0; corner < 3; corner++)
        add(&forces[face.nodes[corner]], -pressure, normals[i]);
}

extern "C" __global__ void unstructured_nodes(Vector *velocities, float *pressures, Vector *forces,
                                              float step, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Vector force = forces[i];
    velocities[i].x += step * force.x;
    velocities[i].y += step * force.y;
    velocities[i].z += step * force.z;
    pressures[i] -= step * (force.x + force.y + force.z);
    forces[i] = {0.0f, 0.0f, 0.0f};
}
