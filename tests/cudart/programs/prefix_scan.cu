// An exclusive scan of several blocks in three kernels.
#include "check.h"

const int BLOCK = 128;

__device__ int scan_block(int value, int *shared) {
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        int other = t >= step ? shared[t - step] : 0;
        __syncthreads();
        shared[t] += other;
        __syncthreads();
    }
    return shared[t];
}

__global__ void scan_parts(const int *in, int *out, int *sums, int n) {
    __shared__ int shared[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int value = i < n ? in[i] : 0;
    int inclusive = scan_block(value, shared);
    if (i < n) out[i] = inclusive - value;
    if (threadIdx.x == BLOCK - 1) sums[blockIdx.x] = inclusive;
}

__global__ void scan_sums(int *sums, int count) {
    __shared__ int shared[BLOCK];
    int value = threadIdx.x < count ? sums[threadIdx.x] : 0;
    int inclusive = scan_block(value, shared);
    if (threadIdx.x < count) sums[threadIdx.x] = inclusive - value;
}

__global__ void add_sums(int *out, const int *sums, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) out[i] += sums[blockIdx.x];
}

int main() {
    const int n = 3333, blocks = (n + BLOCK - 1) / BLOCK;
    static int in[n], out[n];
    unsigned state = 3;
    for (int &value : in)
        value = next_random(state) % 100;
    int *d_in, *d_out, *d_sums;
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMalloc(&d_sums, blocks * sizeof(int)));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    scan_parts<<<blocks, BLOCK>>>(d_in, d_out, d_sums, n);
    scan_sums<<<1, BLOCK>>>(d_sums, blocks);
    add_sums<<<blocks, BLOCK>>>(d_out, d_sums, n);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0, sum = 0; i < n; sum += in[i++])
        EXPECT(out[i] == sum);
    return passed();
}
