// Zero copy: a kernel works in page-locked memory of the host.
#include "check.h"

__global__ void square(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * in[i];
}

int main() {
    const int n = 256;
    int *in, *out, *d_in, *d_out, plain[n];
    unsigned flags;
    CHECK(cudaSetDeviceFlags(cudaDeviceMapHost));
    CHECK(cudaHostAlloc(&in, n * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&out, n * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostGetFlags(&flags, out));
    EXPECT(flags & cudaHostAllocMapped);
    for (int i = 0; i < n; i++)
        in[i] = i - 100;
    CHECK(cudaHostGetDevicePointer(&d_in, in, 0));
    CHECK(cudaHostGetDevicePointer(&d_out, out, 0));
    square<<<2, 128>>>(d_in, d_out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == in[i] * in[i]);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, in));
    EXPECT(attributes.type == cudaMemoryTypeHost);
    CHECK(cudaHostRegister(plain, sizeof plain, cudaHostRegisterDefault));
    CHECK(cudaMemcpy(plain, d_out, sizeof plain, cudaMemcpyDefault));
    EXPECT(plain[255] == 155 * 155);
    CHECK(cudaHostUnregister(plain));
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    return passed();
}
