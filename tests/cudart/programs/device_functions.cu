// A tour of what only devices have: bit and byte functions, half precision, atomics of all kinds,
// device malloc, recursion, functions in a table, a structure as an argument.
#include <cuda_fp16.h>

#include "check.h"

__device__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

typedef int Operation(int, int);
__device__ int add(int a, int b) {
    return a + b;
}
__device__ int multiply(int a, int b) {
    return a * b;
}
__device__ Operation *operations[2] = {add, multiply};

struct Big {
    int numbers[20];
    double fraction;
};

__global__ void __launch_bounds__(128, 2) tour(int *out, Big big, const int4 *vector) {
    int at = 0;
    out[at++] = fibonacci(10);
    out[at++] = operations[1](6, 7);
    out[at++] = big.numbers[19] + (int)big.fraction;
    int4 v = vector[0];
    out[at++] = v.x + v.y + v.z + v.w;
    out[at++] = __popc(0xff00ff) + __clz(1) + __ffs(8);
    out[at++] = __brev(1) == 0x80000000u;
    __half2 h = __floats2half2_rn(1.5f, 2.5f);
    h = __hfma2(h, h, h);
    out[at++] = (int)(__low2float(h) * 100 + __high2float(h));
    out[at++] = __dp4a(0x01020304, 0x01010101, 5);
    int *memory = (int *)malloc(64);
    memory[3] = 9;
    out[at++] = memory[3];
    free(memory);
    out[at++] = __mulhi(1 << 30, 8) + (int)__umul64hi(1ull << 63, 4);
    long long before = clock64();
    out[at++] = clock64() >= before;
    out[at++] = __byte_perm(0x11223344, 0x55667788, 0x0123) == 0x44332211 &&
                __byte_perm(0x11223384, 0x55667788, 0x3218) == 0x11223384;
    out[at++] = __funnelshift_l(1, 2, 4);
    out[at++] = __double2hiint(1.0) == 0x3ff00000 && __hiloint2double(0x40000000, 0) == 2.0;
    int *cells = out + at;
    atomicMax(&cells[0], 5);
    atomicMin(&cells[1], -5);
    atomicExch(&cells[2], 3);
    atomicCAS(&cells[3], 0, 4);
    atomicInc((unsigned *)&cells[4], 10);
    atomicOr(&cells[5], 6);
    atomicXor(&cells[6], 3);
    atomicSub(&cells[7], 2);
}

int main() {
    const int expected[] = {55, 42, 10, 10, 51, 1, 383, 15, 9, 4, 1, 1, 32, 1, 5, -5, 3, 4, 1, 6, 3, -2};
    const int count = sizeof expected / sizeof expected[0];
    int *host, *device;
    CHECK(cudaHostAlloc((void **)&host, sizeof expected, cudaHostAllocMapped));
    for (int i = 0; i < count; i++)
        host[i] = 0;
    CHECK(cudaHostGetDevicePointer((void **)&device, host, 0));
    Big big = {};
    big.numbers[19] = 7;
    big.fraction = 3.9;
    int4 *vector, numbers = make_int4(1, 2, 3, 4);
    CHECK(cudaMalloc(&vector, sizeof numbers));
    CHECK(cudaMemcpy(vector, &numbers, sizeof numbers, cudaMemcpyDefault));
    tour<<<1, 1>>>(device, big, vector);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++) {
        if (host[i] != expected[i]) std::printf("%d: %d, not %d\n", i, host[i], expected[i]);
        EXPECT(host[i] == expected[i]);
    }
    return passed();
}
