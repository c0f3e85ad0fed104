/* Arrays, mipmapped arrays, texture and surface objects: translates the runtime's descriptions to
 * the driver's and back. */
#include "cudart/runtime.h"

#include <string.h>

/* ---- Formats ---- */

/* Channel types, by kind and number of bits. */
static const struct {
    CUarray_format format;
    enum cudaChannelFormatKind kind;
    int bits;
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};

bool format_read(const struct cudaChannelFormatDesc *description, CUarray_format *format,
                 unsigned *channels) {
    const int bits[] = {description->x, description->y, description->z, description->w};
    *channels = 0;
    while (*channels < 4 && bits[*channels])
        *channels += 1;
    for (unsigned i = 0; i < 4; i++) {
        if (bits[i] != (i < *channels ? bits[0] : 0)) return false;
    }
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].kind != description->f || formats[i].bits != bits[0]) continue;
        *format = formats[i].format;
        return *channels == 1 || *channels == 2 || *channels == 4;
    }
    return false;
}

static struct cudaChannelFormatDesc format_describe(CUarray_format format, unsigned channels) {
    struct cudaChannelFormatDesc description = {0};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].format != format) continue;
        description.f = formats[i].kind;
        description.x = formats[i].bits;
        description.y = channels > 1 ? formats[i].bits : 0;
        description.z = description.w = channels > 2 ? formats[i].bits : 0;
    }
    return description;
}

struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                             enum cudaChannelFormatKind kind) {
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* ---- Arrays ---- */

static int read_shape(const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                      unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    *descriptor = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (!format) return cudaErrorInvalidValue;
    return format_read(format, &descriptor->Format, &descriptor->NumChannels)
               ? cudaSuccess
               : cudaErrorInvalidChannelDescriptor;
}

static int make_array(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                      struct cudaExtent extent, unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    const int status =
        array ? read_shape(format, extent, flags, &descriptor) : (int)cudaErrorInvalidValue;
    return status ? status : (int)cuArray3DCreate((CUarray *)array, &descriptor);
}

cudaError_t CUDARTAPI cudaMalloc3DArray(cudaArray_t *array,
                                        const struct cudaChannelFormatDesc *format,
                                        struct cudaExtent extent, unsigned int flags) {
    return RUNTIME_CALL(make_array(array, format, extent, flags));
}

cudaError_t CUDARTAPI cudaMallocArray(cudaArray_t *array,
                                      const struct cudaChannelFormatDesc *format, size_t width,
                                      size_t height, unsigned int flags) {
    return cudaMalloc3DArray(array, format, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t CUDARTAPI cudaFreeArray(cudaArray_t array) {
    return RUNTIME_CALL(array ? cuArrayDestroy((CUarray)array) : CUDA_SUCCESS);
}

static int array_info(struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                      unsigned *flags, cudaArray_const_t array) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    int status = (int)cuArray3DGetDescriptor(&descriptor, (CUarray)(uintptr_t)array);
    if (status) return status;
    if (format) *format = format_describe(descriptor.Format, descriptor.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){descriptor.Width, descriptor.Height, descriptor.Depth};
    if (flags) *flags = descriptor.Flags;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaArrayGetInfo(struct cudaChannelFormatDesc *format,
                                       struct cudaExtent *extent, unsigned int *flags,
                                       cudaArray_t array) {
    return RUNTIME_CALL(array_info(format, extent, flags, array));
}

cudaError_t CUDARTAPI cudaGetChannelDesc(struct cudaChannelFormatDesc *format,
                                         cudaArray_const_t array) {
    return RUNTIME_CALL(array_info(format, NULL, NULL, array));
}

/* ---- Mipmapped arrays ---- */

static int make_mipmap(cudaMipmappedArray_t *array, const struct cudaChannelFormatDesc *format,
                       struct cudaExtent extent, unsigned levels, unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    const int status =
        array ? read_shape(format, extent, flags, &descriptor) : (int)cudaErrorInvalidValue;
    return status ? status
                  : (int)cuMipmappedArrayCreate((CUmipmappedArray *)array, &descriptor, levels);
}

cudaError_t CUDARTAPI cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
                                               const struct cudaChannelFormatDesc *format,
                                               struct cudaExtent extent, unsigned int levels,
                                               unsigned int flags) {
    return RUNTIME_CALL(make_mipmap(array, format, extent, levels, flags));
}

cudaError_t CUDARTAPI cudaGetMipmappedArrayLevel(cudaArray_t *level,
                                                 cudaMipmappedArray_const_t array,
                                                 unsigned int number) {
    return RUNTIME_CALL(
        cuMipmappedArrayGetLevel((CUarray *)level, (CUmipmappedArray)(uintptr_t)array, number));
}

cudaError_t CUDARTAPI cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
    return RUNTIME_CALL(array ? cuMipmappedArrayDestroy((CUmipmappedArray)array) : CUDA_SUCCESS);
}

/* ---- Texture objects ---- */

static int read_resource(const struct cudaResourceDesc *given, CUDA_RESOURCE_DESC *out) {
    memset(out, 0, sizeof *out);
    out->resType = (CUresourcetype)given->resType;
    out->flags = given->flags;
    switch ((int)given->resType) {
    case cudaResourceTypeArray:
        out->res.array.hArray = (CUarray)given->res.array.array;
        return cudaSuccess;
    case cudaResourceTypeLinear:
        out->res.linear.devPtr = address_of(given->res.linear.devPtr);
        out->res.linear.sizeInBytes = given->res.linear.sizeInBytes;
        return format_read(&given->res.linear.desc, &out->res.linear.format,
                           &out->res.linear.numChannels)
                   ? cudaSuccess
                   : cudaErrorInvalidChannelDescriptor;
    case cudaResourceTypePitch2D:
        out->res.pitch2D.devPtr = address_of(given->res.pitch2D.devPtr);
        out->res.pitch2D.width = given->res.pitch2D.width;
        out->res.pitch2D.height = given->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = given->res.pitch2D.pitchInBytes;
        return format_read(&given->res.pitch2D.desc, &out->res.pitch2D.format,
                           &out->res.pitch2D.numChannels)
                   ? cudaSuccess
                   : cudaErrorInvalidChannelDescriptor;
    case cudaResourceTypeMipmappedArray:
        out->res.mipmap.hMipmappedArray = (CUmipmappedArray)given->res.mipmap.mipmap;
        return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}

/* Flags of CUDA_TEXTURE_DESC and the corresponding members of cudaTextureDesc. */
static unsigned texture_flags(const struct cudaTextureDesc *given) {
    unsigned flags = 0;
    if (given->readMode == cudaReadModeElementType) flags |= CU_TRSF_READ_AS_INTEGER;
    if (given->normalizedCoords) flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (given->sRGB) flags |= CU_TRSF_SRGB;
    if (given->disableTrilinearOptimization) flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    if (given->seamlessCubemap) flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    return flags;
}

static void read_sampling(const struct cudaTextureDesc *given, CUDA_TEXTURE_DESC *out) {
    memset(out, 0, sizeof *out);
    for (int axis = 0; axis < 3; axis++)
        out->addressMode[axis] = (CUaddress_mode)given->addressMode[axis];
    out->filterMode = (CUfilter_mode)given->filterMode;
    out->flags = texture_flags(given);
    out->maxAnisotropy = given->maxAnisotropy;
    out->mipmapFilterMode = (CUfilter_mode)given->mipmapFilterMode;
    out->mipmapLevelBias = given->mipmapLevelBias;
    out->minMipmapLevelClamp = given->minMipmapLevelClamp;
    out->maxMipmapLevelClamp = given->maxMipmapLevelClamp;
    memcpy(out->borderColor, given->borderColor, sizeof out->borderColor);
}

/* The format of a resource's elements, for the whole resource; returns false if it cannot be
 * determined. */
static bool resource_format(const CUDA_RESOURCE_DESC *resource, CUarray_format *format) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    CUarray array = resource->res.array.hArray;
    switch ((int)resource->resType) {
    case CU_RESOURCE_TYPE_LINEAR: *format = resource->res.linear.format; return true;
    case CU_RESOURCE_TYPE_PITCH2D: *format = resource->res.pitch2D.format; return true;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        if (cuMipmappedArrayGetLevel(&array, resource->res.mipmap.hMipmappedArray, 0)) return false;
        break;
    case CU_RESOURCE_TYPE_ARRAY: break;
    default: return false;
    }
    if (cuArray3DGetDescriptor(&descriptor, array)) return false;
    *format = descriptor.Format;
    return true;
}

/* Whether elements can be read in this mode: integers of 8 and 16 bits as normalized floats, which
 * is also required to filter them. The driver has no read mode to check. */
static int check_sampling(const CUDA_RESOURCE_DESC *resource,
                          const struct cudaTextureDesc *sampling) {
    CUarray_format format;
    const bool is_normalised = sampling->readMode == cudaReadModeNormalizedFloat;
    if (!resource_format(resource, &format)) return cudaSuccess; /* the driver reports the error */
    const bool is_float = format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF;
    const bool is_narrow =
        format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_UNSIGNED_INT16 ||
        format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16;
    const bool has_filter = sampling->filterMode == cudaFilterModeLinear &&
                            resource->resType != CU_RESOURCE_TYPE_LINEAR;
    if (has_filter && !is_float && !(is_narrow && is_normalised))
        return cudaErrorInvalidFilterSetting;
    return is_normalised && !is_narrow ? cudaErrorInvalidNormSetting : cudaSuccess;
}

static int make_texture(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource,
                        const struct cudaTextureDesc *sampling,
                        const struct cudaResourceViewDesc *view) {
    CUDA_RESOURCE_DESC driver_resource;
    CUDA_TEXTURE_DESC driver_sampling;
    if (!texture || !resource) return cudaErrorInvalidValue;
    int status = read_resource(resource, &driver_resource);
    if (status) return status;
    if (!sampling) return cudaErrorInvalidResourceHandle;
    if (!view) status = check_sampling(&driver_resource, sampling); /* a view has its own format */
    if (status) return status;
    read_sampling(sampling, &driver_sampling);
    /* the two views have the same layout */
    return (int)cuTexObjectCreate(texture, &driver_resource, &driver_sampling,
                                  (const CUDA_RESOURCE_VIEW_DESC *)view);
}

cudaError_t CUDARTAPI cudaCreateTextureObject(cudaTextureObject_t *texture,
                                              const struct cudaResourceDesc *resource,
                                              const struct cudaTextureDesc *sampling,
                                              const struct cudaResourceViewDesc *view) {
    return RUNTIME_CALL(make_texture(texture, resource, sampling, view));
}

cudaError_t CUDARTAPI cudaDestroyTextureObject(cudaTextureObject_t texture) {
    return RUNTIME_CALL(texture ? cuTexObjectDestroy(texture) : CUDA_SUCCESS);
}

/* Converts the driver's description of a resource to the runtime's. */
static void describe_resource(const CUDA_RESOURCE_DESC *given, struct cudaResourceDesc *out) {
    memset(out, 0, sizeof *out);
    out->resType = (enum cudaResourceType)given->resType;
    out->flags = given->flags;
    if (given->resType == CU_RESOURCE_TYPE_ARRAY) {
        out->res.array.array = (cudaArray_t)given->res.array.hArray;
    } else if (given->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
        out->res.mipmap.mipmap = (cudaMipmappedArray_t)given->res.mipmap.hMipmappedArray;
    } else if (given->resType == CU_RESOURCE_TYPE_LINEAR) {
        out->res.linear.devPtr = pointer_of(given->res.linear.devPtr);
        out->res.linear.desc =
            format_describe(given->res.linear.format, given->res.linear.numChannels);
        out->res.linear.sizeInBytes = given->res.linear.sizeInBytes;
    } else {
        out->res.pitch2D.devPtr = pointer_of(given->res.pitch2D.devPtr);
        out->res.pitch2D.desc =
            format_describe(given->res.pitch2D.format, given->res.pitch2D.numChannels);
        out->res.pitch2D.width = given->res.pitch2D.width;
        out->res.pitch2D.height = given->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = given->res.pitch2D.pitchInBytes;
    }
}

static int texture_resource(struct cudaResourceDesc *out, cudaTextureObject_t texture) {
    CUDA_RESOURCE_DESC given;
    const int status =
        out ? (int)cuTexObjectGetResourceDesc(&given, texture) : (int)cudaErrorInvalidValue;
    if (status == 0) describe_resource(&given, out);
    return status;
}

cudaError_t CUDARTAPI cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                                       cudaTextureObject_t texture) {
    return RUNTIME_CALL(texture_resource(resource, texture));
}

/* the two views have the same layout */
cudaError_t CUDARTAPI cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *view,
                                                           cudaTextureObject_t texture) {
    return RUNTIME_CALL(cuTexObjectGetResourceViewDesc((CUDA_RESOURCE_VIEW_DESC *)view, texture));
}

static int describe_sampling(struct cudaTextureDesc *out, cudaTextureObject_t texture) {
    CUDA_TEXTURE_DESC given;
    if (!out) return cudaErrorInvalidValue;
    int status = (int)cuTexObjectGetTextureDesc(&given, texture);
    if (status) return status;
    memset(out, 0, sizeof *out);
    for (int axis = 0; axis < 3; axis++)
        out->addressMode[axis] = (enum cudaTextureAddressMode)given.addressMode[axis];
    out->filterMode = (enum cudaTextureFilterMode)given.filterMode;
    out->readMode = given.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                          : cudaReadModeNormalizedFloat;
    out->sRGB = (given.flags & CU_TRSF_SRGB) != 0;
    out->normalizedCoords = (given.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    out->disableTrilinearOptimization = (given.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
    out->seamlessCubemap = (given.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
    out->maxAnisotropy = given.maxAnisotropy;
    out->mipmapFilterMode = (enum cudaTextureFilterMode)given.mipmapFilterMode;
    out->mipmapLevelBias = given.mipmapLevelBias;
    out->minMipmapLevelClamp = given.minMipmapLevelClamp;
    out->maxMipmapLevelClamp = given.maxMipmapLevelClamp;
    memcpy(out->borderColor, given.borderColor, sizeof out->borderColor);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *sampling,
                                                      cudaTextureObject_t texture) {
    return RUNTIME_CALL(describe_sampling(sampling, texture));
}

/* ---- Surface objects ---- */

static int make_surface(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *resource) {
    CUDA_RESOURCE_DESC driver_resource;
    if (!surface || !resource) return cudaErrorInvalidValue;
    const int status = read_resource(resource, &driver_resource);
    return status ? status : (int)cuSurfObjectCreate(surface, &driver_resource);
}

cudaError_t CUDARTAPI cudaCreateSurfaceObject(cudaSurfaceObject_t *surface,
                                              const struct cudaResourceDesc *resource) {
    return RUNTIME_CALL(make_surface(surface, resource));
}

cudaError_t CUDARTAPI cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
    return RUNTIME_CALL(surface ? cuSurfObjectDestroy(surface) : CUDA_SUCCESS);
}

static int surface_resource(struct cudaResourceDesc *out, cudaSurfaceObject_t surface) {
    CUDA_RESOURCE_DESC given;
    const int status =
        out ? (int)cuSurfObjectGetResourceDesc(&given, surface) : (int)cudaErrorInvalidValue;
    if (status == 0) describe_resource(&given, out);
    return status;
}

cudaError_t CUDARTAPI cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                                       cudaSurfaceObject_t surface) {
    return RUNTIME_CALL(surface_resource(resource, surface));
}

cudaError_t CUDARTAPI cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *out,
                                                     cudaArray_t array, int device) {
    return RUNTIME_CALL(cuArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)out,
                                                     (CUarray)array, device));
}

cudaError_t CUDARTAPI cudaMipmappedArrayGetMemoryRequirements(
    struct cudaArrayMemoryRequirements *out, cudaMipmappedArray_t array, int device) {
    return RUNTIME_CALL(cuMipmappedArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)out,
                                                              (CUmipmappedArray)array, device));
}
