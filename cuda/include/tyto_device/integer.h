/* Integer functions: bit counting and reversal, byte permutation, funnel shifts, high products,
 * 24-bit products, sums of absolute differences, and moves of bits between integers and floats. */
#ifndef TYTO_DEVICE_INTEGER_H
#define TYTO_DEVICE_INTEGER_H

#include "language.h"

#define TYTO_FN static __device__ __forceinline__

TYTO_FN int __popc(unsigned x) { return __builtin_popcount(x); }
TYTO_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
TYTO_FN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
TYTO_FN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
TYTO_FN int __ffs(int x) { return __builtin_ffs(x); }
TYTO_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
TYTO_FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
TYTO_FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
/* Only three bits of each selector count; the fourth bit would make prmt replicate a sign. */
TYTO_FN unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    return (unsigned)__nvvm_prmt((int)low, (int)high, (int)(selector & 0x7777));
}

/* The upper (left) or lower (right) word of the 64-bit value high:low, shifted by `shift`
 * modulo 32. */
TYTO_FN unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    unsigned result;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
    return result;
}
TYTO_FN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    unsigned result;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
    return result;
}
/* The same, with a shift of at most 32 instead of modulo 32. */
TYTO_FN unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    unsigned result;
    asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
    return result;
}
TYTO_FN unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    unsigned result;
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
    return result;
}

TYTO_FN int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
TYTO_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)__nvvm_mulhi_ui(a, b); }
TYTO_FN long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
TYTO_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)__nvvm_mulhi_ull(a, b);
}
TYTO_FN int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
TYTO_FN unsigned __umul24(unsigned a, unsigned b) { return (unsigned)__nvvm_mul24_ui(a, b); }
TYTO_FN unsigned __sad(int a, int b, unsigned sum) {
    return (unsigned)__nvvm_sad_i(a, b, (int)sum);
}
TYTO_FN unsigned __usad(unsigned a, unsigned b, unsigned sum) {
    return (unsigned)__nvvm_sad_ui(a, b, sum);
}

TYTO_FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
TYTO_FN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
TYTO_FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
TYTO_FN float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
TYTO_FN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
TYTO_FN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

TYTO_FN int abs(int x) { return __builtin_abs(x); }
TYTO_FN long labs(long x) { return __builtin_labs(x); }
TYTO_FN long abs(long x) { return __builtin_labs(x); }
TYTO_FN long long abs(long long x) { return __builtin_llabs(x); }
TYTO_FN long long llabs(long long x) { return __builtin_llabs(x); }

#define TYTO_MIN_MAX(T)                                                                            \
    TYTO_FN T min(T a, T b) { return b < a ? b : a; }                                              \
    TYTO_FN T max(T a, T b) { return a < b ? b : a; }
TYTO_MIN_MAX(int)
TYTO_MIN_MAX(unsigned)
TYTO_MIN_MAX(long)
TYTO_MIN_MAX(unsigned long)
TYTO_MIN_MAX(long long)
TYTO_MIN_MAX(unsigned long long)
#undef TYTO_MIN_MAX
TYTO_FN unsigned umin(unsigned a, unsigned b) { return min(a, b); }
TYTO_FN unsigned umax(unsigned a, unsigned b) { return max(a, b); }
TYTO_FN long long llmin(long long a, long long b) { return min(a, b); }
TYTO_FN long long llmax(long long a, long long b) { return max(a, b); }
TYTO_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
TYTO_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

/* Means, rounded down; those with an r round up. No sum overflows. */
TYTO_FN int __hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
TYTO_FN int __rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
TYTO_FN unsigned __uhadd(unsigned a, unsigned b) { return (a & b) + ((a ^ b) >> 1); }
TYTO_FN unsigned __urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }

/* The sums of four products of bytes, added to c. */
TYTO_FN int __dp4a(int a, int b, int c) {
    int sum;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
}
TYTO_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    unsigned sum;
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
}

TYTO_FN int __double2loint(double x) { return (int)__double_as_longlong(x); }
TYTO_FN int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
TYTO_FN double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)high << 32 | (unsigned)low);
}

#undef TYTO_FN

#endif
