/* Libraries: modules that belong to no context. All contexts share the device's memory, so one copy
 * of a library's variables serves them all. The kernels of a library are functions of its module,
 * and a CUkernel is the handle of one. */
#include "driver/stream/stream_queue.h"

#include <stdlib.h>

/* Options without effect: the image is read when it is loaded. */
static bool are_options(unsigned count, const CUlibraryOption *options) {
    if (count && !options) return false;
    for (unsigned i = 0; i < count; i++) {
        if ((unsigned)options[i] > CU_LIBRARY_BINARY_IS_PRESERVED) return false;
    }
    return true;
}

CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
                                   void **values, unsigned int option_count,
                                   CUlibraryOption *library_options, void **library_values,
                                   unsigned int library_option_count) {
    (void)library_values;
    CUmodule module;
    if (!library || !code || !are_options(library_option_count, library_options))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = module_load_library(&module, code, option_count, options, values);
    if (status == CUDA_SUCCESS) *library = (CUlibrary)module;
    return status;
}

CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options,
                                       void **values, unsigned int option_count,
                                       CUlibraryOption *library_options, void **library_values,
                                       unsigned int library_option_count) {
    (void)options, (void)values, (void)option_count, (void)library_values;
    CUmodule module;
    if (!library || !path || !are_options(library_option_count, library_options))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < library_option_count; i++) {
        if (library_options[i] == CU_LIBRARY_BINARY_IS_PRESERVED) return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = module_load_library_file(&module, path);
    if (status == CUDA_SUCCESS) *library = (CUlibrary)module;
    return status;
}

/* Begins a call about a library that also requires `argument`. */
static CUresult begin(Call *call, CUlibrary library, const void *argument) {
    CUresult status = call_begin_driver(call);
    if (status) return status;
    const Module *module = CALL_GET(call, HANDLE_MODULE, library);
    if (!module || module->context != &call->driver->libraries)
        return call_end(call, CUDA_ERROR_INVALID_HANDLE);
    return argument ? CUDA_SUCCESS : call_end(call, CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary library) {
    Call call;
    CUresult status = begin(&call, library, &call);
    if (status) return status;
    stream_queue_drain(&call);
    module_free(call.driver,
                handles_remove(&call.driver->handles, HANDLE_MODULE, (uint64_t)(uintptr_t)library));
    return call_end(&call, CUDA_SUCCESS);
}

/* The library as a module of the current context. */
CUresult CUDAAPI cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    Call call;
    CUresult status = begin(&call, library, module);
    if (status) return status;
    *module = (CUmodule)library;
    return call_end(&call, CUDA_SUCCESS);
}

/* The functions below ask the module if the library exists. */
static CUresult check(CUlibrary library, const void *argument) {
    Call call;
    CUresult status = begin(&call, library, argument);
    return status ? status : call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    CUfunction function;
    CUresult status = check(library, kernel);
    if (status == CUDA_SUCCESS) status = cuModuleGetFunction(&function, (CUmodule)library, name);
    if (status == CUDA_SUCCESS) *kernel = (CUkernel)function;
    return status;
}

CUresult CUDAAPI cuLibraryGetKernelCount(unsigned int *count, CUlibrary library) {
    CUresult status = check(library, count);
    return status ? status : cuModuleGetFunctionCount(count, (CUmodule)library);
}

CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count,
                                           CUlibrary library) {
    CUresult status = check(library, kernels);
    return status ? status
                  : cuModuleEnumerateFunctions((CUfunction *)kernels, count, (CUmodule)library);
}

CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                    const char *name) {
    CUresult status = check(library, library);
    return status ? status : cuModuleGetGlobal(address, bytes, (CUmodule)library, name);
}

CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                     const char *name) {
    Call call;
    CUresult status = begin(&call, library, name);
    if (status) return status;
    const Module *module = CALL_GET(&call, HANDLE_MODULE, library);
    const PtxVar *variable = ptx_find_var(gpu_module_ptx(module->gpu), name);
    uint64_t start, size;
    if (!variable || !variable->is_managed || !gpu_find_variable(module->gpu, name, &start, &size))
        return call_end(&call, CUDA_ERROR_NOT_FOUND);
    if (address) *address = start;
    if (bytes) *bytes = size;
    return call_end(&call, CUDA_SUCCESS);
}

/* The device has no functions with addresses that the host could use. */
CUresult CUDAAPI cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *name) {
    Call call;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = begin(&call, library, name);
    return status ? status : call_end(&call, CUDA_ERROR_NOT_FOUND);
}

/* ---- Kernels ---- */

CUresult CUDAAPI cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    CUmodule module;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = cuFuncGetModule(&module, (CUfunction)kernel);
    if (status == CUDA_SUCCESS) *function = (CUfunction)kernel;
    return status;
}

CUresult CUDAAPI cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
    CUmodule module;
    if (!library) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = cuFuncGetModule(&module, (CUfunction)kernel);
    if (status == CUDA_SUCCESS) status = check((CUlibrary)module, library);
    if (status == CUDA_SUCCESS) *library = (CUlibrary)module;
    return status;
}

CUresult CUDAAPI cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                                      CUdevice device) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    return cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                      CUdevice device) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    return cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    return cuFuncSetCacheConfig((CUfunction)kernel, config);
}

CUresult CUDAAPI cuKernelGetName(const char **name, CUkernel kernel) {
    return cuFuncGetName(name, (CUfunction)kernel);
}

CUresult CUDAAPI cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) {
    return cuFuncGetParamInfo((CUfunction)kernel, index, offset, size);
}
