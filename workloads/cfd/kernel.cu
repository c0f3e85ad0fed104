/* A finite-volume solver of the three-dimensional Euler equations on an unstructured mesh of
 * elements with four faces, one element per thread. Variables are stored one after the other:
 * variable v of element i is variables[v * count + i]. */
#include "tyto_device.h"

enum { FACES = 4, VARIABLES = 5, WALL = -1 }; /* any other negative neighbour: the far field */

struct Vector {
    float x, y, z;
};

/* The state of an element, from its conserved variables. */
struct State {
    float density, energy;
    Vector momentum, velocity;
    float speed_squared, pressure, sound;
};

__constant__ float far_field[VARIABLES]; /* density, momentum, energy */

static __device__ State derive(float density, Vector momentum, float energy) {
    State s;
    s.density = density;
    s.energy = energy;
    s.momentum = momentum;
    s.velocity = {momentum.x / density, momentum.y / density, momentum.z / density};
    s.speed_squared =
        s.velocity.x * s.velocity.x + s.velocity.y * s.velocity.y + s.velocity.z * s.velocity.z;
    s.pressure = 0.4f * (energy - 0.5f * density * s.speed_squared);
    s.sound = sqrtf(1.4f * s.pressure / density);
    return s;
}

static __device__ State load(const float *variables, int i, int count) {
    Vector momentum = {variables[count + i], variables[2 * count + i], variables[3 * count + i]};
    return derive(variables[i], momentum, variables[4 * count + i]);
}

static __device__ float dot(Vector a, Vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* Adds `weight` times the state's flux through a face with this normal. */
static __device__ void add_flux(float *flux, State s, Vector normal, float weight) {
    float through = weight * dot(s.velocity, normal);
    flux[0] += through * s.density;
    flux[1] += through * s.momentum.x + weight * s.pressure * normal.x;
    flux[2] += through * s.momentum.y + weight * s.pressure * normal.y;
    flux[3] += through * s.momentum.z + weight * s.pressure * normal.z;
    flux[4] += through * (s.energy + s.pressure);
}

/* The length of an element's time step, divided by its volume. */
extern "C" __global__ void cfd_step_factor(const float *variables, const float *areas,
                                           float *step_factors, int count) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    State s = load(variables, i, count);
    step_factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(s.speed_squared) + s.sound));
}

/* The flux into every element; at a wall only pressure acts. */
extern "C" __global__ void cfd_flux(const int *neighbours, const float *normals,
                                    const float *variables, float *fluxes, int count) {
    const float smoothing = 0.2f;
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    State own = load(variables, i, count);
    float flux[VARIABLES] = {};
    for (int face = 0; face < FACES; face++) {
        int neighbour = neighbours[face * count + i];
        const float *component = normals + face * 3 * count + i;
        Vector normal = {component[0], component[count], component[2 * count]};
        if (neighbour == WALL) {
            flux[1] += own.pressure * normal.x;
            flux[2] += own.pressure * normal.y;
            flux[3] += own.pressure * normal.z;
            continue;
        }
        State other =
            neighbour >= 0
                ? load(variables, neighbour, count)
                : derive(far_field[0], {far_field[1], far_field[2], far_field[3]}, far_field[4]);
        if (neighbour >= 0) {
            float factor =
                -sqrtf(dot(normal, normal)) * smoothing * 0.5f *
                (sqrtf(own.speed_squared) + sqrtf(other.speed_squared) + own.sound + other.sound);
            flux[0] += factor * (own.density - other.density);
            flux[1] += factor * (own.momentum.x - other.momentum.x);
            flux[2] += factor * (own.momentum.y - other.momentum.y);
            flux[3] += factor * (own.momentum.z - other.momentum.z);
            flux[4] += factor * (own.energy - other.energy);
        }
        add_flux(flux, own, normal, 0.5f);
        add_flux(flux, other, normal, 0.5f);
    }
    for (int v = 0; v < VARIABLES; v++)
        fluxes[v * count + i] = flux[v];
}

/* One of the three stages of a Runge-Kutta step. */
extern "C" __global__ void cfd_advance(const float *before, float *variables,
                                       const float *step_factors, const float *fluxes, int stage,
                                       int count) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    float factor = step_factors[i] / (float)(4 - stage);
    for (int v = 0; v < VARIABLES; v++)
        variables[v * count + i] = before[v * count + i] + factor * fluxes[v * count + i];
}
