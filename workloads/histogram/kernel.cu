/* Histogram of bytes: a CTA counts its grid-stride share by atomics in shared memory, then adds its
 * counts to the global bins. A CTA has as many threads as there are bins. */
#include "tyto_device.h"

enum { BINS = 256 };

extern "C" __global__ void histogram(const unsigned char *values, unsigned *bins, unsigned n) {
    __shared__ unsigned count[BINS];
    count[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * BINS + threadIdx.x; i < n; i += gridDim.x * BINS)
        atomicAdd(&count[values[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], count[threadIdx.x]);
}
