/* Half precision: __half and __half2 with conversions and the common arithmetic, a subset of the
 * vendor's cuda_fp16.h under the same names. */
#ifndef TYTO_DEVICE_HALF_H
#define TYTO_DEVICE_HALF_H

#include "vector.h"

struct __half {
    _Float16 value;
};
struct __align__(4) __half2 {
    __half x, y;
};
typedef __half half;
typedef __half2 half2;

#define TYTO_FN static __device__ __forceinline__

/* Conversions exist on the host too. */
#define TYTO_BOTH static __host__ __device__ __forceinline__

TYTO_BOTH __half __float2half(float x) { return {(_Float16)x}; }
TYTO_BOTH __half __float2half_rn(float x) { return {(_Float16)x}; }
TYTO_FN __half __int2half_rn(int x) { return {(_Float16)x}; }
TYTO_BOTH float __half2float(__half x) { return (float)x.value; }
TYTO_FN int __half2int_rz(__half x) { return (int)(float)x.value; }
TYTO_FN unsigned short __half_as_ushort(__half x) { return __builtin_bit_cast(unsigned short, x); }
TYTO_FN __half __ushort_as_half(unsigned short x) { return __builtin_bit_cast(__half, x); }

TYTO_FN __half __hadd(__half a, __half b) { return {(_Float16)(a.value + b.value)}; }
TYTO_FN __half __hsub(__half a, __half b) { return {(_Float16)(a.value - b.value)}; }
TYTO_FN __half __hmul(__half a, __half b) { return {(_Float16)(a.value * b.value)}; }
TYTO_FN __half __hfma(__half a, __half b, __half c) {
    return {(_Float16)__nvvm_fma_rn_f16(a.value, b.value, c.value)};
}
TYTO_FN __half __hneg(__half a) { return {(_Float16)-a.value}; }
TYTO_FN bool __hlt(__half a, __half b) { return a.value < b.value; }
TYTO_FN bool __heq(__half a, __half b) { return a.value == b.value; }

TYTO_FN __half2 __halves2half2(__half x, __half y) { return {x, y}; }
TYTO_BOTH __half2 __floats2half2_rn(float x, float y) { return {__float2half(x), __float2half(y)}; }
TYTO_BOTH __half2 __float2half2_rn(float x) { return {__float2half(x), __float2half(x)}; }
TYTO_BOTH float __low2float(__half2 a) { return __half2float(a.x); }
TYTO_BOTH float __high2float(__half2 a) { return __half2float(a.y); }
TYTO_BOTH float2 __half22float2(__half2 a) { return {__half2float(a.x), __half2float(a.y)}; }
TYTO_BOTH __half2 __float22half2_rn(float2 a) { return {__float2half(a.x), __float2half(a.y)}; }
TYTO_FN __half __low2half(__half2 a) { return a.x; }
TYTO_FN __half __high2half(__half2 a) { return a.y; }

typedef _Float16 TytoHalfPair __attribute__((ext_vector_type(2)));

TYTO_FN TytoHalfPair tyto_half_pair(__half2 a) { return __builtin_bit_cast(TytoHalfPair, a); }
TYTO_FN __half2 __hadd2(__half2 a, __half2 b) {
    return __builtin_bit_cast(__half2, tyto_half_pair(a) + tyto_half_pair(b));
}
TYTO_FN __half2 __hmul2(__half2 a, __half2 b) {
    return __builtin_bit_cast(__half2, tyto_half_pair(a) * tyto_half_pair(b));
}
TYTO_FN __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

/* Arithmetic as operators. */
TYTO_FN __half operator+(__half a, __half b) { return __hadd(a, b); }
TYTO_FN __half operator-(__half a, __half b) { return __hsub(a, b); }
TYTO_FN __half operator*(__half a, __half b) { return __hmul(a, b); }
TYTO_FN __half operator-(__half a) { return __hneg(a); }
TYTO_FN bool operator<(__half a, __half b) { return __hlt(a, b); }
TYTO_FN bool operator==(__half a, __half b) { return __heq(a, b); }
TYTO_FN __half2 operator+(__half2 a, __half2 b) { return __hadd2(a, b); }
TYTO_FN __half2 operator*(__half2 a, __half2 b) { return __hmul2(a, b); }

#undef TYTO_FN
#undef TYTO_BOTH

#endif
