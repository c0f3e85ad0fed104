/* Texture references for nvcc, which has none since CUDA 12: device variables that hold a texture
 * object, which is made when they are bound. Until then, the settings that the host writes to a
 * reference stay in its shadow. */
#ifndef TYTO_EMULATED_H
#define TYTO_EMULATED_H

#pragma nv_diag_suppress 20092 /* "cannot be directly written": the shadow of a reference is meant \
                                */

struct textureReference {
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    cudaTextureObject_t object; /* device's object; 0: not bound */
};

template <class T, int type = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct TytoOldTexture : textureReference {};

/* The place of the device's object in the variable. */
static inline cudaError_t tyto_old_exchange(const textureReference *reference,
                                            cudaTextureObject_t object) {
    cudaTextureObject_t before;
    size_t place = offsetof(textureReference, object);
    cudaError_t status = cudaMemcpyFromSymbol(&before, (const void *)reference, sizeof before,
                                              place, cudaMemcpyDeviceToHost);
    if (status == cudaSuccess && before) status = cudaDestroyTextureObject(before);
    if (status != cudaSuccess) return status;
    return cudaMemcpyToSymbol((const void *)reference, &object, sizeof object, place,
                              cudaMemcpyHostToDevice);
}

static inline cudaError_t tyto_old_bind(const textureReference *reference, cudaTextureReadMode mode,
                                        const cudaResourceDesc &resource) {
    cudaTextureDesc sampling = {};
    cudaTextureObject_t object;
    for (int axis = 0; axis < 3; axis++)
        sampling.addressMode[axis] = reference->addressMode[axis];
    sampling.filterMode = reference->filterMode;
    sampling.normalizedCoords = reference->normalized;
    sampling.readMode = mode;
    sampling.sRGB = reference->sRGB;
    sampling.mipmapFilterMode = reference->mipmapFilterMode;
    sampling.mipmapLevelBias = reference->mipmapLevelBias;
    sampling.minMipmapLevelClamp = reference->minMipmapLevelClamp;
    sampling.maxMipmapLevelClamp = reference->maxMipmapLevelClamp;
    cudaError_t status = cudaCreateTextureObject(&object, &resource, &sampling, NULL);
    return status != cudaSuccess ? status : tyto_old_exchange(reference, object);
}

/* The C forms do not know the reference's read mode: they assume elements. */
static inline cudaError_t tyto_old_linear(size_t *offset, const textureReference *reference,
                                          cudaTextureReadMode mode, const void *pointer,
                                          const cudaChannelFormatDesc *format, size_t size) {
    cudaResourceDesc resource = {};
    size_t free_bytes, total_bytes;
    if (offset) *offset = 0;
    if (size == 0xffffffff) { /* to the end of the memory: at most its total size */
        cudaError_t status = cudaMemGetInfo(&free_bytes, &total_bytes);
        if (status != cudaSuccess) return status;
        size = total_bytes < (1u << 27) ? total_bytes : 1u << 27;
    }
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = (void *)pointer;
    resource.res.linear.desc = *format;
    resource.res.linear.sizeInBytes = size;
    return tyto_old_bind(reference, mode, resource);
}
static inline cudaError_t tyto_old_rows(size_t *offset, const textureReference *reference,
                                        cudaTextureReadMode mode, const void *pointer,
                                        const cudaChannelFormatDesc *format, size_t width,
                                        size_t height, size_t pitch) {
    cudaResourceDesc resource = {};
    if (offset) *offset = 0;
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = (void *)pointer;
    resource.res.pitch2D.desc = *format;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return tyto_old_bind(reference, mode, resource);
}
static inline cudaError_t tyto_old_array(const textureReference *reference,
                                         cudaTextureReadMode mode, cudaArray_const_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = (cudaArray_t)array;
    return tyto_old_bind(reference, mode, resource);
}
static inline cudaError_t tyto_old_mipmap(const textureReference *reference,
                                          cudaTextureReadMode mode,
                                          cudaMipmappedArray_const_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = (cudaMipmappedArray_t)array;
    return tyto_old_bind(reference, mode, resource);
}

/* The C forms, and the forms that know the reference's read mode. */
#define TYTO_OLD_FORMS(name, inner, before, arguments_before, parameters, arguments)               \
    static inline cudaError_t name(before const textureReference *reference, parameters) {         \
        return inner(arguments_before reference, cudaReadModeElementType, arguments);              \
    }                                                                                              \
    template <class T, int type, cudaTextureReadMode mode>                                         \
    static inline cudaError_t name(before const TytoOldTexture<T, type, mode> *reference,          \
                                   parameters) {                                                   \
        return inner(arguments_before reference, mode, arguments);                                 \
    }
#define TYTO_COMMA(...)   __VA_ARGS__,
#define TYTO_LIST_OF(...) __VA_ARGS__
TYTO_OLD_FORMS(cudaBindTexture, tyto_old_linear, TYTO_COMMA(size_t *offset), TYTO_COMMA(offset),
               TYTO_LIST_OF(const void *pointer, const cudaChannelFormatDesc *format, size_t size),
               TYTO_LIST_OF(pointer, format, size))
TYTO_OLD_FORMS(cudaBindTexture2D, tyto_old_rows, TYTO_COMMA(size_t *offset), TYTO_COMMA(offset),
               TYTO_LIST_OF(const void *pointer, const cudaChannelFormatDesc *format, size_t width,
                            size_t height, size_t pitch),
               TYTO_LIST_OF(pointer, format, width, height, pitch))
TYTO_OLD_FORMS(cudaBindTextureToArray, tyto_old_array, , ,
               TYTO_LIST_OF(cudaArray_const_t array, const cudaChannelFormatDesc *), array)
TYTO_OLD_FORMS(cudaBindTextureToMipmappedArray, tyto_old_mipmap, , ,
               TYTO_LIST_OF(cudaMipmappedArray_const_t array, const cudaChannelFormatDesc *), array)
#undef TYTO_OLD_FORMS
#undef TYTO_COMMA
#undef TYTO_LIST_OF

static inline cudaError_t cudaUnbindTexture(const textureReference *reference) {
    return tyto_old_exchange(reference, 0);
}
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const textureReference *) {
    *offset = 0;
    return cudaSuccess;
}
/* A reference is its own symbol. */
static inline cudaError_t cudaGetTextureReference(const textureReference **reference,
                                                  const void *symbol) {
    *reference = (const textureReference *)symbol;
    return cudaSuccess;
}

#endif
