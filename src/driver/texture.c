/* Texture objects over arrays, linear buffers and pitched buffers of one or two dimensions. Left
 * out: three dimensions, layers, mipmaps, sRGB, other views of a format. */
#include "driver/driver.h"

#include <stdlib.h>
#include <string.h>

/* The texture object of a handle; its slot stays NULL while the handle is free. */
static Texture **slot_of(Driver *driver, CUtexObject handle) {
    return handle >= 1 && handle <= driver->texture_count ? &driver->textures[handle - 1] : NULL;
}

static void texture_end(Driver *driver, CUtexObject handle) {
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

/* Kernels are given the memory's own handle; the driver's slots follow its numbers. */
static CUtexObject texture_add(const Call *call, const MemTexture *description,
                               const Texture *texture) {
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
    uint8_t bits; /* of a channel */
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

static bool set_format(MemTexture *texture, CUarray_format format, unsigned channels) {
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

/* Where the texels are. */
static CUresult set_resource(const Call *call, MemTexture *texture,
                             const CUDA_RESOURCE_DESC *resource) {
    switch ((int)resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
        const Array *array = CALL_GET(call, HANDLE_ARRAY, resource->res.array.hArray);
        if (!array) return CUDA_ERROR_INVALID_HANDLE;
        if (array->slices > 1) return CUDA_ERROR_NOT_SUPPORTED;
        texture->address = array->address;
        texture->width = array->descriptor.Width;
        texture->height = array->rows;
        texture->pitch_bytes = array->pitch_bytes;
        return set_format(texture, array->descriptor.Format, array->descriptor.NumChannels)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    }
    case CU_RESOURCE_TYPE_LINEAR:
        if (!set_format(texture, resource->res.linear.format, resource->res.linear.numChannels))
            return CUDA_ERROR_INVALID_VALUE;
        texture->address = resource->res.linear.devPtr;
        texture->width =
            resource->res.linear.sizeInBytes / (texture->channels * texture->channel_bits / 8u);
        texture->height = 1;
        texture->pitch_bytes = resource->res.linear.sizeInBytes;
        texture->is_linear_memory = true;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        if (!set_format(texture, resource->res.pitch2D.format, resource->res.pitch2D.numChannels))
            return CUDA_ERROR_INVALID_VALUE;
        texture->address = resource->res.pitch2D.devPtr;
        texture->width = resource->res.pitch2D.width;
        texture->height = resource->res.pitch2D.height;
        texture->pitch_bytes = resource->res.pitch2D.pitchInBytes;
        break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    uint64_t size;
    bool is_valid = texture->width && texture->height &&
                    !__builtin_mul_overflow(texture->pitch_bytes, texture->height - 1, &size) &&
                    mem_is_valid(call->memory, texture->address, size + 1);
    return is_valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* How the texels are read. */
static CUresult set_sampling(MemTexture *texture, const CUDA_TEXTURE_DESC *sampling) {
    static const MemAddressMode modes[] = {
        [CU_TR_ADDRESS_MODE_WRAP] = MEM_ADDRESS_WRAP,
        [CU_TR_ADDRESS_MODE_CLAMP] = MEM_ADDRESS_CLAMP,
        [CU_TR_ADDRESS_MODE_MIRROR] = MEM_ADDRESS_MIRROR,
        [CU_TR_ADDRESS_MODE_BORDER] = MEM_ADDRESS_BORDER,
    };
    if (sampling->flags & CU_TRSF_SRGB) return CUDA_ERROR_NOT_SUPPORTED;
    texture->is_normalised = sampling->flags & CU_TRSF_NORMALIZED_COORDINATES;
    texture->is_linear_filter = sampling->filterMode == CU_TR_FILTER_MODE_LINEAR;
    texture->reads_normalised = !(sampling->flags & CU_TRSF_READ_AS_INTEGER) &&
                                texture->type != MEM_TEXEL_FLOAT && texture->channel_bits < 32;
    for (int axis = 0; axis < 2; axis++) {
        CUaddress_mode mode = sampling->addressMode[axis];
        if (mode > CU_TR_ADDRESS_MODE_BORDER) return CUDA_ERROR_INVALID_VALUE;
        /* wrapping and mirroring are defined for normalised coordinates only; others clamp */
        bool repeats = mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR;
        texture->mode[axis] = repeats && !texture->is_normalised ? MEM_ADDRESS_CLAMP : modes[mode];
    }
    memcpy(texture->border, sampling->borderColor, sizeof texture->border);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                                   const CUDA_TEXTURE_DESC *sampling,
                                   const CUDA_RESOURCE_VIEW_DESC *view) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!out || !resource || !sampling) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    MemTexture description = {0};
    status = view && view->format ? CUDA_ERROR_NOT_SUPPORTED
                                  : set_resource(&call, &description, resource);
    if (status == CUDA_SUCCESS) status = set_sampling(&description, sampling);
    if (status == CUDA_SUCCESS) {
        Texture texture = {call.context, *resource, *sampling};
        *out = texture_add(&call, &description, &texture);
    }
    return call_end(&call, status);
}

CUresult CUDAAPI cuTexObjectDestroy(CUtexObject handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Texture **slot = slot_of(call.driver, handle);
    if (!slot || !*slot) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    texture_end(call.driver, handle);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Texture **slot = slot_of(call.driver, handle);
    if (!resource || !slot || !*slot) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *resource = (*slot)->resource;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *sampling, CUtexObject handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Texture **slot = slot_of(call.driver, handle);
    if (!sampling || !slot || !*slot) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *sampling = (*slot)->sampling;
    return call_end(&call, CUDA_SUCCESS);
}
