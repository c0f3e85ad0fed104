/* Surface objects: a kernel reads and writes elements of arrays by the byte offset in a row, the
 * row, and the slice, layer or face. An element has any type of 1, 2, 4, 8 or 16 bytes. The
 * instruction names one of three modes for accesses outside the array. */
#ifndef TYTO_DEVICE_SURFACE_H
#define TYTO_DEVICE_SURFACE_H

#include "texture.h"

typedef unsigned long long cudaSurfaceObject_t;

enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero = 0,
    cudaBoundaryModeClamp = 1,
    cudaBoundaryModeTrap = 2
};

/* The registers for an element of this number of bytes. */
template <int bytes> struct TytoSurfaceWords {
    unsigned short a;
};
template <> struct TytoSurfaceWords<4> {
    unsigned a;
};
template <> struct TytoSurfaceWords<8> {
    unsigned long long a;
};
template <> struct TytoSurfaceWords<16> {
    unsigned long long a, b;
};

/* An instruction in the requested mode; the operands follow. */
#define TYTO_SURFACE_MODES(before, behind, ...)                                                    \
    switch (mode) {                                                                                \
    case cudaBoundaryModeZero: asm volatile(before ".zero " behind __VA_ARGS__); break;            \
    case cudaBoundaryModeClamp: asm volatile(before ".clamp " behind __VA_ARGS__); break;          \
    case cudaBoundaryModeTrap: asm volatile(before ".trap " behind __VA_ARGS__); break;            \
    }
/* Reading and writing elements of one size. */
#define TYTO_SURFACE_OF(name, shape, places, parameters, inputs, bytes, kind, registers, outs,     \
                        ins)                                                                       \
    static __device__ __forceinline__ void tyto_##name##_read(                                     \
        TytoSurfaceWords<bytes> &w, cudaSurfaceObject_t surface, TYTO_LIST parameters,             \
        cudaSurfaceBoundaryMode mode) {                                                            \
        TYTO_SURFACE_MODES("suld.b." shape kind,                                                   \
                           registers ", [%[s], " places "];", : TYTO_LIST outs : [s] "l"(surface), \
                           TYTO_LIST inputs)                                                       \
    }                                                                                              \
    static __device__ __forceinline__ void tyto_##name##_write(                                    \
        TytoSurfaceWords<bytes> w, cudaSurfaceObject_t surface, TYTO_LIST parameters,              \
        cudaSurfaceBoundaryMode mode) {                                                            \
        TYTO_SURFACE_MODES("sust.b." shape kind, "[%[s], " places "], " registers ";",             \
                           ::[s] "l"(surface), TYTO_LIST inputs, TYTO_LIST ins : "memory")         \
    }
/* CUDA's functions for one kind of array. */
#define TYTO_SURFACE(name, shape, places, parameters, arguments, inputs)                           \
    TYTO_SURFACE_OF(name, shape, places, parameters, inputs, 1, ".b8", "{%[a]}", ([a] "=h"(w.a)),  \
                    ([a] "h"(w.a)))                                                                \
    TYTO_SURFACE_OF(name, shape, places, parameters, inputs, 2, ".b16", "{%[a]}", ([a] "=h"(w.a)), \
                    ([a] "h"(w.a)))                                                                \
    TYTO_SURFACE_OF(name, shape, places, parameters, inputs, 4, ".b32", "{%[a]}", ([a] "=r"(w.a)), \
                    ([a] "r"(w.a)))                                                                \
    TYTO_SURFACE_OF(name, shape, places, parameters, inputs, 8, ".b64", "{%[a]}", ([a] "=l"(w.a)), \
                    ([a] "l"(w.a)))                                                                \
    TYTO_SURFACE_OF(name, shape, places, parameters, inputs, 16, ".v2.b64", "{%[a], %[b]}",        \
                    ([a] "=l"(w.a), [b] "=l"(w.b)), ([a] "l"(w.a), [b] "l"(w.b)))                  \
    template <class T>                                                                             \
    static __device__ __forceinline__ T name##read(                                                \
        cudaSurfaceObject_t surface, TYTO_LIST parameters,                                         \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        TytoSurfaceWords<sizeof(T)> words;                                                         \
        T value;                                                                                   \
        tyto_##name##_read(words, surface, TYTO_LIST arguments, mode);                             \
        __builtin_memcpy(&value, &words, sizeof value);                                            \
        return value;                                                                              \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __forceinline__ void name##read(                                             \
        T *out, cudaSurfaceObject_t surface, TYTO_LIST parameters,                                 \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        *out = name##read<T>(surface, TYTO_LIST arguments, mode);                                  \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __forceinline__ void name##write(                                            \
        T value, cudaSurfaceObject_t surface, TYTO_LIST parameters,                                \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        TytoSurfaceWords<sizeof(T)> words = {};                                                    \
        __builtin_memcpy(&words, &value, sizeof value);                                            \
        tyto_##name##_write(words, surface, TYTO_LIST arguments, mode);                            \
    }

/* clang-format off */
TYTO_SURFACE(surf1D, "1d", "{%[x]}",
             (int x), (x),
             ([x] "r"(x)))
TYTO_SURFACE(surf2D, "2d", "{%[x], %[y]}",
             (int x, int y), (x, y),
             ([x] "r"(x), [y] "r"(y)))
TYTO_SURFACE(surf3D, "3d", "{%[x], %[y], %[z], %[z]}",
             (int x, int y, int z), (x, y, z),
             ([x] "r"(x), [y] "r"(y), [z] "r"(z)))
TYTO_SURFACE(surf1DLayered, "a1d", "{%[layer], %[x]}",
             (int x, int layer), (x, layer),
             ([x] "r"(x), [layer] "r"(layer)))
TYTO_SURFACE(surf2DLayered, "a2d", "{%[layer], %[x], %[y], %[y]}",
             (int x, int y, int layer), (x, y, layer),
             ([x] "r"(x), [y] "r"(y), [layer] "r"(layer)))
TYTO_SURFACE(surfCubemap, "a2d", "{%[face], %[x], %[y], %[y]}",
             (int x, int y, int face), (x, y, face),
             ([x] "r"(x), [y] "r"(y), [face] "r"(face)))
TYTO_SURFACE(surfCubemapLayered, "a2d", "{%[layer_face], %[x], %[y], %[y]}",
             (int x, int y, int layer_face), (x, y, layer_face),
             ([x] "r"(x), [y] "r"(y), [layer_face] "r"(layer_face)))
/* clang-format on */
#undef TYTO_SURFACE
#undef TYTO_SURFACE_OF
#undef TYTO_SURFACE_MODES

#endif
