// Kernels that take functors: templates, structures by value, recursion.
#include "check.h"

struct Polynomial {
    double c[4];
    __host__ __device__ double operator()(double x) const {
        return ((c[3] * x + c[2]) * x + c[1]) * x + c[0];
    }
};

struct Fibonacci {
    __host__ __device__ static int value(int n) { return n < 2 ? n : value(n - 1) + value(n - 2); }
    __host__ __device__ double operator()(double x) const { return value((int)x % 12); }
};

template <typename F, typename G> struct Composed {
    F f;
    G g;
    __host__ __device__ double operator()(double x) const { return f(g(x)); }
};

template <typename F> __global__ void map(F f, double *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = f(data[i]);
}

template <typename F> void run(F f) {
    const int n = 150;
    double data[n], out[n], *device;
    for (int i = 0; i < n; i++)
        data[i] = i;
    CHECK(cudaMalloc(&device, sizeof data));
    CHECK(cudaMemcpy(device, data, sizeof data, cudaMemcpyHostToDevice));
    map<<<(n + 63) / 64, 64>>>(f, device, n);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(is_near(out[i], f(data[i]), 1e-12));
    CHECK(cudaFree(device));
}

int main() {
    Polynomial polynomial = {{1, -2, 0.5, 0.25}};
    run(polynomial);
    run(Fibonacci());
    run(Composed<Polynomial, Fibonacci>{polynomial, Fibonacci()});
    return passed();
}
