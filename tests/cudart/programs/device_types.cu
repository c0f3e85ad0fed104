// Functions of the device that take values of many types, and bytes of any size at any place.

#include <cstring>

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

__host__ __device__ unsigned bits_of(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

__global__ void compare_and_halve(int *wrong, int low, unsigned high) {
    bool is_right = umin(high, 1) == 1 && umax(high, 1) == high && llmin(low, 3) == low &&
                    llmax(low, 3) == 3 && ullmin(~0ull, high) == high && ullmax(~0ull, high) == ~0ull;
    is_right = is_right && __hadd(low, 2) == -2 && __rhadd(low, 2) == -1 &&
               __uhadd(high, 3) == 0x80000000 && __urhadd(high, 3) == 0x80000001;
    if (!is_right) atomicAdd(wrong, 1);
}

enum { BYTES = 96, PLACES = 9 };

// Whether the bytes from `at` on are those from `first` on in 0, 1, 2, ..., and around them 0xee.
__device__ bool holds(const unsigned char *bytes, int at, int size, int first) {
    for (int i = 0; i < BYTES; i++)
        if (bytes[i] != (i < at || i >= at + size ? 0xee : first + i - at)) return false;
    return true;
}

// Each thread copies and sets as many bytes as its index, from and to each place.
__global__ void move_bytes(int *wrong) {
    __shared__ unsigned char numbers[BYTES];
    unsigned char bytes[BYTES];
    int size = threadIdx.x;
    for (int i = size; i < BYTES; i += 32)
        numbers[i] = (unsigned char)i;
    __syncthreads();
    for (int from = 0; from < PLACES; from++)
        for (int to = 0; to < PLACES; to++) {
            void *returned = memset(bytes, 0x1ee, BYTES);
            returned = memcpy(bytes + to, numbers + from, size) == bytes + to ? returned : nullptr;
            if (returned != bytes || !holds(bytes, to, size, from)) atomicAdd(wrong, 1);
#ifdef __clang__ // nvcc has no memmove
            memcpy(bytes, numbers, BYTES);
            memmove(bytes + to, bytes + from, size);
            memset(bytes, 0xee, to);
            memset(bytes + to + size, 0xee, BYTES - to - size);
            if (!holds(bytes, to, size, from)) atomicAdd(wrong, 1);
#endif
        }
    if (bits_of(1.5f) != 0x3fc00000) atomicAdd(wrong, 1);
}

int main() {
    int *wrong, count = 0;
    CHECK(cudaMalloc(&wrong, sizeof count));
    CHECK(cudaMemset(wrong, 0, sizeof count));
    match_all_types<<<1, 32>>>(wrong);
    compare_and_halve<<<1, 1>>>(wrong, -5, 0xfffffffe);
    move_bytes<<<1, 32>>>(wrong);
    EXPECT(bits_of(-2) == 0xc0000000);
    CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
    EXPECT(count == 0);
    return passed();
}
