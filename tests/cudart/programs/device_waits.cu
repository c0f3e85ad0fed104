// Kernels that wait for the kernels they launched, as before CUDA 12: more CTAs wait at once than a
// device can hold, children wait for children of their own, and clocks go on meanwhile.
#include "check.h"

const int CTAS = 400, WIDTH = 64, COUNT = 1024;

__global__ void square_row(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x]; }

// A CTA has its row squared by a child, and adds up what that wrote.
__global__ void sum_squares(const int *in, int *squares, long long *sums, unsigned *is_later) {
    __shared__ int failed;
    const int *row = in + blockIdx.x * WIDTH;
    int *mine = squares + blockIdx.x * WIDTH;
    if (threadIdx.x == 0) {
        long long clock = clock64();
        unsigned long long time, later;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
        square_row<<<1, WIDTH>>>(row, mine);
        failed = cudaDeviceSynchronize() != cudaSuccess;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
        if (clock64() > clock + 1 && later >= time) atomicAdd(is_later, 1);
    }
    __syncthreads();
    if (failed) return;
    atomicAdd((unsigned long long *)&sums[blockIdx.x], (unsigned long long)mine[threadIdx.x]);
}

__global__ void merge(const int *in, int *out, int half) {
    int i = threadIdx.x, at = i < half ? i : i - half;
    const int *other = i < half ? in + half : in;
    int low = 0, high = half;
    while (low < high) { // how many of the other half come before in[i]
        int middle = (low + high) / 2;
        bool before = i < half ? other[middle] < in[i] : other[middle] <= in[i];
        if (before) low = middle + 1;
        else high = middle;
    }
    out[at + low] = in[i];
}

// Sorts by recursion: both halves first, by children, then a child that merges them.
__global__ void merge_sort(int *data, int *room, int count) {
    if (count == 32) {
        for (int i = 1; i < count; i++)
            for (int j = i; j > 0 && data[j - 1] > data[j]; j--) {
                int value = data[j];
                data[j] = data[j - 1];
                data[j - 1] = value;
            }
        return;
    }
    int half = count / 2;
    merge_sort<<<1, 1>>>(data, room, half);
    merge_sort<<<1, 1>>>(data + half, room + half, half);
    cudaDeviceSynchronize();
    merge<<<1, count>>>(data, room, half);
    cudaMemcpyAsync(data, room, count * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    cudaDeviceSynchronize();
}

int main() {
    static int in[CTAS * WIDTH], data[COUNT], *d_in, *d_squares, *d_data;
    static long long sums[CTAS], *d_sums;
    unsigned random = 3, later, *d_later;
    for (int &value : in) value = (int)(next_random(random) % 1000);
    for (int &value : data) value = (int)(next_random(random) % 5000);
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_squares, sizeof in));
    CHECK(cudaMalloc(&d_sums, sizeof sums));
    CHECK(cudaMalloc(&d_later, sizeof later));
    CHECK(cudaMalloc(&d_data, 2 * sizeof data));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_data, data, sizeof data, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sums, 0, sizeof sums));
    CHECK(cudaMemset(d_later, 0, sizeof later));

    sum_squares<<<CTAS, WIDTH>>>(d_in, d_squares, d_sums, d_later);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&later, d_later, sizeof later, cudaMemcpyDeviceToHost));
    for (int c = 0; c < CTAS; c++) {
        long long expected = 0;
        for (int i = 0; i < WIDTH; i++) expected += in[c * WIDTH + i] * in[c * WIDTH + i];
        EXPECT(sums[c] == expected);
    }
    EXPECT(later == (unsigned)CTAS);

    merge_sort<<<1, 1>>>(d_data, d_data + COUNT, COUNT);
    CHECK(cudaDeviceSynchronize());
    long long before = 0, after = 0;
    for (int value : data) before += value;
    CHECK(cudaMemcpy(data, d_data, sizeof data, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++) {
        EXPECT(i == 0 || data[i - 1] <= data[i]);
        after += data[i];
    }
    EXPECT(before == after);
    return passed();
}
