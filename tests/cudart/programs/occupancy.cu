// The occupancy calculator, device properties, and a launch shaped by them.
#include "check.h"

__global__ void fill(int *data, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        data[i] = i;
}

__global__ void __launch_bounds__(64) small(int *data) {
    __shared__ int space[1024];
    space[threadIdx.x] = threadIdx.x;
    __syncthreads();
    data[threadIdx.x] = space[63 - threadIdx.x];
}

int main() {
    cudaDeviceProp properties;
    int count, grid, block, blocks, small_blocks;
    CHECK(cudaGetDeviceCount(&count));
    EXPECT(count == 1);
    CHECK(cudaGetDeviceProperties(&properties, 0));
    EXPECT(properties.warpSize == 32 && properties.multiProcessorCount > 0);
    EXPECT(properties.totalGlobalMem > 0 && properties.name[0]);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill, 0, 0));
    EXPECT(block % 32 == 0 && block <= properties.maxThreadsPerBlock);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, block, 0));
    EXPECT(grid == blocks * properties.multiProcessorCount);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&small_blocks, small, 64, 0));
    EXPECT(small_blocks >= 1 &&
           small_blocks <= (int)(properties.sharedMemPerMultiprocessor / 4096));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, small));
    EXPECT(attributes.sharedSizeBytes == 4096 && attributes.maxThreadsPerBlock == 64);
    const int n = 2000;
    static int out[n];
    int *device;
    CHECK(cudaMalloc(&device, sizeof out));
    fill<<<grid, block>>>(device, n);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == i);
    return passed();
}
