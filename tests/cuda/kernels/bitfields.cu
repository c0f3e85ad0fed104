/* Bit fields, signed and unsigned, across word boundaries, and a union that shows their bytes. */
#include "kernel.h"

struct Packed {
    unsigned low : 5;
    int middle : 9;
    unsigned wide : 18;
    long long far : 40;
    unsigned long long rest : 24;
};

extern "C" __global__ void bitfields(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    union {
        unsigned words[4];
        Packed packed;
    } both = {};
    unsigned x = in[i];
    both.packed.low = x;
    both.packed.middle = (int)(x >> 3);
    both.packed.wide = x >> 7;
    both.packed.far = (long long)x * -77777;
    both.packed.rest = x >> 5;
    int signs = both.packed.middle + (int)(both.packed.far >> 20);
    out[i] =
        both.words[0] ^ both.words[1] * 3 ^ both.words[2] * 5 ^ both.words[3] * 7 ^ (unsigned)signs;
}
