/* CTAs in a chain: each waits, spinning on a flag in global memory, for the one before it, and
 * hands its result on. Later CTAs must not keep earlier ones from running. */
#include "kernel.h"

extern "C" __global__ void flag_handover(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned received;
    volatile unsigned *flags = out + n;
    unsigned cta = blockIdx.x;
    if (threadIdx.x == 0) {
        while (cta > 0 && flags[cta - 1] == 0)
            __nanosleep(50);
        __threadfence();
        received = cta > 0 ? ((volatile unsigned *)out)[cta - 1] : 1;
    }
    __syncthreads();
    if (threadIdx.x == 33) {
        ((volatile unsigned *)out)[cta] = received * 3 + in[cta];
        __threadfence();
        flags[cta] = 1;
    }
}
