// Sorts by compare and exchange, one launch for every step.
#include "check.h"

template <typename T> __global__ void exchange(T *data, unsigned distance, unsigned size) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
    if (other <= i) return;
    bool is_rising = (i & size) == 0;
    T a = data[i], b = data[other];
    if ((a > b) == is_rising) {
        data[i] = b;
        data[other] = a;
    }
}

int main() {
    const unsigned n = 1024;
    static unsigned data[n];
    unsigned state = 11, *device, before = 0, after = 0;
    for (unsigned &value : data)
        before ^= value = next_random(state);
    CHECK(cudaMalloc(&device, sizeof data));
    CHECK(cudaMemcpy(device, data, sizeof data, cudaMemcpyHostToDevice));
    for (unsigned size = 2; size <= n; size *= 2)
        for (unsigned distance = size / 2; distance > 0; distance /= 2)
            exchange<<<n / 128, 128>>>(device, distance, size);
    CHECK(cudaMemcpy(data, device, sizeof data, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++) {
        after ^= data[i];
        EXPECT(i == 0 || data[i - 1] <= data[i]);
    }
    EXPECT(before == after);
    return passed();
}
