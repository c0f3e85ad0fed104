// Device functions by pointer: a table in constant memory, and pointers fetched by the host.
#include "check.h"

typedef float (*Function)(float, float);

__device__ float plus(float a, float b) {
    return a + b;
}
__device__ float minus(float a, float b) {
    return a - b;
}
__device__ float times(float a, float b) {
    return a * b;
}

__constant__ Function table[3] = {plus, minus, times};
__device__ Function chosen = minus;

__global__ void apply_table(float *out) {
    int i = threadIdx.x;
    out[i] = table[i % 3]((float)i, 4);
}

__global__ void apply(Function function, float *out) {
    out[threadIdx.x] = function(threadIdx.x, 10);
}

int main() {
    float out[96], *device;
    Function function;
    CHECK(cudaMalloc(&device, sizeof out));
    apply_table<<<1, 96>>>(device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 96; i++)
        EXPECT(out[i] == (i % 3 == 0 ? i + 4 : i % 3 == 1 ? i - 4 : i * 4));
    CHECK(cudaMemcpyFromSymbol(&function, chosen, sizeof function));
    apply<<<1, 96>>>(function, device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 96; i++)
        EXPECT(out[i] == i - 10);
    return passed();
}
