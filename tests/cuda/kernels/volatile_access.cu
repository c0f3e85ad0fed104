/* Volatile loads and stores: the tail of a reduction in which the lanes of one warp pass values
 * through shared memory, with a warp barrier between the steps. */
#include "kernel.h"

extern "C" __global__ void volatile_access(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ volatile unsigned words[64];
    unsigned lane = threadIdx.x, i = blockIdx.x * 32 + lane;
    words[lane] = in[i % n];
    words[lane + 32] = 0;
    for (unsigned step = 16; step > 0; step /= 2) {
        __syncwarp();
        unsigned other = words[lane + step];
        __syncwarp();
        words[lane] = words[lane] + other;
    }
    volatile unsigned *result = out;
    result[i] = words[lane];
    result[i] = result[i] + 1;
}
