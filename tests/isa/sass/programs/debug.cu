// Calls that nvcc -G leaves in place: a function of the program's, one of the math library, printf.
#include <cstdio>

__device__ float sum(float x, int count) {
    float total = 0;
    for (int i = 0; i < count; i++)
        total += sinf(x + i);
    return total;
}

__global__ void turn(float *out, const double *in) {
    __shared__ float tile[64];
    tile[threadIdx.x] = sum(threadIdx.x, 3);
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x] + (float)in[threadIdx.x];
    if (threadIdx.x == 5) printf("thread %d\n", threadIdx.x);
}

int main() {
    float *out, host[64];
    double *in, values[64];
    for (int i = 0; i < 64; i++)
        values[i] = i;
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&in, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    turn<<<1, 64>>>(out, in);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%.4f %.4f %s\n", host[0], host[63], cudaGetErrorString(cudaGetLastError()));
}
