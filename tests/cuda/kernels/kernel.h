/* What every test kernel starts from: the device language, and the index of the calling thread in a
 * one-dimensional grid. */
#ifndef TYTO_TESTS_KERNEL_H
#define TYTO_TESTS_KERNEL_H

#include "tyto_device.h"

static __device__ __forceinline__ unsigned global_index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

#endif
