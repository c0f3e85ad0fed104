// Bodies that attract each other: vector types, shared tiles, special functions.
#include "check.h"

const int BODIES = 128, BLOCK = 64;

__device__ float3 attract(float3 sum, float4 me, float4 other) {
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float strength = other.w * inverse * inverse * inverse;
    return make_float3(sum.x + dx * strength, sum.y + dy * strength, sum.z + dz * strength);
}

__global__ void accelerate(const float4 *bodies, float4 *out) {
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = bodies[i];
    float3 sum = make_float3(0, 0, 0);
    for (int start = 0; start < BODIES; start += BLOCK) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < BLOCK; j++)
            sum = attract(sum, me, tile[j]);
        __syncthreads();
    }
    out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

int main() {
    float4 bodies[BODIES], out[BODIES], *d_bodies, *d_out;
    unsigned state = 13;
    for (float4 &body : bodies) {
        body.x = next_random(state) % 1000 / 100.0f;
        body.y = next_random(state) % 1000 / 100.0f;
        body.z = next_random(state) % 1000 / 100.0f;
        body.w = next_random(state) % 10 / 10.0f;
    }
    CHECK(cudaMalloc(&d_bodies, sizeof bodies));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_bodies, bodies, sizeof bodies, cudaMemcpyHostToDevice));
    accelerate<<<BODIES / BLOCK, BLOCK>>>(d_bodies, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BODIES; i++) {
        double x = 0, y = 0, z = 0;
        for (const float4 &other : bodies) {
            double dx = other.x - bodies[i].x, dy = other.y - bodies[i].y;
            double dz = other.z - bodies[i].z, square = dx * dx + dy * dy + dz * dz + 0.01;
            double strength = other.w / (square * std::sqrt(square));
            x += dx * strength, y += dy * strength, z += dz * strength;
        }
        EXPECT(is_near(out[i].x, x, 1e-3) && is_near(out[i].y, y, 1e-3));
        EXPECT(is_near(out[i].z, z, 1e-3));
    }
    return passed();
}
