// A program of the days before CUDA 12: texture references, cutil, cudaThreadSynchronize,
// properties that are gone. Built by `tyto cc --old`.
#include <cuda.h>
#include <cutil.h>

#include "check.h"

const int WIDTH = 32, HEIGHT = 8;

texture<float, 1, cudaReadModeElementType> values;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> image;
texture<float, cudaTextureType3D> volume;

/* References by functions of the host, as libraries of templates have them. */
static texture<float, 1, cudaReadModeElementType> &values_of() { return values; }
template <class T> struct Image;
template <> struct Image<unsigned char> {
    static texture<unsigned char, 2, cudaReadModeNormalizedFloat> *get() { return &image; }
};
static cudaError_t bind(texture<float, 1> &which, float *from, size_t bytes) {
    return cudaBindTexture(0, which, from, bytes);
}

__global__ void combine(float *out) {
    int x = threadIdx.x, y = blockIdx.x;
    float sum = tex1Dfetch(values, y * WIDTH + x) + tex2D(image, x + 0.5f, y + 0.5f) +
                tex3D(volume, 0.5f, y + 0.5f, 1.5f);
    out[y * WIDTH + x] = __shfl_xor(sum, 1);
}

/* 1 x HEIGHT x 2 cells, which hold twice their number. */
static cudaArray *make_solid(const cudaChannelFormatDesc &format) {
    cudaArray *array;
    float cells[2 * HEIGHT];
    cudaMemcpy3DParms copy = {};
    for (int i = 0; i < 2 * HEIGHT; i++) cells[i] = 2.0f * i;
    copy.extent = make_cudaExtent(1, HEIGHT, 2);
    copy.srcPtr = make_cudaPitchedPtr(cells, sizeof cells[0], 1, HEIGHT);
    CHECK(cudaMalloc3DArray(&array, &format, copy.extent));
    copy.dstArray = array;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

int main(int argc, char **argv) {
    static float in[HEIGHT][WIDTH], out[HEIGHT][WIDTH];
    static unsigned char pixels[HEIGHT][WIDTH];
    float *d_in, *d_out;
    cudaArray *array;
    cudaDeviceProp properties;
    unsigned timer;
    const char *words[] = {"program", "-verbose", "--size=7"};
    int size = 0;
    EXPECT(cutCheckCmdLineFlag(3, words, "verbose") && !cutCheckCmdLineFlag(3, words, "quiet"));
    EXPECT(cutGetCmdLineArgumenti(3, words, "size", &size) && size == 7);
    CUDA_SAFE_CALL(cudaSetDevice(cutGetMaxGflopsDeviceId()));
    CUT_DEVICE_INIT(argc, argv);
    CUT_SAFE_CALL(cutCreateTimer(&timer));
    CUDA_SAFE_CALL(cudaGetDeviceProperties(&properties, 0));
    EXPECT(properties.clockRate > 0 && properties.warpSize == 32);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        in[i / WIDTH][i % WIDTH] = (float)i;
        pixels[i / WIDTH][i % WIDTH] = (unsigned char)(i * 3);
    }
    CUDA_SAFE_CALL(cudaMalloc((void **)&d_in, sizeof in));
    CUDA_SAFE_CALL(cudaMalloc((void **)&d_out, sizeof out));
    CUDA_SAFE_CALL(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    CUDA_SAFE_CALL(cudaMallocArray(&array, &format, WIDTH, HEIGHT));
    CUDA_SAFE_CALL(
        cudaMemcpy2DToArray(array, 0, 0, pixels, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    Image<unsigned char>::get()->addressMode[0] = cudaAddressModeClamp;
    image.filterMode = cudaFilterModePoint;
    cudaChannelFormatDesc number = cudaCreateChannelDesc<float>();
    cudaArray *solid = make_solid(number);
    const textureReference *reference;
    size_t offset;
    CUDA_SAFE_CALL(bind(values_of(), d_in, sizeof in));
    CUDA_SAFE_CALL(cudaUnbindTexture(values_of()));
    CUDA_SAFE_CALL(cudaGetTextureReference(&reference, &values)); /* the form of C */
    CUDA_SAFE_CALL(cudaBindTexture(&offset, reference, d_in, &number, sizeof in));
    CUDA_SAFE_CALL(cudaBindTextureToArray(*Image<unsigned char>::get(), array, format));
    CUDA_SAFE_CALL(cudaBindTextureToArray(volume, solid));
    CUT_SAFE_CALL(cutStartTimer(timer));
    combine<<<HEIGHT, WIDTH>>>(d_out);
    CUT_CHECK_ERROR("combine");
    CUDA_SAFE_CALL(cudaThreadSynchronize());
    CUT_SAFE_CALL(cutStopTimer(timer));
    EXPECT(cutGetTimerValue(timer) >= 0);
    CUDA_SAFE_CALL(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            EXPECT(is_near(out[y][x], in[y][x ^ 1] + pixels[y][x ^ 1] / 255.0 + 2 * (HEIGHT + y)));
    CUDA_SAFE_CALL(cudaUnbindTexture(values));
    CUDA_SAFE_CALL(cudaUnbindTexture(image));
    return passed();
}
