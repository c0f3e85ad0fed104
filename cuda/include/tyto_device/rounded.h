/* Directed roundings without a builtin for math.h, in PTX: differences, quotients, roots, fused
 * operations and reciprocals of doubles, and conversions between 64-bit integers and floats. */
#ifndef TYTO_DEVICE_ROUNDED_H
#define TYTO_DEVICE_ROUNDED_H

#include "language.h"

#define TYTO_ROUNDED_ONE(To, name, instruction, to, From, from)                                    \
    static __device__ __forceinline__ To name(From x) {                                            \
        To y;                                                                                      \
        asm(instruction " %0, %1;" : to(y) : from(x));                                             \
        return y;                                                                                  \
    }
#define TYTO_ROUNDED_TWO(T, name, instruction, to, from)                                           \
    static __device__ __forceinline__ T name(T a, T b) {                                           \
        T y;                                                                                       \
        asm(instruction " %0, %1, %2;" : to(y) : from(a), from(b));                                \
        return y;                                                                                  \
    }
/* The suffix, PTX's word, and that of conversions to integers. */
#define TYTO_ROUNDED(suffix, r, integer)                                                           \
    TYTO_ROUNDED_TWO(float, __fsub_##suffix, "sub." #r ".f32", "=f", "f")                          \
    TYTO_ROUNDED_TWO(double, __dsub_##suffix, "sub." #r ".f64", "=d", "d")                         \
    TYTO_ROUNDED_TWO(double, __ddiv_##suffix, "div." #r ".f64", "=d", "d")                         \
    TYTO_ROUNDED_ONE(double, __dsqrt_##suffix, "sqrt." #r ".f64", "=d", double, "d")               \
    TYTO_ROUNDED_ONE(double, __drcp_##suffix, "rcp." #r ".f64", "=d", double, "d")                 \
    TYTO_ROUNDED_ONE(unsigned long long, __float2ull_##suffix, "cvt." #integer ".u64.f32", "=l",   \
                     float, "f")                                                                   \
    TYTO_ROUNDED_ONE(unsigned, __double2uint_##suffix, "cvt." #integer ".u32.f64", "=r", double,   \
                     "d")                                                                          \
    TYTO_ROUNDED_ONE(long long, __double2ll_##suffix, "cvt." #integer ".s64.f64", "=l", double,    \
                     "d")                                                                          \
    TYTO_ROUNDED_ONE(unsigned long long, __double2ull_##suffix, "cvt." #integer ".u64.f64", "=l",  \
                     double, "d")                                                                  \
    TYTO_ROUNDED_ONE(float, __ll2float_##suffix, "cvt." #r ".f32.s64", "=f", long long, "l")       \
    TYTO_ROUNDED_ONE(float, __ull2float_##suffix, "cvt." #r ".f32.u64", "=f", unsigned long long,  \
                     "l")                                                                          \
    TYTO_ROUNDED_ONE(double, __ll2double_##suffix, "cvt." #r ".f64.s64", "=d", long long, "l")     \
    TYTO_ROUNDED_ONE(double, __ull2double_##suffix, "cvt." #r ".f64.u64", "=d",                    \
                     unsigned long long, "l")                                                      \
    static __device__ __forceinline__ double __fma_##suffix(double a, double b, double c) {        \
        double y;                                                                                  \
        asm("fma." #r ".f64 %0, %1, %2, %3;" : "=d"(y) : "d"(a), "d"(b), "d"(c));                  \
        return y;                                                                                  \
    }
TYTO_ROUNDED(rn, rn, rni)
TYTO_ROUNDED(rz, rz, rzi)
TYTO_ROUNDED(ru, rp, rpi)
TYTO_ROUNDED(rd, rm, rmi)
#undef TYTO_ROUNDED
#undef TYTO_ROUNDED_ONE
#undef TYTO_ROUNDED_TWO

/* These are exact. */
static __device__ __forceinline__ double __int2double_rn(int x) { return x; }
static __device__ __forceinline__ double __uint2double_rn(unsigned x) { return x; }

#endif
