// Samples at any place, gathered to a grid by bins: counted, scanned, sorted into their bins, and
// weighted by their distance, as Parboil's MRI-gridding.
#include "check.h"
#include <vector>

const int SIDE = 24, CELLS = SIDE * SIDE, SAMPLES = 600, REACH = 2;

__global__ void count(const float2 *places, unsigned *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SAMPLES) atomicAdd(&counts[int(places[i].y) * SIDE + int(places[i].x)], 1u);
}

// Where each bin begins; one block.
__global__ void scan(const unsigned *counts, unsigned *begins) {
    __shared__ unsigned sums[256];
    unsigned base = 0;
    for (int first = 0; first < CELLS; first += 256) {
        int i = first + threadIdx.x;
        unsigned own = i < CELLS ? counts[i] : 0;
        sums[threadIdx.x] = own;
        __syncthreads();
        for (unsigned step = 1; step < 256; step *= 2) {
            unsigned other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
            __syncthreads();
            sums[threadIdx.x] += other;
            __syncthreads();
        }
        if (i < CELLS) begins[i] = base + sums[threadIdx.x] - own;
        base += sums[255];
        __syncthreads();
    }
    if (threadIdx.x == 0) begins[CELLS] = base;
}

__global__ void sort(const float2 *places, const float *values, const unsigned *begins,
                     unsigned *filled, float4 *sorted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= SAMPLES) return;
    int bin = int(places[i].y) * SIDE + int(places[i].x);
    sorted[begins[bin] + atomicAdd(&filled[bin], 1u)] =
        make_float4(places[i].x, places[i].y, values[i], 0);
}

__global__ void gather(const float4 *sorted, const unsigned *begins, float *grid) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int row = max(y - REACH, 0); row <= min(y + REACH, SIDE - 1); row++) {
        int left = row * SIDE + max(x - REACH, 0), right = row * SIDE + min(x + REACH, SIDE - 1);
        for (unsigned i = begins[left]; i < begins[right + 1]; i++) {
            float dx = sorted[i].x - x, dy = sorted[i].y - y, square = dx * dx + dy * dy;
            if (square < REACH * REACH) sum += sorted[i].z * expf(-square);
        }
    }
    grid[y * SIDE + x] = sum;
}

template <class T> static T *allocate(size_t count) {
    T *made;
    CHECK(cudaMalloc(&made, count * sizeof(T)));
    CHECK(cudaMemset(made, 0, count * sizeof(T)));
    return made;
}

int main() {
    std::vector<float2> places(SAMPLES);
    std::vector<float> values(SAMPLES), got(CELLS);
    unsigned state = 21;
    for (int i = 0; i < SAMPLES; i++) {
        places[i] = make_float2(next_random(state) % 10000 * SIDE / 10000.f,
                                next_random(state) % 10000 * SIDE / 10000.f);
        values[i] = next_random(state) % 100 / 100.f;
    }
    float2 *device_places = allocate<float2>(SAMPLES);
    float *device_values = allocate<float>(SAMPLES), *grid = allocate<float>(CELLS);
    unsigned *counts = allocate<unsigned>(CELLS), *filled = allocate<unsigned>(CELLS);
    unsigned *begins = allocate<unsigned>(CELLS + 1);
    float4 *sorted = allocate<float4>(SAMPLES);
    CHECK(
        cudaMemcpy(device_places, places.data(), SAMPLES * sizeof(float2), cudaMemcpyHostToDevice));
    CHECK(
        cudaMemcpy(device_values, values.data(), SAMPLES * sizeof(float), cudaMemcpyHostToDevice));
    const int blocks = (SAMPLES + 127) / 128;
    count<<<blocks, 128>>>(device_places, counts);
    scan<<<1, 256>>>(counts, begins);
    sort<<<blocks, 128>>>(device_places, device_values, begins, filled, sorted);
    gather<<<dim3(SIDE / 8, SIDE / 8), dim3(8, 8)>>>(sorted, begins, grid);
    CHECK(cudaMemcpy(got.data(), grid, CELLS * sizeof(float), cudaMemcpyDeviceToHost));
    for (int cell = 0; cell < CELLS; cell++) {
        double sum = 0;
        for (int i = 0; i < SAMPLES; i++) {
            double dx = places[i].x - cell % SIDE, dy = places[i].y - cell / SIDE;
            if (dx * dx + dy * dy < REACH * REACH) sum += values[i] * std::exp(-dx * dx - dy * dy);
        }
        EXPECT(is_near(got[cell], sum, 1e-4));
    }
    return passed();
}
