/* The short vector types (char1 ... double4), their make_ functions, and dim3. Two- and
 * four-element types are aligned so that one load or store moves them whole, up to 16 bytes. */
#ifndef TYTO_DEVICE_VECTOR_H
#define TYTO_DEVICE_VECTOR_H

#include "language.h"

#define TYTO_VECTOR_TYPES(T, name, align2, align4)                                                 \
    struct name##1 { T x; };                                                                       \
    struct __align__(align2) name##2 { T x, y; };                                                  \
    struct name##3 { T x, y, z; };                                                                 \
    struct __align__(align4) name##4 { T x, y, z, w; };                                            \
    static __host__ __device__ __forceinline__ name##1 make_##name##1(T x) { return {x}; }         \
    static __host__ __device__ __forceinline__ name##2 make_##name##2(T x, T y) { return {x, y}; } \
    static __host__ __device__ __forceinline__ name##3 make_##name##3(T x, T y, T z) {             \
        return {x, y, z};                                                                          \
    }                                                                                              \
    static __host__ __device__ __forceinline__ name##4 make_##name##4(T x, T y, T z, T w) {        \
        return {x, y, z, w};                                                                       \
    }

TYTO_VECTOR_TYPES(signed char, char, 2, 4)
TYTO_VECTOR_TYPES(unsigned char, uchar, 2, 4)
TYTO_VECTOR_TYPES(short, short, 4, 8)
TYTO_VECTOR_TYPES(unsigned short, ushort, 4, 8)
TYTO_VECTOR_TYPES(int, int, 8, 16)
TYTO_VECTOR_TYPES(unsigned, uint, 8, 16)
TYTO_VECTOR_TYPES(long long, longlong, 16, 16)
TYTO_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
TYTO_VECTOR_TYPES(float, float, 8, 16)
TYTO_VECTOR_TYPES(double, double, 16, 16)

#undef TYTO_VECTOR_TYPES

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
        : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 size) : x(size.x), y(size.y), z(size.z) {}
};

#endif
