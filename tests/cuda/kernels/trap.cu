/* A trap ends the launch with an error. */
#include "kernel.h"

extern "C" __global__ void trap(unsigned *out) {
    if (threadIdx.x == 3) __trap();
    out[threadIdx.x] = 1;
}
