// Fourier transforms of 512 points in shared memory, there and back, as SHOC's FFT.
#include "check.h"
#include <vector>

const int POINTS = 512, THREADS = 64;

__device__ float2 multiply(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Stockham's order: each pass reads one buffer and writes the other.
__global__ void transform(float2 *data, float direction) {
    __shared__ float2 buffers[2][POINTS];
    float2 *own = data + blockIdx.x * POINTS;
    int from = 0;
    for (int i = threadIdx.x; i < POINTS; i += THREADS)
        buffers[0][i] = own[i];
    __syncthreads();
    for (int size = 1; size < POINTS; size *= 2, from ^= 1) {
        for (int i = threadIdx.x; i < POINTS / 2; i += THREADS) {
            int at = i % size, place = i / size * 2 * size + at;
            float sine, cosine;
            sincosf(direction * 3.14159265f * at / size, &sine, &cosine);
            float2 a = buffers[from][i];
            float2 b = multiply(buffers[from][i + POINTS / 2], make_float2(cosine, sine));
            buffers[from ^ 1][place] = make_float2(a.x + b.x, a.y + b.y);
            buffers[from ^ 1][place + size] = make_float2(a.x - b.x, a.y - b.y);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < POINTS; i += THREADS)
        own[i] = buffers[from][i];
}

int main() {
    const int batch = 4, bytes = batch * POINTS * sizeof(float2);
    std::vector<float2> signal(batch * POINTS), got(batch * POINTS);
    unsigned state = 5;
    float2 *data;
    for (float2 &x : signal)
        x = make_float2(next_random(state) % 1000 / 1000.f - .5f, next_random(state) % 7 / 7.f);
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemcpy(data, signal.data(), bytes, cudaMemcpyHostToDevice));
    transform<<<batch, THREADS>>>(data, -1);
    CHECK(cudaMemcpy(got.data(), data, bytes, cudaMemcpyDeviceToHost));
    for (int k = 0; k < batch * POINTS; k += 97) {
        const float2 *own = &signal[k / POINTS * POINTS];
        double real = 0, imaginary = 0;
        for (int i = 0; i < POINTS; i++) {
            double angle = -2 * 3.14159265358979324 * i * (k % POINTS) / POINTS;
            real += own[i].x * std::cos(angle) - own[i].y * std::sin(angle);
            imaginary += own[i].x * std::sin(angle) + own[i].y * std::cos(angle);
        }
        EXPECT(std::fabs(real - got[k].x) < 1e-3 && std::fabs(imaginary - got[k].y) < 1e-3);
    }
    transform<<<batch, THREADS>>>(data, 1);
    CHECK(cudaMemcpy(got.data(), data, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < batch * POINTS; i++)
        EXPECT(std::fabs(got[i].x / POINTS - signal[i].x) < 1e-5 &&
               std::fabs(got[i].y / POINTS - signal[i].y) < 1e-5);
    return passed();
}
