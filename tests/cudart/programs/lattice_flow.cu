// A lattice Boltzmann flow of nine directions around obstacles, as Parboil's lbm in two dimensions.
#include "check.h"
#include <utility>
#include <vector>

const int SIDE = 24, CELLS = SIDE * SIDE, DIRECTIONS = 9;

struct Lattice {
    int x[DIRECTIONS], y[DIRECTIONS], opposite[DIRECTIONS];
    float weight[DIRECTIONS];
};
static const Lattice lattice = {
    {0, 1, 0, -1, 0, 1, -1, -1, 1},
    {0, 0, 1, 0, -1, 1, 1, -1, -1},
    {0, 3, 4, 1, 2, 7, 8, 5, 6},
    {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f}};
__constant__ Lattice device_lattice;

__host__ __device__ inline void update(const Lattice &l, const float *from, float *to,
                                       const unsigned char *solid, int x, int y) {
    float flow[DIRECTIONS], density = 0, u = 0, v = 0;
    for (int k = 0; k < DIRECTIONS; k++) {
        int column = (x - l.x[k] + SIDE) % SIDE, row = (y - l.y[k] + SIDE) % SIDE;
        flow[k] = from[k * CELLS + row * SIDE + column];
        density += flow[k];
        u += flow[k] * l.x[k];
        v += flow[k] * l.y[k];
    }
    u /= density;
    v /= density;
    for (int k = 0; k < DIRECTIONS; k++) {
        float along = l.x[k] * u + l.y[k] * v;
        float rest =
            l.weight[k] * density * (1 + 3 * along + 4.5f * along * along - 1.5f * (u * u + v * v));
        to[k * CELLS + y * SIDE + x] =
            solid[y * SIDE + x] ? flow[l.opposite[k]] : flow[k] + 1.1f * (rest - flow[k]);
    }
}

__global__ void step(const float *from, float *to, const unsigned char *solid) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < SIDE && y < SIDE) update(device_lattice, from, to, solid, x, y);
}

int main() {
    const size_t bytes = DIRECTIONS * CELLS * sizeof(float);
    std::vector<float> now(DIRECTIONS * CELLS), next(now.size()), got(now.size());
    std::vector<unsigned char> solid(CELLS);
    unsigned state = 3;
    float *from, *to;
    unsigned char *device_solid;
    for (int cell = 0; cell < CELLS; cell++) {
        solid[cell] = next_random(state) % 10 == 0;
        for (int k = 0; k < DIRECTIONS; k++)
            now[k * CELLS + cell] = lattice.weight[k] * (1 + next_random(state) % 100 / 1000.f);
    }
    CHECK(cudaMemcpyToSymbol(device_lattice, &lattice, sizeof lattice));
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMalloc(&device_solid, CELLS));
    CHECK(cudaMemcpy(from, now.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_solid, solid.data(), CELLS, cudaMemcpyHostToDevice));
    for (int t = 0; t < 3; t++) {
        step<<<dim3(2, 3), dim3(16, 8)>>>(from, to, device_solid);
        std::swap(from, to);
        for (int cell = 0; cell < CELLS; cell++)
            update(lattice, now.data(), next.data(), solid.data(), cell % SIDE, cell / SIDE);
        std::swap(now, next);
    }
    CHECK(cudaMemcpy(got.data(), from, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < got.size(); i++)
        EXPECT(is_near(got[i], now[i]));
    return passed();
}
