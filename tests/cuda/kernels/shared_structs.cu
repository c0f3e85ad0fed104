/* Shared memory holding an array of structs and a three-dimensional array, filled and read by
 * different threads. */
#include "kernel.h"

struct Particle {
    float position[3];
    short kind;
    unsigned char charge;
};

extern "C" __global__ void shared_structs(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ Particle particles[64];
    __shared__ unsigned cube[4][4][4];
    unsigned thread = threadIdx.x, i = global_index();
    unsigned x = in[i % n];
    Particle mine = {{(float)(x & 15), (float)(x >> 4 & 15), (float)(x >> 8 & 15)},
                     (short)(x >> 12 & 0x7ff),
                     (unsigned char)(x >> 24)};
    particles[thread] = mine;
    cube[thread / 16][thread / 4 % 4][thread % 4] = x;
    __syncthreads();
    Particle other = particles[63 - thread];
    float sum = other.position[0] + other.position[1] * 16.0f + other.position[2] * 256.0f;
    out[i] = (unsigned)sum + (unsigned)other.kind * 3 + other.charge * 5u +
             cube[thread % 4][thread / 16][thread / 4 % 4];
}
