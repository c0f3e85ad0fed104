// A kernel works in the program's own memory: registered, with pointers in structures.
#include "check.h"
#include <cstring>
#include <vector>
#include <sys/mman.h>

struct Node {
    int value;
    Node *next;
};

__global__ void sum_list(const Node *node, int *sum) {
    for (; node; node = node->next)
        *sum += node->value;
}

__global__ void scale(float *x, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}

__global__ void dot(const float *a, const float *b, int n, float *out) {
    float part = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        part += a[i] * b[i];
    atomicAdd_system(out, part);
}

static float fixed[1000];

int main() {
    const int n = 5000;
    float *x = (float *)malloc(n * sizeof(float)), *seen;
    for (int i = 0; i < n; i++)
        x[i] = float(i);
    CHECK(cudaHostRegister(x, n * sizeof(float), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&seen, x, 0));
    scale<<<(n + 255) / 256, 256>>>(seen, n, 2);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(x[i] == 2.0f * i);

    // In the middle of it, and as the host wrote it since.
    x[n / 2] = 7;
    CHECK(cudaHostGetDevicePointer(&seen, x + n / 2, 0));
    scale<<<1, 32>>>(seen, 1, 3);
    CHECK(cudaDeviceSynchronize());
    EXPECT(x[n / 2] == 21);

    // A list whose pointers are the host's own.
    std::vector<Node> nodes(64);
    for (int i = 0; i < 64; i++)
        nodes[i] = {i * i, i ? &nodes[i - 1] : nullptr};
    int usable = 0, *sum;
    CHECK(cudaDeviceGetAttribute(&usable, cudaDevAttrCanUseHostPointerForRegisteredMem, 0));
    EXPECT(usable == 1);
    CHECK(cudaHostRegister(nodes.data(), 64 * sizeof(Node), cudaHostRegisterReadOnly));
    CHECK(cudaHostAlloc(&sum, sizeof(int), cudaHostAllocMapped));
    *sum = 0;
    sum_list<<<1, 1>>>(&nodes[63], sum);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*sum == 63 * 64 * 127 / 6);

    // Static and mapped memory, atomics from the device.
    float *page =
        (float *)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    float out = 0, exact = 0;
    for (int i = 0; i < 1000; i++) {
        fixed[i] = float(i % 7), page[i] = float(i % 5);
        exact += fixed[i] * page[i];
    }
    CHECK(cudaHostRegister(fixed, sizeof fixed, cudaHostRegisterDefault));
    CHECK(cudaHostRegister(page, 8192, cudaHostRegisterPortable));
    CHECK(cudaHostRegister(&out, sizeof out, cudaHostRegisterDefault));
    dot<<<1, 128>>>(fixed, page, 1000, &out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out == exact);

    // What it is, and its end.
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, page + 3));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == page + 3);
    EXPECT(cudaHostRegister(page + 100, 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
    EXPECT(cudaHostUnregister(page + 100) == cudaErrorInvalidValue);
    CHECK(cudaHostUnregister(page));
    CHECK(cudaHostUnregister(fixed));
    CHECK(cudaHostUnregister(&out));
    CHECK(cudaHostUnregister(nodes.data()));
    CHECK(cudaHostUnregister(x));
    EXPECT(cudaHostUnregister(x) == cudaErrorHostMemoryNotRegistered);
    munmap(page, 8192);
    EXPECT(cudaGetLastError() == cudaErrorHostMemoryNotRegistered);
    CHECK(cudaFreeHost(sum));
    free(x);
    return passed();
}
