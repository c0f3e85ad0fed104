// Kernels of a library that is loaded while the program runs, from a text of PTX and from a file:
// found by name, counted, launched by their handles, with a variable of the library's.
#include "check.h"

#include <cstring>
#include <unistd.h>

const char *const TEXT =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 factor = 3;\n"
    ".visible .entry scale(.param .u64 data, .param .u32 count) {\n"
    "  .reg .pred %p;\n  .reg .b32 %r<8>;\n  .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [data];\n  ld.param.u32 %r1, [count];\n  mov.u32 %r2, %ctaid.x;\n"
    "  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n  mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p, %r5, %r1;\n  @%p ret;\n  mul.wide.u32 %rd2, %r5, 4;\n"
    "  add.u64 %rd3, %rd1, %rd2;\n  ld.global.u32 %r6, [%rd3];\n  ld.global.u32 %r7, [factor];\n"
    "  mul.lo.u32 %r6, %r6, %r7;\n  st.global.u32 [%rd3], %r6;\n  ret;\n}\n"
    ".visible .entry nothing() {\n  ret;\n}\n";

const int COUNT = 1000;

static void scale(cudaKernel_t kernel, unsigned *data) {
    unsigned count = COUNT;
    void *arguments[] = {&data, &count};
    CHECK(cudaLaunchKernel((const void *)kernel, dim3((COUNT + 127) / 128), dim3(128), arguments, 0,
                           nullptr));
}

int main() {
    unsigned values[COUNT], *data, factor = 5, *address = nullptr;
    cudaLibrary_t library, from_file;
    cudaKernel_t kernel, kernels[2], other;
    unsigned count = 0;
    size_t bytes = 0;
    char path[] = "library_kernels_XXXXXX";
    CHECK(cudaMalloc((void **)&data, sizeof values));
    for (int i = 0; i < COUNT; i++)
        values[i] = (unsigned)i;
    CHECK(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));

    CHECK(cudaLibraryLoadData(&library, TEXT, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cudaLibraryGetKernelCount(&count, library));
    EXPECT(count == 2);
    CHECK(cudaLibraryEnumerateKernels(kernels, count, library));
    CHECK(cudaLibraryGetKernel(&kernel, library, "scale"));
    EXPECT(kernel == kernels[0] || kernel == kernels[1]);
    EXPECT(cudaLibraryGetKernel(&other, library, "absent") == cudaErrorSymbolNotFound);
    scale(kernel, data);
    CHECK(cudaLibraryGetGlobal((void **)&address, &bytes, library, "factor"));
    EXPECT(bytes == sizeof factor);
    CHECK(cudaMemcpy(address, &factor, sizeof factor, cudaMemcpyHostToDevice));
    scale(kernel, data);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, (const void *)kernel));
    EXPECT(attributes.numRegs > 0);

    int file = mkstemp(path);
    EXPECT(file >= 0 && write(file, TEXT, std::strlen(TEXT)) == (ssize_t)std::strlen(TEXT));
    close(file);
    CHECK(cudaLibraryLoadFromFile(&from_file, path, nullptr, nullptr, 0, nullptr, nullptr, 0));
    unlink(path);
    CHECK(cudaLibraryGetKernel(&other, from_file, "scale"));
    EXPECT(other != kernel);
    scale(other, data); // by its own variable, which is still 3

    CHECK(cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        EXPECT(values[i] == (unsigned)i * 3 * 5 * 3);
    CHECK(cudaLibraryUnload(library));
    EXPECT(cudaLibraryUnload(library) != cudaSuccess);
    EXPECT(cudaLibraryGetKernel(&kernel, library, "scale") != cudaSuccess);
    cudaGetLastError();
    scale(other, data);
    CHECK(cudaLibraryUnload(from_file));
    return passed();
}
