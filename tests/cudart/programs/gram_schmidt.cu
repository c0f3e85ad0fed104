// A matrix made of orthonormal columns and a triangle, column by column, as PolyBench's
// gramschmidt.
#include "check.h"
#include <vector>

const int ROWS = 40, COLUMNS = 24;

__global__ void norm(const float *a, float *r, int k) {
    __shared__ float parts[32];
    float sum = 0;
    for (int i = threadIdx.x; i < ROWS; i += 32)
        sum += a[i * COLUMNS + k] * a[i * COLUMNS + k];
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (int i = 1; i < 32; i++)
        sum += parts[i];
    r[k * COLUMNS + k] = sqrtf(sum);
}

__global__ void divide(const float *a, const float *r, float *q, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ROWS) q[i * COLUMNS + k] = a[i * COLUMNS + k] / r[k * COLUMNS + k];
}

__global__ void project(float *a, float *r, const float *q, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= k || j >= COLUMNS) return;
    float sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += q[i * COLUMNS + k] * a[i * COLUMNS + j];
    r[k * COLUMNS + j] = sum;
    for (int i = 0; i < ROWS; i++)
        a[i * COLUMNS + j] -= q[i * COLUMNS + k] * sum;
}

int main() {
    std::vector<float> matrix(ROWS * COLUMNS), q(ROWS * COLUMNS), r(COLUMNS * COLUMNS);
    unsigned state = 13;
    float *a, *device_q, *device_r;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = next_random(state) % 1000 / 1000.f + (i % (COLUMNS + 1) == 0 ? 4 : 0);
    CHECK(cudaMalloc(&a, matrix.size() * sizeof(float)));
    CHECK(cudaMalloc(&device_q, q.size() * sizeof(float)));
    CHECK(cudaMalloc(&device_r, r.size() * sizeof(float)));
    CHECK(cudaMemcpy(a, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_r, 0, r.size() * sizeof(float)));
    for (int k = 0; k < COLUMNS; k++) {
        norm<<<1, 32>>>(a, device_r, k);
        divide<<<2, 32>>>(a, device_r, device_q, k);
        project<<<1, 32>>>(a, device_r, device_q, k);
    }
    CHECK(cudaMemcpy(q.data(), device_q, q.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(r.data(), device_r, r.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < COLUMNS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (int k = 0; k < ROWS; k++)
                sum += double(q[k * COLUMNS + i]) * q[k * COLUMNS + j];
            EXPECT(std::fabs(sum - (i == j)) < 1e-4);
        }
    }
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        double sum = 0;
        for (int k = 0; k <= i % COLUMNS; k++)
            sum += double(q[i / COLUMNS * COLUMNS + k]) * r[k * COLUMNS + i % COLUMNS];
        EXPECT(std::fabs(sum - matrix[i]) < 1e-4);
    }
    return passed();
}
