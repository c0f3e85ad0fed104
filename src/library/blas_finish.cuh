/* What the kernels of products share: factors, the matrices of a batch, and what happens to a sum before it is stored. */
#ifndef TYTO_LIBRARY_BLAS_FINISH_CUH
#define TYTO_LIBRARY_BLAS_FINISH_CUH

#include "blas_device.h"
#include "numbers.cuh"

template <class A, class T> __device__ A scalar(BlasScalar s) {
    if constexpr (Real<A>::is_complex) {
        typedef typename Real<A>::type R;
        return conjugate_if(s.is_conjugated, s.pointer ? *(const T *)s.pointer : A((R)s.value, (R)s.imaginary));
    } else return s.pointer ? read<A>(*(const T *)s.pointer) : (A)s.value;
}

template <class T> __device__ T *item(const BlasOperand &o, int is_list, long long batch) {
    return is_list ? ((T *const *)o.items)[batch] : (T *)o.items + batch * o.batch;
}

/* Adjacent elements of a result, which are stored together. */
template <class Out> struct alignas(2 * sizeof(Out)) Pair {
    Out x, y;
};
template <class Out, class A> __device__ Pair<Out> pair_of(A x, A y) {
    Pair<Out> pair;
    write(pair.x, x);
    write(pair.y, y);
    return pair;
}

/* The tanh form, as used by the fused kernels of transformers. */
__device__ float gelu(float x) {
    return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__device__ float gelu_slope(float x) {
    float t = tanhf(0.7978845608f * (x + 0.044715f * x * x * x));
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * x * x);
}

/* Applies the activation to the number in row i and column j of its item. */
template <class Out> __device__ float activate(const BlasProduct &p, float x, long long i, long long j, long long batch) {
    long long at = p.aux_batch * batch + i + j * p.aux_lead;
    Out *aux = (Out *)p.aux;
    if (p.activation == BLAS_ACTIVATION_GELU) {
        if (aux) write(aux[at], x);
        return gelu(x);
    }
    if (p.activation == BLAS_ACTIVATION_DGELU) return x * gelu_slope(read<float>(aux[at]));
    unsigned *bits = (unsigned *)p.aux + at / 32;
    if (p.activation == BLAS_ACTIVATION_DRELU) return *bits >> at % 32 & 1 ? x : 0;
    if (bits && p.aux) {
        if (x > 0) atomicOr(bits, 1u << at % 32);
        else atomicAnd(bits, ~(1u << at % 32));
    }
    return x > 0 ? x : 0;
}

/* The element in row i and column j of D, from its sum. `c`: the matrix of the batch, read if beta is not 0. */
template <class Out, class S>
__device__ S finished(const BlasProduct &p, S sum, long long i, long long j, long long batch, S alpha, S beta,
                      const Out *c) {
    S factor = p.alpha_vector ? ((const S *)p.alpha_vector)[i] : alpha;
    S value = factor * sum;
    if (beta != 0) value += beta * read<S>(c[i * p.c.row + j * p.c.column]);
    if constexpr (Real<S>::is_complex) {
        if (p.is_hermitian && i == j) value.y = 0;
    } else {
        long long at = p.bias_batch * batch + i;
        if (p.bias) value += p.bias_is_f32 ? (S)((const float *)p.bias)[at] : read<S>(((const Out *)p.bias)[at]);
        if (p.activation) value = (S)activate<Out>(p, (float)value, i, j, batch);
    }
    return value;
}

#endif
