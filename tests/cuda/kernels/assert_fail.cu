/* One thread's assertion fails, which ends the launch with an error of its own. */
#include "kernel.h"

extern "C" __global__ void assert_fail(unsigned *out) {
    assert(threadIdx.x + blockIdx.x * 32 != 37);
    out[threadIdx.x] = 1;
}
