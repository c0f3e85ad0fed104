/* The linker: collects PTX texts, also from fat binaries, checks them together, and returns them as
 * one image. */
#include "driver/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/module/fatbin.h"
#include "driver/module/image.h"
#include "driver/module/jit.h"
#include "sass/cubin.h"

enum { LINK_MAX_INPUTS = 256, LINK_FILE_MAX = 1 << 30 };

typedef struct Link {
    Context *context;
    Arena *arena; /* memory of the inputs' names and texts */
    GpuImage inputs[LINK_MAX_INPUTS];
    int input_count;
    JitLogs logs; /* options of cuLinkCreate; the API requires that the buffers outlive the link */
    Text image;   /* the image that cuLinkComplete returned */
} Link;

void link_free(Driver *driver, void *object) {
    (void)driver;
    Link *link = object;
    arena_free(link->arena);
    text_free(&link->image);
    free(link);
}

CUresult CUDAAPI cuLinkCreate(unsigned int option_count, CUjit_option *options, void **values,
                              CUlinkState *state) {
    Call call;
    JitLogs logs;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!state) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    status = jit_read_options(option_count, options, values, &logs);
    if (status) return call_end(&call, status);
    Link *link = base_calloc(1, sizeof *link);
    link->context = call.context;
    link->arena = arena_new();
    link->logs = logs;
    *state = driver_add(call.driver, HANDLE_LINK, link);
    return call_end(&call, CUDA_SUCCESS);
}

static CUresult add_text(Link *link, const char *name, const char *text, size_t length) {
    if (link->input_count == LINK_MAX_INPUTS) return CUDA_ERROR_OUT_OF_MEMORY;
    link->inputs[link->input_count++] =
        (GpuImage){arena_strdup(link->arena, name), arena_strndup(link->arena, text, length),
                   strnlen(text, length)};
    return CUDA_SUCCESS;
}

/* Adds the PTX for the device. */
static CUresult add_fatbin(Call *call, Link *link, const void *image, size_t size, const char *name,
                           Diag *diag) {
    int count = 0;
    GpuImage *texts;
    GpuLimits limits = gpu_limits(call->gpu);
    const ImageTarget target = {.architecture =
                                    limits.capability_major * 10 + limits.capability_minor};
    CUresult status = fatbin_open(image, size, name, &target, link->arena, &texts, &count, diag);
    for (int i = 0; i < count && status == CUDA_SUCCESS; i++) {
        if (cubin_is(texts[i].text, texts[i].length)) {
            diag_error(diag, name, 0, 0, "machine code cannot be linked here; give its PTX");
            return CUDA_ERROR_NO_BINARY_FOR_GPU;
        }
        status = add_text(link, texts[i].name, texts[i].text, texts[i].length);
    }
    return status;
}

static CUresult add(Call *call, Link *link, CUjitInputType type, const void *data, size_t size,
                    const char *name) {
    if (type == CU_JIT_INPUT_PTX) return add_text(link, name, data, size);
    Diag *diag = diag_new();
    CUresult status = CUDA_ERROR_INVALID_IMAGE;
    if (type == CU_JIT_INPUT_FATBINARY && size >= 4 && fatbin_is(data))
        status = add_fatbin(call, link, data, size, name, diag);
    else diag_error(diag, name, 0, 0, "the linker takes PTX text, and fat binaries with PTX, only");
    jit_write_logs(&link->logs, diag);
    diag_free(diag);
    return status;
}

CUresult CUDAAPI cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                               const char *name, unsigned int option_count, CUjit_option *options,
                               void **values) {
    (void)option_count, (void)options, (void)values; /* compiler options have no effect */
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Link *link = CALL_GET(&call, HANDLE_LINK, state);
    if (!link) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (!data || !size) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, add(&call, link, type, data, size, name ? name : "<ptx>"));
}

CUresult CUDAAPI cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                               unsigned int option_count, CUjit_option *options, void **values) {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    size_t length;
    char *text = text_read_file(path, LINK_FILE_MAX, &length);
    if (!text) {
        driver_say("error: cannot read %s: %s", path, strerror(errno));
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    CUresult status = cuLinkAddData(state, type, text, length, path, option_count, options, values);
    free(text);
    return status;
}

CUresult CUDAAPI cuLinkComplete(CUlinkState state, void **image, size_t *size) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Link *link = CALL_GET(&call, HANDLE_LINK, state);
    if (!link) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (!image || !link->input_count) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    Diag *diag = diag_new();
    GpuModule *module = gpu_load(call.gpu, link->inputs, link->input_count, diag);
    jit_write_logs(&link->logs, diag);
    diag_free(diag);
    if (!module) return call_end(&call, CUDA_ERROR_INVALID_PTX);
    gpu_unload(module);
    text_clear(&link->image);
    image_write(link->inputs, link->input_count, &link->image);
    *image = link->image.bytes;
    if (size) *size = link->image.length;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState state) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Link *link = handles_remove(&call.driver->handles, HANDLE_LINK, (uint64_t)(uintptr_t)state);
    if (!link) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    link_free(call.driver, link);
    return call_end(&call, CUDA_SUCCESS);
}
