// Bezier lines, divided as finely as each is bent: a parent decides, takes memory on the device for the points
// and launches a kernel that computes them; a second one gives the memory back.
#include "check.h"

#include <vector>

const int LINES = 64, MOST = 32;

struct Line {
    float2 points[3];
    float2 *vertices;
    int count;
};

__host__ __device__ inline float2 at(const float2 *p, float u) {
    float a = (1 - u) * (1 - u), b = 2 * (1 - u) * u, c = u * u;
    return make_float2(a * p[0].x + b * p[1].x + c * p[2].x, a * p[0].y + b * p[1].y + c * p[2].y);
}
__host__ __device__ inline int divisions(const float2 *p) {
    float x = p[1].x - 0.5f * (p[0].x + p[2].x), y = p[1].y - 0.5f * (p[0].y + p[2].y);
    int count = (int)(16.0f * sqrtf(x * x + y * y)) + 4;
    return count > MOST ? MOST : count;
}

__global__ void compute_vertices(int line, Line *lines) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = lines[line].count;
    if (i < count) lines[line].vertices[i] = at(lines[line].points, i / (float)(count - 1));
}

__global__ void divide(Line *lines, int *errors) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= LINES) return;
    lines[line].count = divisions(lines[line].points);
    if (cudaMalloc((void **)&lines[line].vertices, lines[line].count * sizeof(float2)) != cudaSuccess) atomicAdd(errors, 1);
    compute_vertices<<<(lines[line].count + 31) / 32, 32>>>(line, lines);
    if (cudaGetLastError() != cudaSuccess) atomicAdd(errors, 1);
}

__global__ void copy_vertices(const Line *lines, float2 *out) {
    const Line &line = lines[blockIdx.x];
    for (int i = threadIdx.x; i < line.count; i += blockDim.x) out[blockIdx.x * MOST + i] = line.vertices[i];
}

__global__ void give_back(Line *lines, int *errors) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line < LINES && cudaFree(lines[line].vertices) != cudaSuccess) atomicAdd(errors, 1);
}

int main() {
    static Line lines[LINES];
    static float2 out[LINES][MOST];
    Line *d_lines;
    float2 *d_out;
    int errors, *d_errors;
    unsigned random = 23;
    for (Line &line : lines)
        for (float2 &p : line.points) p = make_float2(next_random(random) % 1000 / 500.0f - 1, next_random(random) % 1000 / 500.0f - 1);
    CHECK(cudaMalloc(&d_lines, sizeof lines));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMalloc(&d_errors, 4));
    CHECK(cudaMemset(d_errors, 0, 4));
    CHECK(cudaMemcpy(d_lines, lines, sizeof lines, cudaMemcpyHostToDevice));
    for (int round = 0; round < 3; round++) { // the memory is there again
        divide<<<(LINES + 31) / 32, 32>>>(d_lines, d_errors);
        copy_vertices<<<LINES, 32>>>(d_lines, d_out);
        give_back<<<(LINES + 31) / 32, 32>>>(d_lines, d_errors);
    }
    CHECK(cudaMemcpy(&errors, d_errors, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(lines, d_lines, sizeof lines, cudaMemcpyDeviceToHost));
    EXPECT(errors == 0);
    for (int l = 0; l < LINES; l++) {
        int count = divisions(lines[l].points);
        EXPECT(lines[l].count == count && count >= 4);
        for (int i = 0; i < count; i++) {
            float2 wanted = at(lines[l].points, i / (float)(count - 1));
            EXPECT(is_near(out[l][i].x, wanted.x) && is_near(out[l][i].y, wanted.y));
        }
    }
    return passed();
}
