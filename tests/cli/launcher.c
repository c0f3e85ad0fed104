/* A host program for the tests: `launcher FILE.ptx STATUS` runs the first kernel of the file with
 * eight threads, two buffers and the first arguments of saxpy. It exits with STATUS. */
#include <stdio.h>
#include <stdlib.h>

#include <tyto/cuda.h>

static void check(CUresult status, const char *what) {
    const char *name = "?";
    if (status == CUDA_SUCCESS) return;
    cuGetErrorName(status, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

int main(int argc, char **argv) {
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr x, y;
    unsigned n = 8;
    float a = 2;
    void *parameters[] = {&n, &a, &x, &y};
    if (argc != 3) return 64;
    check(cuInit(0), "cuInit");
    check(cuCtxCreate(&context, NULL, 0, 0), "cuCtxCreate");
    check(cuModuleLoad(&module, argv[1]), "cuModuleLoad");
    check(cuModuleEnumerateFunctions(&kernel, 1, module), "cuModuleEnumerateFunctions");
    check(cuMemAlloc(&x, 32), "cuMemAlloc");
    check(cuMemAlloc(&y, 32), "cuMemAlloc");
    check(cuLaunchKernel(kernel, 1, 1, 1, 8, 1, 1, 0, NULL, parameters, NULL), "cuLaunchKernel");
    return atoi(argv[2]);
}
