// Generations of a torus of cells, two buffers in turn.
#include "check.h"

const int SIZE = 40;

__host__ __device__ unsigned char next_cell(const unsigned char *cells, int x, int y) {
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) alive += cells[(y + dy + SIZE) % SIZE * SIZE + (x + dx + SIZE) % SIZE];
    return alive == 3 || (alive == 2 && cells[y * SIZE + x]);
}

__global__ void generation(const unsigned char *from, unsigned char *to) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < SIZE && y < SIZE) to[y * SIZE + x] = next_cell(from, x, y);
}

int main() {
    static unsigned char cells[SIZE * SIZE], after[SIZE * SIZE], out[SIZE * SIZE];
    unsigned char *a, *b;
    unsigned state = 17;
    for (unsigned char &cell : cells)
        cell = next_random(state) % 3 == 0;
    CHECK(cudaMalloc(&a, sizeof cells));
    CHECK(cudaMalloc(&b, sizeof cells));
    CHECK(cudaMemcpy(a, cells, sizeof cells, cudaMemcpyHostToDevice));
    for (int step = 0; step < 8; step++) {
        generation<<<dim3(3, 5), dim3(16, 8)>>>(a, b);
        unsigned char *swap = a;
        a = b;
        b = swap;
        for (int i = 0; i < SIZE * SIZE; i++)
            after[i] = next_cell(cells, i % SIZE, i / SIZE);
        for (int i = 0; i < SIZE * SIZE; i++)
            cells[i] = after[i];
    }
    CHECK(cudaMemcpy(out, a, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIZE * SIZE; i++)
        EXPECT(out[i] == cells[i]);
    return passed();
}
