/* Texture and surface references of CUDA 11 and before: the classes, the template forms of the
 * functions that bind them, and fetches.
 *
 * clang supports such variables: they are .texref and .surfref in PTX, which the program registers
 * and the runtime's functions bind. nvcc has removed them. There, a texture reference is a device
 * variable that holds a texture object (tyto_emulated.h). Surface references, references that a
 * function returns, and references with initial settings are not supported there. */
#ifndef TYTO_REFERENCES_H
#define TYTO_REFERENCES_H

#ifndef cudaTextureType1D
#define cudaTextureType1D             0x01
#define cudaTextureType2D             0x02
#define cudaTextureType3D             0x03
#define cudaTextureTypeCubemap        0x0C
#define cudaTextureType1DLayered      0xF1
#define cudaTextureType2DLayered      0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#endif
#ifndef cudaSurfaceType1D
#define cudaSurfaceType1D             0x01
#define cudaSurfaceType2D             0x02
#define cudaSurfaceType3D             0x03
#define cudaSurfaceTypeCubemap        0x0C
#define cudaSurfaceType1DLayered      0xF1
#define cudaSurfaceType2DLayered      0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC
#endif

#ifdef __NVCC__
#include "tyto_emulated.h"
#define TYTO_TEXTURE(T, type, mode) const TytoOldTexture<T, type, mode> &
#else
#define TYTO_TEXTURE(T, type, mode) texture<T, type, mode>

template <class T, int type = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
    texture(int normalized = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
            cudaTextureAddressMode address = cudaAddressModeClamp)
        : texture(normalized, filter, address, cudaCreateChannelDesc<T>()) {}
    texture(int normalized, cudaTextureFilterMode filter, cudaTextureAddressMode address,
            cudaChannelFormatDesc format)
        : textureReference() {
        this->normalized = normalized;
        filterMode = filter;
        for (cudaTextureAddressMode &mode_of_axis : addressMode)
            mode_of_axis = address;
        channelDesc = format;
    }
};

template <class T, int type = cudaSurfaceType1D> struct surface;
template <int type>
struct __attribute__((device_builtin_surface_type)) surface<void, type> : public surfaceReference {
    surface() : surfaceReference() {}
};
#endif

/* ---- On the host: the template forms of the functions that bind references ---- */

#ifdef __NVCC__
#define TYTO_REFERENCE TytoOldTexture
#else
#define TYTO_REFERENCE texture
#endif
#define TYTO_FOR_REFERENCES                                                                        \
    template <class T, int type, cudaTextureReadMode mode> static inline cudaError_t

TYTO_FOR_REFERENCES cudaBindTexture(size_t *offset, const TYTO_REFERENCE<T, type, mode> &reference,
                                    const void *pointer, const cudaChannelFormatDesc &format,
                                    size_t size = 0xffffffff) {
    return cudaBindTexture(offset, &reference, pointer, &format, size);
}
TYTO_FOR_REFERENCES cudaBindTexture(size_t *offset, const TYTO_REFERENCE<T, type, mode> &reference,
                                    const void *pointer, size_t size = 0xffffffff) {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    return cudaBindTexture(offset, &reference, pointer, &format, size);
}
TYTO_FOR_REFERENCES cudaBindTexture2D(size_t *offset,
                                      const TYTO_REFERENCE<T, type, mode> &reference,
                                      const void *pointer, const cudaChannelFormatDesc &format,
                                      size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, &reference, pointer, &format, width, height, pitch);
}
TYTO_FOR_REFERENCES cudaBindTexture2D(size_t *offset,
                                      const TYTO_REFERENCE<T, type, mode> &reference,
                                      const void *pointer, size_t width, size_t height,
                                      size_t pitch) {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    return cudaBindTexture2D(offset, &reference, pointer, &format, width, height, pitch);
}
TYTO_FOR_REFERENCES cudaBindTextureToArray(const TYTO_REFERENCE<T, type, mode> &reference,
                                           cudaArray_const_t array,
                                           const cudaChannelFormatDesc &format) {
    return cudaBindTextureToArray(&reference, array, &format);
}
TYTO_FOR_REFERENCES cudaBindTextureToArray(const TYTO_REFERENCE<T, type, mode> &reference,
                                           cudaArray_const_t array) {
    return cudaBindTextureToArray(&reference, array, NULL); /* the array knows its format */
}
TYTO_FOR_REFERENCES cudaBindTextureToMipmappedArray(const TYTO_REFERENCE<T, type, mode> &reference,
                                                    cudaMipmappedArray_const_t array,
                                                    const cudaChannelFormatDesc &format) {
    return cudaBindTextureToMipmappedArray(&reference, array, &format);
}
TYTO_FOR_REFERENCES cudaBindTextureToMipmappedArray(const TYTO_REFERENCE<T, type, mode> &reference,
                                                    cudaMipmappedArray_const_t array) {
    return cudaBindTextureToMipmappedArray(&reference, array, NULL);
}
TYTO_FOR_REFERENCES cudaUnbindTexture(const TYTO_REFERENCE<T, type, mode> &reference) {
    return cudaUnbindTexture(&reference);
}
TYTO_FOR_REFERENCES
cudaGetTextureAlignmentOffset(size_t *offset, const TYTO_REFERENCE<T, type, mode> &reference) {
    return cudaGetTextureAlignmentOffset(offset, &reference);
}
#undef TYTO_FOR_REFERENCES
#undef TYTO_REFERENCE

#ifndef __NVCC__
template <int type>
static inline cudaError_t cudaBindSurfaceToArray(const surface<void, type> &reference,
                                                 cudaArray_const_t array,
                                                 const cudaChannelFormatDesc &format) {
    return cudaBindSurfaceToArray(&reference, array, &format);
}
template <int type>
static inline cudaError_t cudaBindSurfaceToArray(const surface<void, type> &reference,
                                                 cudaArray_const_t array) {
    return cudaBindSurfaceToArray(&reference, array, NULL);
}
#endif

/* ---- In kernels ---- */

/* The type that a fetch returns: the element, or floats instead. */
template <class T, cudaTextureReadMode mode> struct TytoOldTexel {
    typedef T Type;
};
#define TYTO_OLD_FLOATS(T, name)                                                                   \
    template <> struct TytoOldTexel<T, cudaReadModeNormalizedFloat> {                              \
        typedef float Type;                                                                        \
    };                                                                                             \
    template <> struct TytoOldTexel<name##1, cudaReadModeNormalizedFloat> {                        \
        typedef float1 Type;                                                                       \
    };                                                                                             \
    template <> struct TytoOldTexel<name##2, cudaReadModeNormalizedFloat> {                        \
        typedef float2 Type;                                                                       \
    };                                                                                             \
    template <> struct TytoOldTexel<name##4, cudaReadModeNormalizedFloat> {                        \
        typedef float4 Type;                                                                       \
    };
TYTO_OLD_FLOATS(signed char, char)
TYTO_OLD_FLOATS(unsigned char, uchar)
TYTO_OLD_FLOATS(short, short)
TYTO_OLD_FLOATS(unsigned short, ushort)
#undef TYTO_OLD_FLOATS

#ifdef __CUDACC__
/* A reference as an object: in clang's device code it is the object's handle. */
template <class T, int type, cudaTextureReadMode mode>
static __device__ __forceinline__ unsigned long long tyto_object(TYTO_TEXTURE(T, type, mode)
                                                                     reference) {
#ifdef __NVCC__
    return reference.object;
#else
    return *reinterpret_cast<const unsigned long long *>(&reference);
#endif
}

/* A fetch through a reference is a fetch through its object. */
#define TYTO_OLD_FETCH(name, type)                                                                 \
    template <class T, cudaTextureReadMode mode, class... Places>                                  \
    static __device__ __forceinline__ typename TytoOldTexel<T, mode>::Type name(                   \
        TYTO_TEXTURE(T, type, mode) reference, Places... places) {                                 \
        return name<typename TytoOldTexel<T, mode>::Type>(tyto_object<T, type, mode>(reference),   \
                                                          places...);                              \
    }
TYTO_OLD_FETCH(tex1Dfetch, cudaTextureType1D)
TYTO_OLD_FETCH(tex1D, cudaTextureType1D)
TYTO_OLD_FETCH(tex1DLod, cudaTextureType1D)
TYTO_OLD_FETCH(tex1DGrad, cudaTextureType1D)
TYTO_OLD_FETCH(tex2D, cudaTextureType2D)
TYTO_OLD_FETCH(tex2DLod, cudaTextureType2D)
TYTO_OLD_FETCH(tex2DGrad, cudaTextureType2D)
TYTO_OLD_FETCH(tex3D, cudaTextureType3D)
TYTO_OLD_FETCH(tex3DLod, cudaTextureType3D)
TYTO_OLD_FETCH(tex3DGrad, cudaTextureType3D)
TYTO_OLD_FETCH(tex1DLayered, cudaTextureType1DLayered)
TYTO_OLD_FETCH(tex1DLayeredLod, cudaTextureType1DLayered)
TYTO_OLD_FETCH(tex2DLayered, cudaTextureType2DLayered)
TYTO_OLD_FETCH(tex2DLayeredLod, cudaTextureType2DLayered)
TYTO_OLD_FETCH(texCubemap, cudaTextureTypeCubemap)
TYTO_OLD_FETCH(texCubemapLod, cudaTextureTypeCubemap)
TYTO_OLD_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered)
TYTO_OLD_FETCH(texCubemapLayeredLod, cudaTextureTypeCubemapLayered)
#undef TYTO_OLD_FETCH

#ifndef __NVCC__
template <int type>
static __device__ __forceinline__ unsigned long long tyto_object(surface<void, type> reference) {
    return *reinterpret_cast<const unsigned long long *>(&reference);
}
#define TYTO_OLD_SURFACE(name, type)                                                               \
    template <class T, class... Places>                                                            \
    static __device__ __forceinline__ T name##read(surface<void, type> reference,                  \
                                                   Places... places) {                             \
        return name##read<T>(tyto_object(reference), places...);                                   \
    }                                                                                              \
    template <class T, class... Places>                                                            \
    static __device__ __forceinline__ void name##read(T *out, surface<void, type> reference,       \
                                                      Places... places) {                          \
        *out = name##read<T>(tyto_object(reference), places...);                                   \
    }                                                                                              \
    template <class T, class... Places>                                                            \
    static __device__ __forceinline__ void name##write(T value, surface<void, type> reference,     \
                                                       Places... places) {                         \
        name##write<T>(value, tyto_object(reference), places...);                                  \
    }
TYTO_OLD_SURFACE(surf1D, cudaSurfaceType1D)
TYTO_OLD_SURFACE(surf2D, cudaSurfaceType2D)
TYTO_OLD_SURFACE(surf3D, cudaSurfaceType3D)
TYTO_OLD_SURFACE(surf1DLayered, cudaSurfaceType1DLayered)
TYTO_OLD_SURFACE(surf2DLayered, cudaSurfaceType2DLayered)
TYTO_OLD_SURFACE(surfCubemap, cudaSurfaceTypeCubemap)
TYTO_OLD_SURFACE(surfCubemapLayered, cudaSurfaceTypeCubemapLayered)
#undef TYTO_OLD_SURFACE
#endif
#endif

#undef TYTO_TEXTURE
#endif
