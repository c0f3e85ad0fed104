/* Fetches through texture objects, and gathers: by index, by coordinates, from a mipmap level that
 * is given or chosen by gradients, from layers and cubemaps. A texel is a number or a short vector
 * of numbers. Not supported: sparse textures. */
#ifndef TYTO_DEVICE_TEXTURE_H
#define TYTO_DEVICE_TEXTURE_H

#include "vector.h"

typedef unsigned long long cudaTextureObject_t;

/* The four words of a fetch, by the type of the texel's numbers. */
template <class N> struct TytoTexelWords {
    N x, y, z, w;
};

/* For a texel type: the type of its words, and its construction from them. */
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

#define TYTO_LIST(...) __VA_ARGS__
/* The fetch for one type of numbers. */
#define TYTO_FETCH_OF(name, op, kind, constraint, N, coordinates, places, parameters, inputs)      \
    static __device__ __forceinline__ TytoTexelWords<N> tyto_##name(                               \
        N, cudaTextureObject_t texture, TYTO_LIST parameters) {                                    \
        TytoTexelWords<N> t;                                                                       \
        asm volatile(op ".v4." kind "." coordinates " {%0, %1, %2, %3}, [%[t], " places ";"        \
                     : constraint(t.x), constraint(t.y), constraint(t.z), constraint(t.w)          \
                     : [t] "l"(texture), TYTO_LIST inputs);                                        \
        return t;                                                                                  \
    }
/* A CUDA function, which returns the texel or stores it through a pointer. */
#define TYTO_FETCH(name, op, coordinates, places, parameters, arguments, inputs)                   \
    TYTO_FETCH_OF(name, op, "f32", "=f", float, coordinates, places, parameters, inputs)           \
    TYTO_FETCH_OF(name, op, "s32", "=r", int, coordinates, places, parameters, inputs)             \
    TYTO_FETCH_OF(name, op, "u32", "=r", unsigned, coordinates, places, parameters, inputs)        \
    template <class T>                                                                             \
    static __device__ __forceinline__ T name(cudaTextureObject_t texture, TYTO_LIST parameters) {  \
        return TytoTexel<T>::make(                                                                 \
            tyto_##name(typename TytoTexel<T>::Word(), texture, TYTO_LIST arguments));             \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __forceinline__ void name(T *out, cudaTextureObject_t texture,               \
                                                TYTO_LIST parameters) {                            \
        *out = name<T>(texture, TYTO_LIST arguments);                                              \
    }

/* clang-format off */
/* Name, instruction, type of the coordinates, operands after the texture, parameters. */
TYTO_FETCH(tex1Dfetch, "tex.1d", "s32", "{%[x]}]",
           (int x), (x),
           ([x] "r"(x)))
TYTO_FETCH(tex1D, "tex.1d", "f32", "{%[x]}]",
           (float x), (x),
           ([x] "f"(x)))
TYTO_FETCH(tex2D, "tex.2d", "f32", "{%[x], %[y]}]",
           (float x, float y), (x, y),
           ([x] "f"(x), [y] "f"(y)))
TYTO_FETCH(tex3D, "tex.3d", "f32", "{%[x], %[y], %[z], %[z]}]",
           (float x, float y, float z), (x, y, z),
           ([x] "f"(x), [y] "f"(y), [z] "f"(z)))
TYTO_FETCH(tex1DLayered, "tex.a1d", "f32", "{%[layer], %[x]}]",
           (float x, int layer), (x, layer),
           ([x] "f"(x), [layer] "r"(layer)))
TYTO_FETCH(tex2DLayered, "tex.a2d", "f32", "{%[layer], %[x], %[y], %[y]}]",
           (float x, float y, int layer), (x, y, layer),
           ([x] "f"(x), [y] "f"(y), [layer] "r"(layer)))
TYTO_FETCH(texCubemap, "tex.cube", "f32", "{%[x], %[y], %[z], %[z]}]",
           (float x, float y, float z), (x, y, z),
           ([x] "f"(x), [y] "f"(y), [z] "f"(z)))
TYTO_FETCH(texCubemapLayered, "tex.acube", "f32", "{%[layer], %[x], %[y], %[z]}]",
           (float x, float y, float z, int layer), (x, y, z, layer),
           ([x] "f"(x), [y] "f"(y), [z] "f"(z), [layer] "r"(layer)))
TYTO_FETCH(tex1DLod, "tex.level.1d", "f32", "{%[x]}], %[level]",
           (float x, float level), (x, level),
           ([x] "f"(x), [level] "f"(level)))
TYTO_FETCH(tex2DLod, "tex.level.2d", "f32", "{%[x], %[y]}], %[level]",
           (float x, float y, float level), (x, y, level),
           ([x] "f"(x), [y] "f"(y), [level] "f"(level)))
TYTO_FETCH(tex3DLod, "tex.level.3d", "f32", "{%[x], %[y], %[z], %[z]}], %[level]",
           (float x, float y, float z, float level), (x, y, z, level),
           ([x] "f"(x), [y] "f"(y), [z] "f"(z), [level] "f"(level)))
TYTO_FETCH(tex1DLayeredLod, "tex.level.a1d", "f32", "{%[layer], %[x]}], %[level]",
           (float x, int layer, float level), (x, layer, level),
           ([x] "f"(x), [layer] "r"(layer), [level] "f"(level)))
TYTO_FETCH(tex2DLayeredLod, "tex.level.a2d", "f32", "{%[layer], %[x], %[y], %[y]}], %[level]",
           (float x, float y, int layer, float level), (x, y, layer, level),
           ([x] "f"(x), [y] "f"(y), [layer] "r"(layer), [level] "f"(level)))
TYTO_FETCH(texCubemapLod, "tex.level.cube", "f32", "{%[x], %[y], %[z], %[z]}], %[level]",
           (float x, float y, float z, float level), (x, y, z, level),
           ([x] "f"(x), [y] "f"(y), [z] "f"(z), [level] "f"(level)))
TYTO_FETCH(texCubemapLayeredLod, "tex.level.acube", "f32", "{%[layer], %[x], %[y], %[z]}], %[level]",
           (float x, float y, float z, int layer, float level), (x, y, z, layer, level),
           ([x] "f"(x), [y] "f"(y), [z] "f"(z), [layer] "r"(layer), [level] "f"(level)))
TYTO_FETCH(tex1DGrad, "tex.grad.1d", "f32", "{%[x]}], {%[u]}, {%[v]}",
           (float x, float u, float v), (x, u, v),
           ([x] "f"(x), [u] "f"(u), [v] "f"(v)))
TYTO_FETCH(tex2DGrad, "tex.grad.2d", "f32", "{%[x], %[y]}], {%[ux], %[uy]}, {%[vx], %[vy]}",
           (float x, float y, float2 u, float2 v), (x, y, u, v),
           ([x] "f"(x), [y] "f"(y), [ux] "f"(u.x), [uy] "f"(u.y), [vx] "f"(v.x), [vy] "f"(v.y)))
TYTO_FETCH(tex3DGrad, "tex.grad.3d", "f32", "{%[x], %[y], %[z], %[z]}], {%[ux], %[uy], %[uz], %[uz]}, {%[vx], %[vy], %[vz], %[vz]}",
           (float x, float y, float z, float4 u, float4 v), (x, y, z, u, v),
           ([x] "f"(x), [y] "f"(y), [z] "f"(z), [ux] "f"(u.x), [uy] "f"(u.y), [uz] "f"(u.z),
            [vx] "f"(v.x), [vy] "f"(v.y), [vz] "f"(v.z)))
TYTO_FETCH(tex1DLayeredGrad, "tex.grad.a1d", "f32", "{%[layer], %[x]}], {%[u]}, {%[v]}",
           (float x, int layer, float u, float v), (x, layer, u, v),
           ([x] "f"(x), [layer] "r"(layer), [u] "f"(u), [v] "f"(v)))
TYTO_FETCH(tex2DLayeredGrad, "tex.grad.a2d", "f32", "{%[layer], %[x], %[y], %[y]}], {%[ux], %[uy]}, {%[vx], %[vy]}",
           (float x, float y, int layer, float2 u, float2 v), (x, y, layer, u, v),
           ([x] "f"(x), [y] "f"(y), [layer] "r"(layer), [ux] "f"(u.x), [uy] "f"(u.y),
            [vx] "f"(v.x), [vy] "f"(v.y)))
TYTO_FETCH(texCubemapGrad, "tex.grad.cube", "f32", "{%[x], %[y], %[z], %[z]}], {%[ux], %[uy], %[uz], %[uz]}, {%[vx], %[vy], %[vz], %[vz]}",
           (float x, float y, float z, float4 u, float4 v), (x, y, z, u, v),
           ([x] "f"(x), [y] "f"(y), [z] "f"(z), [ux] "f"(u.x), [uy] "f"(u.y), [uz] "f"(u.z),
            [vx] "f"(v.x), [vy] "f"(v.y), [vz] "f"(v.z)))
TYTO_FETCH(texCubemapLayeredGrad, "tex.grad.acube", "f32", "{%[layer], %[x], %[y], %[z]}], {%[ux], %[uy], %[uz], %[uz]}, {%[vx], %[vy], %[vz], %[vz]}",
           (float x, float y, float z, int layer, float4 u, float4 v), (x, y, z, layer, u, v),
           ([x] "f"(x), [y] "f"(y), [z] "f"(z), [layer] "r"(layer), [ux] "f"(u.x), [uy] "f"(u.y),
            [uz] "f"(u.z), [vx] "f"(v.x), [vy] "f"(v.y), [vz] "f"(v.z)))
TYTO_FETCH(tyto2Dgather0, "tld4.r.2d", "f32", "{%[x], %[y]}]",
           (float x, float y), (x, y),
           ([x] "f"(x), [y] "f"(y)))
TYTO_FETCH(tyto2Dgather1, "tld4.g.2d", "f32", "{%[x], %[y]}]",
           (float x, float y), (x, y),
           ([x] "f"(x), [y] "f"(y)))
TYTO_FETCH(tyto2Dgather2, "tld4.b.2d", "f32", "{%[x], %[y]}]",
           (float x, float y), (x, y),
           ([x] "f"(x), [y] "f"(y)))
TYTO_FETCH(tyto2Dgather3, "tld4.a.2d", "f32", "{%[x], %[y]}]",
           (float x, float y), (x, y),
           ([x] "f"(x), [y] "f"(y)))
/* clang-format on */
#undef TYTO_FETCH
#undef TYTO_FETCH_OF

/* One component of the four texels around a position. */
template <class T>
static __device__ __forceinline__ T tex2Dgather(cudaTextureObject_t texture, float x, float y,
                                                int component = 0) {
    switch (component) {
    case 1: return tyto2Dgather1<T>(texture, x, y);
    case 2: return tyto2Dgather2<T>(texture, x, y);
    case 3: return tyto2Dgather3<T>(texture, x, y);
    default: return tyto2Dgather0<T>(texture, x, y);
    }
}
template <class T>
static __device__ __forceinline__ void tex2Dgather(T *out, cudaTextureObject_t texture, float x,
                                                   float y, int component = 0) {
    *out = tex2Dgather<T>(texture, x, y, component);
}

#endif
