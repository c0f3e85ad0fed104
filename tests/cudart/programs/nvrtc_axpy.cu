// NVRTC: the text of a kernel becomes PTX while the program runs, a template of it by its name's expression.
#include "check.h"

#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <vector>

const char *const TEXT = R"(
#include "scale.h"
template <typename T, int N> __global__ void axpy(T a, const T *x, T *y, unsigned n) {
    unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * N;
    for (unsigned i = first; i < first + N && i < n; i++) y[i] = scale(a) * x[i] + y[i];
}
__constant__ float offsets[4];
extern "C" __global__ void add(float *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += offsets[i % 4];
}
)";
const char *const HEADER = "template <typename T> __device__ T scale(T a) { return FACTOR * a; }\n";

#define NVRTC(call) EXPECT((call) == NVRTC_SUCCESS)
#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

int main() {
    nvrtcProgram program;
    const char *header_name = "scale.h", *name, *const axpy = "axpy<float, 2>";
    NVRTC(nvrtcCreateProgram(&program, TEXT, "axpy.cu", 1, &HEADER, &header_name));
    NVRTC(nvrtcAddNameExpression(program, axpy));
    CHECK(cudaFree(nullptr));
    CUdevice device;
    int major, minor;
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    DRIVER(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    std::string architecture = "--gpu-architecture=compute_" + std::to_string(10 * major + minor);
    const char *options[] = {architecture.c_str(), "-DFACTOR=2", "--fmad=false", "--std=c++17"};
    if (nvrtcCompileProgram(program, 4, options) != NVRTC_SUCCESS) {
        size_t length;
        nvrtcGetProgramLogSize(program, &length);
        std::string log(length, ' ');
        nvrtcGetProgramLog(program, &log[0]);
        std::printf("%s\n", log.c_str());
        return 1;
    }
    size_t length;
    NVRTC(nvrtcGetPTXSize(program, &length));
    std::vector<char> ptx(length);
    NVRTC(nvrtcGetPTX(program, ptx.data()));
    NVRTC(nvrtcGetLoweredName(program, axpy, &name));

    CUmodule module;
    CUfunction function, add;
    CUdeviceptr offsets;
    DRIVER(cuModuleLoadDataEx(&module, ptx.data(), 0, nullptr, nullptr));
    DRIVER(cuModuleGetFunction(&function, module, name));
    DRIVER(cuModuleGetFunction(&add, module, "add"));
    DRIVER(cuModuleGetGlobal(&offsets, &length, module, "offsets"));
    EXPECT(length == 16);
    const float steps[4] = {1, 2, 3, 4};
    DRIVER(cuMemcpyHtoD(offsets, steps, sizeof steps));

    unsigned n = 1000;
    std::vector<float> x(n), y(n), out(n);
    for (unsigned i = 0; i < n; i++)
        x[i] = i * 0.5f, y[i] = 3.0f - i;
    float *d_x, *d_y, a = 1.5f;
    CHECK(cudaMalloc(&d_x, n * 4));
    CHECK(cudaMalloc(&d_y, n * 4));
    CHECK(cudaMemcpy(d_x, x.data(), n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y.data(), n * 4, cudaMemcpyHostToDevice));
    void *arguments[] = {&a, &d_x, &d_y, &n}, *others[] = {&d_y, &n};
    DRIVER(cuLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    DRIVER(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, others, nullptr));
    CHECK(cudaMemcpy(out.data(), d_y, n * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++)
        EXPECT(out[i] == 2 * a * x[i] + y[i] + steps[i % 4]);

    // the same text as a library of the runtime's
    cudaLibrary_t library;
    cudaKernel_t kernel;
    CHECK(cudaLibraryLoadData(&library, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cudaLibraryGetKernel(&kernel, library, name));
    CHECK(cudaMemcpy(d_y, y.data(), n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(4), dim3(128), arguments, 0, nullptr));
    CHECK(cudaMemcpy(out.data(), d_y, n * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++)
        EXPECT(out[i] == 2 * a * x[i] + y[i]);
    NVRTC(nvrtcDestroyProgram(&program));

    // a text with a mistake: the log names it
    NVRTC(nvrtcCreateProgram(&program, "__global__ void f() { mistake; }", "wrong.cu", 0, nullptr, nullptr));
    EXPECT(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_ERROR_COMPILATION);
    NVRTC(nvrtcGetProgramLogSize(program, &length));
    std::string log(length, ' ');
    NVRTC(nvrtcGetProgramLog(program, &log[0]));
    EXPECT(log.find("mistake") != std::string::npos);
    return passed();
}
