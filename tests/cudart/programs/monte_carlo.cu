// Counts random points in a circle with 64-bit atomics; adds doubles with compare-and-swap.
#include "check.h"

__device__ unsigned long long inside;
__device__ double mass;

__host__ __device__ unsigned step(unsigned &state) {
    state = state * 1664525u + 1013904223u;
    return state >> 16;
}

__host__ __device__ int throw_points(unsigned seed, int count) {
    int hits = 0;
    for (int i = 0; i < count; i++) {
        unsigned x = step(seed), y = step(seed);
        hits += (unsigned long long)x * x + (unsigned long long)y * y < 65536ull * 65536ull;
    }
    return hits;
}

__device__ void add_double(double *to, double value) {
    unsigned long long *bits = (unsigned long long *)to, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed,
                        __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
}

__global__ void sample(int count) {
    unsigned seed = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&inside, (unsigned long long)throw_points(seed, count));
    if (threadIdx.x % 16 == 0) add_double(&mass, 0.25);
}

int main() {
    const int threads = 256, count = 20;
    unsigned long long hits = 0, expected = 0;
    double weight;
    CHECK(cudaMemcpyToSymbol(inside, &hits, sizeof hits));
    sample<<<threads / 64, 64>>>(count);
    CHECK(cudaMemcpyFromSymbol(&hits, inside, sizeof hits));
    CHECK(cudaMemcpyFromSymbol(&weight, mass, sizeof weight));
    for (int i = 0; i < threads; i++)
        expected += throw_points(i, count);
    EXPECT(hits == expected);
    EXPECT(weight == threads / 16 * 0.25);
    return passed();
}
