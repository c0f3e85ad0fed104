/* Libraries: passed to the driver. A kernel of a library is the driver's function, and can be used
 * wherever the runtime takes a kernel. */
#include "cudart/runtime.h"

cudaError_t CUDARTAPI cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                          enum cudaJitOption *options, void **values,
                                          unsigned int option_count,
                                          enum cudaLibraryOption *library_options,
                                          void **library_values,
                                          unsigned int library_option_count) {
    return RUNTIME_CALL(cuLibraryLoadData(library, code, (CUjit_option *)options, values,
                                          option_count, (CUlibraryOption *)library_options,
                                          library_values, library_option_count));
}

cudaError_t CUDARTAPI cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                              enum cudaJitOption *options, void **values,
                                              unsigned int option_count,
                                              enum cudaLibraryOption *library_options,
                                              void **library_values,
                                              unsigned int library_option_count) {
    return RUNTIME_CALL(cuLibraryLoadFromFile(library, path, (CUjit_option *)options, values,
                                              option_count, (CUlibraryOption *)library_options,
                                              library_values, library_option_count));
}

cudaError_t CUDARTAPI cudaLibraryUnload(cudaLibrary_t library) {
    return RUNTIME_CALL(cuLibraryUnload(library));
}

cudaError_t CUDARTAPI cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                           const char *name) {
    return RUNTIME_CALL(cuLibraryGetKernel(kernel, library, name));
}

cudaError_t CUDARTAPI cudaLibraryGetGlobal(void **pointer, size_t *bytes, cudaLibrary_t library,
                                           const char *name) {
    return RUNTIME_CALL(cuLibraryGetGlobal((CUdeviceptr *)pointer, bytes, library, name));
}

cudaError_t CUDARTAPI cudaLibraryGetManaged(void **pointer, size_t *bytes, cudaLibrary_t library,
                                            const char *name) {
    return RUNTIME_CALL(cuLibraryGetManaged((CUdeviceptr *)pointer, bytes, library, name));
}

cudaError_t CUDARTAPI cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library) {
    return RUNTIME_CALL(cuLibraryGetKernelCount(count, library));
}

cudaError_t CUDARTAPI cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count,
                                                  cudaLibrary_t library) {
    return RUNTIME_CALL(cuLibraryEnumerateKernels(kernels, count, library));
}

cudaError_t CUDARTAPI cudaLibraryGetUnifiedFunction(void **function, cudaLibrary_t library,
                                                    const char *name) {
    return RUNTIME_CALL(cuLibraryGetUnifiedFunction(function, library, name));
}
