/* Molecular dynamics of particles with the Lennard-Jones potential: they move, get the forces of
 * the listed neighbours within the cutoff, and change their velocities. One particle per thread, in
 * a periodic box. Positions, velocities and forces are arrays over the particles: all x, all y,
 * then all z. The lists are stored in the same way: all first neighbours, all second ones, and so
 * on. */
#include "tyto_device.h"

enum : unsigned { AXES = 3, NEIGHBOURS = 24 };

extern "C" __global__ void moldyn_move(float *positions, const float *velocities, float step,
                                       float side, unsigned particles) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    for (unsigned axis = 0; axis < AXES; axis++, i += particles) {
        float position = positions[i] + step * velocities[i];
        if (position < 0.0f) position += side;
        if (position > side) position -= side;
        positions[i] = position;
    }
}

/* The shorter difference of two coordinates in the box. */
static __device__ float across(float difference, float side) {
    float half = 0.5f * side;
    if (difference < -half) difference += side;
    if (difference > half) difference -= side;
    return difference;
}

extern "C" __global__ void moldyn_force(const float *positions, const unsigned *neighbours,
                                        float *forces, float cutoff_2, float side,
                                        unsigned particles) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    const float *x = positions, *y = x + particles, *z = y + particles;
    float own_x = x[i], own_y = y[i], own_z = z[i];
    float force_x = 0.0f, force_y = 0.0f, force_z = 0.0f;
    unsigned end = NEIGHBOURS * particles;
#pragma unroll 1
    for (unsigned at = i; at < end; at += particles) {
        unsigned other = neighbours[at];
        float dx = across(own_x - x[other], side), dy = across(own_y - y[other], side);
        float dz = across(own_z - z[other], side);
        float distance_2 = dx * dx + dy * dy + dz * dz;
        if (distance_2 > cutoff_2) continue;
        float inverse = 1.0f / distance_2;
        float inverse_3 = inverse * inverse * inverse;
        float strength = inverse * inverse_3 * (inverse_3 - 0.5f);
        force_x += strength * dx;
        force_y += strength * dy;
        force_z += strength * dz;
    }
    forces[i] = force_x;
    forces[particles + i] = force_y;
    forces[2 * particles + i] = force_z;
}

extern "C" __global__ void moldyn_push(float *velocities, const float *forces, float step,
                                       unsigned particles) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    for (unsigned axis = 0; axis < AXES; axis++, i += particles)
        velocities[i] += step * forces[i];
}
