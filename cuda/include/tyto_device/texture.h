/* Fetches through texture objects: tex1Dfetch by index, tex1D and tex2D by coordinates. A texel is
 * a number or a short vector of them. Left out: three dimensions, layers, mipmaps, gathers. */
#ifndef TYTO_DEVICE_TEXTURE_H
#define TYTO_DEVICE_TEXTURE_H

#include "vector.h"

typedef unsigned long long cudaTextureObject_t;

/* The four words of a fetch, by the kind of the texel's numbers. */
template <class N> struct TytoTexelWords {
    N x, y, z, w;
};

#define TYTO_FETCHES(N, kind, constraint)                                                          \
    static __device__ __forceinline__ TytoTexelWords<N> tyto_fetch(N, cudaTextureObject_t texture, \
                                                                   int x) {                        \
        TytoTexelWords<N> t;                                                                       \
        asm volatile("tex.1d.v4." kind ".s32 {%0, %1, %2, %3}, [%4, {%5}];"                        \
                     : constraint(t.x), constraint(t.y), constraint(t.z), constraint(t.w)          \
                     : "l"(texture), "r"(x));                                                      \
        return t;                                                                                  \
    }                                                                                              \
    static __device__ __forceinline__ TytoTexelWords<N> tyto_fetch(N, cudaTextureObject_t texture, \
                                                                   float x) {                      \
        TytoTexelWords<N> t;                                                                       \
        asm volatile("tex.1d.v4." kind ".f32 {%0, %1, %2, %3}, [%4, {%5}];"                        \
                     : constraint(t.x), constraint(t.y), constraint(t.z), constraint(t.w)          \
                     : "l"(texture), "f"(x));                                                      \
        return t;                                                                                  \
    }                                                                                              \
    static __device__ __forceinline__ TytoTexelWords<N> tyto_fetch(N, cudaTextureObject_t texture, \
                                                                   float x, float y) {             \
        TytoTexelWords<N> t;                                                                       \
        asm volatile("tex.2d.v4." kind ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                    \
                     : constraint(t.x), constraint(t.y), constraint(t.z), constraint(t.w)          \
                     : "l"(texture), "f"(x), "f"(y));                                              \
        return t;                                                                                  \
    }
TYTO_FETCHES(float, "f32", "=f")
TYTO_FETCHES(int, "s32", "=r")
TYTO_FETCHES(unsigned, "u32", "=r")
#undef TYTO_FETCHES

/* Of a texel type: the kind of its words, and how it is made of them. */
template <class T> struct TytoTexel;
#define TYTO_TEXEL_TYPES(T, name, N)                                                               \
    template <> struct TytoTexel<T> {                                                              \
        typedef N Word;                                                                            \
        static __device__ T make(TytoTexelWords<N> t) { return (T)t.x; }                           \
    };                                                                                             \
    template <> struct TytoTexel<name##1> {                                                        \
        typedef N Word;                                                                            \
        static __device__ name##1 make(TytoTexelWords<N> t) { return {(T)t.x}; }                   \
    };                                                                                             \
    template <> struct TytoTexel<name##2> {                                                        \
        typedef N Word;                                                                            \
        static __device__ name##2 make(TytoTexelWords<N> t) { return {(T)t.x, (T)t.y}; }           \
    };                                                                                             \
    template <> struct TytoTexel<name##4> {                                                        \
        typedef N Word;                                                                            \
        static __device__ name##4 make(TytoTexelWords<N> t) {                                      \
            return {(T)t.x, (T)t.y, (T)t.z, (T)t.w};                                               \
        }                                                                                          \
    };
TYTO_TEXEL_TYPES(float, float, float)
TYTO_TEXEL_TYPES(signed char, char, int)
TYTO_TEXEL_TYPES(unsigned char, uchar, unsigned)
TYTO_TEXEL_TYPES(short, short, int)
TYTO_TEXEL_TYPES(unsigned short, ushort, unsigned)
TYTO_TEXEL_TYPES(int, int, int)
TYTO_TEXEL_TYPES(unsigned, uint, unsigned)
#undef TYTO_TEXEL_TYPES

template <class T>
static __device__ __forceinline__ T tex1Dfetch(cudaTextureObject_t texture, int x) {
    return TytoTexel<T>::make(tyto_fetch(typename TytoTexel<T>::Word(), texture, x));
}
template <class T> static __device__ __forceinline__ T tex1D(cudaTextureObject_t texture, float x) {
    return TytoTexel<T>::make(tyto_fetch(typename TytoTexel<T>::Word(), texture, x));
}
template <class T>
static __device__ __forceinline__ T tex2D(cudaTextureObject_t texture, float x, float y) {
    return TytoTexel<T>::make(tyto_fetch(typename TytoTexel<T>::Word(), texture, x, y));
}

#endif
