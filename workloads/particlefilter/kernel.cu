/* The resampling step of a particle filter: every particle searches the cumulative weights, from
 * the first on, for the particle that it becomes a copy of. */
#include "tyto_device.h"

extern "C" __global__ void particlefilter(const float *x, const float *y, const float *cumulative,
                                          const float *draws, float *new_x, float *new_y,
                                          unsigned particles) {
    unsigned particle = blockIdx.x * blockDim.x + threadIdx.x;
    if (particle >= particles) return;
    unsigned chosen = particles - 1;
    for (unsigned i = 0; i < particles; i++) {
        if (cumulative[i] >= draws[particle]) {
            chosen = i;
            break;
        }
    }
    new_x[particle] = x[chosen];
    new_y[particle] = y[chosen];
}
