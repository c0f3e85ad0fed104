// Device variables of several kinds, found by address, size and name.
#include "check.h"

struct Settings {
    int rounds;
    float gain;
};

__device__ Settings settings = {2, 0.5f};
__device__ int grid_counts[8];
static __device__ unsigned long long ticket = 1000;
__constant__ Settings limits[2] = {{1, 2}, {3, 4}};

template <typename T> __device__ T scratch;

__global__ void use(float *out) {
    unsigned long long mine = atomicAdd(&ticket, 1ull);
    atomicAdd(&grid_counts[blockIdx.x], 1);
    out[mine - 1000] = settings.rounds * settings.gain + limits[1].gain;
    scratch<int> = 5;
}

int main() {
    float out[64], *d_out;
    int counts[8], *address;
    size_t size;
    unsigned long long last;
    Settings changed = {7, 0.25f};
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpyToSymbol(settings, &changed.gain, sizeof(float), offsetof(Settings, gain)));
    use<<<8, 8>>>(d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (float value : out)
        EXPECT(value == 2 * 0.25f + 4);
    CHECK(cudaGetSymbolAddress((void **)&address, grid_counts));
    CHECK(cudaGetSymbolSize(&size, grid_counts));
    EXPECT(size == sizeof counts);
    CHECK(cudaMemcpy(counts, address, size, cudaMemcpyDeviceToHost));
    for (int count : counts)
        EXPECT(count == 8);
    CHECK(cudaMemcpyFromSymbol(&last, ticket, sizeof last));
    EXPECT(last == 1064);
    return passed();
}
