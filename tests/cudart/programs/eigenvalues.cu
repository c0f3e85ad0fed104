// All eigenvalues of a symmetric tridiagonal matrix by bisection: a thread has an eigenvalue, and counts
// by Sturm's sequence how many lie below the middle of its interval; double precision.
#include "check.h"

#include <algorithm>
#include <vector>

const int N = 200;

__device__ int count_below(const double *diagonal, const double *beside, double x) {
    double q = diagonal[0] - x;
    int count = q < 0;
    for (int i = 1; i < N; i++) {
        if (q == 0) q = 1e-300;
        q = diagonal[i] - x - beside[i - 1] * beside[i - 1] / q;
        count += q < 0;
    }
    return count;
}

__global__ void bisect(const double *g_diagonal, const double *g_beside, double low, double high, double *values,
                       int *rounds) {
    extern __shared__ double room[];
    double *diagonal = room, *beside = room + N;
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        diagonal[i] = g_diagonal[i];
        beside[i] = i + 1 < N ? g_beside[i] : 0;
    }
    __syncthreads();
    int mine = blockIdx.x * blockDim.x + threadIdx.x, turns = 0;
    if (mine >= N) return;
    double left = low, right = high;
    while (right - left > 1e-12 * fmax(1.0, fabs(left) + fabs(right))) {
        double middle = left + (right - left) / 2;
        if (count_below(diagonal, beside, middle) <= mine) left = middle;
        else right = middle;
        turns++;
    }
    values[mine] = (left + right) / 2;
    atomicMax(rounds, turns);
}

int main() {
    std::vector<double> diagonal(N), beside(N - 1), values(N), ones(N), twos(N - 1);
    double *d_diagonal, *d_beside, *d_values, low = 1e9, high = -1e9;
    int rounds, *d_rounds;
    unsigned random = 11;
    for (double &d : diagonal) d = next_random(random) % 2000 / 100.0 - 10;
    for (double &b : beside) b = next_random(random) % 1000 / 100.0;
    for (int i = 0; i < N; i++) { // Gershgorin's circles
        double radius = (i ? std::fabs(beside[i - 1]) : 0) + (i + 1 < N ? std::fabs(beside[i]) : 0);
        low = std::min(low, diagonal[i] - radius);
        high = std::max(high, diagonal[i] + radius);
    }
    CHECK(cudaMalloc(&d_diagonal, N * 8));
    CHECK(cudaMalloc(&d_beside, N * 8));
    CHECK(cudaMalloc(&d_values, N * 8));
    CHECK(cudaMalloc(&d_rounds, 4));
    CHECK(cudaMemset(d_rounds, 0, 4));
    CHECK(cudaMemcpy(d_diagonal, diagonal.data(), N * 8, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_beside, beside.data(), (N - 1) * 8, cudaMemcpyHostToDevice));
    bisect<<<(N + 63) / 64, 64, 2 * N * 8>>>(d_diagonal, d_beside, low, high, d_values, d_rounds);
    CHECK(cudaMemcpy(values.data(), d_values, N * 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&rounds, d_rounds, 4, cudaMemcpyDeviceToHost));
    EXPECT(rounds > 30 && rounds < 64);
    // what eigenvalues must be: in order, with the trace and the trace of the square
    double sum = 0, square = 0, trace = 0, trace2 = 0;
    for (int i = 0; i < N; i++) {
        EXPECT(i == 0 || values[i - 1] <= values[i] + 1e-10);
        sum += values[i];
        square += values[i] * values[i];
        trace += diagonal[i];
        trace2 += diagonal[i] * diagonal[i] + (i + 1 < N ? 2 * beside[i] * beside[i] : 0);
    }
    EXPECT(is_near(sum, trace, 1e-9) && is_near(square, trace2, 1e-9));
    // and a matrix whose eigenvalues are known: 2 on the diagonal, 1 next to it
    std::fill(ones.begin(), ones.end(), 2.0);
    std::fill(twos.begin(), twos.end(), 1.0);
    CHECK(cudaMemcpy(d_diagonal, ones.data(), N * 8, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_beside, twos.data(), (N - 1) * 8, cudaMemcpyHostToDevice));
    bisect<<<(N + 63) / 64, 64, 2 * N * 8>>>(d_diagonal, d_beside, -1, 5, d_values, d_rounds);
    CHECK(cudaMemcpy(values.data(), d_values, N * 8, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) EXPECT(is_near(values[i], 2 - 2 * std::cos((i + 1) * M_PI / (N + 1)), 1e-10));
    return passed();
}
