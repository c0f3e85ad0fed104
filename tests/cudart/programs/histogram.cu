// Counts bytes: atomics in shared memory, then in global memory.
#include "check.h"

__global__ void count(const unsigned char *data, unsigned n, unsigned *bins) {
    __shared__ unsigned local[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

int main() {
    const unsigned n = 10000;
    static unsigned char data[n];
    unsigned expected[256] = {}, bins[256], state = 5, *d_bins;
    unsigned char *d_data;
    for (unsigned char &byte : data)
        expected[byte = next_random(state) % 251]++;
    CHECK(cudaMalloc(&d_data, n));
    CHECK(cudaMalloc(&d_bins, sizeof bins));
    CHECK(cudaMemcpy(d_data, data, n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_bins, 0, sizeof bins));
    count<<<6, 192>>>(d_data, n, d_bins);
    CHECK(cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++)
        EXPECT(bins[i] == expected[i]);
    return passed();
}
