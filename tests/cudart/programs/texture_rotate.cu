// Samples a CUDA array through a texture object: points, and linear filtering with normalized
// coordinates and clamping.
#include "check.h"

const int WIDTH = 32, HEIGHT = 16;

__global__ void sample(cudaTextureObject_t texture, float *out, float scale_x, float scale_y) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = tex2D<float>(texture, (x + 0.5f) * scale_x, (y + 0.5f) * scale_y);
}

int main() {
    static float image[HEIGHT][WIDTH], out[HEIGHT][WIDTH];
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        image[i / WIDTH][i % WIDTH] = (float)((i * 7) % 64);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    float *d_out;
    CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image, sizeof image[0], sizeof image[0], HEIGHT,
                              cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    sampling.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    dim3 block(16, 8), grid(WIDTH / 16, HEIGHT / 8);

    sampling.filterMode = cudaFilterModePoint;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    sample<<<grid, block>>>(texture, d_out, 1, 1);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            EXPECT(out[y][x] == image[y][x]);
    CHECK(cudaDestroyTextureObject(texture));

    sampling.filterMode = cudaFilterModeLinear;
    sampling.normalizedCoords = 1;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    sample<<<grid, block>>>(texture, d_out, 0.5f / WIDTH, 1.0f / HEIGHT); /* half size in x */
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            float place = (x + 0.5f) / 2 - 0.5f;
            int left = (int)std::floor(place);
            float part = place - left, a = image[y][left < 0 ? 0 : left], b = image[y][left + 1];
            EXPECT(is_near(out[y][x], a + (b - a) * part, 5e-3)); /* 8 bits of fraction */
        }
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    return passed();
}
