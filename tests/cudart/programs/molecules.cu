// Forces between molecules by lists of neighbours, in both precisions, as SHOC's MD.
#include "check.h"
#include <algorithm>
#include <utility>
#include <vector>

const int ATOMS = 128, NEIGHBOURS = 16;

template <class T, class T4>
__global__ void forces(const T4 *places, T4 *out, const int *neighbours, T cutoff) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T4 own = places[i];
    T x = 0, y = 0, z = 0;
    for (int k = 0; k < NEIGHBOURS; k++) {
        T4 other = places[neighbours[k * ATOMS + i]];
        T dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
        T square = dx * dx + dy * dy + dz * dz;
        if (square >= cutoff) continue;
        T inverse = T(1) / square, sixth = inverse * inverse * inverse;
        T force = inverse * sixth * (T(1.5) * sixth - T(2));
        x += dx * force;
        y += dy * force;
        z += dz * force;
    }
    out[i] = T4{x, y, z, 0};
}

template <class T, class T4> static void run(double tolerance) {
    std::vector<T4> places(ATOMS), got(ATOMS);
    std::vector<int> neighbours(ATOMS * NEIGHBOURS);
    unsigned state = 9;
    T4 *device_places, *out;
    int *device_neighbours;
    for (T4 &place : places)
        place = T4{T(next_random(state) % 10000 / 1000.), T(next_random(state) % 10000 / 1000.),
                   T(next_random(state) % 10000 / 1000.), T(0)};
    auto square_of = [&](int i, int j) {
        double x = places[i].x - places[j].x, y = places[i].y - places[j].y,
               z = places[i].z - places[j].z;
        return x * x + y * y + z * z;
    };
    for (int i = 0; i < ATOMS; i++) {
        std::vector<std::pair<double, int>> others;
        for (int j = 0; j < ATOMS; j++)
            if (j != i) others.push_back({square_of(i, j), j});
        std::sort(others.begin(), others.end());
        for (int k = 0; k < NEIGHBOURS; k++)
            neighbours[k * ATOMS + i] = others[k].second;
    }
    CHECK(cudaMalloc(&device_places, ATOMS * sizeof(T4)));
    CHECK(cudaMalloc(&out, ATOMS * sizeof(T4)));
    CHECK(cudaMalloc(&device_neighbours, neighbours.size() * sizeof(int)));
    CHECK(cudaMemcpy(device_places, places.data(), ATOMS * sizeof(T4), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_neighbours, neighbours.data(), neighbours.size() * sizeof(int),
                     cudaMemcpyHostToDevice));
    forces<T, T4><<<ATOMS / 64, 64>>>(device_places, out, device_neighbours, T(9));
    CHECK(cudaMemcpy(got.data(), out, ATOMS * sizeof(T4), cudaMemcpyDeviceToHost));
    for (int i = 0; i < ATOMS; i++) {
        double x = 0, size = 0;
        for (int k = 0; k < NEIGHBOURS; k++) {
            int j = neighbours[k * ATOMS + i];
            double inverse = 1 / square_of(i, j), sixth = inverse * inverse * inverse;
            double force = inverse * sixth * (1.5 * sixth - 2) * (places[i].x - places[j].x);
            if (1 / inverse >= 9) continue;
            x += force;
            size += std::fabs(force);
        }
        EXPECT(std::fabs(got[i].x - x) <= tolerance * (1 + size));
    }
}

int main() {
    run<float, float4>(1e-4);
    run<double, double4>(1e-11);
    return passed();
}
