// A histogram whose bins are bytes that stop at 255, four to a word, as Parboil's histo has them.
#include "check.h"
#include <algorithm>
#include <vector>

const int BINS = 256;

// Adds to byte `bin` of packed words, up to 255.
__device__ void add_saturating(unsigned *words, unsigned bin, unsigned count) {
    unsigned *word = &words[bin / 4], shift = 8 * (bin % 4), before = *word, seen;
    do {
        seen = before;
        unsigned sum = min(255u, (seen >> shift & 255) + count);
        before = atomicCAS(word, seen, (seen & ~(255u << shift)) | sum << shift);
    } while (before != seen);
}

__global__ void count(const unsigned *values, unsigned *total, int n) {
    __shared__ unsigned own[BINS / 4];
    for (int i = threadIdx.x; i < BINS / 4; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        add_saturating(own, values[i], 1);
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        add_saturating(total, bin, own[bin / 4] >> 8 * (bin % 4) & 255);
}

int main() {
    const int n = 12000;
    std::vector<unsigned> values(n), expected(BINS);
    std::vector<unsigned char> got(BINS);
    unsigned state = 7, *device_values, *total;
    for (unsigned &value : values) {
        value = (next_random(state) % 64 + next_random(state) % 64) / 2 + 100;
        expected[value] = std::min(255u, expected[value] + 1);
    }
    CHECK(cudaMalloc(&device_values, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&total, BINS));
    CHECK(cudaMemcpy(device_values, values.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(total, 0, BINS));
    count<<<4, 128>>>(device_values, total, n);
    CHECK(cudaMemcpy(got.data(), total, BINS, cudaMemcpyDeviceToHost));
    int full = 0;
    for (int bin = 0; bin < BINS; bin++) {
        EXPECT(got[bin] == expected[bin]);
        full += got[bin] == 255;
    }
    EXPECT(full > 0 && full < 64);
    return passed();
}
