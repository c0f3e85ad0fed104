// Thread blocks that wait for each other in ordinary launches: a grid barrier made by hand, a work queue, words handed to and
// fro, a list that all push to, and a lock that the threads of a warp hand on.
#include "check.h"

#include <vector>

__device__ int arrived;

__device__ void wait_for_all(int round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile int *)&arrived < round * (int)gridDim.x) {}
    }
    __syncthreads();
}

__global__ void shift(int *data, int n, int rounds) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int r = 0; r < rounds; r++) {
        int x = ((volatile int *)data)[(i + 1) % n];
        wait_for_all(2 * r + 1);
        ((volatile int *)data)[i] = x + 1;
        wait_for_all(2 * r + 2);
    }
}

__global__ void work(int *next, int n, int *out) {
    __shared__ int item;
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();
        int mine = item;
        __syncthreads();
        if (mine >= n) return;
        if (threadIdx.x == 0) out[mine] = mine * mine;
    }
}

__global__ void to_and_fro(volatile int *flag, volatile int *word, int *out, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        while (*flag != 2 * i + (blockIdx.x == 0)) {}
        if (blockIdx.x == 1) *word = i * 3;
        else sum += *word;
        __threadfence();
        *flag = *flag + 1;
    }
    if (blockIdx.x == 0) *out = sum;
}

__global__ void push(int *head, int *next) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), first = *(volatile int *)head, seen;
    do {
        next[i] = seen = first;
        __threadfence();
        first = atomicCAS(head, seen, i);
    } while (first != seen);
}

/* One lane of each warp: lanes of a warp that wait for each other need threads of their own (sm_70). */
__global__ void lock_in_turn(int *lock, volatile int *counter) {
    if (threadIdx.x % 32) return;
    for (bool is_done = false; !is_done;) {
        if (atomicCAS(lock, 0, 1) != 0) continue;
        *counter = *counter + 1;
        __threadfence();
        atomicExch(lock, 0);
        is_done = true;
    }
}

int main() {
    const int n = 256;
    std::vector<int> host(n);
    int *device;
    CHECK(cudaMalloc(&device, 2 * n * sizeof(int)));
    for (int i = 0; i < n; i++)
        host[i] = i;
    CHECK(cudaMemcpy(device, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    shift<<<8, 32>>>(device, n, 5);
    CHECK(cudaMemcpy(host.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == (i + 5) % n + 5);

    CHECK(cudaMemset(device, 0, n * sizeof(int)));
    work<<<4, 64>>>(device, 100, device + 1);
    CHECK(cudaMemcpy(host.data(), device + 1, 100 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++)
        EXPECT(host[i] == i * i);

    CHECK(cudaMemset(device, 0, n * sizeof(int)));
    to_and_fro<<<2, 1>>>(device, device + 1, device + 2, 20);
    CHECK(cudaMemcpy(host.data(), device, 12, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 40 && host[2] == 3 * 190);

    CHECK(cudaMemset(device, 0xff, 2 * n * sizeof(int)));
    push<<<2, 96>>>(device, device + 1);
    std::vector<int> list(193);
    CHECK(cudaMemcpy(list.data(), device, list.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int length = 0;
    for (int i = list[0]; i >= 0; i = list[1 + i])
        length++;
    EXPECT(length == 192);

    CHECK(cudaMemset(device, 0, 8));
    lock_in_turn<<<4, 64>>>(device, device + 1);
    CHECK(cudaMemcpy(host.data(), device, 8, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 0 && host[1] == 8);
    return passed();
}
