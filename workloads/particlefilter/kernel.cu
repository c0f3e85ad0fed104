/* The resampling step of a particle filter: every particle searches the cumulative weights, from
 * the first on, for the particle that it will copy. All numbers are doubles, as in Rodinia's first
 * version. */
#include "tyto_device.h"

extern "C" __global__ void particlefilter(const double *x, const double *y,
                                          const double *cumulative, const double *draws,
                                          double *new_x, double *new_y, unsigned particles) {
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
