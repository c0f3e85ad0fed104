// Errors as programs look for them: of launches, arguments, and kernels.
#include "check.h"

__global__ void nothing() {}
__global__ void store(int *where) {
    *where = 1;
}
__device__ int variable;

int main() {
    int value, *pointer;
    nothing<<<1, 2048>>>();
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaSuccess);
    nothing<<<0, 32>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaMemcpyFromSymbol(&value, variable, 8) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpyFromSymbol(&value, (const void *)&value, 4) == cudaErrorInvalidSymbol);
    EXPECT(cudaMemcpy(&value, &value, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMalloc(&pointer, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    EXPECT(cudaSetDevice(5) == cudaErrorInvalidDevice);
    EXPECT(cudaFree((void *)&value) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaMalloc(&pointer, 64));
    store<<<1, 1>>>((int *)((char *)pointer + 2));
    EXPECT(cudaDeviceSynchronize() == cudaErrorMisalignedAddress);
    EXPECT(cudaMemcpy(&value, pointer, 4, cudaMemcpyDeviceToHost) == cudaErrorMisalignedAddress);
    CHECK(cudaDeviceReset());
    cudaGetLastError();
    store<<<1, 1>>>(nullptr);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset());
    cudaGetLastError();
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    return passed();
}
