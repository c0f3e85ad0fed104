// Functions of the device that take values of many types, each type by its own.

#include "check.h"

// The lanes of a warp whose quotient of the lane by four is the same are four in a row.
template <class T> __device__ bool match() {
    unsigned lane = threadIdx.x;
    int is_same, is_other;
    unsigned four = __match_any_sync(~0u, (T)(lane / 4));
    unsigned all = __match_all_sync(~0u, (T)-1, &is_same);
    unsigned none = __match_all_sync(~0u, (T)lane, &is_other);
    return four == 15u << (lane & ~3u) && all == ~0u && is_same && none == 0 && !is_other;
}

__global__ void match_all_types(int *wrong) {
    bool is_right = match<int>() && match<unsigned>() && match<long>() && match<unsigned long>() &&
                    match<long long>() && match<unsigned long long>() && match<float>() &&
                    match<double>();
    if (!is_right) atomicAdd(wrong, 1);
}

int main() {
    int *wrong, count = 0;
    CHECK(cudaMalloc(&wrong, sizeof count));
    CHECK(cudaMemset(wrong, 0, sizeof count));
    match_all_types<<<1, 32>>>(wrong);
    CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
    EXPECT(count == 0);
    return passed();
}
