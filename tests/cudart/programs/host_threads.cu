// Several threads of the host, each with a stream, memory and errors of its own.
#include <thread>
#include <vector>

#include "check.h"

__global__ void fill(int *data, int value) {
    data[threadIdx.x] = value + threadIdx.x;
}

static void work(int number, int *failures) {
    const int n = 64;
    int *device, out[n];
    cudaStream_t stream;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device, sizeof out));
    for (int round = 0; round < 20; round++) {
        if (number % 2) fill<<<1, 4096, 0, stream>>>(device, 0); /* an error of this thread only */
        cudaError_t status = cudaGetLastError();
        *failures += status != (number % 2 ? cudaErrorInvalidValue : cudaSuccess);
        fill<<<1, n, 0, stream>>>(device, number * 1000 + round);
        CHECK(cudaMemcpyAsync(out, device, sizeof out, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; i++)
            *failures += out[i] != number * 1000 + round + i;
    }
    CHECK(cudaFree(device));
    CHECK(cudaStreamDestroy(stream));
}

int main() {
    const int count = 4;
    int failures[count] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back(work, i, &failures[i]);
    for (std::thread &thread : threads)
        thread.join();
    for (int failed : failures)
        EXPECT(failed == 0);
    return passed();
}
