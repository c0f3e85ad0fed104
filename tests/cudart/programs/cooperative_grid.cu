// A grid that synchronizes as a whole: a cooperative launch, and one that is too large for it.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void relax(float *a, float *b, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < steps; step++) {
        if (i > 0 && i < n - 1) b[i] = (a[i - 1] + a[i + 1]) / 2;
        else if (i < n) b[i] = a[i];
        grid.sync();
        float *swap = a;
        a = b;
        b = swap;
    }
}

int main() {
    int n = 500, steps = 6, can_launch = 0;
    float values[500], next[500], out[500], *a, *b;
    CHECK(cudaDeviceGetAttribute(&can_launch, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(can_launch);
    for (int i = 0; i < n; i++)
        values[i] = (float)(i % 10);
    CHECK(cudaMalloc(&a, sizeof values));
    CHECK(cudaMalloc(&b, sizeof values));
    CHECK(cudaMemcpy(a, values, sizeof values, cudaMemcpyHostToDevice));
    void *arguments[] = {&a, &b, &n, &steps};
    CHECK(cudaLaunchCooperativeKernel((void *)relax, dim3(4), dim3(128), arguments, 0, 0));
    CHECK(cudaMemcpy(out, a, sizeof out, cudaMemcpyDeviceToHost));
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < n; i++)
            next[i] = i > 0 && i < n - 1 ? (values[i - 1] + values[i + 1]) / 2 : values[i];
        for (int i = 0; i < n; i++)
            values[i] = next[i];
    }
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == values[i]);
    EXPECT(cudaLaunchCooperativeKernel((void *)relax, dim3(100000), dim3(128), arguments, 0, 0) ==
           cudaErrorCooperativeLaunchTooLarge);
    return passed();
}
