// A radix sort of four bits at a time, as SHOC's: counts by block, a scan, and a stable scatter in
// which the lanes of a warp find their equals.
#include "check.h"
#include <algorithm>
#include <utility>
#include <vector>

const int BLOCK = 256, DIGITS = 16;

__global__ void count(const unsigned *keys, unsigned *counts, int n, int shift) {
    __shared__ unsigned own[DIGITS];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (threadIdx.x < DIGITS) own[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&own[keys[i] >> shift & 15], 1u);
    __syncthreads();
    if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}

// Each count becomes the sum of those before it.
__global__ void scan(unsigned *counts, int n) {
    __shared__ unsigned warp_sums[BLOCK / 32];
    unsigned base = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int first = 0; first < n; first += BLOCK) {
        int i = first + threadIdx.x;
        unsigned own = i < n ? counts[i] : 0, sum = own, before = 0, all = 0;
        for (unsigned step = 1; step < 32; step *= 2) {
            unsigned other = __shfl_up_sync(~0u, sum, step);
            if (lane >= step) sum += other;
        }
        if (lane == 31) warp_sums[warp] = sum;
        __syncthreads();
        for (unsigned w = 0; w < BLOCK / 32; w++) {
            if (w < warp) before += warp_sums[w];
            all += warp_sums[w];
        }
        if (i < n) counts[i] = base + before + sum - own;
        base += all;
        __syncthreads();
    }
}

__global__ void scatter(const unsigned *keys, unsigned *out, const unsigned *places, int n,
                        int shift) {
    __shared__ unsigned char digits[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned key = i < n ? keys[i] : 0, digit = i < n ? key >> shift & 15 : DIGITS, rank = 0;
    digits[threadIdx.x] = digit;
    __syncthreads();
    for (unsigned other = 0; other < threadIdx.x / 32 * 32; other++)
        rank += digits[other] == digit;
    unsigned equals = __match_any_sync(~0u, digit);
    rank += __popc(equals & ((1u << threadIdx.x % 32) - 1));
    if (i < n) out[places[digit * gridDim.x + blockIdx.x] + rank] = key;
}

int main() {
    const int n = 1500, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<unsigned> keys(n), sorted(n);
    unsigned state = 11, *from, *to, *counts;
    for (unsigned &key : keys)
        key = next_random(state) << 8 ^ next_random(state);
    CHECK(cudaMalloc(&from, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&to, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&counts, DIGITS * blocks * sizeof(unsigned)));
    CHECK(cudaMemcpy(from, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    for (int shift = 0; shift < 32; shift += 4) {
        count<<<blocks, BLOCK>>>(from, counts, n, shift);
        scan<<<1, BLOCK>>>(counts, DIGITS * blocks);
        scatter<<<blocks, BLOCK>>>(from, to, counts, n, shift);
        std::swap(from, to);
    }
    CHECK(cudaMemcpy(sorted.data(), from, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    std::sort(keys.begin(), keys.end());
    EXPECT(sorted == keys);
    return passed();
}
