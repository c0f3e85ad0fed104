// Reads plain memory through texture objects: elements by index, bytes as fractions.
#include "check.h"

const int N = 300;

__global__ void gather(cudaTextureObject_t values, cudaTextureObject_t bytes, const int *index,
                       float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) out[i] = tex1Dfetch<float>(values, index[i]) + tex1Dfetch<float>(bytes, i);
}

static cudaTextureObject_t make_texture(void *memory, size_t size, cudaChannelFormatDesc format,
                                        cudaTextureReadMode mode) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = size;
    cudaTextureDesc sampling = {};
    sampling.readMode = mode;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    return texture;
}

int main() {
    static float values[N], out[N];
    static unsigned char bytes[N];
    static int index[N];
    float *d_values, *d_out;
    unsigned char *d_bytes;
    int *d_index;
    for (int i = 0; i < N; i++) {
        values[i] = i * 1.5f;
        bytes[i] = (unsigned char)i;
        index[i] = (i * 37) % N;
    }
    CHECK(cudaMalloc(&d_values, sizeof values));
    CHECK(cudaMalloc(&d_bytes, sizeof bytes));
    CHECK(cudaMalloc(&d_index, sizeof index));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_bytes, bytes, sizeof bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_index, index, sizeof index, cudaMemcpyHostToDevice));
    cudaTextureObject_t floats = make_texture(
        d_values, sizeof values, cudaCreateChannelDesc<float>(), cudaReadModeElementType);
    cudaTextureObject_t fractions =
        make_texture(d_bytes, sizeof bytes, cudaCreateChannelDesc<unsigned char>(),
                     cudaReadModeNormalizedFloat);
    cudaTextureDesc description;
    CHECK(cudaGetTextureObjectTextureDesc(&description, fractions));
    EXPECT(description.readMode == cudaReadModeNormalizedFloat);
    gather<<<(N + 63) / 64, 64>>>(floats, fractions, d_index, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(is_near(out[i], values[index[i]] + bytes[i] / 255.0));
    CHECK(cudaDestroyTextureObject(floats));
    CHECK(cudaDestroyTextureObject(fractions));
    return passed();
}
