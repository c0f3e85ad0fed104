/* Modules: loads them and finds their functions and variables. */
#include "driver/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/module/image.h"
#include "driver/module/jit.h"
#include "simulator/assemble.h"

enum { MODULE_FILE_MAX = 1 << 30 }; /* most bytes of a PTX file, to stop at endless ones */

void module_free(Driver *driver, void *object) {
    Module *module = object;
    uint32_t count = gpu_module_program(module->gpu)->function_count;
    for (uint32_t i = 0; i < count; i++)
        free(handles_remove(&driver->handles, HANDLE_FUNCTION,
                            (uint64_t)(uintptr_t)module->functions[i]));
    references_clear(driver, module);
    gpu_unload(module->gpu);
    free(module->functions);
    free(module);
}

/* The image to load. */
typedef struct Given {
    const void *image;
    size_t size;      /* bytes, or IMAGE_UNBOUNDED */
    const char *name; /* name for messages */
    const GpuPlace *places;
    size_t place_count;
} Given;

/* The error code for texts that cannot be read: not PTX, newer PTX, or wrong PTX. */
static CUresult code_of_texts(const GpuImage *texts, int count) {
    static const char word[] = ".version";
    for (int i = 0; i < count; i++) {
        const char *end = texts[i].text + texts[i].length;
        const char *at = memmem(texts[i].text, texts[i].length, word, sizeof word - 1);
        if (!at) return CUDA_ERROR_INVALID_IMAGE;
        int major = 0;
        for (at += sizeof word - 1; at < end && *at == ' '; at++) {
        }
        for (; at < end && *at >= '0' && *at <= '9' && major <= PTX_LAST_MAJOR; at++)
            major = major * 10 + *at - '0';
        if (major > PTX_LAST_MAJOR) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    return CUDA_ERROR_INVALID_PTX;
}

/* Loads an image for its owner. */
static CUresult load(Call *call, Context *owner, CUmodule *out, const Given *given, Diag *diag) {
    Arena *arena = arena_new();
    int count;
    GpuImage *texts;
    GpuModule *gpu = NULL;
    GpuLimits limits = gpu_limits(call->gpu);
    TytoSimulator *simulator = call->driver->simulator;
    const ImageTarget target = {
        .architecture = limits.capability_major * 10 + limits.capability_minor,
        .prefers_machine = assemble_is_wanted(machine_config(simulator->machine))};
    CUresult status =
        image_open(given->image, given->size, given->name, &target, arena, &texts, &count, diag);
    if (status == CUDA_SUCCESS) {
        simulator_assemble(simulator, texts, count, arena);
        gpu = gpu_load_at(call->gpu, texts, count, given->places, given->place_count, diag);
        if (!gpu) status = code_of_texts(texts, count);
    }
    if (gpu) {
        simulator_tell_newer(simulator, gpu, given->name);
        Module *module = base_calloc(1, sizeof *module);
        module->context = owner;
        module->gpu = gpu;
        module->functions =
            base_calloc(gpu_module_program(gpu)->function_count + 1, sizeof *module->functions);
        *out = driver_add(call->driver, HANDLE_MODULE, module);
    }
    arena_free(arena);
    return status;
}

static CUresult load_data(Call *call, Context *owner, CUmodule *module, const void *image,
                          unsigned int option_count, CUjit_option *options, void **values) {
    JitLogs logs;
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = jit_read_options(option_count, options, values, &logs);
    if (status) return status;
    Diag *diag = diag_new();
    Arena *arena = arena_new();
    GpuPlace *places;
    size_t count = jit_read_places(option_count, options, values, arena, &places);
    const Given given = {image, IMAGE_UNBOUNDED, "<ptx>", places, count};
    status = load(call, owner, module, &given, diag);
    jit_write_logs(&logs, diag);
    diag_free(diag);
    arena_free(arena);
    return status;
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int option_count,
                                    CUjit_option *options, void **values) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    status = load_data(&call, call.context, module, image, option_count, options, values);
    return call_end(&call, status);
}

CUresult module_load_library(CUmodule *module, const void *image, unsigned int option_count,
                             CUjit_option *options, void **values) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    status =
        load_data(&call, &call.driver->libraries, module, image, option_count, options, values);
    return call_end(&call, status);
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

static CUresult load_file(Call *call, Context *owner, CUmodule *module, const char *path) {
    if (!module || !path) return CUDA_ERROR_INVALID_VALUE;
    size_t length;
    char *text = text_read_file(path, MODULE_FILE_MAX, &length);
    if (!text) {
        driver_say("error: cannot read %s: %s", path, strerror(errno));
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    Diag *diag = diag_new();
    const Given given = {text, length, path, NULL, 0};
    CUresult status = load(call, owner, module, &given, diag);
    diag_print(diag, stderr);
    diag_free(diag);
    free(text);
    return status;
}

CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *path) {
    Call call;
    CUresult status = call_begin(&call);
    return status ? status : call_end(&call, load_file(&call, call.context, module, path));
}

CUresult module_load_library_file(CUmodule *module, const char *path) {
    Call call;
    CUresult status = call_begin_driver(&call);
    if (status) return status;
    return call_end(&call, load_file(&call, &call.driver->libraries, module, path));
}

CUresult CUDAAPI cuModuleUnload(CUmodule handle) {
    Call call;
    CUresult status = call_begin_idle(&call);
    if (status) return status;
    Module *module =
        handles_remove(&call.driver->handles, HANDLE_MODULE, (uint64_t)(uintptr_t)handle);
    if (!module) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    module_free(call.driver, module);
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Symbols ---- */

/* The handle of a function of the program, made at first use. */
static CUfunction function_handle(Call *call, CUmodule handle, Module *module, int index) {
    if (!module->functions[index]) {
        Function *function = base_calloc(1, sizeof *function);
        function->context = module->context;
        function->module_handle = handle;
        function->module = module;
        function->index = index;
        function->decoded = &gpu_module_program(module->gpu)->functions[index];
        function->dynamic_shared_limit =
            (int)function_facts(call->gpu, module->gpu, function->decoded).dynamic_shared_bytes;
        function->carveout = CU_SHAREDMEM_CARVEOUT_DEFAULT;
        memcpy(function->cluster, function->decoded->ptx->cluster, sizeof function->cluster);
        module->functions[index] = driver_add(call->driver, HANDLE_FUNCTION, function);
    }
    return module->functions[index];
}

static bool is_kernel(const Module *module, int index) {
    return gpu_module_program(module->gpu)->functions[index].ptx->is_kernel;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!function || !name || !*name) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Module *module = CALL_GET(&call, HANDLE_MODULE, handle);
    if (!module) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    int index = gpu_find_function(module->gpu, name);
    if (index < 0 || !is_kernel(module, index)) return call_end(&call, CUDA_ERROR_NOT_FOUND);
    *function = function_handle(&call, handle, module, index);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleGetFunctionCount(unsigned int *count, CUmodule handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!count) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Module *module = CALL_GET(&call, HANDLE_MODULE, handle);
    if (!module) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    *count = 0;
    for (uint32_t i = 0; i < gpu_module_program(module->gpu)->function_count; i++)
        *count += is_kernel(module, (int)i);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count,
                                            CUmodule handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!functions) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Module *module = CALL_GET(&call, HANDLE_MODULE, handle);
    if (!module) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    uint32_t total = gpu_module_program(module->gpu)->function_count;
    for (uint32_t i = 0, found = 0; i < total && found < count; i++) {
        if (is_kernel(module, (int)i))
            functions[found++] = function_handle(&call, handle, module, (int)i);
    }
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule handle,
                                   const char *name) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!name) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Module *module = CALL_GET(&call, HANDLE_MODULE, handle);
    if (!module) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    uint64_t start, size;
    if (!gpu_find_variable(module->gpu, name, &start, &size))
        return call_end(&call, CUDA_ERROR_NOT_FOUND);
    if (address) *address = start;
    if (bytes) *bytes = size;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}
