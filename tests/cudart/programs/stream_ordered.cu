// Memory in stream order, from the device's pool and from one of the program's own.
#include "check.h"

__global__ void count_up(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = 3 * i;
}

static void run(int *data, cudaStream_t stream) {
    const int n = 100;
    int out[n];
    CHECK(cudaMemsetAsync(data, 0, sizeof out, stream));
    count_up<<<1, 128, 0, stream>>>(data, n);
    CHECK(cudaMemcpyAsync(out, data, sizeof out, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(data, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == 3 * i);
}

int main() {
    cudaStream_t stream;
    cudaMemPool_t pool;
    unsigned long long threshold = 1 << 20;
    int *data;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMallocAsync(&data, 100 * sizeof(int), stream));
    run(data, stream);
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &properties));
    CHECK(cudaMallocFromPoolAsync((void **)&data, 100 * sizeof(int), pool, stream));
    run(data, stream);
    CHECK(cudaMemPoolDestroy(pool));
    CHECK(cudaStreamDestroy(stream));
    return passed();
}
