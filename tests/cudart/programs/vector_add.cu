// Adds two vectors: the first CUDA program of everyone.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 5000;
    size_t size = n * sizeof(float);
    float *a = (float *)std::malloc(size), *b = (float *)std::malloc(size);
    float *c = (float *)std::malloc(size);
    unsigned state = 1;
    for (int i = 0; i < n; i++) {
        a[i] = next_random(state) / 1e6f;
        b[i] = next_random(state) / 1e6f;
    }
    float *da, *db, *dc;
    CHECK(cudaMalloc((void **)&da, size));
    CHECK(cudaMalloc((void **)&db, size));
    CHECK(cudaMalloc((void **)&dc, size));
    CHECK(cudaMemcpy(da, a, size, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, size, cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, dc, size, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(c[i] == a[i] + b[i]);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    std::free(a);
    std::free(b);
    std::free(c);
    return passed();
}
