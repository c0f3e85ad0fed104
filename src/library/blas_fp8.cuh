/* What the kernels of products of 8-bit floats have in addition: their types, and factors for whole matrices, rows and
 * columns. */
#ifndef TYTO_LIBRARY_BLAS_FP8_CUH
#define TYTO_LIBRARY_BLAS_FP8_CUH

#include "blas_finish.cuh"

/* A number of an operand. The types say what the lines have, and what is along them. */
struct Fp8 {
    unsigned char bits;
};
struct BothE4M3 : Fp8 {};
struct E4M3E5M2 : Fp8 {};
struct E5M2E4M3 : Fp8 {};

/* Rounds to nearest, ties to even; numbers that are too large become the largest one. */
static __device__ __forceinline__ Pair<Fp8> fp8_of(float x, float y, bool is_e5m2) {
    unsigned short both;
    if (is_e5m2) asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(y), "f"(x));
    else asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(y), "f"(x));
    return {{(unsigned char)both}, {(unsigned char)(both >> 8)}};
}

/* The factor at an address; 1 if there is none. */
static __device__ __forceinline__ float factor_at(unsigned long long address) {
    return address ? *(const float *)address : 1;
}

static __device__ __forceinline__ float bias_at(const BlasProduct &p, const BlasScales &s, long long at) {
    if (s.bias == BLAS_F32) return ((const float *)p.bias)[at];
    return s.bias == BLAS_F16 ? read<float>(((const F16 *)p.bias)[at]) : read<float>(((const BF16 *)p.bias)[at]);
}

/* Finishes elements of D (tensor_kernels.cu). */
template <class Out, class CType> struct ScaledFinish {
    typedef CType C;
    float factor;      /* of D */
    unsigned most = 0; /* bits of the largest magnitude; a NaN is larger than all numbers */
    bool is_e5m2;

    __device__ __forceinline__ ScaledFinish(const BlasTensor &t)
        : factor(factor_at(t.scales.d)), is_e5m2(t.scales.out == BLAS_E5M2) {}
    static __device__ __forceinline__ bool has_one_factor(const BlasTensor &t) {
        return !t.scales.rows && !t.scales.columns;
    }
    static __device__ __forceinline__ bool is_plain(const BlasTensor &t) {
        return has_one_factor(t) && !t.product.bias && !t.product.activation;
    }
    __device__ __forceinline__ void see(float value) {
        const unsigned magnitude = __float_as_uint(value) & 0x7fffffff;
        most = magnitude > most ? magnitude : most;
    }
    __device__ __forceinline__ Pair<Out> two(float x, float y) {
        if constexpr (sizeof(Out) != 1) return pair_of<Out>(x, y);
        else {
            see(x), see(y);
            return fp8_of(factor * x, factor * y, is_e5m2);
        }
    }
    __device__ __forceinline__ Out of(const BlasTensor &t, float sum, long long i, long long j, long long batch,
                                      float alpha, float beta, const C *c) {
        const BlasProduct &p = t.product;
        const BlasScales &s = t.scales;
        float value = alpha * sum;
        if (s.rows) value *= ((const float *)s.rows)[i];
        if (s.columns) value *= ((const float *)s.columns)[j];
        if (beta != 0) value += beta * read<float>(c[i * p.c.row + j * p.c.column]);
        if (p.bias) value += bias_at(p, s, p.bias_batch * batch + i);
        if (p.activation == BLAS_ACTIVATION_RELU) value = value > 0 ? value : 0;
        else if (p.activation == BLAS_ACTIVATION_GELU) value = gelu(value);
        return two(value, 0).x;
    }
    /* Called by whole warps. */
    __device__ __forceinline__ void end(const BlasTensor &t) {
        if (sizeof(Out) != 1 || !t.scales.most) return;
        for (unsigned lanes = 16; lanes; lanes /= 2) {
            const unsigned other = __shfl_xor_sync(0xffffffff, most, lanes);
            most = other > most ? other : most;
        }
        if (threadIdx.x % 32 == 0) atomicMax((unsigned *)t.scales.most, most);
    }
};

#endif
