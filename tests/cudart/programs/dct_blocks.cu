// The discrete cosine transform of an image's 8 x 8 blocks, quantised and back, as picture coders do it:
// a texture in, constants, shared memory, short integers out.
#include "check.h"

#include <vector>

const int W = 64, H = 48;
__constant__ float basis[8][8];
__constant__ short steps[64];

// A CTA of 8 x 8 threads has a block; rows, then columns, through shared memory.
__device__ float transform(float value, bool is_forward, float (*room)[9]) {
    int x = threadIdx.x, y = threadIdx.y;
    room[y][x] = value;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) sum += room[y][k] * (is_forward ? basis[x][k] : basis[k][x]);
    __syncthreads();
    room[y][x] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) sum += room[k][x] * (is_forward ? basis[y][k] : basis[k][y]);
    __syncthreads();
    return sum;
}

__global__ void encode(cudaTextureObject_t image, short *coefficients) {
    __shared__ float room[8][9];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float value = tex2D<float>(image, x + 0.5f, y + 0.5f) * 255 - 128;
    float sum = transform(value, true, room);
    int step = steps[threadIdx.y * 8 + threadIdx.x];
    coefficients[y * W + x] = (short)__float2int_rn(sum / step);
}

__global__ void decode(const short *coefficients, unsigned char *image) {
    __shared__ float room[8][9];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float value = (float)coefficients[y * W + x] * steps[threadIdx.y * 8 + threadIdx.x];
    float sum = transform(value, false, room) + 128;
    image[y * W + x] = (unsigned char)fminf(fmaxf(rintf(sum), 0.0f), 255.0f);
}

int main() {
    static unsigned char pixels[H][W], got[H][W];
    static short coefficients[H][W], host_steps[64];
    float host_basis[8][8];
    for (int u = 0; u < 8; u++)
        for (int x = 0; x < 8; x++)
            host_basis[u][x] = (float)((u ? std::sqrt(0.25) : std::sqrt(0.125)) * std::cos((2 * x + 1) * u * M_PI / 16));
    for (int i = 0; i < 64; i++) host_steps[i] = (short)(8 + (i / 8 + i % 8) * 3);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) pixels[y][x] = (unsigned char)(128 + 60 * std::sin(x * 0.2) + 50 * std::cos(y * 0.3 + x * 0.05));
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    CHECK(cudaMallocArray(&array, &format, W, H));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels, W, W, H, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc sampling = {};
    sampling.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t image;
    CHECK(cudaCreateTextureObject(&image, &resource, &sampling, NULL));
    CHECK(cudaMemcpyToSymbol(basis, host_basis, sizeof host_basis));
    CHECK(cudaMemcpyToSymbol(steps, host_steps, sizeof host_steps));
    short *d_coefficients;
    unsigned char *d_image;
    CHECK(cudaMalloc(&d_coefficients, sizeof coefficients));
    CHECK(cudaMalloc(&d_image, sizeof got));
    encode<<<dim3(W / 8, H / 8), dim3(8, 8)>>>(image, d_coefficients);
    decode<<<dim3(W / 8, H / 8), dim3(8, 8)>>>(d_coefficients, d_image);
    CHECK(cudaMemcpy(coefficients, d_coefficients, sizeof coefficients, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got, d_image, sizeof got, cudaMemcpyDeviceToHost));
    int off = 0;
    double square = 0;
    for (int by = 0; by < H; by += 8)
        for (int bx = 0; bx < W; bx += 8)
            for (int v = 0; v < 8; v++)
                for (int u = 0; u < 8; u++) {
                    double sum = 0;
                    for (int y = 0; y < 8; y++)
                        for (int x = 0; x < 8; x++) sum += (pixels[by + y][bx + x] - 128.0) * host_basis[u][x] * host_basis[v][y];
                    double exact = sum / host_steps[v * 8 + u];
                    EXPECT(std::fabs(coefficients[by + v][bx + u] - exact) <= 0.5001);
                    off += coefficients[by + v][bx + u] != 0;
                    double d = got[by + v][bx + u] - pixels[by + v][bx + u];
                    square += d * d;
                }
    EXPECT(off > 48 && off < W * H / 4);       // most coefficients are gone ...
    EXPECT(square / (W * H) < 20);             // ... and the picture is nearly the same
    return passed();
}
