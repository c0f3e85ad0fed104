// Rays that leave a sphere look up the sky in a cubemap, and by day and night in two of them.
#include "check.h"

#include <vector>

const int SIDE = 8, RAYS = 512, SKIES = 2;

__global__ void look(cudaTextureObject_t sky, const float3 *rays, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float3 d = rays[i];
    out[i] = texCubemap<float>(sky, d.x, d.y, d.z);
}

__global__ void look_at(cudaTextureObject_t skies, const float3 *rays, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float3 d = rays[i];
    out[i] = texCubemapLayered<float>(skies, d.x, d.y, d.z, i % SKIES);
}

static float colour(int sky, int face, int x, int y) {
    return (float)(1000 * sky + 100 * face + SIDE * y + x);
}

// CUDA C++ Programming Guide, "Cubemap Textures".
static float nearest(int sky, float3 d) {
    float ax = std::fabs(d.x), ay = std::fabs(d.y), az = std::fabs(d.z), m, s, t;
    int face;
    if (ax > ay && ax > az) {
        face = d.x < 0;
        m = ax, s = d.x < 0 ? d.z : -d.z, t = -d.y;
    } else if (ay > az) {
        face = 2 + (d.y < 0);
        m = ay, s = d.x, t = d.y < 0 ? -d.z : d.z;
    } else {
        face = 4 + (d.z < 0);
        m = az, s = d.z < 0 ? -d.x : d.x, t = -d.y;
    }
    int x = (int)((s / m + 1) / 2 * SIDE), y = (int)((t / m + 1) / 2 * SIDE);
    return colour(sky, face, x < SIDE ? x : SIDE - 1, y < SIDE ? y : SIDE - 1);
}

static cudaTextureObject_t make_sky(int skies, cudaArray_t *array) {
    std::vector<float> texels(skies * 6 * SIDE * SIDE);
    for (size_t i = 0; i < texels.size(); i++)
        texels[i] = colour((int)(i / (6 * SIDE * SIDE)), (int)(i / (SIDE * SIDE) % 6),
                           (int)(i % SIDE), (int)(i / SIDE % SIDE));
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    unsigned flags = cudaArrayCubemap | (skies > 1 ? cudaArrayLayered : 0);
    CHECK(cudaMalloc3DArray(array, &format, make_cudaExtent(SIDE, SIDE, 6 * skies), flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), SIDE * 4, SIDE, SIDE);
    copy.dstArray = *array;
    copy.extent = make_cudaExtent(SIDE, SIDE, 6 * skies);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = *array;
    cudaTextureDesc sampling = {};
    sampling.normalizedCoords = 1;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    return texture;
}

int main() {
    static float3 rays[RAYS];
    static float out[RAYS];
    unsigned state = 9;
    for (float3 &ray : rays) // no two lengths are equal, so each ray has one face
        ray = make_float3((float)(next_random(state) % 2001) - 1000.3f,
                          (float)(next_random(state) % 2001) - 1000.6f,
                          (float)(next_random(state) % 2001) - 999.9f);
    float3 *d_rays;
    float *d_out;
    CHECK(cudaMalloc(&d_rays, sizeof rays));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_rays, rays, sizeof rays, cudaMemcpyHostToDevice));
    for (int skies = 1; skies <= SKIES; skies++) {
        cudaArray_t array;
        cudaTextureObject_t texture = make_sky(skies, &array);
        if (skies == 1) look<<<RAYS / 128, 128>>>(texture, d_rays, d_out);
        else look_at<<<RAYS / 128, 128>>>(texture, d_rays, d_out);
        CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        for (int i = 0; i < RAYS; i++)
            EXPECT(out[i] == nearest(skies == 1 ? 0 : i % SKIES, rays[i]));
        CHECK(cudaDestroyTextureObject(texture));
        CHECK(cudaFreeArray(array));
    }
    return passed();
}
