/* Molecular dynamics of particles that attract and repel by the Lennard-Jones potential: they move,
 * feel the forces of those of their neighbours' list that are within the cutoff, and gain speed.
 * One particle per thread. */
#include "tyto_device.h"

struct Vector {
    float x, y, z;
};

extern "C" __global__ void moldyn_move(Vector *positions, const Vector *velocities, float step,
                                       unsigned particles) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    positions[i].x += step * velocities[i].x;
    positions[i].y += step * velocities[i].y;
    positions[i].z += step * velocities[i].z;
}

extern "C" __global__ void moldyn_force(const Vector *positions, const unsigned *first_neighbour,
                                        const unsigned *neighbours, Vector *forces, float cutoff_2,
                                        unsigned particles) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    Vector own = positions[i], force = {0.0f, 0.0f, 0.0f};
    unsigned end = first_neighbour[i + 1];
    for (unsigned at = first_neighbour[i]; at < end; at++) {
        Vector other = positions[neighbours[at]];
        float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
        float distance_2 = dx * dx + dy * dy + dz * dz;
        if (distance_2 > cutoff_2) continue;
        float inverse = 1.0f / distance_2;
        float inverse_3 = inverse * inverse * inverse;
        float strength = inverse * inverse_3 * (inverse_3 - 0.5f);
        force.x += strength * dx;
        force.y += strength * dy;
        force.z += strength * dz;
    }
    forces[i] = force;
}

extern "C" __global__ void moldyn_push(Vector *velocities, const Vector *forces, float step,
                                       unsigned particles) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    velocities[i].x += step * forces[i].x;
    velocities[i].y += step * forces[i].y;
    velocities[i].z += step * forces[i].z;
}
