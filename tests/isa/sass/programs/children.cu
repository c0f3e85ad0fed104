// A kernel that launches a kernel: its machine code calls the driver.
#include <cstdio>

__global__ void child(int *word) {
    *word += 40;
}

__global__ void parent(int *word) {
    *word = 2;
    child<<<1, 1, 0, cudaStreamTailLaunch>>>(word);
    if (cudaGetLastError() != cudaSuccess) *word = -1;
}

int main() {
    int *word, value = 0;
    cudaMalloc((void **)&word, sizeof value);
    parent<<<1, 1>>>(word);
    cudaMemcpy(&value, word, sizeof value, cudaMemcpyDeviceToHost);
    printf("%d %s\n", value, cudaGetErrorString(cudaGetLastError()));
    return 0;
}
