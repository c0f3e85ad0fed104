/* Texture and surface references, as programs of CUDA 11 and before bind them. When a reference is
 * bound, the settings in the host's shadow of it are passed to the driver's reference
 * (src/driver/texture/texref.c). */
#include "cudart/runtime.h"

/* ---- Textures ---- */

static unsigned flags_of(const struct textureReference *shadow, const Reference *reference) {
    unsigned flags = 0;
    if (reference->reads_integers) flags |= CU_TRSF_READ_AS_INTEGER;
    if (shadow->normalized) flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (shadow->sRGB) flags |= CU_TRSF_SRGB;
    if (shadow->disableTrilinearOptimization) flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    return flags;
}

/* Unbinds it first, because settings that do not match the previous binding are no error. */
static int unbind(CUtexref texture, Reference *reference) {
    reference->is_bound = false;
    return (int)cuTexRefSetAddress(NULL, texture, 0, 0);
}

/* Passes the settings of the shadow to the driver's reference; `format` is that of linear memory,
 * or NULL. */
static int set_up(const struct textureReference *shadow, const struct cudaChannelFormatDesc *format,
                  CUtexref *texture, Reference **reference) {
    CUarray_format element;
    unsigned channels;
    if (!shadow) return cudaErrorInvalidTexture;
    int status = registry_reference(shadow, false, (void **)texture, reference);
    if (status == 0) status = unbind(*texture, *reference);
    if (status == 0 && format) {
        if (!format_read(format, &element, &channels)) return cudaErrorInvalidChannelDescriptor;
        status = (int)cuTexRefSetFormat(*texture, element, (int)channels);
    }
    for (int axis = 0; axis < 3 && status == 0; axis++)
        status =
            (int)cuTexRefSetAddressMode(*texture, axis, (CUaddress_mode)shadow->addressMode[axis]);
    if (status == 0)
        status = (int)cuTexRefSetFilterMode(*texture, (CUfilter_mode)shadow->filterMode);
    if (status == 0)
        status =
            (int)cuTexRefSetMipmapFilterMode(*texture, (CUfilter_mode)shadow->mipmapFilterMode);
    if (status == 0) status = (int)cuTexRefSetMipmapLevelBias(*texture, shadow->mipmapLevelBias);
    if (status == 0)
        status = (int)cuTexRefSetMipmapLevelClamp(*texture, shadow->minMipmapLevelClamp,
                                                  shadow->maxMipmapLevelClamp);
    if (status == 0) status = (int)cuTexRefSetMaxAnisotropy(*texture, shadow->maxAnisotropy);
    if (status == 0) status = (int)cuTexRefSetFlags(*texture, flags_of(shadow, *reference));
    return status;
}

/* The size of linear memory, cut at the end of its allocation. */
static int cut_size(CUdeviceptr address, size_t *size) {
    CUdeviceptr base;
    size_t bytes;
    int status = (int)cuMemGetAddressRange(&base, &bytes, address);
    if (status == 0 && *size > base + bytes - address) *size = base + bytes - address;
    return status;
}

static int bind_memory(size_t *offset, const struct textureReference *shadow, const void *pointer,
                       const struct cudaChannelFormatDesc *format, size_t size) {
    CUtexref texture;
    Reference *reference;
    if (!format || !pointer) return cudaErrorInvalidValue;
    int status = cut_size(address_of(pointer), &size);
    if (status == 0) status = set_up(shadow, format, &texture, &reference);
    if (status == 0) status = (int)cuTexRefSetAddress(offset, texture, address_of(pointer), size);
    if (status == 0) reference->is_bound = true;
    return status;
}

cudaError_t CUDARTAPI cudaBindTexture(size_t *offset, const struct textureReference *reference,
                                      const void *pointer,
                                      const struct cudaChannelFormatDesc *format, size_t size) {
    return RUNTIME_CALL(bind_memory(offset, reference, pointer, format, size));
}

static int bind_rows(size_t *offset, const struct textureReference *shadow, const void *pointer,
                     const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                     size_t pitch) {
    CUtexref texture;
    Reference *reference;
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = width, .Height = height};
    if (!format || !pointer) return cudaErrorInvalidValue;
    if (offset) *offset = 0;
    int status = set_up(shadow, format, &texture, &reference);
    if (status) return status;
    format_read(format, &shape.Format, &shape.NumChannels);
    status = (int)cuTexRefSetAddress2D(texture, &shape, address_of(pointer), pitch);
    if (status == 0) reference->is_bound = true;
    return status;
}

cudaError_t CUDARTAPI cudaBindTexture2D(size_t *offset, const struct textureReference *reference,
                                        const void *pointer,
                                        const struct cudaChannelFormatDesc *format, size_t width,
                                        size_t height, size_t pitch) {
    return RUNTIME_CALL(bind_rows(offset, reference, pointer, format, width, height, pitch));
}

/* Binds it to an array or a mipmapped array, which have formats of their own. */
static int bind_arrays(const struct textureReference *shadow, cudaArray_const_t array,
                       cudaMipmappedArray_const_t mipmap) {
    CUtexref texture;
    Reference *reference;
    int status = set_up(shadow, NULL, &texture, &reference);
    if (status == 0 && array)
        status = (int)cuTexRefSetArray(texture, (CUarray)(uintptr_t)array, CU_TRSA_OVERRIDE_FORMAT);
    else if (status == 0)
        status = (int)cuTexRefSetMipmappedArray(texture, (CUmipmappedArray)(uintptr_t)mipmap,
                                                CU_TRSA_OVERRIDE_FORMAT);
    if (status == 0) reference->is_bound = true;
    return status;
}

cudaError_t CUDARTAPI cudaBindTextureToArray(const struct textureReference *reference,
                                             cudaArray_const_t array,
                                             const struct cudaChannelFormatDesc *format) {
    (void)format;
    return RUNTIME_CALL(array ? bind_arrays(reference, array, NULL)
                              : (int)cudaErrorInvalidResourceHandle);
}

cudaError_t CUDARTAPI cudaBindTextureToMipmappedArray(const struct textureReference *reference,
                                                      cudaMipmappedArray_const_t array,
                                                      const struct cudaChannelFormatDesc *format) {
    (void)format;
    return RUNTIME_CALL(array ? bind_arrays(reference, NULL, array)
                              : (int)cudaErrorInvalidResourceHandle);
}

static int unbind_texture(const struct textureReference *shadow) {
    void *texture;
    Reference *reference;
    int status = registry_reference(shadow, false, &texture, &reference);
    return status ? status : unbind(texture, reference);
}

cudaError_t CUDARTAPI cudaUnbindTexture(const struct textureReference *reference) {
    return RUNTIME_CALL(unbind_texture(reference));
}

static int offset_of(size_t *offset, const struct textureReference *shadow) {
    void *texture;
    Reference *reference;
    if (!offset) return cudaErrorInvalidValue;
    int status = registry_reference(shadow, false, &texture, &reference);
    if (status == 0 && !reference->is_bound) status = cudaErrorInvalidTextureBinding;
    if (status == 0) *offset = 0;
    return status;
}

cudaError_t CUDARTAPI cudaGetTextureAlignmentOffset(size_t *offset,
                                                    const struct textureReference *reference) {
    return RUNTIME_CALL(offset_of(offset, reference));
}

/* The symbol of a reference is the reference itself. */
static int find(const void **shadow, const void *symbol, bool is_surface) {
    void *handle;
    Reference *reference;
    if (!shadow) return cudaErrorInvalidValue;
    int status = registry_reference(symbol, is_surface, &handle, &reference);
    if (status == 0) *shadow = symbol;
    return status;
}

cudaError_t CUDARTAPI cudaGetTextureReference(const struct textureReference **reference,
                                              const void *symbol) {
    return RUNTIME_CALL(find((const void **)reference, symbol, false));
}

/* ---- Surfaces ---- */

static int bind_surface(const struct surfaceReference *shadow, cudaArray_const_t array) {
    void *surface;
    Reference *reference;
    int status = registry_reference(shadow, true, &surface, &reference);
    if (status == 0) status = (int)cuSurfRefSetArray(surface, (CUarray)(uintptr_t)array, 0);
    return status;
}

cudaError_t CUDARTAPI cudaBindSurfaceToArray(const struct surfaceReference *reference,
                                             cudaArray_const_t array,
                                             const struct cudaChannelFormatDesc *format) {
    (void)format;
    return RUNTIME_CALL(bind_surface(reference, array));
}

cudaError_t CUDARTAPI cudaGetSurfaceReference(const struct surfaceReference **reference,
                                              const void *symbol) {
    return RUNTIME_CALL(find((const void **)reference, symbol, true));
}
