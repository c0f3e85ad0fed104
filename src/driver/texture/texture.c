/* Texture objects over arrays, mipmapped arrays, linear buffers and pitched buffers, and other
 * views of arrays. Not supported: block-compressed views, and filtering of cubes across their
 * edges. Anisotropy is treated as 1. */
#include "driver/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The texture object of a handle; its slot is NULL while the handle is free. */
static Texture **slot_of(Driver *driver, CUtexObject handle) {
    return handle >= 1 && handle <= driver->texture_count ? &driver->textures[handle - 1] : NULL;
}

void texture_end(Driver *driver, CUtexObject handle) {
    Texture **slot = slot_of(driver, handle);
    mem_texture_remove(simulator_memory(driver->simulator), handle);
    free(*slot);
    *slot = NULL;
}

void textures_clear(Driver *driver, const Context *context) {
    for (uint32_t i = 0; i < driver->texture_count; i++) {
        if (driver->textures[i] && driver->textures[i]->context == context)
            texture_end(driver, i + 1);
    }
}

/* Kernels receive the memory's own handle; the driver's slots use the same numbers. */
CUtexObject texture_add(const Call *call, const MemTexture *description, const Texture *texture) {
    Driver *driver = call->driver;
    uint64_t handle = mem_texture_add(call->memory, description);
    while (driver->texture_count < handle) {
        driver->textures =
            base_realloc(driver->textures, (driver->texture_count + 1) * sizeof *driver->textures);
        driver->textures[driver->texture_count++] = NULL;
    }
    Texture *kept = base_malloc(sizeof *kept);
    *kept = *texture;
    *slot_of(driver, handle) = kept;
    return handle;
}

typedef struct FormatRow {
    CUarray_format format;
    MemTexelType type;
    uint8_t bits; /* bits of a channel */
} FormatRow;

static const FormatRow formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, MEM_TEXEL_UNSIGNED, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, MEM_TEXEL_UNSIGNED, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, MEM_TEXEL_UNSIGNED, 32},
    {CU_AD_FORMAT_SIGNED_INT8, MEM_TEXEL_SIGNED, 8},
    {CU_AD_FORMAT_SIGNED_INT16, MEM_TEXEL_SIGNED, 16},
    {CU_AD_FORMAT_SIGNED_INT32, MEM_TEXEL_SIGNED, 32},
    {CU_AD_FORMAT_HALF, MEM_TEXEL_FLOAT, 16},
    {CU_AD_FORMAT_FLOAT, MEM_TEXEL_FLOAT, 32},
};

bool texture_set_format(MemTexture *texture, CUarray_format format, unsigned channels) {
    if (channels != 1 && channels != 2 && channels != 4) return false;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].format != format) continue;
        texture->type = formats[i].type;
        texture->channel_bits = formats[i].bits;
        texture->channels = (uint8_t)channels;
        return true;
    }
    return false;
}

/* Reports why such a texture is not possible; returns `status`. */
static CUresult refuse(CUresult status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static CUresult refuse(CUresult status, const char *format, ...) {
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    driver_say("error: a texture cannot be made: %s", why);
    return status;
}

static CUresult refuse_format(CUarray_format format, unsigned channels) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "there are no elements of %u channels of format 0x%x in a buffer", channels,
                  (unsigned)format);
}

static bool is_bounded(const Call *call, uint64_t extent, CUdevice_attribute attribute) {
    int most;
    return device_attribute(call->gpu, attribute, &most) == CUDA_SUCCESS &&
           extent <= (uint64_t)most;
}

/* A contiguous run of texels. It is sufficient that it begins in an allocation: programs state a
 * size that extends beyond it, and a GPU also accepts a size without a texel. */
static CUresult set_run(const Call *call, MemTexture *texture, CUdeviceptr address,
                        uint64_t size_bytes) {
    const uint64_t texels = size_bytes / mem_texel_bytes(texture), width = texels ? texels : 1;
    if (!is_bounded(call, texels, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH))
        return refuse(CUDA_ERROR_INVALID_VALUE, "a buffer of %llu elements",
                      (unsigned long long)texels);
    if (!mem_is_valid(call->memory, address, 1))
        return refuse(CUDA_ERROR_INVALID_VALUE, "its buffer at 0x%llx is not in one allocation",
                      (unsigned long long)address);
    texture->is_linear_memory = true;
    texture->dimensions = 1;
    texture->levels = 1;
    texture->level[0] = (MemLevel){address, width, 1, 1, size_bytes, size_bytes};
    return CUDA_SUCCESS;
}

/* Rows of texels, which may overlap. */
static CUresult set_rows(const Call *call, MemTexture *texture, CUdeviceptr address, uint64_t width,
                         uint64_t rows, uint64_t pitch) {
    if (!width || !rows ||
        !is_bounded(call, width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
        !is_bounded(call, rows, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
        !is_bounded(call, pitch, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH))
        return refuse(CUDA_ERROR_INVALID_VALUE, "a buffer of %llu x %llu elements, pitch %llu",
                      (unsigned long long)width, (unsigned long long)rows,
                      (unsigned long long)pitch);
    if (!mem_is_valid(call->memory, address, pitch * (rows - 1) + width * mem_texel_bytes(texture)))
        return refuse(CUDA_ERROR_INVALID_VALUE, "its buffer at 0x%llx is not in one allocation",
                      (unsigned long long)address);
    texture->dimensions = 2;
    texture->levels = 1;
    texture->level[0] = (MemLevel){address, width, rows, 1, pitch, pitch * rows};
    return CUDA_SUCCESS;
}

/* Determines where the texels are. */
static CUresult set_resource(const Call *call, MemTexture *texture,
                             const CUDA_RESOURCE_DESC *resource) {
    const Array *array;
    switch ((int)resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        array = CALL_GET(call, HANDLE_ARRAY, resource->res.array.hArray);
        if (!array) return refuse(CUDA_ERROR_INVALID_HANDLE, "its handle is not an array's");
        array_describe(array, texture);
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return mipmap_describe(call, resource->res.mipmap.hMipmappedArray, texture)
                   ? refuse(CUDA_ERROR_INVALID_HANDLE, "its handle is not a mipmapped array's")
                   : CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR:
        if (!texture_set_format(texture, resource->res.linear.format,
                                resource->res.linear.numChannels))
            return refuse_format(resource->res.linear.format, resource->res.linear.numChannels);
        return set_run(call, texture, resource->res.linear.devPtr,
                       resource->res.linear.sizeInBytes);
    case CU_RESOURCE_TYPE_PITCH2D:
        if (!texture_set_format(texture, resource->res.pitch2D.format,
                                resource->res.pitch2D.numChannels))
            return refuse_format(resource->res.pitch2D.format, resource->res.pitch2D.numChannels);
        return set_rows(call, texture, resource->res.pitch2D.devPtr, resource->res.pitch2D.width,
                        resource->res.pitch2D.height, resource->res.pitch2D.pitchInBytes);
    default:
        return refuse(CUDA_ERROR_INVALID_VALUE, "there is no kind of memory %d",
                      (int)resource->resType);
    }
}

/* Formats of views are in rows of 1, 2 and 4 channels, in CUDA's order. */
static CUresult set_view_format(MemTexture *texture, int format) {
    static const CUarray_format rows[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
                                          CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
                                          CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
                                          CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    const int row = (format - 1) / 3;
    const uint32_t bytes = mem_texel_bytes(texture);
    if (format == CU_RES_VIEW_FORMAT_NONE) return CUDA_SUCCESS;
    if (format < 0 || row >= (int)(sizeof rows / sizeof *rows))
        return refuse(CUDA_ERROR_NOT_SUPPORTED,
                      "a view of format %d (block-compressed) is not "
                      "supported",
                      format);
    texture_set_format(texture, rows[row], 1u << (format - 1) % 3);
    return mem_texel_bytes(texture) == bytes
               ? CUDA_SUCCESS
               : refuse(CUDA_ERROR_INVALID_VALUE,
                        "a view with elements of %u bytes of an array that has %u",
                        mem_texel_bytes(texture), bytes);
}

/* Restricts a texture to some of its levels and layers. */
static CUresult set_view(MemTexture *texture, const CUDA_RESOURCE_VIEW_DESC *view) {
    const MemLevel *whole = &texture->level[0];
    const CUresult status = set_view_format(texture, (int)view->format);
    if (status) return status;
    const bool has_layers = texture->geometry != MEM_PLAIN;
    const uint64_t slices = texture->geometry == MEM_CUBES ? 6 : 1;
    const uint64_t layers = has_layers ? mem_layers(texture) : 1;
    if (texture->is_linear_memory)
        return refuse(CUDA_ERROR_INVALID_VALUE, "a view of memory that is not an array");
    if (view->lastMipmapLevel < view->firstMipmapLevel || view->lastMipmapLevel >= texture->levels)
        return refuse(CUDA_ERROR_INVALID_VALUE, "a view of levels %u to %u of %u",
                      view->firstMipmapLevel, view->lastMipmapLevel, texture->levels);
    if (view->lastLayer < view->firstLayer || view->lastLayer >= layers)
        return refuse(CUDA_ERROR_INVALID_VALUE, "a view of layers %u to %u of %llu",
                      view->firstLayer, view->lastLayer, (unsigned long long)layers);
    if ((view->width && view->width != whole->width) ||
        (view->height && view->height != whole->height))
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "a view of %llu x %llu elements of an array of %llu x %llu",
                      (unsigned long long)view->width, (unsigned long long)view->height,
                      (unsigned long long)whole->width, (unsigned long long)whole->height);
    texture->levels = (uint8_t)(view->lastMipmapLevel - view->firstMipmapLevel + 1);
    for (int i = 0; i < texture->levels; i++) {
        MemLevel level = texture->level[view->firstMipmapLevel + (unsigned)i];
        if (has_layers) {
            level.address += view->firstLayer * slices * level.slice_bytes;
            level.depth = (view->lastLayer - view->firstLayer + 1) * slices;
        }
        texture->level[i] = level;
    }
    return CUDA_SUCCESS;
}

/* Determines how the texels are read. */
static CUresult set_sampling(MemTexture *texture, const CUDA_TEXTURE_DESC *sampling) {
    static const MemAddressMode modes[] = {
        [CU_TR_ADDRESS_MODE_WRAP] = MEM_ADDRESS_WRAP,
        [CU_TR_ADDRESS_MODE_CLAMP] = MEM_ADDRESS_CLAMP,
        [CU_TR_ADDRESS_MODE_MIRROR] = MEM_ADDRESS_MIRROR,
        [CU_TR_ADDRESS_MODE_BORDER] = MEM_ADDRESS_BORDER,
    };
    MemSampler *sampler = &texture->sampler;
    if (sampling->flags & CU_TRSF_SEAMLESS_CUBEMAP)
        return refuse(CUDA_ERROR_NOT_SUPPORTED, "seamless cubes are not supported");
    if (sampling->filterMode > CU_TR_FILTER_MODE_LINEAR ||
        sampling->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return refuse(CUDA_ERROR_INVALID_VALUE, "there is no such filter");
    texture->is_srgb = sampling->flags & CU_TRSF_SRGB;
    sampler->is_normalised = sampling->flags & CU_TRSF_NORMALIZED_COORDINATES;
    sampler->is_linear_filter = sampling->filterMode == CU_TR_FILTER_MODE_LINEAR;
    sampler->is_linear_mipmap = sampling->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    sampler->level_bias = sampling->mipmapLevelBias;
    sampler->lowest_level = sampling->minMipmapLevelClamp;
    sampler->highest_level = sampling->maxMipmapLevelClamp;
    texture->reads_normalised = !(sampling->flags & CU_TRSF_READ_AS_INTEGER) &&
                                texture->type != MEM_TEXEL_FLOAT && texture->channel_bits < 32;
    for (int axis = 0; axis < 3; axis++) {
        CUaddress_mode mode = sampling->addressMode[axis];
        if (mode > CU_TR_ADDRESS_MODE_BORDER)
            return refuse(CUDA_ERROR_INVALID_VALUE, "there is no addressing mode %u",
                          (unsigned)mode);
        /* wrapping and mirroring are only defined for normalized coordinates; others clamp */
        bool repeats = mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR;
        sampler->mode[axis] = repeats && !sampler->is_normalised ? MEM_ADDRESS_CLAMP : modes[mode];
    }
    memcpy(sampler->border, sampling->borderColor, sizeof sampler->border);
    return texture->levels > 1 && !sampler->is_normalised /* as in CUDA */
               ? refuse(CUDA_ERROR_INVALID_VALUE, "levels need normalised coordinates")
               : CUDA_SUCCESS;
}

CUresult texture_describe(const Call *call, MemTexture *texture, const CUDA_RESOURCE_DESC *resource,
                          const CUDA_TEXTURE_DESC *sampling, const CUDA_RESOURCE_VIEW_DESC *view) {
    CUresult status = set_resource(call, texture, resource);
    if (status == CUDA_SUCCESS && view) status = set_view(texture, view);
    return status ? status : set_sampling(texture, sampling);
}

static CUresult refuse_alignment(const char *what, uint64_t number) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "%s 0x%llx is not aligned as textures need it", what,
                  (unsigned long long)number);
}

enum { PITCH_GRAIN = 32 }; /* CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT */

/* Buffers of texture objects must be aligned; for texture references the driver returns the offset
 * instead. A GPU requires CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, which all its allocations have.
 * Allocations here have less, and less is required. */
static CUresult check_alignment(const CUDA_RESOURCE_DESC *resource) {
    const bool has_rows = resource->resType == CU_RESOURCE_TYPE_PITCH2D;
    if (!has_rows && resource->resType != CU_RESOURCE_TYPE_LINEAR) return CUDA_SUCCESS;
    const CUdeviceptr address =
        has_rows ? resource->res.pitch2D.devPtr : resource->res.linear.devPtr;
    const uint64_t pitch = has_rows ? resource->res.pitch2D.pitchInBytes : 0;
    if (address % MEM_ALLOC_ALIGN) return refuse_alignment("the address", address);
    return pitch % PITCH_GRAIN ? refuse_alignment("the pitch", pitch) : CUDA_SUCCESS;
}

CUresult CUDAAPI cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                                   const CUDA_TEXTURE_DESC *sampling,
                                   const CUDA_RESOURCE_VIEW_DESC *view) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!out || !resource || !sampling) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    MemTexture description = {0};
    status = check_alignment(resource);
    if (status == CUDA_SUCCESS)
        status = texture_describe(&call, &description, resource, sampling, view);
    if (status == CUDA_SUCCESS) {
        Texture texture = {.context = call.context,
                           .resource = *resource,
                           .sampling = *sampling,
                           .has_view = view != NULL};
        if (view) texture.view = *view;
        *out = texture_add(&call, &description, &texture);
    }
    return call_end(&call, status);
}

Texture *texture_find(const Call *call, CUtexObject handle, bool is_surface) {
    Texture **slot = slot_of(call->driver, handle);
    return slot && *slot && (*slot)->is_surface == is_surface ? *slot : NULL;
}

CUresult CUDAAPI cuTexObjectDestroy(CUtexObject handle) {
    Call call;
    CUresult status = call_begin_idle(&call);
    if (status) return status;
    if (!texture_find(&call, handle, false)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    texture_end(call.driver, handle);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Texture *texture = texture_find(&call, handle, false);
    if (!resource || !texture) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *resource = texture->resource;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *sampling, CUtexObject handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Texture *texture = texture_find(&call, handle, false);
    if (!sampling || !texture) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *sampling = texture->sampling;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Texture *texture = texture_find(&call, handle, false);
    if (!view || !texture || !texture->has_view) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *view = texture->view;
    return call_end(&call, CUDA_SUCCESS);
}
