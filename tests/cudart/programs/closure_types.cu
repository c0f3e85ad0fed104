// Lambdas that kernels take (nvcc's --extended-lambda): the compiler says which types are such, and a
// launch by any of them works, captured values and all.
#include "check.h"

template <class F> __global__ void apply(F f, int *out) { out[threadIdx.x] = f(threadIdx.x); }

struct Plain {
    __host__ __device__ int operator()(int i) const { return i - 1; }
};

template <class F> static void run(F f, int (&out)[32]) {
    int *d_out;
    CHECK(cudaMalloc(&d_out, sizeof out));
    apply<<<1, 32>>>(f, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_out));
}

int main() {
    int out[32], factor = 7, array[3] = {10, 20, 30};
    auto on_device = [=] __device__(int i) { return i * factor + array[i % 3]; };
    auto on_both = [=] __host__ __device__(int i) { return i + factor; };
    auto on_host = [=](int i) { return i; };
    static_assert(__nv_is_extended_device_lambda_closure_type(decltype(on_device)), "a device's lambda");
    static_assert(__nv_is_extended_host_device_lambda_closure_type(decltype(on_both)), "a lambda of both");
    static_assert(!__nv_is_extended_device_lambda_closure_type(decltype(on_host)), "a host's lambda");
    static_assert(!__nv_is_extended_device_lambda_closure_type(Plain), "no lambda");
    run(on_device, out);
    for (int i = 0; i < 32; i++) EXPECT(out[i] == i * factor + array[i % 3]);
    run(on_both, out);
    for (int i = 0; i < 32; i++) EXPECT(out[i] == on_both(i));
    run(Plain(), out);
    for (int i = 0; i < 32; i++) EXPECT(out[i] == on_host(i) - 1);
    return passed();
}
