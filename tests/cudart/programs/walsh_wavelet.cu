// Two transforms by butterflies: Walsh's, radix 4 in shared memory and radix 2 above it, and Haar's
// wavelets, forward and back; a convolution by way of the first.
#include "check.h"

#include <vector>

const int LOG = 14, N = 1 << LOG, TILE_LOG = 9, TILE = 1 << TILE_LOG;

__global__ void walsh_tile(float *data) {
    __shared__ float room[TILE];
    float *mine = data + blockIdx.x * TILE;
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) room[i] = mine[i];
    int stride = 1;
    for (; stride * 4 <= TILE; stride *= 4) {
        __syncthreads();
        int low = threadIdx.x & (stride - 1), i0 = ((threadIdx.x - low) << 2) + low;
        float a = room[i0], b = room[i0 + stride], c = room[i0 + 2 * stride], d = room[i0 + 3 * stride];
        float s = a + c, t = a - c, u = b + d, v = b - d;
        room[i0] = s + u;
        room[i0 + stride] = s - u;
        room[i0 + 2 * stride] = t + v;
        room[i0 + 3 * stride] = t - v;
    }
    __syncthreads();
    for (int k = threadIdx.x; stride < TILE && k < TILE / 2; k += blockDim.x) { // one radix 2 is left
        int low = k & (stride - 1), i0 = ((k - low) << 1) + low;
        float a = room[i0], b = room[i0 + stride];
        room[i0] = a + b;
        room[i0 + stride] = a - b;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) mine[i] = room[i];
}

__global__ void walsh_step(float *data, int stride) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, low = k & (stride - 1), i0 = ((k - low) << 1) + low;
    float a = data[i0], b = data[i0 + stride];
    data[i0] = a + b;
    data[i0 + stride] = a - b;
}

__global__ void multiply(float *a, const float *b, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] *= b[i] * scale;
}

__global__ void haar(const float *in, float *out, float *details, int half, bool is_forward) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half) return;
    const float root = 0.70710678f;
    if (is_forward) {
        float2 pair = ((const float2 *)in)[i];
        out[i] = (pair.x + pair.y) * root;
        details[half + i] = (pair.x - pair.y) * root;
    } else {
        float mean = in[i], difference = details[half + i];
        ((float2 *)out)[i] = make_float2((mean + difference) * root, (mean - difference) * root);
    }
}

static void walsh(float *data) {
    walsh_tile<<<N / TILE, TILE / 4>>>(data);
    for (int stride = TILE; stride < N; stride *= 2) walsh_step<<<N / 512, 256>>>(data, stride);
}

int main() {
    std::vector<float> a(N), b(N), out(N), details(N);
    float *d_a, *d_b, *d_c;
    unsigned random = 31;
    for (float &v : a) v = next_random(random) % 100 / 10.0f;
    for (int i = 0; i < N; i++) b[i] = i < 16 ? 1.0f / (i + 1) : 0;
    for (float **p : {&d_a, &d_b, &d_c}) CHECK(cudaMalloc(p, N * 4));
    CHECK(cudaMemcpy(d_a, a.data(), N * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), N * 4, cudaMemcpyHostToDevice));
    walsh(d_a);
    walsh(d_b);
    multiply<<<N / 256, 256>>>(d_a, d_b, 1.0f / N);
    walsh(d_a);
    CHECK(cudaMemcpy(out.data(), d_a, N * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) { // the dyadic convolution
        double sum = 0;
        for (int k = 0; k < 16; k++) sum += a[i ^ k] * b[k];
        EXPECT(is_near(out[i], sum, 1e-4));
    }

    CHECK(cudaMemcpy(d_a, a.data(), N * 4, cudaMemcpyHostToDevice));
    float *from = d_a, *to = d_c;
    for (int half = N / 2; half; half /= 2, std::swap(from, to)) haar<<<(half + 127) / 128, 128>>>(from, to, d_b, half, true);
    double energy = 0, kept = 0;
    float mean;
    CHECK(cudaMemcpy(&mean, from, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(details.data(), d_b, N * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        energy += (double)a[i] * a[i];
        kept += i ? (double)details[i] * details[i] : (double)mean * mean;
    }
    EXPECT(is_near(kept, energy, 1e-5)); // the transform is orthogonal
    for (int half = 1; half < N; half *= 2, std::swap(from, to)) haar<<<(half + 127) / 128, 128>>>(from, to, d_b, half, false);
    CHECK(cudaMemcpy(out.data(), from, N * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) EXPECT(is_near(out[i], a[i], 1e-4));
    return passed();
}
