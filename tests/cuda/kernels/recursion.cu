/* Recursion to depths that differ between lanes: a function that calls itself twice, two that call
 * each other, and one that keeps an array on its stack. */
#include "kernel.h"

static __device__ __noinline__ unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __device__ unsigned count_odd(unsigned n);
static __device__ __noinline__ unsigned count_even(unsigned n) {
    return n == 0 ? 1 : 2 * count_odd(n - 1);
}
static __device__ __noinline__ unsigned count_odd(unsigned n) {
    return n == 0 ? 3 : 5 + count_even(n - 1);
}

static __device__ __noinline__ unsigned fold(const unsigned *digits, unsigned count) {
    if (count == 1) return digits[0];
    unsigned pairs[8];
    for (unsigned i = 0; i < count / 2; i++)
        pairs[i] = digits[2 * i] * 3 + digits[2 * i + 1];
    return fold(pairs, count / 2);
}

extern "C" __global__ void recursion(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned digits[16];
    for (unsigned k = 0; k < 16; k++)
        digits[k] = (in[i] >> (2 * k)) & 3;
    out[i] = fibonacci(in[i] % 12) + count_even(in[i] % 9) + fold(digits, 16);
}
