// Multiplies matrices tile by tile; the tile's size is a template parameter.
#include "check.h"

template <int TILE>
__global__ void multiply(float *c, const float *a, const float *b, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int start = 0; start < n; start += TILE) {
        as[y][x] = a[row * n + start + x];
        bs[y][x] = b[(start + y) * n + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

template <int TILE> void run(const float *a, const float *b, int n) {
    size_t size = n * n * sizeof(float);
    float *da, *db, *dc, *c = new float[n * n];
    cudaEvent_t start, stop;
    CHECK(cudaMalloc(&da, size));
    CHECK(cudaMalloc(&db, size));
    CHECK(cudaMalloc(&dc, size));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMemcpy(da, a, size, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, size, cudaMemcpyHostToDevice));
    CHECK(cudaEventRecord(start));
    multiply<TILE><<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(dc, da, db, n);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds > 0);
    CHECK(cudaMemcpy(c, dc, size, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += (double)a[i * n + k] * b[k * n + j];
            EXPECT(is_near(c[i * n + j], sum));
        }
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    delete[] c;
}

int main() {
    const int n = 64;
    float *a = new float[n * n], *b = new float[n * n];
    for (int i = 0; i < n * n; i++) {
        a[i] = (float)(i % 7) - 3;
        b[i] = (float)(i % 11) / 4;
    }
    run<8>(a, b, n);
    run<16>(a, b, n);
    delete[] a;
    delete[] b;
    return passed();
}
