// A failed assertion in a kernel is reported in CUDA's words. It is an error that stays until the
// device is reset.
#include <cassert>
#include <cstring>
#include <unistd.h>

#include "check.h"

__global__ void test(int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < limit);
}

int main() {
    test<<<2, 32>>>(64);
    CHECK(cudaDeviceSynchronize());
    char path[] = "device_assert_XXXXXX", said[400] = "";
    EXPECT(mkstemp(path) >= 0 && std::freopen(path, "w", stderr));
    test<<<2, 32>>>(60);
    EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
    std::fflush(stderr);
    std::FILE *file = std::fopen(path, "r");
    EXPECT(file && std::fgets(said, sizeof said, file));
    std::fclose(file);
    unlink(path);
    EXPECT(std::strstr(said, "device_assert.cu:11: "));
    EXPECT(std::strstr(said, "test(int): block: [1,0,0], thread: [28,0,0] Assertion `i < limit` failed.\n"));
    EXPECT(cudaGetLastError() == cudaErrorAssert);
    void *pointer;
    EXPECT(cudaMalloc(&pointer, 4) == cudaErrorAssert);
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&pointer, 4));
    return passed();
}
