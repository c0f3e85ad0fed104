/* Sum and prefix sum of a warp by shuffles, on floats and on integers. */
#include "kernel.h"

extern "C" __global__ void warp_scan(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned lane = threadIdx.x % 32, prefix = in[i];
    for (unsigned step = 1; step < 32; step *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, prefix, step);
        if (lane >= step) prefix += other;
    }
    float sum = (float)(in[i] & 255);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    out[i] = prefix ^ (unsigned)sum << 20;
}
