// Ten thousand tiny launches: the cost of a launch without the kernel's work.
#include "check.h"

__global__ void step(int *value) {
    *value += 1;
}

int main() {
    const int launches = 10000;
    int value = 0, *device;
    CHECK(cudaMalloc(&device, sizeof value));
    CHECK(cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice));
    for (int i = 0; i < launches; i++)
        step<<<1, 1>>>(device);
    CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == launches);
    return passed();
}
