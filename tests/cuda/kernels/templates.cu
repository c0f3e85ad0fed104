/* Class and function templates, a compile-time recursion, and a template instantiated for three
 * types. */
#include "kernel.h"

template <class T, int N> struct Window {
    T values[N];
    __device__ void push(T value) {
        for (int i = N - 1; i > 0; i--)
            values[i] = values[i - 1];
        values[0] = value;
    }
    __device__ T sum() const {
        T total = 0;
        for (T value : values)
            total += value;
        return total;
    }
};

template <int N> struct Factorial {
    static constexpr unsigned value = N * Factorial<N - 1>::value;
};
template <> struct Factorial<0> {
    static constexpr unsigned value = 1;
};

template <class T> static __device__ T power(T base, unsigned exponent) {
    T result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

extern "C" __global__ void templates(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    Window<unsigned short, 3> window = {};
    for (unsigned k = 0; k < 5; k++)
        window.push((unsigned short)(in[i] + k));
    unsigned long long wide = power<unsigned long long>(in[i], 5);
    int narrow = power<signed char>((signed char)in[i], 3);
    out[i] = window.sum() + (unsigned)(wide >> 32) + Factorial<7>::value + (unsigned)narrow +
             power(in[i], 3);
}
