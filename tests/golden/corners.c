/* A host program for the golden runs. It launches the kernel of corners.ptx or matrix.ptx (its
 * first argument), which does what no workload does, and verifies the results. */
#include <stdio.h>
#include <stdlib.h>

#include <tyto/cuda.h>

enum { ELEMENTS = 1000, THREADS = 128, TEXELS = 8, STRIDE = 32 };

static void check(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS) return;
    fprintf(stderr, "corners: %s: error %d\n", what, (int)result);
    exit(2);
}

static CUtexObject texture_of(CUdeviceptr texels, size_t size_bytes) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                   .res.linear = {.devPtr = texels,
                                                  .format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                  .numChannels = 1,
                                                  .sizeInBytes = size_bytes}};
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject texture = 0;
    check(cuTexObjectCreate(&texture, &resource, &how, NULL), "cuTexObjectCreate");
    return texture;
}

static double expected(const unsigned *texels, unsigned i) {
    double sum = 0;
    for (unsigned turn = 0; turn < TEXELS; turn++)
        sum += 8.0 * texels[(i + turn * STRIDE) % ELEMENTS];
    return sum / (i + 1);
}

int main(int argc, char **argv) {
    unsigned n = ELEMENTS, texels[ELEMENTS];
    double stored[ELEMENTS];
    for (unsigned i = 0; i < n; i++)
        texels[i] = i * i % 977;

    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr device_texels, device_out;
    check(argc == 2 ? cuInit(0) : CUDA_ERROR_INVALID_VALUE, "usage: corners FILE.ptx");
    check(cuCtxCreate(&context, NULL, 0, 0), "cuCtxCreate");
    check(cuModuleLoad(&module, argv[1]), "cuModuleLoad");
    check(cuModuleGetFunction(&kernel, module, "corners"), "cuModuleGetFunction");
    check(cuMemAlloc(&device_texels, sizeof texels), "cuMemAlloc");
    check(cuMemAlloc(&device_out, sizeof stored), "cuMemAlloc");
    check(cuMemcpyHtoD(device_texels, texels, sizeof texels), "cuMemcpyHtoD");

    CUtexObject texture = texture_of(device_texels, sizeof texels);
    void *arguments[] = {&texture, &device_out, &n};
    unsigned ctas = (n + THREADS - 1) / THREADS;
    check(cuLaunchKernel(kernel, ctas, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL),
          "cuLaunchKernel");
    check(cuMemcpyDtoH(stored, device_out, sizeof stored), "cuMemcpyDtoH");
    for (unsigned i = 0; i < n; i++) {
        if (stored[i] == expected(texels, i)) continue;
        fprintf(stderr, "corners: element %u is %g, not %g\n", i, stored[i], expected(texels, i));
        return 1;
    }
    return 0;
}
