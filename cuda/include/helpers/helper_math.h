/* The part of the CUDA samples' helpers that calculates with short vectors: operators element by
 * element and with a number, dot, length, normalize, cross, lerp, clamp and the like. Words of our
 * own; only the names are the samples'. */
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

/* An operator element by element, and with a number on the right or the left. */
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

#endif
