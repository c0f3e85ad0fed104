/* The isothermal Euler equations on an unstructured mesh. A sweep over the edges, one per thread,
 * computes what flows through the face between two nodes and adds it to both by atomics; a sweep
 * over the nodes advances them. A node's state is its velocity in x, y and z and its density in
 * w, its flux that of momentum and, in w, of mass. */
#include "tyto_device.h"

struct Vector {
    float x, y, z;
};

static __device__ void add_flux(float *to, float4 flux, float sign) {
    atomicAdd(&to[0], sign * flux.x);
    atomicAdd(&to[1], sign * flux.y);
    atomicAdd(&to[2], sign * flux.z);
    atomicAdd(&to[3], sign * flux.w);
}

/* Central differences: the mean of what the two states carry along the face's normal, which points
 * from the first node to the second. The pressure is the density. */
extern "C" __global__ void euler_edges(const uint2 *edges, const Vector *normals,
                                       const float4 *states, float *fluxes, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint2 edge = edges[i];
    Vector normal = normals[i];
    float4 a = states[edge.x], b = states[edge.y];
    float mass_a = 0.5f * a.w * (a.x * normal.x + a.y * normal.y + a.z * normal.z);
    float mass_b = 0.5f * b.w * (b.x * normal.x + b.y * normal.y + b.z * normal.z);
    float pressure = 0.5f * (a.w + b.w);
    float4 flux = make_float4(mass_a * a.x + mass_b * b.x + pressure * normal.x,
                              mass_a * a.y + mass_b * b.y + pressure * normal.y,
                              mass_a * a.z + mass_b * b.z + pressure * normal.z, mass_a + mass_b);
    add_flux(&fluxes[4 * edge.x], flux, -1.0f);
    add_flux(&fluxes[4 * edge.y], flux, 1.0f);
}

extern "C" __global__ void euler_nodes(float4 *states, float4 *fluxes, float step, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float4 state = states[i], flux = fluxes[i];
    float density = state.w + step * flux.w;
    states[i] = make_float4((state.w * state.x + step * flux.x) / density,
                            (state.w * state.y + step * flux.y) / density,
                            (state.w * state.z + step * flux.z) / density, density);
    fluxes[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}
