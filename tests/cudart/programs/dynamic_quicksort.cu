// Quicksort by kernels that launch kernels: a grid partitions its part and launches one for each side,
// in streams of its own; short parts are sorted in place. A tail launch counts what is in order when
// all of them have ended.
#include "check.h"

const int COUNT = 3000, SHORT = 24;

__device__ void sort_short(int *data, int left, int right) {
    for (int i = left + 1; i <= right; i++) {
        int value = data[i], j = i;
        for (; j > left && data[j - 1] > value; j--)
            data[j] = data[j - 1];
        data[j] = value;
    }
}

__global__ void sort(int *data, int left, int right, int depth) {
    if (right - left < SHORT || depth >= 18) {
        sort_short(data, left, right);
        return;
    }
    int low = left, high = right, pivot = data[left + (right - left) / 2];
    while (low <= high) {
        while (data[low] < pivot)
            low++;
        while (data[high] > pivot)
            high--;
        if (low > high) break;
        int value = data[low];
        data[low++] = data[high];
        data[high--] = value;
    }
    cudaStream_t stream;
    if (left < high) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        sort<<<1, 1, 0, stream>>>(data, left, high, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (low < right) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        sort<<<1, 1, 0, stream>>>(data, low, right, depth + 1);
        cudaStreamDestroy(stream);
    }
}

__global__ void count_ordered(const int *data, int count, int *ordered) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < count && data[i] <= data[i + 1]) atomicAdd(ordered, 1);
}

__global__ void sort_all(int *data, int count, int *words) {
    count_ordered<<<(count + 127) / 128, 128, 0, cudaStreamTailLaunch>>>(data, count, words);
    sort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, 0, count - 1, 0);
    words[1] = (int)cudaGetLastError();
}

int main() {
    int data[COUNT], sorted[COUNT], words[2], *d_data, *d_words;
    long long sum = 0;
    unsigned random = 5;
    for (int i = 0; i < COUNT; i++)
        sum += data[i] = (int)(next_random(random) % 100000);
    CHECK(cudaMalloc((void **)&d_data, sizeof data));
    CHECK(cudaMalloc((void **)&d_words, sizeof words));
    CHECK(cudaMemset(d_words, 0xff, sizeof words));
    CHECK(cudaMemset(d_words, 0, sizeof(int)));
    CHECK(cudaMemcpy(d_data, data, sizeof data, cudaMemcpyHostToDevice));
    sort_all<<<1, 1>>>(d_data, COUNT, d_words);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(sorted, d_data, sizeof sorted, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(words, d_words, sizeof words, cudaMemcpyDeviceToHost));
    EXPECT(words[0] == COUNT - 1 && words[1] == cudaSuccess);
    for (int i = 0; i < COUNT; i++) {
        EXPECT(i == 0 || sorted[i - 1] <= sorted[i]);
        sum -= sorted[i];
    }
    EXPECT(sum == 0);
    return passed();
}
