/* Named barriers: one half of the CTA produces and only arrives, the other half waits and consumes;
 * each barrier is for a given number of threads. */
#include "kernel.h"

enum { HALF = 64 };

extern "C" __global__ void named_barriers(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned words[HALF];
    unsigned thread = threadIdx.x, lane = thread % HALF;
    for (unsigned round = 0; round < 4; round++) {
        unsigned i = (blockIdx.x * 4 + round) * HALF;
        if (thread < HALF) {
            words[lane] = in[(i + lane) % n] * (round + 1);
            asm volatile("bar.arrive 1, 128;" : : : "memory");
            asm volatile("bar.sync 2, 128;" : : : "memory");
        } else {
            asm volatile("bar.sync 1, 128;" : : : "memory");
            out[i + lane] = words[HALF - 1 - lane] + 1;
            asm volatile("bar.arrive 2, 128;" : : : "memory");
        }
    }
}
