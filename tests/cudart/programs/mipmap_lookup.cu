// The levels of a mipmapped array are made by kernels, each from the one before it through surfaces,
// and read at whole levels, between them, and where gradients lead.
#include "check.h"

#include <vector>

const int SIZE = 32, LEVELS = 6;

__global__ void halve(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int size) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x >= size || y >= size) return;
    float sum = surf2Dread<float>(from, 8 * x, 2 * y) + surf2Dread<float>(from, 8 * x + 4, 2 * y) +
                surf2Dread<float>(from, 8 * x, 2 * y + 1) +
                surf2Dread<float>(from, 8 * x + 4, 2 * y + 1);
    surf2Dwrite(sum / 4, to, 4 * x, y);
}

__global__ void read_level(cudaTextureObject_t texture, float level, float *out) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * blockDim.x + x] = tex2DLod<float>(texture, (x + 0.5f) / blockDim.x,
                                              (y + 0.5f) / gridDim.x, level);
}

__global__ void read_gradients(cudaTextureObject_t texture, float step, float *out) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * blockDim.x + x] =
        tex2DGrad<float>(texture, (x + 0.5f) / blockDim.x, (y + 0.5f) / gridDim.x,
                         make_float2(step, 0), make_float2(0, step / 2));
}

int main() {
    std::vector<std::vector<float>> levels(LEVELS);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t mipmap;
    CHECK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(SIZE, SIZE, 0), LEVELS,
                                   cudaArraySurfaceLoadStore));
    cudaSurfaceObject_t before = 0;
    for (int i = 0; i < LEVELS; i++) {
        const int size = SIZE >> i;
        cudaArray_t level;
        CHECK(cudaGetMipmappedArrayLevel(&level, mipmap, i));
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = level;
        cudaSurfaceObject_t surface;
        CHECK(cudaCreateSurfaceObject(&surface, &resource));
        levels[i].resize(size * size);
        if (i == 0) {
            for (int t = 0; t < size * size; t++)
                levels[0][t] = (float)(t * 37 % 1024);
            CHECK(cudaMemcpy2DToArray(level, 0, 0, levels[0].data(), size * 4, size * 4, size,
                                      cudaMemcpyHostToDevice));
        } else {
            halve<<<size, 32>>>(before, surface, size);
            for (int t = 0; t < size * size; t++) {
                const float *corner = &levels[i - 1][t / size * 2 * size * 2 + t % size * 2];
                levels[i][t] = (corner[0] + corner[1] + corner[2 * size] + corner[2 * size + 1]) / 4;
            }
            CHECK(cudaDestroySurfaceObject(before));
        }
        before = surface;
    }
    CHECK(cudaDestroySurfaceObject(before));

    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    cudaTextureDesc sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    sampling.filterMode = cudaFilterModeLinear;
    sampling.mipmapFilterMode = cudaFilterModeLinear;
    sampling.normalizedCoords = 1;
    sampling.maxMipmapLevelClamp = LEVELS - 1;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    std::vector<float> out(SIZE * SIZE);
    float *d_out;
    CHECK(cudaMalloc(&d_out, out.size() * 4));
    for (int i = 0; i < LEVELS; i++) { // its own texels, by number and by gradients of 2^i texels
        const int size = SIZE >> i;
        for (int way = 0; way < 2; way++) {
            if (way == 0) read_level<<<size, size>>>(texture, (float)i, d_out);
            else read_gradients<<<size, size>>>(texture, (float)(1 << i) / SIZE, d_out);
            CHECK(cudaMemcpy(out.data(), d_out, size * size * 4, cudaMemcpyDeviceToHost));
            for (int t = 0; t < size * size; t++)
                EXPECT(out[t] == levels[i][t]);
        }
    }
    // at the one texel of the last level and the four of that before it
    read_level<<<1, 1>>>(texture, LEVELS - 1.75f, d_out);
    CHECK(cudaMemcpy(out.data(), d_out, 4, cudaMemcpyDeviceToHost));
    EXPECT(is_near(out[0], levels[LEVELS - 1][0])); // the middle of the four is their mean
    read_level<<<2, 2>>>(texture, LEVELS - 1.75f, d_out);
    CHECK(cudaMemcpy(out.data(), d_out, 16, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 4; t++)
        EXPECT(is_near(out[t], 0.75f * levels[LEVELS - 2][t] + 0.25f * levels[LEVELS - 1][0]) ||
               LEVELS != 6);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeMipmappedArray(mipmap));
    return passed();
}
