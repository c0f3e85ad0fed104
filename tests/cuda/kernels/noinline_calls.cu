/* Calls of functions that stay functions, with parameters of every width, pointers to local
 * variables, calls inside loops and inside divergent branches. */
#include "kernel.h"

static __device__ __noinline__ unsigned char rotate8(unsigned char x, unsigned by) {
    return (unsigned char)((x << (by & 7)) | (x >> ((8 - by) & 7)));
}
static __device__ __noinline__ short scale16(short x, signed char factor) {
    return (short)(x * factor);
}
static __device__ __noinline__ double blend(float a, double b, bool is_first) {
    return is_first ? (double)a : b;
}
static __device__ __noinline__ void divide(unsigned a, unsigned b, unsigned *quotient,
                                           unsigned *rest) {
    *quotient = a / b;
    *rest = a % b;
}

extern "C" __global__ void noinline_calls(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], result = 0;
    for (unsigned k = 0; k < (x & 7); k++) {
        result += rotate8((unsigned char)(x >> k), k);
        if ((x >> k) & 1) result += (unsigned)scale16((short)x, (signed char)(k - 3));
    }
    unsigned quotient, rest;
    divide(x, (x & 63) + 1, &quotient, &rest);
    result ^= quotient * 31 + rest;
    result += (unsigned)(long long)blend((float)(x & 1023), x * 0.5, x & 16);
    out[i] = result;
}
