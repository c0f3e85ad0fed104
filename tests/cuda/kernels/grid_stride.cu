/* A grid much smaller than its data: every thread strides over the array. */
#include "kernel.h"

extern "C" __global__ void grid_stride(const unsigned *in, unsigned *out, unsigned n) {
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = global_index(); i < n; i += stride)
        out[i] = in[i] * 2654435761u ^ i;
}
