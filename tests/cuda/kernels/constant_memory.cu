/* Constant memory that the host fills before the launch, read at an index common to the warp and at
 * one that differs by lane; and a module variable that the host reads afterwards. */
#include "kernel.h"

__constant__ float coefficients[16];
__constant__ struct Settings {
    unsigned offset;
    double scale;
} settings;
__device__ unsigned launches_seen = 40;

extern "C" __global__ void constant_memory(const unsigned *in, double *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    double sum = 0.0;
    for (unsigned k = 0; k < 16; k++)
        sum += (double)coefficients[k];
    out[i] = sum + coefficients[(in[i] + settings.offset) % 16] * settings.scale;
    if (i == 0) atomicAdd(&launches_seen, 2u);
}
