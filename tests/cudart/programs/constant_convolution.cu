// A row convolution whose filter lies in constant memory and is replaced between launches.
#include "check.h"

const int RADIUS = 4, N = 1000;
__constant__ float filter[2 * RADIUS + 1];
__constant__ int order[4] = {3, 1, 2, 0};

__global__ void convolve(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        if (i + k >= 0 && i + k < N) sum += in[i + k] * filter[k + RADIUS];
    out[i] = sum + order[i % 4];
}

int main() {
    static float in[N], out[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; i++)
        in[i] = (float)(i % 17);
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    for (int round = 0; round < 2; round++) {
        const int start[4] = {3, 1, 2, 0};
        float weights[2 * RADIUS + 1];
        for (int k = 0; k < 2 * RADIUS + 1; k++)
            weights[k] = (float)(k + round) / 8;
        CHECK(cudaMemcpyToSymbol(filter, weights, sizeof weights));
        convolve<<<(N + 127) / 128, 128>>>(d_in, d_out);
        CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++) {
            double sum = start[i % 4];
            for (int k = -RADIUS; k <= RADIUS; k++)
                if (i + k >= 0 && i + k < N) sum += in[i + k] * weights[k + RADIUS];
            EXPECT(is_near(out[i], sum));
        }
    }
    return passed();
}
