/* The part of the CUDA samples' helpers for short vectors: operators element by element and with a
 * number, dot, length, normalize, cross, lerp, clamp and others. The text is our own; only the
 * names are the samples'. */
#ifndef TYTO_HELPER_MATH_H
#define TYTO_HELPER_MATH_H

#include <cmath>
#include <cuda_runtime.h>

typedef unsigned int uint;
typedef unsigned short ushort;

#undef TYTO_FN
#define TYTO_FN static inline __host__ __device__

TYTO_FN float lerp(float a, float b, float t) { return a + t * (b - a); }
TYTO_FN float clamp(float x, float low, float high) { return fmaxf(low, fminf(x, high)); }
TYTO_FN int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
TYTO_FN uint clamp(uint x, uint low, uint high) { return x < low ? low : x > high ? high : x; }

/* Defines an operator element by element, and with a number on the right or the left. */
#define TYTO_BOTH(op, member)  a.member op b.member
#define TYTO_RIGHT(op, member) a.member op b
#define TYTO_LEFT(op, member)  a op b.member

#define TYTO_OPERATOR(V, N, each, op)                                                              \
    TYTO_FN V operator op(V a, V b) { return {each##_BOTH(op)}; }                                  \
    TYTO_FN V operator op(V a, N b) { return {each##_RIGHT(op)}; }                                 \
    TYTO_FN V operator op(N a, V b) { return {each##_LEFT(op)}; }                                  \
    TYTO_FN void operator op##=(V &a, V b) { a = a op b; }                                         \
    TYTO_FN void operator op##=(V &a, N b) { a = a op b; }
#define TYTO_2_BOTH(op)  TYTO_BOTH(op, x), TYTO_BOTH(op, y)
#define TYTO_3_BOTH(op)  TYTO_2_BOTH(op), TYTO_BOTH(op, z)
#define TYTO_4_BOTH(op)  TYTO_3_BOTH(op), TYTO_BOTH(op, w)
#define TYTO_2_RIGHT(op) TYTO_RIGHT(op, x), TYTO_RIGHT(op, y)
#define TYTO_3_RIGHT(op) TYTO_2_RIGHT(op), TYTO_RIGHT(op, z)
#define TYTO_4_RIGHT(op) TYTO_3_RIGHT(op), TYTO_RIGHT(op, w)
#define TYTO_2_LEFT(op)  TYTO_LEFT(op, x), TYTO_LEFT(op, y)
#define TYTO_3_LEFT(op)  TYTO_2_LEFT(op), TYTO_LEFT(op, z)
#define TYTO_4_LEFT(op)  TYTO_3_LEFT(op), TYTO_LEFT(op, w)
#define TYTO_OPERATORS(V, N, each)                                                                 \
    TYTO_OPERATOR(V, N, each, +)                                                                   \
    TYTO_OPERATOR(V, N, each, -)                                                                   \
    TYTO_OPERATOR(V, N, each, *)
TYTO_OPERATORS(float2, float, TYTO_2)
TYTO_OPERATORS(float3, float, TYTO_3)
TYTO_OPERATORS(float4, float, TYTO_4)
TYTO_OPERATORS(int2, int, TYTO_2)
TYTO_OPERATORS(int3, int, TYTO_3)
TYTO_OPERATORS(int4, int, TYTO_4)
TYTO_OPERATORS(uint2, uint, TYTO_2)
TYTO_OPERATORS(uint3, uint, TYTO_3)
TYTO_OPERATORS(uint4, uint, TYTO_4)
TYTO_OPERATOR(float2, float, TYTO_2, /)
TYTO_OPERATOR(float3, float, TYTO_3, /)
TYTO_OPERATOR(float4, float, TYTO_4, /)

TYTO_FN float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
TYTO_FN float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
TYTO_FN float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
TYTO_FN float3 cross(float3 a, float3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

#define TYTO_OF_FLOATS(V)                                                                          \
    TYTO_FN V operator-(V a) { return 0.0f - a; }                                                  \
    TYTO_FN float length(V a) { return sqrtf(dot(a, a)); }                                         \
    TYTO_FN V normalize(V a) { return a * (1.0f / sqrtf(dot(a, a))); }                             \
    TYTO_FN V lerp(V a, V b, float t) { return a + t * (b - a); }                                  \
    TYTO_FN V reflect(V i, V n) { return i - 2.0f * n * dot(n, i); }
TYTO_OF_FLOATS(float2)
TYTO_OF_FLOATS(float3)
TYTO_OF_FLOATS(float4)

TYTO_FN float3 clamp(float3 v, float low, float high) {
    return {clamp(v.x, low, high), clamp(v.y, low, high), clamp(v.z, low, high)};
}
TYTO_FN float4 clamp(float4 v, float low, float high) {
    return {clamp(v.x, low, high), clamp(v.y, low, high), clamp(v.z, low, high),
            clamp(v.w, low, high)};
}
TYTO_FN float3 fminf(float3 a, float3 b) {
    return {fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z)};
}
TYTO_FN float3 fmaxf(float3 a, float3 b) {
    return {fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z)};
}
TYTO_FN float3 fabs(float3 v) { return {fabsf(v.x), fabsf(v.y), fabsf(v.z)}; }
TYTO_FN float3 floorf(float3 v) { return {floorf(v.x), floorf(v.y), floorf(v.z)}; }

TYTO_FN float2 make_float2(float s) { return {s, s}; }
TYTO_FN float3 make_float3(float s) { return {s, s, s}; }
TYTO_FN float3 make_float3(float2 a, float s) { return {a.x, a.y, s}; }
TYTO_FN float3 make_float3(float4 a) { return {a.x, a.y, a.z}; }
TYTO_FN float4 make_float4(float s) { return {s, s, s, s}; }
TYTO_FN float4 make_float4(float3 a) { return {a.x, a.y, a.z, 0}; }
TYTO_FN float4 make_float4(float3 a, float w) { return {a.x, a.y, a.z, w}; }
TYTO_FN int2 make_int2(int s) { return {s, s}; }
TYTO_FN int3 make_int3(float3 a) { return {int(a.x), int(a.y), int(a.z)}; }

/* ---- Other functions, element by element ---- */

#ifndef __CUDACC__
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
#endif
TYTO_FN float fracf(float x) { return x - floorf(x); }
TYTO_FN float smoothstep(float a, float b, float x) {
    float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return y * y * (3.0f - 2.0f * y);
}

#define TYTO_ONE(V2, V3, V4, name, f)                                                              \
    TYTO_FN V2 name(V2 a) { return {f(a.x), f(a.y)}; }                                             \
    TYTO_FN V3 name(V3 a) { return {f(a.x), f(a.y), f(a.z)}; }                                     \
    TYTO_FN V4 name(V4 a) { return {f(a.x), f(a.y), f(a.z), f(a.w)}; }
#define TYTO_TWO(V2, V3, V4, name, f)                                                              \
    TYTO_FN V2 name(V2 a, V2 b) { return {f(a.x, b.x), f(a.y, b.y)}; }                             \
    TYTO_FN V3 name(V3 a, V3 b) { return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)}; }                \
    TYTO_FN V4 name(V4 a, V4 b) { return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w)}; }
#define TYTO_CLAMPS(V2, V3, V4, N)                                                                 \
    TYTO_FN V2 clamp(V2 v, N l, N h) { return {clamp(v.x, l, h), clamp(v.y, l, h)}; }              \
    TYTO_FN V2 clamp(V2 v, V2 l, V2 h) { return {clamp(v.x, l.x, h.x), clamp(v.y, l.y, h.y)}; }    \
    TYTO_FN V3 clamp(V3 v, V3 l, V3 h) {                                                           \
        return {clamp(v.x, l.x, h.x), clamp(v.y, l.y, h.y), clamp(v.z, l.z, h.z)};                 \
    }                                                                                              \
    TYTO_FN V4 clamp(V4 v, V4 l, V4 h) {                                                           \
        return {clamp(v.x, l.x, h.x), clamp(v.y, l.y, h.y), clamp(v.z, l.z, h.z),                  \
                clamp(v.w, l.w, h.w)};                                                             \
    }
#define TYTO_LESS(a, b) ((a) < (b) ? (a) : (b))
#define TYTO_MORE(a, b) ((a) > (b) ? (a) : (b))
TYTO_ONE(float2, float3, float4, fracf, fracf)
TYTO_TWO(float2, float3, float4, fmodf, fmodf)
TYTO_TWO(int2, int3, int4, min, TYTO_LESS)
TYTO_TWO(int2, int3, int4, max, TYTO_MORE)
TYTO_TWO(uint2, uint3, uint4, min, TYTO_LESS)
TYTO_TWO(uint2, uint3, uint4, max, TYTO_MORE)
TYTO_CLAMPS(float2, float3, float4, float)
TYTO_CLAMPS(int2, int3, int4, int)
TYTO_CLAMPS(uint2, uint3, uint4, uint)
TYTO_FN int3 clamp(int3 v, int l, int h) {
    return {clamp(v.x, l, h), clamp(v.y, l, h), clamp(v.z, l, h)};
}
TYTO_FN float2 fminf(float2 a, float2 b) { return {fminf(a.x, b.x), fminf(a.y, b.y)}; }
TYTO_FN float2 fmaxf(float2 a, float2 b) { return {fmaxf(a.x, b.x), fmaxf(a.y, b.y)}; }
TYTO_FN float4 fminf(float4 a, float4 b) {
    return {fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z), fminf(a.w, b.w)};
}
TYTO_FN float4 fmaxf(float4 a, float4 b) {
    return {fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w)};
}
TYTO_FN float2 fabs(float2 v) { return {fabsf(v.x), fabsf(v.y)}; }
TYTO_FN float4 fabs(float4 v) { return {fabsf(v.x), fabsf(v.y), fabsf(v.z), fabsf(v.w)}; }
TYTO_FN float2 floorf(float2 v) { return {floorf(v.x), floorf(v.y)}; }
TYTO_FN float4 floorf(float4 v) { return {floorf(v.x), floorf(v.y), floorf(v.z), floorf(v.w)}; }
TYTO_FN float2 smoothstep(float2 a, float2 b, float2 x) {
    return {smoothstep(a.x, b.x, x.x), smoothstep(a.y, b.y, x.y)};
}
TYTO_FN float3 smoothstep(float3 a, float3 b, float3 x) {
    return {smoothstep(a.x, b.x, x.x), smoothstep(a.y, b.y, x.y), smoothstep(a.z, b.z, x.z)};
}
#define TYTO_DOTS(N, V2, V3, V4)                                                                   \
    TYTO_FN N dot(V2 a, V2 b) { return a.x * b.x + a.y * b.y; }                                    \
    TYTO_FN N dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }                        \
    TYTO_FN N dot(V4 a, V4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
TYTO_DOTS(int, int2, int3, int4)
TYTO_DOTS(uint, uint2, uint3, uint4)
TYTO_FN int2 operator-(int2 a) { return {-a.x, -a.y}; }
TYTO_FN int3 operator-(int3 a) { return {-a.x, -a.y, -a.z}; }
TYTO_FN int4 operator-(int4 a) { return {-a.x, -a.y, -a.z, -a.w}; }

TYTO_FN float2 make_float2(float3 a) { return {a.x, a.y}; }
TYTO_FN float2 make_float2(int2 a) { return {float(a.x), float(a.y)}; }
TYTO_FN float2 make_float2(uint2 a) { return {float(a.x), float(a.y)}; }
TYTO_FN float3 make_float3(float2 a) { return {a.x, a.y, 0}; }
TYTO_FN float3 make_float3(int3 a) { return {float(a.x), float(a.y), float(a.z)}; }
TYTO_FN float3 make_float3(uint3 a) { return {float(a.x), float(a.y), float(a.z)}; }
TYTO_FN float4 make_float4(int4 a) { return {float(a.x), float(a.y), float(a.z), float(a.w)}; }
TYTO_FN float4 make_float4(uint4 a) { return {float(a.x), float(a.y), float(a.z), float(a.w)}; }
TYTO_FN int2 make_int2(float2 a) { return {int(a.x), int(a.y)}; }
TYTO_FN int2 make_int2(int3 a) { return {a.x, a.y}; }
TYTO_FN int3 make_int3(int s) { return {s, s, s}; }
TYTO_FN int3 make_int3(int2 a, int s) { return {a.x, a.y, s}; }
TYTO_FN int4 make_int4(int s) { return {s, s, s, s}; }
TYTO_FN int4 make_int4(float4 a) { return {int(a.x), int(a.y), int(a.z), int(a.w)}; }
TYTO_FN uint2 make_uint2(uint s) { return {s, s}; }
TYTO_FN uint3 make_uint3(uint s) { return {s, s, s}; }
TYTO_FN uint4 make_uint4(uint s) { return {s, s, s, s}; }

#undef TYTO_ONE
#undef TYTO_TWO
#undef TYTO_CLAMPS
#undef TYTO_LESS
#undef TYTO_MORE
#undef TYTO_DOTS

#endif
