/* Texture and surface references: variables of a module that the host binds to memory. As soon as a
 * reference is bound, its settings become a texture object, and the variable contains the object's
 * handle. */
#include "driver/driver.h"

#include <stdlib.h>
#include <string.h>

typedef struct Reference {
    Context *context;
    const Module *module; /* NULL: from cuTexRefCreate */
    uint64_t variable;    /* device address of the handle's 8 bytes; 0: from cuTexRefCreate */
    bool is_surface;
    bool is_bound; /* `resource` says what it is bound to */
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampling;
    CUarray_format format; /* descriptor of memory that is not an array */
    int channels;
    CUtexObject texture; /* the object that represents it; 0: none */
} Reference;

static void forget_texture(Driver *driver, Reference *reference) {
    if (reference->texture) texture_end(driver, reference->texture);
    reference->texture = 0;
}

void reference_free(Driver *driver, void *object) {
    forget_texture(driver, object);
    free(object);
}

void references_clear(Driver *driver, const Module *module) {
    for (uint32_t i = 0; i < driver->handles.count; i++) {
        HandleSlot slot = driver->handles.slots[i];
        if (slot.kind != HANDLE_REFERENCE || ((Reference *)slot.object)->module != module) continue;
        handles_remove(&driver->handles, slot.kind, handles_at(&driver->handles, i));
        reference_free(driver, slot.object);
    }
}

/* Applies the settings. */
static CUresult refresh(const Call *call, Reference *reference) {
    MemTexture description = {.is_surface = reference->is_surface};
    if (!reference->is_bound || !reference->variable) return CUDA_SUCCESS;
    CUresult status = CUDA_SUCCESS;
    if (reference->is_surface)
        array_describe(CALL_GET(call, HANDLE_ARRAY, reference->resource.res.array.hArray),
                       &description);
    else
        status =
            texture_describe(call, &description, &reference->resource, &reference->sampling, NULL);
    if (status) return status;
    const Texture texture = {.context = call->context,
                             .resource = reference->resource,
                             .sampling = reference->sampling,
                             .is_surface = reference->is_surface};
    forget_texture(call->driver, reference);
    reference->texture = texture_add(call, &description, &texture);
    mem_write(call->memory, reference->variable, &reference->texture, sizeof reference->texture);
    return CUDA_SUCCESS;
}

/* The reference of a handle, with the call begun. After an error it returns NULL, with the call
 * ended and the error in *status. */
static Reference *begin(Call *call, const void *handle, bool is_surface, CUresult *status) {
    *status = call_begin_idle(call);
    if (*status) return NULL;
    Reference *reference = CALL_GET(call, HANDLE_REFERENCE, handle);
    if (reference && reference->is_surface == is_surface) return reference;
    *status = call_end(call, CUDA_ERROR_INVALID_HANDLE);
    return NULL;
}

/* ---- References ---- */

/* If a module is asked twice for a reference, it returns the same object. */
static void *find_reference(Call *call, const Module *module, uint64_t variable, bool is_surface) {
    for (uint32_t i = 0; i < call->driver->handles.count; i++) {
        HandleSlot slot = call->driver->handles.slots[i];
        const Reference *reference = slot.object;
        if (slot.kind == HANDLE_REFERENCE && variable && reference->variable == variable)
            return (void *)(uintptr_t)handles_at(&call->driver->handles, i);
    }
    Reference *made = base_calloc(1, sizeof *made);
    *made = (Reference){.context = call->context,
                        .module = module,
                        .variable = variable,
                        .is_surface = is_surface,
                        .format = CU_AD_FORMAT_FLOAT,
                        .channels = 1};
    for (int axis = 0; axis < 3; axis++)
        made->sampling.addressMode[axis] = CU_TR_ADDRESS_MODE_CLAMP;
    return driver_add(call->driver, HANDLE_REFERENCE, made);
}

static CUresult get_reference(void **out, CUmodule handle, const char *name, bool is_surface) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    uint64_t variable;
    const Module *module = CALL_GET(&call, HANDLE_MODULE, handle);
    if (!out || !name) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!module) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (!gpu_find_reference(module->gpu, name, is_surface, &variable))
        return call_end(&call, CUDA_ERROR_NOT_FOUND);
    *out = find_reference(&call, module, variable, is_surface);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleGetTexRef(CUtexref *reference, CUmodule module, const char *name) {
    return get_reference((void **)reference, module, name, false);
}

CUresult CUDAAPI cuModuleGetSurfRef(CUsurfref *reference, CUmodule module, const char *name) {
    return get_reference((void **)reference, module, name, true);
}

CUresult CUDAAPI cuTexRefCreate(CUtexref *reference) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!reference) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *reference = find_reference(&call, NULL, 0, false);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuTexRefDestroy(CUtexref handle) {
    Call call;
    CUresult status;
    Reference *reference = begin(&call, handle, false, &status);
    if (!reference) return status;
    handles_remove(&call.driver->handles, HANDLE_REFERENCE, (uint64_t)(uintptr_t)handle);
    reference_free(call.driver, reference);
    return call_end(&call, CUDA_SUCCESS);
}

/* ---- Binding ---- */

static CUresult bind(Call *call, Reference *reference, const CUDA_RESOURCE_DESC *resource) {
    const CUDA_RESOURCE_DESC before = reference->resource;
    const bool was_bound = reference->is_bound;
    reference->resource = *resource;
    reference->is_bound = true;
    const CUresult status = refresh(call, reference);
    if (status) {
        reference->resource = before;
        reference->is_bound = was_bound;
    }
    return call_end(call, status);
}

/* No address and no bytes: unbinds it. */
static CUresult unbind(Call *call, Reference *reference) {
    forget_texture(call->driver, reference);
    reference->is_bound = false;
    if (reference->variable)
        mem_write(call->memory, reference->variable, &reference->texture,
                  sizeof reference->texture);
    return call_end(call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuTexRefSetArray(CUtexref handle, CUarray array, unsigned int flags) {
    Call call;
    CUresult status;
    Reference *reference = begin(&call, handle, false, &status);
    if (!reference) return status;
    if (flags != CU_TRSA_OVERRIDE_FORMAT) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return bind(
        &call, reference,
        &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array});
}

CUresult CUDAAPI cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray array,
                                           unsigned int flags) {
    Call call;
    CUresult status;
    Reference *reference = begin(&call, handle, false, &status);
    if (!reference) return status;
    if (flags != CU_TRSA_OVERRIDE_FORMAT) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return bind(&call, reference,
                &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                      .res.mipmap.hMipmappedArray = array});
}

CUresult CUDAAPI cuTexRefSetAddress(size_t *offset, CUtexref handle, CUdeviceptr address,
                                    size_t bytes) {
    Call call;
    CUresult status;
    Reference *reference = begin(&call, handle, false, &status);
    if (!reference) return status;
    if (offset) *offset = 0; /* every address is sufficiently aligned */
    if (!address && !bytes) return unbind(&call, reference);
    return bind(&call, reference,
                &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR,
                                      .res.linear = {.devPtr = address,
                                                     .format = reference->format,
                                                     .numChannels = (unsigned)reference->channels,
                                                     .sizeInBytes = bytes}});
}

CUresult CUDAAPI cuTexRefSetAddress2D(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *descriptor,
                                      CUdeviceptr address, size_t pitch) {
    Call call;
    CUresult status;
    Reference *reference = begin(&call, handle, false, &status);
    if (!reference) return status;
    if (!descriptor) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return bind(&call, reference,
                &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D,
                                      .res.pitch2D = {.devPtr = address,
                                                      .format = descriptor->Format,
                                                      .numChannels = descriptor->NumChannels,
                                                      .width = descriptor->Width,
                                                      .height = descriptor->Height,
                                                      .pitchInBytes = pitch}});
}

CUresult CUDAAPI cuSurfRefSetArray(CUsurfref handle, CUarray array, unsigned int flags) {
    Call call;
    CUresult status;
    Reference *reference = begin(&call, handle, true, &status);
    if (!reference) return status;
    const Array *bound = CALL_GET(&call, HANDLE_ARRAY, array);
    if (!bound) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (flags || !(bound->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return bind(
        &call, reference,
        &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array});
}

/* ---- Settings ---- */

/* Defines a function that sets something of a reference: its parameters, the condition of an error,
 * and the action. */
#define SETTER(name, parameters, is_wrong, ...)                                                    \
    CUresult CUDAAPI name parameters {                                                             \
        Call call;                                                                                 \
        CUresult status;                                                                           \
        Reference *reference = begin(&call, handle, false, &status);                               \
        if (!reference) return status;                                                             \
        if (is_wrong) return call_end(&call, CUDA_ERROR_INVALID_VALUE);                            \
        __VA_ARGS__;                                                                               \
        return call_end(&call, refresh(&call, reference));                                         \
    }

SETTER(cuTexRefSetFormat, (CUtexref handle, CUarray_format format, int channels),
       !array_channel_bytes(format) || (channels != 1 && channels != 2 && channels != 4),
       reference->format = format, reference->channels = channels)
SETTER(cuTexRefSetAddressMode, (CUtexref handle, int axis, CUaddress_mode mode),
       axis < 0 || axis > 2 || mode > CU_TR_ADDRESS_MODE_BORDER,
       reference->sampling.addressMode[axis] = mode)
SETTER(cuTexRefSetFilterMode, (CUtexref handle, CUfilter_mode mode),
       mode > CU_TR_FILTER_MODE_LINEAR, reference->sampling.filterMode = mode)
SETTER(cuTexRefSetMipmapFilterMode, (CUtexref handle, CUfilter_mode mode),
       mode > CU_TR_FILTER_MODE_LINEAR, reference->sampling.mipmapFilterMode = mode)
SETTER(cuTexRefSetMipmapLevelBias, (CUtexref handle, float bias), false,
       reference->sampling.mipmapLevelBias = bias)
SETTER(cuTexRefSetMipmapLevelClamp, (CUtexref handle, float lowest, float highest), false,
       reference->sampling.minMipmapLevelClamp = lowest,
       reference->sampling.maxMipmapLevelClamp = highest)
SETTER(cuTexRefSetMaxAnisotropy, (CUtexref handle, unsigned int anisotropy), false,
       reference->sampling.maxAnisotropy = anisotropy)
SETTER(cuTexRefSetBorderColor, (CUtexref handle, float *color), !color,
       memcpy(reference->sampling.borderColor, color, sizeof reference->sampling.borderColor))
SETTER(cuTexRefSetFlags, (CUtexref handle, unsigned int flags), false,
       reference->sampling.flags = flags)

/* ---- Queries of settings ---- */

/* Defines a function that queries a setting: its parameters, the condition of an error, and the
 * action. */
#define GETTER(name, parameters, surface, is_wrong, ...)                                           \
    CUresult CUDAAPI name parameters {                                                             \
        Call call;                                                                                 \
        CUresult status;                                                                           \
        const Reference *reference = begin(&call, handle, surface, &status);                       \
        if (!reference) return status;                                                             \
        if (is_wrong) return call_end(&call, CUDA_ERROR_INVALID_VALUE);                            \
        __VA_ARGS__;                                                                               \
        return call_end(&call, CUDA_SUCCESS);                                                      \
    }

static bool is_bound_to(const Reference *reference, CUresourcetype type) {
    return reference->is_bound && reference->resource.resType == type;
}

GETTER(cuTexRefGetAddress, (CUdeviceptr * address, CUtexref handle), false,
       !address || !is_bound_to(reference, CU_RESOURCE_TYPE_LINEAR),
       *address = reference->resource.res.linear.devPtr)
GETTER(cuTexRefGetArray, (CUarray * array, CUtexref handle), false,
       !array || !is_bound_to(reference, CU_RESOURCE_TYPE_ARRAY),
       *array = reference->resource.res.array.hArray)
GETTER(cuTexRefGetMipmappedArray, (CUmipmappedArray * array, CUtexref handle), false,
       !array || !is_bound_to(reference, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY),
       *array = reference->resource.res.mipmap.hMipmappedArray)
GETTER(cuTexRefGetAddressMode, (CUaddress_mode * mode, CUtexref handle, int axis), false,
       !mode || axis < 0 || axis > 2, *mode = reference->sampling.addressMode[axis])
GETTER(cuTexRefGetFilterMode, (CUfilter_mode * mode, CUtexref handle), false, !mode,
       *mode = reference->sampling.filterMode)
GETTER(cuTexRefGetFormat, (CUarray_format * format, int *channels, CUtexref handle), false,
       !format && !channels, if (format) *format = reference->format;
       if (channels) *channels = reference->channels)
GETTER(cuTexRefGetMipmapFilterMode, (CUfilter_mode * mode, CUtexref handle), false, !mode,
       *mode = reference->sampling.mipmapFilterMode)
GETTER(cuTexRefGetMipmapLevelBias, (float *bias, CUtexref handle), false, !bias,
       *bias = reference->sampling.mipmapLevelBias)
GETTER(cuTexRefGetMipmapLevelClamp, (float *lowest, float *highest, CUtexref handle), false,
       !lowest || !highest, *lowest = reference->sampling.minMipmapLevelClamp;
       *highest = reference->sampling.maxMipmapLevelClamp)
GETTER(cuTexRefGetMaxAnisotropy, (int *anisotropy, CUtexref handle), false, !anisotropy,
       *anisotropy = (int)reference->sampling.maxAnisotropy)
GETTER(cuTexRefGetBorderColor, (float *color, CUtexref handle), false, !color,
       memcpy(color, reference->sampling.borderColor, sizeof reference->sampling.borderColor))
GETTER(cuTexRefGetFlags, (unsigned int *flags, CUtexref handle), false, !flags,
       *flags = reference->sampling.flags)
GETTER(cuSurfRefGetArray, (CUarray * array, CUsurfref handle), true, !array || !reference->is_bound,
       *array = reference->resource.res.array.hArray)
