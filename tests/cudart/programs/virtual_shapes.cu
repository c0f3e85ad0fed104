// Objects with virtual functions, made and used on the device.
#include "check.h"

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};

struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};

struct Disc : Shape {
    float radius;
    __device__ Disc(float radius) : radius(radius) {}
    __device__ float area() const override { return 3 * radius * radius; }
};

__global__ void make(Shape **shapes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i % 2) shapes[i] = new Square((float)i);
    else shapes[i] = new Disc((float)i);
}

__global__ void measure(Shape **shapes, float *areas, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) areas[i] = shapes[i]->area();
}

__global__ void destroy(Shape **shapes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) delete shapes[i];
}

int main() {
    const int n = 100;
    Shape **shapes;
    float *d_areas, areas[n];
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    CHECK(cudaMalloc(&shapes, n * sizeof *shapes));
    CHECK(cudaMalloc(&d_areas, sizeof areas));
    make<<<4, 32>>>(shapes, n);
    measure<<<4, 32>>>(shapes, d_areas, n);
    destroy<<<4, 32>>>(shapes, n);
    CHECK(cudaMemcpy(areas, d_areas, sizeof areas, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(areas[i] == (i % 2 ? 1 : 3) * (float)(i * i));
    return passed();
}
