// One of two files that nvcc -rdc=true links: calls a function and reads variables of the other.
#include <cstdio>

extern __device__ int triple(int x);
extern __device__ int table[4];
extern __constant__ int bias;

__global__ void mix(int *out) { out[threadIdx.x] = triple(threadIdx.x) + table[threadIdx.x & 3] + bias; }

int main() {
    int *device, host[32];
    cudaMalloc(&device, sizeof host);
    mix<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %d %s\n", host[0], host[5], host[31], cudaGetErrorString(cudaGetLastError()));
}
