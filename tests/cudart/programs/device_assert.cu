// An assertion that fails in a kernel is an error that sticks until the device is reset.
#include <cassert>

#include "check.h"

__global__ void test(int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < limit);
}

int main() {
    test<<<2, 32>>>(64);
    CHECK(cudaDeviceSynchronize());
    test<<<2, 32>>>(60);
    EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
    EXPECT(cudaGetLastError() == cudaErrorAssert);
    void *pointer;
    EXPECT(cudaMalloc(&pointer, 4) == cudaErrorAssert);
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&pointer, 4));
    return passed();
}
