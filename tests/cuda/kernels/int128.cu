/* 128-bit integers: sums with carry, products, shifts and comparisons. */
#include "kernel.h"

typedef unsigned __int128 U128;

extern "C" __global__ void int128(const unsigned long long *in, unsigned long long *out,
                                  unsigned n) {
    unsigned i = global_index();
    if (i >= n / 4) return;
    U128 a = ((U128)in[4 * i] << 64) | in[4 * i + 1];
    U128 b = ((U128)in[4 * i + 2] << 64) | in[4 * i + 3];
    unsigned shift = (unsigned)in[4 * i] & 127;
    U128 mixed = (a + b) * (a - b) ^ (a >> shift) ^ (b << shift);
    if (a < b) mixed = ~mixed;
    if ((__int128)a < (__int128)b) mixed += (U128)((__int128)a >> 70);
    out[4 * i] = (unsigned long long)(mixed >> 64);
    out[4 * i + 1] = (unsigned long long)mixed;
    out[4 * i + 2] = (unsigned long long)(((U128)in[4 * i] * in[4 * i + 1]) >> 64);
    out[4 * i + 3] = in[4 * i + 2];
}
