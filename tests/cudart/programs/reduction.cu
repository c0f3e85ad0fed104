// Sums of several types: templates over type and block size, dynamic shared memory, warp shuffles.
#include "check.h"

template <typename T> struct SharedMemory {
    __device__ operator T *() {
        extern __shared__ double words[];
        return (T *)words;
    }
};

template <typename T, unsigned BLOCK> __global__ void reduce(const T *in, T *out, unsigned n) {
    T *shared = SharedMemory<T>();
    unsigned t = threadIdx.x;
    T sum = 0;
    for (unsigned i = blockIdx.x * BLOCK + t; i < n; i += BLOCK * gridDim.x)
        sum += in[i];
    shared[t] = sum;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half >= 32; half /= 2) {
        if (t < half) shared[t] = sum = sum + shared[t + half];
        __syncthreads();
    }
    if (t < 32) {
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (t == 0) out[blockIdx.x] = sum;
}

template <typename T, unsigned BLOCK> void run(unsigned n) {
    const unsigned blocks = 4;
    T *in = new T[n], *d_in, *d_out, parts[blocks], expected = 0, sum = 0;
    for (unsigned i = 0; i < n; i++)
        expected += in[i] = (T)(i % 13);
    CHECK(cudaMalloc(&d_in, n * sizeof(T)));
    CHECK(cudaMalloc(&d_out, sizeof parts));
    CHECK(cudaMemcpy(d_in, in, n * sizeof(T), cudaMemcpyHostToDevice));
    reduce<T, BLOCK><<<blocks, BLOCK, BLOCK * sizeof(T)>>>(d_in, d_out, n);
    CHECK(cudaMemcpy(parts, d_out, sizeof parts, cudaMemcpyDeviceToHost));
    for (T part : parts)
        sum += part;
    EXPECT(sum == expected);
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    delete[] in;
}

int main() {
    run<int, 64>(3000);
    run<int, 256>(3001);
    run<float, 128>(1777);
    run<double, 64>(999);
    return passed();
}
