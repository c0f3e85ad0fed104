// A volume is written through a 3D surface, then resampled along rotated axes through a 3D texture
// with linear filtering, and projected along z as a medical viewer does.
#include "check.h"

#include <vector>

const int SIZE = 16;

static inline __host__ __device__ float density(int x, int y, int z) {
    return (float)((x * 5 + y * 3 + z * 7) % 32);
}

__global__ void fill(cudaSurfaceObject_t volume) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    surf3Dwrite(density(x, y, z), volume, x * (int)sizeof(float), y, z);
}

// Steps of 1/8 texel: the filter's weights are exact, their products not all.
static inline __host__ __device__ void place(int x, int y, int z, float *u, float *v, float *w) {
    *u = 0.875f * x + 0.25f * y - 0.5f;
    *v = 0.875f * y - 0.25f * x + 2.0f;
    *w = 0.625f * z + 0.125f;
}

__global__ void resample(cudaTextureObject_t volume, float *out) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    float u, v, w;
    place(x, y, z, &u, &v, &w);
    out[(z * SIZE + y) * SIZE + x] = tex3D<float>(volume, u, v, w);
}

__global__ void project(cudaTextureObject_t volume, float *out) {
    int x = threadIdx.x, y = threadIdx.y;
    float most = 0;
    for (int z = 0; z < SIZE; z++)
        most = fmaxf(most, tex3D<float>(volume, (x + 0.5f) / SIZE, (y + 0.5f) / SIZE,
                                        (z + 0.5f) / SIZE));
    out[y * SIZE + x] = most;
}

static float sample(float u, float v, float w) {
    float at[3] = {u - 0.5f, v - 0.5f, w - 0.5f}, part[3], sum = 0;
    int lower[3];
    for (int axis = 0; axis < 3; axis++) {
        lower[axis] = (int)std::floor(at[axis]);
        part[axis] = at[axis] - lower[axis];
    }
    for (int corner = 0; corner < 8; corner++) {
        int index[3];
        float weight = 1;
        for (int axis = 0; axis < 3; axis++) {
            int upper = corner >> axis & 1;
            int i = lower[axis] + upper;
            index[axis] = i < 0 ? 0 : i < SIZE ? i : SIZE - 1;
            weight *= upper ? part[axis] : 1 - part[axis];
        }
        sum += weight * density(index[0], index[1], index[2]);
    }
    return sum;
}

int main() {
    std::vector<float> out(SIZE * SIZE * SIZE);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(SIZE, SIZE, SIZE),
                            cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    fill<<<SIZE, dim3(SIZE, SIZE)>>>(surface);

    cudaTextureDesc sampling = {};
    for (int axis = 0; axis < 3; axis++)
        sampling.addressMode[axis] = cudaAddressModeClamp;
    sampling.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    float *d_out;
    CHECK(cudaMalloc(&d_out, out.size() * sizeof(float)));
    resample<<<SIZE, dim3(SIZE, SIZE)>>>(texture, d_out);
    CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIZE * SIZE * SIZE; i++) {
        float u, v, w;
        place(i % SIZE, i / SIZE % SIZE, i / SIZE / SIZE, &u, &v, &w);
        // A GPU rounds products of weights to 256ths.
        EXPECT(std::fabs(out[i] - sample(u, v, w)) < 0.2f);
    }
    CHECK(cudaDestroyTextureObject(texture));

    sampling.filterMode = cudaFilterModePoint;
    sampling.normalizedCoords = 1;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    project<<<1, dim3(SIZE, SIZE)>>>(texture, d_out);
    CHECK(cudaMemcpy(out.data(), d_out, SIZE * SIZE * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIZE * SIZE; i++) {
        float most = 0;
        for (int z = 0; z < SIZE; z++)
            most = std::fmax(most, density(i % SIZE, i / SIZE, z));
        EXPECT(out[i] == most);
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    return passed();
}
